//! What a server answers for itself: whether it lives, is ready, and what it counts.

use http::{HeaderValue, Method, StatusCode, header};
use wheelwright_repository::Repository;

use crate::{answer::Answer, metrics::Metrics, request::Head};

/// Answers a request about the server itself; none if it is about something else.
pub(crate) async fn answer(head: &Head, repository: &Repository, metrics: &Metrics, is_ending: bool) -> Option<Answer> {
    let endpoint = match &*head.raw_path {
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
        Endpoint::Ready => match repository.store().health().await {
            Ok(_) => Answer::text(StatusCode::OK, "ok"),
            Err(error) => Answer::text(StatusCode::SERVICE_UNAVAILABLE, format!("the store: {error}\n")),
        },
        Endpoint::Metrics => {
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

enum Endpoint {
    Live,
    Ready,
    Metrics,
}
