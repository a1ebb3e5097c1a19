//! Removal of the fields that a schema does not know.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{default_of, flag, has_additional_properties, is_embedded_resource, properties, property, subschema};

/// Prunes `value` and notes the removed paths. `resource` says that `apiVersion`, `kind` and `metadata` are implied
/// here even if the schema does not say so.
pub(crate) fn prune(
    value: &mut Value,
    schema: Option<&Value>,
    resource: bool,
    path: &str,
    unknown: &mut BTreeSet<String>,
) {
    let keeps_unknown = schema.is_some_and(|schema| flag(schema, "x-kubernetes-preserve-unknown-fields"));
    walk(value, schema, resource, keeps_unknown, path, unknown);
}

/// The schema with the unknown fields of its defaults removed, as Kubernetes does before it applies any. Each default
/// is pruned in its place in an otherwise empty document, so that what its ancestors keep is kept. Kubernetes takes that
/// document for a resource always; for us a schema may be of any value, whose `metadata` is a field like others.
pub(crate) fn prune_defaults(schema: &Value, resource: bool) -> Value {
    prune_defaults_below(schema, resource, schema, &[])
}

/// `steps` lead from the root to `schema`: the names of fields, and `None` for a list item.
fn prune_defaults_below(root: &Value, resource: bool, schema: &Value, steps: &[Option<&str>]) -> Value {
    let mut result = schema.clone();
    if let Some(value) = default_of(schema) {
        let mut document = steps.iter().rev().fold(value.clone(), |value, step| match step {
            Some(name) => json!({ *name: value }),
            None => json!([value]),
        });
        prune(&mut document, Some(root), resource, "", &mut BTreeSet::new());
        result["default"] = steps.iter().fold(document, |mut value, step| match step {
            Some(name) => value[*name].take(),
            None => value[0].take(),
        });
    }
    let below = |child, step| prune_defaults_below(root, resource, child, &[steps, &[step]].concat());
    for (name, child) in properties(schema) {
        result["properties"][name] = below(child, Some(name));
    }
    for (keyword, step) in [("additionalProperties", Some("*")), ("items", None)] {
        if let Some(child) = subschema(schema, keyword) {
            result[keyword] = below(child, step);
        }
    }
    result
}

fn walk(
    value: &mut Value,
    schema: Option<&Value>,
    resource: bool,
    keeps_unknown: bool,
    path: &str,
    unknown: &mut BTreeSet<String>,
) {
    let resource = resource || schema.is_some_and(is_embedded_resource);
    match value {
        Value::Object(fields) => fields.retain(|name, field| {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            let implied = matches!(name.as_str(), "apiVersion" | "kind" | "metadata");
            if resource && implied {
                return true;
            }
            if let Some(known) = schema.and_then(|schema| property(schema, name)) {
                prune(field, Some(known), false, &path, unknown);
            } else if let Some(map) = schema.filter(|schema| has_additional_properties(schema)) {
                // `additionalProperties: true` (and `false`) has no schema: everything below it is unknown.
                prune(field, subschema(map, "additionalProperties"), false, &path, unknown);
            } else if !keeps_unknown {
                unknown.insert(path);
                return false;
            }
            true
        }),
        Value::Array(items) => {
            let item_schema = schema.and_then(|schema| subschema(schema, "items"));
            for (index, item) in items.iter_mut().enumerate() {
                let path = format!("{path}[{index}]");
                // An array that keeps unknown fields lets its items keep theirs; without a schema for them,
                // nothing below is touched.
                match (keeps_unknown, item_schema) {
                    (true, None) => {}
                    (true, Some(_)) => walk(item, item_schema, false, true, &path, unknown),
                    (false, _) => prune(item, item_schema, false, &path, unknown),
                }
            }
        }
        _ => {}
    }
}
