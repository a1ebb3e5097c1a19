//! Values, as they travel through the whole system.

use std::fmt;

use crate::{Number, encode::encode, encode::is_plain};

/// A JSON value, borrowed from input, arena and schema. Two values are equal if they would be encoded to the same
/// bytes: the order of keys and the text of numbers count. See [`Value::equivalent`] for equality in meaning.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    /// `null`, which is neither absence nor an empty value.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as it was written.
    Number(Number<'a>),
    /// A string.
    String(Text<'a>),
    /// A list.
    Array(&'a [Value<'a>]),
    /// An object; its keys are unique.
    Object(&'a [Entry<'a>]),
}

/// A key of an object with its value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry<'a> {
    /// The name of the field.
    pub key: &'a str,
    /// Its value.
    pub value: Value<'a>,
}

/// A string that knows whether it can be written without escapes, which makes encoding it a copy.
#[derive(Clone, Copy)]
pub struct Text<'a> {
    text: &'a str,
    escapes: Escapes,
}

/// Whether a text needs escapes. As wide as a word, because the tag of [`Value`] is kept here too: with a byte, copying a
/// value would move the padding beside it in odd pieces, which stalls the processor.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
enum Escapes {
    None,
    Some,
}

impl From<bool> for Escapes {
    #[inline]
    fn from(plain: bool) -> Self {
        if plain { Self::None } else { Self::Some }
    }
}

// Speed rests on both of these: values are copied everywhere, and shared between threads.
const _: () = assert!(size_of::<Value<'static>>() == 24);
const fn assert_shareable<T: Send + Sync + Copy>() {}
const _: () = assert_shareable::<Value<'static>>();

impl<'a> Value<'a> {
    /// A string value.
    pub fn string(text: &'a str) -> Self {
        Self::String(Text::new(text))
    }

    /// The value of a field, or `None` if the field is absent or this is not an object.
    pub fn get(self, key: &str) -> Option<Value<'a>> {
        self.as_object()?.iter().find(|entry| entry.key == key).map(|entry| entry.value)
    }

    /// The entries, if this is an object.
    pub fn as_object(self) -> Option<&'a [Entry<'a>]> {
        match self {
            Self::Object(entries) => Some(entries),
            _ => None,
        }
    }

    /// The items, if this is a list.
    pub fn as_array(self) -> Option<&'a [Value<'a>]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The string, if this is one.
    pub fn as_str(self) -> Option<&'a str> {
        match self {
            Self::String(text) => Some(text.as_str()),
            _ => None,
        }
    }

    /// The number, if this is one.
    pub fn as_number(self) -> Option<Number<'a>> {
        match self {
            Self::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The boolean, if this is one.
    pub fn as_bool(self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// Whether this is `null`.
    pub fn is_null(self) -> bool {
        matches!(self, Self::Null)
    }

    /// What sort of value this is, in JSON's words.
    pub fn kind_name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Number(_) => "number",
            Self::String(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }
    }

    /// Equality in meaning: the order of keys does not count, and numbers are compared by value, so `1`, `1.0` and
    /// `10e-1` are equivalent.
    pub fn equivalent(self, other: Value<'_>) -> bool {
        self.equivalent_counting(other, &mut 0)
    }

    /// Equality in meaning; counts the values that it looks at, and the bytes of numbers and strings.
    pub(crate) fn equivalent_counting(self, other: Value<'_>, seen: &mut usize) -> bool {
        *seen += 1;
        match (self, other) {
            (Self::Number(a), Value::Number(b)) => {
                *seen += a.as_str().len() + b.as_str().len();
                a.compare(b).is_eq()
            }
            (Self::String(a), Value::String(b)) => {
                *seen += b.as_str().len();
                a == b
            }
            (Self::Array(a), Value::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.equivalent_counting(*b, seen))
            }
            (Self::Object(a), Value::Object(b)) => {
                if a.len() != b.len() {
                    return false;
                }
                // Sorting keeps this from being quadratic in the number of keys.
                let (a, b) = (sorted(a), sorted(b));
                a.iter().zip(&b).all(|(a, b)| a.key == b.key && a.value.equivalent_counting(b.value, seen))
            }
            (a, b) => a == b,
        }
    }
}

/// The entries of an object in the order of their keys.
pub(crate) fn sorted<'e, 'a>(entries: &'e [Entry<'a>]) -> Vec<&'e Entry<'a>> {
    let mut sorted: Vec<_> = entries.iter().collect();
    sorted.sort_unstable_by_key(|entry| entry.key);
    sorted
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&encode(*self)))
    }
}

impl<'a> Text<'a> {
    /// A text; looks at it once to see whether it needs escapes.
    pub fn new(text: &'a str) -> Self {
        Self { text, escapes: is_plain(text.as_bytes()).into() }
    }

    /// A text that the caller has looked at already.
    #[inline]
    pub(crate) fn known(text: &'a str, plain: bool) -> Self {
        debug_assert_eq!(is_plain(text.as_bytes()), plain);
        Self { text, escapes: plain.into() }
    }

    /// The string itself.
    #[inline]
    pub fn as_str(self) -> &'a str {
        self.text
    }

    #[inline]
    pub(crate) fn is_plain(self) -> bool {
        self.escapes == Escapes::None
    }
}

impl PartialEq for Text<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Text<'_> {}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}
