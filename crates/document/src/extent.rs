//! The size of a document as JSON, without encoding it.

use crate::{Text, Value};

/// The size of a value as compact JSON.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Extent {
    /// The length of its encoding.
    pub bytes: usize,
    /// How deep its lists and objects nest; zero for a scalar.
    pub depth: usize,
    /// The number of objects in it.
    pub objects: usize,
}

impl Extent {
    /// Measures a value in one walk.
    pub fn of(value: Value<'_>) -> Self {
        let scalar = |bytes| Self { bytes, ..Self::default() };
        match value {
            Value::Null | Value::Bool(true) => scalar(4),
            Value::Bool(false) => scalar(5),
            Value::Number(number) => scalar(number.as_str().len()),
            Value::String(text) => scalar(text_bytes(text)),
            Value::Array(items) => Self::of_parts(items.iter().map(|item| Self::of(*item))),
            Value::Object(entries) => {
                let parts = entries.iter().map(|entry| {
                    let value = Self::of(entry.value);
                    Self { bytes: text_bytes(Text::new(entry.key)) + 1 + value.bytes, ..value }
                });
                let parts = Self::of_parts(parts);
                Self { objects: parts.objects + 1, ..parts }
            }
        }
    }

    /// Parts with commas between them, in brackets.
    fn of_parts(parts: impl ExactSizeIterator<Item = Self>) -> Self {
        let around = Self { bytes: 2 + parts.len().saturating_sub(1), ..Self::default() };
        let all = parts.fold(around, |all, part| Self {
            bytes: all.bytes + part.bytes,
            depth: all.depth.max(part.depth),
            objects: all.objects + part.objects,
        });
        Self { depth: all.depth + 1, ..all }
    }
}

fn text_bytes(text: Text<'_>) -> usize {
    let bytes = text.as_str().as_bytes();
    match text.is_plain() {
        true => bytes.len() + 2,
        false => bytes.iter().map(|byte| escaped_bytes(*byte)).sum::<usize>() + 2,
    }
}

/// The length of a byte of a text, as the encoder writes it.
fn escaped_bytes(byte: u8) -> usize {
    match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
        0..=0x1f => 6,
        _ => 1,
    }
}
