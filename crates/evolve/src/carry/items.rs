//! What the items of a list looked like when it was served: how an annotation spells it, and which item now is which one
//! then.

use std::collections::HashMap;

use wheelwright_document::{Arena, Value};

use super::entry::{hash_from, texts, texts_from};
use crate::lens::matching::{Looks, match_looks};

/// What the items of a list looked like, so that changed ones are known.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Items<'a> {
    /// The names of their keys; none if they have no keys.
    pub(crate) keys: Vec<&'a str>,
    pub(crate) looks: Looks,
}

impl<'a> Items<'a> {
    /// Older releases read the hashes alone.
    pub(crate) fn write(&self, fields: &mut Vec<(&'a str, Value<'a>)>, arena: &'a Arena) {
        let Looks { hashes, wholes, weights, values } = &self.looks;
        let mut push = |key: &'static str, text: String| fields.push((key, Value::string(arena.text(&text))));
        push("items", hashes.iter().map(|hash| format!("{hash:016x}")).collect());
        if !wholes.is_empty() {
            push("wholes", halves(wholes));
        }
        if weights.iter().any(|weight| *weight > 0) {
            let weight = |weight: &u32| if *weight > 0 { weight.to_string() } else { String::new() };
            push("weights", weights.iter().map(weight).collect::<Vec<_>>().join(","));
        }
        if values.iter().any(|values| !values.is_empty()) {
            push("values", values.iter().map(|values| halves(values)).collect::<Vec<_>>().join(","));
        }
        if !self.keys.is_empty() {
            fields.push(("keys", texts(&self.keys, arena)));
        }
    }

    pub(crate) fn read(value: Value<'a>) -> Option<Self> {
        let hashes =
            parts(value.get("items")?.as_str()?, 16).map(|hash| hash_from(hash?)).collect::<Option<Vec<_>>>()?;
        let keys = value.get("keys").map_or(Some(Vec::new()), texts_from)?;
        let wholes = value.get("wholes").map_or(Some(Vec::new()), |wholes| halves_from(wholes.as_str()?))?;
        let weight = |text: &str| if text.is_empty() { Some(0) } else { text.parse::<u32>().ok() };
        let weights = value.get("weights").map_or(Some(Vec::new()), |text| listed(text, weight))?;
        let values = value.get("values").map_or(Some(Vec::new()), |text| listed(text, halves_from))?;
        let is_fitting = |count: usize| count == 0 || count == hashes.len();
        let is_whole = [wholes.len(), weights.len(), values.len()].into_iter().all(is_fitting);
        is_whole.then_some(Self { keys, looks: Looks { hashes, wholes, weights, values } })
    }
}

/// Eight digits each.
fn halves(halves: &[u32]) -> String {
    halves.iter().map(|half| format!("{half:08x}")).collect()
}

fn halves_from(text: &str) -> Option<Vec<u32>> {
    parts(text, 8).map(|half| u32::try_from(hash_from(&format!("00000000{}", half?))?).ok()).collect()
}

fn parts(text: &str, length: usize) -> impl Iterator<Item = Option<&str>> {
    (0..text.len()).step_by(length).map(move |at| text.get(at..at + length))
}

fn listed<T>(text: Value<'_>, read: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    text.as_str()?.split(',').map(read).collect()
}

/// How often it may be told what the items of a list looked like: when entries were written that nobody understands, and
/// when all others were.
const MOST_LOOKS: usize = 2;

/// The items of a list, to be found by what they looked like before.
pub(crate) struct Recognized<'b> {
    before: Vec<Before<'b>>,
    by_hash: HashMap<u64, Vec<usize>>,
}

/// What all items looked like once.
struct Before<'b> {
    looks: &'b Looks,
    /// The positions of the items with the same hash.
    by_hash: HashMap<u64, Vec<usize>>,
    /// Which item then is which one now.
    now: HashMap<usize, usize>,
    /// The entry that tells it.
    entry: usize,
}

impl<'b> Recognized<'b> {
    /// Recognizes items by what several entries tell. `hashes` are those of the items, or of their keys,
    /// and `defaults` the values that their fields have by default.
    pub(crate) fn of(
        items: &[Value<'_>],
        hashes: &[u64],
        have_keys: bool,
        defaults: &[u32],
        mut before: Vec<(&'b Looks, usize)>,
    ) -> Self {
        // In an order that does not depend on that of the annotations.
        before.sort_unstable();
        before.dedup_by_key(|(looks, _)| *looks);
        before.truncate(MOST_LOOKS);
        let recognize = |(looks, entry): (&'b Looks, usize)| {
            let matched = match_looks(items, hashes, looks, have_keys, defaults).into_iter().enumerate();
            let now = matched.filter_map(|(now, before)| Some((before?, now))).collect();
            Before { looks, by_hash: positions(&looks.hashes), now, entry }
        };
        Self { before: before.into_iter().map(recognize).collect(), by_hash: positions(hashes) }
    }

    /// The entry that tells what the item at a position looked like when it had this hash.
    pub(crate) fn entry_of_item(&self, position: usize, hash: u64) -> Option<usize> {
        self.of_item(position, hash).map(|before| before.entry)
    }

    fn of_item(&self, position: usize, hash: u64) -> Option<&Before<'b>> {
        self.before.iter().find(|before| before.looks.hashes.get(position) == Some(&hash))
    }

    /// The item that was at a position and had this hash. If what all items looked like is not known, or is not about the
    /// same list, only items that still look the same are found.
    pub(crate) fn find(&self, position: usize, hash: u64, nth: usize) -> Option<usize> {
        match self.of_item(position, hash) {
            Some(before) => before.now.get(&position).copied(),
            None => self.by_hash.get(&hash)?.get(nth).copied(),
        }
    }

    /// The entry that tells what the n-th item with keys of this hash looked like.
    pub(crate) fn entry_of_keys(&self, hash: u64, nth: usize) -> Option<usize> {
        self.of_keys(hash, nth).map(|(before, _)| before.entry)
    }

    fn of_keys(&self, hash: u64, nth: usize) -> Option<(&Before<'b>, usize)> {
        self.before.iter().find_map(|before| Some((before, *before.by_hash.get(&hash)?.get(nth)?)))
    }

    /// The item that was the n-th with keys of this hash; if nothing else is known, the one that is.
    pub(crate) fn find_by_keys(&self, hash: u64, nth: usize) -> Option<usize> {
        match self.of_keys(hash, nth) {
            Some((before, position)) => before.now.get(&position).copied(),
            None => self.by_hash.get(&hash)?.get(nth).copied(),
        }
    }
}

/// The positions of equal hashes.
fn positions(hashes: &[u64]) -> HashMap<u64, Vec<usize>> {
    let mut positions: HashMap<u64, Vec<usize>> = HashMap::new();
    for (position, hash) in hashes.iter().enumerate() {
        positions.entry(*hash).or_default().push(position);
    }
    positions
}
