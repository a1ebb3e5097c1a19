//! The old counterpart of every part of a document, found as Kubernetes finds it.

use std::collections::HashMap;

use wheelwright_document::{Arena, Entry, Value};

use crate::{
    program::{ListRule, Node, NodeId, Program, Types},
    validate::GoNumber,
};

/// A value and the old one in its place.
///
/// Fields correspond by name and items of map lists by their keys. Items of other lists have no counterpart, nor have
/// fields that no schema describes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Correlated<'a> {
    /// The old value.
    pub(crate) old: Value<'a>,
    /// Nothing has changed, here or below. Kubernetes cannot tell where something below has no counterpart, and takes it
    /// for a change; lists that are one value are compared as such.
    pub(crate) unchanged: bool,
    /// One for each field or item of the new value; empty if none has a counterpart.
    below: &'a [Option<Correlated<'a>>],
}

impl<'a> Correlated<'a> {
    /// Finds the counterparts of a value and everything below it, which is described by a node.
    pub(crate) fn new(program: &Program, id: NodeId, new: Value<'a>, old: Value<'a>, arena: &'a Arena) -> Self {
        Correlation { program, arena, fields: HashMap::new(), items: HashMap::new() }.value(id, new, old)
    }

    /// The counterpart of the field or item at a position of the new value.
    pub(crate) fn below(&self, position: usize) -> Option<&'a Correlated<'a>> {
        self.below.get(position)?.as_ref()
    }
}

/// Two documents side by side.
///
/// Many new items can have the same key and thus the same counterpart, so whatever takes long to find in an old value is
/// kept by the address of that value.
struct Correlation<'p, 'a> {
    program: &'p Program,
    arena: &'a Arena,
    fields: HashMap<*const Entry<'a>, HashMap<&'a str, Value<'a>>>,
    items: HashMap<(*const Value<'a>, u32), HashMap<Key<'a>, Value<'a>>>,
}

/// So many fields are looked through one by one.
const FEW: usize = 16;

impl<'a> Correlation<'_, 'a> {
    fn value(&mut self, id: NodeId, new: Value<'a>, old: Value<'a>) -> Correlated<'a> {
        let node = self.program.node(id);
        let (same_length, below) = match (new, old) {
            (Value::Object(new), Value::Object(old)) => (new.len() == old.len(), self.object(node, new, old)),
            (Value::Array(new), Value::Array(old)) if node.is_map_list() => {
                (new.len() == old.len(), self.map_list(id, new, old))
            }
            _ => return Correlated { old, unchanged: self.are_equal(new, old), below: &[] },
        };
        let unchanged = same_length && below.iter().all(|below| below.is_some_and(|below| below.unchanged));
        Correlated { old, unchanged, below }
    }

    fn object(&mut self, node: &Node, new: &'a [Entry<'a>], old: &'a [Entry<'a>]) -> &'a [Option<Correlated<'a>>] {
        self.arena.slice_from(new.iter().enumerate().map(|(position, entry)| {
            let old = self.field(old, position, entry.key)?;
            Some(self.value(node.described(entry.key)?, entry.value, old))
        }))
    }

    fn map_list(&mut self, id: NodeId, new: &'a [Value<'a>], old: &'a [Value<'a>]) -> &'a [Option<Correlated<'a>>] {
        let node = self.program.node(id);
        self.arena.slice_from(new.iter().map(|item| {
            let item_node = node.items.filter(|item| item.is_specified())?;
            let key = Key::of(node.map_keys()?, *item)?;
            let items = self.items.entry((old.as_ptr(), id.0)).or_insert_with(|| by_key(node, old));
            let old = *items.get(&key)?;
            Some(self.value(item_node, *item, old))
        }))
    }

    /// An old field by its name, which is most often where it was.
    fn field(&mut self, old: &'a [Entry<'a>], position: usize, name: &str) -> Option<Value<'a>> {
        match old.get(position) {
            Some(entry) if entry.key == name => Some(entry.value),
            _ if old.len() <= FEW => old.iter().find(|entry| entry.key == name).map(|entry| entry.value),
            _ => self.fields.entry(old.as_ptr()).or_insert_with(|| by_name(old)).get(name).copied(),
        }
    }

    /// Go's deep equality, which tells the integer 1 from the float 1.0 and does not look at the order of keys.
    fn are_equal(&mut self, new: Value<'a>, old: Value<'a>) -> bool {
        match (new, old) {
            (Value::Number(new), Value::Number(old)) => GoNumber::from(new) == GoNumber::from(old),
            (Value::Array(new), Value::Array(old)) => {
                new.len() == old.len() && new.iter().zip(old).all(|(new, old)| self.are_equal(*new, *old))
            }
            (Value::Object(new), Value::Object(old)) => {
                new.len() == old.len()
                    && new.iter().enumerate().all(|(position, entry)| {
                        self.field(old, position, entry.key).is_some_and(|old| self.are_equal(entry.value, old))
                    })
            }
            (new, old) => new == old,
        }
    }
}

impl Node {
    /// The node of a field, if a schema describes it.
    pub(crate) fn described(&self, name: &str) -> Option<NodeId> {
        self.fields.get(name).or(self.additional).filter(|field| field.is_specified())
    }

    fn is_map_list(&self) -> bool {
        matches!(self.list.as_deref(), Some(ListRule::Map(_)))
    }

    /// What tells the items of a list apart whose items have counterparts.
    fn map_keys(&self) -> Option<&[Box<str>]> {
        match self.list.as_deref() {
            Some(ListRule::Map(keys)) if self.types == Types::ARRAY && !keys.is_empty() => Some(keys),
            _ => None,
        }
    }
}

fn by_name<'a>(entries: &'a [Entry<'a>]) -> HashMap<&'a str, Value<'a>> {
    entries.iter().map(|entry| (entry.key, entry.value)).collect()
}

/// The items of a map list by their keys; the first one counts.
fn by_key<'a>(node: &Node, items: &'a [Value<'a>]) -> HashMap<Key<'a>, Value<'a>> {
    let mut found = HashMap::with_capacity(items.len());
    for item in items {
        if let Some(key) = node.map_keys().and_then(|keys| Key::of(keys, *item)) {
            found.entry(key).or_insert(*item);
        }
    }
    found
}

/// What an item of a map list is known by.
#[derive(PartialEq, Eq, Hash)]
enum Key<'a> {
    One(KeyValue<'a>),
    Several(Vec<KeyValue<'a>>),
}

#[derive(PartialEq, Eq, Hash)]
enum KeyValue<'a> {
    Bool(bool),
    Integer(i64),
    Float(u64),
    /// Kubernetes compares the floats of several keys as they are written with six digits.
    RoundedFloat(String),
    String(&'a str),
}

impl<'a> Key<'a> {
    /// The key of an item, unless a part of it is missing or no scalar.
    fn of(names: &[Box<str>], item: Value<'a>) -> Option<Self> {
        let fields = item.as_object()?;
        if let [name] = names {
            return KeyValue::of(item.get(name)?, false).map(Self::One);
        }
        let index = if names.len() > FEW { Some(by_name(fields)) } else { None };
        let part = |name: &str| match &index {
            Some(index) => index.get(name).copied(),
            None => item.get(name),
        };
        names.iter().map(|name| KeyValue::of(part(name)?, true)).collect::<Option<_>>().map(Self::Several)
    }
}

impl<'a> KeyValue<'a> {
    fn of(value: Value<'a>, rounds: bool) -> Option<Self> {
        Some(match value {
            Value::Bool(value) => Self::Bool(value),
            Value::String(text) => Self::String(text.as_str()),
            Value::Number(number) => match GoNumber::from(number) {
                GoNumber::Integer(value) => Self::Integer(value),
                GoNumber::Float(value) if rounds => Self::RoundedFloat(format!("{value:.6}")),
                // Adding zero makes one of the two zeros.
                GoNumber::Float(value) => Self::Float((value + 0.0).to_bits()),
            },
            Value::Null | Value::Array(_) | Value::Object(_) => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use wheelwright_document::{Decode, decode, decode_json_spanned};

    use super::*;
    use crate::{Root, lower_schema};

    const SCHEMA: &str = r#"{"type": "object", "properties": {
        "name": {"type": "string"},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "plain": {"type": "array", "items": {"type": "integer"}},
        "ports": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port"],
            "items": {"type": "object", "properties": {"port": {"type": "integer"}, "name": {"type": "string"}}}}}}"#;

    /// Calls `check` with the counterpart of the only field of two documents, which is called the same.
    fn correlate(new: &str, old: &str, check: impl FnOnce(&Correlated<'_>)) {
        let arena = Arena::new();
        let source = decode_json_spanned(SCHEMA.as_bytes(), &arena, &Decode::default()).unwrap();
        let program = Program::compile(&lower_schema(&source).item, Root::Value);
        let [new, old] = [new, old].map(|document| decode(document.as_bytes(), &arena).unwrap());
        check(Correlated::new(&program, program.root, new, old, &arena).below(0).unwrap());
    }

    fn written(correlated: Option<&Correlated<'_>>) -> Option<String> {
        correlated.map(|correlated| format!("{:?}", correlated.old))
    }

    #[test]
    fn fields_and_map_values_are_found_by_name() {
        correlate(r#"{"labels": {"b": "1", "c": "3"}}"#, r#"{"labels": {"a": "0", "b": "1"}}"#, |labels| {
            assert!(!labels.unchanged);
            assert_eq!(written(labels.below(0)).as_deref(), Some("\"1\""));
            assert!(labels.below(0).unwrap().unchanged);
            assert!(labels.below(1).is_none());
        });
    }

    #[test]
    fn items_of_map_lists_are_found_by_key() {
        let new = r#"{"ports": [{"port": 2}, {"name": "x"}, {"port": 1, "name": "b"}, {"port": 3}]}"#;
        let old = r#"{"ports": [{"port": 1, "name": "a"}, {"port": 1, "name": "b"}, {"port": 2}, {"name": "x"}]}"#;
        correlate(new, old, |ports| {
            let olds: Vec<_> = (0..4).map(|position| written(ports.below(position))).collect();
            let first = Some(r#"{"port":1,"name":"a"}"#.to_owned());
            assert_eq!(olds, [Some(r#"{"port":2}"#.to_owned()), None, first, None]);
        });
    }

    #[test]
    fn items_of_other_lists_have_no_counterpart() {
        correlate(r#"{"plain": [1, 2]}"#, r#"{"plain": [1, 2]}"#, |plain| {
            assert!(plain.unchanged && plain.below(0).is_none());
        });
    }

    #[test]
    fn what_counts_as_unchanged() {
        let unchanged = |new: &str, old: &str, expected: bool| {
            correlate(new, old, |field| assert_eq!(field.unchanged, expected, "{old} to {new}"));
        };
        unchanged(r#"{"labels": {"a": "1", "b": "2"}}"#, r#"{"labels": {"b": "2", "a": "1"}}"#, true);
        unchanged(r#"{"labels": {"a": "1"}}"#, r#"{"labels": {"a": "1", "b": "2"}}"#, false);
        unchanged(r#"{"plain": [1]}"#, r#"{"plain": [1.0]}"#, false);
        unchanged(r#"{"plain": [{"a": 1, "b": [10.0]}]}"#, r#"{"plain": [{"b": [1e1], "a": 1}]}"#, true);
        unchanged(r#"{"free": {}}"#, r#"{"free": {}}"#, true);
        unchanged(r#"{"free": {"a": 1}}"#, r#"{"free": {"a": 1}}"#, false);
        unchanged(r#"{"ports": [{"port": 1}, {"port": 2}]}"#, r#"{"ports": [{"port": 2}, {"port": 1}]}"#, true);
        unchanged(r#"{"ports": [null]}"#, r#"{"ports": [null]}"#, false);
        unchanged(r#"{"name": null}"#, r#"{"name": null}"#, true);
        unchanged(r#"{"name": "a"}"#, r#"{"name": null}"#, false);
    }

    #[test]
    fn objects_with_many_fields_are_compared_in_any_order() {
        let fields = |numbers: &mut dyn Iterator<Item = u32>| {
            let fields: Vec<String> = numbers.map(|number| format!(r#""field{number}": "{number}""#)).collect();
            format!(r#"{{"labels": {{{}}}}}"#, fields.join(","))
        };
        let (up, down) = (fields(&mut (0..100)), fields(&mut (0..100).rev()));
        correlate(&up, &down, |labels| {
            assert!(labels.unchanged);
            assert_eq!(written(labels.below(42)).as_deref(), Some("\"42\""));
        });
    }
}
