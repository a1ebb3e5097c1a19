//! Conversions that are refused before there is a document.

use wheelwright_document::Span;

use super::*;

fn refused(old: &str, new: &str, from: &[&str], to: &[&str], with: Conversion) -> String {
    let problems = compiled(old, new, from, to, with, &Hooks::new()).unwrap_err();
    problems.iter().map(|problem| format!("{}: {}", problem.rule.id, problem.message)).collect::<Vec<_>>().join("; ")
}

#[test]
fn a_converter_is_refused_where_it_does_not_fit_the_shapes() {
    let is = |with: Conversion, old: &str, new: &str, message: &str| {
        let found = refused(&format!("a: {{type: {old}}}"), &format!("b: {{type: {new}}}"), &["a"], &["b"], with);
        assert_eq!(found, format!("WW190: a cannot become b this way: {message}"));
    };
    let seconds = "it is for a string and a number of seconds, and these are";
    is(Conversion::DurationSeconds, "string", "boolean", &format!("{seconds} string and boolean"));
    is(Conversion::DurationSeconds, "string", "string", &format!("{seconds} string and string"));
    is(
        Conversion::DurationSeconds,
        "string",
        "array, items: {type: integer}",
        &format!("{seconds} string and list of integer"),
    );
    is(Conversion::Quantity, "integer", "number", "it is for a string and a number, and these are integer and number");
    is(Conversion::Scale("2".into()), "string", "integer", "it is for two numbers, and these are string and integer");
    for factor in ["0", "0e5", "two", "1234567890123456789", "NaN", ""] {
        let message = format!("{factor} is no factor: it must be a number of at most 18 digits, and not 0");
        is(Conversion::Scale(factor.into()), "integer", "integer", &message);
    }
    let text = "it is for a string and an integer, number or boolean, and these are";
    is(Conversion::Text, "integer", "boolean", &format!("{text} integer and boolean"));
    is(Conversion::Text, "string", "string", &format!("{text} string and string"));
    let values = || Conversion::Values(vec![("a".into(), "b".into())]);
    is(values(), "string", "integer", "\"b\" is no value of the field that is to have it");
    is(values(), "string", "object", "it is for strings, numbers and booleans, and these are string and object");
    let list = "array, items: {type: string}";
    let joined = "it is for a list of strings, numbers or booleans and a string, and these are";
    is(Conversion::Joined(",".into()), list, list, &format!("{joined} list of string and list of string"));
    is(Conversion::Joined("".into()), list, "string", "an empty text is no delimiter");
    let one = "it is for a list and what is its one item, with a field in common if that is an object, and these are";
    is(Conversion::OneItem, "object", list, &format!("{one} object and list of string"));
    is(Conversion::OneItem, "string", "string", &format!("{one} string and string"));
    let keyed =
        |key: &str, value: Option<&str>| Conversion::KeyedList { key: key.into(), value: value.map(Into::into) };
    let objects = "array, items: {type: object, properties: {n: {type: string}, o: {type: object}}}";
    let map = "object, additionalProperties: {type: string}";
    is(keyed("n", None), list, map, "the items of the list must be objects, not of type string");
    is(keyed("x", None), objects, map, "the items of the list have no field x");
    is(keyed("n", Some("x")), map, objects, "the items of the list have no field x");
    is(keyed("o", None), objects, map, "o cannot be the key: it is of type object");
    is(keyed("n", None), objects, map, "without `value`, the values of the map must be objects, not of type string");
    let named = "object, additionalProperties: {type: object, properties: {n: {type: string}}}";
    let hidden = "the values of the map have a field n too, which would be hidden: choose another key";
    is(keyed("n", None), objects, named, hidden);
    is(keyed("n", None), named, objects, hidden);
    is(
        keyed("n", None),
        objects,
        "string",
        "it is for a list of objects and a map, and these are list of object and string",
    );
    is(
        Conversion::RenamedKeys(Vec::new()),
        map,
        "string",
        "it is for two maps, and these are map of string and string",
    );
    is(
        Conversion::Entries(vec!["a".into()]),
        "string",
        "string",
        "it is for fields and one map, with a key for each field",
    );
    is(
        Conversion::Entries(vec!["x".into()]),
        "string",
        "object, properties: {a: {type: string}}",
        "the object has no field x",
    );
    is(Conversion::ObjectWithKey("a".into()), "string", "object", "it is not a conversion of one field to another");
}

#[test]
fn paths_that_do_not_go_together_are_refused() {
    let list = "a: {type: array, items: {type: string}}";
    let two = refused(list, "b: {type: integer}, c: {type: integer}", &["a"], &["b", "c"], Conversion::Text);
    assert_eq!(two, "WW190: a cannot become b, c this way: it is for one field and one other");
    let apart = refused(list, "b: {type: integer}", &["a[]"], &["b[]"], Conversion::Text);
    assert_eq!(
        apart,
        "WW190: a[] cannot become b[] this way: `[]` is for lists and `{}` for maps, and both paths must end alike"
    );
    let both = "o: {type: object, properties: {p: {type: string}}}";
    let with = Conversion::Expressions {
        up: vec![located("''".into())],
        down: vec![located("''".into()), located("''".into())],
    };
    let within = refused(both, "b: {type: string}", &["o", "o.p"], &["b"], with);
    assert_eq!(
        within,
        "WW190: o, o.p cannot become b this way: o.p is not a field beside the others: expressions read whole fields"
    );
    let twice = refused(
        "a: {type: string}, c: {type: string}",
        "b: {type: object, additionalProperties: {type: string}}",
        &["a", "c"],
        &["b"],
        Conversion::Entries(vec!["k".into(), "k".into()]),
    );
    assert_eq!(twice, "WW190: a, c cannot become b this way: two fields have one key");
}

#[test]
fn a_pattern_that_cannot_be_used_is_told_where_it_is() {
    let pattern = Located { item: "(?P<a>.*".into(), span: Span { start: 7, ..Span::default() } };
    let with = Conversion::Template { template: "{a}".into(), pattern: Some(pattern) };
    let problems =
        compiled("t: {type: string}", "a: {type: integer}", &["t"], &["a"], with, &Hooks::new()).unwrap_err();
    assert_eq!(problems.iter().map(|problem| problem.span.start).collect::<Vec<_>>(), [7]);
}

#[test]
fn an_object_and_a_list_of_others_are_no_spellings_of_one_fact() {
    let object = |name: &str| format!("{{type: object, properties: {{{name}: {{type: string}}}}}}");
    let list = |name: &str| format!("b: {{type: array, items: {}}}", object(name));
    let old = format!("a: {}", object("x"));
    let refused = refused(&old, &list("y"), &["a"], &["b"], Conversion::OneItem);
    assert_eq!(
        refused,
        "WW190: a cannot become b this way: it is for a list and what is its one item, with a field in common if that is an object, and these are object and list of object"
    );
    assert!(compiled(&old, &list("x"), &["a"], &["b"], Conversion::OneItem, &Hooks::new()).is_ok());
}

#[test]
fn templates_name_every_part_once() {
    let is = |template: &str, pattern: Option<&str>, message: &str| {
        let with =
            Conversion::Template { template: template.into(), pattern: pattern.map(|pattern| located(pattern.into())) };
        let found = refused("t: {type: string}", "a: {type: string}, b: {type: integer}", &["t"], &["a", "b"], with);
        assert_eq!(found, format!("WW192: {message}"));
    };
    is("{a}:{c}", None, "`{a}:{c}` names c, which is no field here; there is a, b");
    is("{a}", None, "`{a}` does not name b, which would be lost");
    is("{a}:{b}:{a}", None, "`{a}:{b}:{a}` names a twice");
    is("{a}{b}", None, "`{a}{b}` does not say where b begins");
    is("{a}:{b", None, "`{a}:{b`: a name ends with `}`");
    is("{a}}:{b}", None, "`{a}}:{b}`: write `}}` for a brace");
    is("{a}:{b}", Some("(?P<a>.*)"), "the pattern `(?P<a>.*)` has no group (?P<b>…)");
    is("{a}:{b}", Some("(?P<a>.*"), "the pattern `(?P<a>.*` cannot be used: unclosed group");
    is("{a}:{b}", Some("(?P<a>.*)):((?P<b>.*)"), "the pattern `(?P<a>.*)):((?P<b>.*)` cannot be used: unopened group");
    let with = Conversion::Template { template: "{a}".into(), pattern: None };
    let shapes = refused("t: {type: integer}", "a: {type: integer}", &["t"], &["a"], with.clone());
    assert_eq!(shapes, "WW190: t cannot become a this way: it is for a string and fields that are parts of it");
    let parts = refused("t: {type: string}", "a: {type: object}", &["t"], &["a"], with);
    assert_eq!(parts, "WW190: t cannot become a this way: parts of a text are strings, numbers or booleans");
}
