//! The compiled form of a schema: flat nodes that one walk over a document needs, and nothing else.

use std::collections::HashMap;

use wheelwright_document::Owned;

use crate::{rules::Rules, validate::Checks};

/// A compiled schema. Compile once, use from any number of threads.
#[derive(Debug)]
pub struct Program {
    pub(crate) nodes: Vec<Node>,
    pub(crate) root: NodeId,
    pub(crate) rules: Option<Box<Rules>>,
}

/// The position of a node in [`Program::nodes`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NodeId(pub(crate) u32);

impl NodeId {
    /// What no schema describes and pruning empties: objects lose every field, lists and scalars stay.
    pub(crate) const UNSPECIFIED: Self = Self(0);
    /// What no schema describes and nobody touches.
    pub(crate) const UNTOUCHED: Self = Self(1);

    /// Whether a schema stands behind the node.
    pub(crate) fn is_specified(self) -> bool {
        self != Self::UNSPECIFIED && self != Self::UNTOUCHED
    }
}

/// A node, with what the walk asks first in front.
#[derive(Debug, Default)]
pub(crate) struct Node {
    pub(crate) types: Types,
    pub(crate) nullable: bool,
    /// Fields that nothing describes stay.
    pub(crate) keeps_unknown: bool,
    /// The walk returns the value as it is.
    pub(crate) untouched: bool,
    /// apiVersion, kind and metadata are implied: they are never pruned, and metadata is coerced.
    pub(crate) meta: Meta,
    pub(crate) fields: Fields,
    /// The node of other fields than the declared ones.
    pub(crate) additional: Option<NodeId>,
    /// `additionalProperties: false`, which refuses other fields although pruning keeps them.
    pub(crate) refuses_additional: bool,
    pub(crate) items: Option<NodeId>,
    pub(crate) default: Option<CompiledDefault>,
    pub(crate) checks: Option<Box<Checks>>,
    pub(crate) junctors: Option<Box<Junctors>>,
    pub(crate) list: Option<Box<ListRule>>,
}

/// What apiVersion, kind and metadata mean at a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Meta {
    /// Nothing special.
    #[default]
    None,
    /// The root of a resource: metadata is coerced; the API server validates it elsewhere.
    Root,
    /// An embedded resource: metadata is coerced and validated.
    Embedded,
    /// The root of a resource that calls itself embedded: read like the one, validated like the other.
    EmbeddedRoot,
}

/// The types a value may have, as a set; empty means any.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Types(u8);

impl Types {
    pub(crate) const OBJECT: Self = Self(1);
    pub(crate) const ARRAY: Self = Self(2);
    pub(crate) const STRING: Self = Self(4);
    pub(crate) const INTEGER: Self = Self(8);
    pub(crate) const NUMBER: Self = Self(16);
    pub(crate) const BOOLEAN: Self = Self(32);
    /// A type that no value has.
    pub(crate) const UNKNOWN: Self = Self(64);
    pub(crate) const INT_OR_STRING: Self = Self(Self::INTEGER.0 | Self::STRING.0);

    pub(crate) fn is_any(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn includes(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::OBJECT => "an object",
            Self::ARRAY => "a list",
            Self::STRING => "a string",
            Self::INTEGER => "an integer",
            Self::NUMBER => "a number",
            Self::BOOLEAN => "a boolean",
            Self::INT_OR_STRING => "an integer or a string",
            _ => "a type that no value has",
        }
    }
}

/// A default value.
#[derive(Debug)]
pub(crate) struct CompiledDefault {
    pub(crate) value: Owned,
    /// How many values it holds.
    pub(crate) size: usize,
    /// It is filled, and passes every check of its own node, so that documents that get it need no second look.
    pub(crate) ready: bool,
}

impl CompiledDefault {
    pub(crate) fn new(value: Owned, ready: bool) -> Self {
        Self { size: size_of(&value), value, ready }
    }
}

fn size_of(value: &Owned) -> usize {
    match value {
        Owned::Array(items) => 1 + items.iter().map(size_of).sum::<usize>(),
        Owned::Object(entries) => 1 + entries.iter().map(|(_, value)| size_of(value)).sum::<usize>(),
        _ => 1,
    }
}

/// `allOf`, `anyOf`, `oneOf` and `not`.
#[derive(Debug, Default)]
pub(crate) struct Junctors {
    pub(crate) all_of: Box<[NodeId]>,
    pub(crate) any_of: Box<[NodeId]>,
    pub(crate) one_of: Box<[NodeId]>,
    pub(crate) not: Option<NodeId>,
    /// The junctors only repeat that the value is an integer or a string, which its type has said already: they need a
    /// look only when the value is neither.
    pub(crate) only_int_or_string: bool,
}

/// What makes the items of a list unique.
#[derive(Debug)]
pub(crate) enum ListRule {
    /// The whole item.
    Set,
    /// These fields of it.
    Map(Box<[Box<str>]>),
}

/// The declared fields of an object.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    pub(crate) list: Box<[Field]>,
    lookup: Lookup,
    /// Fields with a default, and required ones.
    pub(crate) defaulted: FieldSet,
    pub(crate) required: FieldSet,
    /// Required fields that are not declared.
    pub(crate) required_undeclared: Box<[Box<str>]>,
}

/// A declared field.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: Box<str>,
    ends: Ends,
    pub(crate) node: NodeId,
}

impl Field {
    pub(crate) fn new(name: &str, node: NodeId) -> Self {
        Self { name: name.into(), ends: Ends::of(name.as_bytes()), node }
    }

    #[inline]
    fn is_called(&self, name: &str, ends: Ends) -> bool {
        self.ends == ends && (ends.are_all() || *self.name == *name)
    }
}

/// A set of declared fields. Few objects have more than 64, so the first word is at hand.
#[derive(Clone, Debug, Default)]
pub(crate) struct FieldSet {
    first: u64,
    rest: Vec<u64>,
}

impl FieldSet {
    /// An empty set of `count` fields at most.
    #[inline]
    pub(crate) fn new(count: usize) -> Self {
        let rest = if count > 64 { vec![0; count.div_ceil(64) - 1] } else { Vec::new() };
        Self { first: 0, rest }
    }

    #[inline]
    pub(crate) fn insert(&mut self, position: usize) {
        if position < 64 {
            self.first |= 1 << position;
        } else {
            self.rest[position / 64 - 1] |= 1 << (position % 64);
        }
    }

    /// Calls `visit` for every field of this set that is not in the other, which has the same size.
    #[inline]
    pub(crate) fn each_missing(&self, other: &Self, mut visit: impl FnMut(usize)) {
        let mut missing = self.first & !other.first;
        while missing != 0 {
            visit(missing.trailing_zeros() as usize);
            missing &= missing - 1;
        }
        for (word, (mine, theirs)) in self.rest.iter().zip(&other.rest).enumerate() {
            let mut missing = mine & !theirs;
            while missing != 0 {
                visit((word + 1) * 64 + missing.trailing_zeros() as usize);
                missing &= missing - 1;
            }
        }
    }

    /// How many fields of this set are not in the other, which has the same size.
    #[inline]
    pub(crate) fn count_missing(&self, other: &Self) -> usize {
        let rest = self.rest.iter().zip(&other.rest).map(|(mine, theirs)| (mine & !theirs).count_ones());
        (self.first & !other.first).count_ones() as usize + rest.sum::<u32>() as usize
    }

    /// Adds the fields of another set of the same size.
    #[inline]
    pub(crate) fn add(&mut self, other: &Self) {
        self.first |= other.first;
        self.rest.iter_mut().zip(&other.rest).for_each(|(mine, theirs)| *mine |= theirs);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first == 0 && self.rest.iter().all(|word| *word == 0)
    }
}

/// How a field is found by its name.
#[derive(Debug, Default)]
enum Lookup {
    #[default]
    Empty,
    /// Open addressing over a hash that looks at both ends of a name; a slot holds a position or [`VACANT`].
    Table { slots: Box<[u16]>, mask: u32 },
    /// For names that collide on purpose, or are very many.
    Map(HashMap<Box<str>, u32>),
}

const VACANT: u16 = u16::MAX;
/// A longer run of collisions than any honest set of names has; what would need more gets a [`Lookup::Map`].
const LONGEST_RUN: u32 = 12;

impl Fields {
    pub(crate) fn new(list: Vec<Field>, required: &[Box<str>], has_default: impl Fn(NodeId) -> bool) -> Self {
        let lookup = Lookup::new(&list);
        let mut fields = Self {
            defaulted: FieldSet::new(list.len()),
            required: FieldSet::new(list.len()),
            list: list.into(),
            lookup,
            required_undeclared: Box::default(),
        };
        for (position, field) in fields.list.iter().enumerate() {
            if has_default(field.node) {
                fields.defaulted.insert(position);
            }
        }
        let mut undeclared: Vec<Box<str>> = Vec::new();
        for name in required {
            match fields.position(name) {
                Some(position) => fields.required.insert(position),
                None => undeclared.push(name.clone()),
            }
        }
        undeclared.sort_unstable();
        undeclared.dedup();
        fields.required_undeclared = undeclared.into();
        fields
    }

    /// The position of a declared field.
    #[inline]
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        match &self.lookup {
            Lookup::Empty => None,
            Lookup::Table { slots, mask } => {
                let ends = Ends::of(name.as_bytes());
                let start = ends.hash();
                for step in 0..LONGEST_RUN {
                    let position = slots[((start + step) & mask) as usize];
                    if position == VACANT {
                        return None;
                    }
                    if self.list[position as usize].is_called(name, ends) {
                        return Some(position as usize);
                    }
                }
                None
            }
            Lookup::Map(map) => map.get(name).map(|position| *position as usize),
        }
    }

    /// The node of a declared field.
    #[inline]
    pub(crate) fn get(&self, name: &str) -> Option<NodeId> {
        self.position(name).map(|position| self.list[position].node)
    }
}

impl Lookup {
    fn new(list: &[Field]) -> Self {
        if list.is_empty() {
            return Self::Empty;
        }
        Self::table(list).unwrap_or_else(|| {
            let positions = list.iter().enumerate().map(|(position, field)| (field.name.clone(), position as u32));
            Self::Map(positions.collect())
        })
    }

    fn table(list: &[Field]) -> Option<Self> {
        if list.len() >= usize::from(VACANT) / 4 {
            return None;
        }
        let size = (list.len() * 3).next_power_of_two().max(4);
        let mut slots = vec![VACANT; size].into_boxed_slice();
        for (position, field) in list.iter().enumerate() {
            let start = field.ends.hash();
            let mut run = (0..LONGEST_RUN).map(|step| (start + step) as usize & (size - 1));
            let slot = run.find(|slot| slots[*slot] == VACANT)?;
            slots[slot] = position as u16;
        }
        Some(Self::Table { slots, mask: size as u32 - 1 })
    }
}

/// The first and the last eight bytes of a name and its length: two loads say all of a name of up to sixteen bytes, and
/// most of any other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Ends {
    first: u64,
    last: u64,
    length: usize,
}

impl Ends {
    #[inline(always)]
    fn of(name: &[u8]) -> Self {
        let length = name.len();
        let (first, last) = if let (Some(first), Some(last)) = (name.first_chunk::<8>(), name.last_chunk::<8>()) {
            (u64::from_le_bytes(*first), u64::from_le_bytes(*last))
        } else if let (Some(first), Some(last)) = (name.first_chunk::<4>(), name.last_chunk::<4>()) {
            (u64::from(u32::from_le_bytes(*first)), u64::from(u32::from_le_bytes(*last)))
        } else if length > 0 {
            (u64::from(name[0]), u64::from(name[length - 1]) << 8 | u64::from(name[length / 2]))
        } else {
            (0, 0)
        };
        Self { first, last, length }
    }

    /// Whether there is nothing between the ends.
    #[inline(always)]
    fn are_all(self) -> bool {
        self.length <= 16
    }

    #[inline(always)]
    fn hash(self) -> u32 {
        let mixed = self.first ^ self.last.rotate_left(23) ^ self.length as u64;
        (mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as u32
    }
}

impl Program {
    /// Whether documents are whole resources, with apiVersion, kind and metadata.
    pub fn describes_resource(&self) -> bool {
        matches!(self.node(self.root).meta, Meta::Root | Meta::EmbeddedRoot)
    }

    /// Whether there are rules of `x-kubernetes-validations`.
    pub fn has_rules(&self) -> bool {
        self.rules.is_some()
    }

    /// The most that the rules can cost for one document, by their estimates: in Kubernetes' units of about 50 nanoseconds.
    pub fn most_rule_cost(&self) -> u64 {
        self.rules.as_ref().map_or(0, |rules| rules.most_cost())
    }

    #[inline]
    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }
}
