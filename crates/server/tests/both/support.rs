//! A server of kinds in both dialects, a client, and the paths of one kind in each.

use std::{fs, net::SocketAddr, path::Path, sync::Arc};

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{net::TcpStream, sync::oneshot};
use wheelwright_catalog::Catalog;
use wheelwright_evolve::Kind;
use wheelwright_repository::{Repository, ServedKind};
use wheelwright_server::Server;
use wheelwright_store::Memory;

/// The subscription that the catalog of the shop declares, in another case.
pub(crate) const SUBSCRIPTION: &str = "5A2f-shop";

/// A server that ends with this.
pub(crate) struct Running {
    address: SocketAddr,
    _folder: TempDir,
    _end: oneshot::Sender<()>,
}

/// What was answered.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Running {
    /// A server of the orders of the shop.
    pub(crate) async fn shop() -> Self {
        Self::of(&shop(), None).await
    }

    /// A server of the orders of the shop that asks who one is.
    pub(crate) async fn guarded(access: &str) -> Self {
        Self::of(&shop(), Some(access)).await
    }

    /// A server of the catalog in a folder.
    pub(crate) async fn of(catalog: &Path, access: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut server = Server::new(Repository::new(Arc::new(Memory::new()), kinds(catalog)));
        if let Some(access) = access {
            let file = folder.path().join("access.yaml");
            fs::write(&file, access).unwrap();
            server = server.with_access(&file).unwrap();
        }
        let serving = server.bind(([127, 0, 0, 1], 0).into()).await.expect("a free port");
        let address = serving.address();
        let (end, ended) = oneshot::channel();
        tokio::spawn(serving.run(async {
            let _: Result<(), _> = ended.await;
        }));
        Self { address, _folder: folder, _end: end }
    }

    /// Makes a request.
    pub(crate) async fn request(&self, method: &str, uri: &str, headers: &[(&str, &str)], body: &[u8]) -> Answered {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
        let connection = tokio::spawn(connection);
        let mut request = http::Request::builder().method(method).uri(uri).header("host", self.address.to_string());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(Bytes::copy_from_slice(body))).unwrap();
        let (head, body) = sender.send_request(request).await.expect("an answer").into_parts();
        let body = body.collect().await.expect("the whole answer").to_bytes().to_vec();
        connection.abort();
        let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers = head.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect();
        Answered { status: head.status.as_u16(), headers, body }
    }

    /// Sends JSON, or a merge patch.
    pub(crate) async fn send(&self, method: &str, uri: &str, body: &Value) -> Answered {
        let sort = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        self.request(method, uri, &[("content-type", sort)], body.to_string().as_bytes()).await
    }

    /// What is at a path.
    pub(crate) async fn get(&self, uri: &str) -> Value {
        self.request("GET", uri, &[], b"").await.with_status(200)
    }

    pub(crate) async fn delete(&self, uri: &str) -> Answered {
        self.request("DELETE", uri, &[], b"").await
    }
}

impl Answered {
    /// The body, if the status is the one that is wanted.
    pub(crate) fn with_status(&self, wanted: u16) -> Value {
        assert_eq!(self.status, wanted, "{}", String::from_utf8_lossy(&self.body));
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// The status, and the code of an error in the words of Azure's resource manager.
    pub(crate) fn error(&self) -> (u16, String) {
        let body: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        (self.status, body["error"]["code"].as_str().unwrap_or_default().to_owned())
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

/// Where an order is to Azure's resource manager, or those of a group without a name.
pub(crate) fn arm(group: &str, name: &str, version: &str) -> String {
    let slash = if name.is_empty() { "" } else { "/" };
    let scope = format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/{group}");
    format!("{scope}/providers/Example.Shop/orders{slash}{name}?api-version={version}")
}

/// Where an order is to Kubernetes, or those of a namespace without a name.
pub(crate) fn kubernetes(namespace: &str, name: &str, version: &str) -> String {
    let slash = if name.is_empty() { "" } else { "/" };
    format!("/apis/shop.example.com/{version}/namespaces/{namespace}/orders{slash}{name}")
}

/// An order of v2, as Kubernetes takes it.
pub(crate) fn order(name: &str, quantity: i64) -> Value {
    json!({"apiVersion": "shop.example.com/v2", "kind": "Order", "metadata": {"name": name}, "spec": {"quantity": quantity}})
}

/// What both dialects say of a document: neither where nor what it is.
pub(crate) fn said(document: &Value) -> Value {
    const OTHERS: [&str; 9] = ["apiVersion", "kind", "metadata", "id", "name", "type", "systemData", "tags", "etag"];
    let mut said = document.clone();
    said.as_object_mut().unwrap().retain(|key, _| !OTHERS.contains(&key.as_str()));
    said
}

pub(crate) fn shop() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/both/shop")
}

pub(crate) fn kinds(catalog: &Path) -> Vec<ServedKind> {
    let catalog = Catalog::load(&[catalog]).expect("a catalog");
    let findings: Vec<_> = catalog.findings().iter().map(|finding| &finding.message).collect();
    assert!(findings.is_empty(), "{findings:?}");
    let kinds = catalog.kinds().iter().map(|declared| {
        let (kind, problems) = Kind::compile(&declared.declaration, None);
        assert!(problems.is_empty(), "{problems:?}");
        ServedKind::new(kind.expect("there are versions"), declared).expect("a name for keys")
    });
    kinds.collect()
}
