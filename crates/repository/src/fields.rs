//! Documents with other values of some fields: new objects around what stays as it is.

use wheelwright_document::{Arena, Entry, Value};

/// An object with some fields: in their places if they are there, else at the end; or without them, if they are none.
pub(crate) fn with<'a>(
    object: Value<'a>,
    fields: impl IntoIterator<Item = (&'a str, Option<Value<'a>>)>,
    arena: &'a Arena,
) -> Value<'a> {
    let Value::Object(entries) = object else { return object };
    let mut entries = entries.to_vec();
    for (key, value) in fields {
        match (entries.iter().position(|entry| entry.key == key), value) {
            (Some(at), Some(value)) => entries[at].value = value,
            (Some(at), None) => drop(entries.remove(at)),
            (None, Some(value)) => entries.push(Entry { key, value }),
            (None, None) => {}
        }
    }
    Value::Object(arena.slice(&entries))
}

/// A document with another value of a field, named from the root on, or without it. The objects around a value are made where
/// they are not there.
pub(crate) fn placed<'a, N: AsRef<str> + ?Sized + 'a>(
    document: Value<'a>,
    names: impl IntoIterator<Item = &'a N>,
    value: Option<Value<'a>>,
    arena: &'a Arena,
) -> Value<'a> {
    let mut names = names.into_iter().map(AsRef::as_ref);
    below(Some(document), &mut names, value, arena).unwrap_or(document)
}

fn below<'a>(
    there: Option<Value<'a>>,
    names: &mut dyn Iterator<Item = &'a str>,
    value: Option<Value<'a>>,
    arena: &'a Arena,
) -> Option<Value<'a>> {
    let Some(name) = names.next() else { return value };
    let object = match there {
        Some(object @ Value::Object(_)) => object,
        _ if value.is_none() => return there,
        _ => Value::Object(&[]),
    };
    Some(with(object, [(name, below(object.get(name), names, value, arena))], arena))
}

#[cfg(test)]
mod tests {
    use wheelwright_document::{decode, encode};

    use super::*;

    #[test]
    fn a_field_is_placed_and_taken_away_wherever_it_is() {
        let arena = Arena::new();
        let document = decode(br#"{"a":{"b":1,"c":2},"d":3}"#, &arena).unwrap();
        let placed = |names: &'static [&'static str], value: Option<Value<'static>>| {
            String::from_utf8(encode(placed(document, names.iter().copied(), value, &arena))).unwrap()
        };
        assert_eq!(placed(&["a", "b"], Some(Value::Null)), r#"{"a":{"b":null,"c":2},"d":3}"#);
        assert_eq!(placed(&["a", "b"], None), r#"{"a":{"c":2},"d":3}"#);
        assert_eq!(placed(&["e", "f"], Some(Value::Null)), r#"{"a":{"b":1,"c":2},"d":3,"e":{"f":null}}"#);
        assert_eq!(placed(&["d", "f"], Some(Value::Null)), r#"{"a":{"b":1,"c":2},"d":{"f":null}}"#);
        for nowhere in [&["e", "f"][..], &["d", "f"]] {
            assert_eq!(placed(nowhere, None), r#"{"a":{"b":1,"c":2},"d":3}"#);
        }
    }
}
