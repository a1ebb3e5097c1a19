//! Streams in which every line is a question and has a line for an answer.

use std::io::{self, BufRead, BufReader, Read, Write};

/// A line without its end and the space around it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Line<'l> {
    /// All of it.
    Whole(&'l [u8]),
    /// It is longer than the limit, and this is how it begins.
    TooLong(&'l [u8]),
}

/// Answers every line, which it is told the number of; empty ones are passed over. Memory is bounded by the longest line, of which hardly more than
/// `limit` bytes are ever held. Answers are flushed whenever no more input is at hand, so that a program on the other
/// side can wait for each.
pub(crate) fn answer_lines(
    lines: impl Read,
    limit: usize,
    out: &mut dyn Write,
    mut answer: impl FnMut(usize, Line<'_>, &mut Vec<u8>),
) -> io::Result<()> {
    let mut lines = BufReader::with_capacity(1 << 16, lines);
    let (mut line, mut text) = (Vec::new(), Vec::new());
    let mut number = 0;
    while let Some(is_whole) = next_line(&mut lines, limit, &mut line)? {
        number += 1;
        let content = line.trim_ascii();
        if content.is_empty() && is_whole {
            continue;
        }
        text.clear();
        let is_short = is_whole && content.len() <= limit;
        answer(number, if is_short { Line::Whole(content) } else { Line::TooLong(content) }, &mut text);
        text.push(b'\n');
        out.write_all(&text)?;
        if lines.buffer().is_empty() {
            out.flush()?;
        }
    }
    out.flush()
}

/// Reads a line and says whether all of it was, or only as much as shows that it is too long. Gives `None` at the end
/// of the stream.
fn next_line(lines: &mut BufReader<impl Read>, limit: usize, line: &mut Vec<u8>) -> io::Result<Option<bool>> {
    line.clear();
    let enough = limit as u64 + 2;
    let read = lines.by_ref().take(enough).read_until(b'\n', line)?;
    let is_whole = (read as u64) < enough || line.last() == Some(&b'\n');
    if !is_whole {
        lines.skip_until(b'\n')?;
    }
    Ok((read > 0).then_some(is_whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(lines: &str) -> Vec<String> {
        let mut out = Vec::new();
        let answer = |number: usize, line: Line<'_>, text: &mut Vec<u8>| {
            text.extend(format!("{number} ").bytes());
            match line {
                Line::Whole(line) => text.extend_from_slice(line),
                Line::TooLong(start) => text.extend([b"long ", start].concat()),
            }
        };
        answer_lines(lines.as_bytes(), 4, &mut out, answer).unwrap();
        String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn every_line_but_empty_ones_has_an_answer() {
        assert_eq!(answers("a\n\n  \r\n b \r\nabcd"), ["1 a", "4 b", "5 abcd"]);
        assert!(answers("").is_empty());
    }

    #[test]
    fn a_line_is_never_cut_and_taken_for_whole() {
        assert_eq!(answers("abcde\nabcdefgh\nx\n"), ["1 long abcde", "2 long abcdef", "3 x"]);
        assert_eq!(answers("       a\na      b\nx"), ["1 long ", "2 long a", "3 x"]);
    }
}
