//! What is refused, and in which words.

use serde_json::{Value, json};

use crate::support::{Running, SUBSCRIPTION, arm, kubernetes};

#[tokio::test]
async fn other_subscriptions_have_none_of_it() {
    let server = Running::shop().await;
    server.send("PUT", &arm("west", "books", "v1"), &json!({"spec": {}})).await.with_status(201);
    let other = |path: &str| path.replace(SUBSCRIPTION, "west");
    let list = format!("/subscriptions/{SUBSCRIPTION}/providers/Example.Shop/orders?api-version=v1");
    for (method, path) in [
        ("GET", other(&arm("west", "books", "v1"))),
        ("PUT", other(&arm("west", "books", "v1"))),
        ("DELETE", other(&arm("west", "books", "v1"))),
        ("GET", other(&arm("west", "", "v1"))),
        ("GET", other(&list)),
    ] {
        let answered = server.request(method, &path, &[("content-type", "application/json")], br#"{"spec": {}}"#).await;
        assert_eq!(answered.error(), (404, "ResourceNotFound".to_owned()), "{method} {path}");
    }
    assert_eq!(server.get(&list).await["value"].as_array().unwrap().len(), 1);
    // An id of an operation reads no object of a namespace that is called as a subscription.
    let hex: String = "example.shop/orders books".bytes().map(|byte| format!("{byte:02x}")).collect();
    for polled in ["operationStatuses", "operationResults"] {
        let path = format!("/subscriptions/west/providers/Example.Shop/{polled}/a-d{hex}?api-version=v1");
        assert_eq!(server.request("GET", &path, &[], b"").await.error(), (404, "OperationNotFound".to_owned()));
    }
}

#[tokio::test]
async fn names_that_kubernetes_would_refuse_are_refused_to_new_resources() {
    let server = Running::shop().await;
    for (group, name) in [("west", "a_b"), ("west", "-a"), ("we.st", "a"), ("a_b", "a"), ("west", "%C3%A4")] {
        let answered = server.send("PUT", &arm(group, name, "v1"), &json!({"spec": {}})).await;
        assert_eq!(answered.error(), (400, "InvalidResourceName".to_owned()), "{group} {name}");
        let read = server.request("GET", &arm(group, name, "v1"), &[], b"").await;
        assert_eq!(read.error(), (404, "ResourceNotFound".to_owned()), "{group} {name}");
    }
}

#[tokio::test]
async fn what_is_not_valid_is_told_with_its_path() {
    let server = Running::shop().await;
    let resource = arm("west", "books", "v2");
    server.send("PUT", &resource, &json!({"tags": {"a": "b"}, "spec": {"quantity": 5}})).await.with_status(201);
    let before = server.get(&resource).await;
    let cases: [(Value, &[(&str, &str)]); 9] = [
        (json!({"spec": {"quantity": 0}}), &[("InvalidProperty", "spec.quantity")]),
        (json!({"spec": {"quantity": 100}}), &[("InvalidProperty", "spec")]),
        (json!({"spec": {"size": "huge"}}), &[("InvalidProperty", "spec.size")]),
        (json!({"spec": {"qty": 3}}), &[("UnknownProperty", "spec.qty")]),
        (json!({"colour": 1, "spec": {}}), &[("UnknownProperty", "colour")]),
        (
            json!({"spec": {}, "kind": "Order", "metadata": {}}),
            &[("UnknownProperty", "kind"), ("UnknownProperty", "metadata")],
        ),
        (json!({"spec": {}, "tags": {"a": 1}}), &[("InvalidProperty", "tags")]),
        (json!({"spec": {}, "tags": {"a": "no label!"}}), &[("InvalidProperty", "tags")]),
        (json!({"spec": {}, "tags": ["a"]}), &[("InvalidProperty", "tags")]),
    ];
    for (body, expected) in cases {
        for (method, path) in [("PUT", &resource), ("PATCH", &resource), ("PUT", &arm("west", "new", "v2"))] {
            let answered = server.send(method, path, &body).await;
            assert_eq!(answered.error(), (400, "InvalidRequestContent".to_owned()), "{method} {body}");
            let error: Value = serde_json::from_slice(&answered.body).unwrap();
            let details = error["error"]["details"].as_array().unwrap().iter();
            let told: Vec<_> =
                details.map(|detail| (detail["code"].as_str().unwrap(), detail["target"].as_str().unwrap())).collect();
            // Rules are not looked at while anything else is wrong, and that is told, too.
            assert!(expected.iter().all(|wrong| told.contains(wrong)), "{method} {body}: {told:?}");
        }
    }
    for (method, body) in [("PUT", "[]"), ("PATCH", "[]"), ("PUT", "{"), ("PUT", r#"{"spec": {}, "spec": {}}"#)] {
        let answered =
            server.request(method, &resource, &[("content-type", "application/json")], body.as_bytes()).await;
        assert_eq!(answered.error(), (400, "InvalidRequestContent".to_owned()), "{method} {body}");
    }
    assert_eq!(server.get(&resource).await, before);
}

#[tokio::test]
async fn versions_are_those_that_kubernetes_serves() {
    let server = Running::shop().await;
    let resource = |version: &str| arm("west", "books", version);
    server.send("PUT", &resource("V1"), &json!({"spec": {}})).await.with_status(201);
    for (version, code) in [
        ("v0", "InvalidApiVersionParameter"),
        ("2026-01-01", "UnsupportedApiVersionValue"),
        ("", "MissingApiVersionParameter"),
    ] {
        assert_eq!(server.request("GET", &resource(version), &[], b"").await.error(), (400, code.to_owned()));
    }
    assert_eq!(server.request("GET", &kubernetes("west", "books", "v0"), &[], b"").await.status, 404);
    let missing = server.send("PATCH", &arm("west", "none", "v1"), &json!({})).await;
    assert_eq!(missing.error(), (404, "ResourceNotFound".to_owned()));
    let action = server.send("POST", &resource("v1"), &json!({})).await;
    assert_eq!(action.error(), (405, "MethodNotAllowed".to_owned()));
}
