//! What commands read: named bytes that hold documents in YAML or JSON.

use std::{error::Error, fmt, io};

use wheelwright_document::{
    Arena, Decode, DecodeError, DecodeErrorKind, DuplicateKeys, FieldPath, Path, Span, Spanned, YamlError,
    YamlErrorKind, decode_json_spanned, decode_yaml,
};
use wheelwright_findings::{Finding, Place, rules};

use crate::place;

/// The largest file or line that is looked at. A file may hold many documents and definitions, so it may be far larger
/// than what Kubernetes takes in one request.
pub const MAX_BYTES: usize = 64 << 20;

const LIMITS: Decode = Decode { max_bytes: MAX_BYTES, max_depth: 512, duplicate_keys: DuplicateKeys::Refuse };

/// A file, or what came from standard input.
#[derive(Clone, Debug)]
pub struct Input {
    /// What to call it in messages: its path, as the user would write it.
    pub name: String,
    /// What it holds.
    pub bytes: Vec<u8>,
    /// How the command came to it.
    pub origin: Origin,
}

/// How a command came to an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The user named it, so it must be what the command works on.
    Named,
    /// It lay in a folder that the user named, so it may be anything.
    Found,
}

/// How documents are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// YAML, several documents in a stream.
    Yaml,
    /// JSON, one document.
    Json,
}

/// A file that could not be read.
#[derive(Debug)]
pub struct Unreadable {
    /// Its name.
    pub name: String,
    /// Why.
    pub error: io::Error,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read {}: {}", self.name, self.error)
    }
}

impl Error for Unreadable {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.error)
    }
}

impl Input {
    /// An input that the user named.
    pub fn named(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { name: name.into(), bytes: bytes.into(), origin: Origin::Named }
    }

    /// The documents in it. What ends in `.json`, `.yaml` or `.yml` is taken at its word; anything else is looked at.
    ///
    /// # Errors
    /// What is wrong with the text, and where: WW001, or WW102 for a key that occurs twice.
    pub fn documents<'a>(&'a self, arena: &'a Arena) -> Result<(Form, Vec<Spanned<'a>>), Box<Finding>> {
        let yaml = || decode_yaml(&self.bytes, arena, &LIMITS).map(|documents| (Form::Yaml, documents));
        let json = || decode_json_spanned(&self.bytes, arena, &LIMITS).map(|document| (Form::Json, vec![document]));
        match self.form_by_name() {
            Some(Form::Yaml) => yaml().map_err(|error| self.yaml_finding(&error)),
            Some(Form::Json) => json().map_err(|error| self.json_finding(&error)),
            None if !self.looks_like_json() => yaml().map_err(|error| self.yaml_finding(&error)),
            // Flow style in YAML begins like JSON.
            None => json().or_else(|error| match error.kind() {
                DecodeErrorKind::Syntax { .. } => yaml().map_err(|_| self.json_finding(&error)),
                _ => Err(self.json_finding(&error)),
            }),
        }
    }

    /// The text, for pictures of it; places before the first byte that is not UTF-8 stay right.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    pub(crate) fn place(&self, span: Span) -> Place {
        Place::new(&self.name, span)
    }

    fn form_by_name(&self) -> Option<Form> {
        let (_, extension) = self.name.rsplit_once('.')?;
        match extension.to_ascii_lowercase().as_str() {
            "json" => Some(Form::Json),
            "yaml" | "yml" => Some(Form::Yaml),
            _ => None,
        }
    }

    fn looks_like_json(&self) -> bool {
        matches!(self.bytes.trim_ascii_start().first(), Some(b'{' | b'['))
    }

    fn yaml_finding(&self, error: &YamlError) -> Box<Finding> {
        let place = self.place(error.span());
        Box::new(match error.kind() {
            YamlErrorKind::DuplicateKey { key, first } => {
                let field = self.field_at([*first, error.span()]);
                Finding::new(&rules::DUPLICATE_KEY, format!("the key {key:?} occurs twice"), field)
                    .at(place)
                    .with_related("first here", self.place(*first))
            }
            _ => Finding::new(&rules::UNREADABLE, without_place(&error.to_string()), FieldPath::root()).at(place),
        })
    }

    /// The field whose name is at one of some places.
    fn field_at(&self, places: [Span; 2]) -> FieldPath {
        let arena = Arena::new();
        let lenient = Decode { duplicate_keys: DuplicateKeys::KeepLast, ..LIMITS };
        let documents = decode_yaml(&self.bytes, &arena, &lenient).unwrap_or_default();
        let mut found = documents.iter().filter_map(|document| place::field_at(document, &Path::Root, &places));
        found.next().unwrap_or_else(FieldPath::root)
    }

    fn json_finding(&self, error: &DecodeError) -> Box<Finding> {
        let rule = match error.kind() {
            // JSON is YAML, and that decoder knows the places of both keys.
            DecodeErrorKind::DuplicateKey { .. } => match decode_yaml(&self.bytes, &Arena::new(), &LIMITS) {
                Err(error) if matches!(error.kind(), YamlErrorKind::DuplicateKey { .. }) => {
                    return self.yaml_finding(&error);
                }
                _ => &rules::DUPLICATE_KEY,
            },
            _ => &rules::UNREADABLE,
        };
        let place = self.place(self.span_at(error.offset()));
        Box::new(Finding::new(rule, without_place(&error.to_string()), error.path()).at(place))
    }

    /// The character at an offset, or the whole of a string that starts there.
    fn span_at(&self, offset: usize) -> Span {
        let offset = offset.min(self.bytes.len());
        let (before, after) = self.bytes.split_at(offset);
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        let length = match after.first() {
            Some(b'"') => after[1..].iter().position(|byte| *byte == b'"').map_or(1, |quote| quote + 2),
            Some(_) => 1,
            None => 0,
        };
        Span {
            start: offset as u32,
            end: (offset + length) as u32,
            line: before.iter().filter(|byte| **byte == b'\n').count() as u32 + 1,
            column: String::from_utf8_lossy(&before[line_start..]).chars().count() as u32 + 1,
        }
    }
}

/// The message of an error that goes on to say where; a finding has a place of its own.
fn without_place(message: &str) -> &str {
    message.rsplit_once(" at line ").map_or(message, |(message, _)| message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(name: &str, text: &str) -> Result<Form, String> {
        let arena = Arena::new();
        let input = Input::named(name, text);
        input.documents(&arena).map(|(form, _)| form).map_err(|finding| {
            let span = finding.place.unwrap().span;
            format!("{} {}:{} {}: {}", finding.rule.id, span.line, span.column, finding.field, finding.message)
        })
    }

    #[test]
    fn the_form_is_told_by_the_name_and_else_by_the_text() {
        assert_eq!(form("a.yaml", "{}"), Ok(Form::Yaml));
        assert_eq!(form("a.JSON", "{}"), Ok(Form::Json));
        assert_eq!(form("-", " {\"a\": 1}"), Ok(Form::Json));
        assert_eq!(form("-", "{a: 1}"), Ok(Form::Yaml));
        assert_eq!(form("-", "a: 1"), Ok(Form::Yaml));
    }

    #[test]
    fn what_cannot_be_decoded_has_a_place() {
        assert_eq!(form("a.json", "{\"ü\": x}"), Err("WW001 1:7 ü: expected a value".into()));
        assert_eq!(form("-", "{\"a\":"), Err("WW001 1:6 a: expected a value".into()));
        assert_eq!(form("a.yaml", "b:\n- a: 1\n  a: 2\n"), Err("WW102 3:3 b[0].a: the key \"a\" occurs twice".into()));
        assert_eq!(form("a.json", "{\"a\": 1, \"a\": 2}"), Err("WW102 1:10 a: the key \"a\" occurs twice".into()));
    }
}
