//! Edited items, recognized by the values that identify them.
//!
//! A string or number that stands in exactly one written and exactly one stored item, under the same path, is evidence
//! that the two are one item. A leftover pair with at least as much evidence as changed values, and more than either has with any
//! other item, is matched wherever the two stand.

use std::collections::HashMap;

use wheelwright_document::Value;

use crate::lens::same::hash;

/// Which list has a value, and at which item; `None` once a second item has it.
#[derive(Clone, Copy, Default)]
struct Holder {
    count: u32,
    item: usize,
}

impl Holder {
    fn add(&mut self, item: usize) {
        self.count += u32::from(self.count == 0 || self.item != item);
        self.item = item;
    }

    fn only(self) -> Option<usize> {
        (self.count == 1).then_some(self.item)
    }
}

pub(super) fn match_edited(new: &[Value<'_>], old: &[Value<'_>], matched: &mut [Option<usize>], is_taken: &mut [bool]) {
    let mut holders: HashMap<(u64, u64), (Holder, Holder)> = HashMap::new();
    for (position, item) in new.iter().enumerate() {
        each_value(*item, 0, &mut |path, value| holders.entry((path, value)).or_default().0.add(position));
    }
    for (position, item) in old.iter().enumerate() {
        each_value(*item, 0, &mut |path, value| {
            if let Some(holder) = holders.get_mut(&(path, value)) {
                holder.1.add(position);
            }
        });
    }
    let mut evidence: HashMap<(usize, usize), usize> = HashMap::new();
    for (item, stored) in holders.values().filter_map(|(new, old)| new.only().zip(old.only())) {
        if matched[item].is_none() && !is_taken[stored] {
            *evidence.entry((item, stored)).or_default() += 1;
        }
    }
    evidence.retain(|(item, stored), count| *count >= changed_values(new[*item], old[*stored]));
    let (mut best_of_new, mut best_of_old) = (HashMap::new(), HashMap::new());
    for ((item, stored), count) in &evidence {
        note_best(best_of_new.entry(*item).or_default(), *count);
        note_best(best_of_old.entry(*stored).or_default(), *count);
    }
    for ((item, stored), count) in evidence {
        if best_of_new[&item] == (count, 1) && best_of_old[&stored] == (count, 1) {
            matched[item] = Some(stored);
            is_taken[stored] = true;
        }
    }
}

/// The greatest count, and how often it occurs.
fn note_best(best: &mut (usize, usize), count: usize) {
    match count.cmp(&best.0) {
        std::cmp::Ordering::Greater => *best = (count, 1),
        std::cmp::Ordering::Equal => best.1 += 1,
        std::cmp::Ordering::Less => {}
    }
}

/// How many paths have one value in each item, and not the same one.
fn changed_values(new: Value<'_>, old: Value<'_>) -> usize {
    let mut values: HashMap<u64, [(u32, u64); 2]> = HashMap::new();
    for (side, item) in [new, old].into_iter().enumerate() {
        each_value(item, 0, &mut |path, value| {
            let found = &mut values.entry(path).or_default()[side];
            *found = (found.0 + 1, value);
        });
    }
    values.values().filter(|[new, old]| new.0 == 1 && old.0 == 1 && new.1 != old.1).count()
}

/// Calls `see` with the path and value of every string and number, both hashed. Positions in lists are not part of a path.
fn each_value(value: Value<'_>, path: u64, see: &mut impl FnMut(u64, u64)) {
    match value {
        Value::Object(entries) => {
            for entry in entries {
                let step = entry.key.bytes().fold(path ^ 0x2f, |sum, byte| {
                    (sum.rotate_left(5) ^ u64::from(byte)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
                });
                each_value(entry.value, step, see);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| each_value(*item, path.rotate_left(7) ^ 0x5b, see)),
        Value::String(_) | Value::Number(_) => see(path, hash(value)),
        Value::Bool(_) | Value::Null => {}
    }
}
