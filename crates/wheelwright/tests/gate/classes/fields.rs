//! Fields that are removed, renamed, moved, required, or of another type.

use serde_json::{Value as Json, json};
use wheelwright_evolve::laws::Random;

use super::{SchemaSeed, Seeded, a_field, about, field_names, is_set, push, required, set, trying, type_of, unset};

pub(super) const CLASSES: &[(&str, SchemaSeed)] = &[
    ("field removed", removed),
    ("field renamed", renamed),
    ("field moved into another object", moved),
    ("field wrapped in an object", wrapped),
    ("field required", newly_required),
    ("field required, with a default", required_with_default),
    ("string to integer", |node, _| retyped(node, "string", "integer")),
    ("integer to string", |node, _| retyped(node, "integer", "string")),
    ("boolean to string", |node, _| retyped(node, "boolean", "string")),
    ("number to integer", |node, _| retyped(node, "number", "integer")),
    ("integer to number", |node, _| retyped(node, "integer", "number")),
    ("scalar to list", to_list),
    ("list to its item", to_item),
    ("int-or-string to integer", int_or_string_to_integer),
    ("string to int-or-string", to_int_or_string),
    ("field added", added),
    ("field no longer required", no_longer_required),
    ("description changed", described),
];

fn forget(node: &mut Json, field: &str) {
    if let Some(list) = node.get_mut("required").and_then(Json::as_array_mut) {
        list.retain(|name| name != field);
        if list.is_empty() {
            unset(node, "required");
        }
    }
}

fn take(node: &mut Json, field: &str) -> Option<Json> {
    let schema = node.get_mut("properties")?.as_object_mut()?.remove(field)?;
    forget(node, field);
    Some(schema)
}

fn removed(node: &mut Json, random: &mut Random) -> Option<Seeded> {
    // Where unknown fields are kept, a field that is not declared any more keeps its value.
    let field = a_field(node, random).filter(|_| !is_set(node, "x-kubernetes-preserve-unknown-fields"))?;
    take(node, &field)?;
    about(field)
}

fn renamed(node: &mut Json, random: &mut Random) -> Option<Seeded> {
    let field = a_field(node, random)?;
    let is_required = required(node).contains(&field);
    let schema = take(node, &field)?;
    let other = format!("{field}Reference");
    node.get_mut("properties")?.as_object_mut()?.insert(other.clone(), schema);
    if is_required && random.one_in(2) {
        push(node, "required", json!(other));
    }
    about(field)
}

fn moved(node: &mut Json, random: &mut Random) -> Option<Seeded> {
    let field = a_field(node, random)?;
    let is_object = |name: &&String| **name != field && node["properties"][*name].get("properties").is_some();
    let into = field_names(node).iter().find(is_object)?.clone();
    let schema = take(node, &field)?;
    node["properties"][&into].get_mut("properties")?.as_object_mut()?.insert(format!("{field}Moved"), schema);
    about(field)
}

fn wrapped(node: &mut Json, random: &mut Random) -> Option<Seeded> {
    let field = a_field(node, random)?;
    let mut schema = node["properties"][&field].clone();
    unset(&mut schema, "default");
    set(&mut node["properties"], &field, json!({"type": "object", "properties": {"value": schema}}));
    about(field)
}

fn newly_required(node: &mut Json, random: &mut Random) -> Option<Seeded> {
    let field = optional(node, random, false)?;
    push(node, "required", json!(field));
    Some(Seeded { without: vec![field], ..Seeded::default() })
}

fn required_with_default(node: &mut Json, random: &mut Random) -> Option<Seeded> {
    let field = optional(node, random, true)?;
    push(node, "required", json!(field));
    Some(Seeded { without: vec![field], ..Seeded::default() })
}

fn optional(node: &Json, random: &mut Random, with_default: bool) -> Option<String> {
    let there = required(node);
    let fits =
        |name: &String| !there.contains(name) && node["properties"][name].get("default").is_some() == with_default;
    let names: Vec<String> = field_names(node).into_iter().filter(fits).collect();
    random.pick(&names).cloned()
}

fn retyped(node: &mut Json, from: &str, to: &str) -> Option<Seeded> {
    if type_of(node) != from {
        return None;
    }
    let keywords = ["format", "pattern", "enum", "default", "minLength", "maxLength", "minimum", "maximum"];
    let others = ["exclusiveMinimum", "exclusiveMaximum", "multipleOf", "allOf", "anyOf", "oneOf", "not"];
    for keyword in keywords.into_iter().chain(others).chain(["x-kubernetes-validations"]) {
        unset(node, keyword);
    }
    set(node, "type", to);
    trying([json!(1.5)])
}

fn to_list(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    if !["string", "integer", "boolean"].contains(&type_of(node)) || node.get("default").is_some() {
        return None;
    }
    *node = json!({"type": "array", "items": node});
    trying([])
}

fn to_item(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    if type_of(node) != "array" || node.get("default").is_some() {
        return None;
    }
    *node = node.get("items")?.clone();
    trying([])
}

fn int_or_string_to_integer(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    if !is_set(node, "x-kubernetes-int-or-string") || node.get("default").is_some() {
        return None;
    }
    *node = json!({"type": "integer"});
    trying([json!("50%"), json!("a")])
}

fn to_int_or_string(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    if type_of(node) != "string" || node.as_object()?.keys().any(|key| !["type", "description"].contains(&&**key)) {
        return None;
    }
    *node = json!({"x-kubernetes-int-or-string": true});
    trying([json!(1)])
}

fn added(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    let fields = node.get_mut("properties")?.as_object_mut()?;
    fields.insert("addedLater".to_owned(), json!({"type": "string"}));
    about("addedLater".to_owned())
}

fn no_longer_required(node: &mut Json, random: &mut Random) -> Option<Seeded> {
    let field = random.pick(&required(node))?.clone();
    forget(node, &field);
    Some(Seeded { without: vec![field], ..Seeded::default() })
}

fn described(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    set(node, "description", "Described in other words.");
    trying([])
}
