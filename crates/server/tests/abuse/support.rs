//! A server over real sockets, and clients that say whatever they like.

use std::{fs, net::SocketAddr, path::Path, sync::Arc, time::Duration};

use tempfile::TempDir;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpStream,
    sync::oneshot,
    time::timeout,
};
use wheelwright_catalog::Catalog;
use wheelwright_evolve::Kind;
use wheelwright_repository::{Repository, ServedKind};
use wheelwright_server::{Limits, Listener, Server, TlsFiles};
use wheelwright_store::{Memory, Store};

/// What nothing may take longer than, on a machine that has much else to do.
pub(crate) const LONG: Duration = Duration::from_secs(30);

/// A server that ends when this is dropped.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    /// Where only probes are answered.
    pub(crate) probes: SocketAddr,
    /// With the files that the server reads again when they change.
    pub(crate) folder: TempDir,
    end: Option<oneshot::Sender<()>>,
    ended: tokio::task::JoinHandle<()>,
}

/// What a server answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// All lines before the body.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Running {
    pub(crate) async fn with_limits(limits: Limits) -> Self {
        Self::start(limits, None, None).await
    }

    /// A server that asks everybody who they are, as a file says.
    pub(crate) async fn with_access(access: &str) -> Self {
        Self::start(Limits::default(), Some(access), None).await
    }

    pub(crate) async fn start(limits: Limits, access: Option<&str>, tls: Option<(TempDir, TlsFiles)>) -> Self {
        let store: Arc<dyn Store> = Arc::new(Memory::new());
        let mut server = Server::new(Repository::new(store, kinds())).with_limits(limits);
        let (folder, files) = match tls {
            Some((folder, files)) => (folder, Some(files)),
            None => (tempfile::tempdir().unwrap(), None),
        };
        if let Some(access) = access {
            let file = folder.path().join("access.yaml");
            fs::write(&file, access).unwrap();
            server = server.with_access(&file).unwrap();
        }
        if let Some(files) = files {
            server = server.with_tls(files).unwrap();
        }
        Self::of(server, folder).await
    }

    /// A server without authentication, changed before it starts.
    pub(crate) async fn changed(change: impl FnOnce(Server) -> Server) -> Self {
        let store: Arc<dyn Store> = Arc::new(Memory::new());
        Self::of(change(Server::new(Repository::new(store, kinds()))), tempfile::tempdir().unwrap()).await
    }

    async fn of(server: Server, folder: TempDir) -> Self {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let probes = Listener::bind(any).await.unwrap();
        let serving = server.bind(any).await.unwrap().with_probes(probes);
        let probes = serving.probe_address().unwrap();
        let address = serving.address();
        let (end, asked) = oneshot::channel();
        let ended = tokio::spawn(serving.run(async move {
            let _ = asked.await;
        }));
        Self { address, probes, folder, end: Some(end), ended }
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        let stream = timeout(LONG, TcpStream::connect(self.address)).await.expect("a connection in time").unwrap();
        stream.set_nodelay(true).unwrap();
        stream
    }

    /// Sends bytes on a connection of their own, and reads until the server closes it.
    pub(crate) async fn say(&self, bytes: impl AsRef<[u8]>) -> String {
        let mut stream = self.connect().await;
        // A server that has heard enough does not listen to the rest.
        let _ = stream.write_all(bytes.as_ref()).await;
        rest_of(&mut stream).await
    }

    /// Makes one request, with a token or none.
    pub(crate) async fn request(&self, method: &str, path: &str, token: &str, body: &str) -> Answer {
        let stream = self.connect().await;
        request(stream, method, path, token, body).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.request("GET", path, "", "").await
    }

    pub(crate) async fn create(&self, namespace: &str, name: &str, token: &str, note: &str) -> Answer {
        self.request("POST", &orders(namespace), token, &order(name, note)).await
    }

    /// Holds that others are served, as if nothing were wrong.
    pub(crate) async fn assert_serves_on(&self) {
        let live = self.get("/livez").await;
        assert_eq!((live.status, live.body.as_str()), (200, "ok"));
        let ready = self.get("/readyz").await;
        assert_eq!(ready.status, 200, "{ready:?}");
        let kinds = self.get("/apis/shop.example.com/v1").await;
        assert!([200, 401].contains(&kinds.status), "{kinds:?}");
    }

    /// What a gauge or a counter without labels says.
    pub(crate) async fn metric(&self, name: &str) -> i64 {
        let text = self.get("/metrics").await.body;
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("{name} is in {text}")).parse().unwrap()
    }

    /// Waits until a gauge says something.
    pub(crate) async fn until_metric(&self, name: &str, expected: impl Fn(i64) -> bool) {
        let waiting = async {
            while !expected(self.metric(name).await) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        assert!(timeout(LONG, waiting).await.is_ok(), "{name} is {}", self.metric(name).await);
    }

    /// Ends the server, and holds that it does so in time.
    pub(crate) async fn end(mut self) {
        drop(self.end.take());
        timeout(LONG, &mut self.ended).await.expect("the server ends").unwrap();
    }
}

/// Makes one request and reads the answer.
pub(crate) async fn request<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    method: &str,
    path: &str,
    token: &str,
    body: &str,
) -> Answer {
    let sort = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
    let authorization = if token.is_empty() { String::new() } else { format!("Authorization: Bearer {token}\r\n") };
    let length = body.len();
    let head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{authorization}");
    let text = format!("{head}Content-Type: {sort}\r\nContent-Length: {length}\r\n\r\n{body}");
    stream.write_all(text.as_bytes()).await.unwrap();
    Answer::of(&rest_of(&mut stream).await)
}

/// All that comes until the other side closes.
pub(crate) async fn rest_of(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut bytes = Vec::new();
    // A connection that is reset has ended as well as one that is closed.
    let _ = timeout(LONG, stream.read_to_end(&mut bytes)).await.expect("the server closes the connection in time");
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Answer {
    pub(crate) fn of(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let status = head.get(9..12).and_then(|code| code.parse().ok());
        let status = status.unwrap_or_else(|| panic!("no answer: {text:?}"));
        Self { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }

    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

pub(crate) fn orders(namespace: &str) -> String {
    format!("/apis/shop.example.com/v1/namespaces/{namespace}/orders")
}

pub(crate) fn order(name: &str, note: &str) -> String {
    format!(
        r#"{{"apiVersion":"shop.example.com/v1","kind":"Order","metadata":{{"name":"{name}"}},"spec":{{"note":"{note}"}}}}"#
    )
}

pub(crate) fn kinds() -> Vec<ServedKind> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/abuse/shop");
    let catalog = Catalog::load(&[folder]).expect("a catalog");
    let kinds = catalog.kinds().iter().map(|declared| {
        let (kind, problems) = Kind::compile(&declared.declaration, None);
        assert!(problems.is_empty(), "{problems:?}");
        ServedKind::new(kind.expect("there are versions"), declared).expect("a name for keys")
    });
    kinds.collect()
}

/// Limits that are reached soon.
pub(crate) fn short() -> Limits {
    let mut limits = Limits::default();
    limits.head_time = Duration::from_secs(1);
    limits.body_time = Duration::from_secs(1);
    limits.stall_time = Duration::from_secs(1);
    limits.idle_time = Duration::from_secs(1);
    limits.grace = Duration::from_secs(2);
    limits
}
