//! What a server answers for itself: whether it lives, is ready, and what it counts.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use http::{HeaderValue, Method, StatusCode, header};
use tokio::{runtime::Handle, time::timeout};
use wheelwright_repository::Repository;

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
    last: Mutex<Option<(Instant, bool)>>,
    /// Held while the store is tried.
    trying: tokio::sync::Mutex<()>,
    /// Where the store is tried. It may take its time over a read, and the thread of probes must not wait for that.
    runtime: Option<Handle>,
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
            let is_ready = readiness.is_ready().await;
            match (is_ready, head.query.get("verbose")) {
                (_, Some(_)) => verbose(is_ready, audit, damaged.as_deref()),
                (true, None) => Answer::text(StatusCode::OK, "ok"),
                (false, None) => Answer::text(StatusCode::SERVICE_UNAVAILABLE, "the store cannot be used\n"),
            }
        }
        Endpoint::Metrics => {
            // They tell of what everybody does.
            if let Err(refusal) = head.caller.check(&everything()) {
                let answer = Answer::text(refusal.status(), format!("{}\n", refusal.message()));
                return answer.refusing(&refusal);
            }
            let open_metrics = HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
            Answer::text(StatusCode::OK, metrics.text()).with(header::CONTENT_TYPE, open_metrics)
        }
    }
}

/// Access to all documents of all kinds, for reading.
pub(crate) fn everything() -> Access {
    Access { verb: Verb::Get, kind: None, version: None, scope: Scope::All }
}

/// The readiness of each part. Without its audit log the server is ready for reads, and for writes unless it is strict. With
/// damaged records it is ready for all others.
fn verbose(is_ready: bool, audit: Option<&AuditLog>, damaged: Option<&str>) -> Answer {
    let line = |name: &str, is_good: bool| match is_good {
        true => format!("[+]{name} ok\n"),
        false => format!("[-]{name} failed\n"),
    };
    let mut text = line("store", is_ready);
    text.extend(damaged.map(|damaged| format!("[!]damaged records: {damaged}\n")));
    text.extend(audit.map(|audit| line("audit-log", !audit.is_failing())));
    let code = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
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
    pub(crate) async fn is_ready(self: &Arc<Self>) -> bool {
        let Some(runtime) = &self.runtime else { return self.tried().await };
        if let Some(is_ready) = self.last(FRESH) {
            return is_ready;
        }
        let this = self.clone();
        let mut trying = runtime.spawn(async move { this.tried().await });
        let tried = match (timeout(SOON, &mut trying).await, self.last(STALE)) {
            (Ok(tried), _) => tried,
            (Err(_), Some(is_ready)) => return is_ready,
            (Err(_), None) => trying.await,
        };
        tried.unwrap_or(false)
    }

    /// What the last try came to, if it is no older than this.
    fn last(&self, age: Duration) -> Option<bool> {
        let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.filter(|(tried, _)| tried.elapsed() < age).map(|(_, is_ready)| is_ready)
    }

    /// Tries the store, unless it just was.
    async fn tried(&self) -> bool {
        let _trying = self.trying.lock().await;
        if let Some(is_ready) = self.last(FRESH) {
            return is_ready;
        }
        let is_ready = match timeout(PATIENCE, self.repository.health()).await {
            Ok(Ok(_)) => true,
            Ok(Err(error)) => {
                tracing::error!(%error, "the store cannot be used");
                false
            }
            Err(_) => {
                tracing::error!("the store does not answer");
                false
            }
        };
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), is_ready));
        is_ready
    }
}

enum Endpoint {
    Live,
    Ready,
    Metrics,
}
