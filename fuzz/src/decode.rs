//! JSON: what is decoded is encoded and decoded again to the same, serde_json agrees, and places hold what they claim.

use serde::Deserialize as _;
use wheelwright_document::{
    Arena, Decode, DecodeErrorKind, DuplicateKeys, Span, Spanned, Value, Yaml, canonical, decode as decode_strictly,
    decode_json_spanned, encode,
};

const KEEP_LAST: Decode =
    Decode { max_bytes: usize::MAX, max_depth: 512, duplicate_keys: DuplicateKeys::KeepLast, yaml: Yaml::AsKubectl };

/// Decodes bytes in every way there is.
pub fn decode(input: &[u8]) {
    let arena = Arena::new();
    let strict = decode_strictly(input, &arena);
    let lenient = KEEP_LAST.decode(input, &arena);
    let spanned = decode_json_spanned(input, &arena, &Decode::default());
    assert_eq!(strict.is_ok(), spanned.is_ok());
    for error in [strict.as_ref().err(), lenient.as_ref().err(), spanned.as_ref().err()].into_iter().flatten() {
        assert!(error.offset() <= input.len() && !error.to_string().is_empty());
    }
    match (&strict, &lenient) {
        (Ok(strict), Ok(lenient)) => {
            assert_eq!(*strict, lenient.value);
            assert!(lenient.duplicates.is_empty());
        }
        (Err(error), Ok(lenient)) => {
            assert!(matches!(error.kind(), DecodeErrorKind::DuplicateKey { .. }));
            assert!(!lenient.duplicates.is_empty());
        }
        (Ok(value), Err(error)) => panic!("{error} in {value:?}"),
        (Err(_), Err(_)) => {}
    }
    match (&lenient, theirs(input)) {
        (Ok(ours), Ok(theirs)) => {
            round_trip(ours.value);
            let encoded = encode(ours.value);
            assert_eq!(self::theirs(&encoded).expect("what we encode is JSON"), theirs);
        }
        (Err(_), Err(_)) => {}
        // We keep numbers that no double can hold.
        (Ok(ours), Err(theirs)) => {
            assert!(theirs.to_string().contains("out of range"), "{theirs}");
            round_trip(ours.value);
        }
        (Err(ours), Ok(_)) => assert!(matches!(ours.kind(), DecodeErrorKind::TooDeep { .. }), "{ours}"),
    }
    if let (Ok(value), Ok(spanned)) = (strict, spanned) {
        assert_eq!(spanned.to_value(&arena), value);
        check_places(input, &spanned);
    }
}

fn theirs(input: &[u8]) -> serde_json::Result<serde_json::Value> {
    let mut deserializer = serde_json::Deserializer::from_slice(input);
    deserializer.disable_recursion_limit();
    let value = serde_json::Value::deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

fn round_trip(value: Value<'_>) {
    let arena = Arena::new();
    let encoded = encode(value);
    let limits = Decode { max_bytes: usize::MAX, ..Decode::default() };
    assert_eq!(limits.decode(&encoded, &arena).expect("what we encode can be decoded").value, value);
    let canonical_form = canonical(value);
    let again = limits.decode(&canonical_form, &arena).expect("the canonical form can be decoded").value;
    assert!(again.equivalent(value));
    assert_eq!(canonical(again), canonical_form);
}

/// Scalars and keys mean the same by themselves; lists and objects begin and end with their brackets, around their
/// parts.
fn check_places(source: &[u8], document: &Spanned<'_>) {
    let written = |span: Span| &source[span.start as usize..span.end as usize];
    let arena = Arena::new();
    let alone = |span: Span| decode_strictly(written(span), &arena).expect("a place holds a value");
    if let Some(scalar) = document.as_scalar() {
        assert_eq!(alone(document.span), scalar);
    }
    let inside = |span: Span| document.span.start < span.start && span.end < document.span.end;
    if let Some(items) = document.as_array() {
        assert!(written(document.span).starts_with(b"[") && written(document.span).ends_with(b"]"));
        for item in items {
            assert!(inside(item.span));
            check_places(source, item);
        }
    }
    if let Some(entries) = document.as_object() {
        assert!(written(document.span).starts_with(b"{") && written(document.span).ends_with(b"}"));
        for entry in entries {
            assert!(inside(entry.key_span) && inside(entry.value.span));
            assert_eq!(alone(entry.key_span), Value::string(entry.key));
            check_places(source, &entry.value);
        }
    }
    let before = &source[..document.span.start as usize];
    assert_eq!(document.span.line as usize, before.iter().filter(|byte| **byte == b'\n').count() + 1);
}
