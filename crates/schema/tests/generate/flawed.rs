//! Schemas that are not structural, made from those that are.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

/// The schema with a few keywords added, replaced or taken away anywhere in it, junctors included.
pub(crate) fn flawed(schema: Value) -> BoxedStrategy<Value> {
    let edit = (any::<Index>(), select(flaws()));
    (Just(schema), prop::collection::vec(edit, 0..=3))
        .prop_map(|(mut schema, edits)| {
            for (place, (keyword, value)) in edits {
                let count = count(&schema);
                apply(&mut schema, &mut place.index(count), keyword, &value);
            }
            schema
        })
        .boxed()
}

/// Keywords where they may be wrong; null takes the keyword away.
fn flaws() -> Vec<(&'static str, Value)> {
    vec![
        ("type", json!(null)),
        ("type", json!("object")),
        ("type", json!("array")),
        ("type", json!("string")),
        ("type", json!("integer")),
        ("title", json!("a title")),
        ("description", json!("what it is")),
        ("nullable", json!(true)),
        ("default", json!({})),
        ("default", json!("a")),
        ("default", json!({"a": null, "unknown": 1})),
        ("additionalProperties", json!(true)),
        ("additionalProperties", json!(false)),
        ("additionalProperties", json!({"type": "string"})),
        ("items", json!({"type": "string"})),
        ("items", json!(null)),
        ("pattern", json!("(")),
        ("uniqueItems", json!(true)),
        ("properties", json!({"metadata": {"type": "object"}, "kind": {"type": "integer"}})),
        ("properties", json!({"metadata": {"type": "object", "properties": {"labels": {"type": "object"}}}})),
        ("properties", json!({"metadata": {"type": "object", "properties": {"name": {"type": "string"}}}})),
        ("anyOf", json!([{"type": "integer"}, {"type": "string"}])),
        ("allOf", json!([{"anyOf": [{"type": "integer"}, {"type": "string"}]}])),
        ("anyOf", json!([{"type": "string"}, {"type": "integer"}])),
        ("not", json!({"items": {"required": ["a"]}})),
        ("oneOf", json!([{"properties": {"a": {"properties": {"b": {"minLength": 1}}}}}])),
        ("x-kubernetes-int-or-string", json!(true)),
        ("x-kubernetes-embedded-resource", json!(true)),
        ("x-kubernetes-preserve-unknown-fields", json!(true)),
        ("x-kubernetes-preserve-unknown-fields", json!(false)),
        ("x-kubernetes-list-type", json!("set")),
        ("x-kubernetes-list-type", json!("map")),
        ("x-kubernetes-list-map-keys", json!(["key"])),
        ("x-kubernetes-map-type", json!("atomic")),
        ("$ref", json!("#/elsewhere")),
    ]
}

fn count(schema: &Value) -> usize {
    1 + children(schema).map(count).sum::<usize>()
}

fn children(schema: &Value) -> impl Iterator<Item = &Value> {
    let single = ["items", "additionalProperties", "not"].into_iter().filter_map(|keyword| schema.get(keyword));
    let named = schema["properties"].as_object().into_iter().flat_map(|fields| fields.values());
    let branches = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|keyword| schema[keyword].as_array()).flatten();
    single.chain(named).chain(branches).filter(|child| child.is_object())
}

/// Counts `place` down over the nodes of the schema, and edits the one where it is zero.
fn apply(schema: &mut Value, place: &mut usize, keyword: &str, value: &Value) -> bool {
    let Some(keywords) = schema.as_object_mut() else { return false };
    if *place == 0 {
        match value {
            Value::Null => keywords.remove(keyword),
            value => keywords.insert(keyword.to_owned(), value.clone()),
        };
        return true;
    }
    *place -= 1;
    let mut below = Vec::new();
    for (name, child) in keywords {
        match name.as_str() {
            "items" | "additionalProperties" | "not" if child.is_object() => below.push(child),
            "properties" => below.extend(child.as_object_mut().into_iter().flat_map(|fields| fields.values_mut())),
            "allOf" | "anyOf" | "oneOf" => below.extend(child.as_array_mut().into_iter().flatten()),
            _ => {}
        }
    }
    below.into_iter().any(|child| apply(child, place, keyword, value))
}
