//! Objects that cannot be displayed: a list names them, and in pages goes on behind them.

use serde_json::{Value, json};
use wheelwright_repository::{Collection, Name};
use wheelwright_store::Store;

use crate::{client::begin, objects::server, support::Running};

const THINGS: &str = "/apis/lab.example.com/v1/namespaces/here/things";
const DAMAGED: [&str; 3] = ["b", "c", "f"];
const NEWER: &str = r#"{"$wheelwright":99,"hub":"v9","object":{}}"#;

/// Six things, of which some cannot be displayed: two that are damaged, and one that a newer release wrote.
async fn with_damage() -> (Running, Collection) {
    let server = server().await;
    let things = server.repository.kinds().next().unwrap();
    for name in ["a", "d", "e"] {
        let thing = json!({"apiVersion": "lab.example.com/v1", "kind": "Thing", "spec": {},
            "metadata": {"name": name, "labels": {"name": name}}});
        server.send("POST", THINGS, Some(thing)).await;
    }
    for (name, bytes) in DAMAGED.into_iter().zip(["nonsense", NEWER, "{}"]) {
        let key = things.kind().key(&Name::new(&format!("here/{name}")).unwrap()).unwrap();
        server.store.create(&key, bytes.as_bytes().to_vec()).await.unwrap();
    }
    (server, things)
}

fn names(list: &Value) -> Vec<String> {
    let items = list["items"].as_array().unwrap().iter();
    items.map(|item| item["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn pages_go_on_behind_an_object_that_cannot_be_displayed() {
    let (server, _) = with_damage().await;
    for (limit, selector) in [(1, ""), (2, ""), (500, ""), (2, "&labelSelector=name"), (500, "&labelSelector=name!=a")]
    {
        let (mut listed, mut refused) = (Vec::new(), Vec::new());
        let mut next = String::new();
        for _ in 0..10 {
            let path = format!("{THINGS}?limit={limit}{selector}{next}");
            let answered = server.send("GET", &path, None).await;
            let body: Value = serde_json::from_slice(&answered.body).unwrap();
            match answered.status {
                200 => listed.extend(names(&body)),
                status => {
                    assert_eq!((status, &body["reason"]), (500, &json!("InternalError")), "{body}");
                    let name = body["details"]["name"].as_str().unwrap();
                    assert!(body["message"].as_str().unwrap().contains(&format!("here/{name}: ")), "{body}");
                    refused.push(name.to_owned());
                }
            }
            next = match body["metadata"]["continue"].as_str().unwrap_or_default() {
                "" => break,
                token => format!("&continue={token}"),
            };
        }
        let expected: &[&str] = if selector.contains("!=") { &["d", "e"] } else { &["a", "d", "e"] };
        assert_eq!((listed.as_slice(), refused.as_slice()), (&owned(expected)[..], &owned(&DAMAGED)[..]), "{limit}");
    }
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[tokio::test]
async fn a_whole_list_names_the_object_and_a_watch_does_too() {
    let (server, _) = with_damage().await;
    for query in ["", "?labelSelector=name"] {
        let answered = server.send("GET", &format!("{THINGS}{query}"), None).await;
        let status: Value = serde_json::from_slice(&answered.body).unwrap();
        assert_eq!((answered.status, &status["details"]["name"]), (500, &json!("b")), "{status}");
        assert!(status["message"].as_str().unwrap().contains("list in pages"), "{status}");
    }
    let watched = server.send("GET", &format!("{THINGS}?watch=1&timeoutSeconds=5"), None).await;
    let text = String::from_utf8(watched.body).unwrap();
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!((&last["type"], &last["object"]["code"]), (&json!("ERROR"), &json!(500)));
    assert!(last["object"]["message"].as_str().unwrap().contains("here/b"), "{text}");
}

#[tokio::test]
async fn a_watch_says_how_to_go_on_behind_an_event_that_cannot_be_displayed() {
    let (server, things) = with_damage().await;
    let from = server.repository.cursor().await.unwrap();
    let key = things.kind().key(&Name::new("here/g").unwrap()).unwrap();
    let damaged = server.store.create(&key, b"nonsense".to_vec()).await.unwrap();
    let thing = json!({"apiVersion": "lab.example.com/v1", "kind": "Thing", "metadata": {"name": "h"}, "spec": {}});
    server.send("POST", THINGS, Some(thing)).await;
    let watch = async |from: &str| {
        let path = format!("{THINGS}?watch=1&timeoutSeconds=1&resourceVersion={from}");
        let watched = begin(server.address, "GET", &path, &[], None).await.whole().await;
        let line = String::from_utf8(watched.body).unwrap();
        serde_json::from_str::<Value>(line.lines().next().unwrap()).unwrap()
    };
    let message = watch(from.as_str()).await["object"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("here/g"), "{message}");
    let behind = message.split("from resourceVersion ").nth(1).unwrap().split(' ').next().unwrap();
    assert_eq!(behind, damaged.as_str());
    assert_eq!(watch(behind).await["object"]["metadata"]["name"], "h");
}

#[tokio::test]
async fn a_list_that_is_broken_off_ends_with_the_reason_and_is_no_list() {
    let server = server().await;
    let mut names = server.create_many().await;
    names.sort_unstable();
    let things = server.repository.kinds().next().unwrap();
    // Behind all others: the list has begun long before.
    let key = things.kind().key(&Name::new("here/zzz").unwrap()).unwrap();
    server.store.create(&key, b"nonsense".to_vec()).await.unwrap();
    for (accept, selector) in
        [("application/json", ""), ("application/yaml", ""), ("application/json", "?labelSelector=!x")]
    {
        let headers = [("Accept".to_owned(), accept.to_owned())];
        let answered = begin(server.address, "GET", &format!("{THINGS}{selector}"), &headers, None).await.whole().await;
        let text = String::from_utf8(answered.body).unwrap();
        assert_eq!(answered.status, 200);
        assert!(serde_json::from_str::<Value>(&text).is_err());
        let arena = wheelwright_document::Arena::new();
        assert!(
            wheelwright_document::decode_yaml(
                text.as_bytes(),
                &arena,
                &wheelwright_document::Decode { max_bytes: usize::MAX, ..Default::default() }
            )
            .is_err()
        );
        let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        assert_eq!((&last["kind"], &last["details"]["name"]), (&json!("Status"), &json!("zzz")), "{last}");
    }
}

#[tokio::test]
async fn removing_all_objects_stops_at_one_that_cannot_be_displayed_and_goes_on_behind_it() {
    let (server, _) = with_damage().await;
    // Nothing is removed by a request that fails at once.
    let answered = server.send("DELETE", THINGS, None).await;
    let status: Value = serde_json::from_slice(&answered.body).unwrap();
    assert_eq!((answered.status, &status["details"]["name"]), (500, &json!("b")), "{status}");
    assert_eq!(server.send("GET", &format!("{THINGS}/a"), None).await.status, 200);
    let mut next = String::new();
    let mut refused = Vec::new();
    for _ in 0..10 {
        let answered = server.send("DELETE", &format!("{THINGS}?limit=100{next}"), None).await;
        let body: Value = serde_json::from_slice(&answered.body).unwrap();
        refused.extend(body["details"]["name"].as_str().map(str::to_owned));
        next = match body["metadata"]["continue"].as_str().unwrap_or_default() {
            "" => break,
            token => format!("&continue={token}"),
        };
    }
    assert_eq!(refused, DAMAGED);
    for name in ["a", "d", "e"] {
        assert_eq!(server.send("GET", &format!("{THINGS}/{name}"), None).await.status, 404);
    }
}
