//! The size limit of documents: checked at the write, on the largest form that any version displays.

use std::{path::Path, sync::Arc};

use wheelwright_repository::{
    Collection, Metadata, Name, Removal, Removed, Repository, RepositoryError, SweepOptions, View, Write, WriteError,
};
use wheelwright_store::{Memory, Prefix, Store};

use crate::{
    at_hub::example_at,
    support::{name, served},
    unchecked::without_checksum,
};

const LIMIT: usize = (3 << 20) - 4096;
const VERSIONS: [&str; 3] = ["v1", "v2", "v3"];

fn things() -> (Arc<Memory>, Collection) {
    let store = Arc::new(Memory::new());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/catalogs/things");
    let repository = Repository::new(store.clone(), served(&folder));
    (store, repository.kinds().next().unwrap())
}

fn thing(spec: &str) -> String {
    format!(r#"{{"apiVersion":"test.example.com/v1","kind":"Thing","metadata":{{"name":"a"}},"spec":{spec}}}"#)
}

/// The size of the largest form of a document.
async fn largest(things: &Collection, at: &Name) -> usize {
    let mut largest = 0;
    for version in VERSIONS {
        let document = things.get(at, View::Whole(version)).await.unwrap().unwrap();
        largest = largest.max(document.json.len());
    }
    largest
}

fn why_too_large(error: RepositoryError) -> String {
    match error {
        RepositoryError::Write(error @ WriteError::TooLarge(_)) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_document_may_be_as_large_as_the_limit_in_its_largest_form() {
    let (_, things) = things();
    let of = |length: usize| thing(&format!(r#"{{"plainText":"{}"}}"#, "x".repeat(length)));
    let (a, b) = (name("shop/a"), name("shop/b"));
    things.create(&a, Write::document("v1", of(1000).as_bytes())).await.unwrap();
    // All of its metadata is displayed, and the resource version aside every copy of it has the same length.
    let revision = things.get(&a, View::Hub).await.unwrap().unwrap().revision;
    let around = largest(&things, &a).await - 1000 - revision.as_str().len() - r#""resourceVersion":"","#.len();
    let most = LIMIT - around;
    things.create(&b, Write::document("v1", of(most).as_bytes())).await.unwrap();
    let larger = things.create(&name("shop/c"), Write::document("v1", of(most + 1).as_bytes())).await;
    let why = why_too_large(larger.unwrap_err());
    assert!(why.contains(&format!("{} bytes", LIMIT + 1)) && why.contains("spec.plainText has"), "{why}");

    // What is added later counts as well, whoever adds it.
    let label = Write::merge_patch("v2", br#"{"metadata":{"labels":{"a":"b"}}}"#);
    why_too_large(things.patch(&b, label).await.unwrap_err());
    let finalizer = Write::merge_patch("v2", br#"{"metadata":{"finalizers":["example.com/a"]}}"#);
    why_too_large(things.patch(&b, finalizer).await.unwrap_err());
    let status = Write::merge_patch("v3", br#"{"status":{"seen":1}}"#);
    why_too_large(things.patch(&b, status).await.unwrap_err());
    let revision = things.get(&b, View::Hub).await.unwrap().unwrap().revision;
    let add = |metadata: &mut Metadata, _: &mut _| metadata.finalizers.push("example.com/a".into());
    why_too_large(things.update_metadata(&b, &revision, add).await.unwrap_err());
    // The state of a document can be changed, and every document can be removed.
    let counted = things.update_metadata(&b, &revision, |metadata, _| metadata.generation = u64::MAX).await.unwrap();
    let marking = Removal { add: &["foregroundDeletion", "orphan"], ..Removal::default() };
    let (marked, _) = things.remove(&b, &counted.revision, &marking, View::Hub).await.unwrap();
    assert!(matches!(marked, Removed::Marked(_)));
    assert!(largest(&things, &b).await <= 3 << 20);
    let patched = things.patch(&b, Write::merge_patch("v1", br#"{"metadata":{"finalizers":null}}"#)).await.unwrap();
    assert!(patched.is_removed);
}

#[tokio::test]
async fn defaults_count_in_the_version_that_has_them() {
    let (_, things) = things();
    // v1 fills in `gift`, so that 20 bytes become 31.
    let lines = vec!["{}"; 230_000].join(",");
    let sent = thing(&format!(r#"{{"lines":[{lines}]}}"#));
    assert!(sent.len() < 700_000);
    let why = why_too_large(things.create(&name("shop/a"), Write::document("v1", sent.as_bytes())).await.unwrap_err());
    assert!(why.contains("spec.lines has"), "{why}");
}

#[tokio::test]
async fn a_document_that_is_too_large_already_is_readable_and_can_be_written_if_it_does_not_grow() {
    let (store, things) = things();
    let at = name("shop/a");
    let sent = thing(r#"{"plainText":"xyz","text":"old"}"#);
    things.create(&at, Write::document("v1", sent.as_bytes())).await.unwrap();
    // An earlier release checked nothing but what clients sent.
    let key = things.kind().key(&at).unwrap();
    let stored = store.get(&key).await.unwrap().unwrap();
    let text = String::from_utf8(without_checksum(stored.value)).unwrap();
    let large = text.replace("xyz", &"xyz".repeat((3 << 20) / 3));
    store.replace(&key, &stored.revision, large.into_bytes()).await.unwrap();
    for version in VERSIONS {
        assert!(things.get(&at, View::Version(version)).await.unwrap().unwrap().json.len() > 3 << 20);
    }
    let listed = things.list(None, wheelwright_store::PageRequest::default(), View::Hub).await.unwrap();
    assert!(listed.items.iter().all(Result::is_ok));
    for _ in 0..20 {
        // Its generation grows with every write.
        for text in ["new", "old"] {
            let patch = format!(r#"{{"spec":{{"text":"{text}"}}}}"#);
            things.patch(&at, Write::merge_patch("v2", patch.as_bytes())).await.unwrap();
        }
    }
    let larger = things.patch(&at, Write::merge_patch("v2", br#"{"spec":{"text":"newer"}}"#)).await;
    assert!(why_too_large(larger.unwrap_err()).contains("spec.plainText"));
    let smaller = Write::merge_patch("v1", br#"{"spec":{"plainText":"xyz","text":"newer"}}"#);
    things.patch(&at, smaller).await.unwrap();
    assert_eq!(store.list(&Prefix::new("test.example.com").unwrap(), Default::default()).await.unwrap().items.len(), 1);
}

#[tokio::test]
async fn documents_that_are_too_large_already_are_swept_and_adopted_and_nothing_of_them_is_lost() {
    let store = Arc::new(Memory::new());
    let orders_at = |hub| Repository::new(store.clone(), example_at("orders", hub)).kinds().next().unwrap();
    let (recorded, adopted) = (name("shop/recorded"), name("shop/adopted"));
    let order = |of: &Name, coupon: &str| {
        let name = of.last();
        format!(
            r#"{{"apiVersion":"shop.example.com/v1","kind":"Order","metadata":{{"name":"{name}","namespace":"shop"}},"spec":{{"coupon":"{coupon}","qty":1}}}}"#
        )
    };
    let large = "xyz".repeat((3 << 20) / 3);
    let orders = orders_at("v1");
    orders.create(&recorded, Write::document("v1", order(&recorded, "xyz").as_bytes())).await.unwrap();
    let key = orders.kind().key(&recorded).unwrap();
    let stored = store.get(&key).await.unwrap().unwrap();
    let text = String::from_utf8(without_checksum(stored.value)).unwrap().replace("xyz", &large);
    store.replace(&key, &stored.revision, text.into_bytes()).await.unwrap();
    store.create(&orders.kind().key(&adopted).unwrap(), order(&adopted, &large).into_bytes()).await.unwrap();

    let orders = orders_at("v2");
    let status = orders.sweep(&SweepOptions::default(), |_| ()).await.unwrap();
    assert_eq!((status.counts.done, status.problems.count), (2, 0), "{status:?}");
    for at in [&recorded, &adopted] {
        let document = orders.get(at, View::Version("v1")).await.unwrap().unwrap();
        let document: serde_json::Value = serde_json::from_slice(&document.json).unwrap();
        assert_eq!(document["spec"]["coupon"], large.as_str(), "{at}");
        orders.patch(at, Write::merge_patch("v1", br#"{"spec":{"qty":2}}"#)).await.unwrap();
    }
}
