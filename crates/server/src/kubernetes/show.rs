//! What is said beside an answer, and in which language it is.

use http::{HeaderName, HeaderValue, header};
use wheelwright_document::{Arena, Entry, Value, decode, encode, write_yaml};
use wheelwright_repository::Document;

use super::{resource::Resource, status::Status};
use crate::answer::{Answer, AnswerBody};

/// The most bytes of warnings; what is beyond is left out.
const MOST_WARNING_BYTES: usize = 4096;

/// What is said of a version that should not be used any more.
pub(super) fn deprecation(resource: &Resource) -> Option<String> {
    let version = resource.version();
    let usual = || format!("{} {} is deprecated", resource.api_version(), resource.definition().kind);
    version.is_deprecated.then(|| version.deprecation_warning.as_deref().map_or_else(usual, str::to_owned))
}

/// An answer with warnings, each in a header of its own.
pub(super) fn warned(mut answer: Answer, warnings: impl Iterator<Item = String>) -> Answer {
    let mut room = MOST_WARNING_BYTES;
    for warning in warnings {
        let quoted =
            warning.chars().filter(|character| !character.is_control()).fold(String::new(), |mut text, character| {
                if matches!(character, '"' | '\\') {
                    text.push('\\');
                }
                text.push(character);
                text
            });
        let value = format!("299 - \"{quoted}\"");
        if value.len() > room {
            break;
        }
        room -= value.len();
        if let Ok(value) = HeaderValue::from_bytes(value.as_bytes()) {
            answer = answer.and(HeaderName::from_static("warning"), value);
        }
    }
    answer
}

/// A document that says in which namespace it is, also if whoever stored it did not write that.
pub(super) fn placed(mut document: Document) -> Document {
    let Some((namespace, _)) = document.name.as_str().rsplit_once('/') else { return document };
    let said = format!(r#""namespace":"{namespace}""#);
    if metadata_has(&document.json, said.as_bytes()) {
        return document;
    }
    let arena = Arena::for_input(document.json.len());
    let Ok(Value::Object(entries)) = decode(&document.json, &arena) else { return document };
    let namespace = arena.text(namespace);
    let entries = entries.iter().map(|entry| match entry.value {
        Value::Object(metadata) if entry.key == "metadata" => {
            let others = metadata.iter().filter(|field| field.key != "namespace").copied();
            let namespace = Entry { key: "namespace", value: Value::string(namespace) };
            Entry { value: Value::Object(arena.slice(&others.chain([namespace]).collect::<Vec<_>>())), ..*entry }
        }
        _ => *entry,
    });
    let json = encode(Value::Object(arena.slice(&entries.collect::<Vec<_>>())));
    document.json = json;
    document
}

/// Whether the metadata of a document, as we write it, has a field and its value. Looked for in the bytes: nearly every
/// document has it, and a long list has no time to read each of them.
fn metadata_has(json: &[u8], field: &[u8]) -> bool {
    let (mut at, mut depth, mut is_metadata) = (0, 0_usize, false);
    while let Some(byte) = json.get(at) {
        at += 1;
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let text = &json[at - 1..];
                match depth {
                    1 => is_metadata = text.starts_with(br#""metadata":"#),
                    2 if is_metadata && text.starts_with(field) => return true,
                    _ => {}
                }
                at += text_length(&json[at..]);
            }
            _ => {}
        }
    }
    false
}

/// How many bytes a text has whose first quote was read, the last quote included.
fn text_length(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        at += if *byte == b'\\' { 2 } else { 1 };
        if *byte == b'"' {
            break;
        }
    }
    // A text that ends within an escape is none.
    at.min(bytes.len())
}

/// An answer in YAML instead of JSON.
pub(super) fn in_language(answer: Answer, is_yaml: bool) -> Answer {
    let AnswerBody::Whole(Some(json)) = &answer.body else { return answer };
    if !is_yaml || answer.headers.get(header::CONTENT_TYPE).is_none_or(|sort| sort != "application/json") {
        return answer;
    }
    let arena = Arena::for_input(json.len());
    let yaml = match decode(json, &arena) {
        Ok(value) => write_yaml(value),
        Err(error) => return Status::internal(format!("the answer cannot be written: {error}")).answer(),
    };
    let body = AnswerBody::Whole(Some(yaml.into()));
    Answer { body, ..answer }.with(header::CONTENT_TYPE, HeaderValue::from_static("application/yaml"))
}
