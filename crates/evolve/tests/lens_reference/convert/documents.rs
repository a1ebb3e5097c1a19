//! Documents in texts. YAML is read and written by the code that has tests of its own in `wheelwright-document`.

use serde_json::Value as Json;
use wheelwright_document::{Arena, Decode, Value, decode, decode_yaml, encode, write_yaml};
use wheelwright_evolve::DocumentFormat;

/// The document that a text contains, unless it is null.
pub(super) fn contained(format: DocumentFormat, text: &str) -> Option<Json> {
    let value: Json = match format {
        DocumentFormat::Json => serde_json::from_str(text).ok()?,
        DocumentFormat::Yaml => {
            let arena = Arena::new();
            let documents = decode_yaml(text.as_bytes(), &arena, &Decode::default()).ok()?;
            let [document] = &documents[..] else { return None };
            let value: Value<'_> = document.to_value(&arena);
            serde_json::from_slice(&encode(value)).ok()?
        }
    };
    (!value.is_null()).then_some(value)
}

/// The text that contains a document, with its keys in order.
pub(super) fn contains(format: DocumentFormat, value: &Json) -> String {
    let json = value.to_string();
    match format {
        DocumentFormat::Json => json,
        DocumentFormat::Yaml => {
            let arena = Arena::new();
            write_yaml(decode(json.as_bytes(), &arena).expect("what serde_json writes is JSON"))
        }
    }
}
