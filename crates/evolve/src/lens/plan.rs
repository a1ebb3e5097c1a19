//! The compiled form of a history: per scope, where every field is stored and where every version shows it.
//!
//! A *scope* is the document itself, or one item of a list or value of a map that is an object. Within it every field id
//! has one *slot*; no change moves a field out of its scope. A document is, scope by scope, what its slots hold, and the
//! versions and the stored form are nothing but different trees over the same slots.

use std::collections::HashMap;

use wheelwright_document::{Arena, Entry, Owned, Value};

use super::computed::Computed;
use crate::{FieldId, named::Named};

/// What is known of a scope.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    /// The fields, by their slots.
    pub(crate) slots: Vec<SlotPlan>,
    /// Which fields are in one object in one version and in another in another, by their slots.
    pub(crate) moved: Vec<bool>,
    /// Which objects may be there although nobody wrote them: some version has a field elsewhere that is in them in
    /// another.
    pub(crate) may_be_implied: Vec<bool>,
    /// How the hub stores them.
    pub(crate) layout: Layout,
    /// How each version shows them; none where a version does not have the list or map.
    pub(crate) views: Vec<Option<View>>,
    /// What is computed.
    pub(crate) computed: Computed,
}

/// A field of a scope.
#[derive(Debug)]
pub(crate) struct SlotPlan {
    pub(crate) id: FieldId,
    pub(crate) content: Content,
}

/// What the value of a field is made of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Content {
    /// Nothing that a lens looks into.
    Opaque,
    /// Fields of the same scope.
    Fields,
    /// Items.
    List(Box<Content>),
    /// Values by their keys.
    Map(Box<Content>),
    /// Of items and values only: a scope of its own.
    Scope(usize),
}

/// How the fields of a scope are stored.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    /// The objects that are stored; the first is the scope's own.
    pub(crate) objects: Vec<StoredObject>,
    /// Every field by its id.
    pub(crate) by_id: HashMap<Box<str>, StoredField>,
    /// The object that a field is, by its slot.
    pub(crate) object_of: Vec<Option<usize>>,
    /// How the id of each field is written, by its slot.
    pub(crate) texts: Vec<Box<str>>,
    /// The object that each field is stored in, by its slot.
    pub(crate) home: Vec<usize>,
    /// Whether the hub shows each field, by its slot: then it and what is in it is spelled by the hub's names.
    pub(crate) is_shown: Vec<bool>,
}

/// An object that is stored.
#[derive(Debug, Default)]
pub(crate) struct StoredObject {
    /// The fields that the hub shows, by their names there; in a hidden object all fields, by their ids.
    pub(crate) fields: Named<StoredField>,
    /// The fields that the hub cannot show, by their ids.
    pub(crate) hidden: Vec<StoredField>,
    /// The hub keeps fields that it does not declare.
    pub(crate) keeps_unknown: bool,
    /// The hub does not show it: its fields are spelled by ids.
    pub(crate) is_hidden: bool,
    /// Fields that every version which keeps such fields has adopted: where they are stored as unknown ones, that was
    /// before there was a version that declares them.
    pub(crate) adopted: Named<StoredField>,
    /// Fields below may be there although nobody wrote the object.
    pub(crate) may_be_implied: bool,
}

/// A field of a stored object.
#[derive(Clone, Debug)]
pub(crate) struct StoredField {
    pub(crate) slot: usize,
    pub(crate) object: Option<usize>,
}

/// How a version shows the fields of a scope.
#[derive(Debug)]
pub(crate) struct View {
    /// The objects that it shows; the first is the scope's own.
    pub(crate) objects: Vec<ViewObject>,
    /// Whether the version can say the field of a slot.
    pub(crate) says: Vec<bool>,
    /// Fields of newer versions that go back to their defaults when this one is written through.
    pub(crate) resets: Vec<Reset>,
    /// Scopes that are stored as it shows them can be passed on, if there can be any.
    pub(crate) alike: Option<Alike>,
}

/// A view of a scope that may be stored as it is shown.
#[derive(Debug)]
pub(crate) struct Alike {
    /// Something may be filled in for readers.
    pub(crate) fills: bool,
    /// There are no lists and maps in it that have to be looked into.
    pub(crate) is_flat: bool,
}

/// A field that goes back to its default when a version that is older than it is written through.
#[derive(Debug)]
pub(crate) struct Reset {
    pub(crate) slot: usize,
    /// What the newest version that has it calls it.
    pub(crate) path: Box<str>,
    /// The write is refused instead, if that would change what is read.
    pub(crate) refuses: bool,
    /// The version that introduced the field, which reads it.
    pub(crate) reader: usize,
    /// The field at the root of the document that it is in: a write of the status leaves the spec alone.
    pub(crate) part: Option<Box<str>>,
}

/// An object that a version shows.
#[derive(Debug, Default)]
pub(crate) struct ViewObject {
    pub(crate) fields: Named<ViewField>,
    /// The version keeps fields that it does not declare.
    pub(crate) keeps_unknown: bool,
    pub(crate) union: Option<UnionPlan>,
}

/// A field that a version shows.
#[derive(Debug)]
pub(crate) struct ViewField {
    pub(crate) slot: usize,
    pub(crate) object: Option<usize>,
    pub(crate) nullable: bool,
    /// Of an object that may have to be shown although nobody wrote it, or that is shown only if something in it is: the
    /// fields below that it is shown for.
    pub(crate) implied_by: Vec<Implied>,
    /// Of an object: it may be there although no client wrote it.
    pub(crate) may_be_implied: bool,
    /// Of an object: `{}` is invalid here, so that it is shown only with something in it, or if a client wrote it empty.
    pub(crate) refuses_empty: bool,
    /// Of a list or map: what the version says of it, and of lists and maps right inside it.
    pub(crate) levels: Vec<Level>,
    /// Another version keeps the field without declaring it, so that its value may be anything: what this one cannot say of
    /// it, since pruning would take it away, is not shown.
    pub(crate) may_be_anything: bool,
    /// What readers see where the field is absent, as this version spells it.
    pub(crate) frozen: Option<Owned>,
    /// Something in it may be filled in for readers.
    pub(crate) fills_inside: bool,
    /// It is stored in the same object and under the same name. Of the fields in it, those are that are marked, too.
    pub(crate) is_alike: bool,
}

/// A field that the objects above it are shown for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Implied {
    pub(crate) slot: usize,
    pub(crate) nullable: bool,
    pub(crate) refuses_empty: bool,
}

/// What a version says of a list or map.
#[derive(Clone, Debug, Default)]
pub(crate) struct Level {
    /// It is a map, and no list.
    pub(crate) is_map: bool,
    /// Its items or values may be null. So they may where no version can say it: such a null is of the wrong type for
    /// everybody, and shown as any value of the wrong type.
    pub(crate) nullable: bool,
    /// The fields that tell its items apart.
    pub(crate) keys: Vec<Box<str>>,
    /// Without keys: hashes of the values that fields of its items have by default, sorted.
    pub(crate) defaults: Box<[u32]>,
}

impl Level {
    /// The keys and the defaults of the items of a list.
    pub(crate) fn identify(levels: &[Self]) -> (&[Box<str>], &[u32]) {
        levels.first().map_or((&[], &[]), |level| (&level.keys, &level.defaults))
    }
}

/// An object of which only one member is set at a time, seen by a version.
#[derive(Debug, Default)]
pub(crate) struct UnionPlan {
    /// The positions of the members that the version shows.
    pub(crate) members: Vec<usize>,
    /// The positions of the fields that say which member is set.
    pub(crate) discriminators: Vec<usize>,
    /// The slots of the members that the version cannot say.
    pub(crate) hidden: Vec<usize>,
}

impl Content {
    /// The scope that is in it, if there is one.
    pub(crate) fn scope(&self) -> Option<usize> {
        match self {
            Self::Scope(scope) => Some(*scope),
            Self::List(element) | Self::Map(element) => element.scope(),
            Self::Opaque | Self::Fields => None,
        }
    }

    /// A value with every scope in it replaced; values of other shapes are as they were.
    pub(crate) fn map<'a>(
        &self,
        value: Value<'a>,
        arena: &'a Arena,
        replace: &mut dyn FnMut(usize, &'a [Entry<'a>]) -> &'a [Entry<'a>],
    ) -> Value<'a> {
        match (self, value) {
            (Self::Scope(scope), Value::Object(entries)) => Value::Object(replace(*scope, entries)),
            (Self::List(element), Value::Array(items)) => {
                Value::Array(arena.slice_from(items.iter().map(|item| element.map(*item, arena, replace))))
            }
            (Self::Map(element), Value::Object(entries)) => Value::Object(arena.slice_from(
                entries.iter().map(|entry| Entry { key: entry.key, value: element.map(entry.value, arena, replace) }),
            )),
            (_, value) => value,
        }
    }
}
