//! Uniqueness in lists: sets, maps, and `uniqueItems`.

use std::collections::HashSet;

use wheelwright_document::{Path, Value, canonical};

use super::{GoNumber, Tally};
use crate::{ErrorType, error::Source, program::ListRule};

/// Reports the items of a set or map that repeat an earlier one; like the reference, only the first repetition of each.
pub(crate) fn check_unique(rule: &ListRule, items: &[Value<'_>], path: &Path<'_>, tally: &mut Tally<'_>) {
    match rule {
        ListRule::Set => report_repeated(items.iter().map(|item| key_of(Some(*item))), items.len(), path, tally),
        ListRule::Map(keys) => {
            let stranger = items.iter().position(|item| !matches!(item, Value::Object(_) | Value::Null));
            if let Some(index) = stranger {
                return fail(ErrorType::Invalid, index, path, tally, "must be an object in a list of type map");
            }
            if !all_told_apart(items, keys) {
                match &**keys {
                    [key] => report_repeated(items.iter().map(|item| key_of(item.get(key))), items.len(), path, tally),
                    keys => {
                        report_repeated(items.iter().map(|item| compound_key(*item, keys)), items.len(), path, tally)
                    }
                }
            }
        }
    }
}

/// The usual case, decided without allocating: few items, told apart by strings and numbers. "No" means that it takes a
/// closer look.
fn all_told_apart(items: &[Value<'_>], keys: &[Box<str>]) -> bool {
    const MOST_ITEMS: usize = 16;
    const MOST_KEYS: usize = 3;
    if items.len() < 2 {
        return true;
    }
    if items.len() > MOST_ITEMS || keys.len() > MOST_KEYS {
        return false;
    }
    let mut seen = [[""; MOST_KEYS]; MOST_ITEMS];
    for (index, item) in items.iter().enumerate() {
        for (place, key) in seen[index].iter_mut().zip(keys) {
            *place = match item.get(key) {
                Some(Value::String(text)) => text.as_str(),
                // Different texts may be the same number, but not if they are plain integers other than 0 and -0.
                Some(Value::Number(number)) if number.as_i64().is_some_and(|value| value != 0) => number.as_str(),
                _ => return false,
            };
        }
        if seen[..index].contains(&seen[index]) {
            return false;
        }
    }
    true
}

/// What Go compares: scalars by type and value, lists and objects by the JSON they are written as.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Unspecified,
    Null,
    Bool(bool),
    Integer(i64),
    Float(u64),
    String(Box<str>),
    Compound(Vec<u8>),
}

fn key_of(value: Option<Value<'_>>) -> Key {
    match value {
        None => Key::Unspecified,
        Some(Value::Null) => Key::Null,
        Some(Value::Bool(value)) => Key::Bool(value),
        Some(Value::Number(number)) => match GoNumber::from(number) {
            GoNumber::Integer(value) => Key::Integer(value),
            // Adding zero makes one of the two zeros.
            GoNumber::Float(value) => Key::Float((value + 0.0).to_bits()),
        },
        Some(Value::String(text)) => Key::String(text.as_str().into()),
        Some(value) => Key::Compound(canonical(value)),
    }
}

/// Several key fields are compared together, as an object of those that are there.
fn compound_key(item: Value<'_>, keys: &[Box<str>]) -> Key {
    let mut written = Vec::new();
    for key in keys {
        match item.get(key) {
            Some(value) => {
                let value = canonical(value);
                written.extend_from_slice(&(value.len() as u64).to_le_bytes());
                written.extend_from_slice(&value);
            }
            None => written.extend_from_slice(&u64::MAX.to_le_bytes()),
        }
    }
    Key::Compound(written)
}

fn report_repeated(keys: impl Iterator<Item = Key>, count: usize, path: &Path<'_>, tally: &mut Tally<'_>) {
    if count < 2 {
        return;
    }
    let mut seen: std::collections::HashMap<Key, bool> = std::collections::HashMap::with_capacity(count);
    for (index, key) in keys.enumerate() {
        match seen.entry(key) {
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(false);
            }
            std::collections::hash_map::Entry::Occupied(mut reported) => {
                if !reported.insert(true) {
                    fail(ErrorType::Duplicate, index, path, tally, "repeats an earlier item");
                }
            }
        }
    }
}

fn fail(kind: ErrorType, index: usize, path: &Path<'_>, tally: &mut Tally<'_>, message: &str) {
    let place = || Path::Index(path, index).to_field_path();
    tally.fail_with(Source::List, kind, place, || message.to_owned());
}

/// `uniqueItems`, which no structural schema may use, but documents are processed all the same.
pub(crate) fn all_different(items: &[Value<'_>]) -> bool {
    let mut seen = HashSet::with_capacity(items.len());
    items.iter().all(|item| seen.insert(key_of(Some(*item))))
}
