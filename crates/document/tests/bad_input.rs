//! Bytes from outside, at their worst, are refused with a clear error or decoded in linear time.

#![expect(clippy::unwrap_used, reason = "a test that meets a surprise should stop right there")]

use std::fmt::Write as _;

use wheelwright_document::{
    Arena, Decode, DecodeError, DecodeErrorKind, DuplicateKeys, Entry, Extent, JsonPatch, Value, Yaml, YamlErrorKind,
    canonical, decode, decode_trusted, decode_yaml, encode, merge_patch, write_yaml,
};

const KEEP_LAST: Decode =
    Decode { max_bytes: usize::MAX, max_depth: 512, duplicate_keys: DuplicateKeys::KeepLast, yaml: Yaml::AsKubectl };
const LARGE: Decode = Decode { duplicate_keys: DuplicateKeys::Refuse, ..KEEP_LAST };

fn refused(bytes: &[u8]) -> DecodeError {
    let arena = Arena::new();
    match decode(bytes, &arena) {
        Ok(value) => panic!("{value:?} was accepted"),
        Err(error) => error,
    }
}

fn message(text: &str) -> String {
    refused(text.as_bytes()).to_string()
}

fn on_a_small_stack(test: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(2 << 20).spawn_scoped(scope, test);
        thread.unwrap().join().unwrap();
    });
}

#[test]
fn a_document_that_stops_early_is_refused_at_every_byte() {
    let text = r#"{"a":[1.5e-3,true,false,null,"\u00e9\n\ud83d\ude00é"],"b":{"c":{}},"d":[]}"#;
    let arena = Arena::new();
    assert!(decode(text.as_bytes(), &arena).is_ok());
    for end in 0..text.len() {
        let error = refused(&text.as_bytes()[..end]);
        assert!(error.offset() <= end, "{end}: {error}");
        assert!(!error.to_string().is_empty());
    }
}

#[test]
fn messages_say_what_was_expected_and_where() {
    assert_eq!(message(""), "expected a value at line 1, column 1");
    assert_eq!(message(" \n "), "expected a value at line 2, column 2");
    assert_eq!(message("1 2"), "expected the end of the document at line 1, column 3");
    assert_eq!(message("{}}"), "expected the end of the document at line 1, column 3");
    assert_eq!(message("{\"a\":\n [1, x]}"), "expected a value at line 2, column 6, in a[1]");
    assert_eq!(message(r#"{"a" 1}"#), "expected a colon after the key at line 1, column 6");
    assert_eq!(message(r#"{a:1}"#), "expected a key in quotes at line 1, column 2");
    assert_eq!(message(r#"{"a":1,}"#), "expected a key in quotes at line 1, column 8");
    assert_eq!(message("[1,]"), "expected a value at line 1, column 4, in [1]");
    assert_eq!(message("[1"), "expected a comma or the end of the list at line 1, column 3");
    assert_eq!(message(r#"{"a":1 "b""#), "expected a comma or the end of the object at line 1, column 8");
    assert_eq!(message(r#"["abc"#), "expected the end of the string at line 1, column 6, in [0]");
    for text in ["nul", "True", "'a'", "NaN", "//", "\u{feff}1", "\0"] {
        assert_eq!(message(text), "expected a value at line 1, column 1", "{text:?}");
    }
    for text in ["-", "1.", "1e", "-a"] {
        assert_eq!(message(text), "expected a number at line 1, column 1", "{text:?}");
    }
    assert_eq!(message("01"), "expected the end of the document at line 1, column 2");
}

#[test]
fn invalid_utf8_is_refused_with_its_offset() {
    for (bytes, offset) in [
        (&b"\xff"[..], 0),
        (b"\"ab\x80\"", 3),
        (b"\"\xc3\"", 1),
        (b"\"\xed\xa0\x80\"", 1),
        (b"\"\xc0\x80\"", 1),
        (b"\"\xf4\x90\x80\x80\"", 1),
        (b"[1]\xe2\x82", 3),
    ] {
        let error = refused(bytes);
        assert_eq!((error.kind(), error.offset()), (&DecodeErrorKind::InvalidUtf8, offset));
        assert_eq!(error.to_string(), format!("not UTF-8 at line 1, column {}", offset + 1));
        assert_eq!(error.kind().to_string(), "not UTF-8");
    }
}

#[test]
fn nesting_beyond_the_limit_is_refused_without_harm() {
    on_a_small_stack(|| {
        for (open, path) in [("[", "[0][0][0]"), ("{\"a\":", "a.a.a"), ("[{\"a\":", "[0].a[0].a")] {
            for text in [open.repeat(100_000), open.repeat(513)] {
                let error = refused(text.as_bytes());
                assert_eq!(*error.kind(), DecodeErrorKind::TooDeep { limit: 512 });
                assert!(error.path().as_str().starts_with(path));
                let message = error.to_string();
                assert!(message.starts_with("nested deeper than the limit of 512 at line 1") && message.len() < 300);
            }
        }
        let boundless = Decode { max_depth: u32::MAX, ..LARGE };
        for text in ["[".repeat(513), "[".repeat(100_000)] {
            let error = boundless.decode(text.as_bytes(), &Arena::new()).unwrap_err();
            assert_eq!(*error.kind(), DecodeErrorKind::TooDeep { limit: 512 });
            let error = decode_yaml("- ".repeat(600).as_bytes(), &Arena::new(), &boundless).unwrap_err();
            assert_eq!(*error.kind(), YamlErrorKind::TooDeep { limit: 512 });
        }
        let path = refused("[".repeat(513).as_bytes()).path();
        assert_eq!(path.as_str(), "[0]".repeat(512));
    });
}

#[test]
fn every_walk_survives_the_deepest_document_on_a_small_stack() {
    on_a_small_stack(|| {
        for (open, leaf, close) in [("[", "[]", "]"), ("{\"a\":", "{}", "}")] {
            let text = format!("{}{leaf}{}", open.repeat(511), close.repeat(511));
            let (arena, other) = (Arena::new(), Arena::new());
            let value = decode(text.as_bytes(), &arena).unwrap();
            let same = decode(text.as_bytes(), &other).unwrap();
            assert!(value == same && value.equivalent(same));
            assert_eq!(encode(value), text.as_bytes());
            assert_eq!(canonical(value), text.as_bytes());
            assert_eq!(encode(merge_patch(value, same, &arena)), text.as_bytes());
            assert_eq!(format!("{value:?}"), text);

            let pointer = if open == "[" { "/0".repeat(511) } else { "/a".repeat(511) };
            let operation = |op, path, value| {
                let members = [("op", Value::string(op)), ("path", Value::string(path)), ("value", value)];
                Value::Object(arena.slice_from(members.map(|(key, value)| Entry { key, value })))
            };
            let patch = [operation("replace", &pointer, Value::Null), operation("test", "", same)];
            let error = JsonPatch::parse(Value::Array(&patch)).unwrap().apply(value, &arena).unwrap_err();
            assert_eq!(error.operation(), Some(1));
        }
    });
}

#[test]
fn a_document_of_our_own_is_decoded_at_any_size_and_deeper_than_one_from_outside() {
    on_a_small_stack(|| {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let leaf = format!("[\"{}\"]", "x".repeat(4 << 20));
            let text = format!("{}{leaf}{}", open.repeat(639), close.repeat(639));
            let arena = Arena::new();
            let value = decode_trusted(text.as_bytes(), &arena).unwrap();
            assert_eq!(encode(value), text.as_bytes());
            assert_eq!((Extent::of(value).bytes, Extent::of(value).depth), (text.len(), 640));
            assert!(write_yaml(value).len() > 4 << 20);
        }
        let error = decode_trusted("[".repeat(641).as_bytes(), &Arena::new()).unwrap_err();
        assert_eq!(*error.kind(), DecodeErrorKind::TooDeep { limit: 640 });
    });
}

#[test]
fn a_million_keys_are_decoded() {
    let mut text = String::from("{");
    for key in 0..1_000_000 {
        let _ = write!(text, "\"key{key}\":{key},");
    }
    text.push_str("\"last\":null}");
    let arena = Arena::new();
    let value = LARGE.decode(text.as_bytes(), &arena).unwrap().value;
    assert_eq!(value.as_object().unwrap().len(), 1_000_001);
    assert!(value.equivalent(value));
    assert_eq!(encode(value), text.as_bytes());
}

#[test]
fn a_million_duplicate_keys_are_resolved() {
    let text = format!("{{{}\"a\":2}}", "\"a\":1,".repeat(1_000_000));
    let arena = Arena::new();
    let error = LARGE.decode(text.as_bytes(), &arena).unwrap_err();
    assert_eq!(*error.kind(), DecodeErrorKind::DuplicateKey { key: "a".to_owned() });
    let decoded = KEEP_LAST.decode(text.as_bytes(), &arena).unwrap();
    assert_eq!(encode(decoded.value), b"{\"a\":2}");
    assert_eq!(decoded.duplicates.len(), 1);
}

#[test]
fn reports_of_duplicates_stay_small() {
    // Every path would repeat the long key and the nesting around it.
    let mut text = format!("{{\"{}\":{}{{", "k".repeat(100_000), "[".repeat(500));
    for key in 0..50_000 {
        let _ = write!(text, "\"{key}\":1,\"{key}\":2,");
    }
    let _ = write!(text, "\"end\":1}}{}}}", "]".repeat(500));
    let arena = Arena::new();
    let duplicates = KEEP_LAST.decode(text.as_bytes(), &arena).unwrap().duplicates;
    assert_eq!(duplicates.len(), 100);
    assert!(duplicates.iter().all(|path| path.as_str().len() < 2_000));
}

#[test]
fn duplicate_keys_are_refused_with_their_place() {
    assert_eq!(message(r#"{"a":1,"a":2}"#), "the key \"a\" occurs twice at line 1, column 1");
    assert_eq!(
        message("{\"a\":[0,\n{\"b\":1,\"c\":2,\"\\u0062\":3}]}"),
        "the key \"b\" occurs twice at line 2, column 1, in a[1]"
    );
}

#[test]
fn the_last_of_duplicate_keys_is_kept_and_reported() {
    let text = r#"{"a":1,"b":{"x":1,"y":2,"x":3},"a":[{"c":1,"c":2,"c":3}],"d":[[],[{"e":0,"e":1}]]}"#;
    let arena = Arena::new();
    let decoded = KEEP_LAST.decode(text.as_bytes(), &arena).unwrap();
    let expected = r#"{"a":[{"c":3}],"b":{"x":3,"y":2},"d":[[],[{"e":1}]]}"#;
    assert_eq!(String::from_utf8(encode(decoded.value)).unwrap(), expected);
    let paths: Vec<_> = decoded.duplicates.iter().map(|path| path.as_str()).collect();
    assert_eq!(paths, ["b.x", "a[0].c", "d[1][0].e", "a"]);
}

#[test]
fn long_numbers_and_huge_exponents_keep_their_text() {
    let digits = "1234567890".repeat(1_000);
    for text in [
        digits.clone(),
        format!("-{digits}.{digits}"),
        format!("0.{digits}e-{digits}"),
        "1e1000000000".to_owned(),
        "-1E+99999999999999999999".to_owned(),
        "-0".to_owned(),
        "1.0".to_owned(),
    ] {
        let arena = Arena::new();
        let value = decode(text.as_bytes(), &arena).unwrap();
        assert_eq!(value.as_number().unwrap().as_str(), text);
        assert_eq!(encode(value), text.as_bytes());
        assert!(canonical(value).len() <= text.len() + 20);
    }
}

#[test]
fn control_characters_in_strings_are_refused() {
    for byte in 0..0x20u8 {
        for text in
            [vec![b'"', byte, b'"'], vec![b'"', b'\\', b'n', byte, b'"'], [b"\"12345678", &[byte, b'"'][..]].concat()]
        {
            let error = refused(&text);
            assert_eq!(error.offset(), text.len() - 2);
            assert!(error.to_string().contains("control character"), "{error}");
        }
    }
    let arena = Arena::new();
    assert_eq!(decode(b"\"\x7f\"", &arena).unwrap(), Value::string("\u{7f}"));
}

#[test]
fn every_escape_is_read_and_nothing_else() {
    let arena = Arena::new();
    let text = br#""\"\\\/\b\f\n\r\t\u0000\u001F\u00e9\u20AC\uD83D\uDE00\ud7ff\ue000\uffff""#;
    let value = decode(text, &arena).unwrap();
    let expected = "\"\\/\u{8}\u{c}\n\r\t\0\u{1f}é€😀\u{d7ff}\u{e000}\u{ffff}";
    assert_eq!(value.as_str(), Some(expected));
    assert_eq!(
        String::from_utf8(encode(value)).unwrap(),
        "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001fé€😀\u{d7ff}\u{e000}\u{ffff}\""
    );
    for letter in 0..=0x7fu8 {
        let allowed = b"\"\\/bfnrt".contains(&letter);
        assert_eq!(decode(&[b'"', b'\\', letter, b'"'], &arena).is_ok(), allowed, "{letter}");
    }
    for text in [
        r#""\u""#,
        r#""\u12""#,
        r#""\u12g4""#,
        r#""\u+123""#,
        r#""\ud800""#,
        r#""\udc00""#,
        r#""\ud800x""#,
        r#""\ud800\n""#,
        r#""\ud800\ud800""#,
        r#""\ud800\u0041""#,
        r#""\udc00\ud800""#,
        r#""\"#,
    ] {
        assert!(decode(text.as_bytes(), &arena).is_err(), "{text}");
    }
}

#[test]
fn documents_beyond_the_size_limit_are_refused_unread() {
    let arena = Arena::new();
    let options = Decode { max_bytes: 4, ..Decode::default() };
    assert!(options.decode(b"1234", &arena).is_ok());
    let error = options.decode(b"\xff\xff\xff\xff\xff", &arena).unwrap_err();
    assert_eq!(*error.kind(), DecodeErrorKind::TooLarge { limit: 4, actual: 5 });
    assert_eq!(error.to_string(), "the document has 5 bytes, more than the limit of 4");
    assert!(decode(&vec![b' '; (3 << 20) + 1], &arena).is_err());
}
