//! Maps, unknown fields, embedded resources, and the number of fields.

use serde_json::{Value as Json, json};
use wheelwright_evolve::laws::Random;

use super::{SchemaSeed, Seeded, field_names, is_set, set, text, trying, type_of, unset};

pub(super) const CLASSES: &[(&str, SchemaSeed)] = &[
    ("unknown fields pruned", pruned),
    ("unknown fields kept", kept),
    ("map values of another type", other_values),
    ("map made an object", map_to_object),
    ("object made a map", object_to_map),
    ("minProperties added", min_properties),
    ("maxProperties added", max_properties),
    ("maxProperties lowered", max_properties_lowered),
    ("embedded resource", embedded),
    ("map type atomic", atomic),
];

fn pruned(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    if !is_set(node, "x-kubernetes-preserve-unknown-fields") || type_of(node) != "object" {
        return None;
    }
    unset(node, "x-kubernetes-preserve-unknown-fields");
    trying([json!({"undeclared": "a"})])
}

fn kept(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    if node.get("properties").is_none() || is_set(node, "x-kubernetes-preserve-unknown-fields") {
        return None;
    }
    set(node, "x-kubernetes-preserve-unknown-fields", true);
    trying([json!({"undeclared": "a"})])
}

fn other_values(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    let values = node.get_mut("additionalProperties").filter(|values| text(values, "type") == "string")?;
    *values = json!({"type": "integer"});
    unset(node, "default");
    trying([json!({"key": "a"})])
}

fn map_to_object(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    let values = node.get("additionalProperties").filter(|values| values.is_object())?.clone();
    unset(node, "additionalProperties");
    set(node, "properties", json!({"known": values}));
    trying([json!({"key": "a"})])
}

fn object_to_map(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    let is_plain = !field_names(node).is_empty() && node.get("default").is_none();
    if !is_plain || node["properties"].get("metadata").is_some() {
        return None;
    }
    *node = json!({"type": "object", "additionalProperties": {"type": "string"}});
    trying([])
}

fn counted(node: &Json) -> bool {
    type_of(node) == "object" && node.get("default").is_none()
}

fn min_properties(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    if !counted(node) || node.get("minProperties").is_some() {
        return None;
    }
    set(node, "minProperties", 1);
    trying([json!({})])
}

fn max_properties(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    if !counted(node) || node.get("maxProperties").is_some() {
        return None;
    }
    set(node, "maxProperties", 1);
    trying([json!({"a": "a", "b": "b"})])
}

fn max_properties_lowered(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    let most = node.get("maxProperties")?.as_u64().filter(|most| (2..100).contains(most))?;
    set(node, "maxProperties", most - 1);
    trying([Json::Object((0..most).map(|at| (format!("key{at}"), json!("a"))).collect())])
}

fn embedded(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    if !is_set(node, "x-kubernetes-preserve-unknown-fields") || is_set(node, "x-kubernetes-embedded-resource") {
        return None;
    }
    if type_of(node) != "object" || node.get("default").is_some() {
        return None;
    }
    set(node, "x-kubernetes-embedded-resource", true);
    trying([json!({}), json!({"undeclared": "a"})])
}

fn atomic(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    if type_of(node) != "object" || node.get("x-kubernetes-map-type").is_some() {
        return None;
    }
    set(node, "x-kubernetes-map-type", "atomic");
    trying([])
}
