//! Fields, keys and items: how an evaluation gets at the parts of a value.

use std::collections::HashMap;

use wheelwright_document::{Arena, Entry, Value};

use super::{Evaluator, valid};
use crate::{
    Failure,
    code::Code,
    library::{Answer, MapKey, map_key},
    shape::{ShapeId, ShapeKind},
    value::Val,
};

/// Objects and maps with more entries than this get an index when they are first searched, so that going through one
/// and looking up every key does not take the square of its size.
const LARGE: usize = 16;

/// Where the keys of a large object or map are.
pub(crate) type MapIndex<'a> = HashMap<MapKey<'a>, usize>;

impl<'a> Evaluator<'a> {
    /// A declared field of an object.
    #[inline]
    pub(super) fn field(&mut self, operand: Val<'a>, name: &'a str, shape: ShapeId) -> Answer<'a> {
        let Val::Fields(entries, _) = operand else { return Err(Failure::no_such_overload("select")) };
        match self.entry(entries, name) {
            // A null counts as absent in an object with declared fields.
            Some(entry) if !entry.value.is_null() => valid(self.read(&entry.value, shape)),
            _ => Err(Failure::absent(name)),
        }
    }

    /// The entry of an object with a key.
    #[inline]
    pub(crate) fn entry(&mut self, entries: &'a [Entry<'a>], name: &str) -> Option<&'a Entry<'a>> {
        if entries.len() <= LARGE {
            return entries.iter().find(|entry| entry.key == name);
        }
        let index =
            self.memory().indexes.entry(entries.as_ptr() as usize).or_insert_with(|| {
                entries.iter().enumerate().map(|(at, entry)| (MapKey::Text(entry.key), at)).collect()
            });
        index.get(&MapKey::Text(name)).map(|at| &entries[*at])
    }

    /// The value of a key, of an object or a map.
    pub(super) fn find(&mut self, operand: Val<'a>, name: &str) -> Result<Option<Val<'a>>, Failure> {
        match operand {
            Val::Fields(entries, id) => Ok(self.find_in_document(entries, id, name)),
            Val::Map(entries) => Ok(self.find_in_map(entries, MapKey::Text(name))),
            _ => Err(Failure::no_such_overload("select")),
        }
    }

    fn find_in_document(&mut self, entries: &'a [Entry<'a>], id: ShapeId, name: &str) -> Option<Val<'a>> {
        match &self.shapes.get(id).kind {
            ShapeKind::Object(object) => {
                let field = object.selected(name)?;
                let entry = self.entry(entries, &field.name).filter(|entry| !entry.value.is_null())?;
                Some(self.read(&entry.value, field.shape))
            }
            ShapeKind::Map { values } => {
                let values = *values;
                self.entry(entries, name).map(|entry| self.read(&entry.value, values))
            }
            _ => self.entry(entries, name).map(|entry| self.read(&entry.value, id)),
        }
    }

    /// The value of a field by the name that documents give it; a null in an object with declared fields counts as
    /// absent.
    pub(crate) fn declared(&mut self, operand: Val<'a>, name: &'a str) -> Option<Val<'a>> {
        match operand {
            Val::Fields(entries, id) => {
                let entry = self.entry(entries, name)?;
                let shape = match &self.shapes.get(id).kind {
                    ShapeKind::Object(_) if entry.value.is_null() => return None,
                    ShapeKind::Object(object) => object.declared(name)?,
                    ShapeKind::Map { values } => *values,
                    _ => id,
                };
                Some(self.read(&entry.value, shape))
            }
            Val::Map(entries) => self.find_in_map(entries, MapKey::Text(name)),
            _ => None,
        }
    }

    fn find_in_map(&mut self, entries: &'a [(Val<'a>, Val<'a>)], key: MapKey<'_>) -> Option<Val<'a>> {
        if entries.len() <= LARGE {
            let found = entries.iter().find(|(candidate, _)| map_key(*candidate) == Some(key));
            return found.map(|(_, value)| *value);
        }
        let index = self.memory().indexes.entry(entries.as_ptr() as usize).or_insert_with(|| {
            let keys = entries.iter().enumerate();
            keys.filter_map(|(at, (key, _))| Some((map_key(*key)?, at))).collect()
        });
        index.get(&key).map(|at| entries[*at].1)
    }

    /// Whether an object has a declared field; one that cannot be read is an error, as it is in Kubernetes.
    #[inline]
    pub(super) fn has_field(&mut self, operand: Val<'a>, name: &str, shape: ShapeId) -> Answer<'a> {
        match operand {
            Val::Fields(entries, _) => match self.entry(entries, name).map(|entry| &entry.value) {
                None | Some(Value::Null) => Ok(Val::Bool(false)),
                // Nothing else that has passed validation can be unreadable.
                Some(value @ Value::Number(_)) => valid(self.read(value, shape)).map(|_| Val::Bool(true)),
                Some(_) => Ok(Val::Bool(true)),
            },
            Val::Optional(None) => Ok(Val::Bool(false)),
            Val::Optional(Some(value)) => self.has_field(*value, name, shape),
            _ => Err(Failure::no_such_overload("has")),
        }
    }

    /// Whether a map has a key.
    pub(super) fn has_key(&mut self, operand: Val<'a>, name: &str) -> Answer<'a> {
        match operand {
            Val::Optional(None) => Ok(Val::Bool(false)),
            Val::Optional(Some(value)) => self.has_key(*value, name),
            operand => Ok(Val::Bool(self.find(operand, name)?.map(valid).transpose()?.is_some())),
        }
    }

    /// `container[index]`, or nothing if it is not there.
    pub(crate) fn index(&mut self, container: Val<'a>, index: Val<'a>) -> Result<Option<Val<'a>>, Failure> {
        self.scanned_text(index)?;
        match container {
            Val::Fields(..) => match index {
                Val::String(name) => self.find(container, name),
                _ => Err(Failure::no_such_overload("_[_]")),
            },
            Val::Map(entries) => match map_key(index) {
                Some(key) => Ok(self.find_in_map(entries, key)),
                None => Err(Failure::no_such_overload("_[_]")),
            },
            Val::Items(items, id) => {
                Ok(position(index)?.and_then(|at| items.get(at)).map(|item| self.read(item, self.item_shape(id))))
            }
            Val::List(items) => Ok(position(index)?.and_then(|at| items.get(at)).copied()),
            Val::Optional(None) => Ok(None),
            Val::Optional(Some(value)) => self.index(*value, index),
            _ => Err(Failure::no_such_overload("_[_]")),
        }
    }

    /// The shape of the items of a list of a document.
    #[inline]
    pub(crate) fn item_shape(&self, list: ShapeId) -> ShapeId {
        match &self.shapes.get(list).kind {
            ShapeKind::List { items, .. } => *items,
            // Whatever no schema describes holds more of the like.
            _ => list,
        }
    }

    /// The item of a list at a position.
    #[inline]
    pub(crate) fn item(&self, list: Val<'a>, at: usize) -> Val<'a> {
        match list {
            Val::Items(items, id) => self.read(&items[at], self.item_shape(id)),
            Val::List(items) => items[at],
            _ => Val::Invalid("not a list"),
        }
    }

    #[inline(never)]
    pub(super) fn optional_key(&mut self, operand: &'a Code, name: &'a str, shape: Option<ShapeId>) -> Answer<'a> {
        let cost = super::step_cost(operand);
        let operand = self.value(operand)?;
        self.charge(cost)?;
        let operand = match operand {
            Val::Optional(None) => return Ok(self.no_step()),
            Val::Optional(Some(value)) => *value,
            value => value,
        };
        let found = match (operand, shape) {
            (Val::Fields(entries, _), Some(shape)) => {
                let entry = self.entry(entries, name).filter(|entry| !entry.value.is_null());
                entry.map(|entry| self.read(&entry.value, shape))
            }
            _ => self.find(operand, name)?,
        };
        match found {
            Some(value) => Ok(self.some(valid(value)?)),
            None => Ok(self.no_step()),
        }
    }

    #[inline(never)]
    pub(super) fn optional_map(&mut self, operand: &'a Code, body: &'a Code, is_flat: bool) -> Answer<'a> {
        let before = self.budget();
        let Val::Optional(value) = self.value(operand)? else { return Err(Failure::no_such_overload("optMap")) };
        // The expansion asks whether there is a value, then evaluates the operand once more to get at it.
        let operand_cost = before - self.budget();
        let Some(value) = value else {
            self.charge(2)?;
            return Ok(Val::Optional(None));
        };
        self.charge(operand_cost + if is_flat { 2 } else { 3 })?;
        let result = self.with(*value, |evaluator| evaluator.value(body))?;
        match (is_flat, result) {
            (false, value) => Ok(self.some(value)),
            (true, Val::Optional(_)) => Ok(result),
            (true, _) => Err(Failure::no_such_overload("optFlatMap")),
        }
    }

    /// A value that is there, where one may be absent.
    pub fn some(&self, value: Val<'a>) -> Val<'a> {
        Val::Optional(self.arena.slice(&[value]).first())
    }
}

/// An index of a list; none if it is below zero.
fn position(index: Val<'_>) -> Result<Option<usize>, Failure> {
    match index {
        Val::Int(at) => Ok(usize::try_from(at).ok()),
        Val::Uint(at) => Ok(usize::try_from(at).ok()),
        Val::Double(at) if at.fract() == 0.0 && at.abs() < 9e15 => Ok((at >= 0.0).then_some(at as usize)),
        _ => Err(Failure::no_such_overload("_[_]")),
    }
}

/// A map in the making: a later value of a key replaces an earlier one, in its place.
#[derive(Default)]
pub(crate) struct MapBuilder<'a> {
    entries: Vec<(Val<'a>, Val<'a>)>,
    positions: HashMap<MapKey<'a>, usize>,
}

impl<'a> MapBuilder<'a> {
    /// Sets the value of a key.
    pub(crate) fn insert(&mut self, key: Val<'a>, value: Val<'a>) -> Result<(), Failure> {
        let Some(position) = map_key(key) else {
            return Err(Failure::other(format!("a {} cannot be the key of a map", key.type_name())));
        };
        match self.positions.get(&position) {
            Some(at) => self.entries[*at].1 = value,
            None => {
                self.positions.insert(position, self.entries.len());
                self.entries.push((key, value));
            }
        }
        Ok(())
    }

    /// Whether there is a value for a key already.
    pub(crate) fn has(&self, key: Val<'a>) -> bool {
        map_key(key).is_some_and(|key| self.positions.contains_key(&key))
    }

    pub(crate) fn finish(self, arena: &'a Arena) -> Val<'a> {
        Val::Map(arena.slice(&self.entries))
    }
}
