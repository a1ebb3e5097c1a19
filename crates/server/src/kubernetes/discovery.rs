//! What clients look up before anything else: groups, versions, resources, and what sort of server this is.

use std::{collections::HashMap, sync::Arc};

use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use wheelwright_document::{Arena, Value, encode};
use wheelwright_evolve::Fingerprint;

use super::{
    accept::{Accepted, Form, MEDIA_TYPES},
    json::Json,
    openapi::OpenApi,
    resource::{Group, GroupVersion, Resource, Resources},
    show::in_language,
    status::Status,
};
use crate::{answer::Answer, request::Head};

/// Everything about kinds and nothing about documents: made once, for a server has the same kinds for as long as it runs.
#[derive(Debug)]
pub(crate) struct Discovery {
    /// By path, without the slashes around it.
    pages: HashMap<Box<str>, Page>,
    openapi: OpenApi,
}

/// What is answered at a path.
#[derive(Debug)]
struct Page {
    json: Bytes,
    /// The same with all that is below it, for clients that take that.
    aggregated: Option<Tagged>,
}

/// A document with what tells it apart.
#[derive(Debug)]
struct Tagged {
    json: Bytes,
    etag: HeaderValue,
}

/// What can be done to the documents of a resource.
/// How many segments the paths of pages have at most, as in `apis/GROUP/VERSION`.
const LONGEST_PATH: usize = 3;
const VERBS: [&str; 8] = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
const SUBRESOURCE_VERBS: [&str; 3] = ["get", "patch", "update"];
const NAMESPACE_VERBS: [&str; 2] = ["get", "list"];
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

impl Discovery {
    pub(crate) fn of(resources: &Arc<Resources>) -> Self {
        let arena = Arena::new();
        let json = Json(&arena);
        let groups = resources.groups();
        let mut pages = HashMap::new();
        let mut add = |path: String, page: Value<'_>, aggregated: Option<Value<'_>>| {
            pages.insert(path.into(), Page { json: encode(page).into(), aggregated: aggregated.map(Tagged::of) });
        };
        let core = json.list([json.object([
            ("metadata", json.object([])),
            ("versions", json.list([aggregated_version(json, "v1", [aggregated_namespaces(json)])])),
        ])]);
        add("api".into(), core_versions(json), Some(aggregated_list(json, core)));
        add("api/v1".into(), resource_list(json, "v1", [namespaces(json)]), None);
        let aggregated = json.list(groups.iter().map(|group| aggregated_group(json, group)));
        let listed = json.object([
            ("kind", json.text("APIGroupList")),
            ("apiVersion", json.text("v1")),
            ("groups", json.list(groups.iter().map(|group| json.object(group_fields(json, group))))),
        ]);
        add("apis".into(), listed, Some(aggregated_list(json, aggregated)));
        for group in groups {
            let type_meta = [("kind", json.text("APIGroup")), ("apiVersion", json.text("v1"))];
            let page = json.object(type_meta.into_iter().chain(group_fields(json, group)));
            add(format!("apis/{}", group.name), page, None);
            for version in &group.versions {
                let name = format!("{}/{}", group.name, version.name);
                let rows = version.resources.iter().flat_map(|resource| rows(json, resource));
                add(format!("apis/{name}"), resource_list(json, &name, rows), None);
            }
        }
        add("version".into(), version(json), None);
        let paths = paths(groups);
        add(String::new(), json.object([("paths", json.texts(paths))]), None);
        Self { pages, openapi: OpenApi::of(resources.clone()) }
    }

    /// Whether a request to a path is about kinds, and not about documents, or about nothing.
    pub(crate) fn is_about(&self, path: &[&str]) -> bool {
        path.first() == Some(&"openapi")
            || path.len() <= LONGEST_PATH && self.pages.contains_key(path.join("/").as_str())
    }

    /// Answers what is asked about kinds.
    pub(crate) fn answer(&self, head: &Head) -> Answer {
        let path = head.path.texts();
        if let ["openapi", below @ ..] = &path[..] {
            return self.openapi.answer(below, head);
        }
        let Some(page) = self.pages.get(path.join("/").as_str()) else {
            return Answer::text(StatusCode::NOT_FOUND, "404 page not found\n");
        };
        let is_offered = |form| form == Form::Plain || form == Form::AggregatedDiscovery && page.aggregated.is_some();
        let accepted = Accepted::of(head.header(header::ACCEPT), is_offered);
        match (accepted, &page.aggregated) {
            (None, _) => Status::not_acceptable(MEDIA_TYPES).answer(),
            (Some(Accepted { form: Form::AggregatedDiscovery, .. }), Some(aggregated)) => aggregated.answer(head),
            (Some(Accepted { is_yaml, .. }), _) => {
                in_language(Answer::json(StatusCode::OK, page.json.clone()), is_yaml)
            }
        }
    }
}

impl Tagged {
    fn of(value: Value<'_>) -> Self {
        let json = encode(value);
        let etag = format!("\"{}\"", Fingerprint::of_text(&String::from_utf8_lossy(&json)));
        // A fingerprint is letters and digits.
        let etag = HeaderValue::try_from(etag).unwrap_or(HeaderValue::from_static("\"\""));
        Self { json: json.into(), etag }
    }

    fn answer(&self, head: &Head) -> Answer {
        let answer = match head.headers.get(header::IF_NONE_MATCH) == Some(&self.etag) {
            true => Answer::empty(StatusCode::NOT_MODIFIED),
            false => Answer::json(StatusCode::OK, self.json.clone())
                .with(header::CONTENT_TYPE, HeaderValue::from_static(AGGREGATED)),
        };
        answer
            .with(header::ETAG, self.etag.clone())
            .with(header::CACHE_CONTROL, HeaderValue::from_static("public"))
            .with(header::VARY, HeaderValue::from_static("Accept"))
    }
}

fn core_versions(json: Json<'_>) -> Value<'_> {
    json.object([
        ("kind", json.text("APIVersions")),
        ("versions", json.texts(["v1"])),
        ("serverAddressByClientCIDRs", json.list([])),
    ])
}

fn group_fields<'a>(json: Json<'a>, group: &Group) -> [(&'a str, Value<'a>); 3] {
    let version = |version: &GroupVersion| {
        let group_version = format!("{}/{}", group.name, version.name);
        json.object([("groupVersion", json.text(&group_version)), ("version", json.text(&version.name))])
    };
    let mut versions = group.versions.iter().map(version);
    let preferred = versions.next().unwrap_or(Value::Null);
    [
        ("name", json.text(&group.name)),
        ("versions", json.list([preferred].into_iter().chain(versions))),
        ("preferredVersion", preferred),
    ]
}

fn resource_list<'a>(json: Json<'a>, group_version: &str, resources: impl IntoIterator<Item = Value<'a>>) -> Value<'a> {
    json.object([
        ("kind", json.text("APIResourceList")),
        ("apiVersion", json.text("v1")),
        ("groupVersion", json.text(group_version)),
        ("resources", json.list(resources)),
    ])
}

/// A resource with its subresources.
fn rows<'a>(json: Json<'a>, resource: &Resource) -> Vec<Value<'a>> {
    let (definition, version) = (resource.definition(), resource.version());
    let common = |name: &str, singular: &str| {
        [
            ("name", Some(json.text(name))),
            ("singularName", Some(json.text(singular))),
            ("namespaced", Some(Value::Bool(definition.is_namespaced))),
        ]
    };
    let verbs = |verbs: &[&str]| [("verbs", Some(json.texts(verbs)))];
    let kind = [("kind", Some(json.text(&definition.kind)))];
    let whole = common(&definition.plural, &definition.singular).into_iter().chain(kind).chain(verbs(&VERBS));
    let mut listed = vec![json.some(whole.chain([
        ("shortNames", texts_if_any(json, &definition.short_names)),
        ("categories", texts_if_any(json, &definition.categories)),
    ]))];
    if version.has_status {
        let name = format!("{}/status", definition.plural);
        listed.push(json.some(common(&name, "").into_iter().chain(kind).chain(verbs(&SUBRESOURCE_VERBS))));
    }
    if version.scale.is_some() {
        let name = format!("{}/scale", definition.plural);
        let scale = [("group", "autoscaling"), ("version", "v1"), ("kind", "Scale")];
        let scale = scale.map(|(key, text)| (key, Some(json.text(text))));
        listed.push(json.some(common(&name, "").into_iter().chain(scale).chain(verbs(&SUBRESOURCE_VERBS))));
    }
    listed
}

fn namespaces(json: Json<'_>) -> Value<'_> {
    json.object([
        ("name", json.text("namespaces")),
        ("singularName", json.text("namespace")),
        ("namespaced", Value::Bool(false)),
        ("kind", json.text("Namespace")),
        ("verbs", json.texts(NAMESPACE_VERBS)),
        ("shortNames", json.texts(["ns"])),
    ])
}

fn aggregated_list<'a>(json: Json<'a>, items: Value<'a>) -> Value<'a> {
    json.object([
        ("kind", json.text("APIGroupDiscoveryList")),
        ("apiVersion", json.text("apidiscovery.k8s.io/v2")),
        ("metadata", json.object([])),
        ("items", items),
    ])
}

fn aggregated_group<'a>(json: Json<'a>, group: &Group) -> Value<'a> {
    let versions = group.versions.iter().map(|version| {
        let resources = version.resources.iter().map(|resource| aggregated_resource(json, resource));
        aggregated_version(json, &version.name, resources)
    });
    json.object([("metadata", json.object([("name", json.text(&group.name))])), ("versions", json.list(versions))])
}

fn aggregated_version<'a>(json: Json<'a>, name: &str, resources: impl IntoIterator<Item = Value<'a>>) -> Value<'a> {
    json.object([
        ("version", json.text(name)),
        ("resources", json.list(resources)),
        ("freshness", json.text("Current")),
    ])
}

fn aggregated_resource<'a>(json: Json<'a>, resource: &Resource) -> Value<'a> {
    let (definition, version) = (resource.definition(), resource.version());
    let own_kind = response_kind(json, &definition.group, &version.name, &definition.kind);
    let scale_kind = response_kind(json, "autoscaling", "v1", "Scale");
    let subresource = |name: &str, kind| {
        json.object([
            ("subresource", json.text(name)),
            ("responseKind", kind),
            ("verbs", json.texts(SUBRESOURCE_VERBS)),
        ])
    };
    let status = version.has_status.then(|| subresource("status", own_kind));
    let scale = version.scale.as_ref().map(|_| subresource("scale", scale_kind));
    let subresources: Vec<_> = status.into_iter().chain(scale).collect();
    let scope = if definition.is_namespaced { "Namespaced" } else { "Cluster" };
    json.some([
        ("resource", Some(json.text(&definition.plural))),
        ("responseKind", Some(own_kind)),
        ("scope", Some(json.text(scope))),
        ("singularResource", Some(json.text(&definition.singular))),
        ("verbs", Some(json.texts(VERBS))),
        ("shortNames", texts_if_any(json, &definition.short_names)),
        ("categories", texts_if_any(json, &definition.categories)),
        ("subresources", (!subresources.is_empty()).then(|| json.list(subresources))),
    ])
}

fn aggregated_namespaces(json: Json<'_>) -> Value<'_> {
    json.object([
        ("resource", json.text("namespaces")),
        ("responseKind", response_kind(json, "", "v1", "Namespace")),
        ("scope", json.text("Cluster")),
        ("singularResource", json.text("namespace")),
        ("verbs", json.texts(NAMESPACE_VERBS)),
        ("shortNames", json.texts(["ns"])),
    ])
}

fn response_kind<'a>(json: Json<'a>, group: &str, version: &str, kind: &str) -> Value<'a> {
    json.object([("group", json.text(group)), ("version", json.text(version)), ("kind", json.text(kind))])
}

fn texts_if_any<'a>(json: Json<'a>, texts: &[Box<str>]) -> Option<Value<'a>> {
    (!texts.is_empty()).then(|| json.texts(texts))
}

/// The release of Kubernetes that clients may take this server for.
fn version(json: Json<'_>) -> Value<'_> {
    let own = concat!("v1.32.0+wheelwright.", env!("CARGO_PKG_VERSION"));
    let texts = [
        ("major", "1"),
        ("minor", "32"),
        ("gitVersion", own),
        ("gitCommit", ""),
        ("gitTreeState", ""),
        ("buildDate", "1970-01-01T00:00:00Z"),
        ("goVersion", ""),
        ("compiler", "rustc"),
        ("platform", ""),
    ];
    json.object(texts.map(|(key, text)| (key, json.text(text))))
}

/// What there is at the root.
fn paths(groups: &[Group]) -> Vec<String> {
    let mut paths = vec!["/api".to_owned(), "/api/v1".to_owned(), "/apis".to_owned()];
    for group in groups {
        paths.push(format!("/apis/{}", group.name));
        paths.extend(group.versions.iter().map(|version| format!("/apis/{}/{}", group.name, version.name)));
    }
    let own = ["/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3", "/readyz", "/version"];
    paths.extend(own.map(str::to_owned));
    paths
}
