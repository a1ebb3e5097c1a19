//! `store`: documents into a store and out of it, as versions show them.

use std::io;

use wheelwright_document::{Arena, decode_trusted};
use wheelwright_repository::{
    Collection, Name, OpenError, RecordError, Removed, Repository, RepositoryError, View, Write, Written,
};
use wheelwright_store::{ErrorKind, PageRequest, Stored, Unreadable};

use super::{
    stored::chosen,
    to_store::{DEFAULT_NAMESPACE, ToStore},
};
use crate::{Console, Exit, kinds::few, pretty::write_pretty, report::plural};

/// Stores documents, in the place of what is there or of the revision that they name, and writes their names. Those that are
/// refused are findings, and the others are stored all the same.
///
/// # Errors
/// The console cannot be written to.
pub async fn store_put(documents: &[ToStore], repository: &Repository, console: &mut Console<'_>) -> io::Result<Exit> {
    let mut exit = Exit::Clean;
    for (position, document) in documents.iter().enumerate() {
        match put(document, repository).await {
            Ok(Written { document: written, is_changed, is_removed, notes, .. }) => {
                writeln!(console.data, "{}", written.name)?;
                // Whoever is killed has told of what is stored.
                console.data.flush()?;
                if document.is_in_default {
                    console.say(format_args!(
                        "{} names no namespace: it is stored in {DEFAULT_NAMESPACE}",
                        written.name
                    ))?;
                }
                let document = written;
                for field in &notes.unknown {
                    let (name, version) = (&document.name, &document.version);
                    console.say(format_args!("warning: {name}: {version} does not know {field}: left out"))?;
                }
                for removal in &notes.removals {
                    console.say(format_args!("warning: {}: {removal}", document.name))?;
                }
                match (is_changed, is_removed) {
                    (_, true) => {
                        console.say(format_args!("{} is deleted: it has no finalizers any more", document.name))?
                    }
                    (false, _) => console.say(format_args!("{} is stored so already", document.name))?,
                    _ => {}
                }
            }
            Err(error) => {
                exit = exit.max(complain(&document.name, &error, console)?);
                let left = documents.len() - position - 1;
                if is_of_store(&error) {
                    if left > 0 {
                        console.say(format_args!("{} not stored either", plural(left, "more document")))?;
                    }
                    break;
                }
            }
        }
    }
    Ok(exit)
}

/// Whether an empty store accepts one of the documents. They are stored in the repository.
///
/// # Errors
/// None that the documents cause.
pub async fn store_accepts_any(documents: &[ToStore], repository: &Repository) -> io::Result<bool> {
    let mut accepted = Vec::new();
    store_put(documents, repository, &mut Console::plain(&mut accepted, &mut io::sink())).await?;
    Ok(!accepted.is_empty())
}

/// The name of a document whose case nobody cares for: as it was written before us if it is there so, else as we store such
/// names, in lower case.
async fn placed_name(collection: &Collection, name: &str) -> Result<Name, RepositoryError> {
    let (own, lower) = (Name::new(name)?, Name::new(&name.to_lowercase())?);
    Ok(if own == lower || collection.get_record(&own).await?.is_some() { own } else { lower })
}

/// How often somebody is waited for who writes the same document.
const MOST_CONFLICTS: usize = 100;

async fn put(document: &ToStore, repository: &Repository) -> Result<Written, RepositoryError> {
    let collection = repository.kind(&document.kind)?;
    let name = match document.is_caseless {
        true => placed_name(&collection, &document.name).await?,
        false => Name::new(&document.name)?,
    };
    let write = Write::document(&document.version, &document.json);
    if let Some(revision) = &document.revision {
        return collection.update(&name, revision, write).await;
    }
    // Whoever names no revision means what is there, however often that changes: a sweep may be at work.
    let mut tries = MOST_CONFLICTS;
    loop {
        let outcome = match collection.get(&name, View::Hub).await? {
            Some(there) => collection.update(&name, &there.revision, write).await,
            None => collection.create(&name, write).await,
        };
        match outcome {
            Err(error) if tries > 0 && is_overtaken(&error) => tries -= 1,
            outcome => return outcome,
        }
    }
}

/// Removes a document, and writes its name; with force, whatever is stored under it, at once.
///
/// # Errors
/// The console cannot be written to.
pub async fn store_delete(
    name: &str,
    kind: Option<&str>,
    force: bool,
    repository: &Repository,
    console: &mut Console<'_>,
) -> io::Result<Exit> {
    let mut tries = MOST_CONFLICTS;
    let removed = loop {
        let (collection, own, stored) = match find(name, kind, repository, console).await? {
            Ok(found) => found,
            Err(exit) => return Ok(exit),
        };
        let outcome = match force {
            true => collection.delete_record(&own, &stored.revision).await.map(|()| Removed::Gone),
            false => collection.delete(&own, &stored.revision).await,
        };
        match outcome {
            Err(error) if tries > 0 && is_overtaken(&error) => tries -= 1,
            outcome => break outcome,
        }
    };
    match removed {
        Ok(removed) => {
            writeln!(console.data, "{name}")?;
            if let Removed::Marked(_) = removed {
                console.say(format_args!("{name} is marked, and is deleted once it has no finalizers any more"))?;
            }
            Ok(Exit::Clean)
        }
        Err(error) => complain(name, &error, console),
    }
}

/// Writes the bytes of a record as they are stored, with a warning if the store knows that they are damaged. There is a finding if
/// there are none.
///
/// # Errors
/// The console cannot be written to.
pub async fn store_get_raw(
    name: &str,
    kind: Option<&str>,
    repository: &Repository,
    console: &mut Console<'_>,
) -> io::Result<Exit> {
    match find(name, kind, repository, console).await? {
        Ok((collection, own, stored)) => match Unreadable::of(&stored.value) {
            Some(why) => get_unverified(name, why, (&collection, &own), console).await,
            None => console.data.write_all(&stored.value).map(|()| Exit::Clean),
        },
        Err(exit) => Ok(exit),
    }
}

/// Writes the bytes of a value that the store does not return because it is damaged.
async fn get_unverified(
    name: &str,
    why: Unreadable,
    (collection, own): (&Collection, &Name),
    console: &mut Console<'_>,
) -> io::Result<Exit> {
    let stored = match collection.get_unverified_record(own).await {
        Ok(stored) => stored.filter(|stored| Unreadable::of(&stored.value).is_none()),
        Err(error) => return complain(name, &error, console),
    };
    let Some(stored) = stored else {
        console.complain(format_args!(
            "{name}: the store has no bytes of it; wheelwright store repair shows good copies"
        ))?;
        return Ok(Exit::Findings);
    };
    let why = match why {
        Unreadable::Damaged => "these bytes do not match their checksum in the store",
        Unreadable::Uncertain => {
            "the store is damaged: these bytes are those of the last known revision, and may be outdated"
        }
    };
    console.say(format_args!("warning: {name}: {why} (revision {})", stored.revision))?;
    console.data.write_all(&stored.value).map(|()| Exit::Clean)
}

/// Writes a document as a version shows it; without one, as its owner's does. There is a finding if there is none.
///
/// # Errors
/// The console cannot be written to.
pub async fn store_get(
    name: &str,
    kind: Option<&str>,
    version: Option<&str>,
    repository: &Repository,
    console: &mut Console<'_>,
) -> io::Result<Exit> {
    let view = version.map_or(View::Origin, View::Version);
    let (collection, own) = match find(name, kind, repository, console).await? {
        Ok((collection, own, _)) => (collection, own),
        Err(exit) => return Ok(exit),
    };
    match collection.get(&own, view).await {
        Ok(Some(document)) => {
            let (arena, mut text) = (Arena::new(), Vec::new());
            match decode_trusted(&document.json, &arena) {
                Ok(value) => write_pretty(value, &mut text),
                Err(_) => text.extend_from_slice(&document.json),
            }
            text.push(b'\n');
            console.data.write_all(&text)?;
            // Not every version shows it, and whoever writes the document back needs it.
            if collection.kind().arm().is_some_and(|arm| arm.subscription.is_none()) {
                console.say(format_args!("etag: {}", document.revision))?;
            }
            Ok(Exit::Clean)
        }
        Ok(None) => no_document(name, console),
        Err(error) => complain(name, &error, console),
    }
}

/// Writes the names of documents, each with its kind and with the version that its owner speaks. One that cannot be opened
/// is a finding.
///
/// # Errors
/// The console cannot be written to.
pub async fn store_list(kind: Option<&str>, repository: &Repository, console: &mut Console<'_>) -> io::Result<Exit> {
    let collections = match chosen(repository, kind) {
        Ok(collections) => collections,
        Err(error) => {
            console.complain(error)?;
            return Ok(Exit::Usage);
        }
    };
    let mut exit = Exit::Clean;
    for collection in collections {
        let mut page = PageRequest::default();
        loop {
            let listed = match collection.list_origins(page).await {
                Ok(listed) => listed,
                Err(error) => {
                    console.complain(error)?;
                    return Ok(Exit::Usage);
                }
            };
            for document in listed.items {
                match document {
                    Ok((name, origin)) => {
                        let (kind, acting) = (collection.kind().kind().name(), origin.acting());
                        writeln!(console.data, "{kind} {name} {acting}")?;
                    }
                    Err(error) => {
                        console.complain(error)?;
                        exit = Exit::Findings;
                    }
                }
            }
            match listed.next {
                Some(next) => page = PageRequest { limit: None, after: Some(next) },
                None => break,
            }
        }
    }
    Ok(exit)
}

/// The record of a name, of the kind that is meant or else of the only one that has it; or how the command ends.
async fn find(
    name: &str,
    kind: Option<&str>,
    repository: &Repository,
    console: &mut Console<'_>,
) -> io::Result<Result<(Collection, Name, Stored), Exit>> {
    let found = async {
        let mut found = Vec::new();
        for collection in chosen(repository, kind)? {
            let own = match collection.kind().arm().is_some_and(|arm| arm.subscription.is_none()) {
                true => placed_name(&collection, name).await?,
                false => Name::new(name)?,
            };
            let stored = collection.get_record(&own).await?;
            found.extend(stored.map(|stored| (collection, own, stored)));
        }
        Ok::<_, RepositoryError>(found)
    };
    match found.await {
        Ok(mut found) if found.len() < 2 => match found.pop() {
            Some(found) => Ok(Ok(found)),
            None => no_document(name, console).map(Err),
        },
        Ok(found) => {
            let kinds = few(found.iter().map(|(collection, ..)| collection.kind().kind().name().to_owned()));
            console.complain(format_args!("several kinds have a document {name}; choose with --kind: {kinds}"))?;
            Ok(Err(Exit::Usage))
        }
        Err(error) => complain(name, &error, console).map(Err),
    }
}

fn no_document(name: &str, console: &mut Console<'_>) -> io::Result<Exit> {
    console.complain(format_args!("there is no document {name}"))?;
    Ok(Exit::Findings)
}

/// Says what went wrong with a document, and how a command ends with it.
fn complain(name: &str, error: &RepositoryError, console: &mut Console<'_>) -> io::Result<Exit> {
    match error {
        // It names the document itself.
        RepositoryError::Record(..) => console.complain(error)?,
        error => console.complain(format_args!("{name}: {error}"))?,
    }
    match error {
        RepositoryError::Source(_) => console.say(
            "help: the store commands ask no external sources, and show nothing without what those own; wheelwright serve \
             does, with --source NAME=URL, and wheelwright store get --raw writes what is stored",
        )?,
        RepositoryError::Record(_, OpenError::Origin(_)) => {
            console.say("help: wheelwright store get --as VERSION shows it as that version does")?;
        }
        RepositoryError::Record(_, OpenError::Record(RecordError::Uncertain)) => {
            console.say("help: wheelwright store get --raw writes the last known revision")?
        }
        RepositoryError::Record(_, OpenError::Record(RecordError::Decode(_) | RecordError::Malformed(..))) => console
            .say(
            "help: wheelwright store repair shows which good copies there are; wheelwright store get --raw writes what is \
                 stored, and wheelwright store delete --force removes it",
        )?,
        RepositoryError::Record(..) => console.say("help: wheelwright store get --raw writes what is stored")?,
        _ => {}
    }
    let is_usage = matches!(
        error,
        RepositoryError::UnknownKind(_)
            | RepositoryError::UnknownVersion(_)
            | RepositoryError::UnknownLoss { .. }
            | RepositoryError::Name(_)
            | RepositoryError::Source(_)
    );
    Ok(if is_usage || is_of_store(error) { Exit::Usage } else { Exit::Findings })
}

/// Whether somebody else was faster.
fn is_overtaken(error: &RepositoryError) -> bool {
    matches!(error.store(), Some(ErrorKind::Exists | ErrorKind::Missing | ErrorKind::Conflict(_)))
}

/// Whether the store failed, and not what was asked of it.
fn is_of_store(error: &RepositoryError) -> bool {
    error.store().is_some_and(|kind| *kind != ErrorKind::TooLarge) && !is_overtaken(error)
}

#[cfg(test)]
mod tests {
    use std::{path::Path, sync::Arc};

    use wheelwright_catalog::OnDisk;
    use wheelwright_store::{Sqlite, SqliteOptions};

    use super::*;
    use crate::Kinds;

    #[tokio::test(flavor = "multi_thread")]
    async fn whoever_names_no_revision_waits_for_others() {
        let folder = tempfile::tempdir().unwrap();
        let store = Sqlite::open(folder.path().join("orders.db"), SqliteOptions::default()).unwrap();
        let orders = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/orders");
        let (mut data, mut said) = (Vec::new(), Vec::new());
        let mut console = Console::plain(&mut data, &mut said);
        let kinds = Kinds::load(&OnDisk::default(), &[orders], &mut console).unwrap().unwrap();
        let repository = Repository::new(Arc::new(store), kinds.into_served().unwrap());
        let writers = (0..8).map(|writer| {
            let repository = repository.clone();
            tokio::spawn(async move {
                for number in 0..5 {
                    let quantity = writer * 10 + number + 1;
                    let json =
                        format!(r#"{{"apiVersion":"shop.example.com/v1","kind":"Order","spec":{{"qty":{quantity}}}}}"#);
                    let [kind, version, name] = ["Order", "v1", "books"].map(str::to_owned);
                    let json = json.into_bytes();
                    let document =
                        ToStore { kind, version, name, revision: None, is_in_default: false, is_caseless: false, json };
                    put(&document, &repository).await.unwrap();
                }
            })
        });
        for writer in writers.collect::<Vec<_>>() {
            writer.await.unwrap();
        }
        let books = repository.kind("Order").unwrap().get(&Name::new("books").unwrap(), View::Hub).await.unwrap();
        assert_eq!(books.unwrap().metadata.generation, 40, "every write was one");
    }
}
