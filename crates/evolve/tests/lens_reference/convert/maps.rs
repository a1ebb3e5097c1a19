//! Maps, and lists of objects with a key.

use serde_json::{Map, Value as Json};
use wheelwright_evolve::Shape;

use super::scalars::{read, spelled};

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

pub(super) fn to_map(items: &[Json], key: &str, part: Option<&str>) -> Json {
    Json::Object(items.iter().filter_map(|item| shown(item, key, part)).collect())
}

/// What the map shows of an item: nothing if it has no key, or no value.
fn shown(item: &Json, key: &str, part: Option<&str>) -> Option<(String, Json)> {
    let name = spelled(item.get(key)?)?;
    let mut rest = item.as_object()?.clone();
    rest.remove(key);
    match part {
        Some(part) => Some((name, rest.remove(part)?)),
        None => Some((name, Json::Object(rest))),
    }
}

/// The list of a map; what is new has keys of the shape that the field has.
pub(super) fn to_list(
    map: &Map<String, Json>,
    (key, shape): (&str, Shape),
    part: Option<&str>,
    old: Option<&Vec<Json>>,
) -> Option<Json> {
    let item_of = |item: Option<&Json>, name: &Json, value: &Json| {
        let mut made = Map::new();
        match (part, value) {
            (Some(part), value) => {
                made = item.and_then(Json::as_object).cloned().unwrap_or_default();
                made.insert(part.to_owned(), value.clone());
            }
            (None, Json::Object(fields)) => made.extend(fields.clone()),
            _ => return None,
        }
        made.insert(key.to_owned(), name.clone());
        Some(Json::Object(made))
    };
    let name_of = |item: &Json| spelled(item.get(key)?);
    let old = old.map_or(&[][..], |old| &old[..]);
    // Of several items with one key, the last that the map shows is the one that changes; else the last.
    let place = |name: &String| {
        let of_name = || (0..old.len()).filter(|at| name_of(&old[*at]).as_ref() == Some(name));
        let is_shown = |at: &usize| shown(&old[*at], key, part).is_some();
        of_name().rfind(is_shown).map(|at| (at, true)).or_else(|| of_name().next_back().map(|at| (at, false)))
    };
    let mut list: Vec<Json> = Vec::new();
    for (position, item) in old.iter().enumerate() {
        let name = name_of(item);
        let place = name.as_ref().and_then(place);
        match name.as_ref().and_then(|name| map.get(name)) {
            Some(value) if place.is_some_and(|(at, _)| at == position) => {
                let is_same = shown(item, key, part).is_some_and(|(_, old)| old == *value);
                list.push(if is_same { item.clone() } else { item_of(Some(item), &item[key], value)? });
            }
            Some(_) => list.push(item.clone()),
            None if place.is_some_and(|(_, is_shown)| is_shown) => {}
            None => list.push(item.clone()),
        }
    }
    let mut new: Vec<&String> = map.keys().filter(|name| place(name).is_none()).collect();
    new.sort();
    for name in new {
        list.push(item_of(None, &read(name, shape)?, &map[name])?);
    }
    Some(Json::Array(list))
}
