//! What the writer of one spelling is not shown of the other: it is still read there, unless what holds it was removed.

use serde_json::Value as Json;
use wheelwright_evolve::Shape;

use crate::{
    matching::{by_keys, by_likeness},
    tree::Tree,
};

/// A field of a spelling, or something in it.
pub(super) type Said<'t> = (&'t Tree, usize);

/// A step of the way to something in a value.
#[derive(Clone)]
enum Way {
    Name(String),
    Place(usize),
}

/// What a spelling can say of a value. What is of another shape is as it was.
pub(super) fn shown(said: Said<'_>, value: &Json) -> Json {
    let below = |name: &str, value: &Json| below(said, name).map_or_else(|| value.clone(), |below| shown(below, value));
    match (value, said.0.element(said.1)) {
        (Json::Array(items), Some(item)) => items.iter().map(|value| shown((said.0, item), value)).collect(),
        (Json::Object(entries), _) => {
            let known = entries.iter().filter(|(name, value)| says(said, name, value));
            known.map(|(name, value)| (name.clone(), below(name, value))).collect()
        }
        _ => value.clone(),
    }
}

/// A new value with all that its writer was not shown of the old one and did not remove; `was` is what the writer was shown.
pub(super) fn kept(new: Json, was: Option<&Json>, old: &Json, said: Said<'_>) -> Json {
    let mut hidden = Vec::new();
    collect(said, old, &mut Vec::new(), &mut hidden);
    let moved: Vec<_> =
        hidden.into_iter().filter_map(|(way, value)| Some((moved(&way, &new, was, old, said)?, value))).collect();
    let mut result = new;
    for (way, value) in moved {
        put(&mut result, &way, value);
    }
    result
}

/// What there is below a name that a spelling has.
fn below<'t>((tree, node): Said<'t>, name: &str) -> Option<Said<'t>> {
    let below = match tree.node(node).shape {
        Shape::Object => tree.child(node, name).filter(|child| tree.node(*child).is_declared),
        Shape::Map => tree.element(node),
        _ => None,
    };
    below.map(|below| (tree, below))
}

/// Whether a spelling has a place for something under a name.
fn says(said: Said<'_>, name: &str, value: &Json) -> bool {
    match below(said, name) {
        Some((tree, below)) => !value.is_null() || tree.node(below).nullable,
        None => said.0.node(said.1).shape != Shape::Object || said.0.node(said.1).keeps_unknown,
    }
}

/// The outermost parts of a value that a spelling cannot say, and the ways to them.
fn collect(said: Said<'_>, value: &Json, way: &mut Vec<Way>, hidden: &mut Vec<(Vec<Way>, Json)>) {
    match (value, said.0.element(said.1)) {
        (Json::Array(items), Some(item)) => {
            for (place, value) in items.iter().enumerate() {
                way.push(Way::Place(place));
                collect((said.0, item), value, way, hidden);
                way.pop();
            }
        }
        (Json::Object(entries), _) => {
            for (name, value) in entries {
                way.push(Way::Name(name.clone()));
                match below(said, name) {
                    _ if !says(said, name, value) => hidden.push((way.clone(), value.clone())),
                    Some(below) => collect(below, value, way, hidden),
                    None => {}
                }
                way.pop();
            }
        }
        _ => {}
    }
}

/// The way to the same part in the new value, if what holds it is there.
fn moved(way: &[Way], new: &Json, was: Option<&Json>, old: &Json, said: Said<'_>) -> Option<Vec<Way>> {
    let (first, rest) = way.split_first()?;
    match first {
        Way::Name(_) if rest.is_empty() => new.is_object().then(|| way.to_vec()),
        Way::Name(name) => {
            let was = was.and_then(|was| was.get(name));
            let rest = moved(rest, new.get(name)?, was, &old[name], below(said, name)?)?;
            Some([std::slice::from_ref(first), &rest[..]].concat())
        }
        Way::Place(place) => {
            let (items, olds, item) = (new.as_array()?, old.as_array()?, (said.0, said.0.element(said.1)?));
            let was = was.and_then(Json::as_array).filter(|was| was.len() == olds.len()).cloned();
            let was = was.unwrap_or_else(|| olds.iter().map(|old| shown(item, old)).collect());
            let keys = &said.0.node(said.1).keys;
            let matched = if keys.is_empty() {
                by_likeness(items, &was, &Default::default(), &|_| 0)
            } else {
                by_keys(items, &was, keys)
            };
            let now = matched.iter().position(|old| *old == Some(*place))?;
            let rest = moved(rest, &items[now], Some(&was[*place]), &olds[*place], item)?;
            Some([&[Way::Place(now)], &rest[..]].concat())
        }
    }
}

/// Puts something where a way leads, unless something is there.
fn put(at: &mut Json, way: &[Way], value: Json) {
    match (way, at) {
        ([Way::Name(name)], Json::Object(entries)) => {
            entries.entry(name.clone()).or_insert(value);
        }
        ([Way::Name(name), rest @ ..], Json::Object(entries)) => put(&mut entries[name], rest, value),
        ([Way::Place(place), rest @ ..], Json::Array(items)) => put(&mut items[*place], rest, value),
        _ => {}
    }
}
