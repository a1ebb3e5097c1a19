//! Words without quotes that kubectl reads as booleans, where the text may be meant.

use std::collections::HashSet;

use wheelwright_document::{Path, Span, Spanned, SpannedNode, Value};
use wheelwright_findings::{Finding, Rule};

use crate::Input;

/// A finding for every such word of a document: keys and values. JSON and YAML 1.2 have none.
pub(crate) fn findings(input: &Input, document: &Spanned<'_>, rule: &'static Rule) -> Vec<Finding> {
    let mut search = Search { input, rule, findings: Vec::new(), known: HashSet::new() };
    search.value(document, &Path::Root);
    let more = search.known.len() - search.findings.len();
    if let Some(last) = search.findings.last_mut().filter(|_| more > 0) {
        last.message += &format!("; there are {more} more of these words");
    }
    search.findings
}

/// As many as anybody mends one by one.
const MOST: usize = 100;

struct Search<'i> {
    input: &'i Input,
    rule: &'static Rule,
    findings: Vec<Finding>,
    /// Where words were found: what an alias repeats is written once.
    known: HashSet<Span>,
}

impl Search<'_> {
    fn value(&mut self, value: &Spanned<'_>, path: &Path<'_>) {
        match value.node {
            SpannedNode::Scalar(Value::Bool(meaning)) => self.found(value.span, meaning, path),
            SpannedNode::Scalar(_) => {}
            SpannedNode::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.value(item, &Path::Index(path, index));
                }
            }
            SpannedNode::Object(entries) => {
                for entry in entries {
                    let path = Path::Child(path, entry.key);
                    if matches!(entry.key, "true" | "false") {
                        self.found(entry.key_span, entry.key == "true", &path);
                    }
                    self.value(&entry.value, &path);
                }
            }
        }
    }

    /// Takes what was read as a boolean, if it was not written as one.
    fn found(&mut self, span: Span, meaning: bool, path: &Path<'_>) {
        let Some(word) = word_at(&self.input.bytes, span) else { return };
        if self.known.insert(span) && self.findings.len() < MOST {
            let message = format!("`{word}` without quotes is read as {meaning}, as kubectl does");
            let place = self.input.place(span);
            let mut finding = Finding::new(self.rule, message, path.to_field_path()).at(place);
            finding.mend = Some(format!("write \"{word}\" in quotes if the text is meant, or else {meaning}"));
            self.findings.push(finding);
        }
    }
}

/// The word at a place, perhaps behind an anchor. One with a tag is meant as what it is read as.
fn word_at(bytes: &[u8], span: Span) -> Option<&str> {
    const WORDS: [&str; 6] = ["y", "yes", "on", "n", "no", "off"];
    let written = std::str::from_utf8(bytes.get(span.start as usize..span.end as usize)?).ok()?;
    let word = written.split_whitespace().next_back().filter(|_| !written.starts_with('!'))?;
    WORDS.iter().any(|known| known.eq_ignore_ascii_case(word)).then_some(word)
}

#[cfg(test)]
mod tests {
    use wheelwright_document::Arena;
    use wheelwright_findings::rules;

    use super::*;

    /// Places, fields and messages.
    fn found(name: &str, text: &str) -> Vec<String> {
        let (arena, input) = (Arena::new(), Input::named(name, text));
        let (_, documents) = input.documents(&arena).unwrap();
        let found = documents.iter().flat_map(|document| findings(&input, document, &rules::WORD_READ_AS_BOOLEAN));
        let shown = found.map(|finding| {
            let span = finding.place.unwrap().span;
            format!("{}:{} {}: {}", span.line, span.column, finding.field, finding.message)
        });
        shown.collect()
    }

    #[test]
    fn keys_and_values_without_quotes_are_found() {
        let is = |word: &str, meaning| format!("`{word}` without quotes is read as {meaning}, as kubectl does");
        assert_eq!(
            found("a.yaml", "a: [NO, ü, On]\ny:\n  off: x\n"),
            [
                format!("1:5 a[0]: {}", is("NO", false)),
                format!("1:12 a[2]: {}", is("On", true)),
                format!("2:1 true: {}", is("y", true)),
                format!("3:3 true.false: {}", is("off", false)),
            ]
        );
        assert_eq!(found("a.yaml", "a: &a yes\nb: *a\n").len(), 1);
        assert_eq!(found("a.yaml", "a: &a {n: 1}\nb: {<<: *a}\nc: *a\n").len(), 1);
    }

    #[test]
    fn what_is_written_as_it_is_read_is_not() {
        for clean in ["a: true\nFALSE: False\n", "a: 'y'\n\"no\": \"on\"\n'true': 1\n", "a: !!bool yes\n", "a: yES\n"] {
            assert_eq!(found("a.yaml", clean), [""; 0], "{clean:?}");
        }
        assert_eq!(found("a.json", r#"{"y": true, "true": "y"}"#), [""; 0]);
        assert_eq!(found("a.yaml", "openapi: 3.0.3\ny: NO\n"), [""; 0]);
    }

    #[test]
    fn very_many_are_counted() {
        let found = found("a.yaml", &"- y\n".repeat(1000));
        assert_eq!(found.len(), MOST);
        assert!(found[MOST - 1].ends_with("; there are 900 more of these words"), "{}", found[MOST - 1]);
    }

    #[test]
    fn bad_examples_of_the_pages_have_such_words_and_good_ones_none() {
        for rule in [&rules::WORD_READ_AS_BOOLEAN, &rules::DOCUMENT_WORD_READ_AS_BOOLEAN] {
            let example = |heading: &str| {
                let section = rule.page.split_once(heading).unwrap().1;
                section.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap()
            };
            assert!(!found("a.yaml", example("## Bad")).is_empty(), "{}", rule.id);
            assert_eq!(found("a.yaml", example("## Good")), [""; 0], "{}", rule.id);
        }
    }
}
