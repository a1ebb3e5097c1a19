//! Shorthands beside richer fields.

use super::*;

const ITEMS: &str = "{type: array, items: {type: object, properties: {name: {type: string}, size: {type: integer}}}}";
const TEXTS: &str = "{type: array, items: {type: string}}";
const STRING: &str = "{type: string}";
const MAP: &str = "{type: object, additionalProperties: {type: string}}";

/// A shorthand `s` and a field `f`, and the field alone.
fn folded(shorthand: &str, field: &str, key: Option<&str>) -> Trial {
    let pair = format!("s: {shorthand}, f: {field}");
    trial(&pair, &format!("f: {field}"), &["s", "f"], &["f"], Conversion::Folded(key.map(Into::into)))
}

#[test]
fn every_value_of_a_shorthand_is_there_once() {
    folded(TEXTS, ITEMS, Some("name")).is_up(&[
        (r#"["a","b"] | -"#, r#"[{"name":"a"},{"name":"b"}]"#),
        (r#"["a","a"] | [{"size":1}]"#, r#"[{"size":1},{"name":"a"}]"#),
        (r#"["a","b"] | [{"name":"b","size":1}]"#, r#"[{"name":"b","size":1},{"name":"a"}]"#),
        ("[] | -", "[]"),
        (r#"null | [{"name":"a"}]"#, r#"[{"name":"a"}]"#),
        ("- | []", "[]"),
        ("- | -", "-"),
    ]);
    folded(STRING, TEXTS, None).is_up(&[
        (r#""a" | ["b","b"]"#, r#"["b","b","a"]"#),
        (r#""b" | ["b","b"]"#, r#"["b","b"]"#),
        (r#""a" | null"#, r#"["a"]"#),
    ]);
}

#[test]
fn the_richer_field_takes_precedence() {
    folded(STRING, MAP, Some("k")).is_up(&[
        (r#""a" | -"#, r#"{"k":"a"}"#),
        (r#""a" | {"o":"b"}"#, r#"{"o":"b","k":"a"}"#),
        (r#""a" | {"k":"b"}"#, r#"{"k":"b"}"#),
    ]);
    folded(STRING, STRING, None).is_up(&[
        (r#""a" | -"#, r#""a""#),
        (r#""a" | "b""#, r#""b""#),
        (r#""a" | """#, r#""""#),
    ]);
}

#[test]
fn the_other_way_all_is_in_the_richer_field() {
    folded(TEXTS, ITEMS, Some("name")).is_down(&[
        (r#"[{"name":"a"}]"#, r#"- | [{"name":"a"}]"#),
        ("[]", "- | []"),
        ("null", "- | -"),
        ("-", "- | -"),
    ]);
}

#[test]
fn what_one_side_cannot_show_stays_with_its_item() {
    let hidden = "{type: array, items: {type: object, properties: {name: {type: string}, secret: {type: integer}}}}";
    let with = Conversion::Folded(Some("name".into()));
    let checks = trial(&format!("s: {TEXTS}, f: {ITEMS}"), &format!("f: {hidden}"), &["s", "f"], &["f"], with);
    let up = checks.convert(
        Direction::Up,
        r#"["b"] | [{"name":"a","size":2}]"#,
        Some((r#"["a"] | -"#, r#"[{"name":"a","secret":7}]"#)),
    );
    assert_eq!(up, r#"[{"name":"a","secret":7},{"name":"b"}]"#);
    let down = checks.convert(
        Direction::Down,
        r#"[{"name":"b","secret":1},{"name":"a"}]"#,
        Some((r#"[{"name":"a"}]"#, r#"- | [{"name":"a","size":2}]"#)),
    );
    assert_eq!(down, r#"- | [{"name":"b"},{"name":"a","size":2}]"#);
}

#[test]
fn a_shorthand_that_cannot_be_folded_is_refused() {
    let is = |shorthand: &str, field: &str, key: Option<&str>, message: &str| {
        let (old, new) = (format!("s: {shorthand}, f: {field}"), format!("f: {field}"));
        let with = Conversion::Folded(key.map(Into::into));
        let problems = compiled(&old, &new, &["s", "f"], &["f"], with, &Hooks::default()).unwrap_err();
        assert_eq!(problems[0].message, format!("s, f cannot become f this way: {message}"));
    };
    is(MAP, ITEMS, Some("name"), "the shorthand must be a scalar or a list of scalars, and is map of string");
    is(STRING, ITEMS, Some("other"), "the items of the list have no field other");
    is(STRING, ITEMS, Some("size"), "integer cannot hold a value of the shorthand, which is string");
    is(STRING, ITEMS, None, "the items of the list are objects: name the field of them that the shorthand is");
    is(STRING, TEXTS, Some("name"), "the items of the list have no keys: write `folded: true`");
    is(STRING, MAP, None, "the field is a map: name the key that the shorthand is");
    is(STRING, STRING, Some("name"), "string has no keys: write `folded: true`");
    is("{type: boolean}", STRING, None, "string cannot hold a value of the shorthand, which is boolean");
    is(TEXTS, STRING, None, "list of string cannot be folded into string");
    let object = "{type: object, properties: {name: {type: string}}}";
    is(STRING, object, Some("name"), "the field is an object: write the path to the field in it");
}
