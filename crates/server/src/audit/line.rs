//! A line of the audit log as JSON.

use std::time::SystemTime;

use jiff::Timestamp;
use wheelwright_document::{Arena, Entry, Number, Value, encode};

/// The most bytes of a text in a line, as they are written: a line always fits into the 4 KiB that a pipe takes at once.
const LONGEST_TEXT: usize = 512;
/// The same for texts that have no reason to be long.
const LONGEST_WORD: usize = 160;
/// The beginning of every line.
pub(super) const START: &[u8] = b"{\"time\":\"";
/// What stands for the rest of a text that is cut.
const CUT: &str = "…";

/// The fields of a line, in the order in which they are written.
pub(super) struct Line<'a> {
    arena: &'a Arena,
    entries: Vec<Entry<'a>>,
}

impl<'a> Line<'a> {
    /// A line of this moment.
    pub(super) fn new(stage: &'static str, arena: &'a Arena) -> Self {
        let mut line = Self { arena, entries: Vec::with_capacity(24) };
        line.word("time", Some(&now()));
        line.word("stage", Some(stage));
        line
    }

    /// Adds a text, cut if it is long.
    pub(super) fn text(&mut self, key: &'static str, text: Option<&str>) {
        self.cut(key, text, LONGEST_TEXT);
    }

    /// Adds a text that is expected to be short.
    pub(super) fn word(&mut self, key: &'static str, text: Option<&str>) {
        self.cut(key, text, LONGEST_WORD);
    }

    pub(super) fn number(&mut self, key: &'static str, number: Option<u64>) {
        let Some(number) = number else { return };
        let number = Number::new(self.arena.text(&number.to_string())).map(Value::Number);
        self.entries.extend(number.map(|value| Entry { key, value }));
    }

    pub(super) fn truth(&mut self, key: &'static str, value: Option<bool>) {
        self.entries.extend(value.map(|value| Entry { key, value: Value::Bool(value) }));
    }

    /// The line with its end.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = encode(Value::Object(&self.entries));
        bytes.push(b'\n');
        bytes
    }

    fn cut(&mut self, key: &'static str, text: Option<&str>, most: usize) {
        let Some(text) = text else { return };
        let value = match fitting(text, most) {
            end if end == text.len() => self.arena.text(text),
            end => self.arena.text(&format!("{}{CUT}", &text[..end])),
        };
        self.entries.push(Entry { key, value: Value::string(value) });
    }
}

/// How much of a text takes at most so many bytes in JSON.
fn fitting(text: &str, most: usize) -> usize {
    let mut written = 0;
    for (at, character) in text.char_indices() {
        written += match character {
            '"' | '\\' => 2,
            control if control.is_control() => 6,
            other => other.len_utf8(),
        };
        if written > most {
            return at;
        }
    }
    text.len()
}

/// This moment in UTC, with microseconds.
fn now() -> String {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let microseconds = i64::try_from(since_1970.as_micros()).unwrap_or_default();
    format!("{:.6}", Timestamp::from_microsecond(microseconds).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_by_the_bytes_they_take() {
        for (text, most, expected) in
            [("abc", 3, 3), ("abcd", 3, 3), ("a\"b", 3, 2), ("\u{1}\u{1}", 6, 1), ("ééé", 4, 4), ("", 0, 0)]
        {
            assert_eq!(fitting(text, most), expected, "{text:?}");
        }
        let (arena, long) = (Arena::new(), "\u{1}\"é\n".repeat(1_000));
        let mut line = Line::new("done", &arena);
        line.text("name", Some(&long));
        let line = String::from_utf8(line.bytes()).unwrap();
        assert!(line.len() < LONGEST_TEXT + 100 && line.ends_with("…\"}\n"), "{line}");
        assert_eq!(line.matches('\n').count(), 1);
        assert!(line.as_bytes().starts_with(START), "{line}");
    }
}
