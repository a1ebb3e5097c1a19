//! Maps and what holds the same under other keys: lists of objects with a key, sibling fields, maps with other keys.

use std::collections::{HashMap, HashSet};

use wheelwright_document::{Arena, Entry, Value};
use wheelwright_schema::Problem;

use super::{
    Failed, Side,
    fit::{Fit, wrong_type},
    parts::with_unsaid,
    scalar::{read, spelled},
    unfit,
};
use crate::{
    Direction, NodeIndex, Respelled, Scalar, Shape, Structure,
    digest::stable_hash,
    lens::{by_key, equal, find},
};

/// The most bytes of a key that the order of a list contains as it is: longer ones would double what is stored of items that
/// have little else.
const LONGEST_KEY: usize = 16;

/// A list of objects and a map of them.
#[derive(Debug)]
pub(super) struct KeyedList {
    key: Box<str>,
    key_type: Scalar,
    /// The field that is the value; else all others are.
    value: Option<Box<str>>,
}

impl KeyedList {
    /// For a list and a map; or what is wrong with them.
    pub(super) fn new(
        key: &str,
        value: Option<&str>,
        (list_side, list): (&Structure, NodeIndex),
        (map_side, map): (&Structure, NodeIndex),
    ) -> Result<Self, String> {
        let shape_of_element = |structure: &Structure, container| {
            structure.element(container).map_or(Shape::Scalar(Scalar::Any), |element| structure.node(element).shape)
        };
        let mut key_type = Scalar::String;
        match shape_of_element(list_side, list) {
            Shape::Object => {
                let item = list_side.element(list).unwrap_or(list);
                let keeps_unknown = list_side.node(item).keeps_unknown;
                let field = |name: &str| {
                    let field = list_side.child(item, name);
                    match field.is_some() || keeps_unknown {
                        true => Ok(field.map(|field| list_side.node(field).shape)),
                        false => Err(format!("the items of the list have no field {name}")),
                    }
                };
                match field(key)? {
                    Some(Shape::Scalar(scalar)) if scalar != Scalar::Any => key_type = scalar,
                    Some(shape) => return Err(format!("{key} cannot be the key: it is of type {}", shape.name())),
                    None => {}
                }
                if let Some(value) = value {
                    field(value)?;
                }
            }
            Shape::Scalar(Scalar::Any) => {}
            shape => return Err(format!("the items of the list must be objects, not of type {}", shape.name())),
        }
        if let (None, Some(values)) = (value, map_side.element(map))
            && map_side.child(values, key).is_some()
        {
            return Err(format!(
                "the values of the map have a field {key} too, which would be hidden: choose another key"
            ));
        }
        match shape_of_element(map_side, map) {
            Shape::Object | Shape::Map | Shape::Scalar(Scalar::Any) => {}
            _ if value.is_some() => {}
            shape => {
                let name = shape.name();
                return Err(format!("without `value`, the values of the map must be objects, not of type {name}"));
            }
        }
        Ok(Self { key: key.into(), key_type, value: value.map(Into::into) })
    }

    /// The map of a list, or the list of a map, which has the shape `source`.
    pub(super) fn convert<'a>(
        &'a self,
        value: Value<'a>,
        old: Option<(Value<'a>, Value<'a>)>,
        source: &Fit,
        arena: &'a Arena,
    ) -> Result<Value<'a>, Failed> {
        match (value, old) {
            (Value::Array(items), Some((Value::Array(was), Value::Object(old)))) => {
                let entries = self.entries(items, arena);
                Ok(Value::Object(arena.slice(&self.with_unsaid(entries, items, (was, old), source, arena))))
            }
            (Value::Array(items), _) => Ok(Value::Object(arena.slice(&self.entries(items, arena)))),
            (Value::Object(entries), old) => {
                let (was, old) = old.unwrap_or((Value::Null, Value::Null));
                let old = (was.as_object().unwrap_or_default(), old.as_array().unwrap_or_default());
                self.list_of(entries, old, source.element(), arena)
            }
            (value, _) => Err(wrong_type("list or map", value)),
        }
    }

    /// The map of a list: of several items with one key, the last.
    fn entries<'a>(&'a self, items: &'a [Value<'a>], arena: &'a Arena) -> Vec<Entry<'a>> {
        let mut entries: Vec<Entry<'a>> = Vec::with_capacity(items.len());
        let mut places: HashMap<&str, usize> = HashMap::with_capacity(items.len());
        for item in items {
            let Some((key, value)) = self.shown(*item, arena) else { continue };
            match places.get(key) {
                Some(place) => entries[*place].value = value,
                None => {
                    places.insert(key, entries.len());
                    entries.push(Entry { key, value });
                }
            }
        }
        entries
    }

    /// The map of a list, with those parts of the old one that the list cannot say.
    fn with_unsaid<'a>(
        &'a self,
        mut entries: Vec<Entry<'a>>,
        items: &'a [Value<'a>],
        (was, old): (&'a [Value<'a>], &'a [Entry<'a>]),
        list: &Fit,
        arena: &'a Arena,
    ) -> Vec<Entry<'a>> {
        let said = list.element().and_then(|item| self.value.as_ref().map_or(Some(item), |value| item.under(value)));
        let Some(said) = said else { return entries };
        let was = self.entries(was, arena);
        let (was, before) = (by_key(&was), by_key(old));
        for entry in &mut entries {
            let Some(old) = find(&before, entry.key) else { continue };
            entry.value = with_unsaid(entry.value, find(&was, entry.key), old, said, arena);
            // In the list, a field of this name is the key.
            if let (None, Some(hidden), Value::Object(fields)) = (&self.value, old.get(&self.key), entry.value)
                && entry.value.get(&self.key).is_none()
            {
                let hidden = Entry { key: &self.key, value: hidden };
                entry.value = Value::Object(arena.slice(&[fields, &[hidden]].concat()));
            }
        }
        // Of a null that it cannot say, the list has the key.
        let is_hidden = |entry: &&Entry<'a>| entry.value.is_null() && !said.is_nullable();
        if old.iter().any(|entry| is_hidden(&entry)) {
            let shown: HashSet<&str> = entries.iter().map(|entry| entry.key).collect();
            let keys: HashSet<&str> = items.iter().filter_map(|item| self.key_of(*item)).collect();
            let is_kept = |entry: &&Entry<'a>| keys.contains(entry.key) && !shown.contains(entry.key);
            entries.extend(old.iter().filter(is_hidden).filter(is_kept));
        }
        entries
    }

    /// The list of a map: what was there before keeps its place, with what the map does not show.
    fn list_of<'a>(
        &'a self,
        entries: &'a [Entry<'a>],
        (was, old): (&'a [Entry<'a>], &'a [Value<'a>]),
        said: Option<&Fit>,
        arena: &'a Arena,
    ) -> Result<Value<'a>, Failed> {
        let (sorted, was) = (by_key(entries), by_key(was));
        // Where the item of a key is that the map shows, or would.
        let mut shown: HashMap<&str, usize> = HashMap::with_capacity(old.len());
        let mut hidden: HashMap<&str, usize> = HashMap::new();
        for (position, item) in old.iter().enumerate() {
            if let Some(key) = self.key_of(*item) {
                let places = if self.shown(*item, arena).is_some() { &mut shown } else { &mut hidden };
                places.insert(key, position);
            }
        }
        let mut items = Vec::with_capacity(old.len().max(entries.len()));
        for (position, item) in old.iter().enumerate() {
            let key = self.key_of(*item);
            let place = key.and_then(|key| shown.get(key).or_else(|| hidden.get(key)));
            match key.and_then(|key| Some((key, find(&sorted, key)?))) {
                Some((key, value)) if place == Some(&position) => {
                    let value = match (self.shown(*item, arena), said) {
                        (Some((_, old)), Some(said)) => with_unsaid(value, find(&was, key), old, said, arena),
                        _ => value,
                    };
                    items.push(self.changed(*item, value, arena)?);
                }
                Some(_) => items.push(*item),
                None if key.is_some_and(|key| shown.contains_key(key)) => {}
                None => items.push(*item),
            }
        }
        for entry in sorted {
            if !shown.contains_key(entry.key) && !hidden.contains_key(entry.key) {
                items.push(self.item(read(entry.key, self.key_type, arena)?, entry.value, arena)?);
            }
        }
        Ok(Value::Array(arena.slice(&items)))
    }

    /// The keys of the items of a list, in their order: long ones as their hashes. `None` if an item has no key.
    pub(super) fn order_of<'a>(&self, list: Value<'a>, arena: &'a Arena) -> Option<Vec<Value<'a>>> {
        let key = |item: &Value<'a>| {
            let key = item.get(&self.key)?;
            let text = spelled(key).ok()?;
            Some(if text.len() > LONGEST_KEY { hashed(text, arena) } else { key })
        };
        list.as_array()?.iter().map(key).collect()
    }

    /// Items in the order of some keys; those of other keys follow, in their own order.
    pub(super) fn ordered<'a>(&self, items: &'a [Value<'a>], order: &[Value<'_>], arena: &'a Arena) -> Value<'a> {
        let places = order.iter().enumerate().filter_map(|(place, key)| match key {
            Value::Array([hash]) => Some(((true, hash.as_str()?), place)),
            key => Some(((false, spelled(*key).ok()?), place)),
        });
        let places: HashMap<(bool, &str), usize> = places.collect();
        let place = |item: &Value<'a>| {
            let key = self.key_of(*item)?;
            match key.len() > LONGEST_KEY {
                true => places.get(&(true, hash_of(key).as_str())).or_else(|| places.get(&(false, key))).copied(),
                false => places.get(&(false, key)).copied(),
            }
        };
        let mut ordered = items.to_vec();
        ordered.sort_by_cached_key(|item| place(item).unwrap_or(order.len()));
        Value::Array(arena.slice(&ordered))
    }

    fn key_of<'a>(&self, item: Value<'a>) -> Option<&'a str> {
        spelled(item.get(&self.key)?).ok()
    }

    /// What the map shows of an item: nothing if it has no key, or no value.
    fn shown<'a>(&self, item: Value<'a>, arena: &'a Arena) -> Option<(&'a str, Value<'a>)> {
        let key = self.key_of(item)?;
        match &self.value {
            Some(value) => item.get(value).map(|value| (key, value)),
            None => {
                let others = item.as_object()?.iter().filter(|entry| *entry.key != *self.key).copied();
                Some((key, Value::Object(arena.slice(&others.collect::<Vec<_>>()))))
            }
        }
    }

    /// An item with another value, and all that the map does not show of it.
    fn changed<'a>(&'a self, item: Value<'a>, value: Value<'a>, arena: &'a Arena) -> Result<Value<'a>, Failed> {
        let (Some(entries), Some(key)) = (item.as_object(), item.get(&self.key)) else { return Ok(item) };
        if self.shown(item, arena).is_some_and(|(_, old)| equal(old, value)) {
            return Ok(item);
        }
        let Some(name) = &self.value else { return self.item(key, value, arena) };
        let others = entries.iter().filter(|entry| *entry.key != **name).copied();
        let changed: Vec<_> = others.chain([Entry { key: name, value }]).collect();
        Ok(Value::Object(arena.slice(&changed)))
    }

    fn item<'a>(&'a self, key: Value<'a>, value: Value<'a>, arena: &'a Arena) -> Result<Value<'a>, Failed> {
        let key = Entry { key: &self.key, value: key };
        let entries: Vec<_> = match (&self.value, value) {
            (Some(name), value) => vec![key, Entry { key: name, value }],
            (None, Value::Object(others)) => {
                [key].into_iter().chain(others.iter().filter(|entry| *entry.key != *self.key).copied()).collect()
            }
            (None, value) => return Err(wrong_type("object", value)),
        };
        Ok(Value::Object(arena.slice(&entries)))
    }
}

/// A long key in the order of a list: 32 bits are enough to find it among the keys of a map, and where two keys of a list share
/// them, the list itself is stored.
fn hashed<'a>(key: &str, arena: &'a Arena) -> Value<'a> {
    Value::Array(arena.slice(&[Value::string(arena.text(&hash_of(key)))]))
}

fn hash_of(key: &str) -> String {
    format!("{:08x}", stable_hash(Value::string(key)) >> 32)
}

/// Fields and a map of them.
#[derive(Debug)]
pub(super) struct Entries {
    keys: Box<[Box<str>]>,
    fields: Box<[Fit]>,
    map: Fit,
    /// Which way the map is.
    map_is: Direction,
}

impl Entries {
    pub(super) fn compile(
        respelled: &Respelled,
        keys: &[Box<str>],
        from: Side<'_>,
        to: Side<'_>,
    ) -> Result<Self, Vec<Problem>> {
        let has_keys = |side: Side<'_>| match side.fields {
            [map] => matches!(side.structure.node(*map).shape, Shape::Map | Shape::Object),
            _ => false,
        };
        let (fields, map, map_is) = match () {
            () if has_keys(to) && from.fields.len() == keys.len() => (from, to, Direction::Up),
            () if has_keys(from) && to.fields.len() == keys.len() => (to, from, Direction::Down),
            () => return Err(unfit(respelled, "it is for fields and one map, with a key for each field")),
        };
        let map_fit = Fit::of(map.structure, map.fields[0]);
        if let Some(key) = keys.iter().find(|key| map_fit.under(key).is_none()) {
            return Err(unfit(respelled, &format!("the object has no field {key}")));
        }
        if keys.iter().collect::<HashSet<_>>().len() < keys.len() {
            return Err(unfit(respelled, "two fields have one key"));
        }
        let fields = fields.fields.iter().map(|field| Fit::of(fields.structure, *field)).collect();
        Ok(Self { keys: keys.into(), fields, map: map_fit, map_is })
    }

    pub(super) fn convert<'a>(
        &'a self,
        direction: Direction,
        sources: &[Option<Value<'a>>],
        old: Option<&[Option<Value<'a>>]>,
        arena: &'a Arena,
        results: &mut Vec<Option<Value<'a>>>,
    ) -> Result<(), Failed> {
        if direction == self.map_is {
            let old = old.and_then(|old| old.first().copied().flatten()).and_then(Value::as_object);
            results.push(self.map_of(sources, old.unwrap_or_default(), arena)?);
            return Ok(());
        }
        let map = sources.first().copied().flatten().filter(|map| !map.is_null());
        let Some(map) = map else {
            results.extend(self.keys.iter().map(|_| None));
            return Ok(());
        };
        let Value::Object(entries) = map else { return Err(wrong_type("map", map)) };
        let sorted = by_key(entries);
        for (key, fit) in self.keys.iter().zip(&self.fields) {
            results.push(part(find(&sorted, key), fit).map_err(|failed| failed.under(key))?);
        }
        Ok(())
    }

    /// The map of the fields; keys that are no field stay.
    fn map_of<'a>(
        &'a self,
        sources: &[Option<Value<'a>>],
        old: &'a [Entry<'a>],
        arena: &'a Arena,
    ) -> Result<Option<Value<'a>>, Failed> {
        let extra = old.iter().filter(|entry| !self.keys.iter().any(|key| **key == *entry.key)).copied();
        let mut entries: Vec<_> = extra.collect();
        for (key, source) in self.keys.iter().zip(sources) {
            let Some(fit) = self.map.under(key) else { continue };
            let value = part(*source, fit).map_err(|failed| failed.under(key))?;
            entries.extend(value.map(|value| Entry { key, value }));
        }
        Ok((!entries.is_empty()).then(|| Value::Object(arena.slice(&entries))))
    }
}

/// A part that moves as it is; null where that can be said.
fn part<'a>(value: Option<Value<'a>>, fit: &Fit) -> Result<Option<Value<'a>>, Failed> {
    match value {
        Some(Value::Null) if !fit.is_nullable() => Ok(None),
        Some(value) => fit.check(value).map(|()| Some(value)),
        None => Ok(None),
    }
}

/// A map and the same map with other keys.
#[derive(Debug)]
pub(super) struct RenamedKeys {
    up: HashMap<Box<str>, Box<str>>,
    down: HashMap<Box<str>, Box<str>>,
}

impl RenamedKeys {
    /// Pairs of old and new keys; of several for one, the first is meant.
    pub(super) fn new(pairs: &[(Box<str>, Box<str>)]) -> Self {
        let mut keys = Self { up: HashMap::new(), down: HashMap::new() };
        for (old, new) in pairs {
            keys.up.entry(old.clone()).or_insert_with(|| new.clone());
            keys.down.entry(new.clone()).or_insert_with(|| old.clone());
        }
        keys
    }

    pub(super) fn convert<'a>(
        &'a self,
        direction: Direction,
        value: Value<'a>,
        old: Option<(Value<'a>, Value<'a>)>,
        arena: &'a Arena,
    ) -> Result<Value<'a>, Failed> {
        let Value::Object(entries) = value else { return Err(wrong_type("map", value)) };
        let (there, back) = match direction {
            Direction::Up => (&self.up, &self.down),
            Direction::Down => (&self.down, &self.up),
        };
        let said = renamed(entries, there).into_iter().zip(entries);
        let said = said.filter_map(|(key, entry)| Some((key?, entry)));
        let Some((Value::Object(was), Value::Object(before))) = old else {
            let results: Vec<_> = said.map(|(key, entry)| Entry { key, value: entry.value }).collect();
            return Ok(Value::Object(arena.slice(&results)));
        };
        let made: HashSet<&str> = renamed(was, there).into_iter().flatten().collect();
        let (was, names_before) = (by_key(was), by_key(before));
        // What did not change, and is not there on the other side, was taken away there.
        let is_removed = |key: &str, entry: &Entry<'a>| {
            find(&names_before, key).is_none() && find(&was, entry.key).is_some_and(|was| equal(was, entry.value))
        };
        let said = said.filter(|(key, entry)| !is_removed(key, entry));
        let mut results: Vec<_> = said.map(|(key, entry)| Entry { key, value: entry.value }).collect();
        // What neither was made of this side nor shown there is not this side's to change.
        let taken: HashSet<&str> = results.iter().map(|entry| entry.key).collect();
        let is_shown = |key: Option<&str>| key.is_some_and(|key| find(&was, key).is_some());
        let hidden = renamed(before, back).into_iter().zip(before);
        let hidden = hidden.filter(|(key, entry)| !is_shown(*key) && !made.contains(entry.key));
        results.extend(hidden.map(|(_, entry)| *entry).filter(|entry| !taken.contains(entry.key)));
        Ok(Value::Object(arena.slice(&results)))
    }
}

/// What the keys of a map are called on the other side; `None` of those that another one hides there: one that is renamed
/// hides one that has its new name already, and of several with one new name the first hides the others.
fn renamed<'k>(entries: &[Entry<'k>], names: &'k HashMap<Box<str>, Box<str>>) -> Vec<Option<&'k str>> {
    let new = |entry: &Entry<'k>| names.get(entry.key).map(|name| &**name);
    let given: HashSet<&str> = entries.iter().filter_map(new).collect();
    let mut taken: HashSet<&str> = HashSet::with_capacity(entries.len());
    let name = |entry: &Entry<'k>| new(entry).or_else(|| (!given.contains(entry.key)).then_some(entry.key));
    entries.iter().map(|entry| name(entry).filter(|name| taken.insert(name))).collect()
}
