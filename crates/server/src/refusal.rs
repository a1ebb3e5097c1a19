//! What is refused before a dialect has a say in it; each dialect spells it in its own way.

use std::{borrow::Cow, time::Duration};

use http::StatusCode;

use crate::{budget::Exceeded, path::BadPath};

/// A request that is not done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Refusal {
    /// Its path is none.
    Path(BadPath),
    /// It names no host, several, or one that cannot be.
    Host,
    /// Its body is longer than so many bytes.
    TooLarge(usize),
    /// Its body took longer than this to come.
    TooSlow(Duration),
    /// Its body was not sent to the end.
    CutShort,
    /// Its body is packed in some way.
    Packed,
    /// Who sent it did not say who they are, or it was not true: why not.
    Unknown(Cow<'static, str>),
    /// Who sent it may not do it: who may not do what.
    Forbidden(String),
    /// Too much is being done; later it may do.
    TooMany(Duration),
    /// Whoever sent it has so much being done that nothing would be left for others; later it may do.
    TooManyOfOne(Duration),
    /// There is no memory left for it, or none for its caller; later there may be.
    OutOfMemory(Exceeded),
    /// The request took too long; a read may be tried again after some time.
    OutOfTime(Option<Duration>),
    /// The audit log cannot be written, so that nothing was done.
    NotRecorded,
    /// The request was done, but its outcome could not be written to the audit log.
    OutcomeNotRecorded,
}

impl Refusal {
    /// The status of HTTP.
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::Path(_) | Self::Host | Self::CutShort => StatusCode::BAD_REQUEST,
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TooSlow(_) => StatusCode::REQUEST_TIMEOUT,
            Self::Packed => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Unknown(_) => StatusCode::UNAUTHORIZED,
            Self::Forbidden(_) => StatusCode::FORBIDDEN,
            Self::TooMany(_) | Self::TooManyOfOne(_) | Self::OutOfMemory(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::OutOfTime(_) | Self::OutcomeNotRecorded => StatusCode::GATEWAY_TIMEOUT,
            Self::NotRecorded => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// What to tell whoever sent it.
    pub(crate) fn message(&self) -> String {
        match self {
            Self::Path(bad) => bad.message().to_owned(),
            Self::Host => "the request needs one Host header, with a host".to_owned(),
            Self::TooLarge(most) => format!("the body is longer than {most} bytes"),
            Self::TooSlow(most) => format!("the body did not come within {} seconds", most.as_secs()),
            Self::CutShort => "the body was not sent to its end".to_owned(),
            Self::Packed => "the body has a Content-Encoding; send it as it is, without one".to_owned(),
            Self::Unknown(why) => why.clone().into_owned(),
            Self::Forbidden(why) => why.clone(),
            Self::TooMany(after) => {
                format!("the server is doing as much as it can; try again in {} seconds", after.as_secs().max(1))
            }
            Self::TooManyOfOne(after) => format!(
                "half of all that the server can do is being done for this caller, and the rest is for others; \
                 try again in {} seconds",
                after.as_secs().max(1)
            ),
            Self::OutOfMemory(Exceeded::All) => "the memory of the server is in use; try again in a second".to_owned(),
            Self::OutOfMemory(Exceeded::Caller) => {
                "half of the memory of the server is in use for this caller, and the \
                 rest is for others; read the answers that wait, and try again in a second"
                    .to_owned()
            }
            Self::NotRecorded => "the audit log cannot be written, so nothing was done; try again later".to_owned(),
            Self::OutcomeNotRecorded => {
                "the outcome could not be written to the audit log; read first whether it was done".to_owned()
            }
            Self::OutOfTime(None) => {
                "the request took too long; nobody knows whether it was done, so read first".to_owned()
            }
            Self::OutOfTime(Some(after)) => {
                format!("the request took too long; try again in {} seconds", after.as_secs().max(1))
            }
        }
    }

    /// When to try again.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::TooMany(after) | Self::TooManyOfOne(after) => Some(*after),
            Self::OutOfMemory(_) => Some(Duration::from_secs(1)),
            Self::NotRecorded => Some(Duration::from_secs(5)),
            Self::OutOfTime(after) => *after,
            _ => None,
        }
    }
}
