//! Counting what a kind can hide, and what a document hides: what the laws have to have met.

use wheelwright_document::{Arena, Entry, Value};

use super::{
    Lenses,
    computed::SidePlan,
    plan::{Content, Scope},
    put::Put,
    state::{BAG, Slots},
};
use crate::{Conversion, FieldId, Part, VersionIndex};

/// What happened in a write.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Tally {
    /// Lists in which an item with hidden data got another position.
    pub(crate) reorders: usize,
    /// Unions that were switched away from a member that the version cannot say.
    pub(crate) switches: usize,
}

impl Lenses {
    /// As [`put`](Self::put) of a whole document, counting.
    pub(crate) fn put_counting<'a>(
        &'a self,
        version: VersionIndex,
        document: Value<'a>,
        old: Option<Value<'a>>,
        arena: &'a Arena,
    ) -> (Value<'a>, Tally) {
        let mut put = Put::new(self, version, arena, Some(Tally::default()));
        let stored = self.put_with(&mut put, document, old, Part::Whole);
        (stored, put.tally.unwrap_or_default())
    }

    /// Whether a version shows a field, declared or not.
    pub(crate) fn says(&self, version: VersionIndex, id: FieldId) -> bool {
        self.scopes.iter().any(|scope| {
            let slot = scope.slots.iter().position(|slot| slot.id == id);
            slot.is_some_and(|slot| scope.views[version.position()].as_ref().is_some_and(|view| view.says[slot]))
        })
    }

    /// The fields that tell the items of a list apart when a version is written through.
    pub(crate) fn keys(&self, version: VersionIndex, list: FieldId) -> &[Box<str>] {
        let views = self.scopes.iter().filter_map(|scope| Some((scope, scope.views[version.position()].as_ref()?)));
        let mut fields = views.flat_map(|(scope, view)| {
            let fields = view.objects.iter().flat_map(|object| &object.fields.list);
            fields.map(|(_, field)| (scope.slots[field.slot].id, field))
        });
        let found = fields.find(|(id, _)| *id == list).and_then(|(_, field)| field.levels.first());
        found.map_or(&[], |level| &level.keys)
    }

    /// Whether a version shows a field, or another spelling of the same fact.
    pub(crate) fn says_in_any_spelling(&self, version: VersionIndex, id: FieldId) -> bool {
        let mut spellings = vec![id];
        let mut next = 0;
        while let Some(id) = spellings.get(next).copied() {
            let linked = self.scopes.iter().flat_map(|scope| {
                let ids = |side: &SidePlan| -> Vec<FieldId> {
                    side.fields.iter().flat_map(|field| &field.slots).map(|slot| scope.slots[*slot].id).collect()
                };
                scope.computed.links.iter().map(move |link| [ids(&link.from), ids(&link.to)].concat())
            });
            for spelling in linked.filter(|ids| ids.contains(&id)).flatten() {
                if !spellings.contains(&spelling) {
                    spellings.push(spelling);
                }
            }
            next += 1;
        }
        spellings.into_iter().any(|id| self.says(version, id))
    }

    /// Whether a field may be derived, or is the other spelling of one that may.
    pub(crate) fn may_be_derived(&self, id: FieldId) -> bool {
        let is_derivable = |scope: &Scope| scope.computed.derivable.iter().any(|slot| scope.slots[*slot].id == id);
        self.scopes.iter().any(is_derivable)
    }

    /// Whether a field may be derived as a constant, which is shown only where its object is.
    pub(crate) fn may_be_constant(&self, id: FieldId) -> bool {
        let is_constant = |scope: &Scope| {
            let mut derivations = scope.computed.derivations.iter();
            derivations.any(|plan| plan.only_in.is_some() && scope.slots[plan.field.slot].id == id)
        };
        self.scopes.iter().any(is_constant)
    }

    /// Whether a derived field outside of lists and maps is stored, rather than shown.
    pub(crate) fn holds<'a>(&'a self, stored: Value<'a>, id: FieldId, arena: &'a Arena) -> bool {
        let (Value::Object(entries), Some(scope)) = (stored, self.scopes.first()) else { return false };
        let mut targets = scope.computed.derivations.iter().map(|plan| plan.field.slot);
        let Some(slot) = targets.find(|slot| scope.slots[*slot].id == id) else { return false };
        let (_, inside) = self.split(entries, arena);
        let mut slots = Slots::default();
        self.load(0, inside, &mut slots, arena);
        !slots.values[slot].is_absent()
    }

    /// The fields of facts in two spellings, each with its version and with the one of the other spelling.
    pub(crate) fn facts_in_two_spellings(&self) -> Vec<(FieldId, VersionIndex, VersionIndex)> {
        let links = self.scopes.iter().flat_map(|scope| scope.computed.links.iter().map(move |link| (scope, link)));
        let fields = links.flat_map(|(scope, link)| {
            let sides = [(&link.from, &link.to), (&link.to, &link.from)];
            sides.into_iter().flat_map(move |(side, other)| {
                side.fields.iter().map(move |field| (scope.slots[field.slot].id, side.version, other.version))
            })
        });
        fields.collect()
    }

    /// Whether there is anything that this hub cannot hold.
    pub(crate) fn may_have_bags(&self) -> bool {
        let hub = self.hub.position();
        self.scopes.iter().any(|scope| match &scope.views[hub] {
            Some(view) => view.says.contains(&false),
            None => false,
        })
    }

    /// Fields of items of lists, each with a version that has the list and cannot say the field.
    pub(crate) fn hidden_in_items(&self) -> Vec<(FieldId, VersionIndex)> {
        let lists = self.scopes.iter().flat_map(|scope| &scope.slots).filter_map(|slot| item_scope(&slot.content));
        let hidden = lists.flat_map(|scope| {
            let scope = &self.scopes[scope];
            let views = scope.views.iter().enumerate().filter_map(|(at, view)| Some((at, view.as_ref()?)));
            views.flat_map(|(version, view)| {
                let hidden = scope.slots.iter().zip(&view.says).filter(|(_, says)| !**says);
                hidden.map(move |(slot, _)| (slot.id, VersionIndex(version as u32)))
            })
        });
        hidden.collect()
    }

    /// Members of unions, each with a version that cannot say it and a member that this version can say.
    pub(crate) fn hidden_members(&self) -> Vec<(FieldId, VersionIndex, FieldId)> {
        let mut found = Vec::new();
        for scope in &self.scopes {
            for (version, view) in scope.views.iter().enumerate() {
                for object in view.iter().flat_map(|view| &view.objects) {
                    let Some(union) = &object.union else { continue };
                    for (hidden, member) in
                        union.hidden.iter().flat_map(|hidden| union.members.iter().map(move |member| (hidden, member)))
                    {
                        let member = scope.slots[object.fields.list[*member].1.slot].id;
                        found.push((scope.slots[*hidden].id, VersionIndex(version as u32), member));
                    }
                }
            }
        }
        found
    }

    /// How many entries the bags of a stored document have.
    pub fn bag_entries(&self, stored: Value<'_>) -> usize {
        self.count(stored, &|scope, stored, _| entries_of_bags(scope, 0, stored))
    }

    /// How many facts of a stored document are kept as they were written, each with what the hub's spelling was then.
    pub(crate) fn guards(&self, stored: Value<'_>) -> usize {
        self.count(stored, &|_, _, slots| slots.guard_count())
    }

    /// Whether writes may leave something that converting back would not give. What expressions and hooks do nobody knows.
    pub(crate) fn may_have_guards(&self) -> bool {
        use Conversion::{
            Clamped, Document, DurationSeconds, Entries, Folded, Joined, KeyedList, OneItem, Quantity, Template, Text,
        };
        self.computations.links.iter().any(|link| {
            matches!(
                link.respelled.with.item,
                DurationSeconds
                    | Quantity
                    | Text
                    | Joined(_)
                    | OneItem
                    | Document(_)
                    | Clamped(_)
                    | Template { .. }
                    | KeyedList { .. }
                    | Entries(_)
                    | Folded(_)
            )
        })
    }

    /// Looks at what every scope of a stored document holds.
    pub(crate) fn walk_scopes(&self, stored: Value<'_>, see: &dyn Fn(&Scope, &Slots<'_>)) {
        self.count(stored, &|scope, _, slots| {
            see(scope, slots);
            0
        });
    }

    fn count(&self, stored: Value<'_>, count: &CountOfScope<'_>) -> usize {
        let arena = Arena::new();
        let Value::Object(entries) = stored else { return 0 };
        let (_, inside) = self.split(entries, &arena);
        self.count_in_scope(0, inside, count)
    }

    /// Whether an item that is matched with one at another position has data that the version cannot say.
    pub(crate) fn hides_in_moved(
        &self,
        version: VersionIndex,
        element: &Content,
        matched: &[Option<usize>],
        stored: &[Value<'_>],
    ) -> bool {
        let Content::Scope(scope) = element else { return false };
        let scope = &self.scopes[*scope];
        let Some(view) = &scope.views[version.position()] else { return false };
        let mut moved = matched.iter().enumerate().filter(|(new, old)| old.is_some_and(|old| old != *new));
        moved.any(|(_, old)| {
            let Some(Value::Object(entries)) = old.and_then(|old| stored.get(old)) else { return false };
            let mut slots = Slots::default();
            slots.load(scope, entries);
            slots.values.iter().zip(&view.says).any(|(value, says)| !says && !value.is_absent())
        })
    }

    fn count_in_scope(&self, scope: usize, stored: &[Entry<'_>], count: &CountOfScope<'_>) -> usize {
        let scope = &self.scopes[scope];
        let mut slots = Slots::default();
        slots.load(scope, stored);
        let below = slots.values.iter().zip(&scope.slots).map(|(value, plan)| match value {
            super::state::Slot::Value(value) => self.count_in_content(&plan.content, *value, count),
            _ => 0,
        });
        below.sum::<usize>() + count(scope, stored, &slots)
    }

    fn count_in_content(&self, content: &Content, value: Value<'_>, count: &CountOfScope<'_>) -> usize {
        match (content, value) {
            (Content::Scope(scope), Value::Object(entries)) => self.count_in_scope(*scope, entries, count),
            (Content::List(element), Value::Array(items)) => {
                items.iter().map(|item| self.count_in_content(element, *item, count)).sum()
            }
            (Content::Map(element), Value::Object(entries)) => {
                entries.iter().map(|entry| self.count_in_content(element, entry.value, count)).sum()
            }
            _ => 0,
        }
    }
}

/// What there is in a stored scope, but not in those inside it.
type CountOfScope<'c> = dyn Fn(&Scope, &[Entry<'_>], &Slots<'_>) -> usize + 'c;

/// How many entries the bags of an object and of those stored in it have, within a scope.
fn entries_of_bags(scope: &Scope, object: usize, stored: &[Entry<'_>]) -> usize {
    let object = &scope.layout.objects[object];
    let mut cursor = 0;
    stored
        .iter()
        .map(|entry| match (object.fields.position(entry.key, &mut cursor), entry.value) {
            (Some(position), Value::Object(below)) => {
                object.fields.list[position].1.object.map_or(0, |object| entries_of_bags(scope, object, below))
            }
            (None, Value::Object(bag)) if entry.key == BAG => bag.len(),
            _ => 0,
        })
        .sum()
}

/// The scope of the items of a list, at whatever level.
fn item_scope(content: &Content) -> Option<usize> {
    match content {
        Content::List(element) => match &**element {
            Content::Scope(scope) => Some(*scope),
            element => item_scope(element),
        },
        Content::Map(element) => item_scope(element),
        _ => None,
    }
}
