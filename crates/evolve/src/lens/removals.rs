//! Removals that the client could not express: of items that look equal to it, it sent fewer than there were.

use std::{collections::HashMap, fmt};

use wheelwright_document::{Arena, FieldPath, Path, Value};

use super::{Lenses, get::Get, plan::Content, same::hash};
use crate::VersionIndex;

/// How many are reported: more say the same.
const LIMIT: usize = 20;

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
        let mut is_kept = vec![false; shown.len()];
        matched.iter().flatten().for_each(|at| is_kept[*at] = true);
        let mut looks: HashMap<u64, Vec<usize>> = HashMap::new();
        alike.iter().for_each(|at| looks.entry(hash(shown[*at])).or_default().push(*at));
        let mut looks: Vec<Vec<usize>> = looks.into_values().collect();
        looks.sort_unstable();
        for look in looks {
            let (kept, removed): (Vec<usize>, Vec<usize>) = look.iter().partition(|at| is_kept[**at]);
            if self.0.len() == LIMIT || kept.is_empty() || removed.is_empty() {
                continue;
            }
            let first = hidden(look[0]);
            if look.iter().any(|at| hidden(*at) != first) {
                self.0.push((shown, removed, kept.len()));
            }
        }
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
        let (Content::Scope(scope), Value::Object(stored)) = (element, stored) else { return 0 };
        let views = self.scopes[*scope].views.iter().enumerate();
        let others = views.filter(|(other, view)| view.is_some() && *other != version.position());
        others.fold(0, |sum: u64, (other, _)| {
            let mut get = Get::new(self, VersionIndex(other as u32), arena, ());
            get.metadata = metadata;
            sum.rotate_left(7) ^ hash(Value::Object(get.scope(*scope, stored)))
        })
    }
}
