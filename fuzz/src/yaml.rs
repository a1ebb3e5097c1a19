//! YAML: whatever is decoded stays small, has places within the source, and survives being written and read again.

use wheelwright_document::{Arena, Decode, Span, Spanned, SpannedNode, Value, decode_nested_yaml, decode_yaml, encode, write_yaml};

/// Decodes bytes, and writes and reads every document of them.
pub fn yaml(input: &[u8]) {
    let arena = Arena::new();
    match decode_yaml(input, &arena, &Decode::default()) {
        Ok(documents) => {
            let source = std::str::from_utf8(input).expect("only UTF-8 is decoded");
            for document in &documents {
                check_places(source, document);
                round_trip(document.to_value(&arena), input.len());
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    if let Ok(text) = std::str::from_utf8(input) {
        nested(text);
    }
}

/// Decodes a document that another document contains as a text: aliases do not make it larger.
fn nested(text: &str) {
    let arena = Arena::new();
    let limits = Decode { max_depth: 100, ..Decode::default() };
    for document in decode_nested_yaml(text, &arena, &limits).unwrap_or_default() {
        let size = encode(document.to_value(&arena)).len();
        assert!(size <= 64 * (text.len() + 1), "{size} bytes from {}", text.len());
    }
}

fn round_trip(value: Value<'_>, input: usize) {
    // Aliases repeat what was written once, but not without bound.
    let size = encode(value).len();
    assert!(size <= 64 * input + (8 << 20), "{size} bytes from {input}");
    let written = write_yaml(value);
    let arena = Arena::new();
    let limits = Decode { max_bytes: usize::MAX, ..Decode::default() };
    let documents =
        decode_yaml(written.as_bytes(), &arena, &limits).unwrap_or_else(|error| panic!("{error} in\n{written}"));
    assert_eq!(documents.len(), 1, "{written}");
    assert_eq!(documents[0].to_value(&arena), value, "{written}");
}

fn check_places(source: &str, document: &Spanned<'_>) {
    check_place(source, document.span);
    match document.node {
        SpannedNode::Scalar(_) => {}
        SpannedNode::Array(items) => items.iter().for_each(|item| check_places(source, item)),
        SpannedNode::Object(entries) => {
            for entry in entries {
                check_place(source, entry.key_span);
                check_places(source, &entry.value);
            }
        }
    }
}

pub(crate) fn check_place(source: &str, span: Span) {
    assert!(source.get(span.start as usize..span.end as usize).is_some(), "{span:?} in {source:?}");
    assert!(span.line >= 1 && span.column >= 1);
}
