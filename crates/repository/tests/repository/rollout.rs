//! A new hub is rolled out in two phases, as docs/rollout.md says, with old and new programs at work all the time.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;
use tempfile::TempDir;
use wheelwright_repository::{Collection, Repository, RepositoryError, SweepOptions, View, Write, WriteError};
use wheelwright_store::{Key, Memory, Store};

use crate::support::{folder, lock, name, served};

const V1: &str = r#"{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"spec":{"type":"object","properties":{
    "qty":{"type":"integer","default":1},"note":{"type":"string"}}}}}"#;
const V2: &str = r#"{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"spec":{"type":"object","properties":{
    "quantity":{"type":"integer","default":1},"gift":{"type":"boolean","default":false}}}}}"#;
const CHANGES: &str = "v2: {renamed: {spec.qty: spec.quantity}, removed: [spec.note]}\n";

/// A release of a service: its catalog with its lock.
struct Release(TempDir);

impl Release {
    /// What was there first: v1 alone.
    fn first() -> Self {
        let catalog = "kinds: [{openapi: {v1: v1.json}, kind: Order}]";
        let release = Self(folder(&[("wheelwright.yaml", catalog), ("v1.json", V1)]));
        lock(release.0.path(), None);
        release
    }

    /// The release after another: v2 is declared and locked, and this is what is stored.
    fn second(before: &Self, entry: &str, hub: Option<&str>) -> Self {
        let catalog =
            format!("kinds: [{{openapi: {{v1: v1.json, v2: v2.json}}, kind: Order, changes: c.yaml{entry}}}]");
        let files = [("wheelwright.yaml", &*catalog), ("v1.json", V1), ("v2.json", V2), ("c.yaml", CHANGES)];
        let release = Self(folder(&files));
        std::fs::copy(before.0.path().join("wheelwright.lock"), release.0.path().join("wheelwright.lock")).unwrap();
        lock(release.0.path(), hub);
        release
    }

    fn start(&self, store: &Arc<dyn Store>) -> Collection {
        Repository::new(store.clone(), served(self.0.path())).kind("Order").unwrap()
    }
}

/// In which shape each record is stored.
async fn hubs(store: &Arc<dyn Store>, names: &[&str]) -> BTreeMap<String, String> {
    let mut hubs = BTreeMap::new();
    for called in names {
        let stored = store.get(&Key::new(format!("Order/{called}")).unwrap()).await.unwrap().unwrap();
        let record: Value = serde_json::from_slice(&stored.value).unwrap();
        hubs.insert((*called).to_owned(), record["hub"].as_str().unwrap().to_owned());
    }
    hubs
}

async fn swept(orders: &Collection) {
    orders.sweep(&SweepOptions::default(), |_| ()).await.unwrap();
}

async fn spec(orders: &Collection, called: &str, version: &str) -> Value {
    let document = orders.get(&name(called), View::Version(version)).await.unwrap().unwrap();
    serde_json::from_slice::<Value>(&document.json).unwrap()["spec"].clone()
}

#[tokio::test]
async fn a_new_hub_is_rolled_out_in_two_phases_and_back() {
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    let first = Release::first();
    let old = first.start(&store);
    let created = |orders: Collection, called: &'static str, version: &'static str, json: &'static str| async move {
        orders.create(&name(called), Write::document(version, json.as_bytes())).await.unwrap()
    };
    created(old.clone(), "a", "v1", r#"{"spec":{"qty":3,"note":"hi"}}"#).await;

    // Phase 1: v2 is served, v1 is stored, and programs of both releases write.
    let middle = Release::second(&first, "", None);
    let new = middle.start(&store);
    created(new.clone(), "b", "v2", r#"{"spec":{"quantity":2,"gift":true}}"#).await;
    new.patch(&name("a"), Write::merge_patch("v2", br#"{"spec":{"gift":true}}"#)).await.unwrap();
    old.patch(&name("a"), Write::merge_patch("v1", br#"{"spec":{"qty":4}}"#)).await.unwrap();
    old.patch(&name("b"), Write::merge_patch("v1", br#"{"spec":{"note":"ho"}}"#)).await.unwrap();
    assert!(hubs(&store, &["a", "b"]).await.values().all(|hub| hub == "v1"));
    assert_eq!(spec(&new, "a", "v2").await, serde_json::json!({"quantity": 4, "gift": true}));
    assert_eq!(spec(&new, "b", "v1").await, serde_json::json!({"qty": 2, "note": "ho"}));
    let before = [spec(&new, "a", "v1").await, spec(&new, "b", "v1").await];

    // Phase 2, once no program of the first release is left: v2 is stored. Programs of phase 1 go on.
    let last = Release::second(&middle, "", Some("v2"));
    let newest = last.start(&store);
    newest.patch(&name("a"), Write::merge_patch("v2", br#"{"spec":{"quantity":5}}"#)).await.unwrap();
    assert_eq!(hubs(&store, &["a", "b"]).await, [("a", "v2"), ("b", "v1")].map(|(a, b)| (a.into(), b.into())).into());
    assert_eq!(spec(&new, "a", "v1").await, serde_json::json!({"qty": 5, "note": "hi"}));
    new.patch(&name("a"), Write::merge_patch("v1", br#"{"spec":{"qty":4}}"#)).await.unwrap();

    // Once no program of phase 1 is left, everything is brought there.
    swept(&newest).await;
    assert!(hubs(&store, &["a", "b"]).await.values().all(|hub| hub == "v2"));
    assert_eq!([spec(&newest, "a", "v1").await, spec(&newest, "b", "v1").await], before);

    // A program of the first release that was forgotten refuses what it does not know, and breaks nothing.
    let refused = old.get(&name("b"), View::Version("v1")).await.unwrap_err();
    assert!(refused.to_string().contains("v2"), "{refused}");

    // A program of phase 1 that starts again, and sweeps when it starts, brings nothing back.
    let back = middle.start(&store);
    let refused = back.sweep(&SweepOptions::default(), |_| ()).await.unwrap_err();
    assert!(refused.to_string().contains("--back"), "{refused}");
    assert!(hubs(&store, &["a", "b"]).await.values().all(|hub| hub == "v2"));

    // Back: the lock of phase 1 again, and a sweep that says so.
    back.sweep(&SweepOptions { back: true, ..SweepOptions::default() }, |_| ()).await.unwrap();
    assert!(hubs(&store, &["a", "b"]).await.values().all(|hub| hub == "v1"));
    assert_eq!([spec(&back, "a", "v1").await, spec(&back, "b", "v1").await], before);
    assert_eq!(spec(&back, "b", "v2").await, serde_json::json!({"quantity": 2, "gift": true}));
    assert_eq!(spec(&old, "b", "v1").await, before[1], "the first release reads it again");
}

#[tokio::test]
async fn the_oldest_writer_keeps_programs_from_writing_what_they_do_not_know() {
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    let first = Release::first();
    let old = first.start(&store);
    let careful = Release::second(&first, ", oldestWriter: v2", None).start(&store);
    let json = br#"{"spec":{"quantity":2,"gift":true}}"#;
    careful.create(&name("a"), Write::document("v2", json)).await.unwrap();
    // v1 is stored, so that the first release can read it; and may not write it.
    assert_eq!(spec(&old, "a", "v1").await, serde_json::json!({"qty": 2}));
    let refused = old.patch(&name("a"), Write::merge_patch("v1", br#"{"spec":{"qty":4}}"#)).await.unwrap_err();
    assert!(matches!(&refused, RepositoryError::Write(WriteError::TooOld { .. })), "{refused}");
    assert!(refused.to_string().contains("v2"), "{refused}");
    careful.patch(&name("a"), Write::merge_patch("v1", br#"{"spec":{"qty":4}}"#)).await.unwrap();
    assert_eq!(spec(&old, "a", "v1").await, serde_json::json!({"qty": 4}));
}
