//! Ratcheting: which old value a new one replaces, and whether anything has changed.

use serde_json::Value;

use super::{GoNumber, deep_equal, field_schema, list, subschema, text};

/// Whether a value is what its counterpart was. What has no counterpart counts as a change.
pub(crate) fn is_unchanged(schema: &Value, new: &Value, old: &Value) -> bool {
    match (new, old) {
        (Value::Array(items), Value::Array(olds)) if text(schema, "x-kubernetes-list-type") == "map" => {
            let unchanged = |item: &Value| {
                let (items, old) = (subschema(schema, "items"), counterpart_of_item(schema, old, item));
                items.zip(old).is_some_and(|(schema, old)| is_unchanged(schema, item, old))
            };
            items.len() == olds.len() && items.iter().all(unchanged)
        }
        (Value::Object(fields), Value::Object(olds)) => {
            let unchanged = |(name, field): (&String, &Value)| {
                let (schema, old) = (field_schema(schema, name), counterpart_of_field(old, name));
                schema.zip(old).is_some_and(|(schema, old)| is_unchanged(schema, field, old))
            };
            fields.len() == olds.len() && fields.iter().all(unchanged)
        }
        _ => deep_equal(new, old),
    }
}

pub(crate) fn counterpart_of_field<'o>(old: &'o Value, name: &str) -> Option<&'o Value> {
    old.as_object()?.get(name)
}

/// The first old item with the same keys; only map lists have such.
pub(crate) fn counterpart_of_item<'o>(schema: &Value, old: &'o Value, item: &Value) -> Option<&'o Value> {
    // An integer or a string has no other type, whatever else is written.
    let is_array =
        text(schema, "type") == "array" && schema.get("x-kubernetes-int-or-string") != Some(&Value::Bool(true));
    if text(schema, "x-kubernetes-list-type") != "map" || !is_array {
        return None;
    }
    let wanted = key_of(schema, item)?;
    old.as_array()?.iter().find(|candidate| key_of(schema, candidate).as_ref() == Some(&wanted))
}

/// The keys of an item as text, if all are there and scalars.
fn key_of(schema: &Value, item: &Value) -> Option<Vec<String>> {
    let names = list(schema, "x-kubernetes-list-map-keys");
    let key = |name: &Value| match item.as_object()?.get(name.as_str()?)? {
        Value::Number(number) => Some(match GoNumber::of(number) {
            GoNumber::Integer(integer) => integer.to_string(),
            // Several keys are compared as they are written.
            GoNumber::Float(float) if names.len() > 1 => format!("float {float:.6}"),
            GoNumber::Float(float) => format!("float {}", float + 0.0),
        }),
        scalar @ (Value::Bool(_) | Value::String(_)) => Some(scalar.to_string()),
        _ => None,
    };
    names.iter().map(key).collect::<Option<Vec<_>>>().filter(|key| !key.is_empty())
}
