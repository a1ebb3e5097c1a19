//! What a watch of documents tells: everything once, whatever cannot be opened, and whoever stops waiting.

use std::{sync::Arc, time::Duration};

use tokio::time::timeout;
use wheelwright_repository::{Collection, DocumentChange, Repository, RepositoryError, View, Write};
use wheelwright_store::{ErrorKind, Memory, PageRequest, Store};

use crate::support::{example, name};

fn orders() -> (Collection, Memory) {
    let store = Memory::new();
    (Repository::new(Arc::new(store.clone()), example("orders")).kinds().next().unwrap(), store)
}

async fn create(orders: &Collection, at: &str) {
    let body = br#"{"apiVersion":"shop.example.com/v2","kind":"Order","spec":{"quantity":0}}"#;
    orders.create(&name(at), Write::document("v2", body)).await.unwrap();
}

#[tokio::test]
async fn what_cannot_be_opened_is_told_and_does_not_end_the_watch() {
    let (orders, store) = orders();
    let mut watch = orders.watch(None, &store.now().await.unwrap()).await.unwrap();
    create(&orders, "shop/a").await;
    let broken = orders.kind().key(&name("shop/b")).unwrap();
    let revision = store.create(&broken, b"{".to_vec()).await.unwrap();
    store.delete(&broken, &revision).await.unwrap();
    create(&orders, "shop/c").await;
    let mut told = Vec::new();
    for _ in 0..4 {
        let event = watch.next(View::Version("v1")).await.unwrap();
        let document = match event.document {
            Ok(document) => document.name.as_str().to_owned(),
            Err(RepositoryError::Record(name, error)) => format!("{name}: {}", &error.to_string()[..21]),
            Err(other) => panic!("{other}"),
        };
        told.push((event.change, document));
    }
    let is_no_json = "shop/b: the record is no JSON";
    assert_eq!(
        told,
        [
            (DocumentChange::Created, "shop/a".to_owned()),
            (DocumentChange::Created, is_no_json.to_owned()),
            (DocumentChange::Deleted, is_no_json.to_owned()),
            (DocumentChange::Created, "shop/c".to_owned()),
        ]
    );
}

#[tokio::test]
async fn whoever_stops_waiting_misses_nothing() {
    let (orders, store) = orders();
    let mut watch = orders.watch(None, &store.now().await.unwrap()).await.unwrap();
    let mut told = Vec::new();
    for number in 0..20 {
        // Given up before anything happened, and in the middle of it.
        assert!(timeout(Duration::ZERO, watch.next(View::Hub)).await.is_err());
        let at = format!("shop/{number:02}");
        let (given_up, ()) =
            tokio::join!(timeout(Duration::from_millis(number % 2), watch.next(View::Hub)), create(&orders, &at));
        if let Ok(event) = given_up {
            told.push(event.unwrap().document.unwrap().name.as_str().to_owned());
        }
        while let Ok(event) = timeout(Duration::from_millis(1), watch.next(View::Hub)).await {
            told.push(event.unwrap().document.unwrap().name.as_str().to_owned());
        }
    }
    let expected: Vec<String> = (0..20).map(|number| format!("shop/{number:02}")).collect();
    assert_eq!(told, expected);
}

#[tokio::test]
async fn a_scope_is_of_whole_segments() {
    let (orders, store) = orders();
    let now = store.now().await.unwrap();
    for at in ["shop/a", "shops/b", "shop/sub/c", "other/shop/d"] {
        create(&orders, at).await;
    }
    // Another kind's record, and one that is no name of this kind.
    store.create(&wheelwright_store::Key::new("shop.example.com/Orders/x").unwrap(), b"{}".to_vec()).await.unwrap();
    create(&orders, "shop/last").await;
    let scope = name("shop");
    let mut watch = orders.watch(Some(&scope), &now).await.unwrap();
    let mut told = Vec::new();
    while told.last().map(String::as_str) != Some("shop/last") {
        told.push(watch.next(View::Hub).await.unwrap().document.unwrap().name.as_str().to_owned());
    }
    assert_eq!(told, ["shop/a", "shop/sub/c", "shop/last"]);
    let listed = orders.list(Some(&scope), PageRequest::default(), View::Hub).await.unwrap();
    let listed: Vec<String> = listed.items.into_iter().map(|item| item.unwrap().name.as_str().to_owned()).collect();
    assert_eq!(listed, ["shop/a", "shop/last", "shop/sub/c"]);
}

#[tokio::test]
async fn a_watch_goes_on_where_another_ended_and_says_when_it_cannot() {
    let (orders, store) = orders();
    let start = store.now().await.unwrap();
    for at in ["a", "b", "c"] {
        create(&orders, at).await;
    }
    let mut first = orders.watch(None, &start).await.unwrap();
    assert_eq!(first.next(View::Hub).await.unwrap().document.unwrap().name.as_str(), "a");
    let cursor = first.cursor();
    let mut second = orders.watch(None, &cursor).await.unwrap();
    assert_eq!(second.next(View::Hub).await.unwrap().document.unwrap().name.as_str(), "b");
    store.compact();
    assert_eq!(orders.watch(None, &start).await.unwrap_err().store(), Some(&ErrorKind::TooOld));
    assert_eq!(second.next(View::Hub).await.unwrap_err().store(), Some(&ErrorKind::TooOld));
}

#[tokio::test]
async fn a_removed_document_is_told_as_it_last_was() {
    let (orders, store) = orders();
    create(&orders, "a").await;
    let now = store.now().await.unwrap();
    let read = orders.get(&name("a"), View::Hub).await.unwrap().unwrap();
    orders.delete(&name("a"), &read.revision).await.unwrap();
    let event = orders.watch(None, &now).await.unwrap().next(View::Version("v1")).await.unwrap();
    assert_eq!(event.change, DocumentChange::Deleted);
    let last: serde_json::Value = serde_json::from_slice(&event.document.unwrap().json).unwrap();
    assert_eq!((&last["apiVersion"], &last["spec"]["qty"]), (&"shop.example.com/v1".into(), &0.into()));
}
