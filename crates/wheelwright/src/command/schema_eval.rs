//! `schema eval`: JSON lines in and out.

use std::io::{self, Read, Write};

use crate::{
    MAX_BYTES,
    eval::refuse_line,
    eval_line,
    lines::{Line, answer_lines},
};

/// Answers every line of a stream with [`eval_line`]; empty lines are passed over. Memory is bounded by the longest
/// line, of which more than [`MAX_BYTES`] are never held. Answers are flushed whenever no more input is at hand, so that
/// a program on the other side can wait for each.
///
/// # Errors
/// The stream cannot be read, or `out` cannot be written to.
pub fn schema_eval(lines: impl Read, out: &mut dyn Write) -> io::Result<()> {
    answer_lines(lines, MAX_BYTES, out, |_, line, answer| match line {
        Line::Whole(line) => eval_line(line, answer),
        Line::TooLong(start) => {
            refuse_line(start, &format!("the line is longer than the limit of {} MiB", MAX_BYTES >> 20), answer);
        }
    })
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
