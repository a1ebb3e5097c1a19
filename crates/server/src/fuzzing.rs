//! What the fuzzer reaches: requests that come from no network, and the access file.

use std::{fmt, sync::Arc};

use bytes::Bytes;
use http::{HeaderValue, header};
use http_body_util::{BodyExt, Full};
use wheelwright_repository::Repository;

use crate::{
    Server,
    auth::{AccessError, AccessFile},
    peer::Peer,
    server::Service,
};

/// A server without a socket.
pub struct Unbound(Arc<Service>);

impl Unbound {
    /// A server of the kinds of a repository.
    pub fn new(repository: Repository) -> Self {
        Self(Arc::new(Server::new(repository).service(([127, 0, 0, 1], 0).into())))
    }

    /// The answer to a request, with its body as a whole.
    pub async fn answer(&self, request: http::Request<Vec<u8>>) -> http::Response<Bytes> {
        let mut request = request.map(|body| Full::new(Bytes::from(body)));
        request.headers_mut().entry(header::HOST).or_insert(HeaderValue::from_static("localhost"));
        let Some(connection) = self.0.connections.enter() else { return http::Response::default() };
        let peer = Arc::new(Peer::local(&self.0.budget));
        let (head, body) = self.0.clone().respond(request, peer, connection.busy(false, None)).await.into_parts();
        let Ok(body) = body.collect().await;
        http::Response::from_parts(head, body.to_bytes())
    }
}

impl fmt::Debug for Unbound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unbound").finish_non_exhaustive()
    }
}

/// Reads an access file.
///
/// # Errors
/// It is not as it must be.
pub fn read_access(bytes: &[u8]) -> Result<(), AccessError> {
    AccessFile::parse("access.yaml", bytes.to_vec()).map(drop)
}
