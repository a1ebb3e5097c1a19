//! Parts of objects that only one spelling has: they are left out of the other, and stay when it is changed.

use wheelwright_document::{Arena, Entry, Value};

use super::fit::Fit;

/// A value without the fields that its field does not have; what is of another shape is as it was.
pub(super) fn pruned<'a>(value: Value<'a>, fit: &Fit, arena: &'a Arena) -> Value<'a> {
    match (value, fit.element()) {
        (Value::Object(entries), Some(values)) => Value::Object(arena.slice_from(
            entries.iter().map(|entry| Entry { key: entry.key, value: pruned(entry.value, values, arena) }),
        )),
        (Value::Array(items), Some(item)) => {
            Value::Array(arena.slice_from(items.iter().map(|value| pruned(*value, item, arena))))
        }
        (Value::Object(entries), None) if fit.is_closed() => {
            let known = entries.iter().filter_map(|entry| {
                let value = pruned(entry.value, fit.under(entry.key)?, arena);
                Some(Entry { key: entry.key, value })
            });
            Value::Object(arena.slice(&known.collect::<Vec<_>>()))
        }
        (value, _) => value,
    }
}

/// A new value with those fields of the old one that the spelling which it was made of cannot say.
pub(super) fn with_unsaid<'a>(new: Value<'a>, old: Value<'a>, said: &Fit, arena: &'a Arena) -> Value<'a> {
    let (Value::Object(entries), Value::Object(old)) = (new, old) else { return new };
    if !said.is_closed() {
        return new;
    }
    let before = |key: &str| old.iter().find(|entry| entry.key == key).map(|entry| entry.value);
    let changed = entries.iter().map(|entry| {
        let value = match (before(entry.key), said.under(entry.key)) {
            (Some(old), Some(said)) => with_unsaid(entry.value, old, said, arena),
            _ => entry.value,
        };
        Entry { key: entry.key, value }
    });
    let is_unsaid =
        |entry: &&Entry<'a>| said.under(entry.key).is_none() && entries.iter().all(|known| known.key != entry.key);
    let all: Vec<_> = changed.chain(old.iter().filter(is_unsaid).copied()).collect();
    Value::Object(arena.slice(&all))
}
