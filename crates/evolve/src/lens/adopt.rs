//! Fields that a version keeps without declaring them, where another version declares them.
//!
//! Many kinds begin with an object that keeps whatever is in it, and get a schema for it later. What was written through
//! the first version must then be read through the second: a field that a version keeps is the field of that name that
//! the nearest other version declares there.

use crate::{
    History, NodeIndex, Shape, VersionHistory,
    identify::{copy_below, nearest_first},
};

/// A history in which every version has the fields that it keeps for others.
pub(super) fn adopt(history: &History) -> History {
    let mut adopted = history.clone();
    for index in history.indexes() {
        let version = &mut adopted.versions[index.position()];
        for other in nearest_first(index, &history.versions) {
            adopt_from(other, version);
        }
    }
    adopted
}

fn adopt_from(other: &VersionHistory, version: &mut VersionHistory) {
    // What is adopted keeps everything that is in it, so that it may adopt in turn: nodes are added while this goes on.
    let mut next = Some(version.structure.root());
    while let Some(node) = next {
        next = version.structure.after(node);
        let plan = version.structure.node(node);
        if plan.shape != Shape::Object || !plan.keeps_unknown {
            continue;
        }
        let Some(counterpart) = other.counterpart(version, node) else { continue };
        for child in other.structure.node(counterpart).children.clone() {
            adopt_field(other, child, version, node);
        }
    }
}

fn adopt_field(other: &VersionHistory, field: NodeIndex, version: &mut VersionHistory, parent: NodeIndex) {
    let (Some(id), Some(name)) = (other.id(field), other.structure.node(field).name()) else { return };
    if version.node_of(id).is_some() || version.structure.child(parent, name).is_some() {
        return;
    }
    let pairs = copy_below(&other.structure, field, &mut version.structure, parent);
    for (original, copy) in pairs {
        let node = version.structure.node_mut(copy);
        // Nothing is asked of what is not declared: null is kept, whatever is in it is kept, and nothing is filled in.
        node.nullable = true;
        node.keeps_unknown = node.shape == Shape::Object;
        (node.default, node.union) = (None, None);
        if let Some(id) = other.id(original).filter(|id| version.node_of(*id).is_none()) {
            version.set_id(copy, id);
        }
    }
}
