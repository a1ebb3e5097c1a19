//! Errors as Azure's resource manager tells them: a code, a message, and what it is about.

use std::time::Duration;

use http::{HeaderValue, StatusCode, header};
use wheelwright_document::{Arena, Entry, Value, encode};
use wheelwright_repository::{ErrorKind, StoreError};
use wheelwright_repository::{FieldError, FieldProblem, RepositoryError, WriteError};

use crate::{
    answer::Answer,
    refusal::Refusal,
    trouble::{cause, told},
};

/// Why a request is not done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ArmError(Box<Told>);

/// What is told about it.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Told {
    status: StatusCode,
    code: &'static str,
    message: String,
    target: Option<String>,
    details: Vec<Detail>,
    retry_after: Option<Duration>,
    allow: Option<&'static str>,
    /// Where a list goes on behind a resource that cannot be displayed.
    next: Option<String>,
    /// The error behind it, for the log alone.
    cause: Option<Box<str>>,
}

/// One of several things that are wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Detail {
    code: &'static str,
    message: String,
    target: String,
}

/// So many things that are wrong are told at once.
const MOST_DETAILS: usize = 100;

impl ArmError {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        let (message, details) = (message.into(), Vec::new());
        let (target, retry_after, allow, next, cause) = (None, None, None, None, None);
        Self(Box::new(Told { status, code, message, target, details, retry_after, allow, next, cause }))
    }

    pub(crate) fn bad_request(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    pub(crate) fn not_found(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, code, message)
    }

    pub(crate) fn conflict(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "Conflict", message)
    }

    /// Others were faster, as often as it was tried.
    pub(crate) fn contended() -> Self {
        Self::conflict("others write the resource all the time; try again")
    }

    pub(crate) fn precondition(message: impl Into<String>) -> Self {
        Self::new(StatusCode::PRECONDITION_FAILED, "PreconditionFailed", message)
    }

    pub(crate) fn method(method: &http::Method, allow: &'static str) -> Self {
        let message = format!("{method} is not understood here; {allow} are");
        let mut error = Self::new(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message);
        error.0.allow = Some(allow);
        error
    }

    /// The same, about a part of the request.
    pub(crate) fn about(mut self, target: impl Into<String>) -> Self {
        self.0.target = Some(target.into());
        self
    }

    /// The same, with a link to the rest of a list, behind the resource that it is about.
    pub(crate) fn going_on(mut self, link: String) -> Self {
        self.0.message.push_str("; the list goes on behind it: see the details, or the header Link");
        self.0.details.push(Detail { code: "NextLink", message: link.clone(), target: "nextLink".to_owned() });
        self.0.next = Some(link);
        self
    }

    pub(crate) fn of_refusal(refusal: &Refusal) -> Self {
        let code = match refusal {
            Refusal::Path(_) => "InvalidRequestUri",
            Refusal::Host => "InvalidRequestHeader",
            Refusal::TooLarge(_) => "RequestEntityTooLarge",
            Refusal::TooSlow(_) => "RequestTimeout",
            Refusal::CutShort => "InvalidRequestContent",
            Refusal::Packed => "UnsupportedMediaType",
            Refusal::Unknown(_) => "AuthenticationFailed",
            Refusal::Forbidden(_) => "AuthorizationFailed",
            Refusal::TooMany(_) | Refusal::TooManyOfOne(_) | Refusal::OutOfMemory(_) => "TooManyRequests",
            Refusal::OutOfTime(_) | Refusal::OutcomeNotRecorded => "GatewayTimeout",
            Refusal::NotRecorded => "ServiceUnavailable",
        };
        Self::new(refusal.status(), code, refusal.message())
    }

    /// What goes into an `error` of a body.
    pub(crate) fn value<'a>(&'a self, arena: &'a Arena) -> Value<'a> {
        let details: Vec<Value<'a>> = self.0.details.iter().map(|detail| detail.value(arena)).collect();
        let mut entries = vec![text("code", self.0.code), text("message", &self.0.message)];
        entries.extend(self.0.target.as_deref().map(|target| text("target", target)));
        if !details.is_empty() {
            entries.push(Entry { key: "details", value: Value::Array(arena.slice(&details)) });
        }
        Value::Object(arena.slice(&entries))
    }

    pub(crate) fn into_answer(self) -> Answer {
        let arena = Arena::new();
        let body = encode(Value::Object(&[Entry { key: "error", value: self.value(&arena) }]));
        let mut answer = Answer::json(self.0.status, body);
        if self.0.status.is_server_error() {
            answer.cause = Some(self.0.cause.unwrap_or_else(|| self.0.message.as_str().into()));
        }
        if let Some(after) = self.0.retry_after {
            answer = answer.with(header::RETRY_AFTER, after.as_secs().max(1));
        }
        if let Some(allow) = self.0.allow {
            answer = answer.with(header::ALLOW, HeaderValue::from_static(allow));
        }
        if let Some(next) = &self.0.next {
            answer = answer.with(header::LINK, format!("<{next}>; rel=\"next\""));
        }
        answer
    }

    fn of_fields(errors: &[FieldError]) -> Self {
        let is_fixed = |error: &FieldError| matches!(error.problem, FieldProblem::Fixed);
        let (status, code, message) = match errors.iter().all(is_fixed) {
            true => (StatusCode::CONFLICT, "PropertyChangeNotAllowed", "the request changes what is set only once"),
            false => (StatusCode::BAD_REQUEST, "InvalidRequestContent", "the content of the request is not valid"),
        };
        let details: Vec<Detail> = errors.iter().take(MOST_DETAILS).map(Detail::of).collect();
        let paths: Vec<&str> = details.iter().take(10).map(|detail| detail.target.as_str()).collect();
        let more = match errors.len() - paths.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let message = format!("{message}: see the details about {}{more}", paths.join(", "));
        let mut error = Self::new(status, code, message);
        if let [only] = &details[..] {
            error = error.about(only.target.clone());
        }
        error.0.details = details;
        error
    }

    fn of_store(error: &StoreError) -> Self {
        let mut known = match error.kind() {
            ErrorKind::Unavailable | ErrorKind::ReadOnly => {
                Self::unavailable(told(error).to_owned(), Duration::from_secs(1))
            }
            ErrorKind::Unknown => {
                // No Retry-After: whoever just sends it again may do it twice.
                Self::new(StatusCode::GATEWAY_TIMEOUT, "GatewayTimeout", told(error))
            }
            ErrorKind::Full => Self::new(StatusCode::INSUFFICIENT_STORAGE, "InsufficientStorage", told(error)),
            ErrorKind::Throttled(after) => Self::unavailable(told(error).to_owned(), *after),
            ErrorKind::Exists | ErrorKind::Missing | ErrorKind::Conflict(_) => {
                Self::conflict("somebody else changed the resource at the same time; read it and try again")
            }
            ErrorKind::BadToken | ErrorKind::TooOld => Self::bad_request(
                "InvalidSkipToken",
                "the $skiptoken is none of this list, or too old; begin with the first page",
            ),
            ErrorKind::TooLarge => Self::new(StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLarge", error.to_string()),
            _ => Self::internal(told(error).to_owned()),
        };
        known.0.cause = Some(cause(error));
        known
    }

    fn of_write(error: WriteError) -> Self {
        let content = |message: String| Self::bad_request("InvalidRequestContent", message);
        match error {
            WriteError::Fields(errors) => Self::of_fields(&errors),
            WriteError::Decode(error) => content(format!("the body cannot be read: {error}")),
            WriteError::TooLarge(_) => {
                Self::new(StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLarge", error.to_string())
            }
            WriteError::Put(_) => Self::new(StatusCode::CONFLICT, "PropertyChangeNotAllowed", error.to_string()),
            WriteError::NotComputed(_) => Self::internal(error.to_string()),
            // Another server, or this one once it is up to date, may do it.
            WriteError::TooOld { .. } => Self::unavailable(error.to_string(), Duration::from_secs(1)),
            error => content(error.to_string()),
        }
    }

    pub(crate) fn internal(message: String) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "InternalServerError", message)
    }

    fn unavailable(message: String, after: Duration) -> Self {
        let mut error = Self::new(StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailable", message);
        error.0.retry_after = Some(after);
        error
    }
}

impl Detail {
    fn of(error: &FieldError) -> Self {
        let code = match error.problem {
            FieldProblem::Unknown => "UnknownProperty",
            FieldProblem::Fixed => "PropertyChangeNotAllowed",
            FieldProblem::NullRefused | FieldProblem::WouldRefill => "NullNotAllowed",
            _ => "InvalidProperty",
        };
        Self { code, message: error.to_string(), target: error.path.to_string() }
    }

    fn value<'a>(&'a self, arena: &'a Arena) -> Value<'a> {
        let entries = [text("code", self.code), text("message", &self.message), text("target", &self.target)];
        Value::Object(arena.slice(&entries))
    }
}

impl From<RepositoryError> for ArmError {
    fn from(error: RepositoryError) -> Self {
        match error {
            RepositoryError::Write(error) => Self::of_write(error),
            RepositoryError::Name(bad) => Self::bad_request("InvalidResourceName", bad.to_string()),
            RepositoryError::Store(error) => Self::of_store(&error),
            RepositoryError::Source(error) => Self::unavailable(error.to_string(), Duration::from_secs(5)),
            error => Self::internal(error.to_string()),
        }
    }
}

fn text<'a>(key: &'a str, text: &'a str) -> Entry<'a> {
    Entry { key, value: Value::string(text) }
}
