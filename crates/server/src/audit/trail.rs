//! What one request does, and the lines of the audit log that it leaves.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use http::{Method, StatusCode};
use tokio::time::Instant;
use wheelwright_document::Arena;
use wheelwright_repository::{Revision, Written};

use super::{AuditLog, NotRecorded, line::Line, log::Recording};
use crate::{access::Access, answer::Answer, arm, kubernetes, request_id::Ids};

/// The most objects that are removed in strict mode before their lines are on record.
const MOST_PENDING: usize = 50;

/// The lines that a request leaves in the audit log; none where there is no audit log.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trail(Option<Arc<Lines>>);

/// Where a request comes from, before it is known what it is about.
#[derive(Debug)]
pub(crate) struct Origin {
    pub(crate) request: Option<String>,
    pub(crate) correlation: Option<String>,
    pub(crate) client: SocketAddr,
    /// None if the client did not prove who it is.
    pub(crate) caller: Option<Box<str>>,
    /// How the client proved, or tried to prove, who it is.
    pub(crate) credential: &'static str,
    /// The name in the client's certificate.
    pub(crate) certificate: Option<Box<str>>,
    pub(crate) dialect: &'static str,
    pub(crate) method: Method,
    pub(crate) path: String,
}

#[derive(Debug)]
struct Lines {
    log: AuditLog,
    origin: Origin,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    access: Option<Access>,
    name: Option<String>,
    revision: Option<String>,
    is_changed: Option<bool>,
    is_dry_run: Option<bool>,
    /// Whether the line before a write is on record.
    is_intended: bool,
    /// Lines of objects that are not yet known to be on record.
    pending: Vec<Recording>,
    is_done: bool,
}

/// An object that a request about several or about its owner removed.
#[derive(Debug)]
pub(crate) struct Removed<'r> {
    pub(crate) kind: Option<&'r str>,
    pub(crate) name: &'r str,
    pub(crate) status: StatusCode,
    pub(crate) revision: Option<&'r Revision>,
    pub(crate) is_dry_run: bool,
}

impl Origin {
    /// The ids of a request in the headers of its answer: its own, and that of all requests of something larger.
    pub(crate) fn ids(ids: &Ids) -> (Option<String>, Option<String>) {
        let id = |name: &_| ids.get(name).and_then(|id| Some(id.to_str().ok()?.to_owned()));
        (id(&arm::REQUEST_ID).or_else(|| id(&kubernetes::AUDIT_ID)), id(&arm::CORRELATION_ID))
    }
}

impl Trail {
    /// The trail of a request, if there is an audit log.
    pub(crate) fn begin(log: Option<&AuditLog>, origin: impl FnOnce() -> Origin) -> Self {
        Self(log.map(|log| Arc::new(Lines { log: log.clone(), origin: origin(), state: Mutex::default() })))
    }

    /// What the request is about.
    pub(crate) fn about(&self, access: &Access, name: impl FnOnce() -> Option<String>) {
        if let Some(mut state) = self.state() {
            (state.access, state.name) = (Some(access.clone()), name());
        }
    }

    /// The name of the object that the body of the request names.
    pub(crate) fn named(&self, name: &str) {
        if let Some(mut state) = self.state() {
            state.name = Some(name.to_owned());
        }
    }

    /// A document was written.
    pub(crate) fn wrote(&self, written: &Written, is_dry_run: bool) {
        self.changed(Some(&written.document.revision), written.is_changed, is_dry_run);
    }

    /// A document was written or removed.
    pub(crate) fn changed(&self, revision: Option<&Revision>, is_changed: bool, is_dry_run: bool) {
        if let Some(mut state) = self.state() {
            state.revision = revision.map(|revision| revision.as_str().to_owned());
            (state.is_changed, state.is_dry_run) = (Some(is_changed), Some(is_dry_run));
        }
    }

    /// Adds a line for one of several objects that a request removes.
    ///
    /// # Errors
    /// In strict mode, lines are not on record: no more objects may be removed. This is checked every [`MOST_PENDING`]
    /// lines, and at each line while the log cannot be written.
    pub(crate) async fn removed(&self, removed: &Removed<'_>) -> Result<(), NotRecorded> {
        let Some(lines) = &self.0 else { return Ok(()) };
        let pending = lines.add_removed(removed);
        if pending >= MOST_PENDING || lines.log.is_failing() { self.settle().await } else { Ok(()) }
    }

    /// Adds a line for a watch or a long list that ended because its caller lost access.
    pub(crate) fn revoked(&self, reason: &str) {
        let Some(lines) = &self.0 else { return };
        let arena = Arena::new();
        let mut line = lines.line("revoked", &arena);
        line.access(lines.state().access.as_ref(), None);
        line.text("reason", Some(reason));
        lines.log.submit(line.bytes());
    }

    /// In strict mode, puts on record that a write is about to be done.
    pub(crate) async fn intend(&self) -> Result<(), NotRecorded> {
        let Some(lines) = self.0.as_ref().filter(|lines| lines.log.is_strict()) else { return Ok(()) };
        lines.log.record(lines.intent()).wait().await?;
        lines.state().is_intended = true;
        Ok(())
    }

    /// In strict mode, waits until the lines of all objects are on record.
    pub(crate) async fn settle(&self) -> Result<(), NotRecorded> {
        let pending = self.state().map(|mut state| std::mem::take(&mut state.pending)).unwrap_or_default();
        for line in pending {
            line.wait().await?;
        }
        Ok(())
    }

    /// Adds the last line, if the request is a write or was refused. If the line before a write is on record, waits until
    /// this one is, too.
    pub(crate) async fn done(&self, answer: &Answer, began: Instant) -> Result<(), NotRecorded> {
        let Some(lines) = &self.0 else { return Ok(()) };
        let Some(line) = lines.outcome(answer, began.elapsed()) else { return Ok(()) };
        if !lines.state().is_intended {
            lines.log.submit(line);
            return Ok(());
        }
        let recorded = lines.log.record(line.clone());
        let recorded = self.settle().await.and(recorded.wait().await);
        if recorded.is_err() {
            let line = String::from_utf8_lossy(line.trim_ascii_end());
            tracing::error!(%line, "the outcome of a write is not in the audit log");
        }
        recorded
    }

    fn state(&self) -> Option<MutexGuard<'_, State>> {
        self.0.as_ref().map(|lines| lines.state())
    }
}

impl Lines {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_write(&self) -> bool {
        !self.origin.method.is_safe()
    }

    /// The fields that all lines of the request have.
    fn line<'a>(&self, stage: &'static str, arena: &'a Arena) -> Line<'a> {
        let origin = &self.origin;
        let mut line = Line::new(stage, arena);
        line.word("request", origin.request.as_deref());
        line.word("correlation", origin.correlation.as_deref());
        line.word("client", Some(&origin.client.to_string()));
        line.word("caller", Some(origin.caller.as_deref().unwrap_or("unknown")));
        line.word("credential", Some(origin.credential));
        line.word("certificate", origin.certificate.as_deref());
        line.word("dialect", Some(origin.dialect));
        line.word("method", Some(origin.method.as_str()));
        line.text("path", Some(&origin.path));
        line
    }

    /// Adds a line for a removed object; returns the number of lines that are not yet known to be on record.
    fn add_removed(&self, removed: &Removed<'_>) -> usize {
        let arena = Arena::new();
        let mut line = self.line("object", &arena);
        let mut state = self.state();
        line.access(state.access.as_ref(), removed.kind);
        line.text("name", Some(removed.name));
        line.number("status", Some(removed.status.as_u16().into()));
        line.truth("changed", Some(removed.status.is_success()));
        line.truth("dryRun", Some(removed.is_dry_run));
        line.word("revision", removed.revision.map(Revision::as_str));
        match self.log.is_strict() {
            true => state.pending.push(self.log.record(line.bytes())),
            false => self.log.submit(line.bytes()),
        }
        state.pending.len()
    }

    fn intent(&self) -> Vec<u8> {
        let arena = Arena::new();
        let mut line = self.line("intent", &arena);
        let state = self.state();
        line.access(state.access.as_ref(), None);
        line.text("name", state.name.as_deref());
        line.bytes()
    }

    /// The last line; none if the request neither is a write nor was refused.
    fn outcome(&self, answer: &Answer, took: Duration) -> Option<Vec<u8>> {
        let mut state = self.state();
        state.is_done = true;
        let is_refused = match answer.status {
            StatusCode::BAD_REQUEST => state.access.is_none(),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => true,
            StatusCode::MISDIRECTED_REQUEST | StatusCode::TOO_MANY_REQUESTS => true,
            _ => false,
        };
        (self.is_write() || is_refused).then(|| self.last(&state, Some((answer, took))))
    }

    fn last(&self, state: &State, outcome: Option<(&Answer, Duration)>) -> Vec<u8> {
        let arena = Arena::new();
        let mut line = self.line("done", &arena);
        line.access(state.access.as_ref(), None);
        line.text("name", state.name.as_deref());
        line.number("status", outcome.map(|(answer, _)| answer.status.as_u16().into()));
        line.text(
            "reason",
            match outcome {
                Some((answer, _)) => answer.reason.as_deref(),
                None => Some("the request was cut off; it may have been done"),
            },
        );
        line.truth("changed", state.is_changed);
        line.truth("dryRun", state.is_dry_run);
        line.word("revision", state.revision.as_deref().filter(|revision| !revision.is_empty()));
        line.number("microseconds", outcome.map(|(_, took)| u64::try_from(took.as_micros()).unwrap_or(u64::MAX)));
        line.bytes()
    }
}

/// A request that is dropped before it was answered: its client has left, or the server ends.
impl Drop for Lines {
    fn drop(&mut self) {
        let state = std::mem::take(&mut *self.state());
        if !self.is_write() || state.is_done {
            return;
        }
        let line = self.last(&state, None);
        match state.is_intended {
            true => drop(self.log.record(line)),
            false => self.log.submit(line),
        }
    }
}

impl Line<'_> {
    fn access(&mut self, access: Option<&Access>, kind: Option<&str>) {
        self.word("verb", access.map(|access| access.verb.name()));
        self.word("kind", kind.or(access.and_then(|access| access.kind.as_deref())));
        self.word("version", access.and_then(|access| access.version.as_deref()));
        self.text("scope", access.map(|access| access.scope.as_granted()).as_deref());
    }
}

/// Adds a line for a connection that was refused with its client's certificate.
pub(crate) fn refused_certificate(log: Option<&AuditLog>, client: SocketAddr, error: &std::io::Error) {
    let Some(log) = log else { return };
    let arena = Arena::new();
    let mut line = Line::new("done", &arena);
    line.word("client", Some(&client.to_string()));
    line.word("caller", Some("unknown"));
    line.word("credential", Some("certificate"));
    line.text("reason", Some(&error.to_string()));
    log.submit(line.bytes());
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::{fs::File, path::Path, process::Command};

    use super::*;
    use crate::audit::AuditLoss;

    /// The trail of a write in strict mode.
    fn trail(log: &AuditLog) -> Trail {
        let origin = || Origin {
            request: None,
            correlation: None,
            client: ([127, 0, 0, 1], 1).into(),
            caller: None,
            credential: "none",
            certificate: None,
            dialect: "kubernetes",
            method: Method::POST,
            path: "/".to_owned(),
        };
        Trail::begin(Some(log), origin)
    }

    #[tokio::test]
    async fn removals_stop_when_their_lines_are_not_recorded() {
        let trail = trail(&AuditLog::open(Path::new("/dev/full"), AuditLoss::Refused).unwrap());
        let removed = Removed { kind: None, name: "one", status: StatusCode::OK, revision: None, is_dry_run: false };
        let mut count = 1;
        while trail.removed(&removed).await.is_ok() {
            count += 1;
        }
        assert!(count <= MOST_PENDING, "{count} objects were removed");
    }

    #[tokio::test]
    async fn refused_requests_wait_for_nothing_and_leave_room_for_the_lines_of_writes() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        // A reader that never reads.
        let unread = File::options().read(true).write(true).open(&pipe).unwrap();
        let log = AuditLog::open(&pipe, AuditLoss::Refused).unwrap();
        let refused = Answer::empty(StatusCode::UNAUTHORIZED);
        while log.lost().get() == 0 {
            trail(&log).done(&refused, Instant::now()).await.unwrap();
        }
        let line = b"the line of a write".to_vec();
        assert!(log.record(line).is_accepted());
        // Ends the thread that writes.
        drop(unread);
    }
}
