//! A server, and a client that says no more than it is told to.

use std::{net::SocketAddr, path::Path, sync::Arc};

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper_util::rt::TokioIo;
use serde_json::Value as Json;
use tokio::{net::TcpStream, sync::oneshot};
use wheelwright_repository::{Repository, ServedKind};
use wheelwright_server::{Limits, Server};
use wheelwright_store::{Memory, Sqlite, SqliteOptions};

/// A server that ends with this.
pub(crate) struct Served {
    pub(crate) address: SocketAddr,
    pub(crate) repository: Repository,
    _end: oneshot::Sender<()>,
}

/// What was answered.
#[derive(Clone, Debug)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    /// In the order of their names.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Served {
    /// Serves kinds from a store in memory.
    pub(crate) async fn new(kinds: Vec<ServedKind>) -> Self {
        Self::with_limits(kinds, Limits::default()).await
    }

    /// Serves kinds from a database in a folder.
    pub(crate) async fn in_sqlite(kinds: Vec<ServedKind>, folder: &Path) -> Self {
        let store = Sqlite::open(folder.join("documents.db"), SqliteOptions::default()).expect("a database");
        Self::of(Repository::new(Arc::new(store), kinds), Limits::default()).await
    }

    pub(crate) async fn with_limits(kinds: Vec<ServedKind>, limits: Limits) -> Self {
        Self::of(Repository::new(Arc::new(Memory::new()), kinds), limits).await
    }

    pub(crate) async fn of(repository: Repository, limits: Limits) -> Self {
        let server = Server::new(repository.clone()).with_limits(limits);
        let serving = server.bind(([127, 0, 0, 1], 0).into()).await.expect("a free port");
        let address = serving.address();
        let (end, ended) = oneshot::channel();
        tokio::spawn(serving.run(async {
            let _: Result<(), _> = ended.await;
        }));
        Self { address, repository, _end: end }
    }

    /// Makes a request.
    pub(crate) async fn send(&self, method: &str, uri: &str, headers: &[(&str, &str)], body: &[u8]) -> Answered {
        let stream = TcpStream::connect(self.address).await.expect("a connection");
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.expect("a handshake");
        let connection = tokio::spawn(connection);
        let mut request = http::Request::builder().method(method).uri(uri).header("host", self.address.to_string());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(Bytes::copy_from_slice(body))).expect("a request");
        let response = sender.send_request(request).await.expect("an answer");
        let (head, body) = response.into_parts();
        let body = body.collect().await.expect("the whole answer").to_bytes().to_vec();
        connection.abort();
        let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let mut headers: Vec<_> = head.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect();
        headers.sort();
        Answered { status: head.status.as_u16(), headers, body }
    }

    /// Reads what is at a path.
    pub(crate) async fn get(&self, uri: &str) -> Answered {
        self.send("GET", uri, &[], b"").await
    }

    /// Sends JSON.
    pub(crate) async fn json(&self, method: &str, uri: &str, body: &Json) -> Answered {
        self.send(method, uri, &[("content-type", "application/json")], body.to_string().as_bytes()).await
    }

    pub(crate) async fn put(&self, uri: &str, body: &Json) -> Answered {
        self.json("PUT", uri, body).await
    }

    pub(crate) async fn patch(&self, uri: &str, body: &Json) -> Answered {
        self.json("PATCH", uri, body).await
    }

    pub(crate) async fn delete(&self, uri: &str) -> Answered {
        self.send("DELETE", uri, &[], b"").await
    }
}

impl Answered {
    /// The body, if the status is one of these.
    pub(crate) fn with_status(&self, wanted: &[u16]) -> Json {
        assert!(wanted.contains(&self.status), "{} {}", self.status, String::from_utf8_lossy(&self.body));
        match &self.body[..] {
            [] => Json::Null,
            body => serde_json::from_slice(body).expect("JSON"),
        }
    }

    /// The code of an error.
    pub(crate) fn code(&self) -> String {
        let body: Json = serde_json::from_slice(&self.body).expect("JSON");
        body["error"]["code"].as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}
