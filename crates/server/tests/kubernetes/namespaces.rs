//! Namespaces, which are only names, and what can be seen of kinds without a recording.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::{client::begin, support::Running};

async fn orders() -> Running {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/orders");
    let folder = tempfile::tempdir().unwrap();
    for file in ["wheelwright.yaml", "crd.yaml", "changes.yaml"] {
        fs::copy(example.join(file), folder.path().join(file)).unwrap();
    }
    Running::of(folder.path()).await
}

async fn ask(running: &Running, method: &str, path: &str, accept: &str, body: Option<&Value>) -> (u16, Value) {
    let headers = [("Accept", accept), ("Content-Type", "application/json")];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let body = body.map(|body| serde_json::to_vec(body).unwrap());
    let answered = begin(running.address, method, path, &headers, body.as_deref()).await.whole().await;
    (answered.status, serde_json::from_slice(&answered.body).unwrap_or_default())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn namespaces_are_there_and_those_with_documents_are_listed() {
    let running = orders().await;
    for (namespace, name) in [("a", "one"), ("a", "two"), ("b", "one"), ("a-b", "one")] {
        let order =
            json!({"apiVersion": "shop.example.com/v1", "kind": "Order", "metadata": {"name": name}, "spec": {}});
        let path = format!("/apis/shop.example.com/v1/namespaces/{namespace}/orders");
        assert_eq!(ask(&running, "POST", &path, "application/json", Some(&order)).await.0, 201);
    }
    let (status, listed) = ask(&running, "GET", "/api/v1/namespaces", "application/json", None).await;
    let names: Vec<_> = listed["items"].as_array().unwrap().iter().map(|item| &item["metadata"]["name"]).collect();
    assert_eq!((status, names), (200, vec![&json!("a"), &json!("a-b"), &json!("b"), &json!("default")]));
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
    let (_, table) = ask(&running, "GET", "/api/v1/namespaces?includeObject=None", table, None).await;
    assert_eq!(table["rows"][0], json!({"cells": ["a", "Active"], "object": null}));

    let (status, found) = ask(&running, "GET", "/api/v1/namespaces/nobody-has-used-it", "*/*", None).await;
    assert_eq!((status, &found["status"]["phase"]), (200, &json!("Active")));
    let (status, refused) = ask(&running, "GET", "/api/v1/namespaces/No_Name", "*/*", None).await;
    assert_eq!((status, &refused["reason"]), (404, &json!("NotFound")));
    assert_eq!(ask(&running, "POST", "/api/v1/namespaces", "*/*", Some(&json!({}))).await.0, 405);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_find_all_versions_and_what_they_may_ask_for() {
    let running = orders().await;
    let (_, group) = ask(&running, "GET", "/apis/shop.example.com", "*/*", None).await;
    let versions: Vec<_> = group["versions"].as_array().unwrap().iter().map(|version| &version["version"]).collect();
    assert_eq!(versions, ["v3", "v2", "v1"]);
    assert_eq!(group["preferredVersion"]["version"], "v3");
    let (_, index) = ask(&running, "GET", "/openapi/v3", "*/*", None).await;
    for (version, quantity) in [("v1", "qty"), ("v2", "quantity"), ("v3", "quantity")] {
        let address = &index["paths"][format!("apis/shop.example.com/{version}")]["serverRelativeURL"];
        let (status, document) = ask(&running, "GET", address.as_str().unwrap(), "application/json", None).await;
        assert_eq!(status, 200);
        let schema = &document["components"]["schemas"][format!("com.example.shop.{version}.Order")];
        assert_eq!(schema["properties"]["spec"]["properties"][quantity]["default"], 1);
        let path = format!("/apis/shop.example.com/{version}/namespaces/{{namespace}}/orders/{{name}}");
        let patch = &document["paths"][path]["patch"];
        let parameters = patch["parameters"].as_array().unwrap();
        assert!(parameters.iter().any(|parameter| parameter["name"] == "fieldValidation"));
        let kind = json!({"group": "shop.example.com", "version": version, "kind": "Order"});
        assert_eq!(patch["x-kubernetes-group-version-kind"], kind);
        assert_references(&document, &document);
    }
    let (_, old) = ask(&running, "GET", "/openapi/v2", "application/json", None).await;
    let order = &old["definitions"]["com.example.shop.v3.Order"];
    assert_eq!(order["properties"]["spec"]["properties"]["quantity"], json!({"type": "integer"}), "no default");
    assert_references(&old, &old);
}

/// Every reference leads somewhere.
fn assert_references(document: &Value, value: &Value) {
    match value {
        Value::Object(fields) => {
            if let Some(reference) = fields.get("$ref").and_then(Value::as_str) {
                assert!(document.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
            }
            fields.values().for_each(|value| assert_references(document, value));
        }
        Value::Array(items) => items.iter().for_each(|item| assert_references(document, item)),
        _ => {}
    }
}
