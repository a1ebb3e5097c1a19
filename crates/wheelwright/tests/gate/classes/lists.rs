//! The type, keys and length of lists.

use serde_json::{Value as Json, json};
use wheelwright_evolve::laws::Random;

use super::{SchemaSeed, Seeded, required, set, text, trying, type_of, unset};

pub(super) const CLASSES: &[(&str, SchemaSeed)] = &[
    ("maxItems added", max_items_added),
    ("maxItems lowered", max_items_lowered),
    ("minItems added", min_items_added),
    ("list made a set", made_a_set),
    ("list made a map", made_a_map),
    ("list key added", key_added),
    ("list key replaced", key_replaced),
    ("list map made atomic", made_atomic),
];

fn is_list(node: &Json) -> bool {
    type_of(node) == "array" && node.get("default").is_none()
}

/// Lists that repeat what a small item of the list may be.
fn lists_of(node: &Json) -> Vec<Json> {
    let item = match text(&node["items"], "type") {
        "string" => json!("a"),
        "integer" => json!(1),
        "object" => json!({}),
        _ => return Vec::new(),
    };
    let members = node["items"].get("enum").and_then(Json::as_array).and_then(|members| members.first().cloned());
    let item = members.unwrap_or(item);
    [0, 1, 2, 3, 9].map(|count| json!(vec![item.clone(); count])).to_vec()
}

fn max_items_added(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    if !is_list(node) || node.get("maxItems").is_some() {
        return None;
    }
    set(node, "maxItems", 1);
    trying(lists_of(node))
}

fn max_items_lowered(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    let most = node.get("maxItems")?.as_u64().filter(|most| (2..200).contains(most))?;
    set(node, "maxItems", most - 1);
    let count = usize::try_from(most).ok()?;
    let first = match text(&node["items"], "type") {
        "string" => (0..count).map(|at| json!(format!("a{at}"))).collect::<Vec<_>>(),
        "integer" => (0..count).map(|at| json!(at)).collect(),
        "object" => {
            let mut item = json!({});
            let mut items = Vec::new();
            for at in 0..count {
                for key in required(&node["items"]) {
                    set(&mut item, &key, format!("a{at}"));
                }
                items.push(item.clone());
            }
            items
        }
        _ => return None,
    };
    trying([json!(first)])
}

fn min_items_added(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    if !is_list(node) || node.get("minItems").is_some() {
        return None;
    }
    set(node, "minItems", 1);
    trying(lists_of(node))
}

fn made_a_set(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    let is_scalar = ["string", "integer"].contains(&text(&node["items"], "type"));
    if !is_list(node) || !is_scalar || text(node, "x-kubernetes-list-type") == "set" {
        return None;
    }
    set(node, "x-kubernetes-list-type", "set");
    trying(lists_of(node))
}

fn made_a_map(node: &mut Json, random: &mut Random) -> Option<Seeded> {
    if !is_list(node) || text(node, "x-kubernetes-list-type") == "map" {
        return None;
    }
    let is_text = |name: &String| text(&node["items"]["properties"][name], "type") == "string";
    let keys: Vec<String> = required(&node["items"]).into_iter().filter(is_text).collect();
    let key = random.pick(&keys)?.clone();
    set(node, "x-kubernetes-list-type", "map");
    set(node, "x-kubernetes-list-map-keys", json!([key]));
    let mut item = json!({});
    for name in required(&node["items"]) {
        let value = match text(&node["items"]["properties"][&name], "type") {
            "integer" => json!(1),
            "boolean" => json!(true),
            _ => json!("a"),
        };
        set(&mut item, &name, value);
    }
    trying([json!([item, item])])
}

fn keys(node: &Json) -> Vec<String> {
    let keys = node.get("x-kubernetes-list-map-keys").and_then(Json::as_array);
    keys.into_iter().flatten().filter_map(|key| Some(key.as_str()?.to_owned())).collect()
}

fn another_key(node: &Json, random: &mut Random) -> Option<String> {
    let there = keys(node);
    let names = required(&node["items"]).into_iter().filter(|name| !there.contains(name));
    let is_scalar = |name: &String| ["string", "integer"].contains(&text(&node["items"]["properties"][name], "type"));
    random.pick(&names.filter(is_scalar).collect::<Vec<_>>()).cloned()
}

fn key_added(node: &mut Json, random: &mut Random) -> Option<Seeded> {
    let key = another_key(node, random).filter(|_| text(node, "x-kubernetes-list-type") == "map")?;
    node["x-kubernetes-list-map-keys"].as_array_mut()?.push(json!(key));
    trying([])
}

fn key_replaced(node: &mut Json, random: &mut Random) -> Option<Seeded> {
    let key = another_key(node, random).filter(|_| text(node, "x-kubernetes-list-type") == "map")?;
    set(node, "x-kubernetes-list-map-keys", json!([key]));
    trying([])
}

fn made_atomic(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    if text(node, "x-kubernetes-list-type") != "map" {
        return None;
    }
    set(node, "x-kubernetes-list-type", "atomic");
    unset(node, "x-kubernetes-list-map-keys");
    trying([])
}
