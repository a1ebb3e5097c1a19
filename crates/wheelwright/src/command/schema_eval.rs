//! `schema eval`: JSON lines in and out.

use std::io::{self, BufRead, BufReader, Read, Write};

use crate::{MAX_BYTES, eval::refuse_line, eval_line};

/// Answers every line of a stream with [`eval_line`]; empty lines are passed over. Memory is bounded by the longest
/// line, of which more than [`MAX_BYTES`] are never held. Answers are flushed whenever no more input is at hand, so that
/// a program on the other side can wait for each.
///
/// # Errors
/// The stream cannot be read, or `out` cannot be written to.
pub fn schema_eval(lines: impl Read, out: &mut dyn Write) -> io::Result<()> {
    let mut lines = BufReader::with_capacity(1 << 16, lines);
    let (mut line, mut answer) = (Vec::new(), Vec::new());
    while next_line(&mut lines, &mut line)? {
        let content = line.trim_ascii();
        if content.is_empty() {
            continue;
        }
        answer.clear();
        if content.len() > MAX_BYTES {
            let limit = MAX_BYTES >> 20;
            refuse_line(content, &format!("the line is longer than the limit of {limit} MiB"), &mut answer);
        } else {
            eval_line(content, &mut answer);
        }
        answer.push(b'\n');
        out.write_all(&answer)?;
        if lines.buffer().is_empty() {
            out.flush()?;
        }
    }
    out.flush()
}

/// Reads a line, or as much of it as shows that it is too long. Gives `false` at the end of the stream.
fn next_line(lines: &mut BufReader<impl Read>, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let enough = MAX_BYTES as u64 + 2;
    let read = lines.by_ref().take(enough).read_until(b'\n', line)?;
    if read as u64 == enough && line.last() != Some(&b'\n') {
        lines.skip_until(b'\n')?;
    }
    Ok(read > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eval(lines: impl Read) -> Vec<String> {
        let mut out = Vec::new();
        schema_eval(lines, &mut out).unwrap();
        String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_line_that_cannot_be_read_does_not_end_the_run() {
        let lines = b"nonsense\n\n{\"id\": 1, \"schema\": {\"type\": \"object\"}, \"object\": {}}";
        let answers = eval(&lines[..]);
        assert_eq!(answers.len(), 2);
        assert!(answers[0].starts_with(r#"{"id":null,"error":"#), "{}", answers[0]);
        assert!(answers[1].starts_with(r#"{"id":1,"structural_errors":[]"#), "{}", answers[1]);
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped() {
        let long = io::repeat(b'x').take(MAX_BYTES as u64 + 100);
        let answers = eval(long.chain(&b"\n{\"id\": 2}\n"[..]));
        assert_eq!(answers[0], r#"{"id":null,"error":"the line is longer than the limit of 64 MiB"}"#);
        assert_eq!(answers[1], r#"{"id":2,"error":"neither schema nor crd is given"}"#);
    }
}
