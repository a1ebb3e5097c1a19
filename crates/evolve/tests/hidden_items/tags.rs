//! Tags: unique values that items hide.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use crate::schemas::Scalar;

const FIRST: u64 = 900_000;

pub(crate) fn tag(scalar: Scalar, number: u64) -> Json {
    match scalar {
        Scalar::Number => json!(FIRST + number),
        Scalar::Text | Scalar::Flag => json!(format!("tag-{number}")),
    }
}

fn number(value: &Json) -> Option<u64> {
    match value {
        Json::String(text) => text.strip_prefix("tag-")?.parse().ok(),
        value => value.as_u64()?.checked_sub(FIRST),
    }
}

/// All tags of a value, by their places.
pub(crate) fn places(value: &Json) -> BTreeMap<u64, String> {
    let mut found = BTreeMap::new();
    each(value, "", &mut |number, path| {
        let before = found.insert(number, path.to_owned());
        assert_eq!(before, None, "tag {number} is in two places: {value}");
    });
    found
}

/// All tags of a value.
pub(crate) fn of(value: &Json) -> Vec<u64> {
    places(value).into_keys().collect()
}

fn each(value: &Json, path: &str, see: &mut dyn FnMut(u64, &str)) {
    match value {
        Json::Object(fields) => fields.iter().for_each(|(name, value)| each(value, &format!("{path}/{name}"), see)),
        Json::Array(items) => {
            items.iter().enumerate().for_each(|(position, item)| each(item, &format!("{path}/{position}"), see));
        }
        scalar => number(scalar).into_iter().for_each(|number| see(number, path)),
    }
}

/// A value without tags, as a client that does not see them would copy it.
pub(crate) fn without(value: &Json) -> Json {
    match value {
        Json::Object(fields) => {
            let kept = fields.iter().filter(|(_, value)| number(value).is_none());
            Json::Object(kept.map(|(name, value)| (name.clone(), without(value))).collect())
        }
        Json::Array(items) => items.iter().map(without).collect(),
        scalar => scalar.clone(),
    }
}
