//! Maps, and lists of objects with a key.

use serde_json::{Map, Value as Json};
use wheelwright_evolve::Shape;

use super::{
    hidden::{Said, kept},
    scalars::{read, spelled},
};

/// A map with other keys. What the other side had and this one did not know of stays.
pub(super) fn renamed_keys(
    pairs: &[(Box<str>, Box<str>)],
    is_up: bool,
    map: &Map<String, Json>,
    old: Option<(&Json, &Json)>,
) -> Json {
    let renamed = |key: &str, is_up: bool| {
        let found = pairs.iter().map(|(old, new)| if is_up { (old, new) } else { (new, old) });
        found.into_iter().find(|(from, _)| ***from == *key).map(|(_, to)| to.to_string())
    };
    let was = old.and_then(|(was, result)| Some((was.as_object()?, result.as_object()?)));
    let (moved, stay): (Vec<_>, Vec<_>) = map.iter().partition(|(key, _)| renamed(key, is_up).is_some());
    let mut result: Map<String, Json> = Map::new();
    for (key, value) in stay.into_iter().chain(moved) {
        let name = renamed(key, is_up).unwrap_or_else(|| key.clone());
        result.insert(name.clone(), value.clone());
        // What did not change, and was not there on the other side, is still not there.
        if was.is_some_and(|(was, result)| was.get(key) == Some(value) && !result.contains_key(&name)) {
            result.remove(&name);
        }
    }
    // What the other side had stays if this one neither showed it, under its name here and not hidden by
    // another key, nor was what it is made of.
    for (key, value) in was.iter().flat_map(|(_, result)| *result) {
        let name = renamed(key, !is_up).unwrap_or_else(|| key.clone());
        let hides = |other: &String| other != key && renamed(other, !is_up).as_ref() == Some(&name);
        let makes = |other: &String| renamed(other, is_up).as_ref().unwrap_or(other) == key;
        let is_known = was
            .is_some_and(|(was, result)| was.contains_key(&name) && !result.keys().any(hides) || was.keys().any(makes));
        if !is_known && !result.contains_key(key) {
            result.insert(key.clone(), value.clone());
        }
    }
    Json::Object(result)
}

/// A list of objects and the map of them.
pub(super) struct Keyed<'k> {
    pub(super) key: &'k str,
    /// The field that is the value; else all others are.
    pub(super) part: Option<&'k str>,
}

impl Keyed<'_> {
    /// The map of a list, with what it hides of the map that was there.
    pub(super) fn map(&self, items: &[Json], old: Option<(&Json, &Json)>, (tree, list): Said<'_>) -> Json {
        let mut map = self.said(items);
        let item = tree.element(list);
        let said = self.part.map_or(item, |part| item.and_then(|item| tree.child(item, part)));
        let old = old.and_then(|(was, old)| Some((self.said(was.as_array()?), old.as_object()?)));
        let (Some(said), Some((was, old))) = (said, old) else { return Json::Object(map) };
        for (name, old) in old {
            let is_there = items.iter().any(|item| self.name(item).as_ref() == Some(name));
            match map.get_mut(name) {
                Some(value) => {
                    *value = kept(value.clone(), was.get(name), old, (tree, said));
                    // A field that is named like the key has no place in the list.
                    if let (None, Some(hidden), Json::Object(fields)) = (self.part, old.get(self.key), value) {
                        fields.insert(self.key.to_owned(), hidden.clone());
                    }
                }
                None if is_there && old.is_null() && !tree.node(said).nullable => {
                    map.insert(name.clone(), Json::Null);
                }
                None => {}
            }
        }
        Json::Object(map)
    }

    /// The list of a map; what is new has keys of the shape that the field has.
    pub(super) fn list(
        &self,
        map: &Map<String, Json>,
        shape: Shape,
        old: Option<(&Json, &Json)>,
        said: Said<'_>,
    ) -> Option<Json> {
        let was = |name: &String| old.and_then(|(was, _)| was.get(name));
        let old = old.and_then(|(_, old)| old.as_array()).map_or(&[][..], |old| &old[..]);
        // Of several items with one key, the last that the map shows is the one that changes; else the last.
        let place = |name: &String| {
            let of_name = || (0..old.len()).filter(|at| self.name(&old[*at]).as_ref() == Some(name));
            let is_shown = |at: &usize| self.shown(&old[*at]).is_some();
            of_name().rfind(is_shown).map(|at| (at, true)).or_else(|| of_name().next_back().map(|at| (at, false)))
        };
        let mut list: Vec<Json> = Vec::new();
        for (position, item) in old.iter().enumerate() {
            let name = self.name(item);
            let place = name.as_ref().and_then(place);
            match name.as_ref().and_then(|name| Some((name, map.get(name)?))) {
                Some((name, value)) if place.is_some_and(|(at, _)| at == position) => {
                    let value = match self.shown(item) {
                        Some((_, old)) => kept(value.clone(), was(name), &old, said),
                        None => value.clone(),
                    };
                    list.push(self.item(Some(item), &item[self.key], &value)?);
                }
                Some(_) => list.push(item.clone()),
                None if place.is_some_and(|(_, is_shown)| is_shown) => {}
                None => list.push(item.clone()),
            }
        }
        let mut new: Vec<&String> = map.keys().filter(|name| place(name).is_none()).collect();
        new.sort();
        for name in new {
            list.push(self.item(None, &read(name, shape)?, &map[name])?);
        }
        Some(Json::Array(list))
    }

    fn name(&self, item: &Json) -> Option<String> {
        spelled(item.get(self.key)?)
    }

    fn said(&self, items: &[Json]) -> Map<String, Json> {
        items.iter().filter_map(|item| self.shown(item)).collect()
    }

    /// What the map shows of an item: nothing if it has no key, or no value.
    fn shown(&self, item: &Json) -> Option<(String, Json)> {
        let name = self.name(item)?;
        let mut rest = item.as_object()?.clone();
        rest.remove(self.key);
        match self.part {
            Some(part) => Some((name, rest.remove(part)?)),
            None => Some((name, Json::Object(rest))),
        }
    }

    fn item(&self, old: Option<&Json>, name: &Json, value: &Json) -> Option<Json> {
        let mut made = Map::new();
        match (self.part, value) {
            (Some(part), value) => {
                made = old.and_then(Json::as_object).cloned().unwrap_or_default();
                made.insert(part.to_owned(), value.clone());
            }
            (None, Json::Object(fields)) => made.extend(fields.clone()),
            _ => return None,
        }
        made.insert(self.key.to_owned(), name.clone());
        Some(Json::Object(made))
    }
}
