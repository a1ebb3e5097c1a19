//! Laws of YAML and JSON with places: what is written is read back, and places hold what they claim.

#![expect(clippy::unwrap_used, reason = "a test that meets a surprise should stop right there")]

use proptest::prelude::*;
use wheelwright_document::{
    Arena, Decode, DuplicateKeys, Entry, Number, Span, Spanned, SpannedNode, Value, decode, decode_json_spanned,
    decode_yaml, encode, write_yaml,
};

#[test]
fn long_keys_can_be_read_back() {
    let long = format!("{{\"a\":{{\"{0}\":{{\"b\":1}},\"{0}é\":[1],\"{0} \":\"x\\ny\"}}}}", "k".repeat(2000));
    round_trip(decode(long.as_bytes(), &Arena::new()).unwrap());
}

#[test]
fn yaml_is_at_most_eight_times_as_long_as_json() {
    let many = |item: &str| format!("[{}]", vec![item; 3000].join(","));
    let fields = (0..3000).map(|at| format!("\"{at:x}\":0")).collect::<Vec<_>>().join(",");
    let scalars =
        ["0", "[]", "{}", "\"\"", "[0]", "[[0,0],0]", r#"{"a":0}"#, r#"{"a":[0,0]}"#, r#"{"a":{"a":{"a":0}}}"#];
    let lines = format!("\"{}\"", "a\\n".repeat(3000));
    let wide = scalars.map(many).into_iter().chain([format!("{{{fields}}}"), lines]);
    for wide in wide {
        for depth in 0..40 {
            for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")] {
                let json = format!("{}{wide}{}", open.repeat(depth), close.repeat(depth));
                let arena = Arena::new();
                let value = decode(json.as_bytes(), &arena).unwrap();
                let (yaml, json) = (write_yaml(value).len(), json.len());
                assert!(yaml <= 8 * json, "{yaml} bytes for {json}: {} of {open}, {:.40}", depth, wide);
            }
        }
        let deep = format!("{}{wide}{}", "{\"a\":".repeat(20), "}".repeat(20));
        round_trip(decode(deep.as_bytes(), &Arena::new()).unwrap());
    }
}

/// The law: what is written is read back, exactly.
fn round_trip(value: Value<'_>) {
    let yaml = write_yaml(value);
    let arena = Arena::new();
    let documents = decode_yaml(yaml.as_bytes(), &arena, &Decode::default());
    let documents = documents.unwrap_or_else(|error| panic!("{error} in\n{yaml}"));
    assert_eq!(documents.len(), 1, "{yaml}");
    assert_eq!(documents[0].to_value(&arena), value, "{yaml}");
    check_places(&yaml, &documents[0]);
}

/// Every place holds what it claims, and lies in the place of what it is a part of.
fn check_places(source: &str, document: &Spanned<'_>) {
    check_place(source, document.span);
    let inside = |span: Span| {
        assert!(span.start >= document.span.start && span.end <= document.span.end, "{span:?} in {source}");
    };
    match document.node {
        SpannedNode::Scalar(value) => check_scalar(source, document.span, value),
        SpannedNode::Array(items) => {
            for item in items {
                inside(item.span);
                check_places(source, item);
            }
        }
        SpannedNode::Object(entries) => {
            for entry in entries {
                inside(entry.key_span);
                inside(entry.value.span);
                check_place(source, entry.key_span);
                check_alone(source, entry.key_span, Value::string(entry.key));
                check_places(source, &entry.value);
            }
        }
    }
}

fn check_place(source: &str, span: Span) {
    let before = &source[..span.start as usize];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    assert_eq!(span.line as usize, before.matches('\n').count() + 1, "{span:?} in {source}");
    assert_eq!(span.column as usize, before[line_start..].chars().count() + 1, "{span:?} in {source}");
}

fn check_scalar(source: &str, span: Span, value: Value<'_>) {
    let written = &source[span.start as usize..span.end as usize];
    // What is not a block stands behind its key or dash.
    let before = source[..span.start as usize].trim_end_matches(' ');
    let is_block = before.ends_with('\n');
    if is_block {
        let content: Vec<&str> = written.lines().map(|line| line.trim_start_matches(' ')).collect();
        let text = value.as_str().unwrap().trim_end_matches('\n');
        let expected: Vec<&str> = text.lines().map(|line| line.trim_start_matches(' ')).collect();
        assert_eq!(content, expected);
    } else {
        check_alone(source, span, value);
    }
}

/// What is written there means the value by itself, too.
fn check_alone(source: &str, span: Span, value: Value<'_>) {
    let written = &source[span.start as usize..span.end as usize];
    let arena = Arena::new();
    let alone = decode_yaml(written.as_bytes(), &arena, &Decode::default()).unwrap();
    assert_eq!(alone[0].as_scalar(), Some(value), "{written:?} in {source}");
}

/// A value that owns its parts, for tests to make up.
#[derive(Clone, Debug)]
enum Made {
    Null,
    Bool(bool),
    Number(String),
    String(String),
    Array(Vec<Made>),
    Object(Vec<(String, Made)>),
}

impl Made {
    fn to_value<'a>(&'a self, arena: &'a Arena) -> Value<'a> {
        match self {
            Made::Null => Value::Null,
            Made::Bool(value) => Value::Bool(*value),
            Made::Number(text) => Value::Number(Number::new(text).unwrap()),
            Made::String(text) => Value::string(text),
            Made::Array(items) => Value::Array(arena.slice_from(items.iter().map(|item| item.to_value(arena)))),
            Made::Object(entries) => {
                let mut seen = std::collections::HashSet::new();
                let unique: Vec<_> = entries.iter().filter(|(key, _)| seen.insert(key)).collect();
                Value::Object(
                    arena.slice_from(unique.iter().map(|(key, value)| Entry { key, value: value.to_value(arena) })),
                )
            }
        }
    }
}

#[rustfmt::skip]
const NASTY: &[&str] = &[
    "", " ", "-", "- ", "- x", "--", "---", "--- a", "...", "?", "? x", ":", ": ", "a:", "a: b",
    "#", " #", "a #b", "a#b", "&", "*", "!", "!!str x", "|", "|-", ">", "'", "\"", "''", "%", "@",
    "`", "[", "]", "{", "}", "{}", "[]", ",", "=", "<<", "yes", "No", "on", "y", "N", "true",
    "null", "~", "NULL", "0x1f", "0b1", "0o7", "017", "1_000", ".5", "5.", "1e3", "+1", "-1",
    "-.inf", ".nan", "1:20", "2001-01-01", "\n", "\n\n", "\r", "\r\n", "\t", "a\n", "a\n\n",
    "a\nb", " a\nb", "a\n b", "a\n\tb", "a \nb", "a\n \nb", "\na", "a\n---\nb", "a\n# b\n",
    "a\n\n\nb\n\n\n", "\0", "\u{7}", "\u{1b}", "\u{7f}", "\u{80}", "\u{85}", "\u{a0}", "\u{2028}",
    "\u{2029}", "\u{feff}", "\u{fffe}", "\u{ffff}", "é", "😀", "\\", "\\n", "a\\",
];

fn text() -> impl Strategy<Value = String> {
    let nasty = prop::sample::select(NASTY).prop_map(str::to_owned);
    let mixed = prop::collection::vec(prop::sample::select(NASTY), 0..5).prop_map(|parts| parts.concat());
    let long = (nasty.clone(), 0usize..1200).prop_map(|(part, length)| part + &"long ".repeat(length / 5) + "x");
    prop_oneof![3 => nasty, 3 => mixed, 2 => "[a-z]{1,8}", 1 => any::<String>(), 1 => long]
}

fn made() -> impl Strategy<Value = Made> {
    let number =
        prop_oneof!["-?(0|[1-9][0-9]{0,40})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,5})?", Just("9".repeat(10_000)),];
    let leaf = prop_oneof![
        1 => Just(Made::Null),
        1 => any::<bool>().prop_map(Made::Bool),
        1 => number.prop_map(Made::Number),
        5 => text().prop_map(Made::String),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Made::Array),
            prop::collection::vec((text(), inner), 0..5).prop_map(Made::Object),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn what_is_written_is_read_back(made in made()) {
        round_trip(made.to_value(&Arena::new()));
    }

    #[test]
    fn json_has_places_too(made in made(), is_spaced in any::<bool>()) {
        let arena = Arena::new();
        let value = made.to_value(&arena);
        let mut source = String::from_utf8(encode(value)).unwrap();
        if is_spaced {
            // Outside of strings these stand between tokens; inside they make another document that is as good.
            source = source.replace(',', " ,").replace("[", "[ ");
        }
        let arena = Arena::new();
        let expected = decode(source.as_bytes(), &arena).unwrap();
        let spanned = decode_json_spanned(source.as_bytes(), &arena, &Decode::default()).unwrap();
        prop_assert_eq!(spanned.to_value(&arena), expected);
        check_json_places(&source, &spanned);
    }

    #[test]
    fn nothing_panics(parts in prop::collection::vec(prop::sample::select(NASTY), 0..20), bytes in any::<Vec<u8>>()) {
        let arena = Arena::new();
        let text = parts.concat();
        if let Ok(documents) = decode_yaml(text.as_bytes(), &arena, &Decode::default()) {
            for document in &documents {
                round_trip(document.to_value(&arena));
            }
        }
        let _ = decode_yaml(&bytes, &arena, &Decode::default()).map_err(|error| error.to_string());
        let _ = decode_json_spanned(&bytes, &arena, &Decode::default());
    }
}

fn check_json_places(source: &str, document: &Spanned<'_>) {
    let arena = Arena::new();
    check_place(source, document.span);
    let written = |span: Span| &source.as_bytes()[span.start as usize..span.end as usize];
    let alone = decode(written(document.span), &arena).unwrap();
    let inner = Arena::new();
    assert_eq!(alone, document.to_value(&inner));
    for item in document.as_array().unwrap_or_default() {
        check_json_places(source, item);
    }
    for entry in document.as_object().unwrap_or_default() {
        check_place(source, entry.key_span);
        assert_eq!(decode(written(entry.key_span), &arena).unwrap(), Value::string(entry.key));
        check_json_places(source, &entry.value);
    }
}

#[test]
fn json_places_count_lines_and_characters() {
    let arena = Arena::new();
    let source = "{\n  \"é\\\"\": [1,\n\t\"ü\", true]\n}".as_bytes();
    let document = decode_json_spanned(source, &arena, &Decode::default()).unwrap();
    assert_eq!(document.span, Span { start: 0, end: source.len() as u32, line: 1, column: 1 });
    let entry = &document.as_object().unwrap()[0];
    assert_eq!(entry.key_span, Span { start: 4, end: 10, line: 2, column: 3 });
    let last = &entry.value.as_array().unwrap()[2];
    assert_eq!((last.span.line, last.span.column), (3, 7));
    let keep = Decode { duplicate_keys: DuplicateKeys::KeepLast, ..Decode::default() };
    assert!(decode_json_spanned(br#"{"a":1,"a":2}"#, &arena, &keep).is_err());
}

#[test]
fn places_leave_out_comments_and_the_space_around() {
    let source = "# ü\nname: 'it''s' # \"é\"\nlist: [ a , \"b\" ] # c\ntagged: !!str &x \"y\"  # z\nblock: |\n  one\n  two\n\nempty:\nlast: {a: b}\n\n# end\n";
    let arena = Arena::new();
    let documents = decode_yaml(source.as_bytes(), &arena, &Decode::default()).unwrap();
    let written = |span: Span| &source[span.start as usize..span.end as usize];
    let at = |key: &str| written(documents[0].get(key).unwrap().span);
    assert_eq!(at("name"), "'it''s'");
    assert_eq!(at("list"), "[ a , \"b\" ]");
    assert_eq!(at("tagged"), "!!str &x \"y\"");
    assert_eq!(at("block"), "one\n  two");
    assert_eq!(at("empty"), "");
    assert_eq!(at("last"), "{a: b}");
    let empty = documents[0].get("empty").unwrap().span;
    assert_eq!((empty.line, empty.column), (9, 7));
    assert!(written(documents[0].span).starts_with("name:"));
    assert!(written(documents[0].span).ends_with("{a: b}"));
    let list = documents[0].get("list").unwrap().as_array().unwrap();
    assert_eq!((written(list[0].span), written(list[1].span)), ("a", "\"b\""));
    assert_eq!(list[0].span.line, 3);
}
