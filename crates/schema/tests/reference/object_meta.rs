//! Metadata read into Go's `ObjectMeta` and written back.

use serde_json::{Map, Value, json};

use super::{GoNumber, time};

/// Reads metadata and writes it back: unknown and empty fields are gone, and so are nulls.
pub(crate) fn normalise(metadata: &Value) -> Result<Value, String> {
    let shape = json!({
        "name": "", "generateName": "", "namespace": "", "selfLink": "", "uid": "",
        "resourceVersion": "", "generation": 0, "creationTimestamp": "time",
        "deletionTimestamp": "time", "deletionGracePeriodSeconds": "pointer",
        "labels": {"*": ""}, "annotations": {"*": ""}, "finalizers": [""],
        "ownerReferences": [{"apiVersion": "kept", "kind": "kept", "name": "kept", "uid": "kept",
            "controller": true, "blockOwnerDeletion": true}],
        "managedFields": [{"manager": "", "operation": "", "apiVersion": "", "time": "time",
            "fieldsType": "", "fieldsV1": null, "subresource": ""}],
    });
    Ok(read(metadata, &shape)?.unwrap_or_else(|| json!({})))
}

/// Reads `value` in the shape of an example; `None` if it is empty and would not be written back.
fn read(value: &Value, shape: &Value) -> Result<Option<Value>, String> {
    let refuse = || Err(format!("cannot read {value} as metadata"));
    Ok(match (shape, value) {
        (Value::String(shape), Value::Null) => (shape == "kept").then(|| json!("")),
        (_, Value::Null) => None,
        (Value::String(shape), Value::String(text)) => match shape.as_str() {
            "time" => match time::in_utc(text) {
                Some(time) => time.map(Value::String),
                None => return refuse(),
            },
            "pointer" => return refuse(),
            "kept" => Some(value.clone()),
            _ => Some(value.clone()).filter(|_| !text.is_empty()),
        },
        (Value::String(shape), Value::Number(_)) if shape == "pointer" => match integer(value) {
            Some(integer) => Some(json!(integer)),
            None => return refuse(),
        },
        (Value::Number(_), Value::Number(_)) => match integer(value) {
            Some(integer) => Some(json!(integer)).filter(|_| integer != 0),
            None => return refuse(),
        },
        (Value::Bool(_), Value::Bool(_)) | (Value::Null, _) => Some(value.clone()),
        (Value::Array(shape), Value::Array(items)) => {
            let mut read_items = Vec::new();
            for item in items {
                let empty = if shape[0].is_object() { read(&json!({}), &shape[0])? } else { Some(json!("")) };
                read_items.push(read(item, &shape[0])?.or(empty).unwrap_or_else(|| json!({})));
            }
            Some(read_items).filter(|items| !items.is_empty()).map(Value::Array)
        }
        (Value::Object(shape), Value::Object(fields)) => {
            let mut read_fields = Map::new();
            if let Some(shape) = shape.get("*") {
                for (name, field) in fields {
                    let text = read(field, shape)?.unwrap_or_else(|| json!(""));
                    read_fields.insert(name.clone(), text);
                }
            } else {
                for (name, shape) in shape {
                    let field = fields.get(name).unwrap_or(&Value::Null);
                    if let Some(field) = read(field, shape)? {
                        read_fields.insert(name.clone(), field);
                    }
                }
            }
            Some(read_fields).filter(|fields| !fields.is_empty()).map(Value::Object)
        }
        _ => return refuse(),
    })
}

fn integer(value: &Value) -> Option<i64> {
    match GoNumber::of(value.as_number()?) {
        GoNumber::Integer(integer) => Some(integer),
        GoNumber::Float(float) => float.to_string().parse().ok(),
    }
}
