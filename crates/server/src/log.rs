//! The line that a request leaves in the log.

use std::time::Duration;

use http::{HeaderMap, HeaderName, StatusCode};

use crate::{access::Access, arm, caller::Caller, kubernetes, peer::Peer};

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
    pub(crate) ids: &'l HeaderMap,
    pub(crate) status: StatusCode,
    pub(crate) took: Duration,
}

impl Line<'_> {
    /// Writes it: for those who want to see every request, and at any level if it failed, unless it is a probe whose answer is
    /// meant so.
    pub(crate) fn write(&self, is_probe: bool) {
        macro_rules! line {
            ($level:ident, $message:literal) => {
                tracing::$level!(
                    target: "wheelwright::request",
                    request = self.id(arm::REQUEST_ID).or_else(|| self.id(kubernetes::AUDIT_ID)),
                    correlation = self.id(arm::CORRELATION_ID),
                    caller = self.caller.map_or("unknown", |caller| &*caller.name),
                    client = %self.peer.address,
                    dialect = self.dialect,
                    path = self.path,
                    verb = self.access.map_or("none", |access| access.verb.name()),
                    kind = self.access.and_then(|access| access.kind.as_deref()),
                    version = self.access.and_then(|access| access.version.as_deref()),
                    status = self.status.as_u16(),
                    microseconds = self.took.as_micros() as u64,
                    $message
                )
            };
        }
        match self.status.is_server_error() && !is_probe {
            true => line!(error, "a request failed"),
            false => line!(debug, "a request was answered"),
        }
    }

    /// An id in ASCII; no client fills the log with what it calls its request.
    fn id(&self, name: HeaderName) -> Option<&str> {
        let id = self.ids.get(name)?.to_str().ok()?;
        Some(id.get(..LONGEST_ID).unwrap_or(id))
    }
}
