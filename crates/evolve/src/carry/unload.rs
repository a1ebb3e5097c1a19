//! `unload`: what is stored at a hub as a document of the hub's version, and what that version cannot say.

use std::collections::HashMap;

use wheelwright_document::{Arena, Entry, Value};

use super::{
    Places,
    computed::{Computing, look},
    entry::{Beside, Body, Carried, ExtraSort, Leg, Place, Within},
    items::Items,
};
use crate::{
    Lenses,
    digest::stable_hash,
    lens::{
        get::{may_be_null, sayable, says, shows},
        matching::Looks,
        plan::{Content, Level, Scope, View, ViewField, ViewObject},
        same,
        state::{Slot, Slots},
    },
};

/// Makes the document, and collects what it cannot say.
pub(crate) struct Unload<'a> {
    lenses: &'a Lenses,
    places: &'a [Places],
    arena: &'a Arena,
    metadata: Option<Value<'a>>,
    /// The way to where it is.
    way: Vec<Leg<'a>>,
    pub(crate) found: Vec<Carried<'a>>,
}

/// A scope while it is read.
struct Reading<'s, 'a> {
    scope: &'a Scope,
    places: &'a Places,
    view: &'a View,
    /// What is shown, derived fields too.
    slots: &'s Slots<'a>,
    computing: &'s Computing<'a>,
    /// What the document shows of each field.
    shown: Vec<Option<Value<'a>>>,
}

impl<'a> Reading<'_, 'a> {
    /// What is around something that is not shown.
    fn place(&self, slot: usize, document: &'a [Entry<'a>]) -> Place<'a> {
        let unions = self.places.unions_of(self.scope, slot).filter_map(|union| {
            let shown = union.slot.map_or(Some(document), |slot| self.shown[slot]?.as_object())?;
            Some(union.beside(self.scope, self.view, shown)).filter(|beside| !beside.is_empty())
        });
        Place { within: self.within(slot), alone: self.is_alone(slot), beside: unions.collect() }
    }

    fn within(&self, slot: usize) -> Within<'a> {
        let mut path = self.places.path(self.scope, slot).enumerate();
        let Some((above, lowest)) = path.find(|(_, slot)| self.shown[*slot].is_some()) else {
            let is_own = self.places.path(self.scope, slot).next().is_none();
            return if is_own { Within::Nearest } else { Within::Nothing };
        };
        let id = &*self.scope.layout.texts[lowest];
        match self.shown[lowest] {
            Some(Value::Object(_)) if above == 0 => Within::Nearest,
            Some(Value::Object(_)) | None => Within::Object(id),
            Some(value) => Within::behind(id, value),
        }
    }

    /// Whether it has to be said by others that the objects are there which the version cannot say and a field is in.
    fn is_alone(&self, slot: usize) -> bool {
        let Some(parent) = self.hidden_parent(slot) else { return false };
        let is_there = matches!(self.slots.values[parent], Slot::Object(_));
        !is_there || self.scope.moved[slot] || self.is_alone(parent)
    }

    /// The object that a field is stored in, if the version does not show it: it does not have it, or sees nothing in it.
    fn hidden_parent(&self, slot: usize) -> Option<usize> {
        let is_shown = |slot: usize| self.shown[slot].is_some();
        self.places.parents[slot].filter(|parent| self.places.is_hidden(self.view, *parent, is_shown))
    }
}

impl<'a> Unload<'a> {
    pub(crate) fn new(lenses: &'a Lenses, places: &'a [Places], metadata: Option<Value<'a>>, arena: &'a Arena) -> Self {
        Self { lenses, places, arena, metadata, way: Vec::new(), found: Vec::new() }
    }

    pub(crate) fn scope(&mut self, scope_index: usize, stored: &'a [Entry<'a>]) -> &'a [Entry<'a>] {
        let scope = &self.lenses.scopes[scope_index];
        let Some(view) = &scope.views[self.lenses.hub().position()] else { return stored };
        let mut slots = Slots::default();
        self.lenses.load(scope_index, stored, &mut slots, self.arena);
        let places = &self.places[scope_index];
        let may_go_alone = |slot: usize| places.may_go_alone(scope, slot);
        let computing = Computing::of(self.lenses, scope, view, &mut slots, &may_go_alone, self.metadata, self.arena);
        let shown = vec![None; scope.slots.len()];
        let mut reading = Reading { scope, places, view, slots: &slots, computing: &computing, shown };
        let document = self.object(&mut reading, None, &view.objects[0]);
        self.unshown(&reading, document);
        self.computed(&reading);
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
        for (name, field) in object.fields.list.iter().filter(|(_, field)| shows(field, slots)) {
            let content = &scope.slots[field.slot].content;
            let value = match (says(field, slots), field.object) {
                (Slot::Value(value), _) if self.is_shown_in_part(view, content, field, value) => {
                    // What is carried of it is all of it, whatever is hidden in it.
                    let found = self.found.len();
                    let shown =
                        self.content(content, &field.levels, sayable(content, &field.levels, value, self.arena));
                    self.found.truncate(found);
                    let id = &*scope.layout.texts[field.slot];
                    self.push(Body::Whole { id, value, hash: stable_hash(shown) });
                    shown
                }
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
        for entry in slots.unknown(slot).iter().filter(|entry| object.shows_unknown(entry.key)) {
            entries.push(*entry);
        }
        self.arena.slice(&entries)
    }

    /// Whether a version shows less of a value than is stored, because pruning would take the rest away.
    fn is_shown_in_part(&self, view: &View, content: &'a Content, field: &'a ViewField, value: Value<'a>) -> bool {
        let is_pruned = field.object.is_some_and(|object| !view.objects[object].keeps_unknown);
        (field.may_be_anything || is_pruned) && !same(sayable(content, &field.levels, value, self.arena), value)
    }

    /// Collects what the document does not show.
    fn unshown(&mut self, reading: &Reading<'_, 'a>, document: &'a [Entry<'a>]) {
        let Reading { scope, view, slots, .. } = *reading;
        self.extras(reading, None, Some(&view.objects[0]), document);
        let mut hidden = Vec::new();
        let mut is_told_by_others = vec![false; scope.slots.len()];
        for slot in 0..scope.slots.len() {
            let id = &*scope.layout.texts[slot];
            let shown = reading.shown[slot];
            if let Slot::Object(extras) = slots.values[slot] {
                let field = reading.places.field(view, slot).filter(|_| shown.is_some());
                let object = field.and_then(|field| field.object).map(|object| &view.objects[object]);
                self.extras(reading, Some(slot), object, document);
                let is_shown = |slot: usize| reading.shown[slot].is_some();
                is_told_by_others[slot] |= extras.is_some() && reading.places.is_hidden(view, slot, is_shown);
            }
            if reading.computing.is_derived(slot) {
                continue;
            }
            if let Slot::Tombstone = slots.values[slot] {
                self.push(Body::Absent { id, place: Place { alone: false, ..reading.place(slot, document) } });
            }
            let value = match (slots.values[slot], shown) {
                (Slot::Absent | Slot::Tombstone, Some(_)) => {
                    self.push(Body::Implicit { id });
                    continue;
                }
                // An object is shown for what is in it, although it is null to those who can say that.
                (Slot::Value(value @ Value::Null), Some(Value::Object(_))) | (Slot::Value(value), None) => value,
                (Slot::Object(_), None) => Value::Object(&[]),
                (Slot::Absent | Slot::Tombstone, None) | (_, Some(_)) => continue,
            };
            let place = reading.place(slot, document);
            if let Some(parent) = reading.hidden_parent(slot)
                && !place.alone
            {
                is_told_by_others[parent] = true;
            }
            hidden.push((slot, Body::Field { id, value, place }));
        }
        for (slot, body) in hidden {
            if !(matches!(slots.values[slot], Slot::Object(_)) && is_told_by_others[slot]) {
                self.push(body);
            }
        }
    }

    /// Collects what is known of computed fields besides their values.
    fn computed(&mut self, reading: &Reading<'_, 'a>) {
        let Reading { scope, view, slots, computing, .. } = *reading;
        let texts = &scope.layout.texts;
        let mut shown = Vec::with_capacity(computing.derived.len());
        for slot in &computing.derived {
            if let Some(value) = reading.shown[*slot] {
                let is_object = matches!(slots.values[*slot], Slot::Object(_));
                let field = reading.places.field(view, *slot);
                let look = || look(self.lenses, scope, field?, value, self.arena).into();
                shown.push((&*texts[*slot], if is_object { None } else { look() }));
            }
        }
        let following: Vec<&str> = computing.following.iter().map(|at| &*scope.computed.derivations[*at].key).collect();
        if !(shown.is_empty() && following.is_empty()) {
            self.push(Body::Derived { shown, following });
        }
        computing.links(scope, slots).for_each(|link| self.push(Body::Link(link)));
    }

    /// Collects what an object holds besides fields and is not shown, if the object itself is.
    fn extras(
        &mut self,
        reading: &Reading<'_, 'a>,
        slot: Option<usize>,
        shown: Option<&ViewObject>,
        document: &'a [Entry<'a>],
    ) {
        let Some(extras) = reading.slots.extras(slot) else { return };
        let object = slot.map(|slot| &*reading.scope.layout.texts[slot]);
        let place = slot.map(|slot| reading.place(slot, document)).unwrap_or_default();
        let unknown = extras.unknown.iter().filter(|entry| !shown.is_some_and(|shown| shown.shows_unknown(entry.key)));
        let unknown = unknown.map(|entry| (ExtraSort::Unknown, entry));
        let strays = extras.strays.iter().map(|entry| (ExtraSort::Stray, entry));
        let foreign = extras.foreign.iter().map(|entry| (ExtraSort::Foreign, entry));
        for (sort, entry) in unknown.chain(strays).chain(foreign) {
            self.push(Body::Extra { object, sort, key: entry.key, value: entry.value, place: place.clone() });
        }
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
                    self.tell_items_apart(element, keys, items, &shown, first, depth);
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
        stored: &'a [Value<'a>],
        shown: &[Value<'a>],
        first: usize,
        depth: usize,
    ) {
        let filled = filled_items(self.lenses, element, shown, self.arena);
        let names: Vec<&str> = keys.iter().map(|key| &**key).collect();
        let hashes = hashes_of_items(&filled, &names);
        let legs = legs(&filled, &names, &hashes);
        for entry in &mut self.found[first..] {
            if let Some(Leg::Item { position, .. }) = entry.way.get(depth) {
                entry.way[depth] = legs[*position].clone();
            }
        }
        let looks = if names.is_empty() {
            let version = self.lenses.hub();
            Looks::without_keys(&filled, hashes, |item| {
                self.lenses.size_in_other_versions(version, element, stored[item], self.metadata, self.arena)
            })
        } else {
            Looks::with_keys(&filled, hashes)
        };
        self.push(Body::Items(Items { keys: names, looks }));
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

/// Hashes of items, or of their keys if they have some.
pub(crate) fn hashes_of_items(items: &[Value<'_>], keys: &[&str]) -> Vec<u64> {
    let hash = |item: &Value<'_>| match keys {
        [] => stable_hash(*item),
        keys => hash_of_keys(&key_fields(*item, keys)),
    };
    items.iter().map(hash).collect()
}

fn key_fields<'a>(item: Value<'a>, keys: &[&'a str]) -> Vec<(&'a str, Option<Value<'a>>)> {
    keys.iter().map(|key| (*key, item.get(key))).collect()
}

fn legs<'a>(items: &[Value<'a>], keys: &[&'a str], hashes: &[u64]) -> Vec<Leg<'a>> {
    let mut seen: HashMap<u64, usize> = HashMap::new();
    let legs = items.iter().zip(hashes).enumerate().map(|(position, (item, hash))| {
        let nth = count_up(seen.entry(*hash).or_default());
        match keys {
            [] => Leg::Item { position, hash: *hash, nth },
            keys => Leg::Keys { fields: key_fields(*item, keys), nth },
        }
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

impl super::UnionPlace {
    /// What is set in the union.
    pub(crate) fn beside<'a>(&self, scope: &'a Scope, view: &'a View, shown: &'a [Entry<'a>]) -> Beside<'a> {
        let object = &view.objects[self.object];
        let find = |name: &str| shown.iter().find(|entry| *entry.key == *name).map(|entry| entry.value);
        let name_of = |position: &usize| &*object.fields.list[*position].0;
        let members = object.union.iter().flat_map(|union| &union.members).map(name_of);
        let mut members: Vec<&str> = members.filter(|name| find(name).is_some()).collect();
        members.sort_unstable();
        let told = object.union.iter().flat_map(|union| &union.discriminators).map(name_of);
        let told = told.filter_map(|name| Some((name, find(name)?))).collect();
        Beside { union: self.slot.map(|slot| &*scope.layout.texts[slot]), members, told }
    }
}

impl ViewObject {
    /// Whether a field that nobody declares is shown.
    pub(crate) fn shows_unknown(&self, key: &str) -> bool {
        self.keeps_unknown && !self.fields.contains(key)
    }
}
