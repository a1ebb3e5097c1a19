//! From a part of a text back to where it was written: scalars have quotes, escapes, indentation and folds.

use std::ops::Range;

use wheelwright_document::Span;

/// A text and which bytes of it are meant.
pub(crate) type Part = (Box<str>, Range<u32>);

/// The place of a part of the text that was written as `scalar`; none if it was written in a way that cannot be
/// followed, as behind an alias.
pub(crate) fn place_of_part(source: &[u8], scalar: Span, (text, part): &Part) -> Option<Span> {
    let written = source.get(scalar.start as usize..scalar.end as usize)?;
    let written = std::str::from_utf8(written).ok()?;
    let range = readings(written).find_map(|letters| follow(letters, text, part))?;
    Some(within(scalar, written, range))
}

/// How the letters of a scalar are written.
#[derive(Clone, Copy)]
enum Manner {
    /// As they are: plain, and in blocks.
    Plain,
    SingleQuoted,
    DoubleQuoted,
}

/// The letters that something written stands for, with where each is.
#[derive(Clone)]
struct Letters<'w> {
    written: &'w str,
    at: usize,
    manner: Manner,
}

impl Iterator for Letters<'_> {
    type Item = (Range<usize>, char);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = &self.written[self.at..];
        let first = rest.chars().next()?;
        let (letter, length) = match (self.manner, first) {
            (Manner::SingleQuoted, '\'') if rest.starts_with("''") => (first, 2),
            (Manner::SingleQuoted, '\'') | (Manner::DoubleQuoted, '"') => return None,
            (Manner::DoubleQuoted, '\\') => escaped(rest)?,
            _ => (first, first.len_utf8()),
        };
        let start = self.at;
        self.at += length;
        Some((start..self.at, letter))
    }
}

/// Every way to read a scalar, the likeliest first. A block may be given with its header or without, and then begin with
/// what elsewhere is a quote or a tag; only one of the ways yields the text.
fn readings(written: &str) -> impl Iterator<Item = Letters<'_>> {
    let starts = [0, written.len() - without_properties(written).len()];
    starts.into_iter().flat_map(move |start| {
        let rest = &written[start..];
        let letters = |skipped, manner| Letters { written, at: start + skipped, manner };
        let marked = match rest.chars().next() {
            Some('\'') => Some(letters(1, Manner::SingleQuoted)),
            Some('"') => Some(letters(1, Manner::DoubleQuoted)),
            Some('|' | '>') => rest.find(['\n', '\r']).map(|header| letters(header, Manner::Plain)),
            _ => None,
        };
        marked.into_iter().chain([letters(0, Manner::Plain)])
    })
}

/// What follows the tag and the anchor of a scalar, and the comments between them.
fn without_properties(written: &str) -> &str {
    let mut rest = written;
    loop {
        rest = rest.trim_start();
        let end: &[char] = match rest.chars().next() {
            Some('&' | '!') => &[' ', '\t', '\n', '\r'],
            Some('#') => &['\n', '\r'],
            _ => return rest,
        };
        rest = rest.find(end).map_or("", |end| &rest[end..]);
    }
}

/// The letter that an escape stands for, in YAML or JSON, and its length.
fn escaped(rest: &str) -> Option<(char, usize)> {
    let letter = rest[1..].chars().next()?;
    let number = |start: usize, digits: usize| u32::from_str_radix(rest.get(start..start + digits)?, 16).ok();
    let numbered = |code| char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
    Some(match letter {
        'x' => (numbered(number(2, 2)?), 4),
        'u' => match (number(2, 4)?, rest.get(6..8)) {
            // JSON writes what does not fit into four digits as two.
            (high @ 0xd800..0xdc00, Some("\\u")) => {
                let low = number(8, 4)?.wrapping_sub(0xdc00);
                (numbered(0x10000 + ((high - 0xd800) << 10) + (low & 0x3ff)), 12)
            }
            (code, _) => (numbered(code), 6),
        },
        'U' => (numbered(number(2, 8)?), 10),
        _ => (simple(letter), 1 + letter.len_utf8()),
    })
}

fn simple(letter: char) -> char {
    match letter {
        '0' => '\0',
        'a' => '\u{7}',
        'b' => '\u{8}',
        't' => '\t',
        'n' => '\n',
        'v' => '\u{b}',
        'f' => '\u{c}',
        'r' => '\r',
        'e' => '\u{1b}',
        'N' => '\u{85}',
        '_' => '\u{a0}',
        'L' => '\u{2028}',
        'P' => '\u{2029}',
        itself => itself,
    }
}

/// Where a part of a text is among letters, if they are the letters of the text. Space does not count: indentation is
/// no part of the text, and folds change line breaks.
fn follow(letters: Letters<'_>, text: &str, part: &Range<u32>) -> Option<Range<usize>> {
    let mut letters = letters.filter(|(_, letter)| !letter.is_whitespace());
    let (mut start, mut end) = (None, 0);
    for (at, expected) in text.char_indices().filter(|(_, letter)| !letter.is_whitespace()) {
        let (range, letter) = letters.next()?;
        if letter != expected {
            return None;
        }
        if at >= part.start as usize {
            start = start.or(Some(range.start));
        }
        if at < part.end as usize {
            end = range.end;
        }
    }
    let start = start.unwrap_or(end);
    letters.next().is_none().then_some(start..end.max(start))
}

/// The span of a range of what was written at a span.
fn within(scalar: Span, written: &str, range: Range<usize>) -> Span {
    let before = &written[..range.start];
    let is_break = |at: usize| match before.as_bytes()[at] {
        b'\n' => true,
        b'\r' => before.as_bytes().get(at + 1) != Some(&b'\n'),
        _ => false,
    };
    let breaks = (0..before.len()).filter(|at| is_break(*at));
    let (lines, line_start) = breaks.fold((0, None), |(lines, _), at| (lines + 1, Some(at + 1)));
    let characters = before[line_start.unwrap_or(0)..].chars().count() as u32;
    Span {
        start: scalar.start + range.start as u32,
        end: scalar.start + range.end as u32,
        line: scalar.line + lines,
        column: if line_start.is_some() { 1 } else { scalar.column } + characters,
    }
}

#[cfg(test)]
mod tests {
    use wheelwright_document::{Arena, Decode, SpannedNode, decode_json_spanned, decode_yaml};

    use super::*;

    /// Line, column and source of the word `here` of a text, of which there is only one; none if it cannot be found.
    fn place(source: &str) -> Option<(u32, u32, &str)> {
        let arena = Arena::new();
        let documents = match source.starts_with('{') {
            true => vec![decode_json_spanned(source.as_bytes(), &arena, &Decode::default()).unwrap()],
            false => decode_yaml(source.as_bytes(), &arena, &Decode::default()).unwrap(),
        };
        let rule = documents[0].as_object().unwrap().last().unwrap().value;
        let SpannedNode::Scalar(value) = rule.node else { panic!("{source:?} ends with no scalar") };
        let text = value.as_str().unwrap();
        let at = text.find("here").unwrap() as u32;
        let place = place_of_part(source.as_bytes(), rule.span, &(text.into(), at..at + 4))?;
        Some((place.line, place.column, &source[place.start as usize..place.end as usize]))
    }

    #[test]
    fn every_way_to_write_a_scalar_can_be_followed() {
        let is = |source: &str| {
            let before = &source[..source.rfind("here").unwrap()];
            let line = before.rsplit('\n').next().unwrap();
            let (lines, columns) = (before.matches('\n').count() + 1, line.chars().count() + 1);
            assert_eq!(place(source), Some((lines as u32, columns as u32, "here")), "{source:?}");
        };
        is("a: ü == here\n");
        is("a:\n  x\n  == here # comment\n");
        is("a: !!str &anchor x == here\n");
        is("a: 'it''s ü' # comment\nb: 'it''s here'\n");
        is("a: !!str # why\n  'it''s here'\n");
        is("a: \"\\\"ü\\\" \\x41\\u0042\\U00000043\\t\\/\\_ here\"\n");
        is("a: \"x \\\n  \\  y\n\n  here\"\n");
        is("a: |\n  x\n    ü here\n");
        is("a: |2-  # comment\n    'x\n\n  here'\n");
        is("a: >-\n  x\n  y\n\n    z here\n  w\n");
        is("a: &anchor\n  # why\n  >+\n  !x here\n\n");
        is("a: |\r\n  x\r\n  here\r\n");
        is("a: |\n  \"x\" == '''y''' + \"\\n\" + here\n");
        is("a: |\n  > here\n");
        is("{\"a\": \"\\ud83d\\ude00 \\u00e4 here\"}");
        is("{\n\"a\": \"\\\"\\n\\\\here\"}");
    }

    #[test]
    fn parts_may_be_written_as_escapes() {
        assert_eq!(place("a: \"x \\u0068ere\""), Some((1, 7, "\\u0068ere")));
        assert_eq!(place("a: >-\n  'x\n  here'\n"), Some((3, 3, "here")));
    }

    #[test]
    fn what_cannot_be_followed_has_no_place() {
        assert_eq!(place("a: &x x here\nb: *x\n"), None);
        let scalar = Span { start: 0, end: 5, line: 1, column: 1 };
        let is_lost = |source: &[u8], text: &str| place_of_part(source, scalar, &(text.into(), 0..1)).is_none();
        assert!(is_lost(b"other", "text"));
        assert!(is_lost(b"texts", "text"));
        assert!(is_lost(b"text", "text"));
        assert!(is_lost(b"\"\\u00", "text"));
        assert!(is_lost(b"tex\xff\xff", "text"));
    }

    #[test]
    fn the_end_of_a_text_is_behind_its_last_letter() {
        let scalar = Span { start: 3, end: 11, line: 4, column: 4 };
        let place = |part| place_of_part(b"a: 'x ==  ' # b", scalar, &("x ==  ".into(), part)).unwrap();
        assert_eq!(place(6..6), Span { start: 8, end: 8, line: 4, column: 9 });
        assert_eq!(place(2..2), Span { start: 6, end: 6, line: 4, column: 7 });
    }
}
