//! Fields that a version keeps without declaring them, where another version declares them.
//!
//! Many kinds begin with an object that keeps whatever is in it, and get a schema for it later. What was written through
//! the first version must then be read through the second: a field that a version keeps is the field of that name that
//! another version declares there: of several, the one that was locked first, so that a version that comes later never
//! changes what was stored.
//!
//! Computed fields are for the versions that declare them: a version has one spelling of a fact, and whoever does not know
//! that a field can be derived does not say by leaving it out that it is absent.

use std::collections::HashSet;

use super::computed::Spellings;
use crate::{FieldId, History, NodeIndex, Shape, VersionHistory, link::Computations, structure::StructureNode};

/// A history in which every version has the fields that it keeps for others.
pub(super) fn adopt(history: &History, computations: &Computations) -> History {
    let spellings = Spellings::of(history, computations);
    let derived = computations.derivations.iter();
    let derived = derived.filter_map(|derivation| history.version(derivation.target).id(derivation.field)).collect();
    let computed = Computed { spellings, derived };
    let mut adopted = history.clone();
    let mut in_order_of_locking: Vec<&VersionHistory> = history.versions.iter().collect();
    in_order_of_locking.sort_by_key(|version| version.locked_as);
    for index in history.indexes() {
        let version = &mut adopted.versions[index.position()];
        for other in &in_order_of_locking {
            adopt_from(other, version, &computed);
        }
    }
    adopted
}

/// What is computed.
struct Computed {
    spellings: Spellings,
    derived: HashSet<FieldId>,
}

fn adopt_from(other: &VersionHistory, version: &mut VersionHistory, computed: &Computed) {
    // What is adopted keeps everything that is in it, so that it adopts in turn: nodes are added while this goes on.
    let mut next = Some(version.structure.root());
    while let Some(node) = next {
        adopt_in(other, version, node, computed);
        next = version.structure.after(node);
    }
}

fn adopt_in(other: &VersionHistory, version: &mut VersionHistory, object: NodeIndex, computed: &Computed) {
    // Only objects keep what they do not declare.
    if version.structure.node(object).keeps_unknown
        && let Some(counterpart) = other.counterpart(version, object)
    {
        for field in &other.structure.node(counterpart).children {
            let is_taken = |id: &FieldId| version.node_of(*id).is_some();
            let is_computed = other.id(*field).is_some_and(|id| {
                computed.derived.contains(&id) || computed.spellings.of_one_fact(id).iter().any(is_taken)
            });
            if !is_computed {
                adopt_field(other, *field, version, object);
            }
        }
    }
}

fn adopt_field(other: &VersionHistory, field: NodeIndex, version: &mut VersionHistory, parent: NodeIndex) {
    let (Some(id), Some(name)) = (other.id(field), other.structure.node(field).name()) else { return };
    if version.node_of(id).is_some() || version.structure.child(parent, name).is_some() {
        return;
    }
    let copy = adopt_node(other, field, version, parent);
    version.set_id(copy, id);
}

/// Adds a node of another version, with the items or values in it. Fields in it are adopted in turn, except those that
/// the version has elsewhere.
fn adopt_node(other: &VersionHistory, node: NodeIndex, version: &mut VersionHistory, parent: NodeIndex) -> NodeIndex {
    let adopted = other.structure.node(node);
    // Nothing is asked of what is not declared: null is kept, whatever is in it is kept, and nothing is filled in.
    let copy = version.structure.push(StructureNode {
        parent: Some(parent),
        children: Vec::new(),
        nullable: true,
        keeps_unknown: adopted.shape == Shape::Object,
        default: None,
        union: None,
        is_adopted: true,
        ..adopted.clone()
    });
    if let Some(element) = other.structure.element(node) {
        adopt_node(other, element, version, copy);
    }
    copy
}
