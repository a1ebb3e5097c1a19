//! The id by which a request is found again in logs.

use http::{HeaderMap, HeaderName};

use crate::request_id::{self, Ids};

pub(crate) const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");

/// The id of a request, for its answer: the one that the client gave it, else a new one.
pub(crate) fn ids(request: &HeaderMap) -> Ids {
    let id = request.get(AUDIT_ID).filter(|id| request_id::is_fit(id)).cloned().or_else(request_id::new);
    Ids(id.map(|id| (AUDIT_ID, id)).into_iter().collect())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn answered(id: &str) -> String {
        let request = HeaderMap::from_iter([(AUDIT_ID, HeaderValue::from_str(id).unwrap())]);
        ids(&request).get(&AUDIT_ID).unwrap().to_str().unwrap().to_owned()
    }

    #[test]
    fn a_clients_id_is_answered_unless_it_is_none() {
        assert_eq!(answered("my-request-7"), "my-request-7");
        for unfit in [String::new(), "x".repeat(65)] {
            let own = answered(&unfit);
            assert_ne!(own, unfit);
            assert_ne!(own, answered(&unfit), "each request has its own");
        }
    }
}
