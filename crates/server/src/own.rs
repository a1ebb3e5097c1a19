//! What a server answers for itself: whether it lives, is ready, and what it counts.

use std::time::{Duration, Instant};

use http::{HeaderValue, Method, StatusCode, header};
use tokio::{sync::Mutex, time::timeout};
use wheelwright_repository::Repository;

use crate::{
    access::{Access, Scope, Verb},
    answer::Answer,
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
    (metrics, readiness): (&Metrics, &Readiness),
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
        Endpoint::Ready if readiness.is_ready(repository).await => Answer::text(StatusCode::OK, "ok"),
        Endpoint::Ready => Answer::text(StatusCode::SERVICE_UNAVAILABLE, "the store cannot be used\n"),
        Endpoint::Metrics => {
            // They tell of what everybody does.
            let everything = Access { verb: Verb::Get, kind: None, version: None, scope: Scope::All };
            if let Err(refusal) = head.caller.check(&everything) {
                return Some(Answer::text(refusal.status(), format!("{}\n", refusal.message())));
            }
            let open_metrics = HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
            Answer::text(StatusCode::OK, metrics.text()).with(header::CONTENT_TYPE, open_metrics)
        }
    };
    Some(answer)
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
