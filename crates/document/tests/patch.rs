//! Both sorts of patches do what their RFCs say, and stay within bounds.

#![expect(clippy::unwrap_used, reason = "a test that meets a surprise should stop right there")]

use proptest::{collection::vec, prelude::*};
use serde_json::json;
use wheelwright_document::{
    Arena, Decode, Entry, JsonPatch, PatchError, PatchErrorKind, Value, decode, encode, merge_patch,
};

fn read<'a>(text: &str, arena: &'a Arena) -> Value<'a> {
    let options = Decode { max_bytes: usize::MAX, ..Decode::default() };
    options.decode(arena.text(text).as_bytes(), arena).unwrap().value
}

fn merged(target: &str, patch: &str) -> String {
    let arena = Arena::new();
    String::from_utf8(encode(merge_patch(read(target, &arena), read(patch, &arena), &arena))).unwrap()
}

fn patched(target: &str, patch: &str) -> Result<String, PatchError> {
    let arena = Arena::new();
    let patch = JsonPatch::parse(read(patch, &arena))?;
    Ok(String::from_utf8(encode(patch.apply(read(target, &arena), &arena)?)).unwrap())
}

#[test]
fn merge_patches_follow_rfc_7396() {
    for (target, patch, expected) in [
        (r#"{"x":"y"}"#, r#"{"x":"z"}"#, r#"{"x":"z"}"#),
        (r#"{"x":"y"}"#, r#"{"w":"z"}"#, r#"{"x":"y","w":"z"}"#),
        (r#"{"x":"y"}"#, r#"{"x":null}"#, "{}"),
        (r#"{"x":"y","w":1}"#, r#"{"x":null}"#, r#"{"w":1}"#),
        (r#"{"x":["y"]}"#, r#"{"x":"z"}"#, r#"{"x":"z"}"#),
        (r#"{"x":"z"}"#, r#"{"x":["y"]}"#, r#"{"x":["y"]}"#),
        (r#"{"x":{"y":"z"}}"#, r#"{"x":{"y":1,"w":null}}"#, r#"{"x":{"y":1}}"#),
        (r#"{"x":[{"y":"z"}]}"#, r#"{"x":[1]}"#, r#"{"x":[1]}"#),
        (r#"[1,2]"#, r#"[3,null]"#, "[3,null]"),
        (r#"{"x":1}"#, "[3]", "[3]"),
        (r#"{"x":1}"#, "null", "null"),
        (r#"{"x":1}"#, "\"y\"", "\"y\""),
        (r#"{"x":null}"#, r#"{"y":1}"#, r#"{"x":null,"y":1}"#),
        (r#"[1,2]"#, r#"{"x":1,"y":null}"#, r#"{"x":1}"#),
        ("{}", r#"{"x":{"y":{"z":null}}}"#, r#"{"x":{"y":{}}}"#),
        ("7", "{}", "{}"),
        (r#"{"b":1,"a":{"c":1.0,"d":2}}"#, r#"{"a":{"d":3},"b":1e0}"#, r#"{"b":1e0,"a":{"c":1.0,"d":3}}"#),
    ] {
        assert_eq!(merged(target, patch), expected, "{target} with {patch}");
    }
}

#[test]
fn merge_patches_share_what_they_do_not_touch() {
    let arena = Arena::new();
    let target = read(r#"{"a":{"x":[1]},"b":{"y":{"z":[2]}}}"#, &arena);
    let result = merge_patch(target, read(r#"{"b":{"w":1}}"#, &arena), &arena);
    let same = |a: Option<Value<'_>>, b: Option<Value<'_>>| match (a, b) {
        (Some(Value::Object(a)), Some(Value::Object(b))) => std::ptr::eq(a, b),
        _ => false,
    };
    assert!(same(target.get("a"), result.get("a")));
    assert!(same(target.get("b").unwrap().get("y"), result.get("b").unwrap().get("y")));
}

#[test]
fn large_merge_patches_are_linear() {
    let fields = |from: u32, value: &str| {
        let fields: Vec<_> = (from..from + 300_000).map(|key| format!("\"key{key}\":{value}")).collect();
        format!("{{{}}}", fields.join(","))
    };
    let (target, patch) = (fields(0, "1"), fields(150_000, "null"));
    assert_eq!(merged(&target, &patch).matches(':').count(), 150_000);
    assert_eq!(merged(&target, &fields(150_000, "{\"x\":null}")).matches(':').count(), 450_000);
}

#[test]
fn json_patches_follow_rfc_6902() {
    for (target, patch, expected) in [
        (r#"{"x":1}"#, r#"[]"#, r#"{"x":1}"#),
        (r#"{"x":1}"#, r#"[{"op":"add","path":"/w","value":[2]}]"#, r#"{"x":1,"w":[2]}"#),
        (r#"{"x":1,"w":2}"#, r#"[{"op":"add","path":"/x","value":null}]"#, r#"{"x":null,"w":2}"#),
        ("[1,3]", r#"[{"op":"add","path":"/1","value":2}]"#, "[1,2,3]"),
        ("[1,2]", r#"[{"op":"add","path":"/2","value":3}]"#, "[1,2,3]"),
        ("[1]", r#"[{"op":"add","path":"/-","value":[2,3]}]"#, "[1,[2,3]]"),
        ("{}", r#"[{"op":"add","path":"/-","value":1},{"op":"add","path":"/0","value":2}]"#, r#"{"-":1,"0":2}"#),
        ("{}", r#"[{"op":"add","path":"/","value":1}]"#, r#"{"":1}"#),
        ("[1]", r#"[{"op":"add","path":"","value":{"a":1}}]"#, r#"{"a":1}"#),
        (r#"{"x":1,"w":2}"#, r#"[{"op":"remove","path":"/x"}]"#, r#"{"w":2}"#),
        ("[1,2,3]", r#"[{"op":"remove","path":"/1"}]"#, "[1,3]"),
        (r#"{"x":1,"w":2}"#, r#"[{"op":"replace","path":"/x","value":{"y":[]}}]"#, r#"{"x":{"y":[]},"w":2}"#),
        ("1", r#"[{"op":"replace","path":"","value":2}]"#, "2"),
        (
            r#"{"x":{"a":1,"b":2},"w":{}}"#,
            r#"[{"op":"move","from":"/x/a","path":"/w/c"}]"#,
            r#"{"x":{"b":2},"w":{"c":1}}"#,
        ),
        (r#"["a","b","c","d"]"#, r#"[{"op":"move","from":"/1","path":"/3"}]"#, r#"["a","c","d","b"]"#),
        (r#"["a","b"]"#, r#"[{"op":"move","from":"/0","path":"/-"}]"#, r#"["b","a"]"#),
        (r#"{"a":{"b":1}}"#, r#"[{"op":"move","from":"/a/b","path":"/a"}]"#, r#"{"a":1}"#),
        (r#"{"a":1,"b":2}"#, r#"[{"op":"move","from":"/a","path":"/a"}]"#, r#"{"a":1,"b":2}"#),
        (
            r#"{"a":{"b":1}}"#,
            r#"[{"op":"copy","from":"/a","path":"/a/c"},{"op":"replace","path":"/a/c/b","value":2}]"#,
            r#"{"a":{"b":1,"c":{"b":2}}}"#,
        ),
        (
            r#"{"a/b":1,"m~n":2,"~1":3}"#,
            r#"[{"op":"test","path":"/a~1b","value":1},{"op":"test","path":"/m~0n","value":2},
                {"op":"test","path":"/~01","value":3},{"op":"add","path":"/x~1y~0z","value":4}]"#,
            r#"{"a/b":1,"m~n":2,"~1":3,"x/y~z":4}"#,
        ),
        (
            r#"{"a":[1.0,{"b":1,"c":2}]}"#,
            r#"[{"op":"test","path":"","value":{"a":[1,{"c":2e0,"b":1}]},"note":"ignored"}]"#,
            r#"{"a":[1.0,{"b":1,"c":2}]}"#,
        ),
    ] {
        assert_eq!(patched(target, patch).unwrap(), expected, "{target} with {patch}");
    }
}

#[test]
fn errors_name_the_operation_its_path_and_the_problem() {
    use PatchErrorKind::{Malformed, NotFound, TestFailed};
    let target = r#"{"a":{"b":[1,2]},"s":"x"}"#;
    for (patch, kind, message) in [
        ("{}", Malformed, "patch: a patch is a list of operations, not object"),
        ("[1]", Malformed, "operation 0, path \"\": an operation is an object, not number"),
        (r#"[{"path":"/a"}]"#, Malformed, "operation 0, path \"/a\": the operation needs \"op\", which is a string"),
        (r#"[{"op":"remove"}]"#, Malformed, "operation 0, path \"\": the operation needs \"path\", which is a string"),
        (
            r#"[{"op":"merge","path":"/a"}]"#,
            Malformed,
            "operation 0, path \"/a\": \"op\" is one of add, remove, replace, move, copy and test",
        ),
        (r#"[{"op":"add","path":"/a"}]"#, Malformed, "operation 0, path \"/a\": the operation needs a \"value\""),
        (
            r#"[{"op":"copy","path":"/a"}]"#,
            Malformed,
            "operation 0, path \"/a\": the operation needs \"from\", which is a string",
        ),
        (
            r#"[{"op":"remove","path":"a"}]"#,
            Malformed,
            "operation 0, path \"a\": \"path\" is no pointer: a pointer starts with a slash, or is empty for the whole \
             document",
        ),
        (
            r#"[{"op":"remove","path":"/a~2"}]"#,
            Malformed,
            "operation 0, path \"/a~2\": \"path\" is no pointer: in a pointer, write ~0 for a tilde and ~1 for a slash",
        ),
        (
            r#"[{"op":"remove","path":""}]"#,
            Malformed,
            "operation 0, path \"\": the whole document cannot be removed; replace it",
        ),
        (
            r#"[{"op":"move","from":"/a","path":"/a/c"}]"#,
            Malformed,
            "operation 0, path \"/a/c\": a value cannot be moved into itself; copy it, or move its parts",
        ),
        (
            r#"[{"op":"test","path":"/s","value":"x"},{"op":"add","path":"/x/y/z","value":1}]"#,
            NotFound,
            "operation 1, path \"/x/y/z\": \"/x\" is not there: there is no such field",
        ),
        (
            r#"[{"op":"copy","from":"/a/c","path":"/z"}]"#,
            NotFound,
            "operation 0, path \"/z\": \"/a/c\" is not there: there is no such field",
        ),
        (
            r#"[{"op":"remove","path":"/a/b/2"}]"#,
            NotFound,
            "operation 0, path \"/a/b/2\": \"/a/b/2\" is not there: the list has 2 items, counted from 0",
        ),
        (
            r#"[{"op":"add","path":"/a/b/3","value":1}]"#,
            NotFound,
            "operation 0, path \"/a/b/3\": \"/a/b/3\" is not there: the list has 2 items, counted from 0",
        ),
        (
            r#"[{"op":"replace","path":"/a/b/-","value":1}]"#,
            NotFound,
            "operation 0, path \"/a/b/-\": \"/a/b/-\" is not there: \"-\" is the place after the last item, where only \
             add can put something",
        ),
        (
            r#"[{"op":"replace","path":"/a/b/01","value":1}]"#,
            NotFound,
            "operation 0, path \"/a/b/01\": \"/a/b/01\" is not there: the position in a list is written in digits, \
             without leading zeros",
        ),
        (
            r#"[{"op":"add","path":"/s/t","value":1}]"#,
            NotFound,
            "operation 0, path \"/s/t\": \"/s/t\" is not there: what it should be in is neither object nor list but \
             string",
        ),
        (
            r#"[{"op":"test","path":"/a/b/0","value":"1"}]"#,
            TestFailed,
            "operation 0, path \"/a/b/0\": the value is not the one that the patch tests for",
        ),
    ] {
        let error = patched(target, patch).unwrap_err();
        assert_eq!((error.to_string().as_str(), error.kind()), (message, kind), "{patch}");
    }
    for index in ["+1", "-1", "1.0", "", " 1", "99999999999999999999999999"] {
        let patch = format!(r#"[{{"op":"add","path":"/a/b/{index}","value":1}}]"#);
        assert_eq!(patched(target, &patch).unwrap_err().kind(), NotFound, "{index:?}");
    }
}

#[test]
fn a_failed_patch_changes_nothing() {
    let arena = Arena::new();
    let target = read(r#"{"a":[1,2]}"#, &arena);
    let patch = read(r#"[{"op":"remove","path":"/a/0"},{"op":"test","path":"/a","value":[]}]"#, &arena);
    assert!(JsonPatch::parse(patch).unwrap().apply(target, &arena).is_err());
    assert_eq!(encode(target), br#"{"a":[1,2]}"#);
}

#[test]
fn the_bytes_of_json_patches_are_known_before_they_are_decoded() {
    let (bytes, copy) = (JsonPatch::most_bytes, r#"{"op":"copy","from":"","path":"/a"}"#);
    let remove = br#"[{"op":"remove","path":"/a"}]"#;
    assert_eq!(bytes(remove, 1000), 1000 + remove.len());
    let copies = repeated(&[copy], 3);
    assert_eq!(bytes(copies.as_bytes(), 1000), (1000 + copies.len()) * 8);
    // Three operations, the first of which is `copy`, too.
    let escaped = repeated(&[&copy.replace("copy", "c\\u006fpy"), copy, copy], 1);
    assert!(bytes(escaped.as_bytes(), 1000) > 8000);
    let most = bytes(repeated(&[copy], 5000).as_bytes(), 1000);
    assert_eq!(most, bytes(repeated(&[copy], 4000).as_bytes(), 1000));
    assert_eq!(bytes(b"[]", 2 * most), 2 * most + 2);
}

fn repeated(operations: &[&str], times: usize) -> String {
    format!("[{}]", vec![operations.join(","); times].join(","))
}

#[test]
fn copying_over_and_over_is_refused() {
    let inwards = repeated(&[r#"{"op":"copy","from":"/a","path":"/a/b"}"#], 600);
    let outwards = repeated(
        &[
            r#"{"op":"copy","from":"/a","path":"/b"},{"op":"copy","from":"/a","path":"/c"}"#,
            r#"{"op":"add","path":"/a","value":{}}"#,
            r#"{"op":"move","from":"/b","path":"/a/b"},{"op":"move","from":"/c","path":"/a/c"}"#,
        ],
        600,
    );
    let text = repeated(&[r#"{"op":"copy","from":"/a","path":"/list/-"}"#], 600);
    for (target, patch) in [
        (r#"{"a":{}}"#.to_owned(), inwards),
        (r#"{"a":{}}"#.to_owned(), outwards),
        (format!(r#"{{"a":"{}","list":[]}}"#, "x".repeat(10_000)), text),
    ] {
        let error = patched(&target, &patch).unwrap_err();
        assert_eq!(error.kind(), PatchErrorKind::LimitExceeded, "{error}");
    }
}

#[test]
fn nesting_beyond_the_limit_is_refused() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let target = format!(r#"{{"a":{},"b":{}}}"#, nested(300), nested(300));
    let deep = "/0".repeat(200);
    for operation in ["move", "copy"] {
        let patch = |deep: &str| format!(r#"[{{"op":"{operation}","from":"/b","path":"/a{deep}/-"}}]"#);
        assert!(patched(&target, &patch(&deep)).is_ok());
        let error = patched(&target, &patch(&"/0".repeat(211))).unwrap_err();
        assert_eq!(error.kind(), PatchErrorKind::LimitExceeded, "{error}");
    }
    for operation in ["add", "replace"] {
        let patch = |depth: usize| format!(r#"[{{"op":"{operation}","path":"/a","value":{}}}]"#, nested(depth));
        assert!(patched(&target, &patch(510)).is_ok());
        let arena = Arena::new();
        let value = Value::Array(arena.slice(&[Value::Array(arena.slice(&[read(&nested(510), &arena)]))]));
        let apply = |path: &str| {
            let members =
                [("op", Value::string(operation)), ("path", Value::string(arena.text(path))), ("value", value)];
            let operation = Value::Object(arena.slice_from(members.map(|(key, value)| Entry { key, value })));
            let patch = JsonPatch::parse(Value::Array(arena.slice(&[operation]))).unwrap();
            patch.apply(read(&target, &arena), &arena).unwrap_err().kind()
        };
        assert_eq!(apply("/a"), PatchErrorKind::LimitExceeded);
        // What is not there says more.
        assert_eq!(apply("/x/y"), PatchErrorKind::NotFound);
    }
}

#[test]
fn testing_a_long_number_over_and_over_is_refused() {
    let target = format!(r#"{{"a":1.{}}}"#, "0".repeat(3_000_000));
    let tests = [r#"{"op":"test","path":"/a","value":1}"#, r#"{"op":"test","path":"","value":{"a":1.0}}"#];
    assert!(patched(&target, &repeated(&tests, 1)).is_ok());
    let error = patched(&target, &repeated(&tests, 5_000)).unwrap_err();
    assert_eq!(error.kind(), PatchErrorKind::LimitExceeded, "{error}");
}

#[test]
fn long_patches_on_wide_documents_are_bounded() {
    let fields: Vec<_> = (0..100_000).map(|key| format!("\"key{key}\":{key}")).collect();
    let items = vec!["0"; 300_000].join(",");
    let target = format!(r#"{{"map":{{{}}},"list":[{items}]}}"#, fields.join(","));
    let arena = Arena::new();
    let value = read(&target, &arena);
    let before = arena.allocated_bytes();
    let apply = |patch: &str| JsonPatch::parse(read(patch, &arena)).unwrap().apply(value, &arena);

    let fields: Vec<_> = (0..2_500)
        .flat_map(|key| {
            [
                format!(r#"{{"op":"test","path":"/map/key{key}","value":{key}}}"#),
                format!(r#"{{"op":"remove","path":"/map/key{key}"}}"#),
                format!(r#"{{"op":"add","path":"/map/new{key}","value":1}}"#),
                r#"{"op":"add","path":"/list/-","value":1}"#.to_owned(),
            ]
        })
        .collect();
    let result = apply(&format!("[{}]", fields.join(","))).unwrap();
    assert_eq!(result.get("map").unwrap().as_object().unwrap().len(), 100_000);
    assert!(arena.allocated_bytes() - before < 100 << 20);

    let result = apply(&repeated(&[r#"{"op":"remove","path":"/list/0"}"#], 5_000)).unwrap();
    assert_eq!(result.get("list").unwrap().as_array().unwrap().len(), 295_000);
    let too_many = repeated(&[r#"{"op":"remove","path":"/list/0"}"#], JsonPatch::MAX_OPERATIONS + 1);
    assert_eq!(JsonPatch::parse(read(&too_many, &arena)).unwrap_err().kind(), PatchErrorKind::LimitExceeded);
}

#[test]
fn many_insertions_and_moves_in_a_long_list() {
    let numbers: Vec<_> = (0..400_000).map(|number| number.to_string()).collect();
    let target = format!(r#"{{"a":{{"list":[{}]}},"b":{{}}}}"#, numbers.join(","));
    let arena = Arena::new();
    let value = read(&target, &arena);
    let apply = |patch: &str| JsonPatch::parse(read(patch, &arena)).unwrap().apply(value, &arena);
    let list = |result: Value<'_>, object: &str| {
        let list = result.get(object).unwrap().get("list").unwrap().as_array().unwrap();
        (list.len(), format!("{:?}", list[0]), format!("{:?}", list[list.len() - 1]))
    };

    let inserted = apply(&repeated(&[r#"{"op":"add","path":"/a/list/0","value":"x"}"#], 10_000)).unwrap();
    assert_eq!(list(inserted, "a"), (410_000, r#""x""#.to_owned(), "399999".to_owned()));
    let turned = apply(&repeated(&[r#"{"op":"move","from":"/a/list/399999","path":"/a/list/0"}"#], 10_000)).unwrap();
    assert_eq!(list(turned, "a"), (400_000, "390000".to_owned(), "389999".to_owned()));
    let to_and_fro = [
        r#"{"op":"move","from":"/a/list","path":"/b/list"},{"op":"add","path":"/b/list/0","value":"x"}"#,
        r#"{"op":"move","from":"/b/list","path":"/a/list"}"#,
    ];
    let moved = apply(&repeated(&to_and_fro, 3_333)).unwrap();
    assert_eq!(list(moved, "a"), (403_333, r#""x""#.to_owned(), "399999".to_owned()));
}

#[test]
fn moving_a_large_value_deeper_over_and_over_is_refused() {
    let target = format!(r#"{{"a":[{}],"b":{{}}}}"#, vec!["0"; 400_000].join(","));
    let deeper = [r#"{"op":"move","from":"/a","path":"/b/a"}"#, r#"{"op":"move","from":"/b/a","path":"/a"}"#];
    assert!(patched(&target, &repeated(&deeper, 10)).is_ok());
    let error = patched(&target, &repeated(&deeper, 5_000)).unwrap_err();
    assert_eq!(error.kind(), PatchErrorKind::LimitExceeded, "{error}");
}

/// Documents with few keys and short lists, so that patches often hit.
fn document() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|b| json!(b)),
        (0..3).prop_map(|n| json!(n)),
        "[xy]".prop_map(|s| json!(s))
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(serde_json::Value::Array),
            vec((key(), inner), 0..4).prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

fn key() -> impl Strategy<Value = String> {
    "a|b|c|0|-|~|/|"
}

/// All pointers that lead somewhere.
fn pointers(document: &serde_json::Value, here: String, found: &mut Vec<String>) {
    match document {
        serde_json::Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                pointers(item, format!("{here}/{index}"), found);
            }
        }
        serde_json::Value::Object(fields) => {
            for (key, value) in fields {
                let token = key.replace('~', "~0").replace('/', "~1");
                pointers(value, format!("{here}/{token}"), found);
            }
        }
        _ => {}
    }
    found.push(here);
}

/// A pointer to something that is there, or next to it, or to anything.
fn pointer(known: Vec<String>) -> impl Strategy<Value = String> {
    let known = proptest::sample::select(known);
    let token = "a|b|c|0|1|2|-|01|~0|~1||~";
    prop_oneof![
        4 => known.clone(),
        2 => (known, token).prop_map(|(parent, token)| format!("{parent}/{token}")),
        1 => vec(token, 0..4).prop_map(|tokens| tokens.iter().map(|token| format!("/{token}")).collect()),
    ]
}

fn operation(target: &serde_json::Value) -> impl Strategy<Value = serde_json::Value> + use<> {
    let mut known = Vec::new();
    pointers(target, String::new(), &mut known);
    let target = target.clone();
    let name = proptest::sample::select(vec!["add", "add", "remove", "replace", "move", "copy", "test"]);
    (name, pointer(known.clone()), pointer(known), document()).prop_map(move |(name, path, from, value)| {
        // A random value would hardly ever pass a test.
        let value = if name == "test" { target.pointer(&path).cloned().unwrap_or(value) } else { value };
        json!({"op": name, "path": path, "from": from, "value": value})
    })
}

fn document_and_operations() -> impl Strategy<Value = (serde_json::Value, Vec<serde_json::Value>)> {
    document().prop_flat_map(|target| {
        let operations = vec(operation(&target), 1..4);
        (Just(target), operations)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn merge_patches_agree_with_another_implementation(target in document(), patch in document()) {
        let ours = merged(&target.to_string(), &patch.to_string());
        let mut theirs = target;
        json_patch::merge(&mut theirs, &patch);
        prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&ours).unwrap(), theirs);
    }

    #[test]
    fn json_patches_agree_with_another_implementation(
        (target, operations) in document_and_operations(),
    ) {
        // Moving the whole document to where it is changes nothing; the other implementation refuses it.
        prop_assume!(!operations.iter().any(|operation| operation["op"] == "move" && operation["from"] == ""));
        let patch = serde_json::Value::Array(operations);
        let ours = patched(&target.to_string(), &patch.to_string());
        let theirs = serde_json::from_value::<json_patch::Patch>(patch).ok().and_then(|patch| {
            let mut document = target;
            json_patch::patch_unsafe(&mut document, &patch).ok().map(|()| document)
        });
        match (ours, theirs) {
            (Ok(ours), Some(theirs)) => {
                prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&ours).unwrap(), theirs);
            }
            (Err(_), None) => {}
            (ours, theirs) => prop_assert!(false, "{:?} but {:?}", ours, theirs),
        }
    }
}

#[test]
fn hostile_patches_of_any_shape_are_harmless() {
    let arena = Arena::new();
    let long = format!(r#"[{{"op":"remove","path":"{}"}}]"#, "/a".repeat(1_000_000));
    let error = patched("{}", &long).unwrap_err();
    assert!(error.to_string().len() < 500);
    assert!(JsonPatch::parse(decode(b"[[],{}]", &arena).unwrap()).is_err());
}
