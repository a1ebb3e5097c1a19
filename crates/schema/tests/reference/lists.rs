//! Uniqueness in lists of type `set` and `map`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{Errors, GoNumber, Path, error, list, property, subschema, text};

/// The duplicates in `object`. Kubernetes knows no roots that are not objects; for us they are values like others.
pub(crate) fn validate(schema: &Value, object: &Value) -> Errors {
    let mut errors = Errors::new();
    walk(&Path::root(), schema, object, &mut errors);
    errors
}

fn walk(path: &Path, schema: &Value, value: &Value, errors: &mut Errors) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                // Both apply to a field that is listed in a schema with additional properties.
                if let Some(schema) = subschema(schema, "additionalProperties") {
                    walk(&path.key(name), schema, field, errors);
                }
                if let Some(schema) = property(schema, name) {
                    walk(&path.child(name), schema, field, errors);
                }
            }
        }
        Value::Array(items) => {
            match text(schema, "x-kubernetes-list-type") {
                "set" => report(path, items.iter().map(Identity::of_value), errors),
                "map" => map_keys(path, schema, items, errors),
                _ => {}
            }
            if let Some(schema) = subschema(schema, "items") {
                for (index, item) in items.iter().enumerate() {
                    walk(&path.index(index), schema, item, errors);
                }
            }
        }
        _ => {}
    }
}

fn map_keys(path: &Path, schema: &Value, items: &[Value], errors: &mut Errors) {
    if let Some(index) = items.iter().position(|item| !item.is_object() && !item.is_null()) {
        errors.insert(error("Invalid", &path.index(index)));
        return;
    }
    let keys: Vec<&str> = list(schema, "x-kubernetes-list-map-keys").iter().filter_map(Value::as_str).collect();
    let identities = items.iter().map(|item| match keys[..] {
        [key] => item.get(key).map_or(Identity::Unspecified, Identity::of_value),
        _ => {
            let present = keys.iter().filter_map(|&key| Some((key, item.get(key)?)));
            let fields: Map<_, _> = present.map(|(key, value)| (key.to_owned(), value.clone())).collect();
            Identity::of_value(&Value::Object(fields))
        }
    });
    report(path, identities, errors);
}

/// Reports the second occurrence of every identity, and no later one.
fn report(path: &Path, identities: impl Iterator<Item = Identity>, errors: &mut Errors) {
    let mut seen = BTreeMap::new();
    for (index, identity) in identities.enumerate() {
        let times = seen.entry(identity).or_insert(0_usize);
        *times += 1;
        if *times == 2 {
            errors.insert(error("Duplicate", &path.index(index)));
        }
    }
}

/// What makes two items the same: for scalars Go's equality, for the rest their JSON text.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Identity {
    Unspecified,
    Null,
    Bool(bool),
    Integer(i64),
    /// Its digits, so that it has an order.
    Float(String),
    Text(String),
    Compound(String),
}

impl Identity {
    fn of_value(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(bool) => Self::Bool(*bool),
            Value::Number(number) => match GoNumber::of(number) {
                GoNumber::Integer(integer) => Self::Integer(integer),
                // Go's map keys take 0.0 and -0.0 for the same.
                GoNumber::Float(float) => Self::Float((float + 0.0).to_string()),
            },
            Value::String(text) => Self::Text(text.clone()),
            compound => Self::Compound(go_json(compound)),
        }
    }
}

/// JSON as Go writes it, as far as it matters for equality: `1.0` is written `1`.
fn go_json(value: &Value) -> String {
    match value {
        Value::Number(number) => match GoNumber::of(number) {
            GoNumber::Integer(integer) => integer.to_string(),
            GoNumber::Float(float) if float != 0.0 && !(1e-6..1e21).contains(&float.abs()) => {
                format!("{float:e}")
            }
            GoNumber::Float(float) => float.to_string(),
        },
        Value::Array(items) => {
            format!("[{}]", items.iter().map(go_json).collect::<Vec<_>>().join(","))
        }
        Value::Object(fields) => {
            let fields =
                fields.iter().map(|(name, field)| format!("{}:{}", Value::String(name.clone()), go_json(field)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}
