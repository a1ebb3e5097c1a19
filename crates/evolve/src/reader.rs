//! Reading files that users write: values of the sort that is asked for, or a problem with the place.

use wheelwright_document::{Path, Span, Spanned, SpannedEntry};
use wheelwright_findings::{Rule, rules};
use wheelwright_schema::{Problem, closest_of};

use crate::{Located, Selector, VersionName};

/// Takes values out of a decoded file and writes down what is wrong with them, as much as anybody reads.
#[derive(Debug, Default)]
pub struct Reader {
    problems: Vec<Problem>,
    /// How much text is written down: a key can be as long as the file, and is part of every path below it.
    bytes: usize,
}

/// So many problems are enough to mend first.
const MOST_PROBLEMS: usize = 1000;

const MOST_BYTES: usize = 1 << 20;

/// Kubernetes allows no longer name for anything, and a name is repeated in every problem below it.
const LONGEST_NAME: usize = 253;

impl Reader {
    /// Nothing wrong yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// What is wrong, and that there is more if there may be.
    pub fn finish(mut self) -> Vec<Problem> {
        if self.is_full() {
            let message = "more is wrong with this file than can be written down: mend what is shown first";
            self.problems.push(Problem::ours(&rules::MALFORMED_CATALOG, &Path::Root, Span::default(), message));
        }
        self.problems
    }

    /// Writes a problem down and gives it back for details, unless there are enough.
    pub fn report(
        &mut self,
        rule: &'static Rule,
        path: &Path<'_>,
        span: Span,
        message: impl Into<String>,
    ) -> Option<&mut Problem> {
        if self.is_full() {
            return None;
        }
        let problem = Problem::ours(rule, path, span, message);
        self.bytes += problem.path.as_str().len();
        self.problems.push(problem);
        self.problems.last_mut()
    }

    /// Writes down that a value is of the wrong sort.
    pub fn wrong_sort(&mut self, value: &Spanned<'_>, path: &Path<'_>, expected: &str) {
        if !self.is_full() {
            let message = format!("expected {expected}, found {}", article(value.kind_name()));
            self.report(&rules::MALFORMED_CATALOG, path, value.span, message);
        }
    }

    /// Writes down that nobody knows a key, and which one is probably meant.
    pub fn unknown_key(&mut self, entry: &SpannedEntry<'_>, path: &Path<'_>, known: &[&str]) {
        if self.is_full() {
            return;
        }
        let message = format!("nobody knows the key {}", quoted(entry.key));
        let mend = match closest_of(known.iter().copied(), entry.key) {
            Some(meant) => format!("write {meant}, if that is what is meant"),
            None => format!("remove it, or write one of {}", known.join(", ")),
        };
        if let Some(problem) = self.report(&rules::UNKNOWN_CATALOG_KEY, path, entry.key_span, message) {
            problem.mend = Some(mend);
        }
    }

    /// A text that is not empty.
    pub fn text<'a>(&mut self, value: &Spanned<'a>, path: &Path<'_>, expected: &str) -> Option<Located<&'a str>> {
        match value.as_str() {
            Some(text) if !text.is_empty() => Some(Located { item: text, span: value.span }),
            Some(_) => {
                let message = format!("expected {expected}, found an empty text");
                self.report(&rules::MALFORMED_CATALOG, path, value.span, message);
                None
            }
            None => {
                self.wrong_sort(value, path, expected);
                None
            }
        }
    }

    /// The items of a list; none if nothing is written there.
    pub fn list<'a>(&mut self, value: &Spanned<'a>, path: &Path<'_>, expected: &str) -> &'a [Spanned<'a>] {
        if value.as_array().is_none() && !is_null(value) {
            self.wrong_sort(value, path, expected);
        }
        value.as_array().unwrap_or_default()
    }

    /// The entries of an object; none if nothing is written there.
    pub fn entries<'a>(&mut self, value: &Spanned<'a>, path: &Path<'_>, expected: &str) -> &'a [SpannedEntry<'a>] {
        if value.as_object().is_none() && !is_null(value) {
            self.wrong_sort(value, path, expected);
        }
        value.as_object().unwrap_or_default()
    }

    /// One of some words.
    pub fn choice<T: Copy>(
        &mut self,
        value: &Spanned<'_>,
        path: &Path<'_>,
        choices: &[(&str, T)],
    ) -> Option<Located<T>> {
        let words = || choices.iter().map(|(word, _)| *word);
        let expected = words().collect::<Vec<_>>().join(" or ");
        let text = self.text(value, path, &expected)?;
        let chosen = choices.iter().find(|(word, _)| *word == text.item).map(|(_, chosen)| *chosen);
        if chosen.is_none() {
            let message = format!("expected {expected}, found {}", quoted(text.item));
            let problem = self.report(&rules::MALFORMED_CATALOG, path, value.span, message);
            if let (Some(problem), Some(meant)) = (problem, closest_of(words(), text.item)) {
                problem.mend = Some(format!("write {meant}, if that is what is meant"));
            }
        }
        chosen.map(|item| Located { item, span: value.span })
    }

    /// A path to a field, from a value.
    pub fn selector(&mut self, value: &Spanned<'_>, path: &Path<'_>) -> Option<Located<Selector>> {
        let text = value.as_str();
        if text.is_none() {
            self.wrong_sort(value, path, "a path to a field, such as spec.ports[].name");
        }
        self.selector_in(text?, value.span, path)
    }

    /// A path to a field, from a text.
    pub fn selector_in(&mut self, text: &str, span: Span, path: &Path<'_>) -> Option<Located<Selector>> {
        match Selector::parse(text) {
            Ok(item) => Some(Located { item, span }),
            Err(error) => {
                let before = text.get(..error.at).unwrap_or_default().chars().count();
                let message = match text[before_byte(text, error.at)..].chars().next() {
                    Some(found) => format!(
                        "{} is no path to a field: at character {}, {found:?}, {}",
                        quoted(text),
                        before + 1,
                        error.message
                    ),
                    None => format!("{} is no path to a field: at its end, {}", quoted(text), error.message),
                };
                self.report(&rules::MALFORMED_PATH, path, span, message);
                None
            }
        }
    }

    /// The name of a version, from a value.
    pub fn version(&mut self, value: &Spanned<'_>, path: &Path<'_>) -> Option<Located<VersionName>> {
        let text = value.as_str();
        if text.is_none() {
            self.wrong_sort(value, path, "the name of a version in quotes, such as \"v1\"");
        }
        self.version_in(text?, value.span, path)
    }

    /// The name of a version, from a text.
    pub fn version_in(&mut self, text: &str, span: Span, path: &Path<'_>) -> Option<Located<VersionName>> {
        let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '.' | '_' | '+');
        if text.is_empty() || text.len() > LONGEST_NAME || !text.chars().all(is_allowed) {
            let message = format!("{} is no name of a version, such as v1beta1 or 2024-06-10", quoted(text));
            self.report(&rules::MALFORMED_CATALOG, path, span, message);
            return None;
        }
        Some(Located { item: VersionName::new(text), span })
    }

    /// The problems so far are as many as anybody reads.
    pub fn is_full(&self) -> bool {
        self.problems.len() >= MOST_PROBLEMS || self.bytes > MOST_BYTES
    }
}

/// Whether nothing is written there.
pub(crate) fn is_null(value: &Spanned<'_>) -> bool {
    value.as_scalar().is_some_and(|value| value.is_null())
}

/// A text as it is shown in a message: in quotes, and not all of it if it is long.
pub fn quoted(text: &str) -> String {
    const MOST: usize = 80;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{:?}", format!("{}…", &text[..end])),
        None => format!("{text:?}"),
    }
}

/// A place in a text where a character begins, at or before `at`.
fn before_byte(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at.min(text.len()))
}

fn article(kind: &str) -> String {
    match kind {
        "null" => "nothing".to_owned(),
        "array" | "object" | "integer" => format!("an {kind}"),
        kind => format!("a {kind}"),
    }
}
