//! From the parser's markers, which count characters, to bytes of the source.

use saphyr_parser::{Marker, ScalarStyle};

use crate::Span;

pub(super) struct Places<'a> {
    text: &'a str,
    /// The offset of every character, unless all of them are single bytes.
    offsets: Option<Vec<u32>>,
    /// The end of the text, where the parser's own line and column are not to be trusted.
    end: Span,
}

impl<'a> Places<'a> {
    /// The places of a text of less than 4 GiB.
    pub(super) fn new(text: &'a str) -> Self {
        let offsets = (!text.is_ascii()).then(|| text.char_indices().map(|(offset, _)| offset as u32).collect());
        Self { text, offsets, end: end_of(text) }
    }

    pub(super) fn characters(&self) -> usize {
        self.offsets.as_ref().map_or(self.text.len(), Vec::len)
    }

    /// The empty span at a marker.
    pub(super) fn at(&self, marker: &Marker) -> Span {
        let start = self.offset(marker);
        if start == self.end.start {
            return self.end;
        }
        Span { start, end: start, line: marker.line() as u32, column: marker.col() as u32 + 1 }
    }

    /// The span of a scalar, without the space and comments that the parser counts in. One that was left out has an
    /// empty span, behind the colon if there is one.
    pub(super) fn scalar(&self, span: saphyr_parser::Span, style: ScalarStyle, is_left_out: bool) -> Span {
        let mut place = self.at(&span.start);
        if is_left_out {
            if self.text[place.start as usize..].starts_with(':') {
                place.start += 1;
                place.column += 1;
            }
            place.end = place.start;
            return place;
        }
        let end = self.offset(&span.end);
        place.end = match style {
            ScalarStyle::Plain => end,
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => self.closing_quote(place.start as usize) as u32,
            ScalarStyle::Literal | ScalarStyle::Folded => {
                let written = &self.text[place.start as usize..end as usize];
                place.start + written.trim_end_matches([' ', '\t', '\r', '\n']).len() as u32
            }
        };
        place
    }

    /// The byte after the bracket that closes a flow collection; `None` for a collection that nothing closes.
    pub(super) fn closing_bracket(&self, span: saphyr_parser::Span) -> Option<u32> {
        let offset = self.offset(&span.start);
        let is_bracket = self.text[offset as usize..].starts_with([']', '}']);
        (!span.is_empty() && is_bracket).then_some(offset + 1)
    }

    fn offset(&self, marker: &Marker) -> u32 {
        match &self.offsets {
            None => (marker.index() as u32).min(self.end.start),
            Some(offsets) => offsets.get(marker.index()).copied().unwrap_or(self.end.start),
        }
    }

    /// The byte after a quoted scalar whose quotes, or the tag and anchor before them, start at `at`.
    fn closing_quote(&self, mut at: usize) -> usize {
        let bytes = self.text.as_bytes();
        let next = |at: usize, ends: &[u8]| {
            let mut rest = bytes.iter().enumerate().skip(at);
            rest.find(|(_, byte)| ends.contains(byte)).map_or(bytes.len(), |(at, _)| at)
        };
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'&' | b'!' => at = next(at, b" \t\r\n"),
                b'#' => at = next(at, b"\r\n"),
                b'"' => loop {
                    at = next(at + 1, b"\"\\");
                    match bytes.get(at) {
                        Some(b'\\') => at += 1,
                        _ => return (at + 1).min(bytes.len()),
                    }
                },
                b'\'' => loop {
                    at = next(at + 1, b"'") + 1;
                    if bytes.get(at) != Some(&b'\'') {
                        return at.min(bytes.len());
                    }
                },
                _ => at += 1,
            }
        }
        bytes.len()
    }
}

/// The empty span at the end of a text.
pub(super) fn end_of(text: &str) -> Span {
    let bytes = text.as_bytes();
    let is_break = |at: usize| bytes[at] == b'\n' || (bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n'));
    let breaks = (0..bytes.len()).filter(|at| is_break(*at));
    let (line, start) = breaks.fold((1, 0), |(line, _), at| (line + 1, at + 1));
    let last_line = text[start..].trim_start_matches('\u{feff}');
    let end = bytes.len() as u32;
    Span { start: end, end, line, column: last_line.chars().count() as u32 + 1 }
}
