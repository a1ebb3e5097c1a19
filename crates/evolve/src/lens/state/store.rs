//! Writing slots as they are stored.

use wheelwright_document::{Arena, Entry, Value};

use super::{
    ABSENT, BAG, BLOCKED, DIGEST, FOREIGN, GONE, GUARD, HOOK, IMPLICIT, ORDER, Slot, Slots, UNKNOWN, escaped, is_digest,
};
use crate::lens::plan::{Layout, Scope, StoredField, StoredObject};

/// Writes the stored form of a scope.
pub(crate) fn store<'a>(scope: &'a Scope, slots: &Slots<'a>, arena: &'a Arena) -> &'a [Entry<'a>] {
    let room = scope.slots.len().min(64);
    let mut store =
        Store { layout: &scope.layout, slots, arena, entries: Vec::with_capacity(room), blocked: Vec::new() };
    store.object(&scope.layout.objects[0], slots.root, false)
}

struct Store<'s, 'a> {
    layout: &'a Layout,
    slots: &'s Slots<'a>,
    arena: &'a Arena,
    /// Entries of the objects that are open; each takes its own from the end when it closes.
    entries: Vec<Entry<'a>>,
    /// Fields whose object has a value that is none, and which therefore go into the bag of the object above.
    blocked: Vec<StoredField>,
}

impl<'a> Store<'_, 'a> {
    fn object(&mut self, object: &'a StoredObject, extras: Option<usize>, implicit: bool) -> &'a [Entry<'a>] {
        let mark = self.entries.len();
        let blocked = self.blocked.len();
        for (key, field) in &object.fields.list {
            self.field(key, field);
        }
        let slots = self.slots;
        let extras = extras.map(|extras| &slots.extras[extras]);
        if let Some(extras) = extras {
            self.entries.extend(extras.foreign.iter().filter(|entry| object.leaves_to_others(entry.key)));
            for entry in extras.unknown.iter().filter(|entry| object.keeps(entry.key, self.arena)) {
                self.entries.push(Entry { key: escaped(entry.key, self.arena), value: entry.value });
            }
        }
        let bag = self.entries.len();
        for field in &object.hidden {
            self.field(&self.layout.texts[field.slot], field);
        }
        let in_the_way = self.entries.len();
        while self.blocked.len() > blocked {
            if let Some(field) = self.blocked.pop() {
                self.field(&self.layout.texts[field.slot], &field);
            }
        }
        if self.entries.len() > in_the_way {
            let value = Value::Object(self.arena.slice(&self.entries[in_the_way..]));
            self.entries.truncate(in_the_way);
            self.entries.push(Entry { key: BLOCKED, value });
        }
        if let Some(extras) = extras {
            self.entries.extend_from_slice(&extras.strays);
            let foreign: Vec<_> =
                extras.foreign.iter().filter(|entry| !object.leaves_to_others(entry.key)).copied().collect();
            if !foreign.is_empty() {
                self.entries.push(Entry { key: FOREIGN, value: Value::Object(self.arena.slice(&foreign)) });
            }
            let hidden = extras.unknown.iter().filter(|entry| !object.keeps(entry.key, self.arena));
            let hidden: Vec<_> = hidden.copied().collect();
            if !hidden.is_empty() {
                self.entries.push(Entry { key: UNKNOWN, value: Value::Object(self.arena.slice(&hidden)) });
            }
        }
        if std::ptr::eq(object, &self.layout.objects[0]) {
            self.computed();
        }
        if implicit {
            self.entries.push(Entry { key: IMPLICIT, value: Value::Bool(true) });
        }
        if self.entries.len() > bag {
            let value = Value::Object(self.arena.slice(&self.entries[bag..]));
            self.entries.truncate(bag);
            self.entries.push(Entry { key: BAG, value });
        }
        let result = self.arena.slice(&self.entries[mark..]);
        self.entries.truncate(mark);
        result
    }

    /// What is known of computed fields besides their values.
    fn computed(&mut self) {
        let (digests, guards): (Vec<_>, Vec<_>) = self.slots.guards.iter().partition(|guard| is_digest(guard.value));
        let (orders, kept) = (&self.slots.orders[..], &self.slots.entries[..]);
        for (key, entries) in [(GUARD, &guards[..]), (DIGEST, &digests), (ORDER, orders), (HOOK, kept)] {
            if !entries.is_empty() {
                self.entries.push(Entry { key, value: Value::Object(self.arena.slice(entries)) });
            }
        }
        let slots = self.slots.values.iter().enumerate();
        let absent = slots.filter(|(_, value)| matches!(value, Slot::Tombstone)).map(|(slot, _)| slot);
        let absent: Vec<usize> = absent.collect();
        for (key, slots) in [(ABSENT, &absent), (GONE, &self.slots.gone)] {
            let unknown = self.slots.unknown_ids.iter().filter(|(of, _)| *of == key).map(|(_, id)| *id);
            let ids = slots.iter().map(|slot| Value::string(&self.layout.texts[*slot])).chain(unknown);
            let ids: Vec<_> = ids.collect();
            if !ids.is_empty() {
                self.entries.push(Entry { key, value: Value::Array(self.arena.slice(&ids)) });
            }
        }
    }

    fn field(&mut self, key: &'a str, field: &StoredField) {
        let object = field.object.map(|object| &self.layout.objects[object]);
        let value = match (self.slots.values[field.slot], object) {
            (Slot::Value(value), object) => {
                if let Some(object) = object.filter(|object| object.may_be_implied) {
                    self.block(object);
                }
                value
            }
            (Slot::Object(extras), Some(object)) => Value::Object(self.object(object, extras, false)),
            (Slot::Absent | Slot::Tombstone, Some(object))
                if (object.may_be_implied || self.slots.has_misplaced) && self.holds_any(object) =>
            {
                Value::Object(self.object(object, None, true))
            }
            _ => return,
        };
        self.entries.push(Entry { key, value });
    }

    /// Whether anything below an object that nobody wrote is there.
    fn holds_any(&self, object: &StoredObject) -> bool {
        object.stored().any(|field| {
            !self.slots.values[field.slot].is_absent()
                || field.object.is_some_and(|object| self.holds_any(&self.layout.objects[object]))
        })
    }

    /// Remembers what is there below an object in whose place there is something else.
    fn block(&mut self, object: &StoredObject) {
        for field in object.stored() {
            match (self.slots.values[field.slot], field.object) {
                (Slot::Absent | Slot::Tombstone, Some(object)) => self.block(&self.layout.objects[object]),
                (Slot::Absent | Slot::Tombstone, None) => {}
                _ => self.blocked.push(field.clone()),
            }
        }
    }
}

impl StoredObject {
    /// Whether a field that no version declared is stored among the others: not where the hub declares its name.
    fn keeps(&self, key: &str, arena: &Arena) -> bool {
        self.keeps_unknown && !self.fields.contains(escaped(key, arena))
    }

    /// Whether a name among the fields means nothing here, so that what nobody understands can stand there.
    fn leaves_to_others(&self, key: &str) -> bool {
        !self.is_hidden && !self.keeps_unknown && !self.fields.contains(key)
    }

    /// All fields that are stored in it.
    pub(crate) fn stored(&self) -> impl Iterator<Item = &StoredField> {
        self.fields.list.iter().map(|(_, field)| field).chain(&self.hidden)
    }
}
