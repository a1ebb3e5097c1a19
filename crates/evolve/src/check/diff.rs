//! What changed between two versions, field by field: the facts that rules judge and that people read.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use wheelwright_document::{Arena, Owned, encode};
use wheelwright_schema::Schema;

use super::{
    access::{Access, changed_access},
    limits::limits,
    side::{Schemas, Side},
};
use crate::{
    Conversion, Declaration, FieldId, History, NodeIndex, Selector, Shape, StructureNode, Union, VersionIndex,
    fact::Spellings,
};

/// A field that is not the same in two versions.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Difference {
    /// Its path in the one version, if that has it.
    pub before: Option<Selector>,
    /// Its path in the other, if that has it.
    pub after: Option<Selector>,
    /// What is different.
    pub change: Change,
    /// The nodes at these paths.
    pub(crate) nodes: (Option<NodeIndex>, Option<NodeIndex>),
}

/// What is different about a field. Fields below one that came or went have come and gone with it.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Change {
    /// It came.
    Added {
        /// What sort of value it has.
        shape: String,
        /// It must be there.
        required: bool,
        /// What it is if it is left out.
        default: Option<Owned>,
        /// The expression that computes it from the other version, where nobody wrote it.
        derived: Option<Box<str>>,
    },
    /// It went.
    Removed {
        /// What sort of value it had.
        shape: String,
        /// The expression that computes it from the version that lacks it, where nobody wrote it.
        derived: Option<Box<str>>,
    },
    /// It is there in another spelling, alone or with others; the difference is named by the first of each.
    Converted {
        /// All fields of the one spelling.
        before: Vec<Selector>,
        /// All fields of the other.
        after: Vec<Selector>,
        /// The conversions that lead from one to the other.
        with: Vec<Conversion>,
    },
    /// It has another path, not only because something above it has.
    Moved,
    /// A field of another shape has its path, and is another field.
    Replaced {
        /// What sort of value the field had.
        before: String,
        /// What sort of value the other one has.
        after: String,
    },
    /// It takes other sorts of values: more, or less.
    Widened {
        /// What sort of value it had.
        before: String,
        /// What sort of value it has.
        after: String,
        /// Which version cannot read every value of the other.
        narrower: Narrower,
    },
    /// It must be there now, or need not be any more.
    Required(bool),
    /// It is something else if it is left out.
    Default {
        /// What it was.
        before: Option<Owned>,
        /// What it is.
        after: Option<Owned>,
    },
    /// Other values are listed; an empty list allows all.
    Enum {
        /// Those that were.
        before: Vec<Owned>,
        /// Those that are.
        after: Vec<Owned>,
    },
    /// An open enum lists other values; those that it does not list are valid, too.
    Known {
        /// Those that were.
        before: Vec<Owned>,
        /// Those that are.
        after: Vec<Owned>,
    },
    /// Bounds, lengths or counts are others.
    Limits(Vec<Limit>),
    /// A pattern or format is another.
    Text {
        /// The keyword.
        keyword: &'static str,
        /// What it was.
        before: Option<Box<str>>,
        /// What it is.
        after: Option<Box<str>>,
    },
    /// Null is a value now, or is none any more.
    Nullable(bool),
    /// The items of a list are told apart by other fields.
    Keys {
        /// Those of the one version.
        before: Vec<Box<str>>,
        /// Those of the other.
        after: Vec<Box<str>>,
    },
    /// Other members of an object exclude each other.
    Union {
        /// Those of the one version.
        before: Option<Union>,
        /// Those of the other.
        after: Option<Union>,
    },
    /// Clients may write or read it in one version and not in the other.
    Access {
        /// What they could do with it.
        before: Access,
        /// What they can do with it.
        after: Access,
    },
}

/// A bound, length or count that is another.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Limit {
    /// The keyword.
    pub keyword: &'static str,
    /// What it was.
    pub before: Option<String>,
    /// What it is.
    pub after: Option<String>,
    /// Some values that were allowed are not any more.
    pub tightened: bool,
}

/// What changed from one version to another, in the order of the fields; descriptions aside. Of a version that is not
/// declared any more only the shape is known.
pub fn diff(
    declaration: &Declaration,
    history: &History,
    before: VersionIndex,
    after: VersionIndex,
) -> Vec<Difference> {
    let schemas = Schemas::of(declaration, history);
    compare(&schemas.side(before), &schemas.side(after))
}

/// What changed from one side to the other.
pub(crate) fn compare(before: &Side<'_>, after: &Side<'_>) -> Vec<Difference> {
    let mut found = Found { before, after, list: Vec::new() };
    let (old, new) = (&before.version.structure, &after.version.structure);
    let converted = Converted::between(before, after);
    let gone = old.fields().filter(|node| is_top(before, after, *node) && !converted.before.contains(node));
    let mut gone: BTreeMap<(Option<NodeIndex>, Option<&str>), NodeIndex> =
        gone.map(|node| ((old.node(node).parent, old.node(node).name()), node)).collect();
    for node in new.indexes() {
        if let Some(counterpart) = before.version.counterpart(after.version, node) {
            found.pair(counterpart, node);
        } else if converted.after.contains(&node) {
            if let Some((was, change)) = converted.changes.get(&node) {
                found.push(Some(*was), Some(node), change.clone());
            }
        } else if is_top(after, before, node) {
            let parent = new.node(node).parent.and_then(|parent| before.version.counterpart(after.version, parent));
            let taken = gone.remove(&(parent, new.node(node).name()));
            let change = match taken {
                Some(taken) => Change::Replaced { before: before.shape_name(taken), after: after.shape_name(node) },
                None => Change::Added {
                    shape: after.shape_name(node),
                    required: after.is_required(node),
                    default: new.node(node).default.clone(),
                    derived: after.derivation_from(before, node).map(Into::into),
                },
            };
            found.push(taken, Some(node), change);
        }
    }
    let mut gone: Vec<NodeIndex> = gone.into_values().collect();
    gone.sort_unstable();
    for node in gone {
        let derived = before.derivation_from(after, node).map(Into::into);
        found.push(Some(node), None, Change::Removed { shape: before.shape_name(node), derived });
    }
    found.list
}

/// The fields of two versions that are spellings of one fact.
#[derive(Default)]
struct Converted {
    before: HashSet<NodeIndex>,
    after: HashSet<NodeIndex>,
    /// What is said of a fact, by the first field of its new spelling, with the first of the old one.
    changes: HashMap<NodeIndex, (NodeIndex, Change)>,
}

impl Converted {
    fn between(before: &Side<'_>, after: &Side<'_>) -> Self {
        let mut found = Self::default();
        let facts = after.facts.between((before.index, before.version), (after.index, after.version));
        for Spellings { before: from, after: to, changes } in facts {
            let nodes = |side: &Side<'_>, ids: &[FieldId]| -> Vec<NodeIndex> {
                let mut nodes: Vec<_> = ids.iter().filter_map(|id| side.version.node_of(*id)).collect();
                nodes.sort_unstable();
                nodes
            };
            let (from, to) = (nodes(before, &from), nodes(after, &to));
            let (Some(was), Some(is)) = (from.first(), to.first()) else { continue };
            let paths = |side: &Side<'_>, nodes: &[NodeIndex]| {
                nodes.iter().map(|node| side.version.structure.selector(*node)).collect()
            };
            let change = Change::Converted {
                before: paths(before, &from),
                after: paths(after, &to),
                with: changes.iter().map(|change| change.respelled.with.item.clone()).collect(),
            };
            found.changes.insert(*is, (*was, change));
            found.before.extend(from);
            found.after.extend(to);
        }
        found
    }
}

/// Whether the other side lacks a field, but not what it is a part of.
fn is_top(side: &Side<'_>, other: &Side<'_>, node: NodeIndex) -> bool {
    side.version.structure.is_field(node)
        && other.version.counterpart(side.version, node).is_none()
        && side.parent(node).is_some_and(|parent| other.version.counterpart(side.version, parent).is_some())
}

/// Which of two versions cannot read every value of a field that the other one writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Narrower {
    /// The one before.
    Before,
    /// The one after.
    After,
    /// Each of them.
    Both,
}

impl Narrower {
    pub(super) fn of(before: Shape, after: Shape) -> Self {
        match (before, after) {
            (Shape::Scalar(before), Shape::Scalar(after)) if before.widens_to(after) => Self::Before,
            (Shape::Scalar(before), Shape::Scalar(after)) if after.widens_to(before) => Self::After,
            _ => Self::Both,
        }
    }
}

struct Found<'f> {
    before: &'f Side<'f>,
    after: &'f Side<'f>,
    list: Vec<Difference>,
}

impl Found<'_> {
    fn push(&mut self, before: Option<NodeIndex>, after: Option<NodeIndex>, change: Change) {
        self.list.push(Difference {
            before: before.map(|node| self.before.version.structure.selector(node)),
            after: after.map(|node| self.after.version.structure.selector(node)),
            change,
            nodes: (before, after),
        });
    }

    fn pair(&mut self, old: NodeIndex, new: NodeIndex) {
        let (before, after) = (self.before, self.after);
        let (a, b) = (before.version.structure.node(old), after.version.structure.node(new));
        let is_field = after.version.structure.is_field(new);
        let parents = a.parent.zip(b.parent).filter(|_| is_field);
        let follows = parents.is_none_or(|(a, b)| before.version.counterpart(after.version, b) == Some(a));
        let mut changes = Vec::new();
        if !follows || a.step != b.step {
            changes.push(Change::Moved);
        }
        if a.shape != b.shape {
            let narrower = Narrower::of(a.shape, b.shape);
            changes.push(Change::Widened { before: before.shape_name(old), after: after.shape_name(new), narrower });
        }
        let required = (before.is_required(old), after.is_required(new));
        if is_field && required.0 != required.1 && before.schema(old).is_some() && after.schema(new).is_some() {
            changes.push(Change::Required(required.1));
        }
        if a.default != b.default {
            changes.push(Change::Default { before: a.default.clone(), after: b.default.clone() });
        }
        if a.nullable != b.nullable {
            changes.push(Change::Nullable(b.nullable));
        }
        if before.keys(old) != after.keys(new) {
            changes.push(Change::Keys { before: a.keys.clone(), after: b.keys.clone() });
        }
        if members(a) != members(b) {
            changes.push(Change::Union { before: a.union.clone(), after: b.union.clone() });
        }
        changes.extend(changed_access((before, old), (after, new)));
        if let (Some(a), Some(b)) = (before.schema(old), after.schema(new)) {
            changes.extend(checks(a, b));
        }
        for change in changes {
            self.push(Some(old), Some(new), change);
        }
    }
}

/// The members of a union; their order says nothing.
fn members(node: &StructureNode) -> Option<BTreeSet<&str>> {
    node.union.as_ref().map(|union| union.members.iter().map(|member| &**member).collect())
}

fn checks(before: &Schema, after: &Schema) -> Vec<Change> {
    let (a, b) = (&before.checks, &after.checks);
    let mut changes = Vec::new();
    let limits = limits(before, after);
    if !limits.is_empty() {
        changes.push(Change::Limits(limits));
    }
    for (keyword, before, after) in [("pattern", &a.pattern, &b.pattern), ("format", &a.format, &b.format)] {
        if before != after {
            changes.push(Change::Text { keyword, before: before.clone(), after: after.clone() });
        }
    }
    if spellings(&a.r#enum) != spellings(&b.r#enum) {
        changes.push(Change::Enum { before: a.r#enum.clone(), after: b.r#enum.clone() });
    }
    let listed = if a.r#enum.is_empty() { known(before) } else { &a.r#enum };
    if !listed.is_empty() && !known(after).is_empty() && spellings(listed) != spellings(known(after)) {
        changes.push(Change::Known { before: listed.to_vec(), after: known(after).to_vec() });
    }
    changes
}

/// The values of an open enum.
pub(crate) fn known(schema: &Schema) -> &[Owned] {
    schema.annotations.as_ref().map_or(&[], |annotations| &annotations.known_values)
}

/// Values as they are written, to be looked up.
pub(crate) fn spellings(values: &[Owned]) -> HashSet<String> {
    values.iter().map(spelled).collect()
}

/// A value as JSON.
pub(crate) fn spelled(value: &Owned) -> String {
    let arena = Arena::new();
    String::from_utf8_lossy(&encode(value.share(&arena))).into_owned()
}
