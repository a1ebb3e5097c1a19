//! Which stored item each written item must continue, by the edit that was made and by `docs/lens.md`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use crate::edits::Sort;

/// A list before and after an edit, as the client sees it.
pub(crate) struct Case<'c> {
    pub(crate) sort: Sort,
    pub(crate) old: &'c [Json],
    pub(crate) new: &'c [Json],
    /// The old item that the client made each new one of.
    pub(crate) origins: &'c [Option<usize>],
    pub(crate) keys: &'c [String],
    /// The values that fields of items have by default: an item may have them although nobody gave them to it.
    pub(crate) defaults: &'c BTreeSet<(String, String)>,
    /// The tags that each old item hides.
    pub(crate) hidden: &'c [Vec<u64>],
    /// How many values each old item hides: defaults are hidden, too.
    pub(crate) weights: &'c [usize],
}

impl Case<'_> {
    /// The old item that each new item must continue, where the edit or the docs decide that.
    pub(crate) fn expected(&self) -> Option<Vec<Option<usize>>> {
        match self.keys {
            [] => self.expected_without_keys(),
            keys => self.expected_with_keys(keys),
        }
    }

    fn expected_without_keys(&self) -> Option<Vec<Option<usize>>> {
        let in_place = || (0..self.new.len()).map(Some).collect();
        match self.sort {
            Sort::EditInPlace => self.edits_are_fresh().then(in_place),
            Sort::Remove => Some(self.kept().into_iter().map(Some).collect()),
            Sort::Insert | Sort::Duplicate => Some(self.inserted()),
            Sort::Reorder => self.are_distinct().then(|| self.origins.to_vec()),
            Sort::SwapAndEdit => match self.swapped() {
                _ if !self.edits_are_fresh() => None,
                Some((first, second)) if self.is_recognized(first) && self.is_recognized(second) => {
                    Some(self.origins.to_vec())
                }
                // Nobody can tell that equal items were swapped before they were edited.
                Some((first, second)) if self.old[first] == self.old[second] => Some(in_place()),
                _ => None,
            },
            Sort::Several => None,
        }
    }

    /// The items of every key are a list of their own, in which nothing but equal items and places counts.
    fn expected_with_keys(&self, keys: &[String]) -> Option<Vec<Option<usize>>> {
        let key = |item: &Json| keys.iter().map(|key| item.get(key).cloned()).collect::<Vec<_>>();
        let mut expected = vec![None; self.new.len()];
        for at in 0..self.new.len() {
            let of =
                |list: &[Json]| (0..list.len()).filter(|of| key(&list[*of]) == key(&self.new[at])).collect::<Vec<_>>();
            let (new, old) = (of(self.new), of(self.old));
            let place = |origin: usize| old.iter().position(|old| *old == origin);
            let part = Case {
                sort: self.sort,
                new: &new.iter().map(|at| self.new[*at].clone()).collect::<Vec<_>>(),
                old: &old.iter().map(|at| self.old[*at].clone()).collect::<Vec<_>>(),
                origins: &new.iter().map(|at| self.origins[*at].and_then(place)).collect::<Vec<_>>(),
                keys: &[],
                defaults: self.defaults,
                hidden: &[],
                // Of items that share a key, the first ones stay, whatever they hide.
                weights: &vec![0; old.len()],
            };
            let found = match self.sort {
                Sort::SwapAndEdit => part.expected_of_swap(),
                _ => part.expected_without_keys(),
            };
            new.iter().zip(found?).for_each(|(new, found)| expected[*new] = found.map(|found| old[found]));
        }
        Some(expected)
    }

    fn are_distinct(&self) -> bool {
        self.old.iter().enumerate().all(|(at, item)| !self.old[..at].contains(item))
    }

    /// Whether no edited item has a value, but for defaults, that another one had, or looks like another one did.
    fn edits_are_fresh(&self) -> bool {
        let is_edited = |at: &usize| self.origins[*at].is_none_or(|origin| self.old[origin] != self.new[*at]);
        (0..self.new.len()).filter(is_edited).all(|at| {
            let of = |item: &Json| {
                let mut found = BTreeSet::new();
                values(item, "", &mut |field, value| {
                    found.insert((field, value));
                });
                found
            };
            let own = self.origins[at].map(|origin| of(&self.old[origin])).unwrap_or_default();
            let others = self.old.iter().enumerate().filter(|(old, _)| Some(*old) != self.origins[at]);
            let foreign: BTreeSet<_> = others.flat_map(|(_, item)| of(item)).collect();
            let foreign: BTreeSet<_> = foreign.difference(self.defaults).cloned().collect();
            !self.old.contains(&self.new[at])
                && of(&self.new[at]).difference(&own).all(|value| !foreign.contains(value))
        })
    }

    /// After a removal: of all choices of items that leave this list, the one that keeps most of what is hidden, then the
    /// one that keeps the first items.
    fn kept(&self) -> Vec<usize> {
        let choices = choices(self.old.len(), self.new.len());
        let fits = |kept: &&Vec<usize>| kept.iter().zip(self.new).all(|(at, item)| self.old[*at] == *item);
        // Of equals, `max_by_key` takes the last.
        let hidden = |kept: &&Vec<usize>| kept.iter().map(|at| self.weights[*at]).sum::<usize>();
        choices.iter().filter(fits).rev().max_by_key(hidden).expect("items were removed").clone()
    }

    /// After an insertion: the old items are the first ones that look like them.
    fn inserted(&self) -> Vec<Option<usize>> {
        let choices = choices(self.new.len(), self.old.len());
        let fits = |places: &&Vec<usize>| places.iter().zip(self.old).all(|(at, item)| self.new[*at] == *item);
        let places = choices.iter().find(fits).expect("items were inserted");
        (0..self.new.len()).map(|at| places.iter().position(|place| *place == at)).collect()
    }

    /// The positions of two items that were swapped.
    fn swapped(&self) -> Option<(usize, usize)> {
        let moved: Vec<usize> = (0..self.new.len()).filter(|at| self.origins[*at] != Some(*at)).collect();
        match moved[..] {
            [first, second] => Some((first, second)),
            _ => None,
        }
    }

    /// Of the items of one key, in which nothing but equal items and places counts.
    fn expected_of_swap(&self) -> Option<Vec<Option<usize>>> {
        let is_in_place = self.origins.iter().enumerate().all(|(at, origin)| *origin == Some(at));
        let is_told = match self.swapped() {
            _ if !self.edits_are_fresh() => false,
            // Equal items that were swapped before they were edited are those in their places.
            Some((first, second)) => {
                return (self.old[first] == self.old[second]).then(|| (0..self.new.len()).map(Some).collect());
            }
            None => is_in_place || self.are_distinct(),
        };
        is_told.then(|| self.origins.to_vec())
    }

    /// Whether an old item that was edited still has at least half of the values, but for defaults, that identified it.
    fn is_recognized(&self, old: usize) -> bool {
        let Some(new) = self.origins.iter().position(|origin| *origin == Some(old)) else { return false };
        let identifying = |items: &[Json], at: usize| -> BTreeSet<(String, String)> {
            identifying(items, at).difference(self.defaults).cloned().collect()
        };
        let (written, identifying) = (identifying(self.new, new), identifying(self.old, old));
        let shared = identifying.intersection(&written).count();
        shared > 0 && 2 * shared >= identifying.len()
    }

    /// What holds whatever the edit was: what the items of a look hide stays with items of that look, as far as there are
    /// such items. `now` is what each new item hides.
    pub(crate) fn check_looks(&self, now: &[Vec<u64>]) -> Result<(), String> {
        let mut looks: Vec<&Json> = Vec::new();
        self.old.iter().for_each(|item| (!looks.contains(&item)).then(|| looks.push(item)).map_or((), drop));
        for look in looks {
            let of = |list: &[Json]| (0..list.len()).filter(|at| list[*at] == *look).collect::<Vec<_>>();
            let (old, new) = (of(self.old), of(self.new));
            let hidden: Vec<&Vec<u64>> = old.iter().map(|at| &self.hidden[*at]).collect();
            let kept = new.iter().filter(|at| !now[**at].is_empty() && hidden.contains(&&now[**at])).count();
            let hiding = hidden.iter().filter(|tags| !tags.is_empty()).count();
            let expected = hiding.min(new.len().saturating_sub(old.len() - hiding));
            if kept < expected {
                return Err(format!("of items that look like {look}, {kept} keep what they hide, not {expected}"));
            }
            let is_foreign = |at: &&usize| !now[**at].is_empty() && !hidden.contains(&&now[**at]);
            if let Some(at) = new.iter().find(is_foreign).filter(|_| new.len() <= old.len()) {
                return Err(format!("item {at} has what an item hid that looked otherwise"));
            }
        }
        Ok(())
    }
}

/// The number of values in a value.
pub(crate) fn size(value: &Json) -> usize {
    1 + match value {
        Json::Object(fields) => fields.values().map(size).sum(),
        Json::Array(items) => items.iter().map(size).sum(),
        _ => 0,
    }
}

/// All ways to choose `count` of `all` positions, those with the first positions first.
fn choices(all: usize, count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let with_first = |first: usize| {
        let rest = choices(all - first - 1, count - 1).into_iter();
        rest.map(move |rest| [first].into_iter().chain(rest.into_iter().map(|at| at + first + 1)).collect())
    };
    (0..(all + 1).saturating_sub(count)).flat_map(with_first).collect()
}

/// The values of an item that no other item of its list has in the same field.
fn identifying(items: &[Json], at: usize) -> BTreeSet<(String, String)> {
    let mut holders: BTreeMap<(String, String), BTreeSet<usize>> = BTreeMap::new();
    for (position, item) in items.iter().enumerate() {
        values(item, "", &mut |field, value| {
            holders.entry((field, value)).or_default().insert(position);
        });
    }
    holders.into_iter().filter(|(_, holders)| holders.iter().eq([&at])).map(|(value, _)| value).collect()
}

pub(crate) fn values(value: &Json, field: &str, see: &mut dyn FnMut(String, String)) {
    match value {
        Json::Object(fields) => {
            fields.iter().for_each(|(name, value)| values(value, &format!("{field}.{name}"), see));
        }
        Json::Array(items) => items.iter().for_each(|item| values(item, &format!("{field}[]"), see)),
        Json::String(_) | Json::Number(_) => see(field.to_owned(), value.to_string()),
        Json::Bool(_) | Json::Null => {}
    }
}
