//! `unload`: what is stored at a hub as a document of the hub's version, and what that version cannot say.

use std::collections::HashMap;

use wheelwright_document::{Arena, Entry, Value};

use super::{
    Places,
    entry::{Anchor, Beside, Body, Carried, ExtraSort, Leg, Within, stable_hash},
};
use crate::{
    Lenses,
    lens::{
        get::{may_be_null, shows},
        plan::{Content, Level, Scope, View, ViewObject},
        state::{Slot, Slots},
    },
};

/// Makes the document, and collects what it cannot say.
pub(crate) struct Unload<'a> {
    lenses: &'a Lenses,
    places: &'a [Places],
    arena: &'a Arena,
    /// The way to where it is.
    way: Vec<Leg<'a>>,
    pub(crate) found: Vec<Carried<'a>>,
}

/// A scope while it is read.
struct Reading<'s, 'a> {
    scope: &'a Scope,
    places: &'a Places,
    view: &'a View,
    slots: &'s Slots<'a>,
    /// What the document shows of each field.
    shown: Vec<Option<Value<'a>>>,
}

impl<'a> Reading<'_, 'a> {
    /// What is shown above something that is not stored in what is shown.
    fn within(&self, slot: usize) -> Within<'a> {
        let mut above = std::iter::successors(self.places.parents[slot], |slot| self.places.parents[*slot]);
        match above.find_map(|slot| Some((&*self.scope.layout.texts[slot], self.shown[slot]?))) {
            None => Within::Nearest,
            Some((id, Value::Object(_))) => Within::Object(id),
            Some((id, _)) => Within::Behind(id),
        }
    }

    /// What becomes of something hidden when the object is gone that it is stored in.
    fn anchor_of(&self, slot: usize) -> Anchor {
        let Some(parent) = self.places.parents[slot] else { return Anchor::Object };
        match (self.slots.values[parent], self.shown[parent]) {
            (_, Some(Value::Object(_))) => Anchor::Object,
            (Slot::Object(_), None) if !self.view.says[parent] && self.anchor_of(parent) == Anchor::Object => {
                Anchor::Object
            }
            (Slot::Object(_), None) => Anchor::Unshown,
            _ => Anchor::Nothing,
        }
    }
}

impl<'a> Unload<'a> {
    pub(crate) fn new(lenses: &'a Lenses, places: &'a [Places], arena: &'a Arena) -> Self {
        Self { lenses, places, arena, way: Vec::new(), found: Vec::new() }
    }

    pub(crate) fn scope(&mut self, scope_index: usize, stored: &'a [Entry<'a>]) -> &'a [Entry<'a>] {
        let scope = &self.lenses.scopes[scope_index];
        let Some(view) = &scope.views[self.lenses.hub().position()] else { return stored };
        let mut slots = Slots::default();
        slots.load(scope, stored);
        let shown = vec![None; scope.slots.len()];
        let mut reading = Reading { scope, places: &self.places[scope_index], view, slots: &slots, shown };
        let document = self.object(&mut reading, None, &view.objects[0]);
        self.unshown(&reading, document);
        document
    }

    fn object(
        &mut self,
        reading: &mut Reading<'_, 'a>,
        slot: Option<usize>,
        object: &'a ViewObject,
    ) -> &'a [Entry<'a>] {
        let (scope, view, slots) = (reading.scope, reading.view, reading.slots);
        let mut entries = Vec::new();
        for (name, field) in object.fields.list.iter().filter(|(_, field)| shows(view, field, slots)) {
            let value = match (slots.values[field.slot], field.object) {
                (Slot::Value(value), None) => {
                    self.way.push(Leg::Field(&scope.layout.texts[field.slot]));
                    let value = self.content(&scope.slots[field.slot].content, &field.levels, value);
                    self.way.pop();
                    value
                }
                (Slot::Value(value), Some(_)) => value,
                (_, below) => {
                    let below = &view.objects[below.unwrap_or_default()];
                    Value::Object(self.object(reading, Some(field.slot), below))
                }
            };
            reading.shown[field.slot] = Some(value);
            entries.push(Entry { key: name, value });
        }
        let extras = slots.extras(slot);
        for entry in extras.map_or(&[][..], |extras| &extras.unknown) {
            if object.keeps_unknown && !object.fields.contains(entry.key) {
                entries.push(*entry);
            } else {
                self.extra(reading, slot, ExtraSort::Unknown, entry);
            }
        }
        self.arena.slice(&entries)
    }

    /// Collects what the document does not show.
    fn unshown(&mut self, reading: &Reading<'_, 'a>, document: &'a [Entry<'a>]) {
        let Reading { scope, view, slots, .. } = *reading;
        self.extras(reading, None);
        let mut hidden = Vec::new();
        let mut is_told_by_others = vec![false; scope.slots.len()];
        for slot in 0..scope.slots.len() {
            let id = &*scope.layout.texts[slot];
            let value = match (slots.values[slot], reading.shown[slot]) {
                (Slot::Absent, Some(_)) => {
                    self.push(Body::Implicit { id });
                    continue;
                }
                (Slot::Object(_), Some(_)) => {
                    self.extras(reading, Some(slot));
                    continue;
                }
                (Slot::Absent, None) | (Slot::Value(_), Some(_)) => continue,
                (Slot::Value(value), None) => value,
                (Slot::Object(extras), None) => {
                    self.extras(reading, Some(slot));
                    is_told_by_others[slot] |= extras.is_some() && reading.anchor_of(slot) == Anchor::Object;
                    Value::Object(&[])
                }
            };
            let anchor = reading.anchor_of(slot);
            if let Some(parent) = reading.places.parents[slot]
                && anchor == Anchor::Object
            {
                is_told_by_others[parent] = true;
            }
            let beside = reading.places.union_of(slot).map(|union| {
                let object = union.slot.map_or(Some(document), |slot| reading.shown[slot]?.as_object());
                union.beside(view, object.unwrap_or_default())
            });
            let beside = beside.unwrap_or_default();
            let within = if anchor == Anchor::Object { Within::Nearest } else { reading.within(slot) };
            hidden.push((slot, Body::Field { id, value, anchor, within, beside }));
        }
        for (slot, body) in hidden {
            if !(matches!(slots.values[slot], Slot::Object(_)) && is_told_by_others[slot]) {
                self.push(body);
            }
        }
    }

    /// Collects what an object holds besides fields.
    fn extras(&mut self, reading: &Reading<'_, 'a>, slot: Option<usize>) {
        let Some(extras) = reading.slots.extras(slot) else { return };
        // Of an object that is shown, the unknown fields are done.
        if slot.is_some_and(|slot| reading.shown[slot].is_none()) {
            for entry in &extras.unknown {
                self.extra(reading, slot, ExtraSort::Unknown, entry);
            }
        }
        for (sort, entries) in [(ExtraSort::Stray, &extras.strays), (ExtraSort::Foreign, &extras.foreign)] {
            for entry in entries {
                self.extra(reading, slot, sort, entry);
            }
        }
    }

    fn extra(&mut self, reading: &Reading<'_, 'a>, slot: Option<usize>, sort: ExtraSort, entry: &Entry<'a>) {
        let object = slot.map(|slot| &*reading.scope.layout.texts[slot]);
        self.push(Body::Extra { object, sort, key: entry.key, value: entry.value });
    }

    fn push(&mut self, body: Body<'a>) {
        self.found.push(Carried { way: self.way.clone(), body });
    }

    /// A stored value of some content, as the document shows it.
    fn content(&mut self, content: &'a Content, levels: &'a [Level], value: Value<'a>) -> Value<'a> {
        let below = levels.get(1..).unwrap_or_default();
        match (content, value) {
            (Content::List(element), Value::Array(items)) => {
                let first = self.found.len();
                let depth = self.way.len();
                let mut shown = Vec::with_capacity(items.len());
                for (position, item) in items.iter().enumerate() {
                    self.way.push(Leg::Item { position, hash: 0, nth: 0 });
                    shown.push(self.content(element, below, *item));
                    self.way.pop();
                }
                if self.found.len() > first {
                    let keys = levels.first().map_or(&[][..], |level| &level.keys);
                    self.tell_items_apart(element, keys, &shown, first, depth);
                }
                Value::Array(self.arena.slice(&shown))
            }
            (Content::Map(element), Value::Object(values)) => {
                let mut shown = Vec::with_capacity(values.len());
                for Entry { key, value } in values {
                    self.way.push(Leg::Name(key));
                    if value.is_null() && !may_be_null(levels) {
                        self.push(Body::Null);
                    } else {
                        shown.push(Entry { key, value: self.content(element, below, *value) });
                    }
                    self.way.pop();
                }
                Value::Object(self.arena.slice(&shown))
            }
            (Content::Scope(scope), Value::Object(stored)) => Value::Object(self.scope(*scope, stored)),
            (_, value) => value,
        }
    }

    /// Replaces the positions of items on the way to what was found since `first` by what tells the items apart.
    fn tell_items_apart(
        &mut self,
        element: &'a Content,
        keys: &'a [Box<str>],
        shown: &[Value<'a>],
        first: usize,
        depth: usize,
    ) {
        let filled = filled_items(self.lenses, element, shown, self.arena);
        let legs = if keys.is_empty() { legs_by_look(&filled) } else { legs_by_keys(&filled, keys) };
        for entry in &mut self.found[first..] {
            if let Some(Leg::Item { position, .. }) = entry.way.get(depth) {
                entry.way[depth] = legs[*position].clone();
            }
        }
        if keys.is_empty() {
            let hashes = legs.iter().map(|leg| if let Leg::Item { hash, .. } = leg { *hash } else { 0 });
            self.push(Body::Items(hashes.collect()));
        }
    }
}

/// Items of a list with their frozen defaults, so that those who fill them in do not make others of them.
pub(crate) fn filled_items<'a>(
    lenses: &'a Lenses,
    element: &'a Content,
    items: &[Value<'a>],
    arena: &'a Arena,
) -> Vec<Value<'a>> {
    items.iter().map(|item| lenses.fill_content(lenses.hub(), element, *item, arena)).collect()
}

fn legs_by_look<'a>(items: &[Value<'a>]) -> Vec<Leg<'a>> {
    let mut seen: HashMap<u64, usize> = HashMap::new();
    let legs = items.iter().enumerate().map(|(position, item)| {
        let hash = stable_hash(*item);
        Leg::Item { position, hash, nth: count_up(seen.entry(hash).or_default()) }
    });
    legs.collect()
}

fn legs_by_keys<'a>(items: &[Value<'a>], keys: &'a [Box<str>]) -> Vec<Leg<'a>> {
    let mut seen: HashMap<u64, usize> = HashMap::new();
    let legs = items.iter().map(|item| {
        let fields: Vec<(&str, Option<Value<'a>>)> = keys.iter().map(|key| (&**key, item.get(key))).collect();
        let nth = count_up(seen.entry(hash_of_keys(&fields)).or_default());
        Leg::Keys { fields, nth }
    });
    legs.collect()
}

/// A hash of the values of key fields.
pub(crate) fn hash_of_keys(fields: &[(&str, Option<Value<'_>>)]) -> u64 {
    fields.iter().fold(0, |sum: u64, (_, value)| sum.rotate_left(7) ^ value.map_or(1, stable_hash))
}

fn count_up(count: &mut usize) -> usize {
    *count += 1;
    *count - 1
}

impl<'a> super::UnionPlace {
    /// What is set beside the hidden members.
    pub(crate) fn beside(&self, view: &'a View, shown: &'a [Entry<'a>]) -> Beside<'a> {
        let object = &view.objects[self.object];
        let Some(union) = &object.union else { return Beside::default() };
        let find = |name: &str| shown.iter().find(|entry| *entry.key == *name).map(|entry| entry.value);
        let name_of = |position: &usize| &*object.fields.list[*position].0;
        let mut members: Vec<&str> = union.members.iter().map(name_of).filter(|name| find(name).is_some()).collect();
        members.sort_unstable();
        Beside { members, discriminator: union.discriminators.first().and_then(|position| find(name_of(position))) }
    }
}
