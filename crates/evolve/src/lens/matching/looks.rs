//! Matching with items that are not at hand: only their looks are.

use std::collections::HashMap;

use wheelwright_document::Value;

use super::{Alignment, Lists, classes::Classes, evidence::identifying, match_lists};
use crate::lens::same::hash;

/// What the items of a list looked like: all that matching asks about them, but for the spelling of numbers. Whatever is
/// not known is empty; otherwise each has one entry for every item.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Looks {
    /// Hashes of the items, or of their keys.
    pub(crate) hashes: Vec<u64>,
    /// With keys: hashes of the items.
    pub(crate) wholes: Vec<u32>,
    /// Without keys: how much the items hide that look equal to another one, and zero for all others.
    pub(crate) weights: Vec<u32>,
    /// Without keys: the hashes of the values that identify each item.
    pub(crate) values: Vec<Vec<u32>>,
}

impl Looks {
    /// The looks of items with keys, of which these are the hashes.
    pub(crate) fn with_keys(items: &[Value<'_>], hashes: Vec<u64>) -> Self {
        Self { hashes, wholes: items.iter().map(|item| whole(*item)).collect(), ..Self::default() }
    }

    /// The looks of items without keys, with their hashes and what measures how much an item hides.
    pub(crate) fn without_keys(items: &[Value<'_>], hashes: Vec<u64>, hidden: impl Fn(usize) -> u32) -> Self {
        let mut counts: HashMap<u64, usize> = HashMap::with_capacity(hashes.len());
        hashes.iter().for_each(|hash| *counts.entry(*hash).or_default() += 1);
        let weight = |(item, hash): (usize, &u64)| if counts[hash] > 1 { hidden(item) } else { 0 };
        let weights = hashes.iter().enumerate().map(weight).collect();
        let mut values = identifying(items);
        values.iter_mut().for_each(|values| values.sort_unstable());
        Self { weights, values, hashes, wholes: Vec::new() }
    }
}

/// For every written item, the position of the item it continues, of which only the looks are known. `hashes` are those
/// of the written items, or of their keys; `defaults` are the values that fields of the items have by default.
pub(crate) fn match_looks(
    items: &[Value<'_>],
    hashes: &[u64],
    old: &Looks,
    have_keys: bool,
    defaults: &[u32],
) -> Alignment {
    if items.is_empty() || old.hashes.is_empty() {
        return vec![None; items.len()];
    }
    match_lists(&mut Recorded { items, hashes, old }, have_keys, defaults)
}

/// Written items, and the looks of those that they replace.
struct Recorded<'l, 'v> {
    items: &'l [Value<'v>],
    hashes: &'l [u64],
    old: &'l Looks,
}

impl Lists for Recorded<'_, '_> {
    fn classes(&self) -> Classes {
        Classes::new(self.hashes, &self.old.hashes, |hash| hash, |a, b| a == b)
    }

    fn looks(&self) -> Option<Classes> {
        let is_known = self.old.wholes.len() == self.old.hashes.len();
        let wholes: Vec<u32> = self.items.iter().filter(|_| is_known).map(|item| whole(*item)).collect();
        is_known.then(|| Classes::new(&wholes, &self.old.wholes, u64::from, |a, b| a == b))
    }

    fn letters(&self) -> Option<Classes> {
        None
    }

    fn has_same_keys(&self, _: usize, _: usize) -> bool {
        true
    }

    fn hidden(&mut self, stored: usize) -> u32 {
        self.old.weights.get(stored).copied().unwrap_or_default()
    }

    fn identifying(&self) -> (Vec<Vec<u32>>, Vec<Vec<u32>>) {
        let mut old = self.old.values.clone();
        old.resize(self.old.hashes.len(), Vec::new());
        (identifying(self.items), old)
    }
}

/// A hash of all of an item. It is written into annotations, and therefore never changes.
fn whole(item: Value<'_>) -> u32 {
    fold(hash(item))
}

/// Half the bits of a hash: enough for what is compared within one list.
pub(super) fn fold(hash: u64) -> u32 {
    (hash ^ (hash >> 32)) as u32
}

#[cfg(test)]
mod tests {
    use wheelwright_document::{Arena, decode};

    use super::*;

    #[test]
    fn what_annotations_say_of_items_never_changes() {
        let arena = Arena::new();
        let text = r#"[{"a":"x","b":{"c":[1,2.50]},"d":true},{"a":"x","n":null,"e":-3}]"#;
        let items = decode(text.as_bytes(), &arena).unwrap().as_array().unwrap();
        let looks = Looks::without_keys(items, vec![7, 7], |item| item as u32 + 4);
        assert_eq!(looks.weights, [4, 5]);
        assert_eq!(looks.values, [vec![3_827_630_693, 4_110_384_739], vec![1_623_029_763]]);
        assert_eq!(Looks::with_keys(items, vec![7, 8]).wholes, [527_511_175, 3_448_394_875]);
    }
}
