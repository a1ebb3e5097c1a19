//! How two documents differ, field by field.

use wheelwright_document::{FieldPath, Path, Value, encode};

/// A field that is not what it should be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Difference {
    pub(super) field: String,
    /// What it should be, as JSON; nothing if it should not be there.
    pub(super) expected: Option<String>,
    /// What it is, as JSON; nothing if it is not there.
    pub(super) found: Option<String>,
    /// What is to be said instead, where there are no two values.
    pub(super) reason: Option<String>,
}

impl Difference {
    /// A field that the version of its document does not know.
    pub(super) fn unknown(field: String) -> Self {
        let reason = Some("no field of its version".to_owned());
        Self { field, expected: None, found: None, reason }
    }

    /// A document that cannot be converted.
    pub(super) fn refused(reason: String) -> Self {
        Self { field: String::new(), expected: None, found: None, reason: Some(reason) }
    }
}

/// The fields that differ. The order of fields says nothing, that of items does.
pub(super) fn differences(expected: Value<'_>, found: Value<'_>) -> Vec<Difference> {
    let mut list = Vec::new();
    compare(&Path::Root, Some(expected), Some(found), &mut list);
    list
}

fn compare(path: &Path<'_>, expected: Option<Value<'_>>, found: Option<Value<'_>>, list: &mut Vec<Difference>) {
    match (expected, found) {
        (Some(Value::Object(expected)), Some(Value::Object(found))) => {
            let other: std::collections::HashMap<&str, Value<'_>> =
                found.iter().map(|entry| (entry.key, entry.value)).collect();
            for entry in expected {
                let path = Path::Child(path, entry.key);
                compare(&path, Some(entry.value), other.get(entry.key).copied(), list);
            }
            let known: std::collections::HashSet<&str> = expected.iter().map(|entry| entry.key).collect();
            for entry in found.iter().filter(|entry| !known.contains(entry.key)) {
                compare(&Path::Child(path, entry.key), None, Some(entry.value), list);
            }
        }
        (Some(Value::Array(expected)), Some(Value::Array(found))) => {
            for index in 0..expected.len().max(found.len()) {
                let path = Path::Index(path, index);
                compare(&path, expected.get(index).copied(), found.get(index).copied(), list);
            }
        }
        (expected, found) => {
            let [expected, found] = [expected, found].map(|value| value.map(json));
            if expected != found {
                let field = path.to_field_path();
                list.push(Difference { field: named(&field), expected, found, reason: None });
            }
        }
    }
}

fn json(value: Value<'_>) -> String {
    String::from_utf8_lossy(&encode(value)).into_owned()
}

fn named(field: &FieldPath) -> String {
    if field.is_root() { "(the document)".to_owned() } else { field.to_string() }
}

#[cfg(test)]
mod tests {
    use wheelwright_document::{Arena, decode};

    use super::*;

    #[test]
    fn fields_differ_whatever_their_order_and_items_by_their_place() {
        let arena = Arena::new();
        let read = |text: &'static str| decode(text.as_bytes(), &arena).unwrap();
        let found =
            differences(read(r#"{"a": 1, "b": [1, 2], "c": {}}"#), read(r#"{"c": {"x": null}, "b": [1], "a": 1}"#));
        let shown: Vec<_> =
            found.iter().map(|one| (&*one.field, one.expected.as_deref(), one.found.as_deref())).collect();
        assert_eq!(shown, [("b[1]", Some("2"), None), ("c.x", None, Some("null"))]);
        assert!(differences(read(r#"{"a": 1, "b": {}}"#), read(r#"{"b": {}, "a": 1}"#)).is_empty());
    }
}
