//! JSON that has not been decoded yet: where the documents of a stream begin and end, and where a string does.

use wheelwright_document::{Arena, Span, Spanned, SpannedEntry, SpannedNode};

/// One document of a stream, and where it begins.
#[derive(Clone, Copy, Debug)]
pub struct Part<'b> {
    /// The document itself.
    pub bytes: &'b [u8],
    /// The empty span at its beginning.
    start: Span,
}

impl<'b> Part<'b> {
    /// A stream as a whole.
    pub fn whole(bytes: &'b [u8]) -> Self {
        Self { bytes, start: Span { start: 0, end: 0, line: 1, column: 1 } }
    }

    /// Where in the stream it begins.
    pub fn offset(&self) -> usize {
        self.start.start as usize
    }

    /// The place in the stream of a place in this part.
    pub fn place(&self, span: Span) -> Span {
        Span {
            start: self.start.start + span.start,
            end: self.start.start + span.end,
            line: self.start.line + span.line - 1,
            column: if span.line == 1 { self.start.column + span.column - 1 } else { span.column },
        }
    }

    /// A document that was decoded from this part, with its places in the stream.
    pub fn placed<'a>(&self, document: Spanned<'a>, arena: &'a Arena) -> Spanned<'a> {
        if self.offset() == 0 { document } else { self.moved(&document, arena) }
    }

    fn moved<'a>(&self, value: &Spanned<'a>, arena: &'a Arena) -> Spanned<'a> {
        let node = match value.node {
            SpannedNode::Scalar(scalar) => SpannedNode::Scalar(scalar),
            SpannedNode::Array(items) => {
                SpannedNode::Array(arena.slice_from(items.iter().map(|item| self.moved(item, arena))))
            }
            SpannedNode::Object(entries) => {
                SpannedNode::Object(arena.slice_from(entries.iter().map(|entry| SpannedEntry {
                    key: entry.key,
                    key_span: self.place(entry.key_span),
                    value: self.moved(&entry.value, arena),
                })))
            }
        };
        Spanned { span: self.place(value.span), node }
    }
}

/// The documents of a stream, one after the other, whether or not anything is between them; a byte order mark before
/// the first is passed over. What is no JSON is left for decoding to refuse.
pub fn parts(bytes: &[u8]) -> impl Iterator<Item = Part<'_>> {
    let mark = bytes.len() - without_byte_order_mark(bytes).len();
    let mut next = Span { start: mark as u32, end: 0, line: 1, column: 1 };
    std::iter::from_fn(move || {
        let rest = &bytes[next.start as usize..];
        let space = rest.iter().take_while(|byte| is_space(**byte)).count();
        pass(&mut next, &rest[..space]);
        let length = length_of_document(&rest[space..])?;
        let part = Part { bytes: &rest[space..space + length], start: Span { end: next.start, ..next } };
        pass(&mut next, part.bytes);
        Some(part)
    })
}

/// Some editors put one at the start of a file; it has no width and no meaning.
pub fn without_byte_order_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// The length, with both quotes, of the string that bytes begin with; `None` if nothing closes it.
pub fn string_length(bytes: &[u8]) -> Option<usize> {
    let mut is_escaped = false;
    let closing = bytes.iter().skip(1).position(|byte| {
        let closes = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        closes
    });
    closing.map(|position| position + 2)
}

/// Whether JSON passes over a byte.
pub fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

fn length_of_document(bytes: &[u8]) -> Option<usize> {
    Some(match bytes.first()? {
        b'"' => string_length(bytes).unwrap_or(bytes.len()),
        b'{' | b'[' => length_in_brackets(bytes),
        _ => {
            let ends = |byte: &u8| is_space(*byte) || matches!(byte, b'"' | b'{' | b'[');
            bytes.iter().skip(1).position(ends).map_or(bytes.len(), |position| position + 1)
        }
    })
}

fn length_in_brackets(bytes: &[u8]) -> usize {
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => match string_length(&bytes[at..]) {
                Some(length) => at += length - 1,
                None => break,
            },
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return at;
        }
    }
    bytes.len()
}

/// Moves a place over some bytes.
fn pass(place: &mut Span, bytes: &[u8]) {
    place.start += bytes.len() as u32;
    for byte in bytes {
        match byte {
            b'\n' => (place.line, place.column) = (place.line + 1, 1),
            // Columns count characters, and these bytes do not begin one.
            0x80..0xc0 => {}
            _ => place.column += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<(&str, u32, u32)> {
        let parts = parts(text.as_bytes());
        parts.map(|part| (str::from_utf8(part.bytes).unwrap(), part.start.line, part.start.column)).collect()
    }

    #[test]
    fn documents_end_where_their_brackets_and_quotes_close() {
        assert_eq!(split(" \n "), []);
        assert_eq!(split("{\"a\": \"}\"}"), [("{\"a\": \"}\"}", 1, 1)]);
        assert_eq!(split("[{}]\n {\n}{}"), [("[{}]", 1, 1), ("{\n}", 2, 2), ("{}", 3, 2)]);
        assert_eq!(split("\"ü\\\"\" 1 true[]"), [("\"ü\\\"\"", 1, 1), ("1", 1, 7), ("true", 1, 9), ("[]", 1, 13)]);
    }

    #[test]
    fn what_is_no_json_is_left_as_it_is() {
        assert_eq!(split("{\"a\": \"}"), [("{\"a\": \"}", 1, 1)]);
        assert_eq!(split("{} }x, {"), [("{}", 1, 1), ("}x,", 1, 4), ("{", 1, 8)]);
        assert_eq!(split("\""), [("\"", 1, 1)]);
    }

    #[test]
    fn a_byte_order_mark_has_no_width() {
        assert_eq!(split("\u{feff}{}"), [("{}", 1, 1)]);
        assert_eq!(split("\u{feff}"), []);
    }
}
