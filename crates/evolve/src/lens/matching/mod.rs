//! List matching: which stored item each written item continues.
//!
//! An item that continues a stored one keeps the fields that the writer's version hides. Position alone never
//! decides: deleting the first item must not hand its hidden fields to the second.
//!
//! With keys, items match by key. Within one key, exactly equal items match first, then the n-th with the n-th.
//!
//! Without keys, four steps match what the steps before left over:
//! 1. equal items, in the order-preserving alignment described in [`alignment`];
//! 2. equal items that changed their place;
//! 3. edited items that share identifying values ([`evidence`]);
//! 4. edited items one by one, where a gap between matched neighbours has the same length on both sides.

mod alignment;
mod classes;
mod evidence;

use wheelwright_document::Value;

use self::classes::{Classes, Counts};
use super::same::{hash, same, same_option};

/// The stored item that each written item continues, if any.
pub(crate) type Alignment = Vec<Option<usize>>;

/// For every written item, the position of the stored item it continues. Both lists are shown in the same version.
pub fn match_items(new: &[Value<'_>], old: &[Value<'_>], keys: &[Box<str>]) -> Vec<Option<usize>> {
    match_items_keeping(new, old, keys, |_| 0)
}

/// As [`match_items`]; among equal-looking stored items of which fewer are written back, keeps those that hide most.
///
/// `hidden` measures how much the stored item at a position hides. It is called for such items only.
pub(crate) fn match_items_keeping(
    new: &[Value<'_>],
    old: &[Value<'_>],
    keys: &[Box<str>],
    hidden: impl FnMut(usize) -> u32,
) -> Alignment {
    if old.is_empty() || new.is_empty() {
        return vec![None; new.len()];
    }
    match keys {
        [] => match_by_likeness(new, old, hidden),
        keys => match_by_keys(new, old, keys),
    }
}

fn match_by_keys(new: &[Value<'_>], old: &[Value<'_>], keys: &[Box<str>]) -> Alignment {
    let hash_of_keys =
        |item: Value<'_>| keys.iter().fold(23, |sum: u64, key| sum.rotate_left(7) ^ item.get(key).map_or(29, hash));
    let have_equal_keys =
        |a: Value<'_>, b: Value<'_>| keys.iter().all(|key| super::same::equal_option(a.get(key), b.get(key)));
    let classes = Classes::new(new, old, hash_of_keys, have_equal_keys);
    let mut matched = vec![None; new.len()];
    if classes.counts.iter().any(Counts::is_repeated) {
        classes.match_in_order(&mut matched, |item, stored| same(new[item], old[stored]));
        // Numbers in keys may be written differently; items with the same text belong together.
        let same_keys = |a: Value<'_>, b: Value<'_>| keys.iter().all(|key| same_option(a.get(key), b.get(key)));
        classes.match_in_order(&mut matched, |item, stored| same_keys(new[item], old[stored]));
    }
    classes.match_in_order(&mut matched, |_, _| true);
    matched
}

fn match_by_likeness(new: &[Value<'_>], old: &[Value<'_>], mut hidden: impl FnMut(usize) -> u32) -> Alignment {
    let classes = Classes::of_equal(new, old);
    let mut weights = vec![0; old.len()];
    for (stored, weight) in weights.iter_mut().enumerate() {
        if classes.counts[classes.old[stored]].is_some_removed() {
            *weight = hidden(stored);
        }
    }
    let mut matched = vec![None; new.len()];
    if classes.counts.iter().any(Counts::is_ambiguous) {
        let is_exact = |item: usize, stored: usize| same(new[item], old[stored]);
        alignment::match_equal(&classes, &weights, is_exact, &mut matched);
        classes.match_moved(&weights, &mut matched);
    } else {
        classes.match_in_order(&mut matched, |_, _| true);
    }
    let mut is_taken = vec![false; old.len()];
    matched.iter().flatten().for_each(|stored: &usize| is_taken[*stored] = true);
    let left = (matched.iter().filter(|stored| stored.is_none()).count(), old.len() - matched.iter().flatten().count());
    if left.0 > 0 && left.1 > 0 {
        // A single edited item in its old place needs no evidence.
        if left != (1, 1) || !match_gaps(&mut matched, &mut is_taken) {
            let (new, old) = (evidence::identifying(new), evidence::identifying(old));
            evidence::match_edited(&new, &old, &mut matched, &mut is_taken);
            match_gaps(&mut matched, &mut is_taken);
        }
    }
    matched
}

/// Matches leftover items one by one where a gap between matched neighbours has the same length on both sides; whether
/// any matched.
fn match_gaps(matched: &mut [Option<usize>], is_taken: &mut [bool]) -> bool {
    let (mut start, mut any) = (0, false);
    while start < matched.len() {
        if matched[start].is_some() {
            start += 1;
            continue;
        }
        let end = matched[start..].iter().position(Option::is_some).map_or(matched.len(), |length| start + length);
        let after = if start == 0 { 0 } else { matched[start - 1].map_or(0, |stored| stored + 1) };
        let before = matched.get(end).copied().flatten().unwrap_or(is_taken.len());
        if before.checked_sub(after) == Some(end - start) && !is_taken[after..before].contains(&true) {
            for (offset, slot) in matched[start..end].iter_mut().enumerate() {
                *slot = Some(after + offset);
            }
            is_taken[after..before].fill(true);
            any = true;
        }
        start = end;
    }
    any
}

#[cfg(test)]
mod tests;
