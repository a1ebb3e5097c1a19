//! The comments of a YAML text, which are no part of its documents.

use saphyr_parser::{Event, Parser, ScalarStyle};

use super::places::Places;
use crate::Span;

/// A comment in a YAML text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Comment<'t> {
    /// From the `#` to the end of the line.
    pub span: Span,
    /// What follows the `#`.
    pub text: &'t str,
    /// Whether nothing stands before it on its line.
    pub is_alone: bool,
}

/// Every comment of a YAML text that can be parsed, in the order they are written; none of a text that cannot.
///
/// A `#` in a string is no comment, however the string is written. A comment between a tag or an anchor and the value
/// it belongs to is passed over.
pub fn yaml_comments(text: &str) -> Vec<Comment<'_>> {
    if !text.contains('#') || text.len() >= u32::MAX as usize {
        return Vec::new();
    }
    let places = Places::new(text);
    let mut scan = Scan { text, at: 0, line: 1, line_start: 0, comments: Vec::new() };
    for event in Parser::new_from_str(text) {
        match event {
            Ok((Event::Scalar(value, style, ..), span)) => {
                let is_left_out = value.is_empty() && style == ScalarStyle::Plain;
                let place = places.scalar(span, style, is_left_out);
                if !is_left_out {
                    scan.comments_up_to(place.start as usize);
                    scan.skip_to(place.end as usize);
                }
            }
            Ok(_) => {}
            Err(_) => return Vec::new(),
        }
    }
    scan.comments_up_to(text.len());
    scan.comments
}

/// Goes through a text once, from scalar to scalar.
struct Scan<'t> {
    text: &'t str,
    at: usize,
    line: u32,
    line_start: usize,
    comments: Vec<Comment<'t>>,
}

impl Scan<'_> {
    /// Collects the comments before an offset; between here and there is no scalar.
    fn comments_up_to(&mut self, end: usize) {
        let bytes = self.text.as_bytes();
        while let Some(found) = bytes.get(self.at..end).and_then(|gap| gap.iter().position(|byte| *byte == b'#')) {
            let start = self.at + found;
            self.skip_to(start);
            let is_comment = matches!(start.checked_sub(1).map(|before| bytes[before]), None | Some(b' ' | b'\t'))
                || start == self.line_start
                || self.text[self.line_start..start] == *"\u{feff}";
            if !is_comment {
                self.skip_to(start + 1);
                continue;
            }
            let length = self.text[start..].find(['\n', '\r']).unwrap_or(self.text.len() - start);
            let before = self.text[self.line_start..start].trim_start_matches('\u{feff}');
            let column = before.chars().count() as u32 + 1;
            self.comments.push(Comment {
                span: Span { start: start as u32, end: (start + length) as u32, line: self.line, column },
                text: &self.text[start + 1..start + length],
                is_alone: before.bytes().all(|byte| matches!(byte, b' ' | b'\t')),
            });
            self.skip_to(start + length);
        }
        self.skip_to(end);
    }

    /// Goes to an offset, counting lines.
    fn skip_to(&mut self, end: usize) {
        let bytes = self.text.as_bytes();
        for at in self.at..end {
            if bytes[at] == b'\n' || (bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n')) {
                self.line += 1;
                self.line_start = at + 1;
            }
        }
        self.at = self.at.max(end);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Arena, Decode, decode_yaml, encode};

    fn found(text: &str) -> Vec<(u32, u32, &str, bool)> {
        let comments = yaml_comments(text).into_iter();
        comments
            .map(|comment| {
                assert_eq!(&text[comment.span.start as usize + 1..comment.span.end as usize], comment.text);
                (comment.span.line, comment.span.column, comment.text, comment.is_alone)
            })
            .collect()
    }

    #[test]
    fn comments_are_found_where_they_are() {
        let text = "# top\r\na: 1 # behind\n\n  # indented\nb:   #left out\n- [x, # flow\n y]#no\n";
        assert_eq!(
            found(&text.replace("b:   #left out\n- [x", "b: [x").replace("]#no", "] #end")),
            [
                (1, 1, " top", true),
                (2, 6, " behind", false),
                (4, 3, " indented", true),
                (5, 8, " flow", false),
                (6, 5, "end", false),
            ]
        );
        assert_eq!(found("a:   #left out\nb: 1"), [(1, 6, "left out", false)]);
        assert_eq!(found("\u{feff}# a\nü: é # ß\n"), [(1, 1, " a", true), (2, 6, " ß", false)]);
        assert_eq!(
            found("- # item\n  a: 1\n---\n# second\nb: 1\n..."),
            [(1, 3, " item", false), (4, 1, " second", true)]
        );
    }

    #[test]
    fn strings_are_no_comments() {
        assert!(found("a: 'x # y'\nb: \"x # \\\" # z\"\nc: x#y\nd: 'it''s # not'\n").is_empty());
        assert!(found("a: \"x\n  # y\n  z\"\n").is_empty());
        assert!(found("\"# key\": 1\n").is_empty());
        assert_eq!(found("a: |\n  # text\n  more # text\n# comment\nb: >-\n  # text\n"), [(4, 1, " comment", true)]);
        assert_eq!(found("a: |  # header\n  # text\nb: 1\n"), [(1, 7, " header", false)]);
        assert_eq!(found("a: 'x' # y\nb: \"x\" # 'y\nc: z # y\n").len(), 3);
    }

    #[test]
    fn a_text_that_cannot_be_parsed_has_none() {
        assert!(found("# a\n{").is_empty());
        assert!(found("").is_empty());
    }

    #[test]
    fn many_comments_take_no_long_time() {
        assert_eq!(yaml_comments(&format!("- a{}", "# # \n".repeat(1 << 18))).len(), 1 << 18);
        assert_eq!(yaml_comments(&"- a # c\n".repeat(1 << 18)).len(), 1 << 18);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn what_comments_say_is_in_no_document(
            text in "((  ){0,2}([ab]:|-|'|\"|[|>][+-]?|&a|!!str|\\*a|#|[xé]|\\[|\\]|\\{|\\}|,| |\n|\r\n|---\n){1,5}( ?# ?x)?\n?){0,8}",
        ) {
            let documents = |text: &str| -> Option<Vec<Vec<u8>>> {
                let arena = Arena::new();
                let documents = decode_yaml(text.as_bytes(), &arena, &Decode::default()).ok()?;
                Some(documents.iter().map(|document| encode(document.to_value(&arena))).collect())
            };
            if let Some(expected) = documents(&text) {
                let mut changed = text.clone();
                for comment in yaml_comments(&text).iter().rev() {
                    changed.replace_range(comment.span.start as usize + 1..comment.span.end as usize, "other");
                }
                prop_assert_eq!(documents(&changed), Some(expected), "{:?}", changed);
            }
        }
    }
}
