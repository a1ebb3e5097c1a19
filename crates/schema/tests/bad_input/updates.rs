//! Hostile updates.

use wheelwright_document::{Arena, Decode, Value};
use wheelwright_schema::{Program, Root};

use super::{list, nested, on_a_small_stack, support::lower};

/// Validates a document as an update; says how many errors there are.
fn update(schema: &str, new: &str, old: &str) -> usize {
    let program = Program::compile(&lower(schema.as_bytes()), Root::Value);
    let arena = Arena::new();
    let limits = Decode { max_bytes: usize::MAX, ..Decode::default() };
    let [new, old] = [new, old].map(|document| limits.decode(document.as_bytes(), &arena).expect("JSON").value);
    program.validate_update(new, old, &arena).errors.len()
}

#[test]
fn updates_nested_as_deep_as_documents_may_be() {
    on_a_small_stack(|| {
        let leaf = r#"{"type":"string"}"#;
        let maps = nested(500, r#"{"type":"object","additionalProperties":"#, leaf, "}");
        let document = |leaf: &str| nested(500, r#"{"a":"#, leaf, "}");
        assert_eq!(update(&maps, &document("1"), &document("1")), 0);
        assert_eq!(update(&maps, &document("1"), &document("2")), 1);

        let list = r#"{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":
            {"type":"object","properties":{"k":{"type":"string"},"l":"#;
        let lists = nested(125, list, leaf, "}}}");
        let document = |leaf: &str| nested(125, r#"[{"k":"a","l":"#, leaf, "}]");
        assert_eq!(update(&lists, &document("1"), &document("1")), 0);
        assert_eq!(update(&lists, &document("1"), &document("2")), 1);

        let keeps = r#"{"type":"array","items":{"x-kubernetes-preserve-unknown-fields":true},"maxItems":0}"#;
        let document = nested(511, "[", "{}", "]");
        assert_eq!(update(keeps, &document, &document), 0);
    });
}

/// Comparing anew at every level would be quadratic here.
#[test]
fn many_levels_above_a_large_value_that_is_equal_or_nearly() {
    let items = |last: &str| format!("[{}{last}]", "1,".repeat(1_000_000));
    let schema = nested(400, r#"{"type":"object","maxProperties":0,"additionalProperties":"#, "{}", "}");
    let schema = schema.replace("{}", r#"{"type":"array","items":{"type":"string"},"maxItems":1}"#);
    let document = |last: &str| nested(400, r#"{"a":"#, &items(last), "}");
    assert_eq!(update(&schema, &document("1"), &document("1")), 0);
    assert!(update(&schema, &document("1"), &document("2")) > 400);
}

#[test]
fn updates_that_turn_long_objects_and_lists_round() {
    let schema = r#"{"type":"object","properties":{
        "m":{"type":"object","additionalProperties":{"type":"string"}},
        "l":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],
            "items":{"type":"object","properties":{"k":{"type":"integer"},"v":{"type":"string"}}}}}}"#;
    let document = |numbers: Vec<u32>| {
        let fields: Vec<String> = numbers.iter().map(|n| format!(r#""f{n}":{n}"#)).collect();
        let items = list(numbers.iter().map(|n| format!(r#"{{"k":{n},"v":{n}}}"#)));
        format!(r#"{{"m":{{{}}},"l":{items}}}"#, fields.join(","))
    };
    let (up, down) = (document((0..100_000).collect()), document((0..100_000).rev().collect()));
    assert_eq!(update(schema, &up, &down), 0);
    let shifted = document((1..100_001).rev().collect());
    assert_eq!(update(schema, &up, &shifted), 2);
}

/// All new items have the same counterpart, which must not be searched anew for each of them.
#[test]
fn many_items_that_correspond_to_one_large_item() {
    let schema = r#"{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":
        {"type":"object","properties":{"k":{"type":"string"},
            "m":{"type":"object","additionalProperties":{"type":"string"}},
            "l":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],
                "items":{"type":"object","properties":{"k":{"type":"integer"},"v":{"type":"string"}}}}}}}"#;
    let fields: Vec<String> = (0..200_000).map(|n| format!(r#""f{n}":1"#)).collect();
    let items = list((0..200_000).map(|n| format!(r#"{{"k":{n},"v":1}}"#)));
    let old = format!(r#"[{{"k":"a","m":{{{}}},"l":{items}}}]"#, fields.join(","));
    let new = list((0..50_000).map(|n| format!(r#"{{"k":"a","m":{{"f{n}":1}},"l":[{{"k":{n},"v":1}}]}}"#)));
    // The values are wrong as they were before; only the key is repeated.
    assert_eq!(update(schema, &new, &old), 1);
}

#[test]
fn map_lists_with_very_many_keys() {
    let names: Vec<String> = (0..5_000).map(|n| format!(r#""k{n}""#)).collect();
    let schema = format!(
        r#"{{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":[{}],
            "items":{{"type":"object","maxProperties":1,"additionalProperties":{{"type":"integer"}}}}}}"#,
        names.join(",")
    );
    let fields: Vec<String> = names.iter().map(|name| format!("{name}:1")).collect();
    let document = format!("[{{{}}}]", fields.join(","));
    assert_eq!(update(&schema, &document, &document), 0);
}

/// Forgiven errors are not even written down, so they cannot fill the log.
#[test]
fn forgiven_errors_leave_room_for_others() {
    let schema = r#"{"type":"object","properties":{
        "a":{"type":"array","items":{"type":"string"}},"z":{"type":"string"}}}"#;
    let document = |z: u32| format!(r#"{{"a":[{}1],"z":{z}}}"#, "1,".repeat(500_000));
    let program = Program::compile(&lower(schema.as_bytes()), Root::Value);
    let (arena, texts) = (Arena::new(), [document(1), document(2)]);
    let limits = Decode { max_bytes: usize::MAX, ..Decode::default() };
    let [new, old] = [0, 1].map(|at| limits.decode(texts[at].as_bytes(), &arena).expect("JSON").value);
    let update = program.validate_update(new, old, &arena);
    assert_eq!((update.errors.len(), update.truncated), (1, false));
    assert_eq!(update.errors[0].path().as_str(), "z");
    assert!(program.validate_update(new, Value::Null, &arena).truncated);
}
