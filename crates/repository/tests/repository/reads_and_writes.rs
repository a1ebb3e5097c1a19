//! Documents are written and read as versions, as the hub and as the version of their owner.

use wheelwright_repository::{Collection, Part, Removed, RepositoryError, View, Write, Written};
use wheelwright_store::{ErrorKind, PageRequest};

use crate::support::{collection, name};

fn json(text: &[u8]) -> serde_json::Value {
    serde_json::from_slice(text).expect("JSON")
}

const BOOKS: &[u8] =
    br#"{"apiVersion":"shop.example.com/v1","kind":"Order","metadata":{"name":"books","labels":{"a":"b"}},
    "spec":{"city":"Ulm","coupon":"SPRING","qty":3,"lines":[{"sku":"B-1","gift":true}]}}"#;

async fn books(orders: &Collection) -> Written {
    orders.create(&name("shop/books"), Write::document("v1", BOOKS)).await.expect("it is valid")
}

async fn shown(orders: &Collection, view: View<'_>) -> serde_json::Value {
    json(&orders.get(&name("shop/books"), view).await.expect("a store in memory").expect("it is there").json)
}

#[tokio::test]
async fn what_one_version_writes_every_other_reads() {
    let orders = collection("orders");
    let created = books(&orders).await;
    assert_eq!(created.document.version.as_str(), "v1");
    assert_eq!(created.document.metadata.generation, 1);
    let v3 = shown(&orders, View::Version("v3")).await;
    assert_eq!(v3["apiVersion"], "shop.example.com/v3");
    assert_eq!(v3["spec"]["delivery"]["city"], "Ulm");
    assert_eq!(v3["spec"]["quantity"], 3);
    assert_eq!(v3["spec"].get("coupon"), None);
    assert_eq!(v3["metadata"]["labels"]["a"], "b");
    assert_eq!(v3["metadata"]["uid"], created.document.metadata.uid.as_deref().unwrap());
    assert_eq!(v3, shown(&orders, View::Hub).await);

    // A client that cannot see the coupon does not erase it, and the owner speaks the version that was written last.
    let patch = br#"{"spec":{"quantity":4}}"#;
    let patched = orders.patch(&name("shop/books"), Write::merge_patch("v3", patch)).await.unwrap();
    assert_eq!(patched.document.metadata.generation, 2);
    let v1 = shown(&orders, View::Version("v1")).await;
    assert_eq!((&v1["spec"]["qty"], &v1["spec"]["coupon"]), (&4.into(), &"SPRING".into()));
    assert_eq!(shown(&orders, View::Origin).await["apiVersion"], "shop.example.com/v3");
    assert_eq!(patched.document.origin.created_with.as_str(), "v1");
}

#[tokio::test]
async fn reading_and_writing_back_changes_nothing_and_stores_nothing() {
    let orders = collection("orders");
    let created = books(&orders).await;
    for version in ["v1", "v2", "v3"] {
        let read = orders.get(&name("shop/books"), View::Version(version)).await.unwrap().unwrap();
        let back =
            orders.update(&name("shop/books"), &read.revision, Write::document(version, &read.json)).await.unwrap();
        assert!(!back.is_changed, "{version}");
        assert_eq!(back.document, read);
        assert_eq!(back.document.revision, created.document.revision);
    }
}

#[tokio::test]
async fn writes_are_conditional() {
    let orders = collection("orders");
    let first = books(&orders).await.document.revision;
    let again = orders.create(&name("shop/books"), Write::document("v1", BOOKS)).await.unwrap_err();
    assert_eq!(again.store(), Some(&ErrorKind::Exists));
    let patch = Write::json_patch("v1", br#"[{"op":"replace","path":"/spec/qty","value":9}]"#);
    let second = orders.update(&name("shop/books"), &first, patch).await.unwrap().document.revision;
    let late = orders.update(&name("shop/books"), &first, patch).await.unwrap_err();
    assert_eq!(late.store(), Some(&ErrorKind::Conflict(second.clone())));
    let missing = orders.update(&name("shop/none"), &first, patch).await.unwrap_err();
    assert_eq!(missing.store(), Some(&ErrorKind::Missing));
    assert!(matches!(orders.delete(&name("shop/books"), &first).await, Err(RepositoryError::Store(_))));
    assert_eq!(orders.delete(&name("shop/books"), &second).await.unwrap(), Removed::Gone);
    assert_eq!(orders.get(&name("shop/books"), View::Hub).await.unwrap(), None);
}

#[tokio::test]
async fn a_document_with_finalizers_is_marked_and_goes_with_the_last() {
    let orders = collection("orders");
    let held =
        br#"{"apiVersion":"shop.example.com/v2","kind":"Order","metadata":{"finalizers":["shop/refund"]},"spec":{}}"#;
    let created = orders.create(&name("shop/books"), Write::document("v2", held)).await.unwrap();
    let Removed::Marked(marked) = orders.delete(&name("shop/books"), &created.document.revision).await.unwrap() else {
        panic!("it has a finalizer")
    };
    let v1 = shown(&orders, View::Version("v1")).await;
    assert!(v1["metadata"]["deletionTimestamp"].is_string());
    let freed = Write::merge_patch("v1", br#"{"metadata":{"finalizers":null}}"#);
    let freed = orders.update(&name("shop/books"), &marked, freed).await.unwrap();
    assert!(freed.is_removed && !created.is_removed);
    assert_eq!(orders.get(&name("shop/books"), View::Hub).await.unwrap(), None);
}

#[tokio::test]
async fn a_part_is_written_alone() {
    let pools = collection("openapi-defaults");
    let pool = br#"{"name":"p","properties":{"platform":{"vmSize":"small"},"autoRepair":false}}"#;
    let created = pools.create(&name("p"), Write::document("2026-09-01", pool)).await.unwrap();
    let shown = json(&created.document.json);
    assert_eq!(shown["properties"]["autoRepair"], false);
    assert_eq!(shown["properties"]["platform"]["osDisk"]["tier"], "Premium");
    let status = Write::document("2026-09-01", br#"{"properties":{}}"#).of(Part::Status);
    let same = pools.update(&name("p"), &created.document.revision, status).await.unwrap();
    assert!(!same.is_changed);
}

#[tokio::test]
async fn a_list_and_the_watch_from_it_tell_everything_once() {
    let orders = collection("orders");
    books(&orders).await;
    let listed = orders.list(Some(&name("shop")), PageRequest::default(), View::Version("v2")).await.unwrap();
    assert_eq!(listed.items.len(), 1);
    let other = orders.list(Some(&name("sho")), PageRequest::default(), View::Hub).await.unwrap();
    assert_eq!(other.items.len(), 0);
    let mut watch = orders.watch(None, &listed.cursor).await.unwrap();
    orders.patch(&name("shop/books"), Write::merge_patch("v3", br#"{"spec":{"quantity":4}}"#)).await.unwrap();
    let event = watch.next(View::Version("v1")).await.unwrap();
    assert_eq!(json(&event.document.unwrap().json)["spec"]["qty"], 4);
    assert_eq!(event.cursor, watch.cursor());
}

#[tokio::test]
async fn what_is_invalid_or_unknown_is_named() {
    let orders = collection("orders");
    let bad = br#"{"apiVersion":"shop.example.com/v1","kind":"Order","spec":{"qty":"three","nope":1}}"#;
    let refused = orders.create(&name("a"), Write::document("v1", bad)).await.unwrap_err().to_string();
    assert!(refused.contains("spec.qty"), "{refused}");
    let unknown = orders.create(&name("a"), Write::document("v9", bad)).await.unwrap_err().to_string();
    assert_eq!(unknown, "there is no version v9");
    let odd = br#"{"apiVersion":"shop.example.com/v1","kind":"Order","spec":{"nope":1}}"#;
    let created = orders.create(&name("a"), Write::document("v1", odd)).await.unwrap();
    assert_eq!(created.notes.unknown.len(), 1);
}
