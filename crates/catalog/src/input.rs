//! What commands read: named bytes that hold documents in YAML or JSON.

use std::{error::Error, fmt, io};

use wheelwright_document::{
    Arena, Decode, DecodeError, DecodeErrorKind, DuplicateKeys, FieldPath, Path, Span, Spanned, SpannedNode, Yaml,
    YamlError, YamlErrorKind, decode_json_spanned, decode_yaml,
};
use wheelwright_findings::{Finding, Place, rules};
use wheelwright_schema::Dialect;

use crate::{
    Disk,
    json_text::{self, Part},
};

/// The largest file or line that is looked at. A file may hold many documents and definitions, so it may be far larger
/// than what Kubernetes takes in one request.
pub const MAX_BYTES: usize = 64 << 20;

const LIMITS: Decode =
    Decode { max_bytes: MAX_BYTES, max_depth: 512, duplicate_keys: DuplicateKeys::Refuse, yaml: Yaml::AsKubectl };

/// A file, or what came from standard input.
#[derive(Clone, Debug)]
pub struct Input {
    /// What to call it in messages: its path, as the user would write it.
    pub name: String,
    /// What it holds.
    pub bytes: Vec<u8>,
    /// How the command came to it.
    pub origin: Origin,
    /// Where the files are that it refers to; without them, references to other files are refused.
    pub tree: Option<Disk>,
}

/// How a command came to an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The user named it, so it must be what the command works on.
    Named,
    /// It lay in a folder that the user named, so it may be anything.
    Found,
    /// A file of OpenAPI or JSON Schema refers to it.
    Referred,
    /// It is a file of our own, such as a catalog.
    Ours,
}

/// How documents are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// YAML, several documents in a stream.
    Yaml,
    /// JSON, several documents one after the other.
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

/// The first document of a stream that is no JSON, and why.
struct NotJson<'b> {
    part: Part<'b>,
    /// How many documents come before it.
    before: usize,
    error: Box<DecodeError>,
}

impl Input {
    /// An input that the user named.
    pub fn named(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { name: name.into(), bytes: bytes.into(), origin: Origin::Named, tree: None }
    }

    /// The documents in it. What ends in `.json`, `.yaml` or `.yml` is taken at its word; anything else is looked at.
    /// YAML is read as kubectl reads it, but for OpenAPI, JSON Schema and our own files, which are YAML 1.2.
    ///
    /// # Errors
    /// What is wrong with the text, and where: WW001, or WW102 for a key that occurs twice.
    pub fn documents<'a>(&'a self, arena: &'a Arena) -> Result<(Form, Vec<Spanned<'a>>), Box<Finding>> {
        if self.bytes.len() > MAX_BYTES {
            let message = format!("the file has more than {} MiB", MAX_BYTES >> 20);
            let place = self.place(self.span_at(0));
            return Err(Box::new(Finding::new(&rules::UNREADABLE, message, FieldPath::root()).at(place)));
        }
        let yaml = || match self.yaml_documents(arena) {
            Ok(documents) => Ok((Form::Yaml, documents)),
            Err(error) => Err(self.yaml_finding(&error, &Part::whole(&self.bytes))),
        };
        match self.form_by_name() {
            Some(Form::Yaml) => yaml(),
            None if !self.looks_like_json() => yaml(),
            form => self.json_documents(arena).map(|documents| (Form::Json, documents)).or_else(|not_json| {
                // Flow style in YAML begins like JSON.
                let may_be_yaml = form.is_none() && matches!(not_json.error.kind(), DecodeErrorKind::Syntax { .. });
                let yaml = may_be_yaml.then(|| yaml().ok()).flatten();
                yaml.ok_or_else(|| self.json_finding(&not_json))
            }),
        }
    }

    fn yaml_documents<'a>(&'a self, arena: &'a Arena) -> Result<Vec<Spanned<'a>>, YamlError> {
        let core = || decode_yaml(&self.bytes, arena, &Decode { yaml: Yaml::Core, ..LIMITS });
        let is_core = |document: &Spanned<'_>| Dialect::of(document).is_some();
        if matches!(self.origin, Origin::Referred | Origin::Ours) {
            return core();
        }
        match decode_yaml(&self.bytes, arena, &LIMITS) {
            Ok(documents) if !documents.iter().any(is_core) => Ok(documents),
            Ok(documents) => {
                let both = documents.into_iter().zip(core()?);
                Ok(both.map(|(as_kubectl, core)| if is_core(&core) { core } else { as_kubectl }).collect())
            }
            // To kubectl, `y` and `yes` are the same key.
            Err(error) => match core() {
                Ok(documents) if documents.iter().all(is_core) => Ok(documents),
                _ => Err(error),
            },
        }
    }

    fn json_documents<'a>(&'a self, arena: &'a Arena) -> Result<Vec<Spanned<'a>>, NotJson<'a>> {
        let decode = |(before, part): (usize, Part<'a>)| match decode_json_spanned(part.bytes, arena, &LIMITS) {
            Ok(document) => Ok(part.placed(document, arena)),
            Err(error) => Err(NotJson { part, before, error: Box::new(error) }),
        };
        json_text::parts(&self.bytes).enumerate().map(decode).collect()
    }

    /// The text, for pictures of it; places before the first byte that is not UTF-8 stay right.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// A place in it.
    pub fn place(&self, span: Span) -> Place {
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
        matches!(json_text::without_byte_order_mark(&self.bytes).trim_ascii_start().first(), Some(b'{' | b'['))
    }

    fn yaml_finding(&self, error: &YamlError, part: &Part<'_>) -> Box<Finding> {
        let place = self.place(part.place(error.span()));
        Box::new(match error.kind() {
            YamlErrorKind::DuplicateKey { key, first } => {
                let field = field_at(part, [*first, error.span()]);
                Finding::new(&rules::DUPLICATE_KEY, format!("the key {key:?} occurs twice"), field)
                    .at(place)
                    .with_related("first here", self.place(part.place(*first)))
            }
            _ => Finding::new(&rules::UNREADABLE, error.kind().to_string(), FieldPath::root()).at(place),
        })
    }

    fn json_finding(&self, NotJson { part, before, error }: &NotJson<'_>) -> Box<Finding> {
        let rule = match error.kind() {
            // JSON is YAML, and that decoder knows the places of both keys.
            DecodeErrorKind::DuplicateKey { .. } => match decode_yaml(part.bytes, &Arena::new(), &LIMITS) {
                Err(error) if matches!(error.kind(), YamlErrorKind::DuplicateKey { .. }) => {
                    return self.yaml_finding(&error, part);
                }
                _ => &rules::DUPLICATE_KEY,
            },
            _ => &rules::UNREADABLE,
        };
        let place = self.place(self.span_at(part.offset() + error.offset()));
        let message = match error.kind() {
            DecodeErrorKind::Syntax { .. } if error.offset() == 0 && *before > 0 => {
                "expected the end of the file or another document".to_owned()
            }
            kind => kind.to_string(),
        };
        Box::new(Finding::new(rule, message, error.path()).at(place))
    }

    /// The character at an offset, or the whole of a string that starts there.
    fn span_at(&self, offset: usize) -> Span {
        let offset = offset.min(self.bytes.len());
        let (before, after) = self.bytes.split_at(offset);
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        let line = json_text::without_byte_order_mark(&before[line_start..]);
        let length = match after.first() {
            Some(b'"') => json_text::string_length(after).unwrap_or(1),
            Some(_) => 1,
            None => 0,
        };
        Span {
            start: offset as u32,
            end: (offset + length) as u32,
            line: before.iter().filter(|byte| **byte == b'\n').count() as u32 + 1,
            column: String::from_utf8_lossy(line).chars().count() as u32 + 1,
        }
    }
}

/// The field whose name is at one of some places.
fn field_at(part: &Part<'_>, places: [Span; 2]) -> FieldPath {
    let arena = Arena::new();
    let lenient = Decode { duplicate_keys: DuplicateKeys::KeepLast, ..LIMITS };
    let documents = decode_yaml(part.bytes, &arena, &lenient).unwrap_or_default();
    let mut found = documents.iter().filter_map(|document| field_below(document, &Path::Root, &places));
    found.next().unwrap_or_else(FieldPath::root)
}

/// The field below `path` whose name is at one of some places.
fn field_below(value: &Spanned<'_>, path: &Path<'_>, places: &[Span]) -> Option<FieldPath> {
    match value.node {
        SpannedNode::Scalar(_) => None,
        SpannedNode::Array(items) => {
            let mut items = items.iter().enumerate();
            items.find_map(|(index, item)| field_below(item, &Path::Index(path, index), places))
        }
        SpannedNode::Object(entries) => entries.iter().find_map(|entry| {
            let path = Path::Child(path, entry.key);
            let is_here = places.contains(&entry.key_span);
            if is_here { Some(path.to_field_path()) } else { field_below(&entry.value, &path, places) }
        }),
    }
}

#[cfg(test)]
mod tests {
    use wheelwright_document::encode;

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
    fn json_documents_follow_each_other() {
        let arena = Arena::new();
        for name in ["a.json", "-"] {
            let input = Input::named(name, "\u{feff}{\"ü\": 1}{\n\"b\":\n[true]}\n");
            let (form, documents) = input.documents(&arena).unwrap();
            assert_eq!((form, documents.len()), (Form::Json, 2));
            assert_eq!(documents[0].span, Span { start: 3, end: 12, line: 1, column: 1 });
            assert_eq!(documents[1].span, Span { start: 12, end: 26, line: 1, column: 9 });
            let list = documents[1].get("b").unwrap();
            assert_eq!(list.span, Span { start: 19, end: 25, line: 3, column: 1 });
            assert_eq!(list.as_array().unwrap()[0].span, Span { start: 20, end: 24, line: 3, column: 2 });
        }
        let empty = Input::named("a.json", "\u{feff}\n");
        assert!(empty.documents(&arena).unwrap().1.is_empty());
    }

    #[test]
    fn words_are_texts_in_what_is_no_business_of_kubernetes() {
        let words = |text: &str| -> Vec<String> {
            let (arena, input) = (Arena::new(), Input::named("a.yaml", text));
            let (_, documents) = input.documents(&arena).unwrap();
            let written =
                documents.iter().map(|document| String::from_utf8(encode(document.to_value(&arena))).unwrap());
            written.collect()
        };
        let swagger = "swagger: 2.0\ny: NO\nyes: 0755\n";
        assert_eq!(words(swagger), [r#"{"swagger":2.0,"y":"NO","yes":755}"#]);
        assert_eq!(words("kind: x\ny: NO\n"), [r#"{"kind":"x","true":false}"#]);
        let mixed = "y: NO\n---\nswagger: 2.0\ny: NO\n";
        assert_eq!(words(mixed), [r#"{"true":false}"#, r#"{"swagger":2.0,"y":"NO"}"#]);
        let twice = "y: 1\nyes: 2\n";
        assert_eq!(form("a.yaml", twice), Err("WW102 2:1 true: the key \"true\" occurs twice".into()));
        let referred = Input { origin: Origin::Referred, ..Input::named("a.yaml", twice) };
        assert!(referred.documents(&Arena::new()).is_ok());
    }

    #[test]
    fn places_in_later_documents_are_right() {
        assert_eq!(form("-", "{}\n{\"a\": x}"), Err("WW001 2:7 a: expected a value".into()));
        assert_eq!(form("a.json", "\u{feff}{\"a\": x}"), Err("WW001 1:7 a: expected a value".into()));
        let twice = "{}\n {\"b\": {\"a\": 1, \"a\": 2}}";
        assert_eq!(form("a.json", twice), Err("WW102 2:17 b.a: the key \"a\" occurs twice".into()));
        let behind = "<nil>: expected the end of the file or another document";
        assert_eq!(form("a.json", "{}}"), Err(format!("WW001 1:3 {behind}")));
    }

    #[test]
    fn strings_are_pointed_to_as_a_whole() {
        let input = Input::named("a.json", r#"{"a\"b" 1}"#);
        let finding = input.documents(&Arena::new()).unwrap_err();
        assert_eq!(finding.place.unwrap().span.column, 9);
        let span = input.span_at(1);
        assert_eq!((span.start, span.end), (1, 7));
    }

    #[test]
    fn a_file_that_is_too_large_is_refused() {
        let input = Input::named("a.json", vec![b' '; MAX_BYTES + 1]);
        assert_eq!(input.documents(&Arena::new()).unwrap_err().message, "the file has more than 64 MiB");
    }

    #[test]
    fn what_cannot_be_decoded_has_a_place() {
        assert_eq!(form("a.json", "{\"ü\": x}"), Err("WW001 1:7 ü: expected a value".into()));
        assert_eq!(form("-", "{\"a\":"), Err("WW001 1:6 a: expected a value".into()));
        assert_eq!(form("a.yaml", "b:\n- a: 1\n  a: 2\n"), Err("WW102 3:3 b[0].a: the key \"a\" occurs twice".into()));
        assert_eq!(form("a.json", "{\"a\": 1, \"a\": 2}"), Err("WW102 1:10 a: the key \"a\" occurs twice".into()));
    }
}
