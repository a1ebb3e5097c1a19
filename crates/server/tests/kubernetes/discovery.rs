//! What a real API server tells of its kinds, asked of ours: discovery and OpenAPI.

use std::{collections::HashMap, fs};

use serde_json::{Map, Value, json};
use wheelwright_document::{Arena, Decode, decode_yaml, encode};

use crate::{
    client::{Answered, begin},
    exchange::Exchange,
    support::{Running, recordings},
};

/// Exchanges that are answered otherwise, by their lines, and why.
const DIFFERENT: [(&str, &str); 14] = [
    ("discovery 1", ONLY_NAMESPACES),
    ("discovery 53", ONLY_NAMESPACES),
    ("discovery 23", "a page of discovery is only read"),
    ("discovery 28", "another server tells of itself"),
    ("discovery 29", "another server tells of itself"),
    ("discovery 33", "another server has other parts"),
    ("discovery 34", "the metrics and the version of built-in kinds are listed as well"),
    ("discovery 36", IN_JSON),
    ("discovery 37", IN_JSON),
    ("discovery 42", "a redirection has no body, so it has no type"),
    ("discovery 44", NO_PROTOBUF),
    ("discovery 45", NO_PROTOBUF),
    ("discovery 52", NO_PROTOBUF),
    ("discovery 7", "the recording has something in it that was not answered"),
];
const ONLY_NAMESPACES: &str = "of all built-in kinds, only namespaces are there";
const NO_PROTOBUF: &str = "protobuf is not written";
const IN_JSON: &str = "what is JSON is called so";

/// Parameters and schemas for what is not done here.
const NOT_DONE: [&str; 5] =
    ["shardSelector", "ignoreStoreReadErrorWithClusterBreakingPotential", "force", "pretty", "fieldManager"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_real_server_told_the_same_of_its_kinds() {
    let Some(recordings) = recordings() else {
        println!("recorded discovery: SKIPPED");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(recordings.join("crds")).unwrap().map(Result::unwrap) {
        fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    let running = Running::of(folder.path()).await;
    let (mut tags, mut problems, mut same) = (HashMap::new(), Vec::new(), 0);
    for exchange in Exchange::of_topic(&recordings, "discovery") {
        let told = |text: &str| tags.get(text.trim_matches('"')).map_or(text.to_owned(), |tag: &String| tag.clone());
        let headers: Vec<(String, String)> = exchange
            .headers
            .iter()
            .map(|(name, value)| match name.as_str() {
                "If-None-Match" => (name.clone(), format!("\"{}\"", told(value).trim_matches('"'))),
                "If-Modified-Since" => (name.clone(), told("Last-Modified")),
                _ => (name.clone(), value.clone()),
            })
            .collect();
        let path = match exchange.path.split_once("?hash=") {
            Some((path, hash)) => format!("{path}?hash={}", told(hash)),
            None => exchange.path.clone(),
        };
        let body = exchange.body();
        let answered = begin(running.address, &exchange.method, &path, &headers, body.as_deref()).await.whole().await;
        if let (Some(recorded), Some(here)) = (exchange.response["headers"]["Etag"].as_str(), answered.header("etag")) {
            tags.insert(recorded.trim_matches('"').to_owned(), here.trim_matches('"').to_owned());
        }
        tags.extend(answered.header("last-modified").map(|time| ("Last-Modified".to_owned(), time.to_owned())));
        let found = differences(&exchange, &answered);
        match (DIFFERENT.iter().any(|(id, _)| *id == exchange.id), found.is_empty()) {
            (false, true) => same += 1,
            (true, false) => {}
            (true, true) => problems.push(format!("{} is listed, and answered the same", exchange.id)),
            (false, false) => {
                problems.push(format!(
                    "{} {} {}:\n  {}",
                    exchange.id,
                    exchange.method,
                    exchange.path,
                    found.join("\n  ")
                ));
            }
        }
    }
    println!("recorded discovery: {same} answered the same, {} otherwise for a known reason", DIFFERENT.len());
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

fn differences(exchange: &Exchange, answered: &Answered) -> Vec<String> {
    let mut found = Vec::new();
    if exchange.status() != Some(answered.status) {
        found.push(format!("status {}, not {:?}", answered.status, exchange.status()));
    }
    let recorded = &exchange.response;
    let is_health = ["/healthz", "/livez", "/readyz"].iter().any(|path| exchange.path.starts_with(path));
    for name in ["Content-Type", "Cache-Control"] {
        let (old, new) = (recorded["headers"][name].as_str(), answered.header(name));
        if old != new && !(name == "Cache-Control" && is_health) {
            found.push(format!("{name} {new:?}, not {old:?}"));
        }
    }
    let is_tagged = recorded["headers"]["Etag"].is_string();
    if is_tagged && answered.header("etag").is_none() {
        found.push("no tag".to_owned());
    }
    let (old, new) = match (recorded["bodyText"].as_str(), &recorded["body"]) {
        (Some(text), _) if text.starts_with("apiVersion:") => (yaml(text.as_bytes()), yaml(&answered.body)),
        (Some(text), Value::Null) => (json!(text), json!(String::from_utf8_lossy(&answered.body))),
        (_, Value::Null) => return found,
        (_, body) => (body.clone(), serde_json::from_slice(&answered.body).unwrap_or_default()),
    };
    let is_short = exchange.path.contains("?hash=");
    let (old, mut new) = (reduced(&old, is_short), reduced(&new, is_short));
    // Of some answers, only the first group was written down, which is a built-in one.
    if old["groups"] == json!([]) {
        new["groups"] = json!([]);
    }
    compare("", &old, &new, &mut found);
    found
}

fn yaml(text: &[u8]) -> Value {
    let arena = Arena::new();
    let documents = decode_yaml(text, &arena, &Decode::default()).expect("YAML");
    serde_json::from_slice(&encode(documents.first().expect("a document").to_value(&arena))).unwrap()
}

/// An answer without what is told in other words, in another order, or of built-in kinds.
fn reduced(value: &Value, is_short: bool) -> Value {
    let Value::Object(fields) = value else { return value.clone() };
    let mut fields = fields.clone();
    if fields.contains_key("openapi") || fields.contains_key("swagger") {
        return if is_short { json!({"openapi": fields["openapi"]}) } else { openapi(&fields) };
    }
    if fields.get("kind") == Some(&json!("Status")) {
        // Which media types there are is told after the reason.
        fields.remove("message");
    }
    let is_own = |item: &Value| {
        let name = item["name"].as_str().or(item["metadata"]["name"].as_str());
        name.is_none_or(|name| name.ends_with("example.com"))
    };
    for list in ["groups", "items"] {
        if let Some(Value::Array(items)) = fields.get_mut(list) {
            items.retain(is_own);
        }
    }
    fields.remove("serverAddressByClientCIDRs");
    plain(&Value::Object(fields))
}

/// A document of OpenAPI, as far as it is about our kinds and clients care.
fn openapi(document: &Map<String, Value>) -> Value {
    let schemas = document.get("definitions").unwrap_or_else(|| &document["components"]["schemas"]);
    let own = schemas.as_object().unwrap().iter().filter(|(name, _)| name.starts_with("com.example."));
    let schemas: Map<String, Value> = own.map(|(name, schema)| (name.clone(), plain(schema))).collect();
    let mut operations = Map::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        // Of version 2, only some were recorded.
        if document.contains_key("swagger") && !path.contains("infra.example.com") {
            continue;
        }
        for (method, described) in methods.as_object().unwrap().iter().filter(|(method, _)| *method != "parameters") {
            operations.insert(format!("{method} {path}"), operation(described));
        }
    }
    json!({"schemas": schemas, "operations": operations})
}

fn operation(described: &Value) -> Value {
    let parameters = described["parameters"].as_array().into_iter().flatten();
    let name = |parameter: &Value| {
        // Version 2 refers to them, with a hash behind the name.
        let referred =
            parameter["$ref"].as_str().map(|text| text.rsplit('/').next().unwrap().split('-').next().unwrap());
        referred.or(parameter["name"].as_str()).unwrap_or_default().to_owned()
    };
    let is_deletion = described["x-kubernetes-action"] == "deletecollection";
    let mut names: Vec<String> = parameters.map(name).filter(|name| !NOT_DONE.contains(&name.as_str())).collect();
    names.sort();
    let succeeded = described["responses"].as_object().unwrap().iter();
    let succeeded: Vec<&String> =
        succeeded.map(|(status, _)| status).filter(|status| status.starts_with('2')).collect();
    json!({
        "id": described["operationId"],
        "action": described["x-kubernetes-action"],
        "kind": described["x-kubernetes-group-version-kind"],
        // Parameters of a list are found at its path instead of its operation, where there is one operation.
        "parameters": if is_deletion || described["x-kubernetes-action"] == "list" { Vec::new() } else { names },
        "succeeded": succeeded,
    })
}

/// A value without descriptions, and with lists in one order.
fn plain(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(key, value)| {
                let is_text = value.is_string();
                !(*key == "description" && is_text || *key == "storageVersionHash" || *key == "serverRelativeURL")
            });
            Value::Object(kept.map(|(key, value)| (key.clone(), plain(value))).collect())
        }
        Value::Array(items) => {
            let mut items: Vec<Value> = items.iter().map(plain).collect();
            items.sort_by_key(ToString::to_string);
            Value::Array(items)
        }
        other => other.clone(),
    }
}

fn compare(path: &str, old: &Value, new: &Value, found: &mut Vec<String>) {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            let keys: std::collections::BTreeSet<&String> = old.keys().chain(new.keys()).collect();
            for key in keys {
                let of = |fields: &Map<String, Value>| fields.get(key).cloned().unwrap_or_default();
                compare(&format!("{path}.{key}"), &of(old), &of(new), found);
            }
        }
        _ if old == new => {}
        _ => found.push(format!("{path}: {new}, not {old}").chars().take(500).collect()),
    }
}
