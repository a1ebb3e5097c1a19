//! JSON files to documents that know where each part of them was written.

use crate::{Arena, Decode, DecodeError, DuplicateKeys, Span, Spanned, SpannedEntry, SpannedNode, Value};

/// Decodes one JSON document; a key that occurs twice is an error, whatever `limits` says. Places of strings and keys
/// include their quotes.
///
/// # Errors
/// What is wrong, with its offset and the path of the value it is in.
pub fn decode_json_spanned<'a>(bytes: &'a [u8], arena: &'a Arena, limits: &Decode) -> Result<Spanned<'a>, DecodeError> {
    // Places have 32 bits.
    let max_bytes = limits.max_bytes.min(u32::MAX as usize - 1);
    let strict = Decode { duplicate_keys: DuplicateKeys::Refuse, max_bytes, ..*limits };
    let value = strict.decode(bytes, arena)?.value;
    Ok(Scanner { bytes, arena, at: 0, line: 1, column: 1 }.value(value))
}

/// Goes over the bytes of a document that has been decoded, so they are known to be what the value says.
struct Scanner<'a> {
    bytes: &'a [u8],
    arena: &'a Arena,
    at: usize,
    line: u32,
    column: u32,
}

impl<'a> Scanner<'a> {
    fn value(&mut self, value: Value<'a>) -> Spanned<'a> {
        self.skip_separators();
        match value {
            Value::Null => self.scalar(value, "null".len()),
            Value::Bool(true) => self.scalar(value, "true".len()),
            Value::Bool(false) => self.scalar(value, "false".len()),
            Value::Number(number) => self.scalar(value, number.as_str().len()),
            Value::String(_) => self.scalar(value, self.string_length()),
            Value::Array(items) => {
                let mut span = self.pass(1);
                let items = self.arena.slice_from(items.iter().map(|item| self.value(*item)));
                self.close(&mut span);
                Spanned { span, node: SpannedNode::Array(items) }
            }
            Value::Object(entries) => {
                let mut span = self.pass(1);
                let entries = self.arena.slice_from(entries.iter().map(|entry| {
                    self.skip_separators();
                    let key_span = self.pass(self.string_length());
                    SpannedEntry { key: entry.key, key_span, value: self.value(entry.value) }
                }));
                self.close(&mut span);
                Spanned { span, node: SpannedNode::Object(entries) }
            }
        }
    }

    fn scalar(&mut self, value: Value<'a>, length: usize) -> Spanned<'a> {
        Spanned { span: self.pass(length), node: SpannedNode::Scalar(value) }
    }

    fn close(&mut self, span: &mut Span) {
        self.skip_separators();
        span.end = self.pass(1).end;
    }

    fn skip_separators(&mut self) {
        let separators = self.bytes[self.at..].iter();
        let length = separators.take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b',' | b':')).count();
        self.pass(length);
    }

    /// The length of the string that starts here, with its quotes.
    fn string_length(&self) -> usize {
        let mut is_escaped = false;
        let inside = self.bytes[self.at..].iter().skip(1).take_while(|byte| {
            let goes_on = is_escaped || **byte != b'"';
            is_escaped = !is_escaped && **byte == b'\\';
            goes_on
        });
        inside.count() + 2
    }

    /// Goes on, and says over what.
    fn pass(&mut self, length: usize) -> Span {
        let end = (self.at + length).min(self.bytes.len());
        let span = Span { start: self.at as u32, end: end as u32, line: self.line, column: self.column };
        for byte in &self.bytes[self.at..end] {
            match byte {
                b'\n' => (self.line, self.column) = (self.line + 1, 1),
                // Columns count characters, and these bytes do not begin one.
                0x80..0xc0 => {}
                _ => self.column += 1,
            }
        }
        self.at = end;
        span
    }
}
