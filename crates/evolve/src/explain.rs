//! Where every value of a converted document comes from.

use std::collections::HashMap;

use wheelwright_document::{Arena, Entry, Value};

use crate::{ConvertError, FieldId, Kind, NodeIndex, Provenance, Shape, Source, Step, VersionHistory, VersionIndex};

/// A value of a converted document, and why it is there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explained<'a> {
    /// Its path: `spec.ports[0].name`, and `spec.labels[a.b]` in maps.
    pub path: String,
    /// The value.
    pub value: Value<'a>,
    /// Why it is there.
    pub because: Because,
}

/// Why a value is in a converted document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Because {
    /// The document that was converted says so.
    Written {
        /// The path there, which is another one if the field was renamed or moved.
        at: String,
        /// What is stored has no such field, and keeps it in a bag.
        in_bag: bool,
    },
    /// The document did not say, and the schema of its version has a default.
    Default {
        /// The path there.
        at: String,
    },
    /// Nobody said, and every reader of every version sees the same default for good.
    Frozen {
        /// The version that the field first was in, whose default it is.
        first: VersionIndex,
    },
    /// Nobody wrote the object; fields are in it that the document has elsewhere.
    Implied,
    /// It names the version that the document was converted to.
    Asked,
}

impl Kind {
    /// As [`convert`](Self::convert), and why every value is there: every one that has no parts, and every object that
    /// nobody wrote.
    ///
    /// # Errors
    /// The document cannot be written through its version.
    pub fn explain<'a>(
        &'a self,
        from: VersionIndex,
        to: VersionIndex,
        document: Value<'a>,
        arena: &'a Arena,
    ) -> Result<(Value<'a>, Vec<Explained<'a>>), ConvertError> {
        if document.as_object().is_none() {
            return Err(ConvertError::NoObject(document.kind_name()));
        }
        let defaulted = self.defaulted(from, document, arena)?;
        let stored = self.stored(from, self.lenses().fill(from, defaulted, arena), None, arena)?;
        let (shown, provenance) = self.lenses().explain(to, stored, arena);
        let history = self.history();
        let mut walk = Walk {
            kind: self,
            from: history.version(from),
            to: history.version(to),
            written: pointers(document),
            defaulted: pointers(defaulted),
            sources: provenance.into_iter().map(|Provenance { path, source, .. }| (path, source)).collect(),
            elements: Vec::new(),
            path: String::new(),
            found: Vec::new(),
        };
        walk.object(walk.to.structure.root(), shown.as_object().unwrap_or_default());
        Ok((shown, walk.found))
    }
}

/// Walks over a converted document.
struct Walk<'a> {
    kind: &'a Kind,
    from: &'a VersionHistory,
    to: &'a VersionHistory,
    /// What the document says: JSON pointers, and whether null is there.
    written: HashMap<String, bool>,
    /// What it says once it has the defaults of its version.
    defaulted: HashMap<String, bool>,
    /// Where fields come from, by their paths.
    sources: HashMap<String, Source>,
    /// The items and values that the walk is inside of. No change moves a field out of them, so they are the same in
    /// every version.
    elements: Vec<Element<'a>>,
    path: String,
    found: Vec<Explained<'a>>,
}

/// An item of a list, or a value of a map.
#[derive(Clone, Copy)]
enum Element<'a> {
    Item(usize),
    Value(&'a str),
}

/// A value of the document that was converted.
#[derive(Clone, Default)]
struct Origin {
    /// Its path, for people.
    path: String,
    /// Its path, for sure.
    pointer: String,
    /// The field that it is, or is in; `None` if nobody declares it.
    field: Option<FieldId>,
}

impl<'a> Walk<'a> {
    fn object(&mut self, node: NodeIndex, entries: &'a [Entry<'a>]) {
        let has_envelope = node == self.to.structure.root() && self.kind.is_resource();
        for Entry { key, value } in entries.iter().copied() {
            let mark = self.path.len();
            append_field(&mut self.path, key);
            match self.to.structure.child(node, key) {
                _ if has_envelope && key == "apiVersion" => self.push(value, Because::Asked),
                _ if has_envelope && matches!(key, "kind" | "metadata") => {
                    self.value(value, &Origin::default().child(key));
                }
                Some(child) => self.field(child, value),
                None => {
                    let origin = Origin { field: None, ..self.origin_of(node).child(key) };
                    self.value(value, &origin);
                }
            }
            self.path.truncate(mark);
        }
    }

    fn field(&mut self, node: NodeIndex, value: Value<'a>) {
        let source = self.sources.get(&self.path).copied();
        match source {
            Some(Source::Frozen) => self.value(value, &Origin::nowhere(self.to.id(node))),
            Some(Source::Implied) => {
                self.push(value, Because::Implied);
                self.content(node, value, &self.origin_of(node));
            }
            Some(Source::Stored) | None => self.content(node, value, &self.origin_of(node)),
        }
    }

    /// A value that the version describes.
    fn content(&mut self, node: NodeIndex, value: Value<'a>, origin: &Origin) {
        let structure = &self.to.structure;
        match (structure.node(node).shape, structure.element(node), value) {
            (Shape::Object, _, Value::Object(entries)) if !entries.is_empty() => self.object(node, entries),
            (Shape::List, Some(element), Value::Array(items)) if !items.is_empty() => {
                for (index, item) in items.iter().enumerate() {
                    self.element(element, Element::Item(index), *item, origin);
                }
            }
            (Shape::Map, Some(element), Value::Object(entries)) if !entries.is_empty() => {
                for entry in entries {
                    self.element(element, Element::Value(entry.key), entry.value, origin);
                }
            }
            _ => self.value(value, origin),
        }
    }

    fn element(&mut self, node: NodeIndex, element: Element<'a>, value: Value<'a>, container: &Origin) {
        let mark = self.path.len();
        element.append(&mut self.path);
        self.elements.push(element);
        self.content(node, value, &container.element(element));
        self.elements.pop();
        self.path.truncate(mark);
    }

    /// A value that no version describes.
    fn value(&mut self, value: Value<'a>, origin: &Origin) {
        let mark = self.path.len();
        match value {
            Value::Object(entries) if !entries.is_empty() => {
                for entry in entries {
                    append_field(&mut self.path, entry.key);
                    self.value(entry.value, &origin.child(entry.key));
                    self.path.truncate(mark);
                }
            }
            Value::Array(items) if !items.is_empty() => {
                for (index, item) in items.iter().enumerate() {
                    let element = Element::Item(index);
                    element.append(&mut self.path);
                    self.value(*item, &origin.element(element));
                    self.path.truncate(mark);
                }
            }
            _ => self.push(value, self.because(value, origin)),
        }
    }

    fn push(&mut self, value: Value<'a>, because: Because) {
        self.found.push(Explained { path: self.path.clone(), value, because });
    }

    /// Why a value without parts is there.
    fn because(&self, value: Value<'a>, origin: &Origin) -> Because {
        // Null mostly means that a default is asked for.
        let says = |document: &HashMap<String, bool>| document.get(&origin.pointer) == Some(&value.is_null());
        let at = || origin.path.clone();
        let history = self.kind.history();
        match origin.field {
            Some(id) if !says(&self.written) => match says(&self.defaulted) {
                true => Because::Default { at: at() },
                false => Because::Frozen { first: history.field(id).first },
            },
            field => {
                let hub = history.version(self.kind.lenses().hub());
                Because::Written { at: at(), in_bag: field.is_some_and(|id| hub.node_of(id).is_none()) }
            }
        }
    }

    /// What a node is in the document that was converted.
    fn origin_of(&self, node: NodeIndex) -> Origin {
        let field = self.to.id(node);
        let Some(node) = self.from.counterpart(self.to, node) else { return Origin::nowhere(field) };
        let mut elements = self.elements.iter();
        let selector = self.from.structure.selector(node);
        let origin = selector.steps().iter().fold(Origin::default(), |origin, step| match step {
            Step::Field(name) => origin.child(name),
            Step::Items | Step::Values => elements.next().map_or(origin.clone(), |element| origin.element(*element)),
        });
        Origin { field, ..origin }
    }
}

impl Origin {
    /// What the document cannot say.
    fn nowhere(field: Option<FieldId>) -> Self {
        // No pointer begins with it.
        Self { pointer: "-".to_owned(), field, ..Self::default() }
    }

    fn child(&self, name: &str) -> Self {
        let mut origin = self.clone();
        append_field(&mut origin.path, name);
        append_token(&mut origin.pointer, name);
        origin
    }

    fn element(&self, element: Element<'_>) -> Self {
        let mut origin = self.clone();
        element.append(&mut origin.path);
        match element {
            Element::Item(index) => append_token(&mut origin.pointer, &index.to_string()),
            Element::Value(key) => append_token(&mut origin.pointer, key),
        }
        origin
    }
}

impl Element<'_> {
    fn append(self, path: &mut String) {
        match self {
            Self::Item(index) => path.push_str(&format!("[{index}]")),
            Self::Value(key) => path.push_str(&format!("[{key}]")),
        }
    }
}

fn append_field(path: &mut String, name: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(name);
}

fn append_token(pointer: &mut String, token: &str) {
    pointer.push('/');
    pointer.push_str(&token.replace('~', "~0").replace('/', "~1"));
}

/// Everything in a document, and whether it is null.
fn pointers(document: Value<'_>) -> HashMap<String, bool> {
    fn collect(value: Value<'_>, pointer: &mut String, found: &mut HashMap<String, bool>) {
        let mark = pointer.len();
        let mut below = |token: &str, value| {
            append_token(pointer, token);
            collect(value, pointer, found);
            pointer.truncate(mark);
        };
        match value {
            Value::Object(entries) => entries.iter().for_each(|entry| below(entry.key, entry.value)),
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(index, item)| below(&index.to_string(), *item));
            }
            _ => {}
        }
        found.insert(pointer.clone(), value.is_null());
    }
    let mut found = HashMap::new();
    collect(document, &mut String::new(), &mut found);
    found
}

#[cfg(test)]
mod tests {
    use wheelwright_document::encode;

    use super::*;
    use crate::testing::{document, kind};

    fn explained(kind: &Kind, from: &str, to: &str, json: &str) -> Vec<String> {
        let arena = Arena::new();
        let [from, to] = [from, to].map(|name| kind.version(name).unwrap());
        let (shown, explained) = kind.explain(from, to, document(json, &arena), &arena).unwrap();
        let converted = kind.convert(from, to, document(json, &arena), &arena).unwrap();
        assert_eq!(encode(shown), encode(converted));
        let line = |Explained { path, value, because }: &Explained<'_>| {
            let value = String::from_utf8(encode(*value)).unwrap();
            let because = match because {
                Because::Written { at, in_bag: false } => format!("written at {at}"),
                Because::Written { at, in_bag: true } => format!("written at {at}, in a bag"),
                Because::Default { at } => format!("default at {at}"),
                Because::Frozen { first } => format!("frozen in {}", kind.history().version(*first).name),
                Because::Implied => "implied".to_owned(),
                Because::Asked => "asked".to_owned(),
            };
            format!("{path} = {value}: {because}")
        };
        explained.iter().map(line).collect()
    }

    #[test]
    fn every_value_has_a_reason() {
        let kind = kind(
            &[
                (
                    "v1",
                    "{type: object, properties: {qty: {type: integer, default: 1}, note: {type: string}, city: {type: string}}}",
                ),
                (
                    "v2",
                    "{type: object, properties: {quantity: {type: integer}, city: {type: string}, \
                     priority: {type: string, default: low}}}",
                ),
                (
                    "v3",
                    "{type: object, properties: {quantity: {type: integer}, note: {type: string}, \
                     priority: {type: string}, address: {type: object, properties: {city: {type: string}}}}}",
                ),
            ],
            "{v2: {renamed: {qty: quantity}, removed: [note]}, v3: {renamed: {city: address.city}}}",
            "v2",
        );
        assert_eq!(
            explained(&kind, "v1", "v3", r#"{"note": "a", "city": "Ulm"}"#),
            [
                "quantity = 1: default at qty",
                "note = \"a\": written at note, in a bag",
                "priority = \"low\": frozen in v2",
                "address = {\"city\":\"Ulm\"}: implied",
                "address.city = \"Ulm\": written at city",
            ]
        );
        assert_eq!(
            explained(&kind, "v3", "v1", r#"{"quantity": null}"#),
            ["qty = 1: frozen in v1"],
            "null is nothing that anybody wrote"
        );
    }

    #[test]
    fn items_and_values_are_found_where_they_were() {
        let item = "{type: object, properties: {id: {type: string}, size: {type: integer, default: 1}}}";
        let renamed = "{type: object, properties: {name: {type: string}, size: {type: integer}}}";
        let kind = kind(
            &[
                (
                    "v1",
                    &format!(
                        "{{type: object, properties: {{lists: {{type: array, items: {{type: object, \
                    additionalProperties: {item}}}}}}}}}"
                    ),
                ),
                (
                    "v2",
                    &format!(
                        "{{type: object, properties: {{rows: {{type: array, items: {{type: object, \
                    additionalProperties: {renamed}}}}}}}}}"
                    ),
                ),
            ],
            "v2: {renamed: {lists: rows, 'lists[]{}.id': 'rows[]{}.name'}}",
            "v2",
        );
        assert_eq!(
            explained(&kind, "v1", "v2", r#"{"lists": [{}, {"a/~.b": {"id": "x"}, "c": {"size": 2}}]}"#),
            [
                "rows[0] = {}: written at lists[0]",
                "rows[1][a/~.b].name = \"x\": written at lists[1][a/~.b].id",
                "rows[1][a/~.b].size = 1: default at lists[1][a/~.b].size",
                "rows[1][c].size = 2: written at lists[1][c].size",
            ]
        );
    }

    #[test]
    fn what_nobody_describes_is_explained_down_to_its_leaves() {
        let kind = kind(
            &[
                (
                    "v1",
                    "{type: object, properties: {any: {x-kubernetes-preserve-unknown-fields: true}}, \
                    x-kubernetes-preserve-unknown-fields: true}",
                ),
                (
                    "v2",
                    "{type: object, properties: {all: {x-kubernetes-preserve-unknown-fields: true}}, \
                    x-kubernetes-preserve-unknown-fields: true}",
                ),
            ],
            "v2: {renamed: {any: all}}",
            "v2",
        );
        assert_eq!(
            explained(&kind, "v1", "v2", r#"{"any": {"a": [1, {"b": null}]}, "x": {"y": []}}"#),
            [
                "all.a[0] = 1: written at any.a[0]",
                "all.a[1].b = null: written at any.a[1].b",
                "x.y = []: written at x.y",
            ]
        );
    }
}
