//! What a server answers for itself: whether it lives, is ready, and what it counts.

use std::time::{Duration, Instant};

use http::{HeaderValue, Method, StatusCode, header};
use tokio::{sync::Mutex, time::timeout};
use wheelwright_repository::Repository;

use crate::{
    access::{Access, Scope, Verb},
    answer::Answer,
    audit::AuditLog,
    metrics::Metrics,
    request::Head,
};

/// Whether the store could be used when it was last tried. Trying writes, and everybody may ask.
#[derive(Debug, Default)]
pub(crate) struct Readiness(Mutex<Option<(Instant, bool)>>);

/// How long what is known of the store counts.
const FRESH: Duration = Duration::from_secs(1);

/// How long the store may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Answers a request about the server itself; none if it is about something else.
pub(crate) async fn answer(
    head: &Head,
    repository: &Repository,
    (metrics, readiness, audit): (&Metrics, &Readiness, Option<&AuditLog>),
    is_ending: bool,
) -> Option<Answer> {
    let endpoint = match head.raw_path() {
        "/livez" | "/healthz" => Endpoint::Live,
        "/readyz" => Endpoint::Ready,
        "/metrics" => Endpoint::Metrics,
        _ => return None,
    };
    if ![Method::GET, Method::HEAD].contains(&head.method) {
        let refused = Answer::text(StatusCode::METHOD_NOT_ALLOWED, "only GET is understood here\n");
        return Some(refused.with(header::ALLOW, HeaderValue::from_static("GET, HEAD")));
    }
    let answer = match endpoint {
        Endpoint::Live => Answer::text(StatusCode::OK, "ok"),
        Endpoint::Ready if is_ending => Answer::text(StatusCode::SERVICE_UNAVAILABLE, "about to end\n"),
        Endpoint::Ready => {
            let is_ready = readiness.is_ready(repository).await;
            match (is_ready, head.query.get("verbose")) {
                (_, Some(_)) => verbose(is_ready, audit),
                (true, None) => Answer::text(StatusCode::OK, "ok"),
                (false, None) => Answer::text(StatusCode::SERVICE_UNAVAILABLE, "the store cannot be used\n"),
            }
        }
        Endpoint::Metrics => {
            // They tell of what everybody does.
            let everything = Access { verb: Verb::Get, kind: None, version: None, scope: Scope::All };
            if let Err(refusal) = head.caller.check(&everything) {
                let answer = Answer::text(refusal.status(), format!("{}\n", refusal.message()));
                return Some(answer.refusing(&refusal));
            }
            let open_metrics = HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
            Answer::text(StatusCode::OK, metrics.text()).with(header::CONTENT_TYPE, open_metrics)
        }
    };
    Some(answer)
}

/// The readiness of each part. Without its audit log the server is ready for reads, and for writes unless it is strict.
fn verbose(is_ready: bool, audit: Option<&AuditLog>) -> Answer {
    let line = |name: &str, is_good: bool| match is_good {
        true => format!("[+]{name} ok\n"),
        false => format!("[-]{name} failed\n"),
    };
    let mut text = line("store", is_ready);
    text.extend(audit.map(|audit| line("audit-log", !audit.is_failing())));
    let code = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    Answer::text(code, text)
}

/// Whether a path is for those who look after the server, whoever they are.
pub(crate) fn is_probe(path: &str) -> bool {
    matches!(path, "/livez" | "/healthz" | "/readyz")
}

impl Readiness {
    /// Tries the store, unless somebody just has.
    pub(crate) async fn is_ready(&self, repository: &Repository) -> bool {
        let mut known = self.0.lock().await;
        if let Some((tried, is_ready)) = *known
            && tried.elapsed() < FRESH
        {
            return is_ready;
        }
        let is_ready = match timeout(PATIENCE, repository.health()).await {
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
        *known = Some((Instant::now(), is_ready));
        is_ready
    }
}

enum Endpoint {
    Live,
    Ready,
    Metrics,
}
