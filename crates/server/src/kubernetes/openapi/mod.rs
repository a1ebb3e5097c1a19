//! The schemas and operations of all resources, as OpenAPI describes them: version 3 a document for every version of a
//! group, version 2 one for everything.

mod operation;
mod protobuf;
mod schema;

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
    time::SystemTime,
};

use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use jiff::{Timestamp, fmt::rfc2822};
use wheelwright_document::{Arena, Value, encode};
use wheelwright_evolve::Fingerprint;

use super::{json::Json, resource::Resources};
use crate::{
    answer::{Answer, AnswerBody},
    request::Head,
};

/// The documents, made when somebody asks for the first time: large catalogs have many, and most clients need none.
#[derive(Debug)]
pub(crate) struct OpenApi {
    resources: Arc<Resources>,
    began: Timestamp,
    version_3: OnceLock<Version3>,
    version_2: OnceLock<Version2>,
}

#[derive(Debug)]
struct Version2 {
    document: Document,
    protobuf: Bytes,
}

#[derive(Debug)]
struct Version3 {
    index: Document,
    /// By `apis/GROUP/VERSION`.
    documents: BTreeMap<String, Document>,
}

/// A document with what tells it apart.
#[derive(Debug)]
struct Document {
    json: Bytes,
    hash: String,
}

/// Which OpenAPI.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Dialect {
    V2,
    V3,
}

impl OpenApi {
    pub(crate) fn of(resources: Arc<Resources>) -> Self {
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let began = Timestamp::from_second(since_1970.as_secs() as i64).unwrap_or_default();
        Self { resources, began, version_3: OnceLock::new(), version_2: OnceLock::new() }
    }

    /// Answers a request for a path below `/openapi`.
    pub(crate) fn answer(&self, below: &[&str], head: &Head) -> Answer {
        match below {
            ["v2"] => self.version_2.get_or_init(|| version_2(&self.resources)).answer(head),
            ["v3"] => self.index(head),
            ["v3", path @ ..] => self.document(path, head),
            _ => Answer::text(StatusCode::NOT_FOUND, "404 page not found\n"),
        }
    }

    fn version_3(&self) -> &Version3 {
        self.version_3.get_or_init(|| version_3(&self.resources))
    }

    fn index(&self, head: &Head) -> Answer {
        let since = head.header(header::IF_MODIFIED_SINCE).and_then(|since| rfc2822::parse(since).ok());
        let is_known = since.is_some_and(|since| since.timestamp().as_second() >= self.began.as_second());
        let answer = match is_known && head.headers.get(header::IF_NONE_MATCH).is_none() {
            true => Answer::empty(StatusCode::NOT_MODIFIED),
            false => self.version_3().index.answer(head, UNCACHED),
        };
        let printer = rfc2822::DateTimePrinter::new();
        answer.with(header::LAST_MODIFIED, printer.timestamp_to_rfc9110_string(&self.began).unwrap_or_default())
    }

    fn document(&self, path: &[&str], head: &Head) -> Answer {
        let path = path.join("/");
        let Some(document) = self.version_3().documents.get(&path) else {
            return Answer::empty(StatusCode::NOT_FOUND);
        };
        match head.query.get("hash") {
            None => document.answer(head, UNCACHED),
            // What has its hash in its address never changes.
            Some(hash) if *hash == document.hash => document.answer(head, "public, immutable"),
            Some(_) => {
                let moved = Answer::empty(StatusCode::MOVED_PERMANENTLY);
                document.tagged(moved, UNCACHED).with(header::LOCATION, document.address(&path))
            }
        }
    }
}

impl Version2 {
    fn answer(&self, head: &Head) -> Answer {
        let accepted = head.header(header::ACCEPT).unwrap_or_default().split(',');
        let first = accepted.map(media_type).find(|accepted| is_json(accepted) || PROTOBUF.contains(accepted));
        if first.is_none_or(is_json) {
            return self.document.answer(head, UNCACHED);
        }
        let answer = match self.document.is_known(head) {
            true => Answer::empty(StatusCode::NOT_MODIFIED),
            false => {
                let body = AnswerBody::Whole(Some(self.protobuf.clone()));
                let protobuf = HeaderValue::from_static(PROTOBUF[0]);
                Answer { body, ..Answer::empty(StatusCode::OK) }.with(header::CONTENT_TYPE, protobuf)
            }
        };
        self.document.tagged(answer, UNCACHED)
    }
}

/// Nobody on the way keeps it.
const UNCACHED: &str = "no-cache, private";

/// How version 2 is called in protobuf, and how it was called before.
const PROTOBUF: [&str; 2] = [
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
];

impl Document {
    fn of(value: Value<'_>) -> Self {
        let json = encode(value);
        let hash = Fingerprint::of_text(&String::from_utf8_lossy(&json)).to_string();
        Self { json: json.into(), hash }
    }

    fn address(&self, path: &str) -> String {
        format!("/openapi/v3/{path}?hash={}", self.hash)
    }

    fn answer(&self, head: &Head, cache: &'static str) -> Answer {
        let answer = match takes_json(head.header(header::ACCEPT)) {
            false => Answer::empty(StatusCode::NOT_ACCEPTABLE),
            true if self.is_known(head) => Answer::empty(StatusCode::NOT_MODIFIED),
            true => Answer::json(StatusCode::OK, self.json.clone()),
        };
        self.tagged(answer, cache)
    }

    /// Whether a client has it already.
    fn is_known(&self, head: &Head) -> bool {
        head.header(header::IF_NONE_MATCH).is_some_and(|known| known.trim_matches('"') == self.hash)
    }

    fn tagged(&self, answer: Answer, cache: &'static str) -> Answer {
        answer
            .with(header::ETAG, format!("\"{}\"", self.hash))
            .with(header::CACHE_CONTROL, HeaderValue::from_static(cache))
            .with(header::VARY, HeaderValue::from_static("Accept"))
    }
}

impl Dialect {
    /// The field that refers to a schema.
    fn reference<'a>(self, name: &str, json: Json<'a>) -> (&'a str, Value<'a>) {
        let place = match self {
            Self::V2 => "#/definitions/",
            Self::V3 => "#/components/schemas/",
        };
        ("$ref", json.text(&format!("{place}{name}")))
    }
}

fn takes_json(accept: Option<&str>) -> bool {
    accept.is_none_or(|accept| accept.trim().is_empty() || accept.split(',').any(|clause| is_json(media_type(clause))))
}

fn media_type(clause: &str) -> &str {
    clause.split(';').next().unwrap_or_default().trim()
}

fn is_json(media_type: &str) -> bool {
    matches!(media_type, "application/json" | "application/*" | "*/*")
}

fn version_3(resources: &Resources) -> Version3 {
    let mut documents = BTreeMap::new();
    for group in resources.groups() {
        for version in &group.versions {
            let arena = Arena::new();
            let json = Json(&arena);
            let (mut schemas, mut paths) = (schema::shared(Dialect::V3, json), Vec::new());
            for resource in &version.resources {
                schemas.extend(described(resource, Dialect::V3, json));
                paths.extend(operation::paths(resource, Dialect::V3, json));
            }
            let document = json.object([
                ("openapi", json.text("3.0.0")),
                ("info", info(json)),
                ("paths", json.object(paths)),
                ("components", json.object([("schemas", json.object(schemas))])),
            ]);
            documents.insert(format!("apis/{}/{}", group.name, version.name), Document::of(document));
        }
    }
    let arena = Arena::new();
    let json = Json(&arena);
    let paths = documents.iter().map(|(path, document)| {
        let address = json.text(&document.address(path));
        (path.as_str(), json.object([("serverRelativeURL", address)]))
    });
    let index = Document::of(json.object([("paths", json.object(paths))]));
    Version3 { index, documents }
}

fn version_2(resources: &Resources) -> Version2 {
    let arena = Arena::new();
    let json = Json(&arena);
    let (mut schemas, mut paths) = (schema::shared(Dialect::V2, json), Vec::new());
    let versions = resources.groups().iter().flat_map(|group| &group.versions);
    for resource in versions.flat_map(|version| &version.resources) {
        schemas.extend(described(resource, Dialect::V2, json));
        paths.extend(operation::paths(resource, Dialect::V2, json));
    }
    let document = json.object([
        ("swagger", json.text("2.0")),
        ("info", info(json)),
        ("paths", json.object(paths)),
        ("definitions", json.object(schemas)),
    ]);
    Version2 { document: Document::of(document), protobuf: protobuf::written(document).into() }
}

/// The schemas of a resource and of its lists.
fn described<'a>(
    resource: &'a super::resource::Resource,
    dialect: Dialect,
    json: Json<'a>,
) -> [(&'a str, Value<'a>); 2] {
    let definition = resource.definition();
    let name = |kind: &str| -> &'a str { json.0.text(&schema::name_of(resource, kind)) };
    [
        (name(&definition.kind), schema::of_resource(resource, dialect, json)),
        (name(&definition.list_kind), schema::of_list(resource, dialect, json)),
    ]
}

fn info(json: Json<'_>) -> Value<'_> {
    json.object([("title", json.text("Wheelwright")), ("version", json.text(env!("CARGO_PKG_VERSION")))])
}
