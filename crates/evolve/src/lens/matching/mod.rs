//! List matching: which stored item each written item continues.
//!
//! An item that continues a stored one keeps the fields that the writer's version hides. Position alone never
//! decides: deleting the first item must not hand its hidden fields to the second.
//!
//! With keys, items match by key. Within one key, equal items match first, as they do without keys, then the n-th of the
//! others with the n-th.
//!
//! Without keys, five steps match what the steps before left over:
//! 1. equal items, in the order-preserving alignment described in [`alignment`];
//! 2. equal items that changed their place;
//! 3. edited items that share identifying values ([`evidence`]) other than defaults;
//! 4. edited items one by one, where a gap between matched neighbours has the same length on both sides;
//! 5. where fields of the items have defaults, what is left by steps 3 and 4 once more, and then defaults count.

mod alignment;
mod classes;
mod defaults;
mod evidence;
mod in_place;
mod known;
mod looks;

use wheelwright_document::Value;

pub use self::known::match_known;
use self::{
    alignment::Aligned,
    classes::{Classes, Counts},
};
pub(crate) use self::{
    defaults::defaults_of_items,
    looks::{Looks, match_looks},
};
use super::same::{equal, equal_option, quick_hash, same, same_option};

/// The stored item that each written item continues, if any.
pub(crate) type Alignment = Vec<Option<usize>>;

/// For every written item, the position of the stored item it continues. Both lists are shown in the same version.
pub fn match_items(new: &[Value<'_>], old: &[Value<'_>], keys: &[Box<str>]) -> Vec<Option<usize>> {
    match_items_keeping(new, old, (keys, &[]), |_| 0)
}

/// As [`match_items`]; among equal-looking stored items of which fewer are written back, keeps those that hide most.
///
/// The items are told apart by their keys, or without keys by what they look like: then `defaults` are the values that their
/// fields have by default. `hidden` measures how much the stored item at a position hides. It is called for such items only.
pub(crate) fn match_items_keeping(
    new: &[Value<'_>],
    old: &[Value<'_>],
    (keys, defaults): (&[Box<str>], &[u32]),
    hidden: impl FnMut(usize) -> u32,
) -> Alignment {
    if old.is_empty() || new.is_empty() {
        return vec![None; new.len()];
    }
    if in_place::all_stay(new, old, keys) {
        return (0..new.len()).map(Some).collect();
    }
    match_lists(&mut Values { new, old, keys, hidden }, !keys.is_empty(), defaults)
}

/// Two lists, and what the steps of matching ask about their items: first about written ones, then about stored ones.
trait Lists {
    /// The classes of equal items, or of items with equal keys.
    fn classes(&self) -> Classes;

    /// The classes of equal items of lists with keys, where that is known.
    fn looks(&self) -> Option<Classes>;

    /// The classes of items that are the same in every letter, where that is known.
    fn letters(&self) -> Option<Classes>;

    /// Whether the keys of two items of one class are the same in every letter: numbers may be written differently.
    fn has_same_keys(&self, item: usize, stored: usize) -> bool;

    /// How much a stored item hides. It is asked about items that look equal to others, of which fewer are written.
    fn hidden(&mut self, stored: usize) -> u32;

    /// The hashes of the values that identify each item.
    fn identifying(&self) -> (Vec<Vec<u32>>, Vec<Vec<u32>>);
}

/// Lists whose items are at hand.
struct Values<'l, 'v, H> {
    new: &'l [Value<'v>],
    old: &'l [Value<'v>],
    keys: &'l [Box<str>],
    hidden: H,
}

impl<H: FnMut(usize) -> u32> Lists for Values<'_, '_, H> {
    fn classes(&self) -> Classes {
        let keys = self.keys;
        if keys.is_empty() {
            return Classes::new(self.new, self.old, quick_hash, equal);
        }
        let hash_of_keys = |item: Value<'_>| {
            keys.iter().fold(23, |sum: u64, key| sum.rotate_left(7) ^ item.get(key).map_or(29, quick_hash))
        };
        let have_equal_keys = |a: Value<'_>, b: Value<'_>| keys.iter().all(|key| equal_option(a.get(key), b.get(key)));
        Classes::new(self.new, self.old, hash_of_keys, have_equal_keys)
    }

    fn looks(&self) -> Option<Classes> {
        Some(Classes::new(self.new, self.old, quick_hash, equal))
    }

    fn letters(&self) -> Option<Classes> {
        Some(Classes::new(self.new, self.old, quick_hash, same))
    }

    fn has_same_keys(&self, item: usize, stored: usize) -> bool {
        self.keys.iter().all(|key| same_option(self.new[item].get(key), self.old[stored].get(key)))
    }

    fn hidden(&mut self, stored: usize) -> u32 {
        (self.hidden)(stored)
    }

    fn identifying(&self) -> (Vec<Vec<u32>>, Vec<Vec<u32>>) {
        (evidence::identifying(self.new), evidence::identifying(self.old))
    }
}

fn match_lists(lists: &mut impl Lists, have_keys: bool, defaults: &[u32]) -> Alignment {
    let classes = lists.classes();
    if !have_keys {
        return match_by_likeness(lists, &classes, defaults);
    }
    let mut matched = vec![None; classes.new.len()];
    match_by_keys(lists, &classes, &mut matched);
    matched
}

fn match_by_keys(lists: &mut impl Lists, classes: &Classes, matched: &mut [Option<usize>]) {
    if classes.counts.iter().any(Counts::is_ambiguous) {
        match_equal_of_keys(lists, classes, matched);
        classes.match_in_order(matched, |item, stored| lists.has_same_keys(item, stored));
    }
    classes.match_in_order(matched, |_, _| true);
}

/// Matches equal items of every key that several items share.
fn match_equal_of_keys(lists: &mut impl Lists, classes: &Classes, matched: &mut [Option<usize>]) {
    let Some(looks) = lists.looks() else { return };
    let letters = lists.letters();
    let is_ambiguous = |(new, old): &(Vec<usize>, Vec<usize>)| Counts { new: new.len(), old: old.len() }.is_ambiguous();
    for (new, old) in classes.open(matched).into_iter().filter(is_ambiguous) {
        let (looks, letters) = (looks.part(&new, &old), letters.as_ref().map(|letters| letters.part(&new, &old)));
        // Who asks what was removed is told of those that look equal, although the first ones stay whatever they hide.
        for (stored, class) in old.iter().zip(&looks.old) {
            if looks.counts[*class].is_some_removed() {
                lists.hidden(*stored);
            }
        }
        let mut found = vec![None; new.len()];
        match_equal(&looks, letters.as_ref(), &vec![0; old.len()], &mut found);
        for (item, stored) in new.into_iter().zip(found) {
            matched[item] = stored.map(|stored| old[stored]);
        }
    }
}

/// Matches equal items: in order, then wherever they are.
fn match_equal(classes: &Classes, letters: Option<&Classes>, weights: &[u32], matched: &mut [Option<usize>]) {
    Aligned { classes, letters, weights }.match_equal(matched);
    classes.match_moved(weights, matched);
}

fn match_by_likeness(lists: &mut impl Lists, classes: &Classes, defaults: &[u32]) -> Alignment {
    let stored_count = classes.old.len();
    let mut weights = vec![0; stored_count];
    for (stored, weight) in weights.iter_mut().enumerate() {
        if classes.counts[classes.old[stored]].is_some_removed() {
            *weight = lists.hidden(stored);
        }
    }
    let mut matched = vec![None; classes.new.len()];
    if classes.counts.iter().any(Counts::is_ambiguous) {
        match_equal(classes, lists.letters().as_ref(), &weights, &mut matched);
    } else {
        classes.match_in_order(&mut matched, |_, _| true);
    }
    let mut is_taken = vec![false; stored_count];
    matched.iter().flatten().for_each(|stored: &usize| is_taken[*stored] = true);
    let left =
        (matched.iter().filter(|stored| stored.is_none()).count(), stored_count - matched.iter().flatten().count());
    if left.0 > 0 && left.1 > 0 {
        // A single edited item in its old place needs no evidence.
        if left != (1, 1) || !match_gaps(&mut matched, &mut is_taken) {
            let (new, old) = lists.identifying();
            if !defaults.is_empty() {
                let [new, old] = [&new, &old].map(|values| evidence::without_defaults(values, defaults));
                evidence::match_edited(&new, &old, &mut matched, &mut is_taken);
                match_gaps(&mut matched, &mut is_taken);
            }
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
