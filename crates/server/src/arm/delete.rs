//! Removing resources, with all that belongs to them.

use http::StatusCode;
use wheelwright_repository::{ArmVersion, Document, Metadata, Name, Removed, RepositoryError, View};
use wheelwright_repository::{PageRequest, Revision};

use super::{
    error::ArmError,
    kinds::{Kind, Kinds},
    operation::{self, DELETING, Does, OperationId},
    poll,
    preconditions::Preconditions,
    target::Resource,
    write::{check_again, is_deleting, is_too_late},
};
use crate::{answer::Answer, request::Head};

/// How often a removal is tried while others write the same resource.
const TRIES: usize = 20;

/// How many resources are removed at a time that belong to another.
const PAGE: usize = 100;

/// Removes a resource. What belongs to it goes with it: the resource is marked first, so that nothing new can belong to it;
/// then what does is removed, and the resource itself last. Whoever is cut short in between does the rest when it is asked
/// for again. Where it takes a back end to remove a resource, it and all that belongs to it are marked for that.
pub(crate) async fn delete(
    resource: &Resource<'_>,
    version: &ArmVersion,
    head: &Head,
    kinds: &Kinds,
) -> Result<Answer, ArmError> {
    let name = resource.place.name()?;
    let collection = &resource.kind.collection;
    let preconditions = Preconditions::of(head);
    for _ in 0..TRIES {
        let there = collection.get(&name, View::Hub).await?;
        preconditions.check(there.as_ref().map(|document| &document.revision))?;
        let Some(document) = there else { return Ok(Answer::empty(StatusCode::NO_CONTENT)) };
        let done = match version.operations.long_running.delete {
            true => mark(resource.kind, &document).await.map(|(operation, location)| Done::Began(operation, location)),
            false => remove(resource.kind, document, version, kinds).await,
        };
        match done {
            Err(error) if is_too_late(&error) => check_again(&preconditions)?,
            Err(error) => return Err(error.into()),
            Ok(Done::Refused(error)) => return Err(error),
            Ok(Done::Began(operation, location)) => {
                mark_below(resource.kind, &name, kinds).await?;
                let answer = Answer::empty(StatusCode::ACCEPTED);
                return Ok(poll::announced(answer, &operation, resource.kind, location.as_deref(), version, head));
            }
            Ok(Done::Gone) => return Ok(Answer::empty(StatusCode::OK)),
            Ok(Done::Waiting) => return Ok(Answer::empty(StatusCode::ACCEPTED)),
        }
    }
    Err(ArmError::conflict("others write the resource all the time; try again"))
}

/// What became of a removal.
enum Done {
    Gone,
    /// Somebody has yet to agree.
    Waiting,
    /// A back end has yet to do it; with where the resource is.
    Began(OperationId, Option<String>),
    Refused(ArmError),
}

/// Marks a resource as one that is to go, for a back end to remove it.
async fn mark(kind: &Kind, document: &Document) -> Result<(OperationId, Option<String>), RepositoryError> {
    let location = poll::location_of(&document.json);
    let own_type = kind.resource_type();
    if is_deleting(&document.metadata)
        && let Some(last) = document.metadata.operations.last()
    {
        return Ok((OperationId::known(&last.id, Does::Delete, own_type, document.name.clone()), location));
    }
    let operation = OperationId::new(Does::Delete, own_type, document.name.clone());
    let now = kind.collection.repository().now();
    let change = |metadata: &mut _, _: &mut _| operation::begin(metadata, &operation, DELETING, now);
    kind.collection.update_metadata(&document.name, &document.revision, change).await?;
    Ok((operation, location))
}

/// Marks what belongs to a resource that is to go.
async fn mark_below(kind: &Kind, name: &Name, kinds: &Kinds) -> Result<(), RepositoryError> {
    for below in kinds.below(kind) {
        let mut pages = Pages::of(below, name);
        while let Some(documents) = pages.next().await? {
            for document in documents {
                pass_over_late(mark(below, &document).await)?;
            }
        }
    }
    Ok(())
}

/// Removes a resource and all that belongs to it at once.
async fn remove(kind: &Kind, document: Document, version: &ArmVersion, kinds: &Kinds) -> Result<Done, RepositoryError> {
    let below = kinds.below(kind);
    let mut revision = document.revision.clone();
    if !below.is_empty() && !is_deleting(&document.metadata) {
        revision = restate(kind, &document, &revision, Some(DELETING)).await?;
    }
    for slow in below.iter().filter(|below| below.is_removed_slowly(version.name.as_str())) {
        let first = Pages::of(slow, &document.name).next().await?.unwrap_or_default();
        if let Some(first) = first.first() {
            restate(kind, &document, &revision, document.metadata.provisioning_state.as_deref()).await?;
            let nested = first.metadata.id.as_deref().unwrap_or(first.name.as_str());
            let message = format!("{nested} belongs to it, and takes time to be removed: remove it first");
            return Ok(Done::Refused(ArmError::new(StatusCode::CONFLICT, "CannotDeleteResource", message)));
        }
    }
    for below in below {
        let mut pages = Pages::of(below, &document.name);
        while let Some(documents) = pages.next().await? {
            for document in documents {
                pass_over_late(below.collection.delete(&document.name, &document.revision).await)?;
            }
        }
    }
    Ok(match kind.collection.delete(&document.name, &revision).await? {
        Removed::Gone => Done::Gone,
        Removed::Marked(_) => Done::Waiting,
    })
}

/// Gives a resource another state.
async fn restate(
    kind: &Kind,
    document: &Document,
    revision: &Revision,
    state: Option<&str>,
) -> Result<Revision, RepositoryError> {
    let change = |metadata: &mut Metadata, _: &mut _| metadata.provisioning_state = state.map(Box::from);
    Ok(kind.collection.update_metadata(&document.name, revision, change).await?.revision)
}

/// The resources of a kind that belong to one of a name, page by page.
struct Pages<'p> {
    kind: &'p Kind,
    name: &'p Name,
    /// None once all were given.
    next: Option<PageRequest>,
}

impl<'p> Pages<'p> {
    fn of(kind: &'p Kind, name: &'p Name) -> Self {
        Self { kind, name, next: Some(PageRequest::first(PAGE)) }
    }

    async fn next(&mut self) -> Result<Option<Vec<Document>>, RepositoryError> {
        let Some(request) = self.next.take() else { return Ok(None) };
        let page = self.kind.collection.list(Some(self.name), request, View::Hub).await?;
        self.next = page.next.map(|next| PageRequest { limit: Some(PAGE), after: Some(next) });
        page.items.into_iter().collect::<Result<_, _>>().map(Some)
    }
}

/// Somebody else who was faster has removed or changed it; a change is found when the removal is asked for again.
fn pass_over_late<T>(done: Result<T, RepositoryError>) -> Result<(), RepositoryError> {
    match done {
        Err(error) if is_too_late(&error) => Ok(()),
        done => done.map(drop),
    }
}
