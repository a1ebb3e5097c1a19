//! Clusters, of which a cluster service owns some fields; the service answers over TCP, well or badly.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
};
use wheelwright_repository::{
    Collection, ExternalSource, Name, Repository, ServedKind, SourceAnswer, View, Write, Written,
};
use wheelwright_store::{Memory, Store};

use crate::support::{name, served_from};

/// The version in whose shape the cluster service answers.
pub(crate) const OLD: &str = "2025-01-01";
pub(crate) const NEW: &str = "2026-01-01";

/// What no reader is surprised by: as much as both versions can say.
pub(crate) const ALPHA: &[u8] = br#"{"properties":{"owner":"ann","size":{"nodes":5}}}"#;

fn schema(properties: &Value) -> String {
    let properties = json!({"properties": {"type": "object", "properties": properties}});
    let dialect = "http://json-schema.org/draft-07/schema#";
    json!({"$schema": dialect, "type": "object", "properties": properties}).to_string()
}

fn dns() -> Value {
    json!({"type": "object", "default": {}, "properties": {
        "zone": {"type": "string", "default": "internal"},
        "seconds": {"type": "integer", "default": 60},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
    }})
}

/// The kind `Cluster`, with what its entry says beside its schemas.
pub(crate) fn clusters(entry: &str) -> Vec<ServedKind> {
    let old = schema(&json!({
        "owner": {"type": "string"},
        "version": {"type": "string", "default": "4.15"},
        "nodes": {"type": "integer", "default": 3},
        "timeout": {"type": "string"},
        "dns": dns(),
    }));
    let new = schema(&json!({
        "owner": {"type": "string"},
        "release": {"type": "string", "default": "4.15"},
        "size": {"type": "object", "properties": {"nodes": {"type": "integer", "default": 3}}},
        "timeoutSeconds": {"type": "integer"},
        "dns": dns(),
    }));
    let changes = "2026-01-01:
  renamed: {properties.version: properties.release, properties.nodes: properties.size.nodes}
  converted: {properties.timeout: {to: properties.timeoutSeconds, with: durationSeconds}}
";
    let catalog = format!(
        "kinds:\n  - openapi: {{{OLD}: old.json, {NEW}: new.json}}\n    kind: Cluster\n    changes: changes.yaml\n{entry}"
    );
    let files = [("wheelwright.yaml", &*catalog), ("old.json", &old), ("new.json", &new), ("changes.yaml", changes)];
    served_from(&files)
}

/// Clusters without a cluster service.
pub(crate) fn plain(store: Arc<dyn Store>) -> Collection {
    Repository::new(store, clusters("")).kind("Cluster").unwrap()
}

/// The entry of the catalog, with what counts as missing.
pub(crate) fn entry(missing: &str) -> String {
    let fields = "[properties.version, properties.nodes, properties.timeout, properties.dns]";
    format!("    external: {{clusterService: {{version: {OLD}, fields: {fields}, missing: {missing}}}}}\n")
}

/// A repository of clusters with a cluster service.
pub(crate) fn repository(store: Arc<dyn Store>, missing: &str, source: Arc<dyn ExternalSource>) -> Repository {
    Repository::new(store, clusters(&entry(missing))).with_sources([("clusterService", source)]).unwrap()
}

/// Clusters with a cluster service, in an empty store: the store, the service, and its clusters.
pub(crate) fn merged(missing: &str) -> (Arc<dyn Store>, Arc<Table>, Collection) {
    let (store, table): (Arc<dyn Store>, _) = (Arc::new(Memory::new()), Arc::new(Table::default()));
    let collection = repository(store.clone(), missing, table.clone()).kind("Cluster").unwrap();
    (store, table, collection)
}

/// A cluster as a version shows it.
pub(crate) async fn shown(clusters: &Collection, called: &str, version: &str) -> Value {
    let document = clusters.get(&name(called), View::Version(version)).await.unwrap().unwrap();
    serde_json::from_slice(&document.json).unwrap()
}

/// A cluster that the service itself writes, owned fields too.
pub(crate) async fn created(clusters: &Collection, called: &str, version: &str, json: &[u8]) -> Written {
    clusters.create(&name(called), Write::document(version, json).by_service()).await.unwrap()
}

/// A cluster service in memory.
#[derive(Debug, Default)]
pub(crate) struct Table {
    clusters: Mutex<BTreeMap<String, Value>>,
    /// How many clusters were asked for with each call.
    pub(crate) calls: Mutex<Vec<usize>>,
}

impl Table {
    pub(crate) fn set(&self, called: &str, properties: Value) {
        self.clusters.lock().unwrap().insert(called.to_owned(), json!({"properties": properties}));
    }

    fn answer(&self, called: &Name) -> Option<Vec<u8>> {
        self.clusters.lock().unwrap().get(called.as_str()).map(|cluster| cluster.to_string().into_bytes())
    }
}

impl ExternalSource for Table {
    fn get<'a>(&'a self, _kind: &'a str, called: &'a Name) -> SourceAnswer<'a, Option<Vec<u8>>> {
        self.calls.lock().unwrap().push(1);
        Box::pin(async move { Ok(self.answer(called)) })
    }

    fn get_all<'a>(&'a self, _kind: &'a str, names: &'a [Name]) -> SourceAnswer<'a, Vec<Option<Vec<u8>>>> {
        self.calls.lock().unwrap().push(names.len());
        Box::pin(async move { Ok(names.iter().map(|called| self.answer(called)).collect()) })
    }
}

/// How a cluster service behaves.
#[derive(Clone, Debug)]
pub(crate) enum Mood {
    /// It answers this.
    Answers(Vec<u8>),
    /// It takes the question and never answers.
    Silent,
    /// It hangs up in the middle of an answer.
    HangsUp,
}

/// A cluster service behind a port of this machine.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) port: u16,
    pub(crate) mood: Arc<Mutex<Mood>>,
}

impl Server {
    pub(crate) async fn start(mood: Mood) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (port, mood) = (listener.local_addr().unwrap().port(), Arc::new(Mutex::new(mood)));
        let of_server = mood.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let mood = of_server.lock().unwrap().clone();
                tokio::spawn(Self::serve(stream, mood));
            }
        });
        Self { port, mood }
    }

    async fn serve(stream: TcpStream, mood: Mood) {
        let mut stream = BufReader::new(stream);
        let mut question = String::new();
        stream.read_line(&mut question).await.unwrap();
        match mood {
            Mood::Answers(answer) => stream.write_all(&[answer, b"\n".to_vec()].concat()).await.unwrap(),
            Mood::Silent => std::future::pending().await,
            Mood::HangsUp => stream.write_all(b"{\"properties\":{").await.unwrap(),
        }
    }
}

/// A client of a [`Server`]: a question is a line, and so is an answer.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) port: u16,
}

impl ExternalSource for Client {
    fn get<'a>(&'a self, kind: &'a str, called: &'a Name) -> SourceAnswer<'a, Option<Vec<u8>>> {
        let ask = async move {
            let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await?;
            stream.write_all(format!("{kind} {called}\n").as_bytes()).await?;
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer).await?;
            match answer.strip_suffix(b"\n") {
                Some(answer) => Ok(Some(answer.to_vec())),
                None => Err("the connection was cut".into()),
            }
        };
        Box::pin(async {
            tokio::time::timeout(Duration::from_millis(300), ask).await.map_err(|_| "no answer in time")?
        })
    }
}
