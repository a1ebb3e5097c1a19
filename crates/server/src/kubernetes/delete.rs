//! Removing objects, one or all that a selector means.

use http::StatusCode;
use wheelwright_document::{Arena, Value, decode};
use wheelwright_repository::ErrorKind;
use wheelwright_repository::{Document, Removal, Removed, RepositoryError, View};

use super::{
    body::{Body, is_yaml},
    list::{ListForm, Lister, WINDOW, broken_off},
    options::{DeleteOptions, ListOptions, Propagation, selection_bytes},
    refused::About,
    route::Target,
    status::{Details, Status},
};
use crate::{
    answer::{Answer, AnswerBody},
    audit::{self, NotRecorded},
    budget::{Charge, Purpose},
    pieces::pieces,
    request::Request,
    work,
};

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";
/// How often somebody else may write an object that is being removed before we give up.
const ATTEMPTS: usize = 100;

impl Target {
    /// Removes an object.
    pub(super) async fn delete(&self, request: &Request) -> Result<Answer, Status> {
        let options = delete_options(request)?;
        let name = self.object_name(self.name())?;
        let collection = &self.resource.collection;
        let found = collection.get(&name, self.view()).await;
        let about = About::new(&self.resource, self.name());
        let found = found.map_err(|error| about.status(error))?;
        let found = found.ok_or_else(|| Status::not_found(&self.resource, self.name()))?;
        let (removed, document) = self.removed(found, &options).await?;
        self.trail.changed(removed.revision(), true, options.is_dry_run);
        Ok(match removed {
            Removed::Gone => Answer::json(StatusCode::OK, self.gone(&document).json()),
            Removed::Marked(_) => self.shown(StatusCode::OK, document.json, request)?,
        })
    }

    /// Removes all objects that are selected, and answers with them as they were: page by page, as lists are sent.
    pub(super) async fn delete_all(&self, request: &Request) -> Result<Answer, Status> {
        let options = delete_options(request)?;
        work::step(selection_bytes(request)).await;
        let list = ListOptions::of(&request.head.query, &self.resource, false)?;
        let form = ListForm::of(self, request)?;
        let lister = Lister::begin(self, list, &request.allowance).await?.following_the_store();
        let mut bytes = form.begin()?;
        let mut removing = Removing { target: self.clone(), options, form, lister };
        let mut charge = removing.portion(&mut bytes).await?;
        if removing.lister.is_done() {
            return Ok(removing.form.answer(bytes));
        }
        let (sender, pieces) = pieces(&request.allowance, Purpose::Lists, WINDOW);
        let answer = Answer { body: AnswerBody::Pieces(pieces), ..removing.form.answer(Vec::new()) };
        work::spawn(async move {
            // Nothing more is removed for a client that has left: it could not know what it was.
            while sender.send(std::mem::take(&mut bytes), charge).is_ok() && !removing.lister.is_done() {
                let Ok(()) = sender.ready().await else { return };
                charge = match removing.portion(&mut bytes).await {
                    Ok(charge) => charge,
                    Err(status) => {
                        status.warn("a removal of many objects was broken off");
                        let _ = sender.send(broken_off(bytes, &status), sender.nothing());
                        return;
                    }
                };
            }
        });
        Ok(answer)
    }

    /// Removes a document that was found, whoever writes it meanwhile.
    async fn removed(&self, found: Document, options: &DeleteOptions) -> Result<(Removed, Document), Status> {
        let collection = &self.resource.collection;
        let name = found.name.clone();
        let about = About::new(&self.resource, name.last());
        let removal = match options.policy {
            Propagation::Default => Removal::default(),
            Propagation::Background => Removal { drop: &[ORPHAN, FOREGROUND], ..Removal::default() },
            Propagation::Foreground => Removal { add: &[FOREGROUND], drop: &[ORPHAN], ..Removal::default() },
            Propagation::Orphan => Removal { add: &[ORPHAN], drop: &[FOREGROUND], ..Removal::default() },
        };
        let removal = Removal { is_dry_run: options.is_dry_run, ..removal };
        let mut found = found;
        for _ in 0..ATTEMPTS {
            self.check_preconditions(&found, options)?;
            match collection.remove(&name, &found.revision, &removal, self.view()).await {
                Err(RepositoryError::Store(error)) if matches!(error.kind(), ErrorKind::Conflict(_)) => {}
                outcome => return outcome.map_err(|error| about.status(error)),
            }
            let again = collection.get(&name, self.view()).await.map_err(|error| about.status(error))?;
            found = again.ok_or_else(|| Status::not_found(&self.resource, name.last()))?;
        }
        Err(Status::modified(&self.resource, name.last()))
    }

    fn check_preconditions(&self, found: &Document, options: &DeleteOptions) -> Result<(), Status> {
        let differs = |what: &str, wanted: &Option<String>, there: &str, perhaps: &str| {
            let wanted = wanted.as_deref().filter(|wanted| *wanted != there)?;
            let why = format!(
                "the {what} in the precondition ({wanted}) does not match the {what} in record ({there}). {perhaps}"
            );
            Some(self.unmet(found.name.last(), &why))
        };
        let uid = found.metadata.uid.as_deref().unwrap_or_default();
        let recreated = "The object might have been deleted and then recreated";
        let version = found.revision.as_str();
        let refused = differs("UID", &options.uid, uid, recreated).or_else(|| {
            differs("ResourceVersion", &options.resource_version, version, "The object might have been modified")
        });
        refused.map_or(Ok(()), Err)
    }

    /// A precondition that does not hold; Kubernetes names the kind there, and not the resource.
    fn unmet(&self, name: &str, why: &str) -> Status {
        let definition = self.resource.definition();
        let (kind, group) = (&definition.kind, &definition.group);
        let message = format!("Operation cannot be fulfilled on {kind}.{group} \"{name}\": {why}");
        let details =
            Details { name: name.into(), group: group.to_string(), kind: kind.to_string(), ..Details::default() };
        let status = Status::new(StatusCode::CONFLICT, "Conflict", message);
        Status { details: Some(Box::new(details)), ..status }
    }

    /// What is said once an object is gone.
    fn gone(&self, document: &Document) -> Status {
        let mut status = Status::new(StatusCode::OK, "", "").about(&self.resource, document.name.last());
        let uid = document.metadata.uid.as_deref().unwrap_or_default();
        status.details.get_or_insert_default().uid = uid.into();
        status
    }

    pub(super) fn view(&self) -> View<'_> {
        View::Version(&self.resource.version().name)
    }
}

/// A removal of many objects that is under way.
struct Removing {
    target: Target,
    options: DeleteOptions,
    form: ListForm,
    lister: Lister,
}

impl Removing {
    /// Removes the next objects, and writes what they were. The charge is for what was written.
    async fn portion(&mut self, out: &mut Vec<u8>) -> Result<Charge, Status> {
        let (documents, mut charge) = self.lister.portion().await?;
        for document in documents {
            work::step(document.json.len()).await;
            self.form.item(&document.json, out)?;
            let name = document.name.clone();
            let removed = self.target.removed(document, &self.options).await;
            let (status, revision) = match &removed {
                Ok((removed, _)) => (StatusCode::OK, removed.revision()),
                // Another client has removed it.
                Err(status) if status.code == StatusCode::NOT_FOUND => continue,
                Err(status) => (status.code, None),
            };
            let is_dry_run = self.options.is_dry_run;
            let line = audit::Removed { kind: None, name: name.last(), status, revision, is_dry_run };
            let recorded = self.target.trail.removed(&line).await;
            removed?;
            recorded.map_err(|NotRecorded| Status::not_recorded())?;
        }
        self.target.trail.settle().await.map_err(|NotRecorded| Status::not_recorded())?;
        if self.lister.is_done() {
            self.form.end(&self.lister.next_token(), &self.lister.moment(), out)?;
        }
        charge.resize(out.len());
        Ok(charge)
    }
}

fn delete_options(request: &Request) -> Result<DeleteOptions, Status> {
    if request.body.is_empty() {
        return DeleteOptions::of(&request.head.query, None);
    }
    let wrong = |why: &str| Status::bad_request(format!("the options of the deletion cannot be read: {why}"));
    let body = Body::read(&request.body, is_yaml(request)?).map_err(|why| wrong(&why))?;
    let arena = Arena::for_input(body.json.len());
    let options = decode(&body.json, &arena).map_err(|error| wrong(&error.to_string()))?;
    match (options, options.get("kind").map(Value::as_str)) {
        (Value::Object(_), None | Some(Some("DeleteOptions"))) => DeleteOptions::of(&request.head.query, Some(options)),
        (Value::Object(_), _) => Err(wrong("their kind must be DeleteOptions")),
        _ => Err(wrong(&format!("expected an object, found {}", options.kind_name()))),
    }
}
