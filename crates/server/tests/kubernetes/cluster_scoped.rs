//! Objects that are in no namespace: none of them can say that it is in one.

use std::fs;

use serde_json::{Value, json};

use crate::{
    client::{Answered, begin},
    support::Running,
};

const ZONES: &str = "/apis/lab.example.com/v1/zones";

async fn server() -> Running {
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"note": {"type": "string"}}}}});
    let version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}});
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "zones.lab.example.com"},
        "spec": {
            "group": "lab.example.com",
            "scope": "Cluster",
            "names": {"plural": "zones", "singular": "zone", "kind": "Zone", "listKind": "ZoneList"},
            "versions": [version],
        },
    });
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("zones.json"), definition.to_string()).unwrap();
    Running::of(folder.path()).await
}

async fn send(running: &Running, method: &str, path: &str, sort: &str, body: &Value) -> Answered {
    let headers = [("Content-Type".to_owned(), sort.to_owned())];
    let body = (!body.is_null()).then(|| body.to_string().into_bytes());
    begin(running.address, method, path, &headers, body.as_deref()).await.whole().await
}

fn body(answered: &Answered) -> Value {
    serde_json::from_slice(&answered.body).unwrap()
}

#[tokio::test]
async fn no_write_puts_an_object_into_a_namespace_that_is_in_none() {
    let running = server().await;
    let (json, merge) = ("application/json", "application/merge-patch+json");
    let zone =
        json!({"apiVersion": "lab.example.com/v1", "kind": "Zone", "metadata": {"name": "north", "namespace": "shop"}});
    let created = send(&running, "POST", ZONES, json, &zone).await;
    assert_eq!((created.status, &body(&created)["metadata"]["namespace"]), (201, &Value::Null));
    let north = format!("{ZONES}/north");
    let mut replaced = body(&created);
    replaced["metadata"]["namespace"] = json!("shop");
    replaced["spec"] = json!({"note": "replaced"});
    let replaced = send(&running, "PUT", &north, json, &replaced).await;
    assert_eq!((replaced.status, &body(&replaced)["metadata"]["namespace"]), (200, &Value::Null));
    for (sort, patch) in [
        (merge, json!({"metadata": {"namespace": "shop"}})),
        ("application/json-patch+json", json!([{"op": "add", "path": "/metadata/namespace", "value": "shop"}])),
    ] {
        let patched = send(&running, "PATCH", &north, sort, &patch).await;
        let told = body(&patched);
        assert_eq!(
            (patched.status, &told["details"]["causes"][0]["field"]),
            (422, &json!("metadata.namespace")),
            "{told}"
        );
    }
    let patched = send(&running, "PATCH", &north, merge, &json!({"spec": {"note": "patched"}})).await;
    assert_eq!(patched.status, 200);
    let read = send(&running, "GET", &north, json, &Value::Null).await;
    assert_eq!(
        (&body(&read)["metadata"]["namespace"], &body(&read)["spec"]["note"]),
        (&Value::Null, &json!("patched"))
    );
}
