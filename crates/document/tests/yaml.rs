//! YAML: what is read, what is refused, and how it is written for people.

#![expect(clippy::unwrap_used, reason = "a test that meets a surprise should stop right there")]

use std::time::{Duration, Instant};

use wheelwright_document::{
    Arena, Decode, DuplicateKeys, Span, Spanned, Yaml, YamlError, YamlErrorKind, decode, decode_yaml, encode,
    write_yaml,
};

/// The documents of a stream, as JSON.
fn read(yaml: &str) -> Vec<String> {
    let arena = Arena::new();
    let documents = decode_yaml(yaml.as_bytes(), &arena, &Decode::default());
    let documents = documents.unwrap_or_else(|error| panic!("{error} in {yaml:?}"));
    documents.iter().map(|document| json(document, &arena)).collect()
}

fn json<'a>(document: &Spanned<'a>, arena: &'a Arena) -> String {
    String::from_utf8(encode(document.to_value(arena))).unwrap()
}

fn refusal(yaml: &str, limits: &Decode) -> YamlError {
    let arena = Arena::new();
    decode_yaml(yaml.as_bytes(), &arena, limits).map(|_| ()).expect_err("should be refused")
}

fn message(yaml: &str) -> String {
    refusal(yaml, &Decode::default()).to_string()
}

#[test]
fn scalars_are_resolved_as_kubectl_does() {
    let table = [
        ("yes", "true"),
        ("'yes'", r#""yes""#),
        ("|-\n  yes", r#""yes""#),
        ("0755", "493"),
        ("\"0755\"", r#""0755""#),
        ("1.0", "1.0"),
        ("0x_1f", "31"),
        ("2001-01-01", r#""2001-01-01""#),
        ("!!str 12", r#""12""#),
        ("! 12", r#""12""#),
        ("!!str", r#""""#),
        ("!!int '12'", "12"),
        ("!!int 0x1f", "31"),
        ("!!float 1", "1"),
        ("!!bool \"on\"", "true"),
        ("!!null ~", "null"),
        ("!<tag:yaml.org,2002:str> 12", r#""12""#),
        ("!!map {a: !!seq [1]}", r#"{"a":[1]}"#),
        ("{a, b: , 'c': 1}", r#"{"a":null,"b":null,"c":1}"#),
        ("[a: 1, b]", r#"[{"a":1},"b"]"#),
        ("- <<\n- null\n-\n- ~", r#"["<<",null,null,null]"#),
        ("a: b\n c", r#"{"a":"b c"}"#),
        ("a: >\n  b\n  c\n\n  d\n", r#"{"a":"b c\nd\n"}"#),
    ];
    for (yaml, expected) in table {
        assert_eq!(read(yaml), [expected], "{yaml}");
    }
}

#[test]
fn scalar_keys_become_strings() {
    assert_eq!(
        read("1: a\ntrue: b\nno: c\n0x10: d\n1.50: e\n'2': f\n!!str 3: g\n2001-01-01: h"),
        [r#"{"1":"a","true":"b","false":"c","16":"d","1.5":"e","2":"f","3":"g","2001-01-01":"h"}"#],
    );
}

#[test]
fn a_stream_has_many_documents_and_empty_ones_do_not_count() {
    assert_eq!(
        read("# nothing\n---\na: 1\n---\n# comment\n---\n---\n- b\n...\n---\nnull\n---\n'' \n"),
        [r#"{"a":1}"#, r#"["b"]"#, "null", r#""""#],
    );
    assert!(read("").is_empty());
    assert!(read("# only a comment\n").is_empty());
    assert_eq!(read("\u{feff}a: 1\n"), [r#"{"a":1}"#]);
    assert_eq!(read("%YAML 1.1 # ü\n---\na: 1\n"), [r#"{"a":1}"#]);
}

#[test]
fn aliases_share_and_merges_merge() {
    assert_eq!(
        read("a: &x {b: 1}\nc: *x\nd: &y e\nf: *y\n*y : g"),
        [r#"{"a":{"b":1},"c":{"b":1},"d":"e","f":"e","e":"g"}"#],
    );
    assert_eq!(read("&k a: *k"), [r#"{"a":"a"}"#]);
    assert_eq!(
        read("base: &base {a: 1, b: 2}\nmore:\n  <<: *base\n  b: 3"),
        [r#"{"base":{"a":1,"b":2},"more":{"a":1,"b":3}}"#],
    );
    // The first of a list counts most, and what comes after a merge counts more than it.
    assert_eq!(read("<<: [{a: 1}, {a: 2, b: 2}]\nb: 3"), [r#"{"a":1,"b":3}"#]);
    assert_eq!(read("a: 1\n<<: {a: 2}"), [r#"{"a":2}"#]);
    assert_eq!(read("<<: {a: 1}\n<<: {b: 2}"), [r#"{"a":1,"b":2}"#]);
    assert_eq!(read("'<<': {a: 1}"), [r#"{"<<":{"a":1}}"#]);
}

#[test]
fn an_alias_has_its_own_place_and_its_parts_that_of_the_anchor() {
    let arena = Arena::new();
    let yaml = b"a: &x {b: 1}\nc: *x\n";
    let documents = decode_yaml(yaml, &arena, &Decode::default()).unwrap();
    let alias = documents[0].get("c").unwrap();
    assert_eq!(alias.span, Span { start: 16, end: 18, line: 2, column: 4 });
    assert_eq!(alias.get("b").unwrap().span, Span { start: 10, end: 11, line: 1, column: 11 });
}

#[test]
fn errors_say_what_and_where() {
    let table = [
        ("a: 1\nb: 2\na: 3", "the key \"a\" of line 1, column 1 occurs again at line 3, column 1"),
        ("{1: a, '1': b}", "the key \"1\" of line 1, column 2 occurs again at line 1, column 8"),
        ("a:\n  ? [b]\n  : c", "must be a string, not array; quote it if it is meant as text at line 2, column 5"),
        ("{a: 1}: b", "must be a string, not object; quote it if it is meant as text at line 1, column 1"),
        ("a: &x [1]\n*x : b", "must be a string, not array; quote it if it is meant as text at line 2, column 1"),
        ("~: b", "must be a string, not null; quote it if it is meant as text at line 1, column 1"),
        (": b", "must be a string, not null"),
        ("a: .inf", "JSON has no number .inf; quote it if it is meant as text at line 1, column 4"),
        ("a: !!float -.inf", "JSON has no number -.inf"),
        ("a: !thing b", "the tag !thing has no meaning in JSON; remove it at line 1, column 4"),
        ("a: !!binary aGk=", "the tag !!binary has no meaning in JSON"),
        ("a: !!timestamp 2001-01-01", "the tag !!timestamp has no meaning in JSON"),
        ("!!set {a}", "the tag !!set has no meaning in JSON"),
        ("!!map [a]", "the tag !!map has no meaning in JSON"),
        ("a: !!int x", "\"x\" is not a !!int at line 1, column 4"),
        ("a: !!int 1.5", "\"1.5\" is not a !!int"),
        ("a: !!null x", "\"x\" is not a !!null"),
        ("a: *b", "found unknown anchor at line 1, column 4"),
        ("&a [*a]", "the alias has no complete anchor before it in its document at line 1, column 5"),
        ("&a b\n---\n*a", "the alias has no complete anchor before it in its document at line 3, column 1"),
        ("<<: a", "a merge key takes a mapping or a list of mappings at line 1, column 5"),
        ("<<: [{a: 1}, b]", "a merge key takes a mapping or a list of mappings at line 1, column 14"),
        ("a: b: c", "not YAML: mapping values are not allowed in this context at line 1, column 5"),
        ("a: [b", "not YAML: "),
        ("é: \"\\q\"", "unknown escape character at line 1, column 4"),
        ("a: \"\u{7}\"", "the character U+0007 is not allowed; escape it in double quotes at line 1, column 5"),
        ("a: \0", "the character U+0000 is not allowed"),
        ("%FOO éé\n---\n\"q\"", "a directive has characters outside of ASCII"),
        ("%é\n---\na: 1", "a directive has characters outside of ASCII"),
    ];
    for (yaml, expected) in table {
        let message = message(yaml);
        assert!(message.contains(expected), "{yaml:?}: {message}");
    }
    let error = refusal("ä: 1\nb: {c: 1, c: 2}", &Decode::default());
    let first = Span { start: 10, end: 11, line: 2, column: 5 };
    assert_eq!(error.kind(), &YamlErrorKind::DuplicateKey { key: "c".to_owned(), first });
    assert_eq!(error.span(), Span { start: 16, end: 17, line: 2, column: 11 });
    assert_eq!(error.kind().to_string(), "the key \"c\" of line 2, column 5 occurs again");
}

#[test]
fn bytes_that_are_not_text_are_refused_with_their_place() {
    let arena = Arena::new();
    let error = decode_yaml(b"a: 1\n\xc3\xa9: \xff", &arena, &Decode::default()).unwrap_err();
    assert_eq!(error.kind(), &YamlErrorKind::InvalidUtf8);
    assert_eq!(error.span(), Span { start: 9, end: 9, line: 2, column: 4 });
}

#[test]
fn the_last_of_duplicate_keys_counts_if_that_is_asked_for() {
    let arena = Arena::new();
    let limits = Decode { duplicate_keys: DuplicateKeys::KeepLast, ..Decode::default() };
    let documents = decode_yaml(b"a: 1\nb: 2\na: 3", &arena, &limits).unwrap();
    assert_eq!(json(&documents[0], &arena), r#"{"a":3,"b":2}"#);
}

#[test]
fn limits_hold() {
    let small = Decode { max_bytes: 4, ..Decode::default() };
    assert_eq!(refusal("a: bc", &small).kind(), &YamlErrorKind::TooLarge { limit: 4, actual: 5 });
    let flat = Decode { max_depth: 2, ..Decode::default() };
    assert!(decode_yaml(b"a: [1]", &Arena::new(), &flat).is_ok());
    assert_eq!(refusal("a: [[1]]", &flat).span().column, 5);
    // An alias may not hide depth.
    let error = refusal("a: &x [1]\nb: [*x]", &flat);
    assert_eq!(error.kind(), &YamlErrorKind::TooDeep { limit: 2 });
    assert_eq!((error.span().line, error.span().column), (2, 5));
}

/// Runs in a thread with little stack, so that recursion would show.
fn ends_fast(yaml: String) -> Result<(), YamlErrorKind> {
    let run = move || {
        let arena = Arena::new();
        let result = decode_yaml(yaml.as_bytes(), &arena, &Decode::default());
        result.map(|_| ()).map_err(|error| error.kind().clone())
    };
    let started = Instant::now();
    let result = std::thread::Builder::new().stack_size(256 << 10).spawn(run).unwrap().join().unwrap();
    assert!(started.elapsed() < Duration::from_secs(5), "took {:?}", started.elapsed());
    result
}

#[test]
fn deep_nesting_ends_fast() {
    let deep = |text: &str| text.repeat(100_000);
    let blocks: String = (0..2000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    for yaml in [deep("["), deep("{a: "), deep("- "), deep("? "), deep("[{a: "), blocks] {
        let result = ends_fast(yaml);
        assert!(
            matches!(result, Err(YamlErrorKind::TooDeep { .. } | YamlErrorKind::UnsupportedKey { .. })),
            "{result:?}",
        );
    }
    let chain: String = (1..1000).map(|at| format!("- &a{at} [*a{}]\n", at - 1)).collect();
    // The comment makes room for as many values as the chain has.
    let chain = format!("# {}\n- &a0 []\n{chain}", "x".repeat(200_000));
    assert_eq!(ends_fast(chain), Err(YamlErrorKind::TooDeep { limit: 512 }));
}

#[test]
fn alias_bombs_end_fast() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..20 {
        let aliases = format!("*a{}, ", level - 1).repeat(10);
        bomb.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
    }
    assert!(matches!(ends_fast(bomb), Err(YamlErrorKind::TooManyNodes { .. })));

    let fields: String = (0..20_000).map(|field| format!("a{field}: b, ")).collect();
    let merges = "- {<<: *x}\n".repeat(20_000);
    let bomb = format!("- &x {{{fields}}}\n{merges}");
    assert!(matches!(ends_fast(bomb), Err(YamlErrorKind::TooManyNodes { .. })));

    // Twenty times the entries of a large mapping, though no value is repeated as such.
    let fields: String = (0..100_000).map(|field| format!("a{field}: b\n  ")).collect();
    let merges: String = (0..20).map(|merge| format!("m{merge}: {{<<: *x}}\n")).collect();
    let error = refusal(&format!("x: &x\n  {fields}\n{merges}"), &Decode::default());
    assert!(error.to_string().starts_with("aliases and merges expand this document to more than 1"), "{error}");
    assert!(matches!(error.kind(), YamlErrorKind::TooManyNodes { limit } if *limit < 1_500_000), "{error}");

    // Few values, but hundreds of gigabytes as soon as they are encoded.
    let bomb = format!("- &x {}\n{}", "long ".repeat(300_000), "- *x\n".repeat(300_000));
    assert!(matches!(ends_fast(bomb), Err(YamlErrorKind::TooManyNodes { .. })));
    let modest = format!("- &x {}\n{}", "long ".repeat(100), "- *x\n".repeat(100));
    assert_eq!(ends_fast(modest), Ok(()));
}

#[test]
fn large_inputs_take_linear_time() {
    let flow = format!("[{}]", "a,".repeat(300_000));
    let keys: String = (0..100_000).map(|key| format!("key{key}: é\n")).collect();
    for yaml in [flow, keys, "a ".repeat(500_000), "\n".repeat(1_000_000), "--- a\n".repeat(100_000)] {
        assert_eq!(ends_fast(yaml), Ok(()));
    }
}

#[test]
fn people_can_read_what_is_written() {
    let arena = Arena::new();
    let document = decode(
        br#"{"apiVersion":"v1","kind":"List","metadata":{"labels":{},"name":"a b","on":"on"},
            "items":[{"args":["--flag=1","-","- x","*"],"script":"set -e\nrun\n","empty":[]},[1,[2,3]],null,1.50],
            "port":"8080","ratio":"80:20","since":"2001-01-01","quote":"say \"hi\"","tab":"a\tb","ip":"10.0.0.1",
            "keep":"a\n\n","strip":"a\nb","note":"see: this","url":"http://x/#y","nothing":""}"#,
        &arena,
    );
    let expected = r#"apiVersion: v1
kind: List
metadata:
  labels: {}
  name: a b
  "on": "on"
items:
- args:
  - --flag=1
  - "-"
  - "- x"
  - "*"
  script: |
    set -e
    run
  empty: []
- - 1
  - - 2
    - 3
- null
- 1.50
port: "8080"
ratio: "80:20"
since: "2001-01-01"
quote: say "hi"
tab: "a\tb"
ip: 10.0.0.1
keep: |+
  a

strip: |-
  a
  b
note: "see: this"
url: http://x/#y
nothing: ""
"#;
    assert_eq!(write_yaml(document.unwrap()), expected);
}

#[test]
fn in_the_core_schema_keys_are_what_is_written() {
    let arena = Arena::new();
    let core = Decode { yaml: Yaml::Core, ..Decode::default() };
    let documents = decode_yaml(b"y: &a NO\nyes: *a\n1.0: 0x10\nnull: ~\n!!int 07: !!str 7\n", &arena, &core).unwrap();
    assert_eq!(json(&documents[0], &arena), r#"{"y":"NO","yes":"NO","1.0":16,"null":null,"7":"7"}"#);
    let kinds = ["y: 1\ny: 2", "? : 1", "a: !!bool yes"].map(|yaml| refusal(yaml, &core).kind().clone());
    assert!(matches!(&kinds[0], YamlErrorKind::DuplicateKey { key, .. } if key == "y"), "{kinds:?}");
    assert!(matches!(&kinds[1], YamlErrorKind::UnsupportedKey { .. }), "{kinds:?}");
    assert!(matches!(&kinds[2], YamlErrorKind::MismatchedTag { .. }), "{kinds:?}");
}
