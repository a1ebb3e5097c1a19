//! Parts of values that only one spelling has: they are left out of the other, and stay when it is changed.

use wheelwright_document::{Arena, Entry, Value};

use super::fit::Fit;
use crate::{
    lens::{by_key, find, match_items},
    shared::Shared,
};

/// A value without what its field cannot say: fields that it does not have, and nulls. What is of another shape is as it was,
/// and so is null in a list, where the place of every other item counts.
pub(super) fn pruned<'a>(value: Value<'a>, fit: &Fit, arena: &'a Arena) -> Value<'a> {
    match (value, fit.element()) {
        (Value::Array(items), Some(item)) => {
            let mut kept = Shared::new(items);
            items.iter().for_each(|value| kept.push(pruned(*value, item, arena)));
            Value::Array(kept.finish(arena))
        }
        (Value::Object(entries), _) => {
            let mut kept = Shared::new(entries);
            let mut cursor = 0;
            for entry in entries {
                let under = fit.next_under(entry.key, &mut cursor);
                match fit.has_place(under, entry.value) {
                    true => kept.push(under.map_or(entry.value, |fit| pruned(entry.value, fit, arena))),
                    false => kept.leave_out(),
                }
            }
            Value::Object(kept.finish(arena))
        }
        (value, _) => value,
    }
}

/// A new value with those parts of the old one that the spelling which it is made of cannot say, where what they are in is
/// still there. `was` is what that spelling was, if it is known.
pub(super) fn with_unsaid<'a>(
    new: Value<'a>,
    was: Option<Value<'a>>,
    old: Value<'a>,
    said: &Fit,
    arena: &'a Arena,
) -> Value<'a> {
    match (new, old, said.element()) {
        (Value::Object(entries), Value::Object(old), _) => {
            let was = by_key(was.and_then(Value::as_object).unwrap_or_default());
            let (before, now) = (by_key(old), by_key(entries));
            let changed = entries.iter().map(|entry| {
                let value = match (find(&before, entry.key), said.under(entry.key)) {
                    (Some(old), Some(said)) => with_unsaid(entry.value, find(&was, entry.key), old, said, arena),
                    _ => entry.value,
                };
                Entry { key: entry.key, value }
            });
            let unsaid = old.iter().filter(|entry| !said.says(entry) && find(&now, entry.key).is_none());
            Value::Object(arena.slice(&changed.chain(unsaid.copied()).collect::<Vec<_>>()))
        }
        (Value::Array(items), Value::Array(old), Some(said_item)) => {
            let was = was.and_then(Value::as_array).filter(|was| was.len() == old.len());
            // Where it is not known which item was which, it is what can be said of the old ones.
            let was = was.unwrap_or_else(|| arena.slice_from(old.iter().map(|old| pruned(*old, said_item, arena))));
            let items = items.iter().zip(match_items(items, was, said.keys())).map(|(item, matched)| match matched {
                Some(at) => with_unsaid(*item, Some(was[at]), old[at], said_item, arena),
                None => *item,
            });
            Value::Array(arena.slice(&items.collect::<Vec<_>>()))
        }
        (new, ..) => new,
    }
}
