//! Writing resources: whole, or patched.

use http::StatusCode;
use jiff::Timestamp;
use wheelwright_repository::ErrorKind;
use wheelwright_repository::{ArmVersion, Document, Metadata, Name, RepositoryError, View, Write, Written};

use super::{
    error::ArmError,
    kinds::Kinds,
    objects::Sent,
    operation::{self, ACCEPTED, DELETING, Does, OperationId, SUCCEEDED},
    poll,
    preconditions::Preconditions,
    read::{missing, no_parent, shown},
    system_data::Author,
    target::Resource,
};
use crate::{
    answer::Answer,
    request::{Head, Request},
};

/// How often a write or a removal is tried while others write the same resource.
pub(super) const TRIES: usize = 20;

/// Creates a resource, or puts another one in its place.
pub(crate) async fn put(
    resource: &Resource<'_>,
    version: &ArmVersion,
    request: &Request,
    kinds: &Kinds,
) -> Result<Answer, ArmError> {
    check_type(&request.head, &["application/json"])?;
    let (name, author) = (resource.place.name(resource.kind)?, Author::of(&request.head)?);
    let preconditions = Preconditions::of(&request.head)?;
    let view = View::Version(version.name.as_str());
    for _ in 0..TRIES {
        let there = resource.kind.collection.get(&name, view).await?;
        preconditions.check(there.as_ref().map(|document| &document.revision))?;
        if there.is_none() {
            resource.check_new(version, &request.head)?;
        }
        let sent = Sent::document(resource, version, &request.body, there.as_ref())?;
        let write = sent.write(version);
        let done = match &there {
            None => create(resource, &name, version, write, kinds, &author).await,
            Some(document) => update(resource, document, write, version.operations.long_running.put, &author).await,
        };
        match done {
            Err(error) if is_too_late(&error) => check_again(&preconditions)?,
            Err(error) => return Err(error.into()),
            Ok(Done::Refused(error)) => return Err(error),
            Ok(Done::Written(written, operation)) => {
                request.head.trail.wrote(&written, false);
                let status = if there.is_none() { StatusCode::CREATED } else { StatusCode::OK };
                return answer(status, written, operation.as_ref(), resource, version, &request.head);
            }
        }
    }
    Err(ArmError::contended())
}

/// Changes a part of a resource.
pub(crate) async fn patch(
    resource: &Resource<'_>,
    version: &ArmVersion,
    request: &Request,
) -> Result<Answer, ArmError> {
    check_type(&request.head, &["application/merge-patch+json", "application/json"])?;
    let (name, author) = (resource.place.name(resource.kind)?, Author::of(&request.head)?);
    let preconditions = Preconditions::of(&request.head)?;
    let view = View::Version(version.name.as_str());
    for _ in 0..TRIES {
        let there = resource.kind.collection.get(&name, view).await?;
        let Some(document) = there else { return Err(missing(resource)) };
        preconditions.check(Some(&document.revision))?;
        let sent = Sent::patch(resource, version, &request.body, &document)?;
        match update(resource, &document, sent.write(version), version.operations.long_running.patch, &author).await {
            Err(error) if is_too_late(&error) => check_again(&preconditions)?,
            Err(error) => return Err(error.into()),
            Ok(Done::Refused(error)) => return Err(error),
            Ok(Done::Written(written, operation)) => {
                request.head.trail.wrote(&written, false);
                let status = if operation.is_some() { StatusCode::ACCEPTED } else { StatusCode::OK };
                return answer(status, written, operation.as_ref(), resource, version, &request.head);
            }
        }
    }
    Err(ArmError::contended())
}

/// What became of a write.
enum Done {
    Written(Box<Written>, Option<OperationId>),
    Refused(ArmError),
}

async fn create(
    resource: &Resource<'_>,
    name: &Name,
    version: &ArmVersion,
    write: Write<'_>,
    kinds: &Kinds,
    author: &Author,
) -> Result<Done, RepositoryError> {
    let parent = match parent(resource, version, kinds).await? {
        Ok(parent) => parent,
        Err(error) => return Ok(Done::Refused(error)),
    };
    if let Some(Err(error)) = resource.kind.names(version).map(|names| names.check(&resource.place)) {
        return Ok(Done::Refused(error));
    }
    let is_long = version.operations.long_running.put;
    let operation = is_long.then(|| OperationId::new(Does::Write, resource.kind.resource_type(), name.clone()));
    let id = match parent.as_ref().and_then(|parent| parent.metadata.id.as_deref()) {
        // The customer's spelling of the parent is that of the parent.
        Some(parent) => {
            let own_type = resource.kind.types().last().unwrap_or_default();
            format!("{parent}/{own_type}/{}", resource.place.names.last().map_or("", |name| name))
        }
        None => resource.id(),
    };
    let keep = |metadata: &mut Metadata, now: Timestamp| {
        // The id of an object is what its names say.
        metadata.id = resource.kind.objects.is_none().then(|| id.as_str().into());
        author.sign(metadata, now);
        match &operation {
            Some(operation) => operation::begin(metadata, operation, ACCEPTED, now),
            None if resource.kind.has_state() => metadata.provisioning_state = Some(SUCCEEDED.into()),
            None => {}
        }
    };
    let write = write.refusing_unknown().keeping(&keep);
    let write = match &parent {
        Some(parent) => write.below(&parent.json),
        None => write,
    };
    let written = resource.kind.collection.create(name, write).await?;
    // Whoever removes the parent marks it first and then looks for what belongs to it: either they find this, or we see that.
    if let Err(error) = self::parent(resource, version, kinds).await? {
        if let Err(error) = take_back(resource, &written.document).await {
            tracing::warn!(%error, %name, "a resource without its parent could not be removed again");
        }
        return Ok(Done::Refused(error));
    }
    Ok(Done::Written(Box::new(written), operation))
}

/// Removes a resource that was just created, whoever writes it meanwhile.
async fn take_back(resource: &Resource<'_>, created: &Document) -> Result<(), RepositoryError> {
    let collection = &resource.kind.collection;
    let (mut revision, mut tries) = (created.revision.clone(), TRIES);
    loop {
        match collection.delete(&created.name, &revision).await {
            Err(error) if is_too_late(&error) && tries > 0 => tries -= 1,
            done => return done.map(drop),
        }
        match collection.get(&created.name, View::Hub).await? {
            Some(again) if again.metadata.uid == created.metadata.uid => revision = again.revision,
            // It is gone; what may have its name now is another one.
            _ => return Ok(()),
        }
    }
}

/// The resource that a new one belongs to; none if it belongs to none. Or why nothing can belong to it.
async fn parent(
    resource: &Resource<'_>,
    version: &ArmVersion,
    kinds: &Kinds,
) -> Result<Result<Option<Document>, ArmError>, RepositoryError> {
    let Some((kind, place)) = kinds.parent_of(resource.kind).zip(resource.place.parent()) else { return Ok(Ok(None)) };
    let name = match place.name(kind) {
        Ok(name) => name,
        Err(error) => return Ok(Err(error)),
    };
    let view = kind.version(version.name.as_str()).map_or(View::Hub, |version| View::Version(version.name.as_str()));
    let parent = kind.collection.get(&name, view).await?;
    let resource = Resource { kind, place };
    Ok(match parent {
        None => Err(no_parent(&resource)),
        Some(parent) if is_deleting(&parent.metadata) => {
            Err(ArmError::conflict(format!("the resource {} is being deleted", resource.id())))
        }
        parent => Ok(parent),
    })
}

async fn update(
    resource: &Resource<'_>,
    document: &Document,
    write: Write<'_>,
    is_long: bool,
    author: &Author,
) -> Result<Done, RepositoryError> {
    if is_deleting(&document.metadata) {
        let message = format!("the resource {} is being deleted", resource.id());
        return Ok(Done::Refused(ArmError::conflict(message)));
    }
    let operation =
        is_long.then(|| OperationId::new(Does::Write, resource.kind.resource_type(), document.name.clone()));
    let before = document.metadata.generation;
    let keep = |metadata: &mut Metadata, now: Timestamp| {
        // What was in the store before us may be without one.
        if resource.kind.objects.is_none() {
            metadata.id.get_or_insert_with(|| resource.id().into());
        }
        author.sign(metadata, now);
        // Tags are the customer's own: the service has nothing to do about them.
        let is_spec_changed = metadata.generation != before;
        match &operation {
            Some(operation) if is_spec_changed => operation::begin(metadata, operation, ACCEPTED, now),
            _ => {}
        }
    };
    let write = write.refusing_unknown().keeping(&keep);
    let written = resource.kind.collection.update(&document.name, &document.revision, write).await?;
    let began = operation.filter(|operation| operation::state_of(&written.document.metadata, operation).is_some());
    Ok(Done::Written(Box::new(written), began))
}

pub(crate) fn is_deleting(metadata: &Metadata) -> bool {
    metadata.deleted_at.is_some() || metadata.provisioning_state.as_deref() == Some(DELETING)
}

/// Whether somebody else wrote the resource first.
pub(crate) fn is_too_late(error: &RepositoryError) -> bool {
    matches!(error.store(), Some(ErrorKind::Exists | ErrorKind::Missing | ErrorKind::Conflict(_)))
}

/// Lets a write be tried again, unless only one state of the resource would do, and that is gone.
pub(crate) fn check_again(preconditions: &Preconditions) -> Result<(), ArmError> {
    match preconditions.are_there() {
        true => Err(ArmError::precondition("somebody else changed the resource at the same time; read it again")),
        false => Ok(()),
    }
}

fn answer(
    status: StatusCode,
    written: Box<Written>,
    operation: Option<&OperationId>,
    resource: &Resource<'_>,
    version: &ArmVersion,
    head: &Head,
) -> Result<Answer, ArmError> {
    let location = poll::location_of(&written.document.json);
    let removals: Vec<String> = written.notes.removals.iter().map(ToString::to_string).collect();
    let answer = shown(status, resource.kind.told(written.document)?).warned(removals.into_iter());
    Ok(match operation {
        Some(operation) => poll::announced(answer, operation, resource.kind, location.as_deref(), version, head),
        None => answer,
    })
}

/// Refuses the body of a removal, which is not read, if it has a type that a form can have, or none.
pub(crate) fn check_unread_body(request: &Request) -> Result<(), ArmError> {
    match request.body.is_empty() {
        true => Ok(()),
        false => check_type(&request.head, &["application/json"]),
    }
}

fn check_type(head: &Head, wanted: &[&str]) -> Result<(), ArmError> {
    let sent = head.content_type().unwrap_or_default();
    if wanted.contains(&&*sent) {
        return Ok(());
    }
    let wanted = wanted.join(" or ");
    let message = match sent.is_empty() {
        true => format!("the request has no Content-Type; send {wanted}"),
        false => format!("the body is of type {sent}; {wanted} is understood"),
    };
    Err(ArmError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UnsupportedMediaType", message).about("Content-Type"))
}
