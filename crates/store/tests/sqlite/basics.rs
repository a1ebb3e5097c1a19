//! What is acknowledged stays.

use std::sync::Arc;
use std::time::Instant;

use tokio::time::timeout;
use wheelwright_store::{Change, PageRequest, Prefix, Store};

use crate::{PATIENCE, key, open};

#[tokio::test]
async fn what_was_written_is_there_after_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (key("a/one"), key("a/two"));
    let store = open(&folder);
    let created = store.create(&first, b"1".to_vec()).await.unwrap();
    let replaced = store.replace(&first, &created, b"2".to_vec()).await.unwrap();
    let doomed = store.create(&second, b"3".to_vec()).await.unwrap();
    store.delete(&second, &doomed).await.unwrap();
    let begin = wheelwright_store::Cursor::new("0");
    drop(store);

    let store = open(&folder);
    let stored = store.get(&first).await.unwrap().unwrap();
    assert_eq!((stored.revision, stored.value), (replaced, b"2".to_vec()));
    assert_eq!(store.get(&second).await.unwrap(), None);
    let page = store.list(&Prefix::all(), PageRequest::default()).await.unwrap();
    assert_eq!(page.items.len(), 1);
    let mut watch = store.watch(&Prefix::all(), &begin).await.unwrap();
    for expected in [
        Change::Created(b"1".to_vec()),
        Change::Replaced(b"2".to_vec()),
        Change::Created(b"3".to_vec()),
        Change::Deleted(b"3".to_vec()),
    ] {
        assert_eq!(timeout(PATIENCE, watch.next()).await.unwrap().unwrap().change, expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn speed() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(open(&folder));
    for i in 0..100 {
        store.create(&key(&format!("a/{i}")), vec![7; 1000]).await.unwrap();
    }
    let k = key("a/50");
    let began = Instant::now();
    for _ in 0..100_000 {
        store.get(&k).await.unwrap();
    }
    eprintln!("get {:?}", began.elapsed() / 100_000);
    let began = Instant::now();
    let tasks: Vec<_> = (0..32)
        .map(|w| {
            let store = store.clone();
            tokio::spawn(async move {
                let k = key(&format!("w/{w}"));
                let mut r = store.create(&k, vec![7; 1000]).await.unwrap();
                for _ in 0..300 {
                    r = store.replace(&k, &r, vec![7; 1000]).await.unwrap();
                }
            })
        })
        .collect();
    for t in tasks {
        t.await.unwrap();
    }
    eprintln!("write {:?}", began.elapsed() / (32 * 301));
    let began = Instant::now();
    for i in 0..500 {
        store.create(&key(&format!("s/{i}")), vec![7; 1000]).await.unwrap();
    }
    eprintln!("serial write {:?}", began.elapsed() / 500);
}
