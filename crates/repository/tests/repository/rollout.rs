//! A new hub is rolled out in two phases, as docs/rollout.md says, with old and new programs at work all the time.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;
use tempfile::TempDir;
use wheelwright_repository::{Collection, Document, Repository, RepositoryError, View, Write, WriteError};
use wheelwright_store::{ErrorKind, Key, Memory, Store};

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

    // A program of the first release that was forgotten refuses what it does not know, and breaks nothing.
    newest.patch(&name("b"), Write::merge_patch("v2", br#"{"spec":{"quantity":9}}"#)).await.unwrap();
    let refused = old.get(&name("b"), View::Version("v1")).await.unwrap_err();
    assert!(refused.to_string().contains("v2"), "{refused}");

    // Back: the lock of phase 1 again. What was written meanwhile is read, and stored as it was.
    let back = middle.start(&store);
    back.patch(&name("b"), Write::merge_patch("v2", br#"{"spec":{"quantity":2}}"#)).await.unwrap();
    assert!(hubs(&store, &["a", "b"]).await.values().all(|hub| hub == "v1"));
    assert_eq!([spec(&back, "a", "v1").await, spec(&back, "b", "v1").await], before);
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

/// What a program does next: A or B, and each reads and writes in turn.
fn every_order(steps_left: [usize; 2]) -> Vec<Vec<usize>> {
    if steps_left == [0, 0] {
        return vec![Vec::new()];
    }
    let mut orders = Vec::new();
    for program in [0, 1] {
        if steps_left[program] > 0 {
            let mut left = steps_left;
            left[program] -= 1;
            orders.extend(every_order(left).into_iter().map(|rest| [vec![program], rest].concat()));
        }
    }
    orders
}

/// A document that a program has read, changed and wants back where it was; again from the start, if somebody was faster.
async fn write_back(orders: &Collection, read: &mut Document, version: &str, (field, value): (&str, &Value)) {
    loop {
        let mut json: Value = serde_json::from_slice(&read.json).unwrap();
        json["spec"][field] = value.clone();
        let json = json.to_string();
        match orders.update(&name("a"), &read.revision, Write::document(version, json.as_bytes())).await {
            Ok(_) => return,
            Err(error) if matches!(error.store(), Some(ErrorKind::Conflict(_))) => {
                *read = orders.get(&name("a"), View::Version(version)).await.unwrap().unwrap();
            }
            Err(error) => panic!("{error}"),
        }
    }
}

#[tokio::test]
async fn old_and_new_programs_in_every_order_of_reads_and_writes_lose_nothing() {
    let first = Release::first();
    let middle = Release::second(&first, "", None);
    let last = Release::second(&middle, "", Some("v2"));
    // The facts that each program writes, by their names in its version.
    let old: [(&str, Value); 2] = [("qty", 4.into()), ("note", "kept".into())];
    let new: [(&str, Value); 2] = [("gift", true.into()), ("quantity", 9.into())];
    let orders = every_order([4, 4]);
    assert_eq!(orders.len(), 70);
    for (older, newer) in [(&first, &middle), (&middle, &last)] {
        for order in &orders {
            let store: Arc<dyn Store> = Arc::new(Memory::new());
            let programs = [older.start(&store), newer.start(&store)];
            programs[0].create(&name("a"), Write::document("v1", br#"{"spec":{"qty":1}}"#)).await.unwrap();
            let (mut steps, mut read, mut quantity) = ([0, 0], [None, None], 1);
            for program in order {
                let (orders, version) = (&programs[*program], ["v1", "v2"][*program]);
                let writes = [&old, &new][*program];
                if steps[*program] % 2 == 0 {
                    read[*program] = orders.get(&name("a"), View::Version(version)).await.unwrap();
                } else {
                    let (field, value) = &writes[steps[*program] / 2];
                    write_back(orders, read[*program].as_mut().unwrap(), version, (field, value)).await;
                    quantity = if field.starts_with('q') { value.as_i64().unwrap() } else { quantity };
                }
                steps[*program] += 1;
            }
            for orders in &programs {
                assert_eq!(
                    spec(orders, "a", "v1").await,
                    serde_json::json!({"qty": quantity, "note": "kept"}),
                    "{order:?}"
                );
            }
            let v2 = spec(&programs[1], "a", "v2").await;
            assert_eq!(v2, serde_json::json!({"quantity": quantity, "gift": true}), "{order:?}");
        }
    }
}
