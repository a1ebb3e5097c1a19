//! Values to bytes.

use std::io::Write as _;

use crate::{Text, Value};

/// The document as compact JSON.
pub fn encode(value: Value<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    encode_into(value, &mut out);
    out
}

/// Appends the document to `out` as compact JSON. Keys keep their order and numbers their text.
pub fn encode_into(value: Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(number) => out.extend_from_slice(number.as_str().as_bytes()),
        Value::String(text) => write_text(text, out),
        Value::Array(items) => {
            out.push(b'[');
            for (position, item) in items.iter().enumerate() {
                if position > 0 {
                    out.push(b',');
                }
                encode_into(*item, out);
            }
            out.push(b']');
        }
        Value::Object(entries) => {
            out.push(b'{');
            for (position, entry) in entries.iter().enumerate() {
                out.reserve(entry.key.len() + 4);
                if position > 0 {
                    out.push(b',');
                }
                write_text(Text::new(entry.key), out);
                out.push(b':');
                encode_into(entry.value, out);
            }
            out.push(b'}');
        }
    }
}

#[inline]
pub(crate) fn write_text(text: Text<'_>, out: &mut Vec<u8>) {
    let bytes = text.as_str().as_bytes();
    out.reserve(bytes.len() + 3);
    out.push(b'"');
    if text.is_plain() {
        out.extend_from_slice(bytes);
    } else {
        write_escaped(bytes, out);
    }
    out.push(b'"');
}

#[cold]
fn write_escaped(bytes: &[u8], out: &mut Vec<u8>) {
    for &byte in bytes {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0c => out.extend_from_slice(b"\\f"),
            0..=0x1f => {
                // Writing to a vector cannot fail.
                let _ = write!(out, "\\u{byte:04x}");
            }
            _ => out.push(byte),
        }
    }
}

/// Whether a string can stand between quotes as it is. Words may overlap: a byte that is looked at twice does no harm.
#[inline]
pub(crate) fn is_plain(bytes: &[u8]) -> bool {
    let is_plain_word = |word: [u8; 8]| special_bytes(u64::from_le_bytes(word)) == 0;
    if let Some(last) = bytes.last_chunk::<8>() {
        let (words, _) = bytes.as_chunks::<8>();
        is_plain_word(*last) && words.iter().all(|word| is_plain_word(*word))
    } else if let (Some([a, b, c, d]), Some([w, x, y, z])) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        is_plain_word([*a, *b, *c, *d, *w, *x, *y, *z])
    } else {
        bytes.iter().all(|&byte| byte >= 0x20 && byte != b'"' && byte != b'\\')
    }
}

/// Looks at eight bytes at once: the high bit of every byte that ends a plain string (a quote, a backslash, a control
/// character) is set. Bits above the lowest one that is set may be wrong, so only zero and the lowest bit count.
#[inline]
pub(crate) fn special_bytes(word: u64) -> u64 {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let zero = |word: u64| word.wrapping_sub(LOW) & !word;
    let quote = zero(word ^ (LOW * b'"' as u64));
    let backslash = zero(word ^ (LOW * b'\\' as u64));
    let control = word.wrapping_sub(LOW * 0x20) & !word;
    (quote | backslash | control) & HIGH
}
