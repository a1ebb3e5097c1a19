//! Bodies of requests: JSON or YAML in, JSON for the repository out, and what is there twice.

use std::borrow::Cow;

use http::header;
use wheelwright_document::{Arena, Decode, DuplicateKeys, Value, YamlErrorKind, decode_yaml, encode};

use super::{accept::MEDIA_TYPES, status::Status};
use crate::request::Request;

/// How the name of clients begins that OpenAPI Generator has made, such as the Python client of Kubernetes.
const GENERATED_CLIENT: &str = "OpenAPI-Generator/";

/// A body as JSON in which no key is there twice.
#[derive(Debug)]
pub(super) struct Body<'b> {
    pub(super) json: Cow<'b, [u8]>,
    /// What is to be said of keys that were there twice.
    pub(super) duplicates: Vec<String>,
}

/// Whether a body is in YAML; or that it is in neither YAML nor JSON.
///
/// Unlike Kubernetes, a body without a type is not taken for JSON: a web page may send one to any server. The exception is
/// the Python client of Kubernetes, which creates custom objects so; a page cannot send a request by its name.
pub(super) fn is_yaml(request: &Request) -> Result<bool, Status> {
    let is_generated = request.head.header(header::USER_AGENT).is_some_and(|agent| agent.starts_with(GENERATED_CLIENT));
    match request.head.content_type().as_deref() {
        Some("application/json") => Ok(false),
        Some("application/yaml") => Ok(true),
        None if is_generated => Ok(false),
        _ => Err(Status::unsupported_media_type(MEDIA_TYPES)),
    }
}

impl<'b> Body<'b> {
    /// Reads a body; else, what is wrong with it.
    pub(super) fn read(bytes: &'b [u8], is_yaml: bool) -> Result<Self, String> {
        let arena = Arena::for_input(bytes.len());
        let limits = Decode { duplicate_keys: DuplicateKeys::KeepLast, ..Decode::default() };
        if is_yaml {
            return Self::read_yaml(bytes, &arena, &limits);
        }
        let decoded = limits.decode(bytes, &arena).map_err(|error| error.to_string())?;
        let duplicates: Vec<String> =
            decoded.duplicates.iter().map(|path| format!("duplicate field {:?}", path.as_str())).collect();
        let json = match duplicates.is_empty() {
            true => Cow::Borrowed(bytes),
            false => Cow::Owned(encode(decoded.value)),
        };
        Ok(Self { json, duplicates })
    }

    fn read_yaml(bytes: &[u8], arena: &Arena, limits: &Decode) -> Result<Self, String> {
        let strict = Decode { duplicate_keys: DuplicateKeys::Refuse, ..*limits };
        let (documents, duplicates) = match decode_yaml(bytes, arena, &strict) {
            Ok(documents) => (documents, Vec::new()),
            Err(error) => match error.kind() {
                YamlErrorKind::DuplicateKey { key, .. } => {
                    let duplicate = format!("line {}: key {key:?} already set in map", error.span().line);
                    (decode_yaml(bytes, arena, limits).map_err(|error| error.to_string())?, vec![duplicate])
                }
                _ => return Err(error.to_string()),
            },
        };
        // Kubernetes reads the first document and passes over the others.
        let document = documents.first().map_or(Value::Null, |document| document.to_value(arena));
        Ok(Self { json: Cow::Owned(encode(document)), duplicates })
    }
}
