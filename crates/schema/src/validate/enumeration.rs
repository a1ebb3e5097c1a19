//! `enum`, with Go's idea of which values are the same.

use std::collections::HashSet;

use wheelwright_document::{Arena, Owned, Value, encode};

use super::GoNumber;

/// The values that are allowed.
#[derive(Debug)]
pub(crate) struct Enumeration {
    strings: Strings,
    others: Box<[Owned]>,
}

/// A handful is compared one by one; many are hashed.
#[derive(Debug)]
enum Strings {
    Few(Box<[Box<str>]>),
    Many(HashSet<Box<str>>),
}

const FEW: usize = 16;

impl Enumeration {
    pub(crate) fn new(values: &[Owned]) -> Self {
        let arena = Arena::new();
        let texts = values.iter().filter_map(|value| value.share(&arena).as_str().map(Box::from));
        let strings = if values.len() <= FEW { Strings::Few(texts.collect()) } else { Strings::Many(texts.collect()) };
        let others = values.iter().filter(|value| !matches!(value, Owned::String(_))).cloned().collect();
        Self { strings, others }
    }

    /// `null` is never among them, even where it is listed: so has the reference.
    pub(crate) fn contains(&self, value: Value<'_>) -> bool {
        match value {
            Value::Null => false,
            Value::String(text) => self.has_string(text.as_str()),
            value => {
                let arena = Arena::new();
                self.others.iter().any(|allowed| converts_to(value, allowed.share(&arena)))
                    || as_character(value).is_some_and(|character| self.has_string(character.encode_utf8(&mut [0; 4])))
            }
        }
    }

    fn has_string(&self, text: &str) -> bool {
        match &self.strings {
            Strings::Few(strings) => strings.iter().any(|allowed| **allowed == *text),
            Strings::Many(strings) => strings.contains(text),
        }
    }

    pub(crate) fn describe(&self) -> String {
        const SHOWN: usize = 20;
        let arena = Arena::new();
        let mut strings: Vec<String> = match &self.strings {
            Strings::Few(strings) => strings.iter().map(|text| format!("{text:?}")).collect(),
            Strings::Many(strings) => {
                let mut sorted: Vec<_> = strings.iter().map(|text| format!("{text:?}")).collect();
                sorted.sort_unstable();
                sorted
            }
        };
        let others = self.others.iter().map(|value| encode(value.share(&arena)));
        strings.extend(others.map(|text| String::from_utf8_lossy(&text).into_owned()));
        let more = strings.len().saturating_sub(SHOWN);
        strings.truncate(SHOWN);
        let shown = strings.join(", ");
        if more > 0 { format!("{shown} and {more} more") } else { shown }
    }
}

/// The reference converts a value to the type of the allowed one before it compares, as Go does: 1.5 becomes 1.
fn converts_to(value: Value<'_>, allowed: Value<'_>) -> bool {
    match (value, allowed) {
        (Value::Number(value), Value::Number(allowed)) => match (GoNumber::from(value), GoNumber::from(allowed)) {
            (GoNumber::Float(value), GoNumber::Integer(allowed)) => value as i64 == allowed,
            (value, GoNumber::Float(allowed)) => value.as_f64() == allowed,
            (value, allowed) => value == allowed,
        },
        (value, allowed) => same_in_go(value, allowed),
    }
}

/// Go converts an integer to the string of that character, so 97 passes for `"a"`.
fn as_character(value: Value<'_>) -> Option<char> {
    match GoNumber::from(value.as_number()?) {
        GoNumber::Integer(code) => {
            Some(u32::try_from(code).ok().and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER))
        }
        GoNumber::Float(_) => None,
    }
}

/// Deep equality in Go, which tells the integer 1 from the float 1.0.
fn same_in_go(a: Value<'_>, b: Value<'_>) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => GoNumber::from(a) == GoNumber::from(b),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_in_go(*a, *b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|entry| Value::Object(b).get(entry.key).is_some_and(|other| same_in_go(entry.value, other)))
        }
        (a, b) => a == b,
    }
}

#[cfg(test)]
mod tests {
    use wheelwright_document::decode;

    use super::*;

    fn allows(allowed: &str, value: &str) -> bool {
        let arena = Arena::new();
        let values = decode(allowed.as_bytes(), &arena).unwrap().as_array().unwrap();
        let owned: Vec<Owned> = values.iter().map(|value| Owned::from(*value)).collect();
        Enumeration::new(&owned).contains(decode(value.as_bytes(), &arena).unwrap())
    }

    #[test]
    fn values_are_compared_as_go_compares_them() {
        assert!(allows(r#"["a", "b"]"#, r#""b""#));
        assert!(!allows(r#"["a", "b"]"#, r#""c""#));
        assert!(allows("[1]", "1.0"));
        assert!(allows("[1]", "1.5"));
        assert!(!allows("[1.5]", "1"));
        assert!(allows("[1.0]", "1"));
        assert!(allows(r#"["a"]"#, "97"));
        assert!(!allows("[null]", "null"));
        assert!(allows(r#"[{"a": [1]}]"#, r#"{"a": [1]}"#));
        assert!(!allows(r#"[{"a": [1]}]"#, r#"{"a": [1.0]}"#));
        assert!(allows("[true]", "true"));
    }

    #[test]
    fn long_lists_are_hashed() {
        let many: Vec<String> = (0..1000).map(|number| format!("\"v{number}\"")).collect();
        let list = format!("[{}]", many.join(","));
        assert!(allows(&list, "\"v999\""));
        assert!(!allows(&list, "\"v1000\""));
    }
}
