//! Values that no schema describes.

use wheelwright_document::{Arena, Entry, Number, Value};

use super::super::Random;

/// Names that have a meaning somewhere, or that are easily written or split wrongly.
const KEYS: [&str; 16] =
    ["a", "b", "name", "a.b", "a/b", "$bag", "$$bag", "$unknown", "$implicit", "", "ü", "0", "[]", "{}", "~1", "\""];
const TEXTS: [&str; 14] = [
    "",
    "a",
    "b",
    "abc",
    "true",
    "null",
    "0",
    "1e3",
    "a b",
    "\"quoted\\\"",
    "line\nbreak",
    "ü日本",
    "\u{1f600}",
    "\u{1}",
];
const NUMBERS: [&str; 11] =
    ["0", "1", "-1", "1.0", "1e3", "0.5", "-0", "2147483648", "9007199254740993", "1.50", "12345678901234567890"];

/// A key of a free-form object: any of the usual ones, or the name of a field declared somewhere.
pub(super) fn key<'a>(random: &mut Random, names: &'a [Box<str>]) -> &'a str {
    match random.pick(names) {
        Some(name) if random.one_in(3) => name,
        _ => KEYS[random.below(KEYS.len())],
    }
}

/// A string that nothing limits.
pub(super) fn text(random: &mut Random) -> &'static str {
    TEXTS[random.below(TEXTS.len())]
}

/// A value of any type, with at most about `allowance` values in it.
pub(super) fn value<'a>(random: &mut Random, names: &'a [Box<str>], allowance: usize, arena: &'a Arena) -> Value<'a> {
    let sorts = if allowance == 0 { 5 } else { 9 };
    match random.below(sorts) {
        0 => Value::Null,
        1 => Value::Bool(random.one_in(2)),
        2 => Number::new(NUMBERS[random.below(NUMBERS.len())]).map_or(Value::Null, Value::Number),
        3 | 4 => Value::string(text(random)),
        5 => {
            let count = random.below(allowance.min(3) + 1);
            let items: Vec<_> = (0..count).map(|_| value(random, names, allowance / (count + 1), arena)).collect();
            Value::Array(arena.slice(&items))
        }
        _ => {
            let count = random.below(allowance.min(3) + 1);
            object(random, names, count, allowance / (count + 1), arena)
        }
    }
}

/// An object with about so many fields, each with about `allowance` values in it.
pub(super) fn object<'a>(
    random: &mut Random,
    names: &'a [Box<str>],
    count: usize,
    allowance: usize,
    arena: &'a Arena,
) -> Value<'a> {
    let mut entries: Vec<Entry<'a>> = Vec::with_capacity(count);
    for _ in 0..count {
        let key = key(random, names);
        if entries.iter().all(|entry| entry.key != key) {
            entries.push(Entry { key, value: value(random, names, allowance, arena) });
        }
    }
    Value::Object(arena.slice(&entries))
}
