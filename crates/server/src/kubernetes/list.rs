//! Lists of objects, as long as they are: what is sent is forgotten, so that memory stays flat.

use std::{collections::VecDeque, mem, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use tokio::task::JoinHandle;
use wheelwright_document::{Arena, Value, decode_trusted, encode, write_yaml};
use wheelwright_repository::{Continuation, Cursor, ErrorKind, LIGHT_BYTES, PageRequest};
use wheelwright_repository::{Document, Name, RepositoryError};

use super::{
    json::Json,
    options::{ListOptions, Moment, selection_bytes},
    refused::About,
    resource::Resource,
    route::Target,
    shape::{Count, Shape},
    status::Status,
    token::Token,
    whole::WholeList,
};
use crate::{
    answer::{Answer, AnswerBody},
    budget::{Allowance, Charge, PATIENCE, Purpose},
    page::{ReadError, read_page},
    pieces::{PieceSender, pieces},
    request::Request,
    work,
};

/// Bytes of a list that may be unsent before it waits for its client.
pub(super) const WINDOW: usize = 512 << 10;
/// How many pages of a long list are opened at once, each by another thread.
pub(super) const PAGES_OPENED: usize = 2;

impl Target {
    /// Lists objects.
    pub(super) async fn list(&self, request: &Request) -> Result<Answer, Status> {
        work::step(selection_bytes(request)).await;
        let options = ListOptions::of(&request.head.query, &self.resource, false)?;
        let form = ListForm::of(self, request)?;
        if form.is_plain()
            && options.is_whole()
            && let Some(list) = WholeList::begin(self, &request.allowance).await?
        {
            return list.answer(&form).await;
        }
        let lister = Lister::begin(self, options, &request.allowance).await?;
        let mut listing = Listing { form, lister };
        let mut bytes = listing.form.begin()?;
        let charge = listing.portion(&mut bytes).await?;
        if listing.lister.is_done() {
            return Ok(listing.form.answer(bytes));
        }
        let (sender, pieces) = pieces(&request.allowance, Purpose::Lists, WINDOW);
        let answer = Answer { body: AnswerBody::Pieces(pieces), ..listing.form.answer(Vec::new()) };
        work::spawn(async move {
            listing.send(sender, bytes, charge).await;
        });
        Ok(answer)
    }

    /// Where the objects are; none for everywhere.
    pub(super) fn scope(&self) -> Result<Option<Name>, Status> {
        let scope = self.namespace.as_deref().map(Name::new).transpose();
        scope.map_err(|error| Status::bad_request(format!("the namespace can be none: {error}")))
    }
}

/// A list that is being sent.
struct Listing {
    form: ListForm,
    lister: Lister,
}

impl Listing {
    /// Sends the first pages, and the rest page by page.
    async fn send(mut self, sender: PieceSender, mut bytes: Vec<u8>, mut charge: Charge) {
        // A client that does not want the rest has left.
        while sender.send(mem::take(&mut bytes), charge).is_ok() && !self.lister.is_done() {
            let Ok(()) = sender.ready().await else { return };
            charge = match self.portion(&mut bytes).await {
                Ok(charge) => charge,
                Err(status) => {
                    status.log("a list was broken off");
                    let _ = sender.send(broken_off(bytes, &status), sender.nothing());
                    return;
                }
            };
        }
    }

    /// Writes the next objects, and the end of the list after the last of them. The charge is for what was written.
    async fn portion(&mut self, out: &mut Vec<u8>) -> Result<Charge, Status> {
        let (documents, mut charge) = self.lister.portion().await?;
        self.form.items(&documents, out).await?;
        if self.lister.is_done() {
            self.form.end(&self.lister.next_token(), &self.lister.moment(), out)?;
        }
        charge.resize(out.len());
        Ok(charge)
    }
}

/// Walks through the objects of a list.
#[derive(Debug)]
pub(super) struct Lister {
    target: Target,
    allowance: Allowance,
    options: ListOptions,
    scope: Option<Name>,
    after: Option<Continuation>,
    moment: Option<Cursor>,
    /// How many objects are still wanted.
    left: Option<usize>,
    /// Whether the list goes on at the newest moment if the store forgets its own.
    follows_store: bool,
    /// The last object that was read.
    last_read: Option<Name>,
    /// The last object that was looked at.
    passed: Option<Name>,
    /// Whether an object was given.
    has_given: bool,
    /// The object that the list goes on after, if there are more.
    last: Option<Name>,
    /// Pages that were read, in their order.
    read: VecDeque<ReadPage>,
    is_read: bool,
    is_done: bool,
}

/// A page that was read.
#[derive(Debug)]
struct ReadPage {
    documents: Opening,
    has_more: bool,
    charge: Charge,
}

/// The documents of a page, or whoever opens them.
#[derive(Debug)]
enum Opening {
    Done(Documents),
    Underway(JoinHandle<Documents>),
}

type Documents = Vec<Result<Document, RepositoryError>>;

impl Lister {
    pub(super) async fn begin(target: &Target, options: ListOptions, allowance: &Allowance) -> Result<Self, Status> {
        let collection = &target.resource.collection;
        let scope = target.scope()?;
        let about = About::new(&target.resource, "");
        let failed = |error: RepositoryError| about.status(error);
        let wanted = match (&options.token, &options.moment) {
            (Some(Token { moment, .. }), _) => *moment,
            (None, Moment::NotBefore(moment) | Moment::Exactly(moment)) => Some(*moment),
            (None, Moment::Now | Moment::Any) => None,
        };
        if let Some(wanted) = wanted {
            let now = collection.repository().cursor().await.map_err(failed)?;
            if now.as_str().parse().is_ok_and(|now: u64| now < wanted) {
                return Err(Status::too_large_version(&wanted.to_string(), now.as_str()));
            }
        }
        let after = match (&options.token, &options.moment) {
            (Some(token), _) => {
                let full = match &scope {
                    Some(scope) => format!("{scope}/{}", token.after),
                    None => token.after.clone(),
                };
                let name = Name::new(&full).map_err(|_| Status::bad_request("invalid continue token: begin anew"))?;
                let moment = token.moment.map(|moment| Cursor::new(moment.to_string()));
                collection.position(scope.as_ref(), moment.as_ref(), Some(&name)).await.map_err(failed)?
            }
            (None, Moment::Exactly(moment)) => {
                let moment = Cursor::new(moment.to_string());
                collection.position(scope.as_ref(), Some(&moment), None).await.map_err(failed)?
            }
            (None, _) => None,
        };
        let is_somewhere = options.token.is_some() || matches!(options.moment, Moment::Exactly(_));
        if is_somewhere && after.is_none() {
            return Err(Status::expired("this store can list only what is there now; begin the list anew"));
        }
        let left = options.limit;
        Ok(Self {
            target: target.clone(),
            allowance: allowance.clone(),
            options,
            scope,
            after,
            moment: None,
            left,
            follows_store: false,
            last_read: None,
            passed: None,
            has_given: false,
            last: None,
            read: VecDeque::new(),
            is_read: false,
            is_done: false,
        })
    }

    /// The same list, which goes on at the newest moment if the store forgets the moment that the list began at: for
    /// deletions, which need no consistent list and can themselves make the store forget its history.
    pub(super) fn following_the_store(self) -> Self {
        Self { follows_store: true, ..self }
    }

    /// The next objects, as many as are at hand, with the charge for them and for what is made of them.
    pub(super) async fn portion(&mut self) -> Result<(Vec<Document>, Charge), Status> {
        self.read_ahead().await?;
        let Some(ReadPage { documents, has_more, charge }) = self.read.pop_front() else {
            return Ok((Vec::new(), self.allowance.nothing(Purpose::Lists)));
        };
        let documents = match documents {
            Opening::Done(documents) => documents,
            Opening::Underway(opened) => opened.await.map_err(|error| Status::internal(error.to_string()))?,
        };
        let mut found = Vec::with_capacity(documents.len());
        let mut items = documents.into_iter();
        let mut waiting = 0;
        while self.left != Some(0)
            && let Some(item) = items.next()
        {
            let document = match item {
                Ok(document) => document,
                // It must not be missing without a word. A page that has begun ends before it, and the next one reports it.
                Err(_) if self.options.limit.is_some() && (self.has_given || !found.is_empty()) => {
                    self.last = self.passed.clone();
                    self.is_done = true;
                    return Ok((found, charge));
                }
                Err(error) => return Err(self.not_displayed(&error)),
            };
            self.passed = Some(document.name.clone());
            waiting += self.options.selection_cost(&document.json);
            if waiting >= LIGHT_BYTES {
                work::step(mem::take(&mut waiting)).await;
            }
            if self.options.selects(&document.json)? {
                self.left = self.left.map(|left| left - 1);
                found.push(document);
            }
        }
        if self.left == Some(0) {
            let has_more = items.next().is_some() || has_more;
            self.last = found.last().map(|document| document.name.clone()).filter(|_| has_more);
            self.is_done = true;
        }
        self.is_done |= !has_more;
        self.has_given |= !found.is_empty();
        Ok((found, charge))
    }

    /// The status for an object that cannot be displayed: which, why, and how to list the others.
    fn not_displayed(&self, error: &RepositoryError) -> Status {
        let resource = &self.target.resource;
        let Some(name) = error.document() else { return Status::internal(error.to_string()) };
        let status = |how: &str| Status::internal(format!("{error}; {how}")).about(resource, name.last());
        match self.options.limit {
            Some(_) => {
                let next = Some(self.token_after(name));
                Status { next, ..status("the `continue` of this answer goes on behind it") }
            }
            None => status("list in pages, with a `limit`, to read the others"),
        }
    }

    /// Reads pages, as many as may be opened at once.
    async fn read_ahead(&mut self) -> Result<(), Status> {
        // Whoever wants only some may want nothing of what comes after them.
        let most = if self.left.is_some() { 1 } else { PAGES_OPENED };
        while self.read.len() < most && !self.is_read {
            // Only what has to be looked at is worth more than what is wanted.
            let limit = self.left.filter(|_| self.options.selector.is_empty());
            let page = PageRequest { limit, after: self.after.clone() };
            let target = self.target.clone();
            let collection = &target.resource.collection;
            // A list that waits for memory holds none.
            let patience = if self.read.is_empty() { PATIENCE } else { Duration::ZERO };
            let read = read_page(collection, self.scope.as_ref(), page, (&self.allowance, patience)).await;
            let (unopened, charge) = match read {
                Ok(read) => read,
                Err(ReadError::OutOfMemory(_)) if !self.read.is_empty() => return Ok(()),
                Err(ReadError::OutOfMemory(exceeded)) => return Err(Status::out_of_memory(exceeded)),
                Err(ReadError::Repository(error)) => {
                    let is_forgotten = matches!(error.store(), Some(ErrorKind::TooOld));
                    let last_read = self.last_read.take().filter(|_| self.follows_store && is_forgotten);
                    let Some(last_read) = last_read else { return Err(self.failed(error)) };
                    // If the store forgets this moment, too, before a page of it is read, then the list fails.
                    let after = collection.position(self.scope.as_ref(), None, Some(&last_read)).await;
                    let after = after.map_err(|error| self.failed(error))?;
                    self.after = Some(after.ok_or_else(|| self.failed(error))?);
                    self.moment = None;
                    continue;
                }
            };
            self.last_read = unopened.last().cloned().or_else(|| self.last_read.take());
            self.moment.get_or_insert_with(|| unopened.cursor.clone());
            self.after = unopened.next.clone();
            self.is_read = self.after.is_none();
            let documents = match self.left.is_some() || self.is_read && self.read.is_empty() {
                true => {
                    work::step(unopened.bytes()).await;
                    Opening::Done(unopened.open(self.target.view()))
                }
                false => {
                    let target = self.target.clone();
                    Opening::Underway(work::spawn(async move {
                        work::step(unopened.bytes()).await;
                        unopened.open(target.view())
                    }))
                }
            };
            self.read.push_back(ReadPage { documents, has_more: !self.is_read, charge });
        }
        Ok(())
    }

    fn failed(&self, error: RepositoryError) -> Status {
        match (error.store(), &self.options.token) {
            (Some(ErrorKind::TooOld), Some(token)) => {
                let message = "the provided continue parameter is too old to display a consistent list result: begin a \
                               new list without it, or go on with the token of this answer; then what was written \
                               since the list began may show in it, or not";
                let next = Token { moment: None, after: token.after.clone() };
                Status { next: Some(next.text()), ..Status::expired(message) }
            }
            (Some(ErrorKind::TooOld), None) => Status::expired("The resourceVersion for the provided list is too old."),
            _ => About::new(&self.target.resource, "").status(error),
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.is_done
    }

    /// The moment that the list shows.
    pub(super) fn moment(&self) -> String {
        self.moment.as_ref().map(|moment| moment.as_str().to_owned()).unwrap_or_default()
    }

    /// Where the list goes on; empty at its end.
    pub(super) fn next_token(&self) -> String {
        self.last.as_ref().map(|last| self.token_after(last)).unwrap_or_default()
    }

    fn token_after(&self, last: &Name) -> String {
        let below = match &self.scope {
            Some(scope) => last.as_str().strip_prefix(scope.as_str()).and_then(|rest| rest.strip_prefix('/')),
            None => Some(last.as_str()),
        };
        let after = below.unwrap_or(last.as_str()).to_owned();
        Token { moment: self.moment().parse().ok(), after }.text()
    }
}

/// What a list is written as.
#[derive(Debug)]
pub(super) struct ListForm {
    resource: Arc<Resource>,
    shape: Shape,
    is_yaml: bool,
    is_empty: bool,
}

impl ListForm {
    pub(super) fn of(target: &Target, request: &Request) -> Result<Self, Status> {
        let shape = Shape::of(target, request, Count::All)?;
        Ok(Self { resource: target.resource.clone(), shape, is_yaml: target.accepted.is_yaml, is_empty: true })
    }

    /// Whether objects are written as they are, in JSON.
    fn is_plain(&self) -> bool {
        matches!(self.shape, Shape::Objects) && !self.is_yaml
    }

    /// What comes before the items.
    pub(super) fn begin(&self) -> Result<Vec<u8>, Status> {
        let (mut list, items) = self.shape.list(&self.resource);
        if self.is_yaml {
            return Ok(format!("{}{items}:", yaml(&list)?).into_bytes());
        }
        list.pop();
        list.extend_from_slice(format!(r#","{items}":["#).as_bytes());
        Ok(list)
    }

    async fn items(&mut self, documents: &[Document], out: &mut Vec<u8>) -> Result<(), Status> {
        if !self.is_plain() {
            work::step(documents.iter().map(|document| document.json.len()).sum()).await;
        }
        documents.iter().try_for_each(|document| self.item(&document.json, out))
    }

    /// An item.
    pub(super) fn item(&mut self, json: &[u8], out: &mut Vec<u8>) -> Result<(), Status> {
        let is_first = mem::replace(&mut self.is_empty, false);
        if self.is_yaml {
            let mut item = vec![b'['];
            self.shape.item(json, &mut item)?;
            item.push(b']');
            out.extend_from_slice(if is_first { b"\n" } else { b"" });
            out.extend_from_slice(yaml(&item)?.as_bytes());
            return Ok(());
        }
        out.extend_from_slice(if is_first { b"" } else { b"," });
        self.shape.item(json, out)
    }

    /// What comes after the items.
    pub(super) fn end(&self, next: &str, moment: &str, out: &mut Vec<u8>) -> Result<(), Status> {
        let arena = Arena::new();
        let json = Json(&arena);
        let metadata =
            json.some([("continue", self.shape.next(next)), ("resourceVersion", Some(Value::string(moment)))]);
        let metadata = encode(json.object([("metadata", metadata)]));
        if self.is_yaml {
            out.extend_from_slice(if self.is_empty { b" []\n" } else { b"" });
            out.extend_from_slice(yaml(&metadata)?.as_bytes());
        } else {
            out.extend_from_slice(b"],");
            out.extend_from_slice(&metadata[1..]);
        }
        Ok(())
    }

    /// What comes after the last of all items.
    pub(super) fn end_of(&self, moment: &Cursor) -> Result<Vec<u8>, Status> {
        let mut end = Vec::new();
        self.end("", moment.as_str(), &mut end)?;
        Ok(end)
    }

    /// An answer with a whole list.
    pub(super) fn answer(&self, bytes: Vec<u8>) -> Answer {
        let answer = Answer::json(StatusCode::OK, bytes);
        match self.is_yaml {
            true => answer.with(header::CONTENT_TYPE, HeaderValue::from_static("application/yaml")),
            false => answer,
        }
    }
}

/// The end of a list that was broken off after it had begun as a success: the status, for people, in a place that leaves the
/// whole neither JSON nor YAML, so that no client takes it for a list.
pub(super) fn broken_off(mut bytes: Vec<u8>, status: &Status) -> Bytes {
    bytes.push(b'\n');
    bytes.extend_from_slice(&status.json());
    bytes.into()
}

fn yaml(json: &[u8]) -> Result<String, Status> {
    let arena = Arena::for_input(json.len());
    let value = decode_trusted(json, &arena).map_err(|error| Status::internal(error.to_string()))?;
    Ok(write_yaml(value))
}
