//! Documents that are to be stored: what they are, and what is wrong with them, before anything is.

use std::{collections::HashSet, io};

use wheelwright_document::{Arena, Entry, Spanned, Value, encode};
use wheelwright_repository::is_record;
use wheelwright_store::Revision;

use crate::{Console, Input, Kinds, Unreadable, kinds::Names};

/// Where documents are that name no namespace, as for kubectl.
pub(super) const DEFAULT_NAMESPACE: &str = "default";

/// A document that is to be stored.
#[derive(Clone, Debug)]
pub struct ToStore {
    pub(super) kind: String,
    pub(super) version: String,
    pub(super) name: String,
    /// It says of no namespace that it is in it, and its kind has namespaces.
    pub(super) is_in_default: bool,
    /// Nobody cares for the case of its name.
    pub(super) is_caseless: bool,
    /// What it is to be stored in the place of, if it says so.
    pub(super) revision: Option<Revision>,
    pub(super) json: Vec<u8>,
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
    let arena = Arena::new();
    let value = document.to_value(&arena);
    if is_record(value) {
        return Err("this is a record, as `store get --raw` writes one; what it holds is under object, in the shape of its hub: \
                    take that out and store it as a document of that version"
            .to_owned());
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
