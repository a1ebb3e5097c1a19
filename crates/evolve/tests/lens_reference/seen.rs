//! How many writes were to lists in which it is hard to tell which item continues which.

use std::{cell::RefCell, fmt};

use serde_json::Value as Json;

use crate::model::Content;

/// Writes of each sort. A write that changes several lists can be of several sorts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// To lists without keys with items that look equal and are not.
    alike: usize,
    /// The same, and the list is changed.
    alike_changed: usize,
    /// To lists in which several items have the same key.
    same_key: usize,
    /// To lists without keys, or with items of the same key, in the items of other lists.
    nested: usize,
    /// To such lists by the operations of a JSON patch.
    patched: usize,
    /// Of any of these sorts.
    any: usize,
}

impl Seen {
    /// Whether the write is of any of the sorts.
    pub(crate) fn is_any(&self) -> bool {
        self.any > 0
    }

    /// Adds a write that was made with several hubs.
    pub(crate) fn add(&mut self, write: &Self, hubs: usize) {
        let ours = [
            (&mut self.alike, write.alike),
            (&mut self.alike_changed, write.alike_changed),
            (&mut self.same_key, write.same_key),
            (&mut self.nested, write.nested),
            (&mut self.patched, write.patched),
            (&mut self.any, write.any),
        ];
        ours.into_iter().for_each(|(count, lists)| *count += lists.min(1) * hubs);
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { alike, alike_changed, same_key, nested, patched, any } = self;
        write!(
            f,
            "{any} to lists with items that look equal and hide different values ({alike} without keys, of which \
             {alike_changed} change the list; {same_key} with duplicate keys; {nested} in other lists; {patched} by \
             JSON patch)"
        )
    }
}

thread_local! {
    static SEEN: RefCell<Seen> = RefCell::default();
}

pub(crate) fn begin() {
    SEEN.with_borrow_mut(|seen| *seen = Seen::default());
}

pub(crate) fn end() -> Seen {
    SEEN.take()
}

/// Notes that a client writes a list in the place of an old one.
pub(crate) fn list(
    keys: &[String],
    (shown, written): (&[Json], &[Json]),
    old: &[Content],
    is_nested: bool,
    is_patched: bool,
) {
    let key = |item: &Json| keys.iter().map(|key| item.get(key).cloned()).collect::<Vec<_>>();
    let pairs = || (0..shown.len()).flat_map(|second| (0..second).map(move |first| (first, second)));
    let is_alike = keys.is_empty() && pairs().any(|(a, b)| shown[a] == shown[b] && old[a] != old[b]);
    let have_same_key = !keys.is_empty() && pairs().any(|(a, b)| key(&shown[a]) == key(&shown[b]) && old[a] != old[b]);
    if !is_alike && !have_same_key {
        return;
    }
    SEEN.with_borrow_mut(|seen| {
        seen.any += 1;
        seen.alike += usize::from(is_alike);
        seen.alike_changed += usize::from(is_alike && (shown != written || is_patched));
        seen.same_key += usize::from(have_same_key);
        seen.nested += usize::from(is_nested);
        seen.patched += usize::from(is_patched);
    });
}
