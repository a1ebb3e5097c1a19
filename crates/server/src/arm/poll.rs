//! Telling of operations: where they are asked about, and how far they are.

use http::{HeaderName, StatusCode, header};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use wheelwright_document::{Arena, Entry, Value, decode_trusted, encode};
use wheelwright_repository::{ArmVersion, View};

use super::{
    error::ArmError,
    kinds::Kind,
    operation::{CANCELED, Does, OperationId, Polled, RETRY_AFTER, SUCCEEDED, is_over, state_of},
    read::shown,
};
use crate::{answer::Answer, request::Head};

const ASYNC_OPERATION: HeaderName = HeaderName::from_static("azure-asyncoperation");

/// An answer that says where to ask how far an operation is.
pub(crate) fn announced(
    answer: Answer,
    operation: &OperationId,
    kind: &Kind,
    location: Option<&str>,
    version: &ArmVersion,
    head: &Head,
) -> Answer {
    let link = |polled| {
        let path = path_of(operation, kind, location, polled);
        format!("{}{path}?api-version={}", head.base(), version.name)
    };
    let answer = answer.with(ASYNC_OPERATION, link(Polled::Status)).with(header::RETRY_AFTER, RETRY_AFTER);
    match answer.status {
        StatusCode::ACCEPTED => answer.with(header::LOCATION, link(Polled::Result)),
        _ => answer,
    }
}

/// Where the resource is that a document describes, if it says so.
pub(crate) fn location_of(json: &[u8]) -> Option<String> {
    let arena = Arena::for_input(json.len());
    let location = decode_trusted(json, &arena).ok()?.get("location")?.as_str()?;
    let location: String = location.chars().filter(|character| !character.is_whitespace()).collect();
    Some(location.to_lowercase()).filter(|location| !location.is_empty())
}

/// Answers how far an operation is, or what it came to.
pub(crate) async fn poll(
    kind: &Kind,
    id: &OperationId,
    polled: Polled,
    version: &ArmVersion,
    head: &Head,
) -> Result<Answer, ArmError> {
    let document = kind.collection.get(&id.name, View::Version(version.name.as_str())).await?;
    let known = document.as_ref().and_then(|document| state_of(&document.metadata, id));
    let state = match (known, id.does) {
        (Some((_, state)), _) => state,
        // The resource is gone, or another one is in its place: that is what was asked for.
        (None, Does::Delete) => SUCCEEDED,
        (None, Does::Write) => {
            let message = "there is no such operation: its resource is gone, or has had many others since";
            return Err(ArmError::not_found("OperationNotFound", message));
        }
    };
    let is_running = !is_over(state);
    let failure = (!is_running && !state.eq_ignore_ascii_case(SUCCEEDED)).then(|| {
        let code = match state {
            CANCELED => "OperationCanceled",
            _ => "OperationFailed",
        };
        let message = format!("the operation ended as {state}; the resource says more");
        ArmError::new(StatusCode::CONFLICT, code, message)
    });
    let answer = match polled {
        Polled::Status => {
            let arena = Arena::new();
            let text = |key, text: &str| Entry { key, value: Value::string(arena.text(text)) };
            let mut entries = vec![text("id", head.raw_path()), text("name", &id.text()), text("status", state)];
            entries.extend(known.map(|(operation, _)| text("startTime", &operation.started_at.to_string())));
            let resource_id = document.as_ref().and_then(|document| document.metadata.id.as_deref());
            entries.extend(resource_id.map(|resource_id| text("resourceId", resource_id)));
            entries.extend(failure.as_ref().map(|failure| Entry { key: "error", value: failure.value(&arena) }));
            Answer::json(StatusCode::OK, encode(Value::Object(&entries)))
        }
        Polled::Result if is_running => {
            let link = format!("{}{}?api-version={}", head.base(), head.raw_path(), version.name);
            Answer::empty(StatusCode::ACCEPTED).with(header::LOCATION, link)
        }
        Polled::Result => match (failure, document) {
            (Some(failure), _) => return Err(failure),
            (None, Some(document)) if id.does == Does::Write => shown(StatusCode::OK, document),
            (None, _) => Answer::empty(StatusCode::NO_CONTENT),
        },
    };
    Ok(if is_running { answer.with(header::RETRY_AFTER, RETRY_AFTER) } else { answer })
}

fn path_of(operation: &OperationId, kind: &Kind, location: Option<&str>, polled: Polled) -> String {
    let subscription = operation.name.as_str().split('/').next().unwrap_or_default();
    let encoded = |text: &str| utf8_percent_encode(text, SEGMENT).to_string();
    let location = location.map(|location| format!("/locations/{}", encoded(location))).unwrap_or_default();
    let (provider, segment) = (kind.provider(), polled.segment());
    format!("/subscriptions/{}/providers/{provider}{location}/{segment}/{}", encoded(subscription), operation.text())
}

/// What stands for itself in a segment of a path.
const SEGMENT: &percent_encoding::AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
