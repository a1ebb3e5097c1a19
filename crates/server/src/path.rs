//! Paths of requests, taken apart. What could mean one thing to us and another to somebody before us is refused.

use std::{borrow::Cow, iter};

use percent_encoding::percent_decode_str;

/// The segments of a path, decoded.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Segments {
    /// One after the other.
    text: String,
    /// Where each ends.
    ends: Vec<usize>,
}

/// The bytes that stand for themselves within a segment.
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = b'!';
    while byte <= b'~' {
        plain[byte as usize] = !matches!(byte, b'/' | b'\\' | b'%');
        byte += 1;
    }
    plain
};

/// What is wrong with a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BadPath {
    /// A segment is `.` or `..`, encoded or not.
    Dots,
    /// A segment has a slash or backslash in it, encoded.
    Slash,
    /// A segment is empty.
    Empty,
    /// A segment has a control character in it, or is no UTF-8.
    Unreadable,
    /// It does not begin with a slash.
    Relative,
}

impl Segments {
    /// The segments of a path that begins with `/`; one more slash at the end is nothing.
    pub(crate) fn of(path: &str) -> Result<Self, BadPath> {
        let path = path.strip_prefix('/').ok_or(BadPath::Relative)?;
        let path = path.strip_suffix('/').unwrap_or(path);
        let mut segments = Self { text: String::with_capacity(path.len()), ends: Vec::with_capacity(8) };
        if path.is_empty() {
            return Ok(segments);
        }
        let mut begin = 0;
        // Byte by byte: segments are too short for searches to pay off.
        let slashes = path.bytes().enumerate().filter(|(_, byte)| *byte == b'/').map(|(at, _)| at);
        for end in slashes.chain([path.len()]) {
            segments.push(&path[begin..end])?;
            begin = end + 1;
        }
        Ok(segments)
    }

    fn push(&mut self, segment: &str) -> Result<(), BadPath> {
        // Most segments say what they are.
        let is_plain = segment.bytes().all(|byte| PLAIN[usize::from(byte)]);
        let text = match is_plain {
            true => Cow::Borrowed(segment),
            false => percent_decode_str(segment).decode_utf8().map_err(|_| BadPath::Unreadable)?,
        };
        match &*text {
            "" => return Err(BadPath::Empty),
            "." | ".." => return Err(BadPath::Dots),
            text if !is_plain && text.contains(['/', '\\']) => return Err(BadPath::Slash),
            text if !is_plain && text.contains(char::is_control) => return Err(BadPath::Unreadable),
            text => self.text.push_str(text),
        }
        self.ends.push(self.text.len());
        Ok(())
    }

    /// The segments as texts.
    pub(crate) fn texts(&self) -> Vec<&str> {
        let begins = iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, end)| &self.text[begin..*end]).collect()
    }
}

impl BadPath {
    /// What to tell whoever sent it.
    pub(crate) fn message(self) -> &'static str {
        match self {
            Self::Dots => "the path has a segment that is '.' or '..'",
            Self::Slash => "a segment of the path has a slash or a backslash in it",
            Self::Empty => "the path has an empty segment",
            Self::Unreadable => "a segment of the path has a control character in it or is not UTF-8",
            Self::Relative => "the path does not begin with a slash",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segments(path: &str) -> Result<Vec<String>, BadPath> {
        Segments::of(path).map(|segments| segments.texts().into_iter().map(str::to_owned).collect())
    }

    #[test]
    fn segments_are_decoded_once() {
        assert_eq!(segments("/").unwrap(), Vec::<String>::new());
        assert_eq!(segments("/a/b%20c/").unwrap(), ["a", "b c"]);
        assert_eq!(segments("/a%252Fb").unwrap(), ["a%2Fb"], "what is decoded is not decoded again");
    }

    #[test]
    fn what_could_mean_something_else_to_somebody_is_refused() {
        for (path, problem) in [
            ("/a/../b", BadPath::Dots),
            ("/a/%2e%2E/b", BadPath::Dots),
            ("/a/.", BadPath::Dots),
            ("/a%2fb", BadPath::Slash),
            ("/a%5Cb", BadPath::Slash),
            ("/a//b", BadPath::Empty),
            ("/a%00", BadPath::Unreadable),
            ("/a%0ab", BadPath::Unreadable),
            ("/%ff", BadPath::Unreadable),
            ("", BadPath::Relative),
            ("*", BadPath::Relative),
        ] {
            assert_eq!(segments(path), Err(problem), "{path}");
        }
    }
}
