//! What a Kubernetes API server says when something is not done: a `Status`.

use std::{error::Error, fmt};

use http::{HeaderValue, StatusCode, header};
use wheelwright_document::{Arena, Number, Value, encode};

use super::{json::Json, resource::Resource};
use crate::{
    answer::Answer,
    budget::Exceeded,
    cut::{Reason, report},
    refusal::Refusal,
};

/// An answer in words, mostly about what was not done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Status {
    pub(crate) code: StatusCode,
    pub(crate) reason: &'static str,
    pub(crate) message: String,
    pub(crate) details: Option<Box<Details>>,
    /// Where a list may go on: one that has become too old, or behind an object that cannot be displayed.
    pub(crate) next: Option<String>,
    /// The error behind it, for the log alone.
    pub(crate) cause: Option<Box<str>>,
    /// Whether the memory budget is in use.
    pub(crate) is_out_of_memory: bool,
}

/// What a status is about.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Details {
    pub(crate) name: String,
    pub(crate) group: String,
    pub(crate) kind: String,
    pub(crate) uid: String,
    pub(crate) causes: Vec<Cause>,
    pub(crate) retry_after: Option<u32>,
}

/// One of the reasons for a status.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Cause {
    pub(crate) reason: &'static str,
    pub(crate) message: String,
    pub(crate) field: String,
}

impl Status {
    /// The error for the log, if the server failed.
    fn cause_of_failure(&self) -> Option<Box<str>> {
        self.code.is_server_error().then(|| self.cause.clone().unwrap_or_else(|| self.message.as_str().into()))
    }

    /// Logs that an answer was broken off after it had begun, or that a watch ended with an error.
    pub(crate) fn log(&self, what: &'static str) {
        if self.is_out_of_memory {
            report(Reason::Answer);
        }
        let status = self.code.as_u16();
        match self.cause_of_failure() {
            Some(error) => tracing::error!(status, error, "{what}"),
            None => tracing::debug!(status, error = self.message, "{what}"),
        }
    }

    /// Logs that a write of many objects was broken off: at least as a warning, for objects have changed already.
    pub(crate) fn warn(&self, what: &'static str) {
        if self.code.is_server_error() || self.is_out_of_memory {
            return self.log(what);
        }
        tracing::warn!(status = self.code.as_u16(), error = self.message, "{what}");
    }

    /// A failure without details.
    pub(crate) fn new(code: StatusCode, reason: &'static str, message: impl Into<String>) -> Self {
        Self { code, reason, message: message.into(), details: None, next: None, cause: None, is_out_of_memory: false }
    }

    /// The request makes no sense.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BadRequest", message)
    }

    /// Something went wrong that should not.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", message)
    }

    /// Objects were removed, and the audit log does not show it.
    pub(crate) fn not_recorded() -> Self {
        let refusal = Refusal::OutcomeNotRecorded;
        Self::new(refusal.status(), "Timeout", refusal.message())
    }

    /// There is no such object.
    pub(crate) fn not_found(resource: &Resource, name: &str) -> Self {
        let message = format!("{} \"{name}\" not found", qualified(resource));
        Self::new(StatusCode::NOT_FOUND, "NotFound", message).about(resource, name)
    }

    /// There can be no such namespace.
    pub(crate) fn no_namespace(name: &str) -> Self {
        let details = Details { name: name.into(), kind: "namespaces".into(), ..Details::default() };
        let status = Self::new(StatusCode::NOT_FOUND, "NotFound", format!("namespaces \"{name}\" not found"));
        Self { details: Some(Box::new(details)), ..status }
    }

    /// There is such an object already.
    pub(crate) fn already_exists(resource: &Resource, name: &str) -> Self {
        let message = format!("{} \"{name}\" already exists", qualified(resource));
        Self::new(StatusCode::CONFLICT, "AlreadyExists", message).about(resource, name)
    }

    /// Somebody else was first: why it is not done.
    pub(crate) fn conflict(resource: &Resource, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {} \"{name}\": {why}", qualified(resource));
        Self::new(StatusCode::CONFLICT, "Conflict", message).about(resource, name)
    }

    /// Somebody else has written the object.
    pub(crate) fn modified(resource: &Resource, name: &str) -> Self {
        let why = "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(resource, name, why)
    }

    /// An object that is not as it must be.
    pub(crate) fn invalid(kind: &str, group: &str, name: &str, causes: Vec<Cause>) -> Self {
        let texts: Vec<String> = causes.iter().map(|cause| format!("{}: {}", cause.field, cause.message)).collect();
        let all = match &texts[..] {
            [one] => one.clone(),
            texts => format!("[{}]", texts.join(", ")),
        };
        let dot = if group.is_empty() { "" } else { "." };
        let message = format!("{kind}{dot}{group} \"{name}\" is invalid: {all}");
        let details =
            Details { name: name.into(), group: group.into(), kind: kind.into(), causes, ..Details::default() };
        let status = Self::new(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", message);
        Self { details: Some(Box::new(details)), ..status }
    }

    /// Options of a request that are not as they must be.
    pub(crate) fn invalid_options(kind: &str, causes: Vec<Cause>) -> Self {
        Self::invalid(kind, "meta.k8s.io", "", causes)
    }

    /// A patch that leads to nothing that could be read: why not.
    pub(crate) fn invalid_patch(why: String) -> Self {
        Self::invalid("", "", "", vec![Cause::new("FieldValueInvalid", "patch", format!("Invalid value: {why}"))])
    }

    /// A method that a page of discovery does not take.
    pub(crate) fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        let status = Self::new(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message);
        Self { details: Some(Box::default()), ..status }
    }

    /// What a resource cannot do.
    pub(crate) fn not_supported(resource: &Resource, action: &str) -> Self {
        let message = format!("{action} is not supported on resources of kind \"{}\"", qualified(resource));
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message).about(resource, "")
    }

    /// A body of a sort that is not read here.
    pub(crate) fn unsupported_media_type(supported: &str) -> Self {
        let message =
            format!("the body of the request was in an unknown format - accepted media types include: {supported}");
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UnsupportedMediaType", message)
    }

    /// An answer is wanted in a form that is not written here.
    pub(crate) fn not_acceptable(written: &str) -> Self {
        let message = format!("only the following media types are accepted: {written}");
        Self::new(StatusCode::NOT_ACCEPTABLE, "NotAcceptable", message)
    }

    /// A moment that has not come yet.
    pub(crate) fn too_large_version(wanted: &str, now: &str) -> Self {
        let message = format!("Timeout: Too large resource version: {wanted}, current: {now}");
        let cause = Cause::new("ResourceVersionTooLarge", "", "Too large resource version".into());
        let details = Details { causes: vec![cause], retry_after: Some(1), ..Details::default() };
        let status = Self::new(StatusCode::GATEWAY_TIMEOUT, "Timeout", message);
        Self { details: Some(Box::new(details)), ..status }
    }

    /// The moment is forgotten.
    pub(crate) fn expired(message: impl Into<String>) -> Self {
        Self::new(StatusCode::GONE, "Expired", message)
    }

    /// There is no memory for the request, or none for its caller.
    pub(crate) fn out_of_memory(exceeded: Exceeded) -> Self {
        let message = Refusal::OutOfMemory(exceeded).message();
        let status = Self::new(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests", message).retry_after(1);
        Self { is_out_of_memory: true, ..status }
    }

    /// The same, about an object of a resource.
    pub(crate) fn about(self, resource: &Resource, name: &str) -> Self {
        let definition = resource.definition();
        let (group, kind) = ((&*definition.group).into(), (&*definition.plural).into());
        let details = Details { name: name.into(), group, kind, ..Details::default() };
        Self { details: Some(Box::new(details)), ..self }
    }

    /// The same, to be tried again after some seconds.
    pub(crate) fn retry_after(mut self, seconds: u32) -> Self {
        self.details.get_or_insert_default().retry_after = Some(seconds);
        self
    }

    /// The status as JSON.
    pub(crate) fn json(&self) -> Vec<u8> {
        let outcome = if self.code.is_success() { "Success" } else { "Failure" };
        status_json(self, outcome)
    }

    pub(crate) fn answer(&self) -> Answer {
        let answer = Answer { cause: self.cause_of_failure(), ..Answer::json(self.code, self.json()) };
        match self.details.as_ref().and_then(|details| details.retry_after) {
            Some(seconds) => answer.with(header::RETRY_AFTER, HeaderValue::from(seconds)),
            None => answer,
        }
    }
}

impl Cause {
    pub(crate) fn new(reason: &'static str, field: &str, message: String) -> Self {
        Self { reason, message, field: field.into() }
    }
}

/// How objects of a resource are called in messages: `widgets.shop.example.com`.
pub(crate) fn qualified(resource: &Resource) -> String {
    let definition = resource.definition();
    format!("{}.{}", definition.plural, definition.group)
}

/// A whole number.
pub(crate) fn number(number: impl ToString, arena: &Arena) -> Value<'_> {
    Number::new(arena.text(&number.to_string())).map_or(Value::Null, Value::Number)
}

fn status_json(status: &Status, outcome: &str) -> Vec<u8> {
    let arena = Arena::new();
    let json = Json(&arena);
    let filled = |text| Some(Value::string(text)).filter(|_| !str::is_empty(text));
    let next = status.next.as_deref().map(|next| ("continue", filled(next)));
    let details = status.details.as_deref().map(|details| {
        let causes = details.causes.iter().map(|cause| {
            let fields = [
                ("reason", filled(cause.reason)),
                ("message", filled(&cause.message)),
                ("field", filled(&cause.field)),
            ];
            json.some(fields)
        });
        let causes =
            Some(Value::Array(arena.slice(&causes.collect::<Vec<_>>()))).filter(|_| !details.causes.is_empty());
        let fields = [
            ("name", filled(&details.name)),
            ("group", filled(&details.group)),
            ("kind", filled(&details.kind)),
            ("uid", filled(&details.uid)),
            ("causes", causes),
            ("retryAfterSeconds", details.retry_after.map(|seconds| number(seconds, &arena))),
        ];
        json.some(fields)
    });
    let fields = [
        ("kind", Some(Value::string("Status"))),
        ("apiVersion", Some(Value::string("v1"))),
        ("metadata", Some(json.some(next))),
        ("status", Some(Value::string(outcome))),
        ("message", filled(&status.message)),
        ("reason", filled(status.reason)),
        ("details", details),
        ("code", Some(number(status.code.as_u16(), &arena)).filter(|_| !status.code.is_success())),
    ];
    encode(json.some(fields))
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for Status {}

#[cfg(test)]
mod tests {
    use std::{
        io,
        sync::{Arc, Mutex},
    };

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_answer_that_is_broken_off_for_memory_is_a_warning() {
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone()).finish();
        tracing::subscriber::with_default(subscriber, || {
            Status::expired("too old").log("a list was broken off");
            assert_eq!(lines.0.lock().unwrap().len(), 0, "a client's error is not a warning");
            Status::out_of_memory(Exceeded::All).log("a list was broken off");
        });
        let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        assert!(text.contains("WARN") && text.contains("was cut off: the memory for answers"), "{text}");
    }
}
