//! A document while it changes.

use std::{collections::HashMap, iter};

use super::{
    fields::Fields,
    list::{Chunk, List},
    origins::ItemOrigins,
    pointer::position,
};
use crate::{Arena, Entry, Value};

/// A value that changes in place where a patch has touched it, and is shared everywhere else. So the cost of a long
/// patch is that of its operations, not of copying what they touch over and over.
pub(super) struct Node<'a> {
    pub(super) content: Content<'a>,
    /// Whether the value comes from the patch or from another place of the document, so that nothing in it continues
    /// an old list item.
    is_foreign: bool,
}

pub(super) enum Content<'a> {
    /// A value that no operation has looked into.
    Value(Value<'a>),
    Array(Box<List<'a>>),
    Object(Box<Fields<'a, Node<'a>>>),
}

impl<'a> Node<'a> {
    /// A part of the old document, in its old place or in an item that moved within its list.
    pub(super) fn shared(value: Value<'a>) -> Self {
        Self { content: Content::Value(value), is_foreign: false }
    }

    /// A value from the patch, or from another place of the document.
    pub(super) fn foreign(value: Value<'a>) -> Self {
        Self { content: Content::Value(value), is_foreign: true }
    }

    /// Forgets where list items come from: the value is in another place now.
    pub(super) fn detach(&mut self) {
        self.is_foreign = true;
    }

    /// What the token leads to, or why it leads to nothing.
    pub(super) fn child(&mut self, token: &str) -> Result<&mut Node<'a>, String> {
        match self.opened() {
            Content::Array(list) => {
                let length = list.len();
                position(token).and_then(|position| list.get_mut(position)).ok_or_else(|| no_item(token, length))
            }
            Content::Object(fields) => fields.get_mut(token).ok_or_else(|| "there is no such field".to_owned()),
            Content::Value(value) => Err(no_container(*value)),
        }
    }

    /// The content, with the parts of a list or object changeable.
    pub(super) fn opened(&mut self) -> &mut Content<'a> {
        match self.content {
            Content::Value(Value::Array(items)) => self.content = Content::Array(Box::new(List::open(items))),
            Content::Value(Value::Object(entries)) => {
                let fields = entries.iter().map(|entry| (entry.key, Node::shared(entry.value)));
                self.content = Content::Object(Box::new(fields.collect()));
            }
            _ => {}
        }
        &mut self.content
    }

    /// Where the items of the lists that were opened come from.
    pub(super) fn origins(&self) -> Option<ItemOrigins<'a>> {
        if self.is_foreign {
            return None;
        }
        match &self.content {
            Content::Value(_) => None,
            Content::Array(list) => {
                let mut below = Vec::new();
                let mut start = 0;
                for chunk in list.chunks() {
                    if let Chunk::Opened(items) = chunk {
                        let items = items.iter().enumerate();
                        below.extend(items.filter_map(|(place, item)| Some((start + place, item.node.origins()?))));
                    }
                    start += chunk.len();
                }
                Some(ItemOrigins::of_list(list.origins(), below))
            }
            Content::Object(fields) => {
                let known = fields.iter().filter_map(|(key, node)| Some((key, node.origins()?)));
                ItemOrigins::of_object(known.collect::<HashMap<_, _>>())
            }
        }
    }

    pub(super) fn to_value(&self, arena: &'a Arena) -> Value<'a> {
        match &self.content {
            Content::Value(value) => *value,
            Content::Array(list) => {
                let mut values = Vec::with_capacity(list.len());
                for chunk in list.chunks() {
                    match chunk {
                        Chunk::Untouched { items, .. } => values.extend_from_slice(items),
                        Chunk::Opened(items) => values.extend(items.iter().map(|item| item.node.to_value(arena))),
                    }
                }
                Value::Array(arena.slice(&values))
            }
            Content::Object(fields) => {
                let entry = |(key, value): (&'a str, &Node<'a>)| Entry { key, value: value.to_value(arena) };
                let entries: Vec<Entry<'a>> = fields.iter().map(entry).collect();
                Value::Object(arena.slice(&entries))
            }
        }
    }

    /// Equality in meaning; counts what it looks at. That is no more values than `expected` has, but a number of the
    /// document may be far longer than the one it equals.
    pub(super) fn equivalent(&self, expected: Value<'_>, seen: &mut usize) -> bool {
        match (&self.content, expected) {
            (Content::Value(value), _) => value.equivalent_counting(expected, seen),
            (Content::Array(list), Value::Array(mut expected)) => {
                list.len() == expected.len()
                    && list.chunks().iter().all(|chunk| {
                        let (others, rest) = expected.split_at(chunk.len());
                        expected = rest;
                        match chunk {
                            Chunk::Untouched { items, .. } => {
                                iter::zip(*items, others).all(|(item, other)| item.equivalent_counting(*other, seen))
                            }
                            Chunk::Opened(items) => {
                                iter::zip(items, others).all(|(item, other)| item.node.equivalent(*other, seen))
                            }
                        }
                    })
            }
            (Content::Object(fields), Value::Object(expected)) => {
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
        match &self.content {
            Content::Value(value) => depth(*value, seen),
            Content::Array(list) => {
                let deepest = |chunk: &Chunk<'a>| match chunk {
                    Chunk::Untouched { items, .. } => items.iter().map(|item| depth(*item, seen)).max(),
                    Chunk::Opened(items) => items.iter().map(|item| item.node.depth(seen)).max(),
                };
                1 + list.chunks().iter().filter_map(deepest).max().unwrap_or(0)
            }
            Content::Object(fields) => 1 + fields.iter().map(|(_, node)| node.depth(seen)).max().unwrap_or(0),
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
