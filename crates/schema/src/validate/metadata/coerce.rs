//! What becomes of metadata on its way through Kubernetes' `ObjectMeta`: unknown and empty fields go, nulls are empty,
//! times come out in UTC, and wrong types are errors.

use std::{error::Error, fmt};

use wheelwright_document::{Arena, Entry, Number, Value};
use wheelwright_text::Timestamp;

/// Metadata as `ObjectMeta` would write it. Metadata that needs no change is returned as it is, without allocating.
pub(crate) fn coerce_metadata<'a>(metadata: Value<'a>, arena: &'a Arena) -> Result<Value<'a>, MetadataError> {
    match metadata {
        Value::Null => Ok(Value::Object(&[])),
        Value::Object(entries) => coerce_object_meta(entries, arena, Err),
        _ => Err(MetadataError::new("an object", metadata)),
    }
}

/// The same for stored documents, which must stay readable: fields of wrong types are dropped, and metadata that is
/// no object is left alone.
pub(crate) fn coerce_metadata_dropping<'a>(metadata: Value<'a>, arena: &'a Arena) -> Value<'a> {
    match metadata {
        Value::Null => Value::Object(&[]),
        Value::Object(entries) => coerce_object_meta(entries, arena, |_| Ok(Outcome::Drop)).unwrap_or(metadata),
        _ => metadata,
    }
}

/// A field of metadata that has the wrong type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct MetadataError {
    field: String,
    expected: &'static str,
    found: &'static str,
}

impl MetadataError {
    #[cold]
    fn new(expected: &'static str, found: Value<'_>) -> Self {
        Self { field: String::new(), expected, found: found.kind_name() }
    }

    #[cold]
    fn within(mut self, parent: &str) -> Self {
        let dot = if self.field.is_empty() || self.field.starts_with('[') { "" } else { "." };
        self.field = format!("{parent}{dot}{}", self.field);
        self
    }
}

impl MetadataError {
    /// The field in the metadata that is wrong, or nothing if it is the metadata itself.
    pub(crate) fn field(&self) -> Option<&str> {
        Some(&*self.field).filter(|field| !field.is_empty())
    }

    /// What is wrong with it.
    pub(crate) fn message(&self) -> String {
        format!("expected {}, found {}", self.expected, self.found)
    }
}

impl fmt::Display for MetadataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.field() {
            Some(field) => write!(f, "metadata.{field}: {}", self.message()),
            None => write!(f, "metadata: {}", self.message()),
        }
    }
}

impl Error for MetadataError {}

/// What becomes of a field or an item.
enum Outcome<'a> {
    Keep,
    Replace(Value<'a>),
    Drop,
}

type Coerced<'a> = Result<Outcome<'a>, MetadataError>;

/// How the fields of `ObjectMeta` and of the structures in it are read and written.
#[derive(Clone, Copy)]
enum Shape {
    /// A string that is not written if it is empty.
    Text,
    /// A string that is always written.
    RequiredText,
    /// An integer that is not written if it is zero.
    Integer,
    /// An integer of which zero differs from absence.
    OptionalInteger,
    Flag,
    Time,
    /// An object of strings.
    Texts,
    /// A list of strings.
    TextList,
    OwnerReferences,
    ManagedFields,
    Anything,
}

/// Whether `ObjectMeta` has a field; others are dropped.
pub(crate) fn is_object_meta_field(name: &str) -> bool {
    object_meta_field(name).is_some()
}

fn object_meta_field(name: &str) -> Option<Shape> {
    Some(match name {
        "name" | "generateName" | "namespace" | "selfLink" | "uid" | "resourceVersion" => Shape::Text,
        "generation" => Shape::Integer,
        "creationTimestamp" | "deletionTimestamp" => Shape::Time,
        "deletionGracePeriodSeconds" => Shape::OptionalInteger,
        "labels" | "annotations" => Shape::Texts,
        "ownerReferences" => Shape::OwnerReferences,
        "finalizers" => Shape::TextList,
        "managedFields" => Shape::ManagedFields,
        _ => return None,
    })
}

const OWNER_TEXTS: [&str; 4] = ["apiVersion", "kind", "name", "uid"];

fn owner_reference_field(name: &str) -> Option<Shape> {
    match name {
        "controller" | "blockOwnerDeletion" => Some(Shape::Flag),
        _ => OWNER_TEXTS.contains(&name).then_some(Shape::RequiredText),
    }
}

fn managed_fields_field(name: &str) -> Option<Shape> {
    Some(match name {
        "manager" | "operation" | "apiVersion" | "fieldsType" | "subresource" => Shape::Text,
        "time" => Shape::Time,
        "fieldsV1" => Shape::Anything,
        _ => return None,
    })
}

fn coerce_object_meta<'a>(
    entries: &'a [Entry<'a>],
    arena: &'a Arena,
    malformed: fn(MetadataError) -> Coerced<'a>,
) -> Result<Value<'a>, MetadataError> {
    let outcome = coerce_fields(entries, arena, &[], |entry| {
        coerce_field(object_meta_field(entry.key), entry, arena).or_else(malformed)
    })?;
    Ok(match outcome {
        Outcome::Replace(metadata) => metadata,
        Outcome::Keep | Outcome::Drop => Value::Object(entries),
    })
}

fn coerce_field<'a>(shape: Option<Shape>, entry: &Entry<'a>, arena: &'a Arena) -> Coerced<'a> {
    let Some(shape) = shape else { return Ok(Outcome::Drop) };
    coerce_value(shape, entry.value, arena).map_err(|error| error.within(entry.key))
}

fn coerce_value<'a>(shape: Shape, value: Value<'a>, arena: &'a Arena) -> Coerced<'a> {
    match (shape, value) {
        (Shape::RequiredText, Value::Null) => Ok(Outcome::Replace(Value::string(""))),
        (_, Value::Null) => Ok(Outcome::Drop),
        (Shape::Anything, _) | (Shape::RequiredText, Value::String(_)) | (Shape::Flag, Value::Bool(_)) => {
            Ok(Outcome::Keep)
        }
        (Shape::Text, Value::String(text)) => Ok(if text.as_str().is_empty() { Outcome::Drop } else { Outcome::Keep }),
        (Shape::Integer | Shape::OptionalInteger, Value::Number(number)) => coerce_integer(shape, number, arena),
        (Shape::Time, Value::String(text)) => coerce_time(text.as_str(), arena),
        (Shape::Texts, Value::Object([])) => Ok(Outcome::Drop),
        (Shape::Texts, Value::Object(entries)) => coerce_fields(entries, arena, &[], |entry| {
            coerce_value(Shape::RequiredText, entry.value, arena)
                .map_err(|error| error.within(&format!("[{}]", entry.key)))
        }),
        (Shape::TextList, Value::Array(items)) => {
            coerce_items(items, arena, |item| coerce_value(Shape::RequiredText, item, arena))
        }
        (Shape::OwnerReferences, Value::Array(items)) => {
            coerce_items(items, arena, |item| coerce_structure(item, arena, &OWNER_TEXTS, owner_reference_field))
        }
        (Shape::ManagedFields, Value::Array(items)) => {
            coerce_items(items, arena, |item| coerce_structure(item, arena, &[], managed_fields_field))
        }
        _ => Err(MetadataError::new(expected(shape), value)),
    }
}

#[cold]
fn expected(shape: Shape) -> &'static str {
    match shape {
        Shape::Text | Shape::RequiredText => "a string",
        Shape::Integer | Shape::OptionalInteger => "a 64-bit integer",
        Shape::Flag => "a boolean",
        Shape::Time => "a time as in RFC 3339",
        Shape::Texts => "an object of strings",
        Shape::TextList => "a list of strings",
        Shape::OwnerReferences | Shape::ManagedFields => "a list of objects",
        Shape::Anything => "a value",
    }
}

/// The reference decodes a number to an integer or a double and writes it once more before it reads an integer, which
/// lets `5.0` and `1e3` pass.
fn coerce_integer<'a>(shape: Shape, number: Number<'a>, arena: &'a Arena) -> Coerced<'a> {
    let Some(value) = number.as_i64().or_else(|| number.as_f64().to_string().parse().ok()) else {
        return Err(MetadataError::new(expected(shape), Value::Number(number)));
    };
    if value == 0 && matches!(shape, Shape::Integer) {
        return Ok(Outcome::Drop);
    }
    let text = value.to_string();
    if text == number.as_str() {
        return Ok(Outcome::Keep);
    }
    Ok(Number::new(arena.text(&text)).map_or(Outcome::Keep, |number| Outcome::Replace(Value::Number(number))))
}

/// The reference would turn the zero time into null where the field is optional, which the next reader drops.
fn coerce_time<'a>(text: &str, arena: &'a Arena) -> Coerced<'a> {
    let time = Timestamp::parse(text).ok_or_else(|| MetadataError::new(expected(Shape::Time), Value::string("")))?;
    if time.is_zero() {
        return Ok(Outcome::Drop);
    }
    let utc = time.to_utc();
    Ok(if utc == text { Outcome::Keep } else { Outcome::Replace(Value::string(arena.text(&utc))) })
}

/// An item of a list of structures; null is an empty one.
fn coerce_structure<'a>(
    value: Value<'a>,
    arena: &'a Arena,
    required: &[&'static str],
    field: fn(&str) -> Option<Shape>,
) -> Coerced<'a> {
    let coerce =
        |entries| coerce_fields(entries, arena, required, |entry| coerce_field(field(entry.key), entry, arena));
    match value {
        // With nothing to add, an empty object needs no change, but null has to become one.
        Value::Null => coerce(&[]).map(|outcome| match outcome {
            Outcome::Keep => Outcome::Replace(Value::Object(&[])),
            outcome => outcome,
        }),
        Value::Object(entries) => coerce(entries),
        _ => Err(MetadataError::new("an object", value)),
    }
}

/// Coerces the fields of an object, keeping their order; missing required ones are added as empty strings.
fn coerce_fields<'a>(
    entries: &'a [Entry<'a>],
    arena: &'a Arena,
    required: &[&'static str],
    coerce: impl Fn(&Entry<'a>) -> Coerced<'a>,
) -> Coerced<'a> {
    let mut changed: Option<Vec<Entry<'a>>> = None;
    for (index, entry) in entries.iter().enumerate() {
        let value = match coerce(entry)? {
            Outcome::Keep if changed.is_none() => continue,
            Outcome::Keep => Some(entry.value),
            Outcome::Replace(value) => Some(value),
            Outcome::Drop => None,
        };
        let kept = changed.get_or_insert_with(|| entries[..index].to_vec());
        kept.extend(value.map(|value| Entry { key: entry.key, value }));
    }
    for name in required.iter().filter(|name| !entries.iter().any(|entry| entry.key == **name)) {
        changed.get_or_insert_with(|| entries.to_vec()).push(Entry { key: name, value: Value::string("") });
    }
    Ok(changed.map_or(Outcome::Keep, |entries| Outcome::Replace(Value::Object(arena.slice(&entries)))))
}

/// Coerces the items of a list, which is dropped if it is empty.
fn coerce_items<'a>(
    items: &'a [Value<'a>],
    arena: &'a Arena,
    coerce: impl Fn(Value<'a>) -> Coerced<'a>,
) -> Coerced<'a> {
    if items.is_empty() {
        return Ok(Outcome::Drop);
    }
    let mut changed: Option<Vec<Value<'a>>> = None;
    for (index, item) in items.iter().enumerate() {
        if let Outcome::Replace(value) = coerce(*item).map_err(|error| error.within(&format!("[{index}]")))? {
            changed.get_or_insert_with(|| items.to_vec())[index] = value;
        }
    }
    Ok(changed.map_or(Outcome::Keep, |items| Outcome::Replace(Value::Array(arena.slice(&items)))))
}

#[cfg(test)]
mod tests {
    use wheelwright_document::{decode, encode};

    use super::*;

    fn coerced(metadata: &str) -> Result<String, String> {
        let arena = Arena::new();
        let metadata = decode(metadata.as_bytes(), &arena).unwrap();
        let once = coerce_metadata(metadata, &arena).map_err(|error| error.to_string())?;
        let twice = coerce_metadata(once, &arena).unwrap();
        assert_eq!(once, twice, "coercion must be idempotent");
        assert_eq!(coerce_metadata_dropping(metadata, &arena), once, "both ways agree on well-formed metadata");
        Ok(String::from_utf8(encode(once)).unwrap())
    }

    #[test]
    fn usual_metadata_is_returned_as_it_is() {
        let arena = Arena::new();
        let text = br#"{"name":"n","namespace":"d","labels":{"a":"b","c":""},"annotations":{"d":"e"},"generation":3,
            "creationTimestamp":"2024-01-01T00:00:00Z","deletionGracePeriodSeconds":0,"finalizers":["a/b",""],
            "ownerReferences":[{"apiVersion":"v1","kind":"K","name":"","uid":"u","controller":false}],
            "managedFields":[{"manager":"m","time":"2024-01-01T00:00:00Z","fieldsV1":{"f:x":{}}},{}]}"#;
        let metadata = decode(text, &arena).unwrap();
        let Value::Object(before) = metadata else { unreachable!() };
        let Value::Object(after) = coerce_metadata(metadata, &arena).unwrap() else { unreachable!() };
        assert!(std::ptr::eq(before, after));
    }

    #[test]
    fn metadata_is_brought_into_form() {
        let cases = [
            ("null", "{}"),
            ("{}", "{}"),
            (r#"{"name":"n","foo":"bar","labels":null,"annotations":{}}"#, r#"{"name":"n"}"#),
            (r#"{"Name":"n","generateName":"","namespace":null}"#, "{}"),
            (r#"{"labels":{"b":null,"a":"x"},"name":"n"}"#, r#"{"labels":{"b":"","a":"x"},"name":"n"}"#),
            (r#"{"generation":0,"deletionGracePeriodSeconds":-0}"#, r#"{"deletionGracePeriodSeconds":0}"#),
            (
                r#"{"generation":5.0,"deletionGracePeriodSeconds":1e3}"#,
                r#"{"generation":5,"deletionGracePeriodSeconds":1000}"#,
            ),
            (r#"{"generation":-0.0,"deletionGracePeriodSeconds":null}"#, "{}"),
            (r#"{"generation":9223372036854775807}"#, r#"{"generation":9223372036854775807}"#),
            (r#"{"creationTimestamp":null,"deletionTimestamp":"0001-01-01T00:00:00Z"}"#, "{}"),
            (
                r#"{"creationTimestamp":"2024-01-01T01:00:00.5+02:00"}"#,
                r#"{"creationTimestamp":"2023-12-31T23:00:00Z"}"#,
            ),
            (r#"{"finalizers":[]}"#, "{}"),
            (r#"{"finalizers":["a",null]}"#, r#"{"finalizers":["a",""]}"#),
            (
                r#"{"ownerReferences":[],"managedFields":[null,{"manager":"","x":1,"time":null,"fieldsV1":null}]}"#,
                r#"{"managedFields":[{},{}]}"#,
            ),
            (
                r#"{"managedFields":[{"fieldsV1":7,"operation":"Apply"}]}"#,
                r#"{"managedFields":[{"fieldsV1":7,"operation":"Apply"}]}"#,
            ),
            (
                r#"{"ownerReferences":[{"name":"n","x":1,"controller":null},null]}"#,
                concat!(
                    r#"{"ownerReferences":[{"name":"n","apiVersion":"","kind":"","uid":""},"#,
                    r#"{"apiVersion":"","kind":"","name":"","uid":""}]}"#
                ),
            ),
            (
                r#"{"ownerReferences":[{"uid":null,"kind":"K","apiVersion":"v1","name":"n"}]}"#,
                r#"{"ownerReferences":[{"uid":"","kind":"K","apiVersion":"v1","name":"n"}]}"#,
            ),
        ];
        for (metadata, expected) in cases {
            assert_eq!(coerced(metadata).as_deref(), Ok(expected), "{metadata}");
        }
    }

    #[test]
    fn wrong_types_are_errors_that_name_the_field() {
        let cases = [
            (r#""x""#, "metadata: expected an object, found string"),
            ("[]", "metadata: expected an object, found array"),
            (r#"{"name":5}"#, "metadata.name: expected a string, found number"),
            (r#"{"labels":"x"}"#, "metadata.labels: expected an object of strings, found string"),
            (r#"{"labels":{"a.b/c":true}}"#, "metadata.labels[a.b/c]: expected a string, found boolean"),
            (r#"{"generation":1.5}"#, "metadata.generation: expected a 64-bit integer, found number"),
            (r#"{"generation":9223372036854775808}"#, "metadata.generation: expected a 64-bit integer, found number"),
            (r#"{"generation":1e999}"#, "metadata.generation: expected a 64-bit integer, found number"),
            (r#"{"generation":"1"}"#, "metadata.generation: expected a 64-bit integer, found string"),
            (r#"{"creationTimestamp":""}"#, "metadata.creationTimestamp: expected a time as in RFC 3339, found string"),
            (r#"{"creationTimestamp":1}"#, "metadata.creationTimestamp: expected a time as in RFC 3339, found number"),
            (r#"{"finalizers":[1]}"#, "metadata.finalizers[0]: expected a string, found number"),
            (r#"{"finalizers":{}}"#, "metadata.finalizers: expected a list of strings, found object"),
            (
                r#"{"ownerReferences":[{},{"controller":"x"}]}"#,
                "metadata.ownerReferences[1].controller: expected a boolean, found string",
            ),
            (r#"{"ownerReferences":{}}"#, "metadata.ownerReferences: expected a list of objects, found object"),
            (r#"{"managedFields":["x"]}"#, "metadata.managedFields[0]: expected an object, found string"),
        ];
        for (metadata, expected) in cases {
            assert_eq!(coerced(metadata), Err(expected.to_owned()), "{metadata}");
        }
    }

    #[test]
    fn malformed_fields_can_be_dropped_one_by_one() {
        let arena = Arena::new();
        let text = br#"{"name":"n","labels":{"a":1},"generation":1.5,"x":1,"annotations":{"a":null},"finalizers":[1]}"#;
        let metadata = decode(text, &arena).unwrap();
        let expected = br#"{"name":"n","annotations":{"a":""}}"#;
        assert_eq!(encode(coerce_metadata_dropping(metadata, &arena)), expected);
        assert_eq!(coerce_metadata_dropping(Value::Null, &arena), Value::Object(&[]));
        assert_eq!(coerce_metadata_dropping(Value::Bool(true), &arena), Value::Bool(true));
    }
}
