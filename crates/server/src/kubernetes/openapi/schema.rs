//! The schemas of versions as they are published: with what every document has, in the words of either OpenAPI.

use wheelwright_document::{Entry, Value, decode};

use super::Dialect;
use crate::kubernetes::{json::Json, resource::Resource};

/// The schemas that all resources refer to.
const SHARED: &str = include_str!("shared.json");
const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.";

/// The shared schemas, by name.
pub(super) fn shared(dialect: Dialect, json: Json<'_>) -> Vec<(&str, Value<'_>)> {
    let Ok(Value::Object(schemas)) = decode(SHARED.as_bytes(), json.0) else { return Vec::new() };
    schemas.iter().map(|schema| (schema.key, published(schema.value, dialect, json))).collect()
}

/// The name of a schema in the shared ones.
pub(super) fn meta(name: &str) -> String {
    format!("{META}{name}")
}

/// The name of the schema of a resource: `com.example.shop.v1.Widget`.
pub(super) fn name_of(resource: &Resource, kind: &str) -> String {
    let mut parts: Vec<&str> = resource.definition().group.split('.').collect();
    parts.reverse();
    format!("{}.{}.{kind}", parts.join("."), resource.version().name)
}

/// The schema of a resource.
pub(super) fn of_resource<'a>(resource: &'a Resource, dialect: Dialect, json: Json<'a>) -> Value<'a> {
    let schema = published(resource.version().schema.share(json.0), dialect, json);
    let own = with_type_meta(schema, "", dialect, json);
    with_kind(own, resource, &resource.definition().kind, json)
}

/// The schema of lists of a resource.
pub(super) fn of_list<'a>(resource: &Resource, dialect: Dialect, json: Json<'a>) -> Value<'a> {
    let definition = resource.definition();
    let text =
        |description: &str| json.object([("description", json.text(description)), ("type", json.text("string"))]);
    let items = json.object([
        ("description", json.text(&format!("The {}.", definition.plural))),
        ("type", json.text("array")),
        ("items", json.object([dialect.reference(&name_of(resource, &definition.kind), json)])),
    ]);
    let properties = json.object([
        ("apiVersion", text(API_VERSION)),
        ("items", items),
        ("kind", text(KIND)),
        (
            "metadata",
            described_reference("What the list shows, and where it goes on.", &meta("ListMeta"), dialect, json),
        ),
    ]);
    let list = json.object([
        ("description", json.text(&format!("A list of {}.", definition.plural))),
        ("type", json.text("object")),
        ("required", json.texts(["items"])),
        ("properties", properties),
    ]);
    with_kind(list, resource, &definition.list_kind, json)
}

/// A schema with the kind that it is of, and the fields that documents can be selected by.
fn with_kind<'a>(schema: Value<'a>, resource: &Resource, kind: &str, json: Json<'a>) -> Value<'a> {
    let kinds = json.list([group_version_kind(resource, kind, json)]);
    let schema = with(schema, [("x-kubernetes-group-version-kind", kinds)], json);
    let fields = &resource.version().selectable_fields;
    if fields.is_empty() {
        return schema;
    }
    let field = |path: &str| json.object([("fieldPath", json.text(path.trim_start_matches('.')))]);
    let fields = json.list(fields.iter().map(|path| field(path)));
    with(schema, [("x-kubernetes-selectable-fields", fields)], json)
}

/// Which kind a schema or an operation is about.
pub(super) fn group_version_kind<'a>(resource: &Resource, kind: &str, json: Json<'a>) -> Value<'a> {
    json.object([
        ("group", json.text(&resource.definition().group)),
        ("version", json.text(&resource.version().name)),
        ("kind", json.text(kind)),
    ])
}

const API_VERSION: &str = "The group and version that the document is written in.";
const KIND: &str = "What the document is.";

/// What is said of a value, and nothing of what it looks like.
const KEPT_OF_ANYTHING: [&str; 2] = ["description", "title"];

/// A schema in the words of a dialect. Version 2 of OpenAPI has no defaults, knows of one type at a time and not of null:
/// where a schema says more, nothing is said of the value.
fn published<'a>(schema: Value<'a>, dialect: Dialect, json: Json<'a>) -> Value<'a> {
    let Value::Object(entries) = schema else { return schema };
    let is_on = |key: &str| schema.get(key).and_then(Value::as_bool) == Some(true);
    let is_anything = is_on("nullable") || is_on("x-kubernetes-preserve-unknown-fields");
    let is_kept = |entry: &&Entry<'a>| {
        dialect == Dialect::V3
            || match entry.key {
                "default" | "nullable" | "oneOf" | "anyOf" | "not" => false,
                "allOf" => only_reference(entry.value).is_some(),
                key if is_anything => KEPT_OF_ANYTHING.contains(&key) || key.starts_with("x-"),
                _ => true,
            }
    };
    let entries = entries.iter().filter(is_kept).map(|entry| match (entry.key, entry.value) {
        ("properties", Value::Object(properties)) => {
            let properties = properties.iter().map(|property| (property.key, published(property.value, dialect, json)));
            ("properties", json.object(properties))
        }
        ("items" | "additionalProperties", value) => (entry.key, published(value, dialect, json)),
        ("allOf", value) => match only_reference(value) {
            Some(reference) if dialect == Dialect::V2 => dialect.reference(reference, json),
            _ => ("allOf", value),
        },
        ("$ref", Value::String(reference)) => dialect.reference(name_in(reference.as_str()), json),
        (key, value) => (key, value),
    });
    let own = json.object(entries);
    match dialect {
        Dialect::V3 if is_on("x-kubernetes-embedded-resource") => {
            let required = schema.get("required").and_then(Value::as_array).unwrap_or_default().iter().copied();
            let own = with(own, [("required", both_required(required, json))], json);
            with_type_meta(own, " of the document in it", dialect, json)
        }
        Dialect::V3
            if is_on("x-kubernetes-int-or-string")
                && ["anyOf", "allOf"].iter().all(|key| schema.get(key).is_none()) =>
        {
            let types = ["integer", "string"].map(|name| json.object([("type", json.text(name))]));
            with(own, [("anyOf", json.list(types))], json)
        }
        _ => own,
    }
}

/// `apiVersion` and `kind`, and what else is required.
fn both_required<'a>(required: impl Iterator<Item = Value<'a>>, json: Json<'a>) -> Value<'a> {
    let own = ["apiVersion", "kind"].map(|key| json.text(key));
    let others = required.filter(|name| !matches!(name.as_str(), Some("apiVersion" | "kind")));
    json.list(own.into_iter().chain(others.collect::<Vec<_>>()))
}

/// A schema with what every document has.
fn with_type_meta<'a>(schema: Value<'a>, of: &str, dialect: Dialect, json: Json<'a>) -> Value<'a> {
    let text = |description: &str| {
        let description = format!("{}{of}.", description.trim_end_matches('.'));
        json.object([("description", json.text(&description)), ("type", json.text("string"))])
    };
    let properties = schema.get("properties").unwrap_or(Value::Object(&[]));
    let metadata = described_reference(&format!("Name, labels and the like{of}."), &meta("ObjectMeta"), dialect, json);
    let own = [("apiVersion", text(API_VERSION)), ("kind", text(KIND)), ("metadata", metadata)];
    with(schema, [("properties", with(properties, own, json))], json)
}

/// A reference with a description, which OpenAPI 3 wants apart.
fn described_reference<'a>(description: &str, name: &str, dialect: Dialect, json: Json<'a>) -> Value<'a> {
    let reference = dialect.reference(name, json);
    let reference = match dialect {
        Dialect::V2 => reference,
        Dialect::V3 => ("allOf", json.list([json.object([reference])])),
    };
    json.object([("description", json.text(description)), reference])
}

/// The name of the schema that `allOf` is just a reference to.
fn only_reference(all_of: Value<'_>) -> Option<&str> {
    match all_of {
        Value::Array([only]) => only.get("$ref").and_then(Value::as_str).map(name_in),
        _ => None,
    }
}

/// The name in a reference.
fn name_in(reference: &str) -> &str {
    reference.rsplit('/').next().unwrap_or(reference)
}

/// An object with some fields instead of those of the same name.
fn with<'a, const N: usize>(object: Value<'a>, fields: [(&'a str, Value<'a>); N], json: Json<'a>) -> Value<'a> {
    let entries = object.as_object().unwrap_or_default().iter();
    let others = entries.filter(|entry| fields.iter().all(|(key, _)| *key != entry.key));
    json.object(others.map(|entry| (entry.key, entry.value)).chain(fields).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use wheelwright_document::{Arena, Owned, encode};

    use super::*;

    fn text(schema: &str, dialect: Dialect) -> String {
        let arena = Arena::new();
        let schema = Owned::from(decode(schema.as_bytes(), &arena).unwrap());
        String::from_utf8(encode(published(schema.share(&arena), dialect, Json(&arena)))).unwrap()
    }

    #[test]
    fn version_2_has_no_defaults_and_says_nothing_of_what_it_cannot() {
        let schema = r#"{"type":"object","properties":{"a":{"type":"integer","default":1},"b":{"type":"string","nullable":true,"description":"B."},"c":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"d":{"type":"string"}}}},"oneOf":[{"required":["a"]}]}"#;
        assert_eq!(
            text(schema, Dialect::V2),
            r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"description":"B."},"c":{"x-kubernetes-preserve-unknown-fields":true}}}"#
        );
        assert_eq!(text(schema, Dialect::V3), schema);
    }

    #[test]
    fn numbers_or_texts_are_either() {
        let schema = r#"{"x-kubernetes-int-or-string":true}"#;
        assert_eq!(
            text(schema, Dialect::V3),
            r#"{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]}"#
        );
        assert_eq!(text(schema, Dialect::V2), schema);
    }
}
