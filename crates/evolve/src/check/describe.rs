//! What `check`, `diff` and the first contact with two versions say, in words: all of their wording is here and below.

mod differences;
mod first_contact;
mod incompatibility;

use wheelwright_document::{Arena, Owned, write_yaml};

pub use self::{
    differences::describe_differences,
    first_contact::{describe_additions, describe_hidden, describe_lacking, describe_loss},
};
use super::{Addition, diff::spelled, example::string};
use crate::{Selector, Union, VersionName};

/// Lines of a changes file.
pub fn changes_text(version: &VersionName, additions: &[Addition]) -> String {
    let mut renamed = Vec::new();
    let mut removed = Vec::new();
    let [mut defaults, mut storage_defaults, mut keys, mut unions, mut derived] = [const { Vec::new() }; 5];
    let texts = |names: &[Box<str>]| Owned::Array(names.iter().map(|name| string(name)).collect());
    for addition in additions {
        match addition {
            Addition::Renamed { from, to } => renamed.push((path(from), string(&to.to_string()))),
            Addition::Removed(field) => removed.push(string(&field.to_string())),
            Addition::Default(field, value) => defaults.push((path(field), value.clone())),
            Addition::StorageDefault { field, value, .. } => storage_defaults.push((path(field), value.clone())),
            Addition::Keys(field, keyed) => keys.push((path(field), texts(keyed))),
            Addition::Union(field, members) => unions.push((path(field), texts(members))),
            Addition::DerivedDown(field, expression) => derived.push((path(field), string(expression))),
        }
    }
    let mut step: Vec<(Box<str>, Owned)> = Vec::new();
    let removed = (!removed.is_empty()).then(|| ("removed".into(), Owned::Array(removed.into())));
    let down: Vec<(Box<str>, Owned)> = match derived.is_empty() {
        true => Vec::new(),
        false => vec![("down".into(), Owned::Object(derived.into()))],
    };
    let maps = [
        ("renamed", renamed),
        ("default", defaults),
        ("storageDefault", storage_defaults),
        ("keys", keys),
        ("union", unions),
        ("derived", down),
    ];
    for (name, entries) in maps {
        if !entries.is_empty() {
            step.push((name.into(), Owned::Object(entries.into())));
        }
    }
    step.extend(removed);
    yaml(&Owned::Object([(version.as_str().into(), Owned::Object(step.into()))].into()))
}

fn path(field: &Selector) -> Box<str> {
    field.to_string().into()
}

fn yaml(value: &Owned) -> String {
    let arena = Arena::new();
    let mut text = write_yaml(value.share(&arena));
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// More values than this say no more.
const MOST_LISTED: usize = 8;

fn listing(values: &[Owned]) -> String {
    let shown: Vec<String> = values.iter().take(MOST_LISTED).map(spelled).collect();
    let more = values.len().saturating_sub(MOST_LISTED);
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}

fn or_none(text: &Option<String>) -> &str {
    text.as_deref().unwrap_or("none")
}

fn value_or_none(value: &Option<Owned>) -> String {
    value.as_ref().map_or_else(|| "nothing".to_owned(), spelled)
}

fn quoted(text: &Option<Box<str>>) -> String {
    text.as_ref().map_or_else(|| "none".to_owned(), |text| format!("`{text}`"))
}

fn told_apart(keys: &[Box<str>]) -> String {
    if keys.is_empty() { "nothing".to_owned() } else { keys.join(" and ") }
}

fn excluding(union: Option<&Union>) -> String {
    union.map_or_else(|| "nothing".to_owned(), |union| union.members.join(", "))
}
