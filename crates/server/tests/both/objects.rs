//! What one dialect writes, the other reads; and what one does not speak of, it leaves alone.

use std::sync::Arc;

use serde_json::{Value, json};
use wheelwright_repository::Repository;
use wheelwright_server::Server;
use wheelwright_store::Memory;

use crate::support::{Running, SUBSCRIPTION, arm, kinds, kubernetes, order, said, shop};

#[tokio::test]
async fn what_arm_creates_is_an_object_of_kubernetes() {
    let server = Running::shop().await;
    let body = json!({"tags": {"team": "a"}, "spec": {"qty": 3, "coupon": "SPRING"}, "status": {"phase": "forged"}});
    let created = server.send("PUT", &arm("West", "Books", "v1"), &body).await;
    let shown = created.with_status(201);
    assert_eq!(shown["id"], "/subscriptions/5a2F-Shop/resourceGroups/west/providers/Example.Shop/orders/books");
    assert_eq!([&shown["name"], &shown["type"]], [&json!("books"), &json!("Example.Shop/orders")]);
    assert_eq!(shown["tags"], json!({"team": "a"}));
    assert_eq!(said(&shown), json!({"spec": {"qty": 3, "coupon": "SPRING"}}), "the status is the service's");
    assert_eq!(shown["systemData"]["createdBy"], "anonymous");
    assert_eq!(Some(shown["etag"].as_str().unwrap()), created.header("etag"));
    assert_eq!(
        [created.header("api-supported-versions"), created.header("deprecation")],
        [Some("v1, v2"), Some("true")]
    );

    let object = server.get(&kubernetes("west", "books", "v2")).await;
    assert_eq!([&object["apiVersion"], &object["kind"]], ["shop.example.com/v2", "Order"]);
    assert_eq!(said(&object), json!({"spec": {"quantity": 3, "size": "small"}}));
    let metadata = &object["metadata"];
    assert_eq!([&metadata["name"], &metadata["namespace"]], ["books", "west"]);
    assert_eq!((&metadata["labels"], &metadata["generation"]), (&json!({"team": "a"}), &json!(1)));
    assert_eq!(created.header("etag").unwrap(), format!("\"{}\"", metadata["resourceVersion"].as_str().unwrap()));
    assert!(metadata["uid"].is_string() && metadata["creationTimestamp"].is_string(), "{metadata}");
}

#[tokio::test]
async fn what_is_said_to_be_tried_at_the_start_is_in_both_dialects() {
    let repository = Repository::new(Arc::new(Memory::new()), kinds(&shop()));
    let serving = Server::new(repository).bind(([127, 0, 0, 1], 0).into()).await.unwrap();
    let (hints, url) = (serving.hints(), serving.url());
    assert!(hints.contains(&format!("  kubectl --server {url} get orders.shop.example.com -A")), "{hints:?}");
    let in_arm = hints.iter().find_map(|hint| hint.strip_prefix(&format!("  curl '{url}/sub")));
    let path = format!("/sub{}", in_arm.unwrap().trim_end_matches('\''));
    assert_eq!(Running::shop().await.get(&path).await, json!({"value": []}));
}

#[tokio::test]
async fn what_kubernetes_creates_is_a_resource_and_what_arm_cannot_say_stays() {
    let server = Running::shop().await;
    let mut object = order("books", 3);
    object["metadata"] = json!({"name": "books", "labels": {"a": "b"}, "annotations": {"note": "keep"},
        "finalizers": ["shop.example.com/refund"],
        "ownerReferences": [{"apiVersion": "v1", "kind": "Cart", "name": "c", "uid": "1"}]});
    server.send("POST", &kubernetes("west", "", "v2"), &object).await.with_status(201);
    let status = json!({"status": {"phase": "packed"}});
    let path = format!("{}/status", kubernetes("west", "books", "v2"));
    let before = server.send("PATCH", &path, &status).await.with_status(200);

    let read = server.get(&arm("west", "books", "v2")).await;
    assert_eq!((said(&read), &read["tags"]), (said(&before), &json!({"a": "b"})));
    let put_back = server.send("PUT", &arm("west", "books", "v2"), &read).await;
    assert_eq!(put_back.with_status(200), read, "what was read changes nothing");
    assert_eq!(server.get(&kubernetes("west", "books", "v2")).await, before);

    // Without tags there are none any more, and what the client cannot write is as it was.
    let replaced = json!({"spec": {"quantity": 4}, "status": {"phase": "forged"}});
    server.send("PUT", &arm("west", "books", "v2"), &replaced).await.with_status(200);
    let after = server.get(&kubernetes("west", "books", "v2")).await;
    assert_eq!(said(&after), json!({"spec": {"quantity": 4, "size": "small"}, "status": {"phase": "packed"}}));
    let mut expected = before["metadata"].clone();
    expected.as_object_mut().unwrap().remove("labels");
    expected["generation"] = json!(before["metadata"]["generation"].as_i64().unwrap() + 1);
    expected["resourceVersion"] = after["metadata"]["resourceVersion"].clone();
    assert_eq!(after["metadata"], expected);
}

#[tokio::test]
async fn tags_are_labels_and_written_as_a_whole() {
    let server = Running::shop().await;
    let (resource, object) = (arm("west", "books", "v1"), kubernetes("west", "books", "v2"));
    server.send("PUT", &resource, &json!({"tags": {"a": "1", "b": "2"}, "spec": {}})).await.with_status(201);
    let labels = async || server.get(&object).await["metadata"]["labels"].clone();
    for (patch, expected) in [
        (json!({"tags": {"b": "3", "c": "4"}}), json!({"b": "3", "c": "4"})),
        (json!({"tags": {"b": null, "d": "5"}}), json!({"d": "5"})),
        (json!({"spec": {"note": "x"}}), json!({"d": "5"})),
        (json!({"tags": null}), Value::Null),
        (json!({"tags": {"e.example.com/f": ""}}), json!({"e.example.com/f": ""})),
    ] {
        server.send("PATCH", &resource, &patch).await.with_status(200);
        assert_eq!(labels().await, expected, "{patch}");
    }
    server.send("PATCH", &object, &json!({"metadata": {"labels": {"g": "h"}}})).await.with_status(200);
    assert_eq!(server.get(&resource).await["tags"], json!({"e.example.com/f": "", "g": "h"}));
    let generation = server.get(&object).await["metadata"]["generation"].clone();
    assert_eq!(generation, json!(2), "only the note was a change of what is wanted");
}

#[tokio::test]
async fn who_wrote_last_is_known_whatever_words_they_used() {
    let server = Running::shop().await;
    let resource = arm("west", "books", "v2");
    let headers = [("content-type", "application/json"), ("x-ms-client-principal-name", "ann")];
    server.request("PUT", &resource, &headers, br#"{"spec": {}}"#).await.with_status(201);
    server.send("PATCH", &kubernetes("west", "books", "v1"), &json!({"spec": {"note": "x"}})).await.with_status(200);
    let data = server.get(&resource).await["systemData"].clone();
    assert_eq!([&data["createdBy"], &data["lastModifiedBy"]], ["ann", "anonymous"]);
    let object = server.get(&kubernetes("west", "books", "v1")).await;
    assert_eq!(object.get("systemData"), None, "Kubernetes does not speak of it");
}

#[tokio::test]
async fn a_watch_in_kubernetes_hears_what_arm_does() {
    let server = Running::shop().await;
    let resource = arm("west", "books", "v1");
    let created = server.send("POST", &kubernetes("west", "", "v2"), &order("first", 1)).await.with_status(201);
    let since = created["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
    server.send("PUT", &resource, &json!({"spec": {"qty": 2}})).await.with_status(201);
    server.send("PATCH", &resource, &json!({"tags": {"a": "b"}})).await.with_status(200);
    assert_eq!(server.delete(&resource).await.status, 200);
    let query = format!("?watch=true&timeoutSeconds=1&resourceVersion={since}");
    let watched = server.request("GET", &format!("{}{query}", kubernetes("west", "", "v2")), &[], b"").await;
    let events = String::from_utf8(watched.body).unwrap();
    let events: Vec<Value> = events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(told, ["ADDED", "MODIFIED", "DELETED"]);
    assert_eq!(events[0]["object"]["spec"]["quantity"], 2);
    assert_eq!(events[1]["object"]["metadata"]["labels"], json!({"a": "b"}));
}

#[tokio::test]
async fn preconditions_are_about_the_one_record() {
    let server = Running::shop().await;
    let (resource, object) = (arm("west", "books", "v2"), kubernetes("west", "books", "v2"));
    let old = server.send("PUT", &resource, &json!({"spec": {}})).await.header("etag").unwrap().to_owned();
    let read = server.get(&object).await;
    server.send("PATCH", &object, &json!({"spec": {"note": "x"}})).await.with_status(200);
    for (method, body) in [("PUT", r#"{"spec": {}}"#), ("PATCH", "{}"), ("DELETE", "")] {
        let headers = [("if-match", old.as_str()), ("content-type", "application/json")];
        let answered = server.request(method, &resource, &headers, body.as_bytes()).await;
        assert_eq!(answered.error(), (412, "PreconditionFailed".to_owned()), "{method}");
    }
    let new = server.get(&resource).await["etag"].as_str().unwrap().to_owned();
    let known = server.request("GET", &resource, &[("if-none-match", new.as_str())], b"").await;
    assert_eq!(known.status, 304);
    // And the other way round.
    server.send("PATCH", &resource, &json!({"tags": {"a": "b"}})).await.with_status(200);
    server.send("PUT", &object, &read).await.with_status(409);
}

#[tokio::test]
async fn removal_waits_for_finalizers() {
    let server = Running::shop().await;
    let (resource, object) = (arm("west", "books", "v2"), kubernetes("west", "books", "v2"));
    let mut with_finalizer = order("books", 1);
    with_finalizer["metadata"]["finalizers"] = json!(["shop.example.com/refund"]);
    server.send("POST", &kubernetes("west", "", "v2"), &with_finalizer).await.with_status(201);
    assert_eq!(server.delete(&resource).await.status, 202);
    assert!(server.get(&object).await["metadata"]["deletionTimestamp"].is_string());
    let refused = server.send("PUT", &resource, &json!({"spec": {"quantity": 9}})).await;
    assert_eq!(refused.error(), (409, "Conflict".to_owned()), "what is to go is not written any more");
    assert_eq!(server.delete(&resource).await.status, 202);
    server.send("PATCH", &object, &json!({"metadata": {"finalizers": null}})).await.with_status(200);
    assert_eq!(server.request("GET", &resource, &[], b"").await.error(), (404, "ResourceNotFound".to_owned()));
    assert_eq!(server.delete(&resource).await.status, 204);
}

#[tokio::test]
async fn lists_are_of_a_group_or_of_the_subscription_page_by_page() {
    let server = Running::shop().await;
    for (namespace, name) in [("west", "a"), ("west", "b"), ("west", "c"), ("east", "d")] {
        server.send("POST", &kubernetes(namespace, "", "v2"), &order(name, 1)).await.with_status(201);
    }
    let all = format!("/subscriptions/{SUBSCRIPTION}/providers/example.shop/ORDERS?api-version=v1");
    for (first, expected) in [(arm("WEST", "", "v1"), vec!["a", "b", "c"]), (all, vec!["d", "a", "b", "c"])] {
        let (mut names, mut link) = (Vec::new(), Some(format!("{first}&$top=2")));
        while let Some(next) = link.take() {
            let page = server.get(&next).await;
            let items = page["value"].as_array().unwrap();
            assert!(items.len() <= 2);
            for item in items {
                assert_eq!(said(item), json!({"spec": {"qty": 1}}));
                assert_eq!(&server.get(&format!("{}?api-version=v1", item["id"].as_str().unwrap())).await, item);
                names.push(item["name"].as_str().unwrap().to_owned());
            }
            // Links are absolute.
            link = page["nextLink"].as_str().map(|link| link[link.find("/subscriptions").unwrap()..].to_owned());
        }
        assert_eq!(names, expected, "{first}");
    }
}
