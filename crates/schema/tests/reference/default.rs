//! Null handling and defaulting.

use serde_json::Value;

use super::{default_of, field_schema, flag, properties, property, subschema};

/// Removes the nulls of fields that are neither nullable nor defaulted. Null list items stay.
pub(crate) fn drop_nulls(value: &mut Value, schema: Option<&Value>) {
    match value {
        Value::Object(fields) => fields.retain(|name, field| {
            let schema = schema.and_then(|schema| field_schema(schema, name));
            let unwanted = schema.is_some_and(|schema| refuses_null(field, schema) && default_of(schema).is_none());
            drop_nulls(field, schema);
            !unwanted
        }),
        Value::Array(items) => {
            let schema = schema.and_then(|schema| subschema(schema, "items"));
            items.iter_mut().for_each(|item| drop_nulls(item, schema));
        }
        _ => {}
    }
}

/// Fills in defaults, a parent's before its children's. The default of the root itself is never used.
pub(crate) fn default(value: &mut Value, schema: Option<&Value>) {
    let Some(schema) = schema else { return };
    match value {
        Value::Object(fields) => {
            for (name, field_schema) in properties(schema) {
                let Some(wanted) = default_of(field_schema) else {
                    continue;
                };
                if fields.get(name).is_none_or(|field| refuses_null(field, field_schema)) {
                    fields.insert(name.clone(), wanted.clone());
                }
            }
            for (name, field) in fields {
                match property(schema, name) {
                    Some(field_schema) => default(field, Some(field_schema)),
                    None => replace_null(field, subschema(schema, "additionalProperties")),
                }
            }
        }
        Value::Array(items) => {
            items.iter_mut().for_each(|item| replace_null(item, subschema(schema, "items")));
        }
        _ => {}
    }
}

/// Defaults a map value or list item: only if it exists and is a null that its schema refuses.
fn replace_null(value: &mut Value, schema: Option<&Value>) {
    if let Some(schema) = schema.filter(|schema| refuses_null(value, schema)) {
        *value = default_of(schema).cloned().unwrap_or_default();
    }
    default(value, schema);
}

fn refuses_null(value: &Value, schema: &Value) -> bool {
    value.is_null() && !flag(schema, "nullable")
}
