//! A body has a type that says what it is: a web page may send one without a type, of a form or of text to any server.

use serde_json::json;

use crate::support::{Running, arm, kubernetes, order};

#[tokio::test(flavor = "multi_thread")]
async fn a_write_whose_type_a_form_can_have_is_refused_in_both_dialects() {
    let server = Running::shop().await;
    server.send("POST", &kubernetes("west", "", "v2"), &order("o", 1)).await.with_status(201);
    let before = server.get(&kubernetes("west", "", "v2")).await;
    let body = order("p", 7).to_string();
    let (object, resource) = (kubernetes("west", "o", "v2"), arm("west", "o", "v2"));
    let writes = [
        ("POST", kubernetes("west", "", "v2")),
        ("PUT", object.clone()),
        ("PATCH", object.clone()),
        ("DELETE", object.clone()),
        ("DELETE", kubernetes("west", "", "v2")),
        ("PUT", resource.clone()),
        ("PATCH", resource.clone()),
        ("DELETE", resource.clone()),
        ("PUT", arm("west", "p", "v2")),
    ];
    let types = [
        None,
        Some(""),
        Some("text/plain"),
        Some("text/plain;charset=UTF-8"),
        Some("text/plain; application/json"),
        Some("application/x-www-form-urlencoded"),
        Some("multipart/form-data; boundary=application/json"),
        Some("application/vnd.kubernetes.protobuf"),
        Some("application/octet-stream"),
        Some("*/*"),
        Some("application/json, text/plain"),
    ];
    for (method, path) in &writes {
        for sent in types {
            let headers: Vec<_> = sent.map(|sent| ("content-type", sent)).into_iter().collect();
            let answered = server.request(method, path, &headers, body.as_bytes()).await;
            let text = String::from_utf8_lossy(&answered.body);
            assert_eq!(answered.status, 415, "{method} {path} {sent:?}: {text}");
        }
    }
    assert_eq!(server.get(&kubernetes("west", "", "v2")).await, before, "nothing is written");
    // The same writes are done with a type of their own; a DELETE without a body needs none.
    let merge = [("content-type", "application/merge-patch+json; charset=utf-8")];
    for path in [&object, &resource] {
        server.request("PATCH", path, &merge, b"{}").await.with_status(200);
    }
    // The Python client of Kubernetes creates custom objects without a type; one that a form can have is refused all the same.
    let client = ("user-agent", "OpenAPI-Generator/37.0.2/python");
    let create = async |name: &str, headers: &[(&str, &str)]| {
        let body = order(name, 1).to_string();
        server.request("POST", &kubernetes("west", "", "v2"), headers, body.as_bytes()).await
    };
    create("python", &[client]).await.with_status(201);
    create("form", &[client, ("content-type", "text/plain")]).await.with_status(415);
    let yaml = format!(
        "apiVersion: shop.example.com/v2\nkind: Order\nmetadata: {{name: yaml}}\nspec: {}",
        json!({"quantity": 2})
    );
    let headers = [("content-type", "application/yaml")];
    server.request("POST", &kubernetes("west", "", "v2"), &headers, yaml.as_bytes()).await.with_status(201);
    server.request("DELETE", &object, &[("content-type", "application/json")], b"{}").await.with_status(200);
    server.delete(&kubernetes("west", "yaml", "v2")).await.with_status(200);
}
