//! Documents that remember where each part of them was written, for files that people edit.

use crate::{Arena, Entry, Value};

/// A piece of a source text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Span {
    /// The first byte, from 0.
    pub start: u32,
    /// The byte after the last one.
    pub end: u32,
    /// The line of the first byte, from 1.
    pub line: u32,
    /// The character of the line it starts at, from 1.
    pub column: u32,
}

/// A value and where it was written.
#[derive(Clone, Copy, Debug)]
pub struct Spanned<'a> {
    /// Where.
    pub span: Span,
    /// What.
    pub node: SpannedNode<'a>,
}

/// A value whose parts know where they were written.
#[derive(Clone, Copy, Debug)]
pub enum SpannedNode<'a> {
    /// Null, a boolean, a number or a string.
    Scalar(Value<'a>),
    /// A list.
    Array(&'a [Spanned<'a>]),
    /// An object; its keys are unique.
    Object(&'a [SpannedEntry<'a>]),
}

/// A key of an object with its value and where both were written.
#[derive(Clone, Copy, Debug)]
pub struct SpannedEntry<'a> {
    /// The name of the field.
    pub key: &'a str,
    /// Where the name was written.
    pub key_span: Span,
    /// Its value.
    pub value: Spanned<'a>,
}

impl<'a> Spanned<'a> {
    /// The entry of a field, or `None` if the field is absent or this is not an object.
    pub fn entry(&self, key: &str) -> Option<&'a SpannedEntry<'a>> {
        self.as_object()?.iter().find(|entry| entry.key == key)
    }

    /// The value of a field, or `None` if the field is absent or this is not an object.
    pub fn get(&self, key: &str) -> Option<&'a Spanned<'a>> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The entries, if this is an object.
    pub fn as_object(&self) -> Option<&'a [SpannedEntry<'a>]> {
        match self.node {
            SpannedNode::Object(entries) => Some(entries),
            _ => None,
        }
    }

    /// The items, if this is a list.
    pub fn as_array(&self) -> Option<&'a [Spanned<'a>]> {
        match self.node {
            SpannedNode::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The scalar, if this is one.
    pub fn as_scalar(&self) -> Option<Value<'a>> {
        match self.node {
            SpannedNode::Scalar(value) => Some(value),
            _ => None,
        }
    }

    /// The string, if this is one.
    pub fn as_str(&self) -> Option<&'a str> {
        self.as_scalar()?.as_str()
    }

    /// What sort of value this is, in JSON's words.
    pub fn kind_name(&self) -> &'static str {
        match self.node {
            SpannedNode::Scalar(value) => value.kind_name(),
            SpannedNode::Array(_) => "array",
            SpannedNode::Object(_) => "object",
        }
    }

    /// The value alone.
    pub fn to_value(&self, arena: &'a Arena) -> Value<'a> {
        match self.node {
            SpannedNode::Scalar(value) => value,
            SpannedNode::Array(items) => Value::Array(arena.slice_from(items.iter().map(|item| item.to_value(arena)))),
            SpannedNode::Object(entries) => {
                Value::Object(arena.slice_from(
                    entries.iter().map(|entry| Entry { key: entry.key, value: entry.value.to_value(arena) }),
                ))
            }
        }
    }
}
