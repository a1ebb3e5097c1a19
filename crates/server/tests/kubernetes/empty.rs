//! A store in which nothing has happened yet.

use serde_json::{Value, json};

use crate::objects::server;

const THINGS: &str = "/apis/lab.example.com/v1/namespaces/here/things";

#[tokio::test]
async fn a_watch_from_the_list_of_an_empty_store_has_every_event_once() {
    let server = server().await;
    let list: Value = serde_json::from_slice(&server.send("GET", THINGS, None).await.body).expect("JSON");
    let version = list["metadata"]["resourceVersion"].as_str().expect("a resourceVersion");
    // A watch from 0 begins anywhere.
    assert!(version.parse::<u64>().expect("a number") > 0);
    for name in ["first", "second"] {
        let thing = json!({"apiVersion": "lab.example.com/v1", "kind": "Thing", "metadata": {"name": name}});
        assert_eq!(server.send("POST", THINGS, Some(thing)).await.status, 201);
    }
    assert_eq!(server.send("DELETE", &format!("{THINGS}/first"), None).await.status, 200);
    let path = format!("{THINGS}?watch=true&resourceVersion={version}&timeoutSeconds=1");
    let watched = String::from_utf8(server.send("GET", &path, None).await.body).expect("a text");
    let events = watched.lines().map(|line| {
        let event: Value = serde_json::from_str(line).expect("JSON");
        format!("{} {}", event["type"], event["object"]["metadata"]["name"])
    });
    let expected = [r#""ADDED" "first""#, r#""ADDED" "second""#, r#""DELETED" "first""#];
    assert_eq!(events.collect::<Vec<_>>(), expected);
}
