//! The language: what expressions give.

use wheelwright_document::Arena;
use wheelwright_expr::{Evaluator, Expression, Shapes, Type, Val};

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
