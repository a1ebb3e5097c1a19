//! The document that the lines of `documents.txt` are about, and the shapes that a schema would give it.

use wheelwright_document::{Arena, Value, decode};
use wheelwright_expr::{Identity, ObjectShape, ShapeId, ShapeKind, Shapes, Type, Variable};

/// A document with its shapes. It is leaked, because the tests end soon after.
pub(crate) struct Sample {
    pub(crate) shapes: Shapes,
    pub(crate) shape: ShapeId,
    pub(crate) value: Value<'static>,
}

const DOCUMENT: &str = r#"{
    "count": 3, "ratio": 1.5, "whole": 2, "name": "web", "flag": true,
    "data": "aGVsbG8=", "ttl": "1h30m", "day": "2024-02-29", "when": "2024-02-29T12:30:00Z",
    "port": 80, "portName": "http", "nothing": null,
    "labels": {"app": "web", "tier": "front"},
    "tags": ["a", "b"], "sameTags": ["b", "a"], "moreTags": ["b", "c"],
    "list": [1, 2], "otherList": [2, 1],
    "ports": [{"name": "a", "port": 1}, {"name": "b", "port": 2}],
    "samePorts": [{"name": "b", "port": 2}, {"name": "a", "port": 1}],
    "newPorts": [{"name": "b", "port": 9}, {"name": "c", "port": 3}],
    "dash-ed": 1, "dot.ted": 2, "sla/shed": 3, "under__scored": 4, "namespace": "here", "int": 5,
    "template": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod"}, "spec": {"x": 1}},
    "open": {"known": 1, "unknown": 2}, "sameOpen": {"known": 1, "unknown": 2}, "otherOpen": {"known": 1, "unknown": 3},
    "empty": {}, "free": {"a": [1, "x", null]},
    "wrong": "text", "notNull": null, "badData": "?", "badTtl": "soon", "badDay": "never", "badTime": "late",
    "float": 1.0
}"#;

impl Sample {
    pub(crate) fn new() -> Self {
        let arena: &'static Arena = Box::leak(Box::default());
        let value = decode(DOCUMENT.as_bytes(), arena).expect("the sample is a document");
        let mut shapes = Shapes::default();
        let mut plain = |kind: ShapeKind| shapes.add(kind, false, 100);
        let (boolean, int, double, text) =
            (plain(ShapeKind::Bool), plain(ShapeKind::Int), plain(ShapeKind::Double), plain(ShapeKind::String));
        let (bytes, duration, date) = (plain(ShapeKind::Bytes), plain(ShapeKind::Duration), plain(ShapeKind::Date));
        let (moment, either, free) = (plain(ShapeKind::DateTime), plain(ShapeKind::IntOrString), plain(ShapeKind::Any));
        let labels = plain(ShapeKind::Map { values: text });
        let tags = plain(ShapeKind::List { items: text, identity: Identity::Value });
        let list = plain(ShapeKind::List { items: int, identity: Identity::Position });
        let port = plain(object(&[("name", text), ("port", int)]));
        let ports = plain(ShapeKind::List { items: port, identity: Identity::Keys(Box::new(["name".into()])) });
        let metadata = plain(object(&[("name", text), ("generateName", text)]));
        let template = plain(object(&[("apiVersion", text), ("kind", text), ("metadata", metadata)]));
        let open = plain(object(&[("known", int)]));
        let nullable = shapes.add(ShapeKind::String, true, 100);
        let fields = [
            ("count", int),
            ("ratio", double),
            ("whole", double),
            ("name", text),
            ("flag", boolean),
            ("data", bytes),
            ("ttl", duration),
            ("day", date),
            ("when", moment),
            ("port", either),
            ("portName", either),
            ("nothing", nullable),
            ("labels", labels),
            ("tags", tags),
            ("sameTags", tags),
            ("moreTags", tags),
            ("list", list),
            ("otherList", list),
            ("ports", ports),
            ("samePorts", ports),
            ("newPorts", ports),
            ("int", int),
            ("template", template),
            ("open", open),
            ("sameOpen", open),
            ("otherOpen", open),
            ("empty", open),
            ("free", free),
            ("absent", int),
            ("wrong", int),
            ("notNull", text),
            ("badData", bytes),
            ("badTtl", duration),
            ("badDay", date),
            ("badTime", moment),
            ("float", int),
        ];
        let mut root = ObjectShape::default();
        fields.iter().for_each(|(name, shape)| root.add(name, Some(name), *shape));
        root.add("dash-ed", Some("dash__dash__ed"), int);
        root.add("dot.ted", Some("dot__dot__ted"), int);
        root.add("sla/shed", Some("sla__slash__shed"), int);
        root.add("under__scored", Some("under__underscores__scored"), int);
        root.add("namespace", Some("__namespace__"), text);
        let shape = shapes.add(ShapeKind::Object(root), false, 1);
        Self { shapes, shape, value }
    }

    /// `self`.
    pub(crate) fn variable(&self) -> Variable {
        Variable { name: "self".into(), r#type: Type::of_shape(&self.shapes, self.shape), shape: Some(self.shape) }
    }
}

fn object(fields: &[(&str, ShapeId)]) -> ShapeKind {
    let mut object = ObjectShape::default();
    fields.iter().for_each(|(name, shape)| object.add(name, Some(name), *shape));
    ShapeKind::Object(object)
}
