//! What a server answers for itself: whether it lives, is ready, and what it counts.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use http::{HeaderValue, Method, StatusCode, header};
use tokio::{runtime::Handle, time::timeout};
use wheelwright_repository::{ErrorKind, Repository, RepositoryError};

use crate::{
    access::{Access, Scope, Verb},
    answer::Answer,
    audit::AuditLog,
    connections::Busy,
    held::Held,
    metrics::Metrics,
    request::Head,
};

/// Whether the store can be used. Trying it writes, and everybody may ask, so that it is tried at most once a second.
#[derive(Debug)]
pub(crate) struct Readiness {
    repository: Repository,
    /// What the last try came to.
    last: Mutex<Option<(Instant, StoreState)>>,
    /// Held while the store is tried.
    trying: tokio::sync::Mutex<()>,
    /// Where the store is tried. It may take its time over a read, and the thread of probes must not wait for that.
    runtime: Option<Handle>,
}

/// Whether the store can be used, and if not, why.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StoreState {
    Ok,
    /// There is no room for writes.
    Full,
    /// The structure of the store is damaged.
    Damaged,
    /// It cannot be reached, or fails in another way.
    Unavailable,
}

/// How long the last try is as good as another one.
const FRESH: Duration = Duration::from_secs(1);

/// How long the last try is given as an answer while another one takes long.
const STALE: Duration = Duration::from_secs(10);

/// How long a try may take until the last one is given as an answer.
const SOON: Duration = Duration::from_millis(500);

const METRICS: &str = "/metrics";

/// How long the store may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Answers a request about the server itself: one whose path [is its own](is_own).
pub(crate) async fn answer(
    head: &Head,
    (metrics, readiness, audit): (&Metrics, &Arc<Readiness>, Option<&AuditLog>),
    damaged: Option<String>,
    is_ending: bool,
) -> Answer {
    let endpoint = match head.raw_path() {
        "/livez" | "/healthz" => Endpoint::Live,
        "/readyz" => Endpoint::Ready,
        _ => Endpoint::Metrics,
    };
    if ![Method::GET, Method::HEAD].contains(&head.method) {
        let refused = Answer::text(StatusCode::METHOD_NOT_ALLOWED, "only GET is understood here\n");
        return refused.with(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
    }
    match endpoint {
        Endpoint::Live => Answer::text(StatusCode::OK, "ok"),
        Endpoint::Ready if is_ending => Answer::text(StatusCode::SERVICE_UNAVAILABLE, "about to end\n"),
        Endpoint::Ready => {
            let state = readiness.state().await;
            match (state, head.query.get("verbose")) {
                (_, Some(_)) => verbose(state, audit, damaged.as_deref()),
                (StoreState::Ok, None) => Answer::text(StatusCode::OK, "ok"),
                (_, None) => Answer::text(StatusCode::SERVICE_UNAVAILABLE, "the store cannot be used\n"),
            }
        }
        Endpoint::Metrics => {
            // They tell of what everybody does.
            if let Err(refusal) = head.caller.check(&everything()) {
                let answer = Answer::text(refusal.status(), format!("{}\n", refusal.message()));
                return answer.refusing(&refusal);
            }
            let open_metrics = HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
            let text = metrics.text(readiness.state().await);
            Answer::text(StatusCode::OK, text).with(header::CONTENT_TYPE, open_metrics)
        }
    }
}

/// Access to all documents of all kinds, for reading.
pub(crate) fn everything() -> Access {
    Access { verb: Verb::Get, kind: None, version: None, scope: Scope::All }
}

/// The readiness of each part. Without its audit log the server is ready for reads, and for writes unless it is strict. With
/// damaged records it is ready for all others.
fn verbose(state: StoreState, audit: Option<&AuditLog>, damaged: Option<&str>) -> Answer {
    let (code, mut text) = match state {
        StoreState::Ok => (StatusCode::OK, "[+]store ok\n".to_owned()),
        failed => (StatusCode::SERVICE_UNAVAILABLE, format!("[-]store failed: {}\n", failed.name())),
    };
    text.extend(damaged.map(|damaged| format!("[!]damaged records: {damaged}\n")));
    text.push_str(match audit.map(AuditLog::is_failing) {
        None => "",
        Some(false) => "[+]audit-log ok\n",
        Some(true) => "[-]audit-log failed\n",
    });
    Answer::text(code, text)
}

/// Whether the first bytes of a connection are the request line of a probe, or of a request for metrics.
pub(crate) fn begins_probe(bytes: &[u8]) -> bool {
    let target = bytes.strip_prefix(b"GET ").or_else(|| bytes.strip_prefix(b"HEAD "));
    let path = target.and_then(|target| target.split(|byte| b" ?".contains(byte)).next());
    // A path that is not over yet may be that of another resource.
    let is_whole = target.zip(path).is_some_and(|(target, path)| path.len() < target.len());
    is_whole && path.and_then(|path| str::from_utf8(path).ok()).is_some_and(is_own)
}

/// Whether a path is about the server itself.
pub(crate) fn is_own(path: &str) -> bool {
    is_probe(path) || path == METRICS
}

/// The answer to any other request at the address of probes.
pub(crate) fn not_served(busy: Busy) -> http::Response<Held> {
    let answer = Answer::text(StatusCode::NOT_FOUND, "only /livez, /healthz, /readyz and /metrics are served here\n");
    answer.into_response().map(|body| Held::new(body, None, None, busy, false))
}

/// Whether a path is for those who look after the server, whoever they are.
pub(crate) fn is_probe(path: &str) -> bool {
    matches!(path, "/livez" | "/healthz" | "/readyz")
}

impl Readiness {
    /// Tries the store of a repository in the current runtime.
    pub(crate) fn new(repository: Repository) -> Self {
        Self {
            repository,
            last: Mutex::default(),
            trying: tokio::sync::Mutex::default(),
            runtime: Handle::try_current().ok(),
        }
    }

    /// Whether the store can be used, as far as is known soon.
    pub(crate) async fn state(self: &Arc<Self>) -> StoreState {
        let Some(runtime) = &self.runtime else { return self.tried().await };
        if let Some(state) = self.last(FRESH) {
            return state;
        }
        let this = self.clone();
        let mut trying = runtime.spawn(async move { this.tried().await });
        let tried = match (timeout(SOON, &mut trying).await, self.last(STALE)) {
            (Ok(tried), _) => tried,
            (Err(_), Some(state)) => return state,
            (Err(_), None) => trying.await,
        };
        tried.unwrap_or(StoreState::Unavailable)
    }

    /// What the last try came to, if it is no older than this.
    fn last(&self, age: Duration) -> Option<StoreState> {
        let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.filter(|(tried, _)| tried.elapsed() < age).map(|(_, state)| state)
    }

    /// Tries the store, unless it just was.
    async fn tried(&self) -> StoreState {
        let _trying = self.trying.lock().await;
        if let Some(state) = self.last(FRESH) {
            return state;
        }
        let state = match timeout(PATIENCE, self.repository.health()).await {
            Ok(Ok(_)) => StoreState::Ok,
            Ok(Err(error)) => {
                tracing::error!(%error, "the store cannot be used");
                StoreState::of(&error)
            }
            Err(_) => {
                tracing::error!("the store does not answer");
                StoreState::Unavailable
            }
        };
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), state));
        state
    }
}

impl StoreState {
    pub(crate) const ALL: [Self; 4] = [Self::Ok, Self::Full, Self::Damaged, Self::Unavailable];

    /// The state of a store that fails with an error.
    fn of(error: &RepositoryError) -> Self {
        match error.store() {
            Some(ErrorKind::Full) => Self::Full,
            Some(ErrorKind::Corrupt) => Self::Damaged,
            _ => Self::Unavailable,
        }
    }

    /// The word for it in metrics and in `/readyz?verbose`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Full => "full",
            Self::Damaged => "damaged",
            Self::Unavailable => "unavailable",
        }
    }
}

enum Endpoint {
    Live,
    Ready,
    Metrics,
}

#[cfg(test)]
mod tests {
    use wheelwright_store::StoreError;

    use super::*;

    #[test]
    fn the_state_of_a_store_follows_from_its_error() {
        for (kind, state) in [
            (ErrorKind::Full, "full"),
            (ErrorKind::Corrupt, "damaged"),
            (ErrorKind::ReadOnly, "unavailable"),
            (ErrorKind::Unavailable, "unavailable"),
        ] {
            let error = RepositoryError::Store(StoreError::new(kind, "the file /srv/shop.db"));
            assert_eq!(StoreState::of(&error).name(), state, "{error:?}");
        }
    }
}
