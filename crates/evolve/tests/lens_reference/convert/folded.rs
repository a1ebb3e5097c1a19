//! A shorthand beside a field that can say more: every value of it that the field lacks is added to the field.

use serde_json::{Value as Json, json};

/// The richer field with its shorthand: what one of them says. Null says nothing.
pub(super) fn fold(key: Option<&str>, shorthand: Option<&Json>, rich: Option<&Json>, is_list: bool) -> Option<Json> {
    let Some(shorthand) = shorthand.filter(|shorthand| !shorthand.is_null()) else { return rich.cloned() };
    let rich = rich.filter(|rich| !rich.is_null());
    match (rich, key) {
        (rich, key) if is_list => {
            let mut items = match rich {
                None => Vec::new(),
                Some(Json::Array(items)) => items.clone(),
                // It is no list at all.
                Some(other) => return Some(other.clone()),
            };
            let values = shorthand.as_array().cloned().unwrap_or_else(|| vec![shorthand.clone()]);
            for value in values {
                let is_same = |item: &Json| match key {
                    Some(key) => item.get(key) == Some(&value),
                    None => *item == value,
                };
                if !items.iter().any(is_same) {
                    items.push(key.map_or(value.clone(), |key| json!({ key: value })));
                }
            }
            Some(Json::Array(items))
        }
        (None, Some(key)) => Some(json!({ key: shorthand })),
        (Some(Json::Object(map)), Some(key)) => {
            let mut map = map.clone();
            if map.get(key).is_none_or(Json::is_null) {
                map.insert(key.to_owned(), shorthand.clone());
            }
            Some(Json::Object(map))
        }
        (rich, _) => Some(rich.unwrap_or(shorthand).clone()),
    }
}
