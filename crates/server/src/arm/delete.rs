//! Removing resources, with all that belongs to them.

use std::collections::HashSet;

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
    write::{TRIES, check_again, is_deleting, is_too_late},
};
use crate::{
    answer::Answer,
    audit::{self, NotRecorded, Trail},
    refusal::Refusal,
    request::Head,
};

/// How many resources are removed at a time that belong to another.
const PAGE: usize = 100;

/// Removes a resource. What belongs to it goes with it: the resource is marked first, so that nothing new can belong to
/// it; then what does is removed, and the resource itself last. Whoever is cut short in between does the rest when it is
/// asked for again, and so does whoever had to wait for others to agree. Where it takes a back end to remove a resource, it
/// and all that belongs to it are marked for that.
pub(crate) async fn delete(
    resource: &Resource<'_>,
    version: &ArmVersion,
    head: &Head,
    kinds: &Kinds,
) -> Result<Answer, ArmError> {
    let name = resource.place.name(resource.kind)?;
    let collection = &resource.kind.collection;
    let preconditions = Preconditions::of(head)?;
    for _ in 0..TRIES {
        let there = collection.get(&name, View::Hub).await?;
        preconditions.check(there.as_ref().map(|document| &document.revision))?;
        let Some(document) = there else {
            head.trail.changed(None, false, false);
            return Ok(Answer::empty(StatusCode::NO_CONTENT));
        };
        let done = match version.operations.long_running.delete {
            true => mark(resource.kind, &document).await.map(|(operation, location)| Done::Began(operation, location)),
            false => remove(resource.kind, document, version, kinds, &head.trail).await,
        };
        match done {
            Err(error) if is_too_late(&error) => check_again(&preconditions)?,
            Err(error) => return Err(error.into()),
            Ok(Done::Refused(error)) => return Err(error),
            Ok(Done::Began(operation, location)) => {
                head.trail.changed(None, true, false);
                let below = kinds.below(resource.kind);
                match clear_below(&below, &name, Ending::Marked, &head.trail).await? {
                    Left::Nothing | Left::Waiting => {}
                    Left::More => return Err(busy_below()),
                    Left::NotRecorded => return Err(not_recorded()),
                }
                let answer = Answer::empty(StatusCode::ACCEPTED);
                return Ok(poll::announced(answer, &operation, resource.kind, location.as_deref(), version, head));
            }
            Ok(Done::Gone) => {
                head.trail.changed(None, true, false);
                return Ok(Answer::empty(StatusCode::OK));
            }
            Ok(Done::Waiting) => {
                head.trail.changed(None, true, false);
                return Ok(Answer::empty(StatusCode::ACCEPTED));
            }
        }
    }
    Err(ArmError::contended())
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

/// Removes a resource and all that belongs to it at once.
async fn remove(
    kind: &Kind,
    document: Document,
    version: &ArmVersion,
    kinds: &Kinds,
    trail: &Trail,
) -> Result<Done, RepositoryError> {
    let below = kinds.below(kind);
    // Before anything is marked: whoever is refused here has changed nothing, even if they are cut short.
    if let Some(refused) = refused_below(&below, &document.name, version).await? {
        return Ok(Done::Refused(refused));
    }
    let mut revision = document.revision.clone();
    if !below.is_empty() && !is_deleting(&document.metadata) {
        revision = restate(kind, &document, &revision, Some(DELETING)).await?;
        // And again: until the mark was there, somebody could create one.
        if let Some(refused) = refused_below(&below, &document.name, version).await? {
            unmark(kind, &document, revision).await?;
            return Ok(Done::Refused(refused));
        }
    }
    match clear_below(&below, &document.name, Ending::Gone, trail).await? {
        Left::Nothing => {}
        Left::Waiting => return Ok(Done::Waiting),
        Left::More => return Ok(Done::Refused(busy_below())),
        Left::NotRecorded => return Ok(Done::Refused(not_recorded())),
    }
    Ok(match kind.collection.delete(&document.name, &revision).await? {
        Removed::Gone => Done::Gone,
        Removed::Marked(_) => Done::Waiting,
    })
}

/// Why a resource is not removed at once: something belongs to it that a back end has to remove.
async fn refused_below(
    below: &[&Kind],
    name: &Name,
    version: &ArmVersion,
) -> Result<Option<ArmError>, RepositoryError> {
    let mut nested = Vec::new();
    for slow in below.iter().filter(|below| below.is_removed_slowly(version.name.as_str())) {
        nested.extend(Pages::of(slow, name).next().await?.unwrap_or_default());
        if nested.len() > 1 {
            break;
        }
    }
    let Some(first) = nested.first() else { return Ok(None) };
    let id = first.metadata.id.as_deref().unwrap_or(first.name.as_str());
    let message = match nested.len() {
        1 => format!("{id} belongs to it, and takes time to be removed: remove it first"),
        _ => format!("{id} and others belong to it, and take time to be removed: remove them first"),
    };
    Ok(Some(ArmError::new(StatusCode::CONFLICT, "CannotDeleteResource", message)))
}

/// What is to become of something that belongs to a resource that is to go.
#[derive(Clone, Copy)]
enum Ending {
    Gone,
    /// A back end removes it.
    Marked,
    /// Something that belongs to it is still there: it waits for that, and nothing new can belong to it.
    Held,
}

/// What became of it.
#[derive(Clone, Copy)]
enum Fate {
    Gone,
    /// It is marked, and goes when others are done or agree.
    Marked,
    /// Others wrote it all the time.
    Busy,
}

impl Fate {
    /// The line of the audit log about it.
    fn removed<'r>(self, kind: &'r Kind, name: &'r Name) -> audit::Removed<'r> {
        let status = match self {
            Self::Gone => StatusCode::OK,
            Self::Marked => StatusCode::ACCEPTED,
            Self::Busy => StatusCode::CONFLICT,
        };
        // A name begins with the subscription and the group, which are the scope of the request.
        let name = name.as_str().splitn(3, '/').last().unwrap_or_default();
        audit::Removed { kind: Some(kind.resource_type()), name, status, revision: None, is_dry_run: false }
    }
}

/// What is left of all that belongs to a resource.
enum Left {
    Nothing,
    /// Only what is marked, and goes when others are done or agree.
    Waiting,
    /// Others write it all the time.
    More,
    /// The audit log cannot be written: no more resources are removed.
    NotRecorded,
}

impl Ending {
    /// Whether there is nothing more for us to do about a resource.
    fn is_reached(self, metadata: &Metadata) -> bool {
        match self {
            Self::Gone => metadata.deleted_at.is_some(),
            Self::Marked | Self::Held => is_deleting(metadata),
        }
    }
}

/// Removes or marks what belongs to a resource, the deepest first, until a pass finds nothing that is neither gone nor
/// marked: a pass does not see what is written behind it.
async fn clear_below(below: &[&Kind], name: &Name, ending: Ending, trail: &Trail) -> Result<Left, RepositoryError> {
    for _ in 0..TRIES {
        let (mut is_settled, mut left) = (true, Left::Nothing);
        // The names of those to which something belongs that is still there.
        let mut held: HashSet<Box<str>> = HashSet::new();
        for kind in below {
            let mut pages = Pages::of(kind, name);
            while let Some(documents) = pages.next().await? {
                for document in documents {
                    let ending = match ending {
                        Ending::Gone if held.contains(document.name.as_str()) => Ending::Held,
                        ending => ending,
                    };
                    let was_reached = ending.is_reached(&document.metadata);
                    let name = document.name.clone();
                    let above: Vec<Box<str>> = names_above(&name).map(Box::from).collect();
                    let fate = settle(kind, document, ending).await?;
                    if !was_reached && let Err(NotRecorded) = trail.removed(&fate.removed(kind, &name)).await {
                        return Ok(Left::NotRecorded);
                    }
                    is_settled &= was_reached && matches!(fate, Fate::Marked);
                    if let Fate::Marked | Fate::Busy = fate {
                        held.extend(above);
                        left = Left::Waiting;
                    }
                }
            }
        }
        if is_settled {
            return Ok(left);
        }
    }
    Ok(Left::More)
}

/// The names of all that a resource belongs to.
fn names_above(name: &Name) -> impl Iterator<Item = &str> {
    let name = name.as_str();
    name.match_indices('/').map(move |(end, _)| &name[..end])
}

/// Removes or marks a resource, whoever writes it meanwhile.
async fn settle(kind: &Kind, document: Document, ending: Ending) -> Result<Fate, RepositoryError> {
    let mut document = document;
    for _ in 0..TRIES {
        let done = match ending {
            Ending::Gone => match kind.collection.delete(&document.name, &document.revision).await {
                Ok(Removed::Gone) => Ok(Fate::Gone),
                Ok(Removed::Marked(_)) => Ok(Fate::Marked),
                Err(error) => Err(error),
            },
            Ending::Marked => mark(kind, &document).await.map(|_| Fate::Marked),
            Ending::Held if is_deleting(&document.metadata) => Ok(Fate::Marked),
            Ending::Held => restate(kind, &document, &document.revision, Some(DELETING)).await.map(|_| Fate::Marked),
        };
        match done {
            Err(error) if is_too_late(&error) => {}
            done => return done,
        }
        match kind.collection.get(&document.name, View::Hub).await? {
            Some(again) => document = again,
            None => return Ok(Fate::Gone),
        }
    }
    Ok(Fate::Busy)
}

fn not_recorded() -> ArmError {
    ArmError::of_refusal(&Refusal::OutcomeNotRecorded)
}

fn busy_below() -> ArmError {
    ArmError::conflict("others write what belongs to the resource all the time; try again")
}

/// Takes back that a resource is to go, whoever writes it meanwhile: it is in the state again that it was in before.
async fn unmark(kind: &Kind, before: &Document, marked: Revision) -> Result<(), RepositoryError> {
    let state = before.metadata.provisioning_state.as_deref();
    let (mut revision, mut tries) = (marked, TRIES);
    loop {
        match restate(kind, before, &revision, state).await {
            Err(error) if is_too_late(&error) && tries > 0 => tries -= 1,
            done => return done.map(drop),
        }
        match kind.collection.get(&before.name, View::Hub).await? {
            Some(again) if again.metadata.deleted_at.is_none() && is_deleting(&again.metadata) => {
                revision = again.revision;
            }
            // Somebody else has removed it, or given it another state.
            _ => return Ok(()),
        }
    }
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
