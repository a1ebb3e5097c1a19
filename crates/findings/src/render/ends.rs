//! Where spans end, as lines and characters, for formats that want both ends.

use std::collections::HashMap;

use crate::{Place, Sources};

/// The line and the column behind the last character of a place, both from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct End {
    pub(super) line: u32,
    pub(super) column: u32,
}

/// Finds ends fast, however many are asked for in one file and however long its lines are.
pub(super) struct Ends<'s> {
    sources: &'s Sources,
    counted: HashMap<&'s str, Counted<'s>>,
}

impl<'s> Ends<'s> {
    pub(super) fn new(sources: &'s Sources) -> Self {
        Self { sources, counted: HashMap::new() }
    }

    /// Where a place ends; its start if the file is not at hand.
    pub(super) fn of(&mut self, place: &'s Place) -> End {
        let span = place.span;
        let Some(text) = self.sources.get(&place.file) else {
            return End { line: span.line, column: span.column };
        };
        let counted = self.counted.entry(&place.file).or_insert_with(|| Counted::new(text));
        let (start, end) = (counted.at(span.start), counted.at(span.end.max(span.start)));
        let column = match end.line - start.line {
            0 => span.column + (end.characters - start.characters),
            _ => end.characters - end.characters_before_line + 1,
        };
        End { line: span.line + (end.line - start.line), column }
    }
}

/// After so many bytes it is noted how many characters there were.
const STEP: usize = 1 << 10;

/// The lines and characters of a text.
struct Counted<'s> {
    text: &'s str,
    /// The offset of every line.
    lines: Vec<u32>,
    /// How many characters start before every so many bytes.
    characters: Vec<u32>,
}

/// What comes before an offset.
struct Before {
    line: u32,
    characters: u32,
    characters_before_line: u32,
}

impl<'s> Counted<'s> {
    fn new(text: &'s str) -> Self {
        let bytes = text.as_bytes();
        let newlines = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let lines = std::iter::once(0).chain(newlines.map(|(at, _)| at as u32 + 1)).collect();
        let characters = bytes.chunks(STEP).scan(0, |sum, step| Some(std::mem::replace(sum, *sum + starts(step))));
        Self { text, lines, characters: characters.collect() }
    }

    fn at(&self, offset: u32) -> Before {
        let line = self.lines.partition_point(|start| *start <= offset).saturating_sub(1);
        let line_start = self.lines.get(line).copied().unwrap_or_default();
        Before {
            line: line as u32,
            characters: self.characters_before(offset),
            characters_before_line: self.characters_before(line_start),
        }
    }

    fn characters_before(&self, offset: u32) -> u32 {
        let offset = (offset as usize).min(self.text.len());
        let step = (offset / STEP).min(self.characters.len().saturating_sub(1));
        let noted = self.characters.get(step).copied().unwrap_or_default();
        noted + starts(&self.text.as_bytes()[step * STEP..offset])
    }
}

/// How many characters start in some bytes.
fn starts(bytes: &[u8]) -> u32 {
    bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count() as u32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use wheelwright_document::Span;

    use super::*;

    proptest! {
        #[test]
        fn ends_are_where_counting_says(lines in prop::collection::vec("[aé漢😀]{0,600}", 1..6), from: u16, to: u16) {
            let text = lines.join("\n");
            let boundary = |at: u16| text.floor_char_boundary(at as usize % (text.len() + 1));
            let (start, end) = (boundary(from).min(boundary(to)), boundary(from).max(boundary(to)));
            let counted = |offset: usize| {
                let line = text[..offset].matches('\n').count() as u32 + 1;
                let last = text[..offset].rsplit('\n').next().unwrap();
                End { line, column: last.chars().count() as u32 + 1 }
            };
            let End { line, column } = counted(start);
            let place = Place::new("a", Span { start: start as u32, end: end as u32, line, column });
            let sources = Sources::from_iter([("a", text.as_str())]);
            prop_assert_eq!(Ends::new(&sources).of(&place), counted(end));
        }
    }

    #[test]
    fn spans_that_do_not_fit_do_no_harm() {
        let sources = Sources::from_iter([("a", "é\n"), ("empty", "")]);
        for (file, start, end) in [("a", 1, 900), ("a", 900, 1), ("empty", 0, 5), ("gone", 3, 4)] {
            let place = Place::new(file, Span { start, end, line: 1, column: 1 });
            assert!(Ends::new(&sources).of(&place).line >= 1);
        }
    }
}
