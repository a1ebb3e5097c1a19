//! `store`: documents into a store and out of it, as versions show them.

use std::{collections::HashSet, io};

use wheelwright_document::{Arena, Entry, Spanned, Value, decode, encode};
use wheelwright_repository::{
    Collection, Name, OpenError, RecordError, Removed, Repository, RepositoryError, View, Write, Written,
};
use wheelwright_store::{ErrorKind, PageRequest, Revision, Stored};

use super::stored::chosen;
use crate::{
    Console, Exit, Input, Kinds, Unreadable,
    kinds::{Names, few},
    pretty::write_pretty,
    report::plural,
};

/// What every record has and no document.
const RECORD: &str = "$wheelwright";

/// Where documents are that name no namespace, as for kubectl.
const DEFAULT_NAMESPACE: &str = "default";

/// A document that is to be stored.
#[derive(Clone, Debug)]
pub struct ToStore {
    kind: String,
    version: String,
    name: String,
    /// It says of no namespace that it is in it, and its kind has namespaces.
    is_in_default: bool,
    /// Nobody cares for the case of its name.
    is_caseless: bool,
    /// What it is to be stored in the place of, if it says so.
    revision: Option<Revision>,
    json: Vec<u8>,
}

/// What documents are, where they do not say it.
#[derive(Clone, Debug, Default)]
pub struct StoreOptions {
    /// The kind.
    pub kind: Option<String>,
    /// The version.
    pub from: Option<String>,
    /// The name.
    pub name: Option<String>,
}

/// The documents of some inputs, each with its kind, version and name; none if something is wrong with one, which has been
/// said by then.
///
/// # Errors
/// The console cannot be written to.
pub fn documents_to_store(
    inputs: impl IntoIterator<Item = Result<Input, Unreadable>>,
    kinds: &Kinds,
    options: &StoreOptions,
    console: &mut Console<'_>,
) -> io::Result<Option<Vec<ToStore>>> {
    let (mut documents, mut problems): (Vec<ToStore>, Vec<String>) = (Vec::new(), Vec::new());
    let mut known = HashSet::new();
    for input in inputs {
        let input = match input {
            Ok(input) => input,
            Err(unreadable) => {
                problems.push(unreadable.to_string());
                continue;
            }
        };
        let arena = Arena::for_input(input.bytes.len());
        let found = match input.documents(&arena) {
            Ok((_, found)) => found,
            Err(finding) => {
                problems.push(format!("{}: {}", input.name, finding.message));
                continue;
            }
        };
        for document in found.iter().map(|document| to_store(document, kinds, options)) {
            match document {
                Ok(document) if known.insert((document.kind.clone(), document.name.clone())) => {
                    documents.push(document)
                }
                Ok(ToStore { name, .. }) => {
                    problems.push(format!(
                        "{}: there are two documents {name}; store them one after the other",
                        input.name
                    ));
                }
                Err(problem) => problems.push(format!("{}: {problem}", input.name)),
            }
        }
    }
    if documents.is_empty() && problems.is_empty() {
        problems.push("there is no document to store".to_owned());
    }
    problems.iter().try_for_each(|problem| console.complain(problem))?;
    Ok(problems.is_empty().then_some(documents))
}

fn to_store(document: &Spanned<'_>, kinds: &Kinds, options: &StoreOptions) -> Result<ToStore, String> {
    if document.get(RECORD).is_some() {
        return Err(format!(
            "this is a record, as `store get --raw` writes one, because it has {RECORD}; what it holds is under object, in the \
             shape of its hub: take that out and store it as a document of that version"
        ));
    }
    let text = |key: &str| document.get(key).and_then(Spanned::as_str);
    let names = Names { chosen_kind: options.kind.as_deref(), from: options.from.as_deref(), ..Names::of(text) };
    let (kind, version) = kinds.of(names)?;
    let is_resource = kind.is_resource();
    if kind.program(version).is_none() {
        let (kind_name, version) = (kind.name(), &kind.history().version(version).name);
        return Err(format!("{kind_name} has {version} only in its lock, and nobody can write through it any more"));
    }
    let own_name = if is_resource { own_name(document)? } else { None };
    let is_namespaced = kinds.is_namespaced(kind);
    let given = match (&options.name, is_namespaced) {
        // The namespace is the document's to say if the name does not.
        (Some(name), Some(true)) if !name.contains('/') => match metadata(document, "namespace")? {
            Some(namespace) => Some(format!("{namespace}/{name}")),
            None => Some(name.clone()),
        },
        (name, _) => name.clone(),
    };
    let name = given.or(own_name);
    let name = name.ok_or(match is_resource {
        true => "the document has no name in its metadata; give --name",
        false => "give --name: documents of this kind do not say what they are called",
    })?;
    if is_namespaced == Some(false) && metadata(document, "namespace")?.is_some() {
        return Err(format!("{name}: {} is in no namespace; remove metadata.namespace", kind.name()));
    }
    // No client of Kubernetes could name it otherwise.
    let is_in_default = is_namespaced == Some(true) && !name.contains('/');
    let name = if is_in_default { format!("{DEFAULT_NAMESPACE}/{name}") } else { name };
    let is_caseless = !is_resource && kinds.is_arm(kind);
    let full_name = match kind.group() {
        "" => kind.name().to_owned(),
        group => format!("{}.{group}", kind.name()),
    };
    let revision = match is_resource {
        true => metadata(document, "resourceVersion")?,
        false if is_caseless => said(document, "etag", "etag")?.or(said(document, "eTag", "eTag")?),
        false => None,
    };
    let revision = revision.map(|text| text.trim_matches('"')).filter(|text| !text.is_empty()).map(Revision::new);
    let version = kind.history().version(version).name.to_string();
    let arena = Arena::new();
    let value = document.to_value(&arena);
    let json = encode(if is_in_default { placed(value, &arena) } else { value });
    Ok(ToStore { kind: full_name, version, name, is_in_default, is_caseless, revision, json })
}

/// A document that says that it is in the default namespace.
fn placed<'a>(document: Value<'a>, arena: &'a Arena) -> Value<'a> {
    let Some(metadata) = document.get("metadata").and_then(Value::as_object) else { return document };
    let namespace = Entry { key: "namespace", value: Value::string(DEFAULT_NAMESPACE) };
    let metadata: Vec<Entry<'a>> = metadata.iter().copied().chain([namespace]).collect();
    let metadata = Value::Object(arena.slice(&metadata));
    let entries = document.as_object().unwrap_or_default().iter();
    let entries =
        entries.map(|entry| if entry.key == "metadata" { Entry { value: metadata, ..*entry } } else { *entry });
    Value::Object(arena.slice(&entries.collect::<Vec<_>>()))
}

/// A text of an object, if there is one. What is no text and is not null was meant as one: it is not passed over.
fn said<'d>(object: &Spanned<'d>, key: &str, path: &str) -> Result<Option<&'d str>, String> {
    match object.get(key) {
        Some(value) if value.as_scalar().is_some_and(Value::is_null) => Ok(None),
        Some(value) => {
            let other = || format!("{path} must be a string, and is {}; put it in quotes", value.kind_name());
            value.as_str().map(Some).ok_or_else(other)
        }
        None => Ok(None),
    }
}

fn metadata<'d>(document: &Spanned<'d>, key: &str) -> Result<Option<&'d str>, String> {
    match document.get("metadata") {
        Some(metadata) => said(metadata, key, &format!("metadata.{key}")),
        None => Ok(None),
    }
}

/// What a resource is called by its metadata.
fn own_name(document: &Spanned<'_>) -> Result<Option<String>, String> {
    let Some(name) = metadata(document, "name")? else { return Ok(None) };
    let namespace = metadata(document, "namespace")?;
    let wrong = namespace.into_iter().chain([name]).find(|text| text.contains('/'));
    match (wrong, namespace) {
        (Some(wrong), _) => {
            Err(format!("{wrong:?} in the metadata has a / in it: it could be the name of another document"))
        }
        (None, Some(namespace)) => Ok(Some(format!("{namespace}/{name}"))),
        (None, None) => Ok(Some(name.to_owned())),
    }
}

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

/// Writes the bytes of a record as they are stored.
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
        Ok((_, _, stored)) => console.data.write_all(&stored.value).map(|()| Exit::Clean),
        Err(exit) => Ok(exit),
    }
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
            match decode(&document.json, &arena) {
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
        RepositoryError::Record(_, OpenError::Record(RecordError::Decode(_) | RecordError::Malformed(..))) => console
            .say(
            "help: wheelwright store get --raw writes what is stored; wheelwright store delete --force removes it, \
                 whatever it is",
        )?,
        RepositoryError::Record(..) => console.say("help: wheelwright store get --raw writes what is stored")?,
        _ => {}
    }
    let is_usage = matches!(
        error,
        RepositoryError::UnknownKind(_)
            | RepositoryError::UnknownVersion(_)
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
