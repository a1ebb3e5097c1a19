//! What is written in a case, and schemes for what chance meets too rarely in large kinds.

use wheelwright_document::{Arena, Entry, Value};

use super::{Generator, law::Hubs};
use crate::{FieldId, VersionIndex};

/// A write that is to be made: through which version, by its position among those that are declared, and what.
#[derive(Clone, Copy)]
pub(super) struct Plan {
    pub(super) writer: usize,
    pub(super) make: Make,
}

/// What is written.
#[derive(Clone, Copy)]
pub(super) enum Make {
    /// A document of its own.
    New,
    /// A document that has this node of the version's schema.
    Reach(usize),
    /// What the version shows, edited as a client would.
    Edit,
    /// What the version shows, with an empty item at the front of every list of objects.
    Prepend,
}

/// Writes that meet what chance meets too rarely in large kinds.
#[derive(Default)]
pub(super) struct Schemes {
    /// A field of an item is written, and then another version, which cannot see it, moves the item.
    pub(super) reorders: Vec<[Plan; 2]>,
    /// A member of a union is written, and then another version, which cannot see it, sets another member.
    pub(super) switches: Vec<[Plan; 2]>,
    /// A fact is written in one spelling, and then another version, which has another, edits what it shows.
    pub(super) respellings: Vec<[Plan; 2]>,
}

impl Schemes {
    pub(super) fn of(hubs: &Hubs<'_>, versions: &[(VersionIndex, Generator, Vec<bool>)]) -> Self {
        let history = hubs.kind.history();
        let reach = |id: FieldId, version: VersionIndex| {
            let writer = versions.iter().position(|(candidate, ..)| *candidate == version)?;
            let path = history.version(version).path_of(id)?;
            let node = versions[writer].1.nodes().position(|selector| *selector == path)?;
            Some(Plan { writer, make: Make::Reach(node) })
        };
        let by_any = |id: FieldId| history.indexes().find_map(|version| reach(id, version));
        let writer_of = |version: VersionIndex| versions.iter().position(|(candidate, ..)| *candidate == version);
        let Some(lenses) = hubs.lenses.first() else { return Self::default() };
        let reorders = lenses.hidden_in_items().into_iter().filter_map(|(hidden, version)| {
            Some([by_any(hidden)?, Plan { writer: writer_of(version)?, make: Make::Prepend }])
        });
        let switches = lenses
            .hidden_members()
            .into_iter()
            .filter_map(|(hidden, version, member)| Some([by_any(hidden)?, reach(member, version)?]));
        let respellings = lenses.facts_in_two_spellings().into_iter().filter_map(|(id, version, other)| {
            Some([reach(id, version)?, Plan { writer: writer_of(other)?, make: Make::Edit }])
        });
        Self { reorders: reorders.collect(), switches: switches.collect(), respellings: respellings.collect() }
    }
}

/// A document with an empty item at the front of every list of objects.
pub(super) fn with_items_prepended<'a>(document: Value<'a>, arena: &'a Arena) -> Value<'a> {
    match document {
        Value::Array(items) => {
            let below = items.iter().map(|item| with_items_prepended(*item, arena));
            let holds_objects = items.iter().any(|item| item.as_object().is_some());
            let front = holds_objects.then_some(Value::Object(&[]));
            Value::Array(arena.slice(&front.into_iter().chain(below).collect::<Vec<_>>()))
        }
        Value::Object(entries) => Value::Object(arena.slice_from(
            entries.iter().map(|entry| Entry { key: entry.key, value: with_items_prepended(entry.value, arena) }),
        )),
        scalar => scalar,
    }
}
