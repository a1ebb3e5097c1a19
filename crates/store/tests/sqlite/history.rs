//! Lists of one moment, watches, and what is forgotten.

use std::{sync::Arc, time::Duration};

use wheelwright_store::{Cursor, ErrorKind, PageRequest, Prefix, SqliteOptions, Store};

use crate::{PATIENCE, folder, key, kind, next, open, open_with, prefix};

#[tokio::test(flavor = "multi_thread")]
async fn all_pages_of_a_list_show_one_moment_while_writers_write() {
    let folder = folder();
    let store = Arc::new(open(folder.path()));
    let mut revisions = Vec::new();
    for number in 0..100 {
        revisions.push(store.create(&key(&format!("a/{number:03}")), b"old".to_vec()).await.unwrap());
    }
    let first = store.list(&prefix("a"), PageRequest::first(7)).await.unwrap();
    let writers = revisions.chunks(25).enumerate().map(|(chunk, revisions)| {
        let (store, revisions) = (store.clone(), revisions.to_vec());
        tokio::spawn(async move {
            for (number, revision) in revisions.into_iter().enumerate() {
                let number = chunk * 25 + number;
                let old = key(&format!("a/{number:03}"));
                if number % 2 == 0 {
                    store.delete(&old, &revision).await.unwrap();
                } else {
                    store.replace(&old, &revision, b"new".to_vec()).await.unwrap();
                }
                store.create(&key(&format!("a/{number:03}/new")), vec![]).await.unwrap();
            }
        })
    });
    let writers: Vec<_> = writers.collect();
    let mut listed = Vec::new();
    let mut page = first.clone();
    loop {
        assert_eq!(page.cursor, first.cursor);
        listed.extend(page.items);
        let Some(after) = page.next else { break };
        tokio::time::sleep(Duration::from_millis(1)).await;
        page = store.list(&prefix("a"), PageRequest { limit: Some(7), after: Some(after) }).await.unwrap();
    }
    assert_eq!(listed.len(), 100);
    for (number, (listed_key, stored)) in listed.iter().enumerate() {
        assert_eq!(*listed_key, key(&format!("a/{number:03}")));
        assert_eq!((&stored.revision, &*stored.value), (&revisions[number], &b"old"[..]));
    }
    for writer in writers {
        writer.await.unwrap();
    }
    // What the list did not show, a watch from its cursor does.
    let mut watch = store.watch(&prefix("a"), &first.cursor).await.unwrap();
    for _ in 0..200 {
        next(&mut watch).await;
    }
    assert_eq!(watch.cursor(), store.now().await.unwrap());
}

#[tokio::test]
async fn pages_are_small_in_bytes_too() {
    let folder = folder();
    let store = open(folder.path());
    for number in 0..12 {
        store.create(&key(&format!("a/{number:02}")), vec![number; 1 << 20]).await.unwrap();
    }
    let (mut request, mut sizes) = (PageRequest::default(), Vec::new());
    loop {
        let page = store.list(&prefix("a"), request).await.unwrap();
        sizes.push(page.items.len());
        let Some(after) = page.next else { break };
        request = PageRequest { limit: None, after: Some(after) };
    }
    assert_eq!(sizes, [2; 6]);
    let mut watch = store.watch(&prefix("a"), &Cursor::new("1")).await.unwrap();
    for number in 0..12 {
        assert_eq!(next(&mut watch).await.key, key(&format!("a/{number:02}")));
    }
}

#[tokio::test]
async fn a_watch_moves_on_past_other_keys() {
    let folder = folder();
    let store = open(folder.path());
    let from = store.now().await.unwrap();
    let mut watch = store.watch(&prefix("quiet"), &from).await.unwrap();
    for number in 0..50 {
        store.create(&key(&format!("loud/{number}")), vec![]).await.unwrap();
    }
    assert!(tokio::time::timeout(Duration::from_millis(50), watch.next()).await.is_err());
    assert_eq!(watch.cursor(), store.now().await.unwrap());
    store.compact().await.unwrap();
    store.create(&key("quiet/one"), vec![]).await.unwrap();
    assert_eq!(next(&mut watch).await.key, key("quiet/one"));
    assert_eq!(kind(store.watch(&prefix("quiet"), &from).await).unwrap_err(), ErrorKind::TooOld);
}

#[tokio::test]
async fn what_is_forgotten_is_said_to_be_and_the_rest_stays() {
    let folder = folder();
    let store = open(folder.path());
    let begin = store.now().await.unwrap();
    for number in 0..20 {
        let (kept, gone) = (key(&format!("a/{number:02}")), key(&format!("b/{number:02}")));
        let mut revision = store.create(&kept, vec![0]).await.unwrap();
        for value in 1..5 {
            revision = store.replace(&kept, &revision, vec![value]).await.unwrap();
        }
        let revision = store.create(&gone, vec![]).await.unwrap();
        store.delete(&gone, &revision).await.unwrap();
    }
    let page = store.list(&Prefix::all(), PageRequest::first(5)).await.unwrap();
    let more = PageRequest { limit: None, after: page.next.clone() };
    let mut slow = store.watch(&Prefix::all(), &begin).await.unwrap();
    let before = store.list(&Prefix::all(), more.clone()).await.unwrap();

    // Of this moment, which is the last that is known.
    store.compact().await.unwrap();
    assert_eq!(store.list(&Prefix::all(), more.clone()).await.unwrap(), before);
    assert_eq!(kind(slow.next().await), Err(ErrorKind::TooOld));
    assert_eq!(kind(store.watch(&Prefix::all(), &begin).await).unwrap_err(), ErrorKind::TooOld);
    let rows = |sql: &str| -> i64 {
        let connection = rusqlite::Connection::open(folder.path().join("store")).unwrap();
        connection.query_row(sql, [], |row| row.get(0)).unwrap()
    };
    assert_eq!(rows("SELECT count(*) FROM log"), 20);

    store.create(&key("c"), vec![]).await.unwrap();
    store.compact().await.unwrap();
    assert_eq!(kind(store.list(&Prefix::all(), more).await), Err(ErrorKind::TooOld));
    let all = store.list(&Prefix::all(), PageRequest::default()).await.unwrap();
    assert_eq!(all.items.len(), 21);
    assert!(all.items[..20].iter().all(|(_, stored)| stored.value == [4]));
    // A revision is never given out twice, although the newest rows of the log may be gone.
    let stored = store.get(&key("c")).await.unwrap().unwrap();
    store.delete(&key("c"), &stored.revision).await.unwrap();
    store.compact().await.unwrap();
    assert_ne!(store.create(&key("c"), vec![]).await.unwrap(), stored.revision);
}

#[tokio::test]
async fn history_is_forgotten_when_it_is_old_whether_somebody_writes_or_not() {
    let folder = folder();
    let history = Duration::from_millis(200);
    let store = open_with(folder.path(), SqliteOptions { history, ..SqliteOptions::default() });
    let begin = store.now().await.unwrap();
    let mut revision = store.create(&key("a"), vec![]).await.unwrap();
    // Nothing is as old as the window yet.
    store.watch(&Prefix::all(), &begin).await.unwrap();
    let is_forgotten = async || kind(store.watch(&Prefix::all(), &begin).await.map(drop)) == Err(ErrorKind::TooOld);
    let forgotten = async {
        while !is_forgotten().await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, forgotten).await.unwrap();

    let begin = store.now().await.unwrap();
    let is_forgotten = async || kind(store.watch(&Prefix::all(), &begin).await.map(drop)) == Err(ErrorKind::TooOld);
    let writing = async {
        while !is_forgotten().await {
            revision = store.replace(&key("a"), &revision, vec![]).await.unwrap();
        }
    };
    tokio::time::timeout(PATIENCE, writing).await.unwrap();
}

#[tokio::test]
async fn a_clock_that_was_wrong_does_not_keep_history_for_ever() {
    let folder = folder();
    let store =
        open_with(folder.path(), SqliteOptions { history: Duration::from_millis(50), ..SqliteOptions::default() });
    let begin = store.now().await.unwrap();
    store.create(&key("a"), vec![]).await.unwrap();
    let connection = rusqlite::Connection::open(folder.path().join("store")).unwrap();
    connection.busy_timeout(PATIENCE).unwrap();
    connection.execute("UPDATE log SET at = at + 1000 * 1000 * 1000", []).unwrap();
    let forgotten = async {
        while store.watch(&Prefix::all(), &begin).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, forgotten).await.unwrap();
}
