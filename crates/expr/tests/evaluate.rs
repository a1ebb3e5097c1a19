//! The language: what expressions give.

use wheelwright_document::{Arena, decode};
use wheelwright_expr::{
    Evaluator, Expression, Identity, REQUEST_BYTES, ShapeId, ShapeKind, Shapes, Type, Val, Variable,
};

/// What an expression over no document gives, as text.
fn run(source: &str) -> String {
    let shapes = Shapes::default();
    let arena = Arena::new();
    let expression = match Expression::compile(source, &shapes, &[], &Type::Bool) {
        Ok(expression) => expression,
        Err(error) => return format!("error: {error}"),
    };
    let mut evaluator = Evaluator::new(&shapes, &arena);
    evaluator.set_budget(1_000_000);
    match expression.evaluate(&mut evaluator, &[]) {
        Ok(Val::Bool(value)) => value.to_string(),
        Ok(other) => format!("{other:?}"),
        Err(failure) => format!("failure: {failure}"),
    }
}

#[test]
fn true_things() {
    for source in [
        "1 + 2 == 3",
        "[1, 2, 3].all(x, x > 0)",
        "[1, 2, 3].map(x, x * 2) == [2, 4, 6]",
        "'abc'.contains('b') && 'abc'.startsWith('a')",
        "{'a': 1}.a == 1",
        "'a' in {'a': 1}",
        "'a' in ['b', 'a']",
        "cel.bind(x, 5, x * x == 25)",
        "[1, 2].exists(x, 1 / (x - 1) == 1)",
        "optional.of(3).optMap(x, x + 1).orValue(0) == 4",
        "{'a': {'b': 1}}.?a.?c.orValue(7) == 7",
        "[3, 1, 2].max() == 3 && [1, 2].isSorted()",
        "'%s-%d'.format([dyn('a'), 3]) == 'a-3'",
        "type(1) == int && type('a') == string",
        "dyn(1) == 1.0 && dyn(1) != 'a'",
        "sets.contains([1, 2, 3], [2, 3])",
        "'foo123'.matches('[0-9]+$')",
        "'a1b22'.findAll('[0-9]+') == ['1', '22']",
        "[1,2,3].transformList(i, v, i > 0, v * i) == [2, 6]",
        "{'a': 1}.transformMap(k, v, v + 1) == {'a': 2}",
        "{'a': 1}.transformMapEntry(k, v, {v: k}) == {1: 'a'}",
        "true ? true : 1 / 0 == 1",
        "1 / 0 == 1 || true",
        "['a', 'b'].join(',') == 'a,b' && 'a,b'.split(',') == ['a', 'b']",
    ] {
        assert_eq!(run(source), "true", "{source}");
    }
}

/// Values of every shape are read as those of a document are, and the last variables may be left out if nothing reads them:
/// those of macros keep their places.
#[test]
fn variables_that_are_not_in_a_document() {
    let mut shapes = Shapes::default();
    let [int, string, any] = [ShapeKind::Int, ShapeKind::String, ShapeKind::Any].map(|kind| shapes.add(kind, true, 0));
    let list = shapes.add(ShapeKind::List { items: int, identity: Identity::Position }, false, REQUEST_BYTES);
    let arena = Arena::new();
    let run = |source: &str, value: &str, shape: ShapeId, other: Option<&str>| {
        let variables = [("own", shape), ("other", any)].map(|(name, shape)| Variable {
            name: name.into(),
            r#type: Type::of_shape(&shapes, shape),
            shape: Some(shape),
        });
        let expression = Expression::compile_any(source, &shapes, &variables).expect("an expression").0;
        let read = |text: &str| decode(arena.text(text).as_bytes(), &arena).expect("JSON");
        let mut evaluator = Evaluator::new(&shapes, &arena);
        evaluator.set_budget(1_000);
        let result = match other {
            None => expression.evaluate_over(&mut evaluator, [(read(value), shape)]),
            Some(other) => expression.evaluate_over(&mut evaluator, [(read(value), shape), (read(other), any)]),
        };
        format!("{:?}", result.map_err(|failure| failure.message().to_owned()))
    };
    assert_eq!(run("own * 2", "21", int, None), "Ok(Int(42))");
    assert_eq!(run("own * 2", "21.0", int, None), run("own * 2", "1.5", int, None), "not written as an integer");
    assert!(run("own * 2", "21.0", int, None).starts_with("Err(\"invalid data"));
    assert_eq!(run("dyn(own) == null", "null", int, None), "Ok(Bool(true))");
    assert_eq!(run("own + 'x'", r#""a""#, string, None), r#"Ok(String("ax"))"#);
    assert_eq!(run("own.all(x, own.exists(y, y > x) || x == 3)", "[1, 2, 3]", list, None), "Ok(Bool(true))");
    assert_eq!(run("own.transformList(i, v, i + v)[2]", "[1, 2, 3]", list, None), "Ok(Int(5))");
    assert_eq!(run("cel.bind(x, own[0] + 1, x * x)", "[1]", list, None), "Ok(Int(4))");
    assert_eq!(run("own[?0].optMap(x, x + 1).value()", "[1]", list, None), "Ok(Int(2))");
    assert_eq!(run("own + other.n", "1", int, Some(r#"{"n": 2}"#)), "Ok(Int(3))");
    assert_eq!(run("[1].map(x, x + own + other.n)[0]", "1", int, Some(r#"{"n": 2}"#)), "Ok(Int(4))");
}
