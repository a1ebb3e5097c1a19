//! What a scope holds: the slots, read from the stored form and written to it.

mod load;
mod store;

use wheelwright_document::{Arena, Entry, Value};

pub(crate) use self::store::store;
use super::{plan::Scope, record::Source, same::same};

/// The key of an object's bag.
pub(crate) const BAG: &str = "$bag";
/// In a bag: the object is there only to hold fields that another version has elsewhere.
const IMPLICIT: &str = "$implicit";
/// In a bag: a client wrote this object empty, although its version refuses `{}` in its place.
const EMPTY: &str = "$empty";
/// In a bag: fields that no version declares.
const UNKNOWN: &str = "$unknown";
/// In a bag: fields of the hub below something that is no object, so that they cannot stand in their places.
const BLOCKED: &str = "$blocked";
/// In a bag: stored fields that nobody understands and whose names the hub has for others.
const FOREIGN: &str = "$foreign";
/// In the bag of a scope: fields that are absent although they could be derived.
const ABSENT: &str = "$absent";
/// In the bag of a scope: fields that are absent although they could be converted.
const GONE: &str = "$gone";
/// In the bag of a scope: for facts that are stored in another spelling than the hub's, what the hub's was then.
const GUARD: &str = "$guard";
/// In the bag of a scope: digests of guards whose value is not needed. Releases that do not know them keep originals as they
/// are, and store a guard when they store another original, which takes precedence.
const DIGEST: &str = "$digest";
/// In the bag of a scope: the keys of lists that the hub has as maps, in the order of their items.
const ORDER: &str = "$order";
/// In the bag of a scope: what hooks keep.
const HOOK: &str = "$hook";
/// In a bag: what was in its place and is none.
const DAMAGED: &str = "$damaged";

/// What the slots of a scope hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slots<'a> {
    pub(crate) values: Vec<Slot<'a>>,
    /// What objects hold besides fields.
    extras: Vec<Extras<'a>>,
    /// The extras of the scope's own object.
    root: Option<usize>,
    /// Fields were found where they are not stored: they may be there although nobody has their objects.
    has_misplaced: bool,
    /// What other spellings were when originals were written, by the keys of links.
    pub(crate) guards: Vec<Entry<'a>>,
    /// Keys of lists that are stored as maps, in the order of the items, by the keys of links.
    orders: Vec<Entry<'a>>,
    /// Of what is stored: slots that are empty, although converting another spelling gives something.
    pub(crate) gone: Vec<usize>,
    /// Of what is stored: ids that nobody knows among those, and in which of the two lists they are.
    unknown_ids: Vec<(&'static str, Value<'a>)>,
    /// While it is read: the slots that are said to be empty, although something could be derived.
    absent: Vec<usize>,
    /// What hooks keep, by the keys of links.
    pub(crate) entries: Vec<Entry<'a>>,
    /// Slots of lists and maps whose parts are spelled by ids, although the hub has names for them.
    spelled_by_ids: Vec<usize>,
    /// Where computed slots come from, for those who listen.
    pub(crate) sources: Vec<(usize, Source)>,
}

/// What a slot holds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Slot<'a> {
    /// Nothing.
    #[default]
    Absent,
    /// A value, in stored form; of an object field, one that is no object.
    Value(Value<'a>),
    /// Of an object field: the object is there. Its extras, if it has any.
    Object(Option<usize>),
    /// Nothing, although something could be derived: somebody said so.
    Tombstone,
}

/// What an object holds besides the fields that some version declares.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extras<'a> {
    /// Fields that no version declares, kept for versions that keep such fields.
    pub(crate) unknown: Vec<Entry<'a>>,
    /// Entries of the bag that nobody understands, kept as they are.
    pub(crate) strays: Vec<Entry<'a>>,
    /// Stored fields that nobody understands, kept as they are: a newer release may have written them.
    pub(crate) foreign: Vec<Entry<'a>>,
}

impl Slot<'_> {
    pub(crate) fn is_absent(&self) -> bool {
        matches!(self, Self::Absent | Self::Tombstone)
    }
}

impl<'a> Slots<'a> {
    /// Where the value of a slot comes from, as far as it is known.
    pub(crate) fn source(&self, slot: usize) -> Source {
        self.sources.iter().find(|(known, _)| *known == slot).map_or(Source::Stored, |(_, source)| *source)
    }

    /// Makes room for a scope in which nothing is there.
    pub(crate) fn clear(&mut self, scope: &Scope) {
        self.values.clear();
        self.values.resize(scope.slots.len(), Slot::Absent);
        self.extras.clear();
        self.root = None;
        self.has_misplaced = false;
        self.spelled_by_ids.clear();
        self.guards.clear();
        self.orders.clear();
        self.entries.clear();
        self.sources.clear();
        self.gone.clear();
        self.unknown_ids.clear();
        self.absent.clear();
    }

    /// Whether anything is there besides fields.
    pub(crate) fn has_extras(&self) -> bool {
        !self.extras.is_empty()
    }

    /// Fields of the scope's own object (no slot) or of another that nobody declares.
    pub(crate) fn unknown(&self, slot: Option<usize>) -> &[Entry<'a>] {
        self.extras_of(slot).map_or(&[], |extras| &self.extras[extras].unknown)
    }

    /// Replaces them; what the object is stays.
    pub(crate) fn set_unknown(&mut self, slot: Option<usize>, unknown: Vec<Entry<'a>>) {
        if self.extras_of(slot).is_some() || !unknown.is_empty() {
            self.extras_mut(slot).unknown = unknown;
        }
    }

    /// What the scope's own object (no slot) or another holds besides fields.
    pub(crate) fn extras(&self, slot: Option<usize>) -> Option<&Extras<'a>> {
        self.extras_of(slot).map(|extras| &self.extras[extras])
    }

    /// The same, to be changed; an object that was not there is there then.
    pub(crate) fn extras_mut(&mut self, slot: Option<usize>) -> &mut Extras<'a> {
        let extras = self.extras_of(slot).unwrap_or_else(|| {
            self.extras.push(Extras::default());
            let extras = self.extras.len() - 1;
            match slot {
                None => self.root = Some(extras),
                Some(slot) => self.values[slot] = Slot::Object(Some(extras)),
            }
            extras
        });
        &mut self.extras[extras]
    }

    /// What the other spelling of a fact was when the original was written.
    pub(crate) fn guard(&self, key: &str) -> Option<Value<'a>> {
        value_of(&self.guards, key)
    }

    /// The number of facts whose original is stored: itself with a guard, or its order.
    pub(crate) fn guard_count(&self) -> usize {
        self.guards.len() + self.orders.len()
    }

    /// Whether any list is stored as a map with its order.
    pub(crate) fn has_orders(&self) -> bool {
        !self.orders.is_empty()
    }

    /// The keys of a list that is stored as a map, in the order of its items.
    pub(crate) fn order(&self, key: &str) -> Option<&'a [Value<'a>]> {
        value_of(&self.orders, key)?.as_array()
    }

    /// Replaces all orders but those of unknown links, which a newer release may have stored.
    pub(crate) fn set_orders(&mut self, orders: Vec<Entry<'a>>, is_known: impl Fn(&str) -> bool) {
        self.orders.retain(|entry| !is_known(entry.key));
        self.orders.extend(orders);
    }

    /// Replaces a digest by the guard itself.
    pub(crate) fn set_guard(&mut self, key: &str, guard: Value<'a>) {
        self.guards.iter_mut().filter(|entry| entry.key == key).for_each(|entry| entry.value = guard);
    }

    /// Replaces all guards but those that nobody knows.
    pub(crate) fn set_guards(&mut self, guards: Vec<Entry<'a>>, is_known: impl Fn(&str) -> bool) {
        self.guards.retain(|entry| !is_known(entry.key));
        match self.guards.is_empty() {
            true => self.guards = guards,
            false => self.guards.extend(guards),
        }
    }

    /// What a hook keeps.
    pub(crate) fn entry(&self, key: &str) -> Option<Value<'a>> {
        value_of(&self.entries, key)
    }

    /// Replaces what a hook keeps.
    pub(crate) fn set_entry(&mut self, key: &'a str, value: Option<Value<'a>>) {
        self.entries.retain(|entry| entry.key != key);
        self.entries.extend(value.map(|value| Entry { key, value }));
    }

    /// Whether a slot of others holds the same.
    pub(crate) fn is_same(&self, slot: usize, others: &Slots<'a>) -> bool {
        fn unknown<'s>(slots: &'s Slots<'_>, slot: usize) -> Value<'s> {
            Value::Object(slots.unknown(Some(slot)))
        }
        match (self.values[slot], others.values[slot]) {
            (Slot::Value(a), Slot::Value(b)) => same(a, b),
            (Slot::Object(a), Slot::Object(b)) => {
                let is_plain = |slots: &Slots<'a>, extras: Option<usize>| {
                    extras.is_none_or(|at| slots.extras[at].strays.is_empty() && slots.extras[at].foreign.is_empty())
                };
                is_plain(self, a) && is_plain(others, b) && same(unknown(self, slot), unknown(others, slot))
            }
            (a, b) => a.is_absent() && b.is_absent(),
        }
    }

    /// Takes over what a slot of others holds.
    pub(crate) fn copy(&mut self, slot: usize, others: &Slots<'a>) {
        self.values[slot] = others.values[slot];
        if let Slot::Object(Some(extras)) = self.values[slot] {
            self.extras.push(others.extras[extras].clone());
            self.values[slot] = Slot::Object(Some(self.extras.len() - 1));
        }
    }

    /// Says that an object is there.
    pub(crate) fn set_object(&mut self, slot: usize) {
        if !matches!(self.values[slot], Slot::Object(_)) {
            self.values[slot] = Slot::Object(None);
        }
    }

    /// Whether a client wrote an object empty through a version that refuses `{}` in its place.
    pub(crate) fn is_written_empty(&self, slot: usize) -> bool {
        let strays = self.extras(Some(slot)).map_or(&[][..], |extras| &extras.strays);
        strays.iter().any(|entry| entry.key == EMPTY)
    }

    /// Marks an object as written empty. The mark is an entry of the bag that is kept like any other, so that releases which
    /// do not know it pass it on, and goes with the object.
    pub(crate) fn mark_written_empty(&mut self, slot: usize) {
        if !self.is_written_empty(slot) {
            self.extras_mut(Some(slot)).strays.push(Entry { key: EMPTY, value: Value::Bool(true) });
        }
    }

    /// Empties a slot; whether there was anything.
    pub(crate) fn remove(&mut self, slot: usize) -> bool {
        !std::mem::take(&mut self.values[slot]).is_absent()
    }

    /// Empties the slots of what is stored below an object, as far as `goes` says so. Only what every version has in that
    /// object belongs to it, whatever the hub: a field that some version has elsewhere stays.
    pub(crate) fn remove_stored_below(&mut self, scope: &Scope, slot: usize, goes: &impl Fn(usize) -> bool) -> bool {
        let layout = &scope.layout;
        let Some(object) = layout.object_of[slot].map(|object| &layout.objects[object]) else { return false };
        let mut changed = false;
        for field in object.stored().filter(|field| !scope.moved[field.slot]) {
            changed |= goes(field.slot) && self.remove(field.slot);
            changed |= self.remove_stored_below(scope, field.slot, goes);
        }
        changed
    }

    fn extras_of(&self, slot: Option<usize>) -> Option<usize> {
        match slot {
            None => self.root,
            Some(slot) => match self.values[slot] {
                Slot::Object(extras) => extras,
                _ => None,
            },
        }
    }
}

/// Whether a guard is a digest.
pub(crate) fn is_digest(guard: Value<'_>) -> bool {
    matches!(guard, Value::String(_))
}

fn value_of<'a>(entries: &[Entry<'a>], key: &str) -> Option<Value<'a>> {
    entries.iter().find(|entry| entry.key == key).map(|entry| entry.value)
}

/// A customer's key as it is stored: what could be taken for a bag has one `$` more.
pub(crate) fn escaped<'a>(key: &'a str, arena: &'a Arena) -> &'a str {
    match is_like_bag(key) {
        true => arena.text(&format!("${key}")),
        false => key,
    }
}

/// `$bag`, `$$bag` and so on.
pub(crate) fn is_like_bag(key: &str) -> bool {
    key.starts_with('$') && key.trim_start_matches('$') == "bag"
}
