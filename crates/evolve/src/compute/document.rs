//! Documents that are kept as texts: from the text to the value that it contains, and back.
//!
//! Reading is linear in the text: aliases may not expand to more than its size, and neither side nests deeper than
//! [`DEEPEST`] levels.

use wheelwright_document::{Arena, Decode, Value, canonical, decode_nested_yaml, write_yaml};

use super::{Failed, fit::Fit, parts::with_unsaid};
use crate::DocumentFormat;

/// How deep a document in a text may nest. The document that contains the text stays within the limits of decoders.
const DEEPEST: u32 = 100;

/// The value contained in a text.
pub(super) fn read<'a>(format: DocumentFormat, text: &'a str, arena: &'a Arena) -> Result<Value<'a>, Failed> {
    let limits = Decode { max_depth: DEEPEST, ..Decode::default() };
    let value = match format {
        DocumentFormat::Json => {
            let decoded = limits.decode(text.as_bytes(), arena);
            decoded.map_err(|error| Failed(format!("the text is not a JSON document: {error}")))?.value
        }
        DocumentFormat::Yaml => {
            let documents = decode_nested_yaml(text, arena, &limits)
                .map_err(|error| Failed(format!("the text is not a YAML document: {error}")))?;
            match &documents[..] {
                [] => Value::Null,
                [document] => document.to_value(arena),
                several => return Err(Failed(format!("the text contains {} YAML documents", several.len()))),
            }
        }
    };
    if value.is_null() { Err(Failed("the text contains no document".to_owned())) } else { Ok(value) }
}

/// The text of a value. `old` is the previous value and text: parts of that text that the fields of the value cannot
/// express stay in the new one.
pub(super) fn write<'a>(
    format: DocumentFormat,
    value: Value<'a>,
    old: Option<(Value<'a>, Value<'a>)>,
    said: &Fit,
    arena: &'a Arena,
) -> Result<Value<'a>, Failed> {
    if is_deeper(value, DEEPEST) {
        return Err(Failed(format!("nested deeper than the limit of {DEEPEST}")));
    }
    let before = old.and_then(|(was, text)| Some((was, read(format, text.as_str()?, arena).ok()?)));
    let whole = match before {
        Some((was, before)) => with_unsaid(value, Some(was), before, said, arena),
        None => value,
    };
    // Equal values have one text, whatever the order of their keys and the notation of their numbers.
    let json = String::from_utf8(canonical(whole)).map_err(|error| Failed(error.to_string()))?;
    let json = arena.text(&json);
    match format {
        DocumentFormat::Json => Ok(Value::string(json)),
        DocumentFormat::Yaml => Ok(Value::string(arena.text(&write_yaml(read(DocumentFormat::Json, json, arena)?)))),
    }
}

/// Whether lists and objects nest deeper than a limit.
fn is_deeper(value: Value<'_>, limit: u32) -> bool {
    match value {
        Value::Array(items) => limit == 0 || items.iter().any(|item| is_deeper(*item, limit - 1)),
        Value::Object(entries) => limit == 0 || entries.iter().any(|entry| is_deeper(entry.value, limit - 1)),
        _ => false,
    }
}
