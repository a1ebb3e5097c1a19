//! What a resource's metadata has of old, and nobody could write today.

use std::collections::{HashMap, HashSet};

use wheelwright_document::{Arena, Entry, FieldPath, Path, Value};
use wheelwright_schema::Admitted;

use crate::fields::with;

const METADATA: &str = "metadata";

/// Puts back the fields of metadata that a client sends as they are shown, and admission took away or spelled otherwise:
/// documents that were in the store before us may have them, and whoever writes something else does not mean them.
pub(crate) fn keep_shown<'a>(admitted: &mut Admitted<'a>, sent: Value<'a>, shown: Value<'a>, arena: &'a Arena) {
    let [sent, shown, there] = [sent, shown, admitted.value].map(|document| document.get(METADATA));
    let (Some(Value::Object(sent)), Some(Value::Object(shown))) = (sent, shown) else { return };
    let there = there.and_then(Value::as_object).unwrap_or_default();
    if sent == there {
        return;
    }
    let shown: HashMap<&str, Value<'a>> = shown.iter().map(|entry| (entry.key, entry.value)).collect();
    let is_same = |entry: &&Entry<'a>| shown.get(entry.key).is_some_and(|shown| shown.equivalent(entry.value));
    let same: Vec<Entry<'a>> = sent.iter().filter(is_same).copied().collect();
    let names: HashSet<&str> = same.iter().map(|entry| entry.key).collect();
    let others = there.iter().filter(|entry| !names.contains(entry.key));
    let entries: Vec<Entry<'a>> = same.iter().chain(others).copied().collect();
    admitted.value = with(admitted.value, [(METADATA, Some(Value::Object(arena.slice(&entries))))], arena);
    let path = |name: &&str| Path::Child(&Path::Child(&Path::Root, METADATA), name).to_field_path();
    let kept: HashSet<FieldPath> = names.iter().map(path).collect();
    admitted.unknown_metadata.retain(|path| !kept.contains(path));
}
