//! `apiVersion`, `kind` and `metadata` of resources: reading and checking them.

use serde_json::{Map, Value};

use super::object_meta::normalise;
use super::{Errors, Path, error, has_additional_properties, is_embedded_resource, property, subschema};

/// Reads the metadata of a whole resource, normalised; `None` if there is none.
pub(crate) fn read_root(object: &Value) -> Result<Option<Value>, String> {
    for name in ["kind", "apiVersion"] {
        if object.get(name).is_some_and(|value| !value.is_string()) {
            return Err(format!(".{name} must be a string"));
        }
    }
    object.get("metadata").map(normalise).transpose()
}

/// Normalises the metadata of embedded resources, and of the value itself if it is a `resource`. The path of the
/// first one that cannot be read is the error.
pub(crate) fn coerce(path: &Path, value: &mut Value, schema: Option<&Value>, resource: bool) -> Result<(), Path> {
    let Some(schema) = schema else { return Ok(()) };
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let own = path.child(name);
                match name.as_str() {
                    _ if !resource && !is_embedded_resource(schema) => {}
                    "apiVersion" | "kind" if !field.is_string() => return Err(own),
                    "metadata" => {
                        // What its own schema says is applied to a copy that is thrown away.
                        coerce(&own, &mut field.clone(), property(schema, name), false)?;
                        *field = normalise(field).map_err(|_| own)?;
                        continue;
                    }
                    _ => {}
                }
                if let Some(schema) = property(schema, name) {
                    coerce(&own, field, Some(schema), false)?;
                } else if has_additional_properties(schema) {
                    let schema = subschema(schema, "additionalProperties");
                    coerce(&path.key(name), field, schema, false)?;
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                coerce(&path.index(index), item, subschema(schema, "items"), false)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// Checks embedded resources, and the value itself if it is a `resource`.
pub(crate) fn validate(path: &Path, value: &Value, schema: Option<&Value>, resource: bool) -> Errors {
    let mut errors = Errors::new();
    let Some(schema) = schema else { return errors };
    match value {
        Value::Object(fields) => {
            if resource || is_embedded_resource(schema) {
                errors.extend(resource_errors(path, fields));
            }
            for (name, field) in fields {
                if let Some(schema) = property(schema, name) {
                    errors.extend(validate(&path.child(name), field, Some(schema), false));
                } else if has_additional_properties(schema) {
                    let schema = subschema(schema, "additionalProperties");
                    errors.extend(validate(&path.key(name), field, schema, false));
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let schema = subschema(schema, "items");
                errors.extend(validate(&path.index(index), item, schema, false));
            }
        }
        _ => {}
    }
    errors
}

fn resource_errors(path: &Path, fields: &Map<String, Value>) -> Errors {
    let mut errors = Errors::new();
    for (name, accepts) in [("apiVersion", is_group_version as fn(&str) -> bool), ("kind", is_kind)] {
        let wrong = match fields.get(name) {
            None => Some("Required"),
            Some(Value::String(text)) if text.is_empty() => Some("Required"),
            Some(Value::String(text)) if accepts(text) => None,
            Some(_) => Some("Invalid"),
        };
        errors.extend(wrong.map(|wrong| error(wrong, &path.child(name))));
    }
    if let Some(metadata) = fields.get("metadata") {
        let path = path.child("metadata");
        match normalise(metadata) {
            Ok(metadata) => errors.extend(metadata_errors(&path, &metadata)),
            Err(_) => {
                errors.insert(error("Invalid", &path));
            }
        }
    }
    errors
}

/// The total size of annotations and the names of managers are not checked: the documents of a test are small.
fn metadata_errors(path: &Path, metadata: &Value) -> Errors {
    let mut wrong: Vec<(&str, Path)> = Vec::new();
    let mut require = |holds: bool, path: Path| {
        if !holds {
            wrong.push(("Invalid", path));
        }
    };
    let strings = |name: &str| metadata[name].as_object().into_iter().flatten();
    let texts = |name: &str| metadata[name].as_array().into_iter().flatten();
    let text = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();

    for name in ["name", "generateName"] {
        require(is_path_segment(&text(metadata, name)), path.child(name));
    }
    let namespace = text(metadata, "namespace");
    require(namespace.is_empty() || is_dns_label(&namespace, true), path.child("namespace"));
    require(metadata["generation"].as_i64().unwrap_or(0) >= 0, path.child("generation"));
    for (name, value) in strings("labels") {
        let value = value.as_str().unwrap_or_default();
        require(is_qualified_name(name) && is_label_value(value), path.child("labels"));
    }
    for (name, _) in strings("annotations") {
        require(is_qualified_name(&name.to_lowercase()), path.child("annotations"));
    }
    let owners = path.child("ownerReferences");
    let mut controllers = 0;
    for owner in texts("ownerReferences") {
        let api_version = text(owner, "apiVersion");
        let version = match api_version.split_once('/') {
            _ if !is_group_version(&api_version) => "",
            Some((_, version)) => version,
            None => &api_version,
        };
        require(!version.is_empty(), owners.child("apiVersion"));
        for name in ["kind", "name", "uid"] {
            require(!text(owner, name).is_empty(), owners.child(name));
        }
        let event = (&*api_version, &*text(owner, "kind")) == ("v1", "Event");
        require(!event, owners.clone());
        controllers += usize::from(owner["controller"] == true);
    }
    require(controllers < 2, owners);
    let finalizers: Vec<&str> = texts("finalizers").filter_map(Value::as_str).collect();
    let both = ["orphan", "foregroundDeletion"].iter().all(|name| finalizers.contains(name));
    let named = finalizers.iter().all(|name| is_qualified_name(name));
    require(named && !both, path.child("finalizers"));
    for (index, entry) in texts("managedFields").enumerate() {
        let path = path.child("managedFields").index(index);
        let operation = text(entry, "operation");
        require(matches!(&*operation, "Apply" | "Update"), path.child("operation"));
        let fields_type = text(entry, "fieldsType");
        require(matches!(&*fields_type, "" | "FieldsV1"), path.child("fieldsType"));
    }
    wrong.into_iter().map(|(kind, path)| error(kind, &path)).collect()
}

fn is_group_version(text: &str) -> bool {
    text.matches('/').count() < 2
}

fn is_kind(text: &str) -> bool {
    is_dns_label(&text.to_lowercase(), false)
}

fn is_path_segment(name: &str) -> bool {
    !matches!(name, "." | "..") && !name.contains(['/', '%'])
}

/// A DNS label; that of RFC 1035 may not start with a digit.
fn is_dns_label(text: &str, digit_first: bool) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    text.len() <= 63
        && text.starts_with(|c: char| plain(c) && (digit_first || !c.is_ascii_digit()))
        && text.ends_with(plain)
        && text.chars().all(|c| plain(c) || c == '-')
}

fn is_qualified_name(text: &str) -> bool {
    let (prefix, name) = match text.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, text),
    };
    // Parts of the prefix have no length limit of their own.
    let domain = |prefix: &str| {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        prefix.len() <= 253
            && prefix.split('.').all(|part| {
                part.starts_with(plain) && part.ends_with(plain) && part.chars().all(|c| plain(c) || c == '-')
            })
    };
    prefix.is_none_or(domain) && !name.is_empty() && is_label_value(name)
}

fn is_label_value(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric();
    text.is_empty()
        || (text.len() <= 63
            && text.starts_with(plain)
            && text.ends_with(plain)
            && text.chars().all(|c| plain(c) || matches!(c, '-' | '_' | '.')))
}
