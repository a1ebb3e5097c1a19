//! Plain paths of fields, as definitions have them for scaling and for selecting: `.spec.replicas`.

use wheelwright_document::{Arena, Entry, Value};

/// The names of a path.
pub(super) fn names(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.trim_start_matches('.').split('.').filter(|name| !name.is_empty())
}

/// The value at a path; none if it is not there. Else, what is on the way that has no fields.
pub(super) fn value_at<'a>(document: Value<'a>, path: &str) -> Result<Option<Value<'a>>, &'static str> {
    let mut value = document;
    for name in names(path) {
        match value {
            Value::Object(_) => match value.get(name).filter(|value| !value.is_null()) {
                Some(below) => value = below,
                None => return Ok(None),
            },
            other => return Err(other.kind_name()),
        }
    }
    Ok(Some(value))
}

/// Objects around a value, so that it is at a path.
pub(super) fn around<'a>(path: &'a str, value: Value<'a>, arena: &'a Arena) -> Value<'a> {
    names(path).rev().fold(value, |value, key| Value::Object(arena.slice(&[Entry { key, value }])))
}
