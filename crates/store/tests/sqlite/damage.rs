//! The check of a file in the background.

use std::time::Instant;

use wheelwright_store::{ErrorKind, SqliteOptions, Store};

use crate::{PATIENCE, folder, key, kind, open, open_with};

#[tokio::test]
async fn damage_of_a_large_file_is_found_while_it_is_used() {
    let folder = folder();
    let store = open(folder.path());
    let mut revisions = Vec::new();
    for name in ["a/1", "a/2", "a/3"] {
        revisions.push(store.create(&key(name), name.into()).await.unwrap());
    }
    drop(store);
    let file = rusqlite::Connection::open(folder.path().join("store")).unwrap();
    file.execute("UPDATE log SET action = 1 WHERE key = 'a/2'", []).unwrap();
    drop(file);

    let store = open_with(folder.path(), SqliteOptions { check_at_open_bytes: 0, ..SqliteOptions::default() });
    let began = Instant::now();
    let error = loop {
        match store.health().await {
            Ok(_) => assert!(began.elapsed() < PATIENCE, "the damage is not found"),
            Err(error) => break error,
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(*error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(error.to_string().contains("damaged"), "{error}");
    let replaced = store.replace(&key("a/1"), &revisions[0], vec![1]).await;
    assert_eq!(kind(replaced), Err(ErrorKind::Corrupt));
    assert_eq!(store.get(&key("a/1")).await.unwrap().unwrap().value, b"a/1");
    assert_eq!(store.get(&key("a/2")).await.unwrap().unwrap().value, b"");
    assert_eq!(store.get(&key("a/3")).await.unwrap().unwrap().value, b"a/3");
}

#[tokio::test]
async fn damage_of_a_file_in_use_is_found_by_a_check() {
    let folder = folder();
    let store = open(folder.path());
    for name in ["a/1", "a/2"] {
        store.create(&key(name), name.into()).await.unwrap();
    }
    store.health().await.unwrap();
    let file = rusqlite::Connection::open(folder.path().join("store")).unwrap();
    file.execute("UPDATE log SET action = 1 WHERE key = 'a/2'", []).unwrap();
    let began = Instant::now();
    while store.health().await.is_ok() {
        assert!(began.elapsed() < PATIENCE, "the damage is not found");
        store.start_check().unwrap();
    }
    assert_eq!(store.get(&key("a/1")).await.unwrap().unwrap().value, b"a/1");
}

#[tokio::test]
async fn a_sound_large_file_stays_in_use() {
    let folder = folder();
    let options = SqliteOptions { check_at_open_bytes: 0, ..SqliteOptions::default() };
    for round in 0..20 {
        // Closing it ends the check, whether or not that is done.
        let store = open_with(folder.path(), options.clone());
        store.create(&key(&format!("a/{round}")), vec![7; 100_000]).await.unwrap();
        store.health().await.unwrap();
    }
}
