//! Expressions: whatever is written ends well, places are within the source and hold what they claim, and what compiles
//! gives the same value each time, within its budget. A document for `self` may follow the source, after a zero byte.

use std::ops::Range;

use wheelwright_document::{Arena, Value, decode};
use wheelwright_expr::{
    Evaluator, Expression, FailureKind, Identity, ObjectShape, ShapeId, ShapeKind, Shapes, Type, Variable, parse,
};

/// Reads an expression, and evaluates it.
pub fn cel(input: &[u8]) {
    let mut parts = input.splitn(2, |byte| *byte == 0);
    let Ok(source) = std::str::from_utf8(parts.next().unwrap_or_default()) else { return };
    check_places(source);
    let arena = Arena::new();
    let Ok(document) = decode(parts.next().unwrap_or(SAMPLE), &arena) else { return };
    check_value(source, &document);
}

const SAMPLE: &[u8] = br#"{
    "flag": true, "count": 3, "ratio": 1.5, "text": "a\u00e9b", "data": "aGVsbG8=", "ttl": "1h", "day": "2024-02-29",
    "when": "2024-02-29T12:00:00Z", "port": 80, "null": null, "free": {"a": [1, "b", null, {}]},
    "labels": {"a": "b"}, "numbers": [3, 1, 2], "tags": ["b", "a"], "ports": [{"name": "a", "port": 1}]
}"#;

fn check_places(source: &str) {
    let text = |at: Range<u32>| source.get(at.start as usize..at.end as usize).expect("a place within the source");
    match parse(source) {
        Ok(expr) => {
            let again = parse(text(expr.at.clone())).expect("an expression by itself");
            assert_eq!(again.at, 0..expr.at.end - expr.at.start);
        }
        Err(error) => {
            text(error.at());
            assert!(!error.message().is_empty());
        }
    }
}

fn check_value(source: &str, document: &Value<'_>) {
    let mut shapes = Shapes::default();
    let shape = add_shapes(&mut shapes);
    let variables = [Variable { name: "self".into(), r#type: Type::of_shape(&shapes, shape), shape: Some(shape) }];
    // Of any type, and not only bools as in rules.
    let source = format!("dyn({source}\n)");
    let expression = match Expression::compile(&source, &shapes, &variables, &Type::Dyn) {
        Ok(expression) => expression,
        Err(error) => {
            for mistake in error.mistakes() {
                let at = mistake.at.start as usize..mistake.at.end as usize;
                assert!(source.get(at).is_some() && !mistake.message.is_empty(), "{mistake:?}");
            }
            return;
        }
    };
    let estimate = expression.estimate(&shapes, &variables);
    assert!(estimate.min <= estimate.max, "{estimate:?}");

    const BUDGET: u64 = 100_000;
    let run = || {
        let arena = Arena::new();
        let mut evaluator = Evaluator::new(&shapes, &arena);
        evaluator.set_budget(BUDGET);
        let value = evaluator.read(document, shape);
        let result = expression.evaluate(&mut evaluator, &[value]);
        let left = evaluator.budget();
        assert!(left <= BUDGET);
        if let Err(failure) = &result {
            assert!(failure.kind() != FailureKind::Budget || left == 0, "{failure} with {left} left");
            assert!(!failure.message().is_empty());
        }
        (format!("{result:?}"), left)
    };
    assert_eq!(run(), run(), "{source}");
}

/// Some of every kind.
fn add_shapes(shapes: &mut Shapes) -> ShapeId {
    let mut fields = Vec::new();
    for (name, kind) in [
        ("flag", ShapeKind::Bool),
        ("count", ShapeKind::Int),
        ("ratio", ShapeKind::Double),
        ("text", ShapeKind::String),
        ("data", ShapeKind::Bytes),
        ("ttl", ShapeKind::Duration),
        ("day", ShapeKind::Date),
        ("when", ShapeKind::DateTime),
        ("port", ShapeKind::IntOrString),
        ("free", ShapeKind::Any),
    ] {
        fields.push((name, shapes.add(kind, false, 100)));
    }
    let (count, text) = (fields[1].1, fields[3].1);
    let port = shapes.add(object(&[("name", text), ("port", count)]), false, 1);
    let keys = Identity::Keys(Box::new(["name".into()]));
    for (name, kind) in [
        ("null", ShapeKind::String),
        ("labels", ShapeKind::Map { values: text }),
        ("numbers", ShapeKind::List { items: count, identity: Identity::Position }),
        ("tags", ShapeKind::List { items: text, identity: Identity::Value }),
        ("ports", ShapeKind::List { items: port, identity: keys }),
    ] {
        fields.push((name, shapes.add(kind, true, 100)));
    }
    shapes.add(object(&fields), false, 1)
}

fn object(fields: &[(&str, ShapeId)]) -> ShapeKind {
    let mut object = ObjectShape::default();
    fields.iter().for_each(|(name, shape)| object.add(name, Some(name), *shape));
    ShapeKind::Object(object)
}
