//! What an entry of a catalog says of documents in a store: those that were there before us, and fields that another
//! system owns.

use wheelwright_document::{Path, Span, Spanned};
use wheelwright_evolve::{Located, Reader, Selector, Step, Structure, VersionName, quoted};
use wheelwright_findings::rules;
use wheelwright_schema::Problem;

use crate::Kind;

/// `adopt`: documents that were in the store before us.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Adopt {
    /// The version of those that do not say it.
    pub version: Option<Located<VersionName>>,
    /// What their keys begin with; so do those of new ones.
    pub prefix: Option<Located<Box<str>>>,
}

/// An entry of `external`: a system that owns some fields of a kind.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct External {
    /// What it is called.
    pub source: Located<Box<str>>,
    /// The version in whose shape it answers, and in whose names its fields are.
    pub version: Located<VersionName>,
    /// The fields that it owns.
    pub fields: Vec<Located<Selector>>,
    /// What it says where it has no value.
    pub missing: Missing,
}

/// What counts as missing, beside what is absent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Missing {
    /// Null does.
    pub null: bool,
    /// An empty text does.
    pub empty_text: bool,
}

/// Reads `adopt`.
pub(crate) fn adopt(reader: &mut Reader, value: &Spanned<'_>, path: &Path<'_>) -> Option<Adopt> {
    let mut adopt = Adopt::default();
    for entry in reader.entries(value, path, "an object with version or prefix") {
        let path = &Path::Child(path, entry.key);
        match entry.key {
            "version" => adopt.version = reader.version(&entry.value, path),
            "prefix" => {
                let Some(text) = reader.text(&entry.value, path, "the beginning of a key, such as shop/carts") else {
                    continue;
                };
                match prefix_fault(text.item) {
                    Some(fault) => {
                        if let Some(problem) = reader.report(&rules::MALFORMED_CATALOG, path, text.span, fault) {
                            problem.mend = Some("write the first segments of keys, such as shop/carts".to_owned());
                        }
                    }
                    None => adopt.prefix = Some(Located { item: text.item.into(), span: text.span }),
                }
            }
            _ => reader.unknown_key(entry, path, &["version", "prefix"]),
        }
    }
    value.as_object().map(|_| adopt)
}

/// What is wrong with a beginning of keys.
fn prefix_fault(prefix: &str) -> Option<&'static str> {
    let is_forbidden = |character: char| character.is_control() || matches!(character, '\\' | '?' | '#');
    match prefix {
        _ if prefix.starts_with('$') => Some("keys that begin with $ are those of Wheelwright itself"),
        _ if prefix.split('/').any(str::is_empty) => Some("a key has no empty segments between its slashes"),
        _ if prefix.contains(is_forbidden) => Some("a key has no control characters, \\, ? or # in it"),
        _ => None,
    }
}

/// Kinds whose keys begin alike: one would take the records of the other for its own.
pub(crate) fn overlaps(kinds: &[Kind]) -> Vec<Problem> {
    let mut places: Vec<(String, &Kind, Span)> = kinds.iter().map(place_of).collect();
    places.sort_by(|(one, ..), (other, ..)| one.cmp(other));
    let mut problems = Vec::new();
    let mut outer: Option<&(String, &Kind, Span)> = None;
    for place in &places {
        match outer {
            Some((prefix, kind, span)) if place.0.starts_with(prefix) => {
                let (inner, other) = (&place.1.declaration.kind, &kind.declaration.kind);
                let message = format!(
                    "the keys of {inner} begin with {}, and those of {other} with {prefix}: each would take records of the \
                     other for its own",
                    place.0
                );
                let problem = Problem::ours(&rules::MALFORMED_CATALOG, &Path::Root, place.2, message);
                let problem = problem.related(*span, "the other one");
                problems.push(problem.mend("give one of them an adopt.prefix of its own"));
            }
            _ => outer = Some(place),
        }
    }
    problems
}

/// What the keys of a kind begin with, and where that is said.
fn place_of(kind: &Kind) -> (String, &Kind, Span) {
    if let Some(prefix) = kind.declared_prefix() {
        let span = kind.adopt.prefix.as_ref().map_or(kind.named, |prefix| prefix.span);
        return (format!("{prefix}/"), kind, span);
    }
    let first = kind.declaration.was.first().map_or_else(|| kind.declaration.name(), |was| was.item.clone());
    let prefix = match &*first.group {
        "" => format!("{}/", first.kind),
        group => format!("{group}/{}/", first.kind),
    };
    (prefix, kind, kind.named)
}

/// Reads `external`.
pub(crate) fn external(reader: &mut Reader, value: &Spanned<'_>, path: &Path<'_>) -> Vec<External> {
    let mut sources = Vec::new();
    for entry in reader.entries(value, path, "an object with an entry for each system") {
        let path = &Path::Key(path, entry.key);
        let source = Located { item: entry.key.into(), span: entry.key_span };
        sources.extend(source_of(reader, source, &entry.value, path));
    }
    sources
}

fn source_of(reader: &mut Reader, source: Located<Box<str>>, value: &Spanned<'_>, path: &Path<'_>) -> Option<External> {
    const EXPECTED: &str = "an object with version and fields";
    let entries = match value.as_object() {
        Some(entries) => entries,
        None => {
            reader.wrong_sort(value, path, EXPECTED);
            return None;
        }
    };
    let (mut version, mut fields, mut missing) = (None, Vec::new(), Missing { null: true, empty_text: false });
    for entry in entries {
        let path = &Path::Child(path, entry.key);
        match entry.key {
            "version" => version = reader.version(&entry.value, path),
            "fields" => {
                let items = reader.list(&entry.value, path, "a list of paths to fields").iter().enumerate();
                let read = items.map(|(index, item)| reader.selector(item, &Path::Index(path, index)));
                fields = read.collect::<Vec<_>>().into_iter().flatten().collect();
            }
            "missing" => missing = missing_of(reader, &entry.value, path),
            _ => reader.unknown_key(entry, path, &["version", "fields", "missing"]),
        }
    }
    for key in ["version", "fields"] {
        if value.get(key).is_none() {
            let message = format!("{} needs {key}", quoted(&source.item));
            if let Some(problem) = reader.report(&rules::MALFORMED_CATALOG, path, source.span, message) {
                problem.mend =
                    Some("say in the shape of which version it answers, and which fields it owns".to_owned());
            }
        }
    }
    Some(External { source, version: version?, fields, missing })
}

fn missing_of(reader: &mut Reader, value: &Spanned<'_>, path: &Path<'_>) -> Missing {
    let mut missing = Missing::default();
    let items = reader.list(value, path, "a list of absent, null and \"\"").iter().enumerate();
    for (index, item) in items {
        match (item.as_str(), item.as_scalar().is_some_and(|scalar| scalar.is_null())) {
            (Some("absent"), _) => {}
            (Some(""), _) => missing.empty_text = true,
            (Some("null"), _) | (None, true) => missing.null = true,
            _ => {
                let message = "expected absent, null or \"\"";
                reader.report(&rules::MALFORMED_CATALOG, &Path::Index(path, index), item.span, message);
            }
        }
    }
    missing
}

/// What is wrong with the fields that other systems are said to own.
pub(crate) fn problems(kind: &Kind) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut owned: Vec<&Located<Selector>> = Vec::new();
    for External { version, fields, .. } in &kind.external {
        // A version that is not declared is known from the lock, or is a finding of its own.
        let Some(declared) = kind.declaration.version(version.item.as_str()) else { continue };
        let structure = Structure::of(&declared.schema, declared.root);
        for field in fields {
            let wrong = |message: String| Problem::ours(&rules::MALFORMED_CATALOG, &Path::Root, field.span, message);
            let at = &field.item;
            if at.steps().iter().any(|step| !matches!(step, Step::Field(_))) {
                let problem =
                    wrong(format!("{at} is in a list or map, and another system owns that as a whole or not"));
                problems.push(problem.mend("name the list or map"));
            } else if kind.is_of_resource_manager() && is_of_resource_manager(at) {
                let problem = wrong(format!("{at} is kept beside the document, and by no other system"));
                problems.push(problem.mend("remove it"));
            } else if structure.find(at).is_none() {
                let problem = wrong(format!("{at} is no field of {}", version.item));
                problems.push(problem.mend("name the fields as that version does"));
            } else if let Some(first) =
                owned.iter().find(|other| is_within(&other.item, at) || is_within(at, &other.item))
            {
                let problem = wrong(format!("{at} and {} overlap, and one field has one owner", first.item));
                problems.push(problem.related(first.span, "first here").mend("remove one of them"));
            } else {
                owned.push(field);
            }
        }
    }
    problems
}

/// Fields of a resource that the repository keeps in the envelope of its record.
pub(crate) fn is_of_resource_manager(at: &Selector) -> bool {
    let names: Vec<&str> = at.steps().iter().filter_map(field_name).collect();
    matches!(names[..], ["id" | "name" | "type" | "systemData" | "tags", ..] | ["properties", "provisioningState", ..])
}

fn is_within(outer: &Selector, inner: &Selector) -> bool {
    inner.steps().starts_with(outer.steps())
}

fn field_name(step: &Step) -> Option<&str> {
    match step {
        Step::Field(name) => Some(name),
        Step::Items | Step::Values => None,
    }
}
