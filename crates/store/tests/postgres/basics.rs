//! What any store does, once through.

use std::time::Duration;

use wheelwright_store::{
    Change, ErrorKind, Key, PageRequest, Postgres, PostgresOptions, Prefix, Store, testing::PostgresServer,
};

fn key(text: &str) -> Key {
    Key::new(text).unwrap()
}

#[tokio::test]
async fn writes_are_read_listed_and_watched() {
    let address = PostgresServer::shared().address("basics");
    let store = Postgres::connect(&address, PostgresOptions::default()).await.unwrap();
    let begin = store.now().await.unwrap();
    let first = store.create(&key("a/1"), b"one".to_vec()).await.unwrap();
    store.create(&key("a/2"), b"two".to_vec()).await.unwrap();
    let second = store.replace(&key("a/1"), &first, b"uno".to_vec()).await.unwrap();
    assert_eq!(store.create(&key("a/1"), vec![]).await.unwrap_err().kind(), &ErrorKind::Exists);
    assert_eq!(
        store.replace(&key("a/1"), &first, vec![]).await.unwrap_err().kind(),
        &ErrorKind::Conflict(second.clone())
    );
    let all = Prefix::new("a").unwrap();
    let page = store.list(&all, PageRequest::first(1)).await.unwrap();
    assert_eq!(page.items.len(), 1);
    store.delete(&key("a/1"), &second).await.unwrap();
    let rest = store.list(&all, PageRequest { limit: None, after: page.next }).await.unwrap();
    assert_eq!(
        rest.items.iter().map(|(key, stored)| (key.as_str(), &*stored.value)).collect::<Vec<_>>(),
        [("a/2", &b"two"[..])]
    );
    assert_eq!(rest.next, None);
    assert_eq!(store.get(&key("a/1")).await.unwrap(), None);
    let mut watch = store.watch(&all, &begin).await.unwrap();
    let mut changes = Vec::new();
    for _ in 0..4 {
        changes.push(watch.next().await.unwrap().change);
    }
    assert_eq!(
        changes,
        [
            Change::Created(b"one".to_vec()),
            Change::Created(b"two".to_vec()),
            Change::Replaced(b"uno".to_vec()),
            Change::Deleted(b"uno".to_vec()),
        ]
    );
    store.health().await.unwrap();
    store.compact().await.unwrap();
    let error = store.watch(&all, &begin).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::TooOld);
    let list = store.list(&all, PageRequest::default()).await.unwrap();
    assert_eq!(list.items.len(), 1);
    tokio::time::timeout(Duration::from_millis(50), watch.next()).await.unwrap_err();
}
