//! Defaults.

use serde_json::{Value as Json, json};
use wheelwright_evolve::laws::Random;

use super::{SchemaSeed, Seeded, field_names, set, trying, type_of, unset};

pub(super) const CLASSES: &[(&str, SchemaSeed)] = &[
    ("default changed", changed),
    ("default removed", removed),
    ("default added", added),
    ("default of an object added", object_added),
];

fn changed(node: &mut Json, random: &mut Random) -> Option<Seeded> {
    let field = with_default(node, random)?;
    let schema = &mut node["properties"][&field];
    let other = match schema["default"].clone() {
        Json::Bool(value) => json!(!value),
        Json::Number(number) => json!(number.as_i64()? + 1),
        Json::String(text) => match schema.get("enum").and_then(Json::as_array) {
            Some(members) => members.iter().find(|member| **member != text)?.clone(),
            None if schema.get("pattern").is_none() && schema.get("format").is_none() => json!(format!("{text}x")),
            None => return None,
        },
        _ => return None,
    };
    set(schema, "default", other);
    Some(Seeded { without: vec![field], ..Seeded::default() })
}

fn removed(node: &mut Json, random: &mut Random) -> Option<Seeded> {
    let field = with_default(node, random)?;
    unset(&mut node["properties"][&field], "default");
    Some(Seeded { without: vec![field], ..Seeded::default() })
}

fn with_default(node: &Json, random: &mut Random) -> Option<String> {
    let names: Vec<String> =
        field_names(node).into_iter().filter(|name| node["properties"][name].get("default").is_some()).collect();
    random.pick(&names).cloned()
}

fn added(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    let is_plain = node.as_object()?.keys().all(|key| ["type", "description"].contains(&&**key));
    let default = match type_of(node) {
        _ if !is_plain => return None,
        "string" => json!("a"),
        "integer" => json!(1),
        "boolean" => json!(true),
        _ => return None,
    };
    set(node, "default", default);
    trying([])
}

fn object_added(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    if type_of(node) != "object" || node.get("default").is_some() || node.get("required").is_some() {
        return None;
    }
    set(node, "default", json!({}));
    trying([])
}
