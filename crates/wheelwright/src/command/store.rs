//! `store`: documents into a store and out of it, as versions show them.

use std::io;

use wheelwright_document::{Arena, Spanned, decode, encode};
use wheelwright_repository::{Name, Repository, RepositoryError, View, Write, Written};
use wheelwright_store::{ErrorKind, PageRequest};

use super::stored::chosen;
use crate::{Console, Exit, Input, Kinds, Unreadable, kinds::Names, pretty::write_pretty};

/// A document that is to be stored.
#[derive(Clone, Debug)]
pub struct ToStore {
    kind: String,
    version: String,
    name: String,
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
    let mut documents = Vec::new();
    for input in inputs {
        let read = input.map_err(|unreadable| unreadable.to_string()).and_then(|input| {
            let arena = Arena::for_input(input.bytes.len());
            let found = input.documents(&arena).map_err(|finding| format!("{}: {}", input.name, finding.message))?.1;
            let documents = found.iter().map(|document| to_store(document, kinds, options));
            documents.collect::<Result<Vec<_>, _>>().map_err(|problem| format!("{}: {problem}", input.name))
        });
        match read {
            Ok(read) => documents.extend(read),
            Err(problem) => {
                console.complain(problem)?;
                return Ok(None);
            }
        }
    }
    Ok(Some(documents))
}

fn to_store(document: &Spanned<'_>, kinds: &Kinds, options: &StoreOptions) -> Result<ToStore, String> {
    let text = |key: &str| document.get(key).and_then(Spanned::as_str);
    let names = Names { chosen_kind: options.kind.as_deref(), from: options.from.as_deref(), ..Names::of(text) };
    let (kind, version) = kinds.of(names)?;
    let metadata = |key: &str| document.get("metadata").and_then(|metadata| metadata.get(key)?.as_str());
    let own_name = || {
        let name = metadata("name").filter(|_| kind.is_resource())?;
        Some(metadata("namespace").map_or_else(|| name.to_owned(), |namespace| format!("{namespace}/{name}")))
    };
    let name = options.name.clone().or_else(own_name).ok_or("the document has no name in its metadata; give --name")?;
    let full_name = match kind.group() {
        "" => kind.name().to_owned(),
        group => format!("{}.{group}", kind.name()),
    };
    let version = kind.history().version(version).name.to_string();
    Ok(ToStore { kind: full_name, version, name, json: encode(document.to_value(&Arena::new())) })
}

/// Stores documents, in the place of what is there, and writes their names.
///
/// # Errors
/// The console cannot be written to.
pub async fn store_put(documents: &[ToStore], repository: &Repository, console: &mut Console<'_>) -> io::Result<Exit> {
    for document in documents {
        match put(document, repository).await {
            Ok(Written { document, is_changed, notes, .. }) => {
                writeln!(console.data, "{}", document.name)?;
                for field in &notes.unknown {
                    let (name, version) = (&document.name, &document.version);
                    console.say(format_args!("warning: {name}: {version} does not know {field}: left out"))?;
                }
                if !is_changed {
                    console.say(format_args!("{} is stored so already", document.name))?;
                }
            }
            Err(error) => {
                console.complain(format_args!("{}: {error}", document.name))?;
                return Ok(if error.store().is_some() { Exit::Usage } else { Exit::Findings });
            }
        }
    }
    Ok(Exit::Clean)
}

async fn put(document: &ToStore, repository: &Repository) -> Result<Written, RepositoryError> {
    let (collection, name) = (repository.kind(&document.kind)?, Name::new(&document.name)?);
    let write = Write::document(&document.version, &document.json);
    match collection.create(&name, write).await {
        Err(error) if error.store() == Some(&ErrorKind::Exists) => {}
        created => return created,
    }
    match collection.get(&name, View::Version(&document.version)).await? {
        Some(there) => collection.update(&name, &there.revision, write).await,
        None => collection.create(&name, write).await,
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
    let found = async {
        let name = Name::new(name)?;
        for collection in chosen(repository, kind)? {
            if let Some(document) = collection.get(&name, view).await? {
                return Ok::<_, RepositoryError>(Some(document));
            }
        }
        Ok(None)
    };
    match found.await {
        Ok(Some(document)) => {
            let (arena, mut text) = (Arena::new(), Vec::new());
            match decode(&document.json, &arena) {
                Ok(value) => write_pretty(value, &mut text),
                Err(_) => text.extend_from_slice(&document.json),
            }
            text.push(b'\n');
            console.data.write_all(&text)?;
            Ok(Exit::Clean)
        }
        Ok(None) => {
            console.complain(format_args!("there is no document {name}"))?;
            Ok(Exit::Findings)
        }
        Err(error) => {
            console.complain(error)?;
            Ok(Exit::Usage)
        }
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
            let listed = match collection.list(None, page, View::Hub).await {
                Ok(listed) => listed,
                Err(error) => {
                    console.complain(error)?;
                    return Ok(Exit::Usage);
                }
            };
            for document in listed.items {
                match document {
                    Ok(document) => {
                        let (kind, acting) = (collection.kind().kind().name(), document.origin.acting());
                        writeln!(console.data, "{kind} {} {acting}", document.name)?;
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
