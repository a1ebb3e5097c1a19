//! Stored documents that several versions wrote, and what clients of one of them make of them.

use wheelwright_document::{Arena, Entry, Value};
use wheelwright_schema::Root;

use crate::{
    Carry, Kind, Lenses, NodeIndex, Part, Scalar, Shape, Structure, VersionIndex,
    carry::{annotations, set_annotations},
    testing::{declaration, document},
};

/// Bytes that decide everything that is up to chance; when they are used up, the simplest is chosen.
pub(super) struct Tape<'t> {
    pub(super) bytes: std::slice::Iter<'t, u8>,
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
            Shape::Object => {
                let mut entries = Vec::new();
                self.fields(structure, node, &mut entries, arena);
                Value::Object(arena.slice(&entries))
            }
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

    fn fields<'a>(&mut self, structure: &Structure, node: NodeIndex, entries: &mut Vec<Entry<'a>>, arena: &'a Arena) {
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
                let entries = entries
                    .map(|entry| Entry { key: entry.key, value: self.edited(entry.value, structure, element, arena) });
                let entries: Vec<_> = entries.collect();
                Value::Object(arena.slice(&entries))
            }
            (_, _) => self.value(structure, node, arena),
        }
    }
}

fn resource(versions: &[(&str, &str)], changes: &str) -> Kind {
    let schemas: Vec<_> =
        versions.iter().map(|(name, fields)| (*name, format!("{{type: object, properties: {{{fields}}}}}"))).collect();
    let schemas: Vec<_> = schemas.iter().map(|(name, schema)| (*name, schema.as_str())).collect();
    let mut declaration = declaration(&schemas, changes);
    declaration.versions.iter_mut().for_each(|version| version.root = Root::Resource);
    let (kind, problems) = Kind::compile(&declaration, None);
    assert!(problems.is_empty(), "{problems:?}");
    kind.unwrap()
}

/// A kind with its lenses for every hub.
pub(super) struct Case<'k> {
    pub(super) kind: &'k Kind,
    pub(super) lenses: &'k [Lenses],
    pub(super) carries: Vec<Carry<'k>>,
    pub(super) arena: &'k Arena,
}

impl<'a> Case<'a> {
    pub(super) fn run(versions: &[(&str, &str)], changes: &str, check: impl FnOnce(&Case<'_>)) {
        let kind = resource(versions, changes);
        let lenses: Vec<_> = kind.history().indexes().map(|version| kind.lenses_for(version)).collect();
        let carries = lenses.iter().map(|lenses| Carry::new(lenses).unwrap()).collect();
        check(&Case { kind: &kind, lenses: &lenses, carries, arena: &Arena::new() });
    }

    /// What some version shows, as one of its clients might have changed it.
    pub(super) fn edited(&'a self, tape: &mut Tape<'_>, version: VersionIndex, shown: Option<Value<'a>>) -> Value<'a> {
        let structure = &self.kind.history().version(version).structure;
        let name = Value::string(self.kind.history().version(version).name.as_str());
        let outside = [
            Entry { key: "apiVersion", value: name },
            Entry { key: "kind", value: Value::string("Test") },
            Entry { key: "metadata", value: document(r#"{"name":"t","annotations":{"mine":"x"}}"#, self.arena) },
        ];
        let inside = match shown {
            Some(shown) => {
                let outside = ["apiVersion", "kind", "metadata"];
                let inside: Vec<_> =
                    shown.as_object().unwrap().iter().filter(|entry| !outside.contains(&entry.key)).copied().collect();
                tape.edited(Value::Object(self.arena.slice(&inside)), structure, structure.root(), self.arena)
            }
            None => tape.value(structure, structure.root(), self.arena),
        };
        let entries: Vec<_> =
            outside.into_iter().chain(inside.as_object().unwrap_or_default().iter().copied()).collect();
        let written = Value::Object(self.arena.slice(&entries));
        match shown {
            Some(shown) => self.kind.normal_update(version, written, shown, self.arena).unwrap(),
            None => self.kind.normal(version, written, self.arena).unwrap(),
        }
    }

    /// A stored document that several versions wrote.
    pub(super) fn stored(&'a self, tape: &mut Tape<'_>, hub: usize) -> Value<'a> {
        let lenses = &self.lenses[hub];
        let mut stored = None;
        for _ in 0..4 {
            let version = VersionIndex(tape.below(self.lenses.len()) as u32);
            let shown = stored.map(|stored| lenses.get(version, stored, self.arena));
            let document = self.edited(tape, version, shown);
            stored = Some(lenses.put(version, document, stored, Part::Whole, self.arena).unwrap());
        }
        stored.unwrap()
    }
}

/// A document with the annotations of another.
pub(super) fn with_annotations_of<'a>(document: Value<'a>, other: Value<'a>, arena: &'a Arena) -> Value<'a> {
    let entries = document.as_object().unwrap();
    let theirs = annotations(other.as_object().unwrap());
    Value::Object(set_annotations(entries, Some(&theirs.to_vec()), arena))
}
