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

/// Answers every line; empty ones are passed over. Memory is bounded by the longest line, of which hardly more than
/// `limit` bytes are ever held. Answers are flushed whenever no more input is at hand, so that a program on the other side
/// can wait for each.
pub(crate) fn answer_lines(
    lines: impl Read,
    limit: usize,
    out: &mut dyn Write,
    mut answer: impl FnMut(Line<'_>, &mut Vec<u8>),
) -> io::Result<()> {
    let mut lines = BufReader::with_capacity(1 << 16, lines);
    let (mut line, mut text) = (Vec::new(), Vec::new());
    while next_line(&mut lines, limit, &mut line)? {
        let content = line.trim_ascii();
        if content.is_empty() {
            continue;
        }
        text.clear();
        answer(if content.len() > limit { Line::TooLong(content) } else { Line::Whole(content) }, &mut text);
        text.push(b'\n');
        out.write_all(&text)?;
        if lines.buffer().is_empty() {
            out.flush()?;
        }
    }
    out.flush()
}

/// Reads a line, or as much of it as shows that it is too long. Gives `false` at the end of the stream.
fn next_line(lines: &mut BufReader<impl Read>, limit: usize, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let enough = limit as u64 + 2;
    let read = lines.by_ref().take(enough).read_until(b'\n', line)?;
    if read as u64 == enough && line.last() != Some(&b'\n') {
        lines.skip_until(b'\n')?;
    }
    Ok(read > 0)
}
