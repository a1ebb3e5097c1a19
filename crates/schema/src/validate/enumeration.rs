//! `enum`, with Go's idea of which values are the same.

use std::collections::HashSet;

use wheelwright_document::{Arena, Owned, Value, encode};

use super::{GoNumber, number::truncate};

/// The values that are allowed.
#[derive(Debug)]
pub(crate) struct Enumeration {
    strings: Strings,
    /// Everything but strings, by [`go_key`].
    others: HashSet<Vec<u8>>,
    /// The first few, for a message.
    shown: String,
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
        let shared: Vec<Value<'_>> = values.iter().map(|value| value.share(&arena)).collect();
        let texts = shared.iter().filter_map(|value| value.as_str().map(Box::from));
        let strings = if values.len() <= FEW { Strings::Few(texts.collect()) } else { Strings::Many(texts.collect()) };
        let others = shared.iter().filter(|value| value.as_str().is_none()).map(|value| go_key(*value)).collect();
        Self { strings, others, shown: describe(&shared) }
    }

    /// `null` is never among them, even where it is listed: so has the reference.
    ///
    /// The reference converts a value to the type of the allowed one before it compares, as Go does: the integer 1 to
    /// the float 1, the float 1.5 to the integer 1, and 97 to the string "a".
    pub(crate) fn contains(&self, value: Value<'_>) -> bool {
        match value {
            Value::Null => false,
            Value::String(text) => self.has_string(text.as_str()),
            Value::Number(number) => match GoNumber::from(number) {
                number @ GoNumber::Integer(integer) => {
                    self.has_number(number)
                        || self.has_number(GoNumber::Float(integer as f64))
                        || self.has_string(character(integer).encode_utf8(&mut [0; 4]))
                }
                number @ GoNumber::Float(float) => {
                    self.has_number(number) || self.has_number(GoNumber::Integer(truncate(float)))
                }
            },
            value => !self.others.is_empty() && self.others.contains(&go_key(value)),
        }
    }

    fn has_string(&self, text: &str) -> bool {
        match &self.strings {
            Strings::Few(strings) => strings.iter().any(|allowed| **allowed == *text),
            Strings::Many(strings) => strings.contains(text),
        }
    }

    fn has_number(&self, number: GoNumber) -> bool {
        let mut key = Vec::new();
        write_number(number, &mut key);
        self.others.contains(&key)
    }

    pub(crate) fn describe(&self) -> &str {
        &self.shown
    }
}

fn describe(values: &[Value<'_>]) -> String {
    const SHOWN: usize = 20;
    let written = values.iter().take(SHOWN).map(|value| encode(*value));
    let texts: Vec<String> = written.map(|text| String::from_utf8_lossy(&text).into_owned()).collect();
    let list = texts.join(", ");
    if values.len() > SHOWN { format!("{list} and {} more", values.len() - SHOWN) } else { list }
}

/// Go makes of an integer the string of that character.
fn character(code: i64) -> char {
    u32::try_from(code).ok().and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Bytes that are the same for two values if and only if Go's deep equality holds, which tells the integer 1 from the
/// float 1.0 and does not look at the order of keys.
fn go_key(value: Value<'_>) -> Vec<u8> {
    let mut key = Vec::new();
    write_key(value, &mut key);
    key
}

fn write_key(value: Value<'_>, key: &mut Vec<u8>) {
    match value {
        Value::Number(number) => write_number(GoNumber::from(number), key),
        Value::Array(items) => {
            key.push(b'[');
            items.iter().for_each(|item| write_key(*item, key));
            key.push(b']');
        }
        Value::Object(entries) => {
            let mut sorted: Vec<_> = entries.iter().collect();
            sorted.sort_unstable_by_key(|entry| entry.key);
            key.push(b'{');
            for entry in sorted {
                write_key(Value::string(entry.key), key);
                write_key(entry.value, key);
            }
            key.push(b'}');
        }
        scalar => key.extend(encode(scalar)),
    }
}

fn write_number(number: GoNumber, key: &mut Vec<u8>) {
    match number {
        GoNumber::Integer(integer) => {
            key.push(b'i');
            key.extend(integer.to_le_bytes());
        }
        // Adding zero makes one of the two zeros.
        GoNumber::Float(float) => {
            key.push(b'f');
            key.extend((float + 0.0).to_bits().to_le_bytes());
        }
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
