//! The values that the fields of list items have by default.
//!
//! A client that sends an item with a new object may not have written the defaults in it. They must not let the item pass
//! for one that another client gave the same value, so they are the last evidence that is looked at.

use wheelwright_document::{Arena, Owned};

use super::{
    evidence::{each_value, in_field, in_item},
    looks::fold,
};
use crate::{History, NodeIndex, Step, VersionIndex};

/// The hashes of all defaults in the items of a list, its own version's and frozen ones, as
/// [`identifying`](super::evidence::identifying) hashes values. Values of maps, whose keys nobody knows, are left out.
pub(crate) fn defaults_of_items(history: &History, version: VersionIndex, element: NodeIndex) -> Box<[u32]> {
    let mut found = Vec::new();
    collect(history, version, element, 0, &mut found);
    found.sort_unstable();
    found.dedup();
    found.into()
}

fn collect(history: &History, version: VersionIndex, node: NodeIndex, path: u64, found: &mut Vec<u32>) {
    let declared = history.version(version);
    let place = declared.structure.node(node);
    if place.is_adopted {
        return;
    }
    let frozen = declared.id(node).and_then(|id| history.field(id).frozen.as_ref());
    for default in [place.default.as_ref(), frozen].into_iter().flatten() {
        hash_values(default, path, found);
    }
    for child in &place.children {
        match &declared.structure.node(*child).step {
            Step::Field(name) => collect(history, version, *child, in_field(path, name), found),
            Step::Items => collect(history, version, *child, in_item(path), found),
            Step::Values => {}
        }
    }
}

fn hash_values(default: &Owned, path: u64, found: &mut Vec<u32>) {
    let arena = Arena::new();
    each_value(default.share(&arena), path, &mut |value| found.push(fold(value)));
}
