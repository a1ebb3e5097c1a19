//! Values that own what they hold, for schemas and programs that outlive every document.

use crate::{Arena, Entry, Number, Spanned, SpannedNode, Text, Value, encode::is_plain};

/// A value of its own. [`Owned::share`] makes a [`Value`] of it, which copies no text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owned {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// The text of a number.
    Number(Box<str>),
    /// A string.
    String(OwnedText),
    /// A list.
    Array(Box<[Owned]>),
    /// An object.
    Object(Box<[(Box<str>, Owned)]>),
}

/// A string of its own that knows whether it can be written without escapes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedText {
    text: Box<str>,
    plain: bool,
}

impl OwnedText {
    /// The string itself.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl Owned {
    /// The value, borrowed; lists and objects get new slices in the arena, texts stay where they are.
    pub fn share<'a>(&'a self, arena: &'a Arena) -> Value<'a> {
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(*value),
            Self::Number(text) => Value::Number(Number::scanned(text)),
            Self::String(text) => Value::String(Text::known(&text.text, text.plain)),
            Self::Array(items) => Value::Array(arena.slice_from(items.iter().map(|item| item.share(arena)))),
            Self::Object(entries) => Value::Object(
                arena.slice_from(entries.iter().map(|(key, value)| Entry { key, value: value.share(arena) })),
            ),
        }
    }
}

impl From<Value<'_>> for Owned {
    fn from(value: Value<'_>) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(value),
            Value::Number(number) => Self::Number(number.as_str().into()),
            Value::String(text) => {
                Self::String(OwnedText { text: text.as_str().into(), plain: is_plain(text.as_str().as_bytes()) })
            }
            Value::Array(items) => Self::Array(items.iter().map(|item| Self::from(*item)).collect()),
            Value::Object(entries) => {
                Self::Object(entries.iter().map(|entry| (entry.key.into(), Self::from(entry.value))).collect())
            }
        }
    }
}

impl From<&Spanned<'_>> for Owned {
    fn from(value: &Spanned<'_>) -> Self {
        match value.node {
            SpannedNode::Scalar(value) => Self::from(value),
            SpannedNode::Array(items) => Self::Array(items.iter().map(Self::from).collect()),
            SpannedNode::Object(entries) => {
                Self::Object(entries.iter().map(|entry| (entry.key.into(), Self::from(&entry.value))).collect())
            }
        }
    }
}
