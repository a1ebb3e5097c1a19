//! What is stored of a fact in another spelling than the hub's, when somebody changes the hub's without knowing of it.

use wheelwright_document::{Arena, Decode, Span, Value, decode, decode_json_spanned, encode};
use wheelwright_evolve::{Declaration, DeclaredVersion, Kind, Part, VersionName, parse_changes};
use wheelwright_schema::{Root, lower_schema};

const V1: &str = r#"{"type":"object","properties":{"delays":{"type":"array","items":{"type":"string"}},
    "arguments":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"value":{"type":"string"}}}}}}"#;
const V2: &str = r#"{"type":"object","properties":{"delaySeconds":{"type":"array","items":{"type":"integer"}},
    "arguments":{"type":"object","additionalProperties":{"type":"string"}}}}"#;
const CHANGES: &str = r#"{"v2":{"converted":{"delays[]":{"to":"delaySeconds[]","with":"durationSeconds"}},
    "reshaped":[{"from":"arguments","to":"arguments","key":"name","value":"value"}]}}"#;

fn kind() -> Kind {
    let arena = Arena::new();
    let read = |text: &'static str| decode_json_spanned(text.as_bytes(), &arena, &Decode::default()).expect("JSON");
    let mut declaration = Declaration::new("", "Test");
    for (name, schema) in [("v1", V1), ("v2", V2)] {
        let schema = lower_schema(&read(schema)).item;
        declaration.versions.push(DeclaredVersion::new(VersionName::new(name), schema, Root::Value, Span::default()));
    }
    declaration.steps = parse_changes(&read(CHANGES)).0;
    let (kind, problems) = Kind::compile(&declaration, None);
    assert!(problems.is_empty(), "{problems:?}");
    kind.expect("there are versions")
}

fn text(value: Value<'_>) -> String {
    String::from_utf8(encode(value)).expect("JSON is text")
}

/// What the first version reads after it wrote a document and somebody replaced a text in what is stored.
fn after_replacing(document: &str, old: &str, new: &str) -> String {
    let (kind, arena) = (kind(), Arena::new());
    let (v1, hub) = (kind.version("v1").expect("a version"), kind.lenses().hub());
    assert_eq!(kind.version("v2"), Some(hub));
    let document = decode(document.as_bytes(), &arena).expect("JSON");
    let stored = kind.put(v1, document, None, Part::Whole, &arena).expect("nothing is refused");
    assert_eq!(kind.get(v1, stored, &arena), document);
    let stored = text(stored);
    let (shown, bag) = stored.split_once(r#","$bag""#).expect("something is in the bag");
    assert!(shown.contains(old), "{shown}");
    let changed = format!(r#"{},"$bag"{bag}"#, shown.replace(old, new));
    text(kind.get(v1, decode(arena.text(&changed).as_bytes(), &arena).expect("JSON"), &arena))
}

#[test]
fn items_that_did_not_change_keep_their_spelling() {
    let read = after_replacing(r#"{"delays":["60s","120s","3h"]}"#, "120", "90");
    assert_eq!(read, r#"{"delays":["60s","1m30s","3h"]}"#);
}

#[test]
fn items_of_a_list_that_is_a_map_elsewhere_keep_their_order() {
    let document = r#"{"arguments":[{"name":"z","value":"1"},{"name":"a","value":"2"}]}"#;
    assert_eq!(
        after_replacing(document, r#""2""#, r#""3""#),
        r#"{"arguments":[{"name":"z","value":"1"},{"name":"a","value":"3"}]}"#
    );
}
