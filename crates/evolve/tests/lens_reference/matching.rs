//! Which item of a list continues which, as slowly as the rules state it.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet, HashMap},
};

use serde_json::Value as Json;
use wheelwright_document::{Arena, encode};
use wheelwright_evolve::Shape;

use crate::model::View;

/// The stored item that each written item continues.
type Matches = Vec<Option<usize>>;

/// Items of the same keys: equal ones first, as without keys, then n-th to n-th.
pub(crate) fn by_keys(items: &[Json], shown: &[Json], keys: &[String]) -> Matches {
    let key = |item: &Json| keys.iter().map(|key| item.get(key).cloned()).collect::<Vec<_>>();
    let mut matches = vec![None; items.len()];
    for at in 0..items.len() {
        if items[..at].iter().any(|item| key(item) == key(&items[at])) {
            continue;
        }
        // The items of one key, as if they were lists of their own.
        let of_key =
            |list: &[Json]| (0..list.len()).filter(|of| key(&list[*of]) == key(&items[at])).collect::<Vec<_>>();
        let (new, old) = (of_key(items), of_key(shown));
        let of = |list: &[Json], positions: &[usize]| positions.iter().map(|at| list[*at].clone()).collect::<Vec<_>>();
        let found = equal_ones(&of(items, &new), &of(shown, &old), &|_| 0);
        new.iter().zip(found).for_each(|(new, found)| matches[*new] = found.map(|found| old[found]));
    }
    nth_to_nth(&mut matches, items, shown, |item, old| key(item) == key(old));
    matches
}

/// Items of which a JSON patch said which one they continue. One whose key changed is another item, and is looked for.
pub(crate) fn by_origins(items: &[Json], shown: &[Json], keys: &[String], origins: &[Option<usize>]) -> Matches {
    if keys.is_empty() {
        return origins.to_vec();
    }
    let key = |item: &Json| keys.iter().map(|key| item.get(key).cloned()).collect::<Vec<_>>();
    let has_its_key = |(item, origin): (&Json, &Option<usize>)| origin.filter(|old| key(item) == key(&shown[*old]));
    let mut matches: Matches = items.iter().zip(origins).map(has_its_key).collect();
    let open: Vec<usize> = (0..items.len()).filter(|new| matches[*new].is_none()).collect();
    let free: Vec<usize> = (0..shown.len()).filter(|old| !matches.contains(&Some(*old))).collect();
    let of = |list: &[Json], positions: &[usize]| positions.iter().map(|at| list[*at].clone()).collect::<Vec<_>>();
    let found = by_keys(&of(items, &open), &of(shown, &free), keys);
    open.iter().zip(found).for_each(|(new, found)| matches[*new] = found.map(|found| free[found]));
    matches
}

/// Items without keys: equal ones in the best alignment, then equal ones that moved, then edited ones that share what
/// identifies them, then the items of gaps of the same length. `hidden` is how much each stored item hides.
pub(crate) fn by_likeness(
    items: &[Json],
    shown: &[Json],
    defaults: &BTreeSet<(String, String)>,
    hidden: &dyn Fn(usize) -> u32,
) -> Matches {
    let mut matches = equal_ones(items, shown, hidden);
    // Where there are defaults, they count only for what is left without them.
    if !defaults.is_empty() {
        match_by_evidence(items, shown, defaults, &mut matches);
        match_gaps(shown.len(), &mut matches);
    }
    match_by_evidence(items, shown, &BTreeSet::new(), &mut matches);
    match_gaps(shown.len(), &mut matches);
    matches
}

/// The defaults of the fields in the items of a list, its version's own and frozen ones, with their paths in an item.
pub(crate) fn defaults_of_items(view: View<'_>, list: usize) -> BTreeSet<(String, String)> {
    let mut found = BTreeMap::new();
    view.tree.element(list).into_iter().for_each(|element| collect_defaults(view, element, "", &mut found));
    found.into_iter().flat_map(|(path, values)| values.into_iter().map(move |value| (path.clone(), value))).collect()
}

fn collect_defaults(view: View<'_>, node: usize, path: &str, found: &mut BTreeMap<String, Vec<String>>) {
    let (history, place) = (view.model.history, view.tree.node(node));
    if let Some(id) = place.id.filter(|_| place.is_declared) {
        let version = &history.versions[view.version];
        let own = version.node_of(id).and_then(|node| version.structure.node(node).default.as_ref());
        for default in [own, history.field(id).frozen.as_ref()].into_iter().flatten() {
            let arena = Arena::new();
            let default = serde_json::from_slice(&encode(default.share(&arena))).expect("what is encoded is JSON");
            values(&default, path, found);
        }
    }
    match place.shape {
        Shape::Object => place.children.iter().for_each(|child| {
            let path = format!("{path}.{}", view.tree.node(*child).name);
            collect_defaults(view, *child, &path, found);
        }),
        Shape::List => {
            place.children.iter().for_each(|child| collect_defaults(view, *child, &format!("{path}[]"), found));
        }
        _ => {}
    }
}

/// Equal items: in the best alignment, then those that moved.
fn equal_ones(items: &[Json], shown: &[Json], hidden: &dyn Fn(usize) -> u32) -> Matches {
    let count = |list: &[Json], item: &Json| list.iter().filter(|other| *other == item).count();
    let weight = |at: usize| {
        let (written, stored) = (count(items, &shown[at]), count(shown, &shown[at]));
        if stored > written && written > 0 { hidden(at) } else { 0 }
    };
    let search = Search {
        equal: &|new, old| items[new] == shown[old],
        edited: &|new, old| {
            count(items, &items[new]) > count(shown, &items[new])
                && count(shown, &shown[old]) > count(items, &shown[old])
        },
        weight: &weight,
        lengths: (items.len(), shown.len()),
        found: RefCell::default(),
    };
    let mut matches = vec![None; items.len()];
    for (new, old) in search.best(0, 0, Last::Equal).expect("skipping everything is an alignment").1 {
        matches[new] = Some(old);
    }
    // Of equal items that moved, those stay that hide most.
    for item in items {
        let free = |matches: &Matches| -> Vec<usize> {
            (0..shown.len()).filter(|old| shown[*old] == *item && !matches.contains(&Some(*old))).collect()
        };
        let open: Vec<usize> = (0..items.len()).filter(|new| items[*new] == *item && matches[*new].is_none()).collect();
        let mut stay = free(&matches);
        stay.sort_by_key(|old| std::cmp::Reverse(weight(*old)));
        stay.truncate(open.len());
        stay.sort_unstable();
        open.into_iter().zip(stay).for_each(|(new, old)| matches[new] = Some(old));
    }
    matches
}

/// Equal pairs, edited pairs, and hidden data.
type Score = (u32, u32, u32);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Last {
    Equal,
    Edit,
    Skip,
}

/// The best alignment of what is left, by its equal pairs.
type Best = Option<(Score, Vec<(usize, usize)>)>;

/// Every alignment of two lists, tried one after the other.
struct Search<'s> {
    equal: &'s dyn Fn(usize, usize) -> bool,
    edited: &'s dyn Fn(usize, usize) -> bool,
    weight: &'s dyn Fn(usize) -> u32,
    lengths: (usize, usize),
    /// What was found already: many alignments end alike.
    found: RefCell<HashMap<(usize, usize, Last), Best>>,
}

impl Search<'_> {
    /// The first of the best alignments of what is left: equal pairs, edited pairs and hidden data, and its equal pairs.
    fn best(&self, new: usize, old: usize, last: Last) -> Best {
        if let Some(found) = self.found.borrow().get(&(new, old, last)) {
            return found.clone();
        }
        let best = self.try_all(new, old, last);
        self.found.borrow_mut().insert((new, old, last), best.clone());
        best
    }

    fn try_all(&self, new: usize, old: usize, last: Last) -> Best {
        if (new, old) == self.lengths {
            return Some(((0, 0, 0), Vec::new()));
        }
        let mut found = Vec::new();
        let both = new < self.lengths.0 && old < self.lengths.1;
        if both
            && (self.equal)(new, old)
            && let Some(((equal, edited, hidden), mut pairs)) = self.best(new + 1, old + 1, Last::Equal)
        {
            pairs.push((new, old));
            found.push(((equal + 1, edited, hidden + (self.weight)(old)), pairs));
        }
        if both
            && last != Last::Skip
            && (self.edited)(new, old)
            && let Some(((equal, edited, hidden), pairs)) = self.best(new + 1, old + 1, Last::Edit)
        {
            found.push(((equal, edited + 1, hidden + (self.weight)(old)), pairs));
        }
        if last != Last::Edit && old < self.lengths.1 {
            found.extend(self.best(new, old + 1, Last::Skip));
        }
        if last != Last::Edit && new < self.lengths.0 {
            found.extend(self.best(new + 1, old, Last::Skip));
        }
        // Of equals, `max_by_key` takes the last.
        found.into_iter().rev().max_by_key(|(score, _)| *score)
    }
}

/// Strings and numbers by their paths, in which positions of lists are left out.
fn values(item: &Json, path: &str, found: &mut BTreeMap<String, Vec<String>>) {
    match item {
        Json::Object(fields) => fields.iter().for_each(|(name, value)| values(value, &format!("{path}.{name}"), found)),
        Json::Array(items) => items.iter().for_each(|item| values(item, &format!("{path}[]"), found)),
        Json::String(_) | Json::Number(_) => found.entry(path.to_owned()).or_default().push(item.to_string()),
        _ => {}
    }
}

fn match_by_evidence(items: &[Json], shown: &[Json], defaults: &BTreeSet<(String, String)>, matches: &mut Matches) {
    let values_of = |list: &[Json]| -> Vec<BTreeMap<String, Vec<String>>> {
        let of = |item: &Json| {
            let mut found = BTreeMap::new();
            values(item, "", &mut found);
            found
        };
        list.iter().map(of).collect()
    };
    let (new, old) = (values_of(items), values_of(shown));
    let holders = |list: &[BTreeMap<String, Vec<String>>], path: &String, value: &String| {
        list.iter().filter(|item| item.get(path).is_some_and(|values| values.contains(value))).count()
    };
    // What identifies an item: the values that no other item of its list has under the same path.
    let identifying = |list: &[BTreeMap<String, Vec<String>>], at: usize| -> BTreeSet<(String, String)> {
        let all =
            list[at].iter().flat_map(|(path, values)| values.iter().map(move |value| (path.clone(), value.clone())));
        let is_told = |value: &(String, String)| !defaults.contains(value);
        all.filter(|(path, value)| holders(list, path, value) == 1).filter(is_told).collect()
    };
    let evidence = |at: usize, stored: usize| {
        let (written, stored) = (identifying(&new, at), identifying(&old, stored));
        let shared = written.intersection(&stored).count();
        if 2 * shared >= stored.len() { shared } else { 0 }
    };
    let open: Vec<usize> = (0..items.len()).filter(|new| matches[*new].is_none()).collect();
    let free: Vec<usize> = (0..shown.len()).filter(|old| !matches.contains(&Some(*old))).collect();
    for at in &open {
        for stored in &free {
            let count = evidence(*at, *stored);
            let others = open.iter().filter(|other| *other != at).map(|other| evidence(*other, *stored));
            let others = others.chain(free.iter().filter(|other| *other != stored).map(|other| evidence(*at, *other)));
            if count > 0 && others.max().unwrap_or(0) < count {
                matches[*at] = Some(*stored);
            }
        }
    }
}

fn match_gaps(shown: usize, matches: &mut Matches) {
    let anchors = matches.clone();
    let mut start = 0;
    while start < anchors.len() {
        if anchors[start].is_some() {
            start += 1;
            continue;
        }
        let end = (start..anchors.len()).find(|at| anchors[*at].is_some()).unwrap_or(anchors.len());
        let old_start = if start == 0 { 0 } else { anchors[start - 1].expect("the item before is matched") + 1 };
        let old_end = if end == anchors.len() { shown } else { anchors[end].expect("the gap ends here") };
        if old_start + (end - start) == old_end && (old_start..old_end).all(|old| !anchors.contains(&Some(old))) {
            for (offset, matched) in matches[start..end].iter_mut().enumerate() {
                *matched = Some(old_start + offset);
            }
        }
        start = end;
    }
}

fn nth_to_nth(matches: &mut Matches, items: &[Json], shown: &[Json], same: impl Fn(&Json, &Json) -> bool) {
    for at in 0..items.len() {
        if matches[at].is_none() {
            let is_free = |old: &usize| !matches.contains(&Some(*old)) && same(&items[at], &shown[*old]);
            matches[at] = (0..shown.len()).find(is_free);
        }
    }
}
