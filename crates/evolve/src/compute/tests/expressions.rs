//! Expressions, up and down and for derived fields.

use wheelwright_document::Span;

use super::*;

fn expressions(up: &[&str], down: &[&str]) -> Conversion {
    let all = |sources: &[&str]| sources.iter().map(|source| located((*source).into())).collect();
    Conversion::Expressions { up: all(up), down: all(down) }
}

fn expression(up: &str, down: &str) -> Conversion {
    Conversion::Expression { up: located(up.into()), down: located(down.into()) }
}

#[test]
fn an_expression_converts_the_value_of_a_field() {
    let twice = single("{type: integer}", "{type: integer}", expression("self * 2", "self / 2"));
    twice.is_both_ways(&[("3", "6"), ("-1", "-2"), ("-", "-")]);
    twice.is_up(&[("9223372036854775807", "failed: integer overflow"), ("null", "-")]);

    let strings = "{type: array, items: {type: string}}";
    let each = trial(
        &format!("a: {strings}"),
        &format!("b: {strings}"),
        &["a[]"],
        &["b[]"],
        expression("self + '!'", "self.substring(0, size(self) - 1)"),
    );
    each.is_both_ways(&[(r#"["a","ä"]"#, r#"["a!","ä!"]"#)]);
}

/// An expression that takes as many steps for a short value as for a long one, more than a short one may cost.
fn costly(value: &str) -> String {
    let ten = "['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']";
    format!("{ten}.all(a, {ten}.all(b, {ten}.all(c, {ten}.all(d, a + b + c + d != '')))) ? {value} : {value}")
}

const TOO_COSTLY: &str = "failed: the expression costs more than it may";

#[test]
fn an_expression_may_cost_what_the_length_of_its_value_allows() {
    let texts = single("{type: string}", "{type: string}", expression(&costly("self"), "self"));
    assert_eq!(texts.up("\"x\""), TOO_COSTLY);
    let long = format!("\"{}\"", "x".repeat(3_000));
    assert_eq!(texts.up(&long), long);

    let map = "{type: object, additionalProperties: {type: integer}}";
    let maps = single(map, map, expression(&costly("self"), "self"));
    assert_eq!(maps.up(r#"{"x":1}"#), TOO_COSTLY);
    let long = format!("{{\"{}\":1}}", "x".repeat(3_000));
    assert_eq!(maps.up(&long), long, "keys are read, too");
}

#[test]
fn an_expression_that_reads_metadata_once_may_cost_all_that_kubernetes_allows() {
    let number = "{type: integer}";
    let costly = costly("(has(metadata.name) ? 1 : self)");
    assert_eq!(single(number, number, expression(&costly, "self")).up("2"), "2");
    let list = "{type: array, items: {type: integer}}";
    let (old, new) = (format!("a: {list}"), format!("b: {list}"));
    assert_eq!(trial(&old, &new, &["a[]"], &["b[]"], expression(&costly, "self")).up("[2]"), TOO_COSTLY);
}

#[test]
fn what_an_expression_gives_must_be_a_value_of_the_field() {
    let dynamic = |up: &str, new: &str| single("{type: string}", new, expression(up, "''")).up("\"7\"");
    assert_eq!(dynamic("dyn(self)", "{type: integer}"), "failed: wrong type: it must be of type integer, not a string");
    let wrong = "failed: wrong type: it must be of type integer, not a string";
    for is_said_to_be_an_integer in [
        "optional.of(1).optFlatMap(x, optional.none()).orValue(dyn(self))",
        "[1][?5].orValue(dyn(self))",
        "[[1], [dyn(self)]][1][0]",
        "(false ? [1] : [dyn(self)])[0]",
        "([1] + dyn([self]))[1]",
    ] {
        assert_eq!(dynamic(is_said_to_be_an_integer, "{type: integer}"), wrong, "{is_said_to_be_an_integer}");
    }
    assert_eq!(dynamic("null", "{type: integer}"), "-");
    assert_eq!(dynamic("optional.none()", "{type: integer}"), "-");
    assert_eq!(dynamic("optional.of(int(self))", "{type: integer}"), "7");
    assert_eq!(dynamic("18446744073709551615u", "{type: number}"), "18446744073709551615");
    assert_eq!(dynamic("18446744073709551615u", "{type: integer}"), "failed: out of range: 18446744073709551615");
    assert_eq!(dynamic("2.0", "{type: number}"), "2");
    assert_eq!(dynamic("1e300", "{type: number}"), "1e300");
    assert_eq!(dynamic("1.0 / 0.0", "{type: number}"), "failed: out of range: the result is not a finite number");
    assert_eq!(dynamic("duration('90s')", "{type: string}"), "\"90s\"");
    assert_eq!(dynamic("timestamp('2024-02-29T00:00:00Z')", "{type: string}"), "\"2024-02-29T00:00:00Z\"");
    let object = "{type: object, properties: {a: {type: string}, l: {type: array, items: {type: integer}}}}";
    assert_eq!(dynamic("{'a': dyn(self), 'l': dyn([1, 2])}", object), r#"{"a":"7","l":[1,2]}"#);
    assert_eq!(dynamic("{'z': self}", object), "failed: there is no field z");
    assert_eq!(dynamic("{'a': dyn(null)}", object), "failed: a: wrong type: it must be of type string, not null");
    let map = "{type: object, additionalProperties: {type: string}}";
    assert_eq!(dynamic("{dyn(1): self}", map), "failed: wrong type: a key must be a string, not int");
    assert_eq!(dynamic("int(self + 'x')", "{type: integer}"), "failed: \"7x\" is no int");
    assert_eq!(
        dynamic("lists.range(100000).map(i, lists.range(1000)).size()", "{type: integer}"),
        "failed: the expression costs more than it may"
    );
}

#[test]
fn expressions_convert_several_fields_of_a_scope() {
    let old = "spec: {type: object, properties: {first: {type: string}, last: {type: string}, other: {type: string}}}";
    let new = "spec: {type: object, properties: {full: {type: string}}}";
    let names_with = |last: &str| {
        let with = expressions(&["self.spec.first + ' ' + self.spec.last"], &["self.spec.full.split(' ')[0]", last]);
        trial(old, new, &["spec.first", "spec.last"], &["spec.full"], with)
    };
    let names = names_with("self.spec.full.split(' ')[1]");
    names.is_both_ways(&[("\"Ada\" | \"Lovelace\"", "\"Ada Lovelace\""), ("- | -", "-")]);
    names.is_up(&[("\"Ada\" | -", "-")]);
    names.is_down(&[("\"Plato\"", "failed: index out of range: 1, in a list of length 1")]);
    names_with("self.spec.full.split(' ')[?1]").is_down(&[("\"Plato\"", "\"Plato\" | -")]);

    let item = |fields: &str| format!("l: {{type: array, items: {{type: object, properties: {{{fields}}}}}}}");
    let old = item("min-size: {type: integer}, o: {type: object, properties: {p: {type: integer}}}");
    let with = expressions(&["self.min__dash__size + self.o.p"], &["self.sum", "0"]);
    trial(&old, &item("sum: {type: integer}"), &["l[].min-size", "l[].o.p"], &["l[].sum"], with)
        .is_up(&[("1 | 2", "3")]);
}

#[test]
fn metadata_can_be_read() {
    let converter = single("{type: string}", "{type: string}", expression("metadata.name + self", "self")).converter;
    let arena = Arena::new();
    let convert = |metadata: Option<&str>| {
        let metadata = metadata.map(|text| document(text, &arena));
        let sources = values("\"!\"", &arena);
        let mut exchange = Exchange { sources: &sources, old: None, metadata, entry: None, arena: &arena };
        let mut results = Vec::new();
        converter
            .convert(Direction::Up, &mut exchange, &mut results)
            .map(|()| text(&results))
            .map_err(|failed| failed.0)
    };
    assert_eq!(convert(Some(r#"{"name":"n"}"#)), Ok("\"n!\"".to_owned()));
    for nothing in [Some("{}"), Some("null"), None] {
        assert_eq!(convert(nothing), Err("no such key: name".to_owned()));
    }
}

fn deriver(source: &Structure, own: NodeIndex, expression: &str, target: &str) -> Result<Deriver, Vec<Problem>> {
    let target = structure(&format!("t: {target}"));
    let at = located(Selector::parse("t").unwrap());
    let field = target.find(&at.item).unwrap();
    let derived = Derived { direction: Direction::Up, at, expression: located(expression.into()) };
    Deriver::compile(&derived, source, own, (&target, field))
}

const PERSON: &str = "spec: {type: object, properties: {first: {type: string}, middle: {type: string}, age: {type: integer}}}, \
    namespace: {type: string}, list: {type: array, items: {type: object, properties: {a: {type: integer}}}}";

#[test]
fn derived_fields_are_computed_from_the_document() {
    let structure = structure(PERSON);
    let derive = |expression: &str, target: &str, own: &str| {
        let deriver = deriver(&structure, structure.root(), expression, target).unwrap();
        let arena = Arena::new();
        let value = deriver.derive(document(own, &arena), None, &arena);
        value.map(|value| text(&[value])).unwrap_or_else(|failed| format!("failed: {}", failed.0))
    };
    let ada = r#"{"spec":{"first":"Ada","age":36}}"#;
    assert_eq!(derive("self.spec.first", "{type: string}", ada), "\"Ada\"");
    assert_eq!(derive("self.spec.middle", "{type: string}", ada), "-");
    assert_eq!(derive("self.spec.first", "{type: string}", "{}"), "-");
    assert_eq!(derive("'constant'", "{type: string}", "{}"), "\"constant\"");
    assert_eq!(derive("self.spec.?middle", "{type: string}", ada), "-");
    assert_eq!(derive("metadata.name", "{type: string}", ada), "-", "a document without metadata lacks its name");
    assert_eq!(derive("1 / (self.spec.age - 36)", "{type: integer}", ada), "failed: division by zero");
    assert_eq!(
        derive("self.list.map(i, i.a)", "{type: array, items: {type: integer}}", r#"{"list":[{"a":1},{"a":2}]}"#),
        "[1,2]"
    );
    assert_eq!(
        derive("self.spec", "{type: object, properties: {first: {type: string}}}", ada),
        "failed: there is no field age"
    );
}

#[test]
fn self_is_the_item_that_a_field_is_in() {
    let structure = structure(PERSON);
    let item = structure.find(&Selector::parse("list[]").unwrap()).unwrap();
    let deriver = deriver(&structure, item, "self.a + 1", "{type: integer}").unwrap();
    let arena = Arena::new();
    assert_eq!(text(&[deriver.derive(document(r#"{"a":1}"#, &arena), None, &arena).unwrap()]), "2");
    assert_eq!(deriver.reads(), Some(&[vec!["a".into()]][..]));
}

#[test]
fn a_deriver_knows_what_it_reads() {
    let structure = structure(PERSON);
    let reads = |expression: &str| {
        let deriver = deriver(&structure, structure.root(), expression, "{x-kubernetes-preserve-unknown-fields: true}");
        deriver.unwrap().reads().map(|paths| paths.iter().map(|path| path.join(".")).collect::<Vec<_>>().join(" "))
    };
    let is = |expression: &str, paths: Option<&str>| assert_eq!(reads(expression).as_deref(), paths, "{expression}");
    is("self.spec.first", Some("spec.first"));
    is("has(self.spec.first) ? self.spec.first : string(self.spec.age)", Some("spec.age spec.first"));
    is("self.list.map(i, i.a).size() > 1 && has(self.spec) ? self.__namespace__ : ''", Some("list namespace spec"));
    is("has(self.spec) && self.spec.age > 1", Some("spec"));
    is("1", Some(""));
    is("cel.bind(x, self.spec.age, x + x)", Some("spec.age"));
    is("[self].size()", None);
    is("self == self", None);
}

#[test]
fn an_expression_that_cannot_be_right_is_refused_with_its_place() {
    let refused = |up: &str, new: &str| {
        let with = Conversion::Expression {
            up: Located { item: up.into(), span: Span { start: 7, ..Span::default() } },
            down: located("''".into()),
        };
        let problems =
            compiled("a: {type: string}", &format!("b: {new}"), &["a"], &["b"], with, &Hooks::new()).unwrap_err();
        assert!(problems.iter().all(|problem| problem.rule.id == "WW191" && problem.span.start == 7));
        assert!(problems.iter().all(|problem| problem.part.as_ref().is_none_or(|(text, _)| **text == *up)));
        problems.into_iter().map(|problem| problem.message).collect::<Vec<_>>().join("; ")
    };
    assert!(refused("1 + self", "{type: string}").starts_with("`1 + self`: `+` does not take (int, string)"));
    assert_eq!(refused("self", "{type: integer}"), "`self` gives a value of type string, and b is of type integer");
    assert_eq!(refused("1.5", "{type: integer}"), "`1.5` gives a value of type double, and b is of type integer");
    assert_eq!(
        refused("[self]", "{type: array, items: {type: integer}}"),
        "`[self]` gives a value of type list(string), and b is of type list of integer"
    );
    assert!(refused("self +", "{type: string}").starts_with("`self +`: "));
    assert!(refused("other", "{type: string}").contains("nothing is called `other`"));
    assert!(refused("quantity(self)", "{type: string}").contains("of type quantity"));
}

#[test]
fn values_of_several_types_need_dyn() {
    let compile = |up: &str| {
        let with = Conversion::Expression { up: located(up.into()), down: located("''".into()) };
        let b = "b: {type: object, properties: {name: {type: string}, port: {type: integer}}}";
        compiled("a: {type: string}", b, &["a"], &["b"], with, &Hooks::new())
    };
    let remedy = |up: &str| compile(up).unwrap_err().into_iter().filter_map(|problem| problem.mend).collect::<Vec<_>>();
    for (wrong, right) in [
        ("{'name': self, 'port': 1}", "{'name': self, 'port': dyn(1)}"),
        ("[self, 1].size() > 1 ? {'name': self} : {}", "[self, dyn(1)].size() > 1 ? {'name': self} : {}"),
        ("self == 'x' ? {'name': self} : 'none'", "self == 'x' ? {'name': self} : dyn('none')"),
    ] {
        assert_eq!(remedy(wrong), ["if values of several types are meant, write `dyn(…)` around this one"], "{wrong}");
        assert!(compile(right).is_ok(), "{right}");
    }
    let one_of_them = "if values of two types are meant, write `dyn(…)` around one of them";
    assert_eq!(remedy("self == 1 ? {'name': self} : {}"), [one_of_them]);
    assert!(compile("dyn(self) == 1 ? {'name': self} : {}").is_ok());
    assert_eq!(remedy("{'name': self + 1}"), [""; 0], "addition takes no values of two types");
}
