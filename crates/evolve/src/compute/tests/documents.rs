//! Texts that contain documents.

use proptest::prelude::*;

use super::*;
use crate::{DocumentFormat, lens::same};

const STRING: &str = "{type: string}";
const OPEN: &str = "{type: object, x-kubernetes-preserve-unknown-fields: true}";
const CLOSED: &str =
    "{type: object, properties: {level: {type: string}, ports: {type: array, items: {type: integer}}}}";

fn yaml(object: &str) -> Trial {
    single(STRING, object, Conversion::Document(DocumentFormat::Yaml))
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

#[test]
fn yaml_is_read_as_kubectl_reads_it() {
    let open = yaml(OPEN);
    for (text, object) in [
        ("a: 1", r#"{"a":1}"#),
        ("---\na: yes\n...\n", r#"{"a":true}"#),
        ("a: 1.10\nb: 0x10\nc: 010\n", r#"{"a":1.10,"b":16,"c":8}"#),
        ("a: &x {b: 1}\nc: *x\nd: {<<: *x, e: 2}\n", r#"{"a":{"b":1},"c":{"b":1},"d":{"b":1,"e":2}}"#),
        // Keys are strings in JSON.
        ("1: a\ntrue: b\n1.5: c\n", r#"{"1":"a","true":"b","1.5":"c"}"#),
        (r#"{"a": [null]}"#, r#"{"a":[null]}"#),
        ("{}", "{}"),
    ] {
        assert_eq!(open.up(&quoted(text)), object, "{text}");
    }
}

#[test]
fn a_text_without_a_document_fails_with_the_reason_and_the_line() {
    let bomb = format!("a: &a [{}]\nb: &b [{}]\nc: [{}]\n", "x, ".repeat(50), "*a, ".repeat(50), "*b, ".repeat(50));
    let deep = format!("a: {}{}", "[".repeat(120), "]".repeat(120));
    for (text, reason) in [
        ("", "the text contains no document"),
        ("# nothing\n", "the text contains no document"),
        ("null", "the text contains no document"),
        ("a: 1\n---\nb: 2\n", "the text contains 2 YAML documents"),
        ("word", "wrong type: it must be of type object, not a string"),
        ("- a", "wrong type: it must be of type object, not a list"),
        (
            "a: 1\nb: 2\na: 3\n",
            "the text is not a YAML document: the key \"a\" of line 1, column 1 occurs again at line 3",
        ),
        (
            "1: a\n\"1\": b\n",
            "the text is not a YAML document: the key \"1\" of line 1, column 1 occurs again at line 2",
        ),
        ("{a: b}: c\n", "the text is not a YAML document: the key of a field must be a string"),
        ("a: [", "the text is not a YAML document: not YAML: "),
        (
            "a: *b",
            "the text is not a YAML document: not YAML: while parsing node, found unknown anchor at line 1, column 4",
        ),
        (&bomb, "the text is not a YAML document: aliases and merges expand this document to more than"),
        (&deep, "the text is not a YAML document: nested deeper than the limit of 100 at line 1"),
    ] {
        let result = yaml(OPEN).up(&quoted(text));
        assert!(result.starts_with(&format!("failed: {reason}")), "{text}: {result}");
    }
    let json = single(STRING, OPEN, Conversion::Document(DocumentFormat::Json));
    for text in ["", "{", "a: 1", r#"{"a":1,"a":2}"#, "{} {}", "NaN"] {
        let result = json.up(&quoted(text));
        assert!(result.starts_with("failed: the text is not a JSON document: "), "{text}: {result}");
    }
}

#[test]
fn texts_are_written_with_sorted_keys() {
    let object = r#"{"level":"on","ports":[1,2]}"#;
    yaml(CLOSED).is_down(&[(object, &quoted("level: \"on\"\nports:\n- 1\n- 2\n")), ("{}", &quoted("{}\n"))]);
    let json = single(CLOSED, STRING, Conversion::Document(DocumentFormat::Json));
    json.is_up(&[(r#"{"ports":[1,2],"level":"on"}"#, &quoted(object)), ("{}", &quoted("{}"))]);
}

#[test]
fn parts_that_the_object_cannot_express_stay_in_the_text() {
    let (text, object) = ("extra: {x: 1}\nlevel: info\nnothing: null\n", r#"{"level":"info"}"#);
    let trial = yaml(CLOSED);
    assert_eq!(trial.up(&quoted(text)), object);
    let edited = trial.convert(Direction::Down, r#"{"ports":[80]}"#, Some((object, &quoted(text))));
    assert_eq!(edited, quoted("extra:\n  x: 1\nnothing: null\nports:\n- 80\n"));
}

#[test]
fn deep_objects_are_refused_and_long_lines_are_not() {
    let nested = |depth: usize| format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
    let trial = yaml(OPEN);
    assert_eq!(trial.up(&trial.down(&nested(100))), nested(100));
    assert_eq!(trial.down(&nested(101)), "failed: nested deeper than the limit of 100");
    let text = trial.down(&nested(100));
    assert!(text.len() < 3_000, "indentation is bounded: {}", text.len());
}

/// Any JSON object, with texts that look like other things in YAML.
fn object() -> impl Strategy<Value = serde_json::Value> {
    let text = prop_oneof![
        Just("yes".to_owned()),
        Just("1e3".to_owned()),
        Just("~".to_owned()),
        Just("<<".to_owned()),
        "[-?:,\\[\\]{}#&*!|>'\"%@` \n\ta0]{0,6}",
        any::<String>()
    ];
    // These tests write it between the values of fields.
    let text = text.prop_filter("a separator", |text| !text.contains(" | ")).boxed();
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        text.clone().prop_map(Into::into),
    ];
    let values = leaf.prop_recursive(4, 24, 4, {
        let text = text.clone();
        move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::Array),
                prop::collection::btree_map(text.clone(), inner, 0..4)
                    .prop_map(|entries| serde_json::Value::Object(entries.into_iter().collect())),
            ]
        }
    });
    prop::collection::btree_map(text, values, 0..5)
        .prop_map(|entries| serde_json::Value::Object(entries.into_iter().collect()))
}

proptest! {
    #[test]
    fn an_object_comes_back_from_its_text(object in object(), before in object()) {
        let object = object.to_string();
        for format in DocumentFormat::ALL {
            let trial = single(STRING, OPEN, Conversion::Document(format));
            let text = trial.down(&object);
            let arena = Arena::new();
            prop_assert!(same(document(&trial.up(&text), &arena), document(&object, &arena)), "{object} {text}");
            prop_assert_eq!(trial.down(&trial.up(&text)), text.clone(), "equal objects have one text");
            // An object without hidden parts replaces the text, whatever it was.
            let (was, before) = (before.to_string(), trial.down(&before.to_string()));
            let edited = trial.convert(Direction::Down, &object, Some((&was, &before)));
            prop_assert!(same(document(&trial.up(&edited), &arena), document(&object, &arena)), "{object} {edited}");
            // An unchanged object keeps its text.
            let noted = quoted(&format!("{object} "));
            prop_assert_eq!(trial.convert(Direction::Down, &object, Some((&object, &noted))), noted);
        }
    }

    #[test]
    fn whatever_a_text_contains_is_shown_or_refused(text in any::<String>(), lines in "([a-c]: ?(1|&a|\\*a|x)?\n){0,6}") {
        for text in [text, lines] {
            for format in DocumentFormat::ALL {
                for object in [OPEN, CLOSED] {
                    let shown = single(STRING, object, Conversion::Document(format)).up(&quoted(&text));
                    prop_assert!(shown.starts_with('{') || shown.starts_with("failed: "), "{text:?} {shown}");
                }
            }
        }
    }
}
