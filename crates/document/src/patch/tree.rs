//! A document while it changes.

use std::collections::HashMap;

use super::{fields::Fields, origins::ItemOrigins, pointer::position};
use crate::{Arena, Entry, Value};

/// A value that changes in place where a patch has touched it, and is shared everywhere else. So the cost of a long
/// patch is that of its operations, not of copying what they touch over and over.
pub(super) enum Node<'a> {
    /// A part of the old document, in its old place or in an item that moved within its list.
    Shared(Value<'a>),
    /// A value from the patch, or from another place of the document.
    Foreign(Value<'a>),
    Array(List<'a>),
    Object(Fields<'a, Node<'a>>),
}

/// A list while it changes.
pub(super) struct List<'a> {
    pub(super) items: Vec<Node<'a>>,
    /// The old position of each item; none for a list that was not in the document at this place.
    origins: Option<Vec<Option<usize>>>,
}

impl<'a> List<'a> {
    fn open(items: &[Value<'a>], is_foreign: bool) -> Self {
        let node = if is_foreign { Node::Foreign } else { Node::Shared };
        let origins = (!is_foreign).then(|| (0..items.len()).map(Some).collect());
        Self { items: items.iter().copied().map(node).collect(), origins }
    }

    /// Inserts an item that continues the old one at `origin`.
    pub(super) fn insert(&mut self, place: usize, item: Node<'a>, origin: Option<usize>) {
        self.items.insert(place, item);
        if let Some(origins) = &mut self.origins {
            origins.insert(place, origin);
        }
    }

    /// Removes an item; which old item it continued.
    pub(super) fn remove(&mut self, place: usize) -> (Node<'a>, Option<usize>) {
        let origin = self.origins.as_mut().and_then(|origins| origins.remove(place));
        (self.items.remove(place), origin)
    }
}

impl<'a> Node<'a> {
    /// What the token leads to, or why it leads to nothing.
    pub(super) fn child(&mut self, token: &str) -> Result<&mut Node<'a>, String> {
        match self.opened() {
            Node::Array(list) => {
                let length = list.items.len();
                position(token).and_then(|position| list.items.get_mut(position)).ok_or_else(|| no_item(token, length))
            }
            Node::Object(fields) => fields.get_mut(token).ok_or_else(|| "there is no such field".to_owned()),
            Node::Shared(value) | Node::Foreign(value) => Err(no_container(*value)),
        }
    }

    /// Makes the parts of a list or object changeable.
    pub(super) fn opened(&mut self) -> &mut Self {
        let (value, is_foreign) = match self {
            Node::Shared(value) => (*value, false),
            Node::Foreign(value) => (*value, true),
            Node::Array(_) | Node::Object(_) => return self,
        };
        let node = if is_foreign { Node::Foreign } else { Node::Shared };
        match value {
            Value::Array(items) => *self = Node::Array(List::open(items, is_foreign)),
            Value::Object(entries) => {
                *self = Node::Object(entries.iter().map(|entry| (entry.key, node(entry.value))).collect());
            }
            _ => {}
        }
        self
    }

    /// Forgets where list items come from: the value is in another place now.
    pub(super) fn detach(&mut self) {
        match self {
            Node::Shared(value) => *self = Node::Foreign(*value),
            Node::Foreign(_) => {}
            Node::Array(list) => {
                list.origins = None;
                list.items.iter_mut().for_each(Node::detach);
            }
            Node::Object(fields) => fields.values_mut().for_each(Node::detach),
        }
    }

    /// Where the items of the lists that were opened come from.
    pub(super) fn origins(&self) -> Option<ItemOrigins<'a>> {
        match self {
            Node::Shared(_) | Node::Foreign(_) => None,
            Node::Array(list) => {
                let below = list.items.iter().enumerate();
                let below = below.filter_map(|(position, item)| Some((position, item.origins()?))).collect();
                Some(ItemOrigins::of_list(list.origins.clone()?, below))
            }
            Node::Object(fields) => {
                let known = fields.iter().filter_map(|(key, node)| Some((key, node.origins()?)));
                ItemOrigins::of_object(known.collect::<HashMap<_, _>>())
            }
        }
    }

    pub(super) fn to_value(&self, arena: &'a Arena) -> Value<'a> {
        match self {
            Node::Shared(value) | Node::Foreign(value) => *value,
            Node::Array(list) => Value::Array(arena.slice_from(list.items.iter().map(|item| item.to_value(arena)))),
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
            (Node::Shared(value) | Node::Foreign(value), _) => value.equivalent_counting(expected, seen),
            (Node::Array(list), Value::Array(expected)) => {
                list.items.len() == expected.len()
                    && list.items.iter().zip(expected).all(|(item, other)| item.equivalent(*other, seen))
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
            Node::Shared(value) | Node::Foreign(value) => depth(*value, seen),
            Node::Array(list) => 1 + list.items.iter().map(|item| item.depth(seen)).max().unwrap_or(0),
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
