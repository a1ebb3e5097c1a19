//! The laws of the carry, over documents that several versions wrote and clients of one of them edited.

use proptest::prelude::*;
use wheelwright_document::{Arena, Entry, Value, decode, encode};
use wheelwright_schema::{Root, Stages};

use super::*;
use crate::{
    Kind, NodeIndex, Part, Scalar, Shape, Structure, VersionIndex,
    lens::same,
    testing::{declaration, document},
};

/// Bytes that decide everything that is up to chance; when they are used up, the simplest is chosen.
struct Tape<'t> {
    bytes: std::slice::Iter<'t, u8>,
}

impl Tape<'_> {
    fn below(&mut self, bound: usize) -> usize {
        self.bytes.next().map_or(0, |byte| usize::from(*byte) % bound)
    }

    fn word(&mut self) -> &'static str {
        ["a", "b", "c"][self.below(3)]
    }

    /// A value of a node.
    fn value<'a>(&mut self, structure: &Structure, node: NodeIndex, arena: &'a Arena) -> Value<'a> {
        let at = structure.node(node);
        if at.nullable && self.below(5) == 1 {
            return Value::Null;
        }
        match at.shape {
            Shape::Object => Value::Object(&[]).with(|entries| self.fields(structure, node, entries, arena), arena),
            Shape::List => {
                let element = structure.element(node).unwrap();
                let items: Vec<_> = (0..self.below(4)).map(|_| self.value(structure, element, arena)).collect();
                Value::Array(arena.slice(&items))
            }
            Shape::Map => {
                let element = structure.element(node).unwrap();
                let keys = ["k", "$bag", "x.y"].into_iter().filter(|_| self.below(2) == 1).collect::<Vec<_>>();
                let entries: Vec<_> =
                    keys.iter().map(|key| Entry { key, value: self.value(structure, element, arena) }).collect();
                Value::Object(arena.slice(&entries))
            }
            Shape::Scalar(Scalar::Integer | Scalar::Number) => document(["0", "1", "2"][self.below(3)], arena),
            Shape::Scalar(Scalar::Boolean) => Value::Bool(self.below(2) == 1),
            Shape::Scalar(_) => Value::string(self.word()),
        }
    }

    fn fields<'a>(
        &mut self,
        structure: &Structure,
        node: NodeIndex,
        entries: &mut Vec<Entry<'a>>,
        arena: &'a Arena,
    ) {
        for child in structure.node(node).children.iter().filter(|_| self.below(3) > 0).collect::<Vec<_>>() {
            let value = self.value(structure, *child, arena);
            entries.push(Entry { key: arena.text(structure.node(*child).name().unwrap()), value });
        }
        if structure.node(node).keeps_unknown && self.below(2) == 1 {
            for key in ["u", "$bag", "$$bag"].into_iter().filter(|_| self.below(2) == 1).collect::<Vec<_>>() {
                if entries.iter().all(|entry| entry.key != key) {
                    entries.push(Entry { key, value: Value::string(self.word()) });
                }
            }
        }
    }

    /// A value as a client might have changed it.
    fn edited<'a>(&mut self, value: Value<'a>, structure: &Structure, node: NodeIndex, arena: &'a Arena) -> Value<'a> {
        match self.below(8) {
            0..4 => return value,
            4 => return self.value(structure, node, arena),
            _ => {}
        }
        match (structure.node(node).shape, value) {
            (Shape::Object, Value::Object(entries)) => {
                let mut kept: Vec<Entry<'a>> = Vec::new();
                for entry in entries.iter().filter(|_| self.below(6) != 1).collect::<Vec<_>>() {
                    let value = match structure.child(node, entry.key) {
                        Some(child) => self.edited(entry.value, structure, child, arena),
                        None => entry.value,
                    };
                    kept.push(Entry { key: entry.key, value });
                }
                let mut added = Vec::new();
                if self.below(3) == 1 {
                    self.fields(structure, node, &mut added, arena);
                }
                added.retain(|entry| entries.iter().all(|known| known.key != entry.key));
                kept.extend(added);
                Value::Object(arena.slice(&kept))
            }
            (Shape::List, Value::Array(items)) => {
                let element = structure.element(node).unwrap();
                let mut items = items.to_vec();
                match self.below(6) {
                    0 if !items.is_empty() => drop(items.remove(0)),
                    1 => items.reverse(),
                    2 if !items.is_empty() => items.rotate_left(1),
                    3 => items.insert(0, self.value(structure, element, arena)),
                    _ => {}
                }
                let items: Vec<_> =
                    items.into_iter().map(|item| self.edited(item, structure, element, arena)).collect();
                Value::Array(arena.slice(&items))
            }
            (Shape::Map, Value::Object(entries)) => {
                let element = structure.element(node).unwrap();
                let entries = entries.iter().filter(|_| self.below(4) != 1).collect::<Vec<_>>().into_iter();
                let entries = entries.map(|entry| Entry {
                    key: entry.key,
                    value: self.edited(entry.value, structure, element, arena),
                });
                let entries: Vec<_> = entries.collect();
                Value::Object(arena.slice(&entries))
            }
            (_, _) => self.value(structure, node, arena),
        }
    }
}

impl<'a> Value<'a> {
    fn with(self, add: impl FnOnce(&mut Vec<Entry<'a>>), arena: &'a Arena) -> Self {
        let mut entries = self.as_object().unwrap_or_default().to_vec();
        add(&mut entries);
        Value::Object(arena.slice(&entries))
    }
}
