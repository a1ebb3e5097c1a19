//! Places in documents, and what is done at them: by hand, so that nothing here is what is tested.

use serde_json::Value as Json;
use wheelwright_document::{Arena, Owned, encode};
use wheelwright_evolve::{Selector, Step};

/// The key of the only value that maps have in sample documents.
pub(crate) const KEY: &str = "k";

/// A step to a value in a document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Segment {
    Key(Box<str>),
    /// The first item of a list.
    First,
}

/// The place of a field in sample documents: in the first item of lists, and under the one key of maps.
pub(crate) fn place_of(selector: &Selector) -> Vec<Segment> {
    let segment = |step: &Step| match step {
        Step::Field(name) => Segment::Key(name.clone()),
        Step::Items => Segment::First,
        Step::Values => Segment::Key(KEY.into()),
    };
    selector.steps().iter().map(segment).collect()
}

pub(crate) fn pointer(place: &[Segment]) -> String {
    let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
    let segments = place.iter().map(|segment| match segment {
        Segment::Key(key) => format!("/{}", escaped(key)),
        Segment::First => "/0".to_owned(),
    });
    segments.collect()
}

pub(crate) fn at<'j>(json: &'j Json, place: &[Segment]) -> Option<&'j Json> {
    place.iter().try_fold(json, |json, segment| match segment {
        Segment::Key(key) => json.get(&**key),
        Segment::First => json.get(0),
    })
}

/// Sets a value, in objects that are made if they are not there; whether there is such a place.
pub(crate) fn set(json: &mut Json, place: &[Segment], value: Json) -> bool {
    match (place, json) {
        ([], json) => *json = value,
        ([Segment::Key(key), below @ ..], Json::Object(fields)) => {
            let field = fields.entry(&**key).or_insert_with(|| Json::Object(Default::default()));
            return set(field, below, value);
        }
        ([Segment::First, below @ ..], Json::Array(items)) => {
            return items.first_mut().is_some_and(|item| set(item, below, value));
        }
        _ => return false,
    }
    true
}

pub(crate) fn remove(json: &mut Json, place: &[Segment]) -> Option<Json> {
    match (place, json) {
        ([Segment::Key(key)], Json::Object(fields)) => fields.remove(&**key),
        ([Segment::Key(key), below @ ..], Json::Object(fields)) => remove(fields.get_mut(&**key)?, below),
        ([Segment::First, below @ ..], Json::Array(items)) => remove(items.first_mut()?, below),
        _ => None,
    }
}

/// An object with one value at a place that leads through no list.
pub(crate) fn nested(place: &[Segment], value: Json) -> Json {
    place.iter().rev().fold(value, |value, segment| match segment {
        Segment::Key(key) => Json::Object([(key.to_string(), value)].into_iter().collect()),
        Segment::First => Json::Array(vec![value]),
    })
}

/// RFC 7396, as it is written there.
pub(crate) fn merged(target: Json, patch: &Json) -> Json {
    let Json::Object(patch) = patch else { return patch.clone() };
    let mut target = match target {
        Json::Object(target) => target,
        _ => Default::default(),
    };
    for (key, value) in patch {
        if value.is_null() {
            target.remove(key);
        } else {
            let old = target.remove(key).unwrap_or(Json::Null);
            target.insert(key.clone(), merged(old, value));
        }
    }
    Json::Object(target)
}

pub(crate) fn json_of(owned: &Owned) -> Json {
    let arena = Arena::new();
    serde_json::from_slice(&encode(owned.share(&arena))).expect("what is encoded is JSON")
}
