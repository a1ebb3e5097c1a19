//! What is said beside an answer, and in which language it is.

use http::{HeaderValue, header};
use wheelwright_document::{Arena, decode_trusted, write_yaml};

use super::{resource::Resource, status::Status};
use crate::answer::{Answer, AnswerBody};

/// What is said of a version that should not be used any more.
pub(super) fn deprecation(resource: &Resource) -> Option<String> {
    let version = resource.version();
    let usual = || format!("{} {} is deprecated", resource.api_version(), resource.definition().kind);
    version.is_deprecated.then(|| version.deprecation_warning.as_deref().map_or_else(usual, str::to_owned))
}

/// An answer in YAML instead of JSON.
pub(super) fn in_language(answer: Answer, is_yaml: bool) -> Answer {
    let AnswerBody::Whole(Some(json)) = &answer.body else { return answer };
    if !is_yaml || answer.headers.get(header::CONTENT_TYPE).is_none_or(|sort| sort != "application/json") {
        return answer;
    }
    let arena = Arena::for_input(json.len());
    let yaml = match decode_trusted(json, &arena) {
        Ok(value) => write_yaml(value),
        Err(error) => return Status::internal(format!("the answer cannot be written: {error}")).answer(),
    };
    let body = AnswerBody::Whole(Some(yaml.into()));
    Answer { body, ..answer }.with(header::CONTENT_TYPE, HeaderValue::from_static("application/yaml"))
}
