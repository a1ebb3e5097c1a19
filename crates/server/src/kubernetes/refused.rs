//! What the repository refuses or cannot do, as a status.

use http::StatusCode;
use wheelwright_document::PatchErrorKind;
use wheelwright_repository::{ErrorKind, StoreError};
use wheelwright_repository::{FieldError, FieldProblem, RepositoryError, WriteError};
use wheelwright_schema::ErrorType;

use super::{
    judge::cannot_be_handled,
    resource::Resource,
    status::{Cause, Status},
};
use crate::trouble::{cause, told};

/// What a request was about that was refused.
#[derive(Clone, Copy, Debug)]
pub(super) struct About<'r> {
    pub(super) resource: &'r Resource,
    pub(super) name: &'r str,
    pub(super) is_patch: bool,
}

impl<'r> About<'r> {
    pub(super) fn new(resource: &'r Resource, name: &'r str) -> Self {
        Self { resource, name, is_patch: false }
    }

    /// The status for what the repository says.
    pub(super) fn status(self, error: RepositoryError) -> Status {
        match error {
            RepositoryError::Store(error) => self.store(&error),
            // A name that cannot be one has no object.
            RepositoryError::Name(_) => Status::not_found(self.resource, self.name),
            RepositoryError::Write(error) => self.write(error),
            RepositoryError::Source(error) => unavailable(error.to_string()),
            RepositoryError::UnknownKind(_) | RepositoryError::UnknownVersion(_) => {
                Status::not_found(self.resource, self.name)
            }
            error => Status::internal(error.to_string()).about(self.resource, self.name),
        }
    }

    fn store(self, error: &StoreError) -> Status {
        let Self { resource, name, .. } = self;
        let status = match error.kind() {
            ErrorKind::Exists => Status::already_exists(resource, name),
            ErrorKind::Missing => Status::not_found(resource, name),
            ErrorKind::Conflict(_) => Status::modified(resource, name),
            ErrorKind::TooOld => Status::expired(error.to_string()),
            ErrorKind::BadToken => Status::bad_request(error.to_string()),
            ErrorKind::TooLarge => too_large(error.to_string()),
            ErrorKind::Throttled(after) => {
                let seconds = u32::try_from(after.as_secs()).unwrap_or(u32::MAX).max(1);
                let status = Status::new(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests", told(error));
                status.retry_after(seconds)
            }
            ErrorKind::Unavailable | ErrorKind::ReadOnly => unavailable(told(error).to_owned()),
            ErrorKind::Full => Status::new(StatusCode::INSUFFICIENT_STORAGE, "InsufficientStorage", told(error)),
            ErrorKind::Unknown => Status::new(StatusCode::GATEWAY_TIMEOUT, "Timeout", told(error)),
            _ => Status::internal(told(error)),
        };
        Status { cause: Some(cause(error)), ..status }
    }

    fn write(self, error: WriteError) -> Status {
        match error {
            WriteError::Judged(error) => match error.downcast::<Status>() {
                Ok(status) => *status,
                Err(error) => Status::internal(error.to_string()),
            },
            WriteError::Fields(errors) => self.fields(&errors),
            WriteError::Patch(error) => match error.kind() {
                PatchErrorKind::LimitExceeded => too_large(error.to_string()),
                PatchErrorKind::Malformed if error.operation().is_none() => {
                    Status::bad_request(format!("error decoding patch: {error}"))
                }
                _ => {
                    let status = Status::new(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", error.to_string());
                    Status { details: Some(Box::default()), ..status }
                }
            },
            WriteError::Decode(error) if self.is_patch => Status::bad_request(format!("error decoding patch: {error}")),
            WriteError::NoObject(_) if self.is_patch => Status::bad_request(format!("error decoding patch: {error}")),
            WriteError::Decode(_) | WriteError::NoObject(_) | WriteError::Admit(_) => {
                cannot_be_handled(self.resource, &error.to_string())
            }
            WriteError::TooLarge(_) => too_large(error.to_string()),
            WriteError::Put(_) => {
                let cause = Cause::new("FieldValueForbidden", "<nil>", format!("Forbidden: {error}"));
                self.invalid(vec![cause])
            }
            WriteError::UnknownVersion(_) => Status::not_found(self.resource, self.name),
            WriteError::Source(_) | WriteError::TooOld { .. } => unavailable(error.to_string()),
            error => Status::internal(error.to_string()).about(self.resource, self.name),
        }
    }

    fn fields(self, errors: &[FieldError]) -> Status {
        let is_unknown = |error: &&FieldError| matches!(error.problem, FieldProblem::Unknown);
        let mut unknown: Vec<String> =
            errors.iter().filter(is_unknown).map(|error| unknown_field(&error.path)).collect();
        if !unknown.is_empty() {
            unknown.sort_unstable();
            return self.strict(&unknown);
        }
        self.invalid(errors.iter().map(cause_of).collect())
    }

    /// Fields that are unknown or there twice.
    pub(super) fn strict(self, fields: &[String]) -> Status {
        let why = format!("strict decoding error: {}", fields.join(", "));
        match self.is_patch {
            true => Status::invalid_patch(why),
            false => cannot_be_handled(self.resource, &why),
        }
    }

    pub(super) fn invalid(self, causes: Vec<Cause>) -> Status {
        let definition = self.resource.definition();
        Status::invalid(&definition.kind, &definition.group, self.name, causes)
    }
}

/// What is said of a field that a version does not know.
pub(super) fn unknown_field(path: &wheelwright_document::FieldPath) -> String {
    format!("unknown field {:?}", path.as_str())
}

fn cause_of(error: &FieldError) -> Cause {
    let field = error.path.as_str();
    let (kind, message) = match &error.problem {
        FieldProblem::Invalid(error) => {
            let field = error.kubernetes_path();
            return Cause::new(error.kind().name(), field.as_str(), worded(error.kind(), error.message()));
        }
        FieldProblem::Demanded(kind, message) => (*kind, message.clone()),
        FieldProblem::NotWritable(why) => (ErrorType::Forbidden, (*why).to_owned()),
        _ => {
            let text = error.to_string();
            let message = text.strip_prefix(&format!("{field}: ")).unwrap_or(&text);
            (ErrorType::Forbidden, message.to_owned())
        }
    };
    Cause::new(kind.name(), field, worded(kind, &message))
}

/// What is wrong, after the words that clients know such errors by.
fn worded(kind: ErrorType, message: &str) -> String {
    let sort = match kind {
        ErrorType::Required => return "Required value".to_owned(),
        ErrorType::NotSupported => "Unsupported value",
        ErrorType::Forbidden => "Forbidden",
        ErrorType::Duplicate => "Duplicate value",
        ErrorType::TooLong => "Too long",
        ErrorType::TooMany => "Too many",
        _ => "Invalid value",
    };
    format!("{sort}: {message}")
}

fn too_large(message: String) -> Status {
    Status::new(StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLarge", message)
}

fn unavailable(message: String) -> Status {
    Status::new(StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailable", message).retry_after(1)
}
