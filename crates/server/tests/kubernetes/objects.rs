//! Objects over HTTP, where nothing was recorded.

use std::{
    fs,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio::task::JoinSet;
use wheelwright_repository::{Collection, Name, Write};
use wheelwright_store::{Cursor, Store};

use crate::{
    client::{Answered, begin},
    support::Running,
};

const THINGS: &str = "/apis/lab.example.com/v1/namespaces/here/things";

/// A server of a kind with a version that is served, one that is deprecated, and one that is not served.
pub(crate) async fn server() -> Running {
    let version = |name: &str, is_served: bool, is_deprecated: bool| {
        let text = json!({"type": "string"});
        let properties = json!({"count": {"type": "integer", "default": 1}, "note": text, "namespace": text});
        let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}});
        json!({"name": name, "served": is_served, "storage": name == "v1", "deprecated": is_deprecated,
            "subresources": {"scale": {"specReplicasPath": ".spec.count", "statusReplicasPath": ".status.count"}},
            "schema": {"openAPIV3Schema": schema}})
    };
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.lab.example.com"},
        "spec": {
            "group": "lab.example.com",
            "scope": "Namespaced",
            "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
            "versions": [version("v1alpha1", false, false), version("v1beta1", true, true), version("v1", true, false)],
        },
    });
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("things.json"), definition.to_string()).unwrap();
    Running::of(folder.path()).await
}

impl Running {
    pub(crate) async fn send(&self, method: &str, path: &str, body: Option<Value>) -> Answered {
        let sort = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        let headers = [("Content-Type".to_owned(), sort.to_owned())];
        let body = body.map(|body| body.to_string().into_bytes());
        begin(self.address, method, path, &headers, body.as_deref()).await.whole().await
    }

    fn things(&self) -> Collection {
        self.repository.kinds().next().expect("a kind")
    }

    /// Creates things, more than there are on a page, and says what they are called.
    pub(crate) async fn create_many(&self) -> Vec<String> {
        let things = self.things();
        let mut names = Vec::new();
        for number in 0..1203 {
            let name = format!("thing-{number:04}");
            // Whoever writes through the library need not say what a name says already.
            let json = thing(&name).to_string();
            things
                .create(&Name::new(&format!("here/{name}")).unwrap(), Write::document("v1", json.as_bytes()))
                .await
                .unwrap();
            names.push(name);
        }
        names
    }
}

fn body(answered: &Answered) -> Value {
    serde_json::from_slice(&answered.body).expect("JSON")
}

fn thing(name: &str) -> Value {
    json!({"apiVersion": "lab.example.com/v1", "kind": "Thing", "metadata": {"name": name}, "spec": {"note": "n"}})
}

fn names(list: &Value) -> Vec<String> {
    let items = list["items"].as_array().expect("items").iter();
    items.map(|item| item["metadata"]["name"].as_str().unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn a_version_that_is_not_served_is_not_reachable_and_a_deprecated_one_says_so() {
    let server = server().await;
    let hidden = server.send("GET", "/apis/lab.example.com/v1alpha1/namespaces/here/things", None).await;
    assert_eq!((hidden.status, &hidden.body[..]), (404, &b"404 page not found\n"[..]));
    let old = server.send("GET", "/apis/lab.example.com/v1beta1/namespaces/here/things", None).await;
    assert_eq!(old.status, 200);
    assert_eq!(old.all("warning"), [r#"299 - "lab.example.com/v1beta1 Thing is deprecated""#]);
}

#[tokio::test]
async fn a_list_of_many_pages_is_the_same_whole_and_page_by_page() {
    let server = server().await;
    let expected = server.create_many().await;
    let whole = server.send("GET", THINGS, None).await;
    assert_eq!(whole.header("transfer-encoding"), Some("chunked"), "a long list is sent as it is read");
    let whole = body(&whole);
    assert_eq!((names(&whole), &whole["metadata"]["continue"]), (expected.clone(), &json!("")));
    assert!(whole["items"].as_array().unwrap().iter().all(|item| item["metadata"]["namespace"] == "here"));
    let selected = body(&server.send("GET", &format!("{THINGS}?fieldSelector=metadata.name=thing-1200"), None).await);
    assert_eq!(names(&selected), ["thing-1200"]);

    let (mut found, mut next) = (Vec::new(), String::new());
    loop {
        let page = body(&server.send("GET", &format!("{THINGS}?limit=400&continue={next}"), None).await);
        found.extend(names(&page));
        assert_eq!(page["metadata"]["resourceVersion"], whole["metadata"]["resourceVersion"]);
        // What is written meanwhile is of another moment.
        server.send("POST", THINGS, Some(thing(&format!("thing-later-{}", found.len())))).await;
        next = page["metadata"]["continue"].as_str().unwrap_or_default().to_owned();
        if next.is_empty() {
            break;
        }
    }
    assert_eq!(found, expected);
}

#[tokio::test]
async fn many_objects_are_removed_and_told_page_by_page() {
    let server = server().await;
    let expected = server.create_many().await;
    let some = body(&server.send("DELETE", &format!("{THINGS}?limit=3"), None).await);
    assert_eq!(names(&some), expected[..3]);
    let removed = server.send("DELETE", THINGS, None).await;
    assert_eq!((removed.status, removed.header("transfer-encoding")), (200, Some("chunked")));
    assert_eq!(names(&body(&removed)), expected[3..]);
    assert!(names(&body(&server.send("GET", THINGS, None).await)).is_empty());
}

#[tokio::test]
async fn an_object_says_where_it_is_whatever_else_it_says() {
    let server = server().await;
    let mut object = thing("one");
    object["metadata"]["annotations"] = json!({"namespace": "here", "text": "\\\"namespace\":\"here\""});
    object["spec"] = json!({"note": "{\"metadata\":{", "namespace": "here"});
    let name = Name::new("here/one").unwrap();
    let json = object.to_string();
    server.things().create(&name, Write::document("v1", json.as_bytes())).await.unwrap();
    let read = body(&server.send("GET", &format!("{THINGS}/one"), None).await);
    assert_eq!(read["metadata"]["namespace"], "here");
    assert_eq!(read["metadata"]["annotations"], object["metadata"]["annotations"]);
    assert_eq!((&read["spec"]["note"], &read["spec"]["namespace"]), (&object["spec"]["note"], &json!("here")));
}

#[tokio::test(flavor = "multi_thread")]
async fn patches_of_a_scale_do_not_hinder_each_other_unless_they_name_a_version() {
    let server = server().await;
    let created = body(&server.send("POST", THINGS, Some(thing("one"))).await);
    let (address, path) = (server.address, format!("{THINGS}/one/scale"));
    let mut patches = JoinSet::new();
    for replicas in 2..18 {
        let path = path.clone();
        patches.spawn(async move {
            let headers = [("Content-Type".to_owned(), "application/merge-patch+json".to_owned())];
            let patch = json!({"spec": {"replicas": replicas}}).to_string();
            begin(address, "PATCH", &path, &headers, Some(patch.as_bytes())).await.whole().await.status
        });
    }
    while let Some(status) = patches.join_next().await {
        assert_eq!(status.unwrap(), 200);
    }
    let version = &created["metadata"]["resourceVersion"];
    let late = json!({"metadata": {"resourceVersion": version}, "spec": {"replicas": 1}});
    assert_eq!(server.send("PATCH", &path, Some(late)).await.status, 409);
}

#[tokio::test]
async fn an_object_that_cannot_be_read_is_never_left_out_of_a_list() {
    let server = server().await;
    let things = server.things();
    server.send("POST", THINGS, Some(thing("good"))).await;
    let broken = things.kind().key(&Name::new("here/broken").unwrap()).unwrap();
    server.store.create(&broken, b"nonsense".to_vec()).await.unwrap();
    for path in [THINGS, "/apis/lab.example.com/v1/things", &format!("{THINGS}/broken")] {
        let answered = server.send("GET", path, None).await;
        let status = body(&answered);
        assert_eq!((answered.status, &status["kind"]), (500, &json!("Status")), "{path}");
        assert!(status["message"].as_str().unwrap().contains("here/broken"), "{status}");
    }
    let good = server.send("GET", &format!("{THINGS}/good"), None).await;
    assert_eq!(good.status, 200, "whoever asks for another one is not troubled");
}

#[tokio::test]
async fn a_watch_ends_when_its_time_is_up() {
    let server = server().await;
    let began = Instant::now();
    let watched = server.send("GET", &format!("{THINGS}?watch=true&timeoutSeconds=1"), None).await;
    assert_eq!((watched.status, watched.body.len()), (200, 0));
    assert!((Duration::from_millis(900)..Duration::from_secs(10)).contains(&began.elapsed()));
}

#[tokio::test]
async fn a_watch_without_an_end_that_a_clock_can_tell_is_a_watch() {
    let server = server().await;
    server.send("POST", THINGS, Some(thing("one"))).await;
    let path = format!("{THINGS}?watch=1&timeoutSeconds={}", i64::MAX);
    let mut watch = begin(server.address, "GET", &path, &[], None).await;
    assert!(!watch.read_for(Duration::from_millis(500)).await, "it goes on");
    let told = watch.so_far();
    let event: Value = serde_json::from_slice(&told.body).expect("an event");
    assert_eq!((told.status, &event["object"]["metadata"]["name"]), (200, &json!("one")));
}

#[tokio::test]
async fn a_watch_from_a_moment_to_come_tells_nothing_before_it() {
    let server = server().await;
    let now: Cursor = server.store.now().await.unwrap();
    let later = now.as_str().parse::<u64>().unwrap() + 2;
    let path = format!("{THINGS}?watch=true&resourceVersion={later}");
    let mut watch = begin(server.address, "GET", &path, &[], None).await;
    watch.read_for(Duration::from_millis(200)).await;
    for name in ["a", "b", "c"] {
        server.send("POST", THINGS, Some(thing(name))).await;
    }
    watch.read_for(Duration::from_millis(300)).await;
    let told = String::from_utf8(watch.so_far().body).unwrap();
    let told: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(told.iter().map(|event| &event["object"]["metadata"]["name"]).collect::<Vec<_>>(), ["c"]);
}

#[tokio::test]
async fn a_name_that_cannot_be_one_is_refused_with_all_else_that_is_wrong() {
    let server = server().await;
    for name in ["UPPER", "a/b", "a\\b", "a#b", "..", "é", &"x".repeat(254)] {
        let mut wrong = thing(name);
        wrong["spec"]["count"] = json!("many");
        let answered = server.send("POST", THINGS, Some(wrong)).await;
        let causes = body(&answered)["details"]["causes"].clone();
        let fields: Vec<&str> =
            causes.as_array().unwrap().iter().map(|cause| cause["field"].as_str().unwrap()).collect();
        assert_eq!(answered.status, 422, "{name}");
        assert!(fields.contains(&"metadata.name") && fields.contains(&"spec.count"), "{name}: {fields:?}");
        let path = format!("{THINGS}/{}", name.replace(['/', '\\', 'é'], "-").replace('#', "%23"));
        if name != ".." {
            assert_eq!(server.send("GET", &path, None).await.status, 404, "{name}");
        }
    }
}

#[tokio::test]
async fn nothing_is_created_in_a_namespace_that_can_be_none() {
    let server = server().await;
    for namespace in ["UPPER", "a.b", "-"] {
        let path = format!("/apis/lab.example.com/v1/namespaces/{namespace}/things");
        let answered = server.send("POST", &path, Some(thing("one"))).await;
        assert_eq!((answered.status, &body(&answered)["details"]["kind"]), (404, &json!("namespaces")), "{namespace}");
    }
}

#[tokio::test]
async fn names_are_made_up_and_never_the_same() {
    let server = server().await;
    let mut made = std::collections::HashSet::new();
    for _ in 0..50 {
        let object =
            json!({"apiVersion": "lab.example.com/v1", "kind": "Thing", "metadata": {"generateName": "made-"}});
        let created = body(&server.send("POST", THINGS, Some(object)).await);
        let name = created["metadata"]["name"].as_str().unwrap().to_owned();
        assert!(name.starts_with("made-") && name.len() == 10, "{name}");
        assert!(made.insert(name));
    }
}

#[tokio::test]
async fn what_cannot_be_answered_is_not_done() {
    let server = server().await;
    let headers = |accept: &str| [("Accept".to_owned(), accept.to_owned())];
    let object = thing("one").to_string().into_bytes();
    for accept in ["text/html", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"] {
        let answered = begin(server.address, "POST", THINGS, &headers(accept), Some(&object)).await.whole().await;
        assert_eq!(answered.status, 406, "{accept}");
    }
    assert_eq!(server.send("GET", &format!("{THINGS}/one"), None).await.status, 404);
}

#[tokio::test]
async fn a_patch_of_one_version_is_seen_by_the_other() {
    let server = server().await;
    server.send("POST", THINGS, Some(thing("one"))).await;
    let other = "/apis/lab.example.com/v1beta1/namespaces/here/things/one";
    let patched = server.send("PATCH", other, Some(json!({"spec": {"count": 7}}))).await;
    assert_eq!((patched.status, &body(&patched)["apiVersion"]), (200, &json!("lab.example.com/v1beta1")));
    let read = body(&server.send("GET", &format!("{THINGS}/one"), None).await);
    assert_eq!((&read["spec"]["count"], &read["spec"]["note"]), (&json!(7), &json!("n")));
    assert_eq!(read["metadata"]["generation"], 2);
}
