//! A document while it changes.

use super::{fields::Fields, pointer::position};
use crate::{Arena, Entry, Value};

/// A value that changes in place where a patch has touched it, and is shared everywhere else. So the cost of a long
/// patch is that of its operations, not of copying what they touch over and over.
pub(super) enum Node<'a> {
    Shared(Value<'a>),
    Array(Vec<Node<'a>>),
    Object(Fields<'a, Node<'a>>),
}

impl<'a> Node<'a> {
    /// What the token leads to, or why it leads to nothing.
    pub(super) fn child(&mut self, token: &str) -> Result<&mut Node<'a>, String> {
        match self.opened() {
            Node::Array(items) => {
                let length = items.len();
                position(token).and_then(|position| items.get_mut(position)).ok_or_else(|| no_item(token, length))
            }
            Node::Object(fields) => fields.get_mut(token).ok_or_else(|| "there is no such field".to_owned()),
            Node::Shared(value) => Err(no_container(*value)),
        }
    }

    /// Makes the parts of a list or object changeable.
    pub(super) fn opened(&mut self) -> &mut Self {
        match self {
            Node::Shared(Value::Array(items)) => {
                *self = Node::Array(items.iter().copied().map(Node::Shared).collect());
            }
            Node::Shared(Value::Object(entries)) => {
                *self = Node::Object(entries.iter().map(|entry| (entry.key, Node::Shared(entry.value))).collect());
            }
            _ => {}
        }
        self
    }

    pub(super) fn to_value(&self, arena: &'a Arena) -> Value<'a> {
        match self {
            Node::Shared(value) => *value,
            Node::Array(items) => Value::Array(arena.slice_from(items.iter().map(|item| item.to_value(arena)))),
            Node::Object(fields) => {
                let entry = |(key, value): (&'a str, &Node<'a>)| Entry { key, value: value.to_value(arena) };
                let entries: Vec<Entry<'a>> = fields.iter().map(entry).collect();
                Value::Object(arena.slice(&entries))
            }
        }
    }

    /// Equality in meaning; counts what it looks at. That is no more values than `expected` has, but a number of the
    /// document may be far longer than the one it equals.
    pub(super) fn equivalent(&self, expected: Value<'_>, seen: &mut usize) -> bool {
        match (self, expected) {
            (Node::Shared(value), _) => value.equivalent_counting(expected, seen),
            (Node::Array(items), Value::Array(expected)) => {
                items.len() == expected.len()
                    && items.iter().zip(expected).all(|(item, other)| item.equivalent(*other, seen))
            }
            (Node::Object(fields), Value::Object(expected)) => {
                let same =
                    |entry: &Entry<'_>| fields.get(entry.key).is_some_and(|node| node.equivalent(entry.value, seen));
                fields.len() == expected.len() && expected.iter().all(same)
            }
            _ => false,
        }
    }

    /// How deep lists and objects nest here; counts the values it looks at.
    pub(super) fn depth(&self, seen: &mut usize) -> usize {
        *seen += 1;
        match self {
            Node::Shared(value) => depth(*value, seen),
            Node::Array(items) => 1 + items.iter().map(|item| item.depth(seen)).max().unwrap_or(0),
            Node::Object(fields) => 1 + fields.iter().map(|(_, node)| node.depth(seen)).max().unwrap_or(0),
        }
    }
}

/// Why a token leads to no item of a list.
pub(super) fn no_item(token: &str, length: usize) -> String {
    match position(token) {
        Some(_) => format!("the list has {length} items, counted from 0"),
        None if token == "-" => "\"-\" is the place after the last item, where only add can put something".to_owned(),
        None => "the position in a list is written in digits, without leading zeros".to_owned(),
    }
}

/// Why a token leads nowhere in a value that has no parts.
pub(super) fn no_container(value: Value<'_>) -> String {
    format!("what it should be in is neither object nor list but {}", value.kind_name())
}

fn depth(value: Value<'_>, seen: &mut usize) -> usize {
    *seen += 1;
    match value {
        Value::Array(items) => 1 + items.iter().map(|item| depth(*item, seen)).max().unwrap_or(0),
        Value::Object(entries) => 1 + entries.iter().map(|entry| depth(entry.value, seen)).max().unwrap_or(0),
        _ => 0,
    }
}
