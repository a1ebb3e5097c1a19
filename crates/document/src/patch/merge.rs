//! Merge patches (RFC 7396).

use super::fields::Fields;
use crate::{Arena, Entry, Value};

/// Merges `patch` into `target` as RFC 7396 says: fields that are null in the patch are removed, objects are merged
/// field by field, everything else takes the place of what was there.
///
/// Fields that stay keep their order, new ones follow. Subtrees that the patch does not speak of are shared. The result
/// is neither larger than both documents together nor nested deeper than the deeper one.
pub fn merge_patch<'a>(target: Value<'a>, patch: Value<'a>, arena: &'a Arena) -> Value<'a> {
    let Value::Object(changes) = patch else {
        return patch;
    };
    let entries = match target {
        Value::Object(entries) if changes.is_empty() => return Value::Object(entries),
        Value::Object(entries) => entries,
        _ => &[],
    };
    let mut fields: Fields<'a, Value<'a>> = entries.iter().map(|entry| (entry.key, entry.value)).collect();
    for change in changes {
        if change.value.is_null() {
            fields.remove(change.key);
        } else if let Some(value) = fields.get_mut(change.key) {
            *value = merge_patch(*value, change.value, arena);
        } else {
            // Nulls inside a new object are instructions too, and must not get into the document.
            fields.push(change.key, merge_patch(Value::Null, change.value, arena));
        }
    }
    let merged: Vec<Entry<'a>> = fields.iter().map(|(key, value)| Entry { key, value: *value }).collect();
    Value::Object(arena.slice(&merged))
}
