//! The few lines of a source that a picture shows, so that no picture costs more than they do.

use std::ops::Range;

use wheelwright_document::Span;

/// How many bytes of a line are looked at on either side of where a place starts.
const REACH: usize = 400;
/// The most bytes that are underlined.
const WIDEST_UNDERLINE: usize = 80;
/// A line up to this many bytes is shown from end to end.
const WHOLE_LINE: usize = 120;
/// Places further apart than this many bytes have pictures of their own.
const NEAR: usize = 4096;

/// A place and as much of the source around it as may be shown.
#[derive(Clone, Debug)]
pub(super) struct Excerpt {
    /// The line the place starts on, or the part of it that is in reach.
    lines: Range<usize>,
    /// The place, up to the end of its first line: where a block starts says enough, and a block may be long.
    marked: Range<usize>,
    /// Whether the line is all there and short.
    whole: bool,
}

impl Excerpt {
    /// The excerpt for a place. A span that does not fit the text is moved to where it does.
    pub(super) fn new(text: &str, span: Span) -> Self {
        let start = text.floor_char_boundary(span.start as usize);
        let first_in_reach = text.floor_char_boundary(start.saturating_sub(REACH));
        let last_in_reach = text.ceil_char_boundary(start + REACH);
        let newline_before = text[first_in_reach..start].rfind('\n');
        let newline_after = text[start..last_in_reach].find('\n');
        let line_start = newline_before.map_or(first_in_reach, |position| first_in_reach + position + 1);
        let mut line_end = newline_after.map_or(last_in_reach, |position| start + position);
        if text[start..line_end].ends_with('\r') {
            line_end -= 1;
        }
        let widest = text.floor_char_boundary(start + WIDEST_UNDERLINE);
        let end = text.ceil_char_boundary(span.end as usize).min(line_end).min(widest).max(start);
        Self {
            lines: line_start..line_end,
            marked: start..end,
            whole: (newline_before.is_some() || first_in_reach == 0)
                && (newline_after.is_some() || last_in_reach == text.len())
                && line_end - line_start <= WHOLE_LINE,
        }
    }

    /// Whether this and a later excerpt of the same text fit into one picture.
    pub(super) fn is_near(&self, later: &Excerpt) -> bool {
        self.whole && later.whole && later.lines.end.saturating_sub(self.lines.start) <= NEAR
    }

    /// The text from this excerpt to a later one.
    pub(super) fn text_to<'t>(&self, later: &Excerpt, text: &'t str) -> &'t str {
        &text[self.lines.start..later.lines.end]
    }

    /// What is marked, counted from the start of another excerpt.
    pub(super) fn marked_from(&self, first: &Excerpt) -> Range<usize> {
        self.marked.start - first.lines.start..self.marked.end - first.lines.start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, span: Range<usize>) -> (&str, &str) {
        let excerpt = Excerpt::new(text, Span { start: span.start as u32, end: span.end as u32, line: 1, column: 1 });
        (excerpt.text_to(&excerpt, text), &text[excerpt.marked])
    }

    #[test]
    fn a_block_is_marked_on_its_first_line() {
        assert_eq!(shown("a:\n  b: c\n  d: e\n", 5..17), ("  b: c", "b: c"));
    }

    #[test]
    fn line_ends_are_not_part_of_a_line() {
        assert_eq!(shown("a: b\r\nc: d\r\n", 6..12), ("c: d", "c: d"));
        assert_eq!(shown("a: b\r\nc: d\r\n", 4..4), ("a: b", ""));
        assert_eq!(shown("a: b\r\nc: d\r\n", 5..5), ("a: b\r", ""));
        assert_eq!(shown("a: b\nc: d", 9..9), ("c: d", ""));
    }

    #[test]
    fn spans_that_do_not_fit_are_moved() {
        assert_eq!(shown("é", 1..1), ("é", "é"));
        assert_eq!(shown("é", 1..2), ("é", "é"));
        assert_eq!(shown("é", 70..90), ("é", ""));
        assert_eq!(shown("", 0..0), ("", ""));
    }

    #[test]
    fn a_long_line_is_cut() {
        let line = "ü".repeat(1 << 20);
        let (lines, marked) = shown(&line, 1 << 20..1 << 21);
        assert!(lines.len() <= 2 * REACH + 2 && marked.len() <= WIDEST_UNDERLINE);
    }
}
