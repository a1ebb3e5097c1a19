//! The line that a request leaves in the log.

use std::time::Duration;

use http::{HeaderName, StatusCode};

use crate::{access::Access, arm, caller::Caller, denials::Denials, kubernetes, peer::Peer, request_id::Ids};

/// The longest id that is told.
const LONGEST_ID: usize = 100;

/// What is told of a request. Tokens and bodies are no part of it.
#[derive(Debug)]
pub(crate) struct Line<'l> {
    pub(crate) dialect: &'static str,
    pub(crate) path: &'l str,
    /// None if it was about nothing that is served.
    pub(crate) access: Option<&'l Access>,
    /// None if nobody knows who it was.
    pub(crate) caller: Option<&'l Caller>,
    pub(crate) peer: &'l Peer,
    /// The ids in the headers of the answer.
    pub(crate) ids: &'l Ids,
    pub(crate) status: StatusCode,
    /// Why the server refused the request; none if its dialect did.
    pub(crate) reason: Option<&'l str>,
    /// The error that it failed with.
    pub(crate) error: Option<&'l str>,
    pub(crate) took: Duration,
}

impl Line<'_> {
    /// Writes it: for those who want to see every request; at any level if it failed, unless it is a probe whose answer is
    /// meant so; and as a warning if it is the first that its caller was denied.
    pub(crate) fn write(&self, is_probe: bool, denials: &Denials) {
        macro_rules! line {
            ($level:ident, $message:literal $(, $more:ident)?) => {
                tracing::$level!(
                    target: "wheelwright::request",
                    request = self.id(&arm::REQUEST_ID).or_else(|| self.id(&kubernetes::AUDIT_ID)),
                    correlation = self.id(&arm::CORRELATION_ID),
                    caller = self.caller.map_or("unknown", |caller| &*caller.name),
                    client = %self.peer.address,
                    dialect = self.dialect,
                    path = self.path,
                    verb = self.access.map_or("none", |access| access.verb.name()),
                    kind = self.access.and_then(|access| access.kind.as_deref()),
                    version = self.access.and_then(|access| access.version.as_deref()),
                    status = self.status.as_u16(),
                    reason = self.reason,
                    error = self.error,
                    microseconds = self.took.as_micros() as u64,
                    $($more = Some($more).filter(|more| *more > 0),)?
                    $message
                )
            };
        }
        let is_denied = matches!(self.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        if self.status.is_server_error() && !is_probe {
            line!(error, "a request failed");
        } else if is_denied && let Some(more) = self.admit_denial(denials) {
            line!(warn, "a request was denied", more);
        } else {
            line!(debug, "a request was answered");
        }
    }

    /// How many denials of the caller were not logged before this one, if this one is logged.
    fn admit_denial(&self, denials: &Denials) -> Option<u64> {
        match self.caller.filter(|caller| caller.grants.is_some()) {
            Some(caller) => denials.admit(self.status, &caller.name),
            None => denials.admit(self.status, &self.peer.address.ip().to_string()),
        }
    }

    /// An id in ASCII; no client fills the log with what it calls its request.
    fn id(&self, name: &HeaderName) -> Option<&str> {
        let id = self.ids.get(name)?.to_str().ok()?;
        Some(id.get(..LONGEST_ID).unwrap_or(id))
    }
}
