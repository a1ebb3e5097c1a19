//! Removals that the client could not express: of items that look equal to it, it sent fewer than there were.

use std::{collections::HashMap, fmt};

use wheelwright_document::{Arena, FieldPath, Path, Value};

use super::{Lenses, matching::match_items_keeping, plan::Content, same::quick_hash, size::size};
use crate::VersionIndex;

/// Items of a list that a write removed, although the client could not distinguish them from items that it kept.
///
/// They look equal in the version of the client and hide different fields from it. Which of them are taken as removed is
/// described in `docs/lens.md`, *Lists without keys*.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct UncertainRemoval {
    /// The list, in the version of the client.
    pub list: FieldPath,
    /// The positions of the removed items in the list that was replaced.
    pub removed: Vec<usize>,
    /// How many items of that look are left.
    pub left: usize,
}

impl UncertainRemoval {
    /// How many are reported of one write: more would repeat the same advice.
    pub const LIMIT: usize = 20;
}

impl fmt::Display for UncertainRemoval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { list, removed, left } = self;
        let count = removed.len() + left;
        let shown: Vec<String> = removed.iter().take(3).map(usize::to_string).collect();
        let more = if removed.len() > shown.len() { ", …" } else { "" };
        let items = if removed.len() == 1 { "item" } else { "items" };
        write!(
            f,
            "{list}: {count} items look equal in this version and hide different fields; of them, {items} {}{more} \
             (counted from 0) and what is hidden there were removed; to choose the item, send a JSON patch that names its \
             position, or identify items by `keys` (WW230)",
            shown.join(", ")
        )
    }
}

/// What was removed so, by the lists as the client was shown them.
#[derive(Debug, Default)]
pub(crate) struct Removals<'a>(Vec<(&'a [Value<'a>], Vec<usize>, usize)>);

impl<'a> Removals<'a> {
    /// Looks at the items of a list that look equal to others and of which fewer were written. `hidden` is a hash of what
    /// other versions show of an item.
    #[cold]
    pub(super) fn note(
        &mut self,
        shown: &'a [Value<'a>],
        alike: &[usize],
        matched: &[Option<usize>],
        hidden: impl Fn(usize) -> u64,
    ) {
        let room = UncertainRemoval::LIMIT.saturating_sub(self.0.len());
        let found = uncertain(shown, alike, matched, hidden).take(room);
        self.0.extend(found.map(|(removed, left)| (shown, removed, left)));
    }

    /// All of them, with the paths of their lists in what the client was shown.
    pub(super) fn found(self, shown: Value<'a>) -> Vec<UncertainRemoval> {
        let mut found = Vec::new();
        if !self.0.is_empty() {
            self.find(shown, &Path::Root, &mut found);
        }
        found
    }

    fn find(&self, value: Value<'a>, path: &Path<'_>, found: &mut Vec<UncertainRemoval>) {
        match value {
            Value::Object(entries) => {
                entries.iter().for_each(|entry| self.find(entry.value, &Path::Child(path, entry.key), found));
            }
            Value::Array(items) => {
                for (_, removed, left) in self.0.iter().filter(|(list, ..)| std::ptr::eq(*list, items)) {
                    let list = path.to_field_path();
                    found.push(UncertainRemoval { list, removed: removed.clone(), left: *left });
                }
                for (position, item) in items.iter().enumerate() {
                    self.find(*item, &Path::Index(path, position), found);
                }
            }
            _ => {}
        }
    }
}

/// As [`match_items`](super::match_items), where clients see less of each stored item than is stored.
///
/// `old` is the list as it is stored, and `seen` as clients see it. Of items that look equal to them, those stay that hide
/// most. The removals that this decided are returned as removals from `list`.
pub fn match_concealed(
    new: &[Value<'_>],
    (old, seen): (&[Value<'_>], &[Value<'_>]),
    keys: &[Box<str>],
    list: &Path<'_>,
) -> (Vec<Option<usize>>, Vec<UncertainRemoval>) {
    let mut alike = Vec::new();
    let matched = match_items_keeping(new, seen, (keys, &[]), |position| {
        alike.push(position);
        size(old[position])
    });
    let found = uncertain(seen, &alike, &matched, |position| quick_hash(old[position]));
    let found = found.map(|(removed, left)| UncertainRemoval { list: list.to_field_path(), removed, left });
    let found = found.take(UncertainRemoval::LIMIT).collect();
    (matched, found)
}

/// The removed items, and the number of kept ones, of each look of which some items stay and what they hide differs.
/// `alike` are the items that look equal to others and of which fewer were written.
fn uncertain(
    shown: &[Value<'_>],
    alike: &[usize],
    matched: &[Option<usize>],
    hidden: impl Fn(usize) -> u64,
) -> impl Iterator<Item = (Vec<usize>, usize)> {
    let mut is_kept = vec![false; shown.len()];
    matched.iter().flatten().for_each(|at| is_kept[*at] = true);
    let mut looks: HashMap<u64, Vec<usize>> = HashMap::new();
    alike.iter().for_each(|at| looks.entry(quick_hash(shown[*at])).or_default().push(*at));
    let mut looks: Vec<Vec<usize>> = looks.into_values().collect();
    looks.sort_unstable();
    looks.into_iter().filter_map(move |look| {
        let (kept, removed): (Vec<usize>, Vec<usize>) = look.iter().partition(|at| is_kept[**at]);
        let is_uncertain = !kept.is_empty() && !removed.is_empty();
        let differ = || {
            let first = hidden(look[0]);
            look.iter().any(|at| hidden(*at) != first)
        };
        (is_uncertain && differ()).then_some((removed, kept.len()))
    })
}

impl Lenses {
    /// A hash of what the other versions show of a list item.
    pub(super) fn hidden_from<'a>(
        &'a self,
        version: VersionIndex,
        element: &'a Content,
        stored: Value<'a>,
        metadata: Option<Value<'a>>,
        arena: &'a Arena,
    ) -> u64 {
        let shown = self.in_other_versions(version, element, stored, metadata, arena);
        shown.fold(0, |sum: u64, value| sum.rotate_left(7) ^ quick_hash(value))
    }
}
