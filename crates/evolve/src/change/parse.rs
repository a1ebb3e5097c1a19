//! Changes files: what a user writes about the steps between versions, read with the place of every part.

mod computed;
mod contradictions;
mod converted;
mod reshaped;

use std::collections::HashMap;

use wheelwright_document::{Arena, Owned, Path, Spanned, SpannedEntry};
use wheelwright_findings::rules;
use wheelwright_schema::Problem;

use self::{
    computed::{derived, hooks},
    contradictions::{find_contradictions, said_twice},
    converted::converted,
    reshaped::reshaped,
};
use super::{DeclaredUnion, FieldValue, Located, OlderWrite, Renamed, Steps, VersionStep, Writers};
use crate::{
    Selector, VersionName,
    reader::{Reader, is_null, quoted},
};

/// The words of `olderWrite`.
pub const OLDER_WRITE: &[(&str, OlderWrite)] =
    &[("preserve", OlderWrite::Preserve), ("reset", OlderWrite::Reset), ("reject", OlderWrite::Reject)];

/// Every key of a step.
const KEYS: &[&str] = &[
    "from",
    "renamed",
    "removed",
    "new",
    "converted",
    "reshaped",
    "derived",
    "hook",
    "keys",
    "union",
    "default",
    "storageDefault",
    "writers",
    "olderWrite",
];

/// Reads a changes file. What is wrong is reported and left out; the rest is read all the same. Whether versions and
/// fields are there is not known here.
pub fn parse_changes(file: &Spanned<'_>) -> (Steps, Vec<Problem>) {
    let mut reader = Reader::new();
    let mut steps = Vec::new();
    let expected = "an object with a key for each version that was stepped into";
    for entry in reader.entries(file, &Path::Root, expected) {
        if reader.is_full() {
            break;
        }
        if let Some(name) = reader.version_in(entry.key, entry.key_span, &Path::Root) {
            steps.push(step(&mut reader, name, &entry.value));
        }
    }
    (steps, reader.finish())
}

fn step(reader: &mut Reader, name: Located<VersionName>, source: &Spanned<'_>) -> VersionStep {
    let version = name.item.clone();
    let path = &Path::Child(&Path::Root, version.as_str());
    let mut step = VersionStep::new(name);
    let mut left_to_hooks = Vec::new();
    for entry in reader.entries(source, path, "an object with what changed, such as renamed or removed") {
        let path = &Path::Child(path, entry.key);
        let value = &entry.value;
        match entry.key {
            "from" => step.from = reader.version(value, path),
            "renamed" => step.renamed = renamed(reader, value, path),
            "removed" => step.removed = selectors(reader, value, path),
            "new" => step.new = selectors(reader, value, path),
            "converted" => step.respelled.extend(converted(reader, value, path)),
            "reshaped" => step.respelled.extend(reshaped(reader, value, path)),
            "derived" => step.derived = derived(reader, value, path),
            "hook" => left_to_hooks = hooks(reader, value, path),
            "keys" => {
                let keys = |reader: &mut Reader, value: &Spanned<'_>, path: &Path<'_>| {
                    names(reader, value, path, "a list with the names of key fields")
                };
                step.keys = by_field(reader, value, path, keys);
            }
            "union" => {
                let unions = by_field(reader, value, path, union);
                let union = |(at, (members, discriminator))| DeclaredUnion { at, members, discriminator };
                step.unions = unions.into_iter().map(union).collect();
            }
            "default" => step.defaults = field_values(reader, value, path),
            "storageDefault" => step.storage_defaults = field_values(reader, value, path),
            "writers" => {
                let words = [("omitempty", Writers::Omitempty), ("exact", Writers::Exact)];
                step.writers = reader.choice(value, path, &words);
            }
            "olderWrite" => step.older_write = reader.choice(value, path, OLDER_WRITE),
            _ => reader.unknown_key(entry, path, KEYS),
        }
    }
    step.respelled.extend(left_to_hooks);
    find_contradictions(reader, &step, path);
    step
}

fn renamed(reader: &mut Reader, value: &Spanned<'_>, path: &Path<'_>) -> Vec<Renamed> {
    let mut renamed = Vec::new();
    for entry in reader.entries(value, path, "an object from old paths to new ones") {
        let path = &Path::Key(path, entry.key);
        let from = reader.selector_in(entry.key, entry.key_span, path);
        let to = reader.selector(&entry.value, path);
        let (Some(from), Some(to)) = (from, to) else { continue };
        if from.item == to.item {
            let message = format!("{} is renamed to itself", quoted(entry.key));
            if let Some(problem) = reader.report(&rules::CONTRADICTION, path, entry.key_span, message) {
                problem.mend = Some("remove the line, or write the new path".to_owned());
            }
            continue;
        }
        renamed.push(Renamed { from, to });
    }
    renamed
}

fn selectors(reader: &mut Reader, value: &Spanned<'_>, path: &Path<'_>) -> Vec<Located<Selector>> {
    let items = reader.list(value, path, "a list of paths to fields");
    let read = items.iter().enumerate().map(|(index, item)| reader.selector(item, &Path::Index(path, index)));
    read.collect::<Vec<_>>().into_iter().flatten().collect()
}

/// What is said about each of some fields.
fn by_field<T>(
    reader: &mut Reader,
    value: &Spanned<'_>,
    path: &Path<'_>,
    mut read: impl FnMut(&mut Reader, &Spanned<'_>, &Path<'_>) -> Option<T>,
) -> Vec<(Located<Selector>, T)> {
    let mut found = Vec::new();
    for SpannedEntry { key, key_span, value } in reader.entries(value, path, "an object with paths to fields as keys") {
        let path = &Path::Key(path, key);
        let at = reader.selector_in(key, *key_span, path);
        let said = read(reader, value, path);
        found.extend(at.zip(said));
    }
    found
}

fn field_values(reader: &mut Reader, value: &Spanned<'_>, path: &Path<'_>) -> Vec<FieldValue> {
    let owned = |_: &mut Reader, value: &Spanned<'_>, _: &Path<'_>| Some(Owned::from(value.to_value(&Arena::new())));
    by_field(reader, value, path, owned).into_iter().map(|(at, value)| FieldValue { at, value }).collect()
}

/// Names of fields right below one, at least one of them, and each once.
fn names(reader: &mut Reader, value: &Spanned<'_>, path: &Path<'_>, expected: &str) -> Option<Vec<Box<str>>> {
    let items = value.as_array().filter(|items| !items.is_empty());
    let Some(items) = items else {
        match value.as_array() {
            Some(_) => {
                let message = format!("expected {expected}, found an empty one");
                reader.report(&rules::MALFORMED_CATALOG, path, value.span, message);
            }
            None => reader.wrong_sort(value, path, expected),
        }
        return None;
    };
    let mut seen = HashMap::new();
    for (index, item) in items.iter().enumerate() {
        let path = &Path::Index(path, index);
        let Some(name) = reader.text(item, path, "the name of a field") else { continue };
        match seen.get(name.item) {
            None => {
                seen.insert(name.item, (index, name.span));
            }
            Some((_, first)) => said_twice(reader, path, &quoted(name.item), name.span, *first),
        }
    }
    let mut names: Vec<_> = seen.into_iter().map(|(name, (index, _))| (index, name)).collect();
    names.sort_unstable();
    (!names.is_empty()).then(|| names.into_iter().map(|(_, name)| name.into()).collect())
}

/// The members of a union, and its discriminator.
type Union = (Vec<Box<str>>, Option<Box<str>>);

/// A union: a list of members, or an object with members and discriminator.
fn union(reader: &mut Reader, value: &Spanned<'_>, path: &Path<'_>) -> Option<Union> {
    const MEMBERS: &str = "a list with the names of members";
    let Some(entries) = value.as_object() else {
        return Some((names(reader, value, path, MEMBERS)?, None));
    };
    let (mut members, mut discriminator) = (None, None);
    for entry in entries {
        let path = &Path::Child(path, entry.key);
        match entry.key {
            "members" => members = Some(names(reader, &entry.value, path, MEMBERS)),
            "discriminator" if is_null(&entry.value) => {}
            "discriminator" => discriminator = reader.text(&entry.value, path, "the name of a field"),
            _ => reader.unknown_key(entry, path, &["members", "discriminator"]),
        }
    }
    let Some(members) = members else {
        let message = "a union needs its members";
        if let Some(problem) = reader.report(&rules::MALFORMED_CATALOG, path, value.span, message) {
            problem.mend = Some("add members: [..] with the names of the fields of which only one is set".to_owned());
        }
        return None;
    };
    let discriminator: Option<Box<str>> = discriminator.map(|name| name.item.into());
    Some((members?, discriminator))
}
