//! Edited items, recognized by the values that identify them.
//!
//! A string or number *identifies* an item if no other item of its list has it under the same path. A leftover pair that
//! shares at least half of the values that identified the stored item, and more than either shares with any other item,
//! is matched wherever the two stand.

use std::collections::HashMap;

use wheelwright_document::Value;

use super::looks::fold;
use crate::lens::same::hash;

/// The hashes of the values that identify each item of a list, in no order. They are written into annotations, and
/// therefore never change.
pub(super) fn identifying(items: &[Value<'_>]) -> Vec<Vec<u32>> {
    let mut holders: HashMap<u32, Option<usize>> = HashMap::new();
    for (position, item) in items.iter().enumerate() {
        each_value(*item, 0, &mut |value| {
            let holder = holders.entry(fold(value)).or_insert(Some(position));
            *holder = holder.filter(|holder| *holder == position);
        });
    }
    let mut identifying = vec![Vec::new(); items.len()];
    for (value, holder) in holders {
        if let Some(position) = holder {
            identifying[position].push(value);
        }
    }
    identifying
}

/// The same without defaults, which are sorted.
pub(super) fn without_defaults(identifying: &[Vec<u32>], defaults: &[u32]) -> Vec<Vec<u32>> {
    let is_told = |value: &&u32| defaults.binary_search(value).is_err();
    identifying.iter().map(|values| values.iter().filter(is_told).copied().collect()).collect()
}

/// Matches leftover items by the values that identify them.
pub(super) fn match_edited(new: &[Vec<u32>], old: &[Vec<u32>], matched: &mut [Option<usize>], is_taken: &mut [bool]) {
    let mut holders: HashMap<u32, usize> = HashMap::new();
    for (stored, values) in old.iter().enumerate().filter(|(stored, _)| !is_taken[*stored]) {
        holders.extend(values.iter().map(|value| (*value, stored)));
    }
    let mut shared: HashMap<(usize, usize), usize> = HashMap::new();
    for (item, values) in new.iter().enumerate().filter(|(item, _)| matched[*item].is_none()) {
        for stored in values.iter().filter_map(|value| holders.get(value)) {
            *shared.entry((item, *stored)).or_default() += 1;
        }
    }
    shared.retain(|(_, stored), count| *count * 2 >= old[*stored].len());
    let (mut best_of_new, mut best_of_old) = (HashMap::new(), HashMap::new());
    for ((item, stored), count) in &shared {
        note_best(best_of_new.entry(*item).or_default(), *count);
        note_best(best_of_old.entry(*stored).or_default(), *count);
    }
    for ((item, stored), count) in shared {
        if best_of_new[&item] == (count, 1) && best_of_old[&stored] == (count, 1) {
            matched[item] = Some(stored);
            is_taken[stored] = true;
        }
    }
}

/// Updates the greatest count, and how often it occurs.
fn note_best(best: &mut (usize, usize), count: usize) {
    match count.cmp(&best.0) {
        std::cmp::Ordering::Greater => *best = (count, 1),
        std::cmp::Ordering::Equal => best.1 += 1,
        std::cmp::Ordering::Less => {}
    }
}

/// Calls `see` with a hash of the path and value of every string and number. Positions in lists are not part of a path.
pub(super) fn each_value(value: Value<'_>, path: u64, see: &mut impl FnMut(u64)) {
    match value {
        Value::Object(entries) => {
            entries.iter().for_each(|entry| each_value(entry.value, in_field(path, entry.key), see));
        }
        Value::Array(items) => items.iter().for_each(|item| each_value(*item, in_item(path), see)),
        Value::String(_) | Value::Number(_) => {
            see((path.rotate_left(17) ^ hash(value)).wrapping_mul(0x9e37_79b9_7f4a_7c15))
        }
        Value::Bool(_) | Value::Null => {}
    }
}

/// The hash of the path of a field in the object at a path.
pub(super) fn in_field(path: u64, name: &str) -> u64 {
    name.bytes()
        .fold(path ^ 0x2f, |sum, byte| (sum.rotate_left(5) ^ u64::from(byte)).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// The hash of the path of the items of the list at a path.
pub(super) fn in_item(path: u64) -> u64 {
    path.rotate_left(7) ^ 0x5b
}
