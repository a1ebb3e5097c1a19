//! Watchers see one order, whoever writes.

use std::time::Duration;

use tokio::time::timeout;
use wheelwright_store::{Change, Event, Postgres, PostgresOptions, Prefix, Store, Watch};

use crate::support::{bare, hints_only, key, polls_only, store, store_with};

/// Each of them has connections of its own, as processes have.
const STORES: usize = 6;
const WRITERS: usize = 4;
const ROUNDS: usize = 25;

async fn write_all(schema: &'static str, options: PostgresOptions) {
    let mut tasks = Vec::new();
    for number in 0..STORES {
        let store = store_with(schema, options.clone()).await;
        for writer in 0..WRITERS {
            let store = store.clone();
            tasks.push(tokio::spawn(async move {
                let own = key(format!("own/{number}-{writer}"));
                for round in 0..ROUNDS {
                    let revision = store.create(&own, vec![round as u8]).await.unwrap();
                    let revision = store.replace(&own, &revision, vec![round as u8]).await.unwrap();
                    store.delete(&own, &revision).await.unwrap();
                }
            }));
        }
    }
    for task in tasks {
        task.await.unwrap();
    }
}

async fn follow(mut watch: Box<dyn Watch>, count: usize) -> Vec<Event> {
    let mut events = Vec::new();
    while events.len() < count {
        events.push(timeout(Duration::from_secs(60), watch.next()).await.expect("an event").unwrap());
    }
    events
}

/// All revisions, each once, in order; and each key goes through its changes.
async fn assert_one_order(schema: &'static str, options: PostgresOptions) {
    let watcher = store_with(schema, options.clone()).await;
    let count = STORES * WRITERS * ROUNDS * 3;
    let begin = watcher.now().await.unwrap();
    let watch = watcher.watch(&Prefix::new("own").unwrap(), &begin).await.unwrap();
    let following = tokio::spawn(follow(watch, count));
    write_all(schema, options).await;
    let events = following.await.unwrap();
    for (number, event) in (2..).zip(&events) {
        assert_eq!(event.revision.as_str(), number.to_string());
    }
    for number in 0..STORES {
        let own = key(format!("own/{number}-0"));
        let mut told = events.iter().filter(|event| event.key == own).map(|event| &event.change);
        for round in 0..ROUNDS {
            let value = vec![round as u8];
            assert_eq!(told.next(), Some(&Change::Created(value.clone())));
            assert_eq!(told.next(), Some(&Change::Replaced(value.clone())));
            assert_eq!(told.next(), Some(&Change::Deleted(value)));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn revisions_are_told_in_order_with_hints() {
    assert_one_order("order_hints", PostgresOptions::default()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn revisions_are_told_in_order_without_hints() {
    assert_one_order("order_polls", polls_only()).await;
}

/// What a watcher relies on, seen from outside: in every snapshot the log is whole up to its head.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_snapshot_shows_a_revision_without_those_before_it() {
    let _made = store("snapshots").await;
    let writing = tokio::spawn(write_all("snapshots", PostgresOptions::default()));
    let bare = bare().await;
    let statement = "SELECT (SELECT count(*) FROM snapshots.log), (SELECT max(revision) FROM snapshots.log), revision \
                     FROM snapshots.head";
    let mut heads = 0;
    let mut last = 0;
    while !writing.is_finished() {
        let row = bare.query_one(statement, &[]).await.unwrap();
        let (count, newest, head): (i64, Option<i64>, i64) = (row.get(0), row.get(1), row.get(2));
        assert_eq!((count + 1, newest.unwrap_or(1)), (head, head));
        heads += i64::from(head > last);
        last = head;
    }
    writing.await.unwrap();
    assert!(heads > 10, "only {heads} states were seen");
}

#[tokio::test]
async fn a_hint_is_faster_than_any_poll() {
    let (writer, watcher) = (store("hinted").await, store_with("hinted", hints_only()).await);
    let mut watch = watcher.watch(&Prefix::all(), &watcher.now().await.unwrap()).await.unwrap();
    // The first write may come before the watcher listens, the others may not.
    timeout(Duration::from_millis(500), watch.next()).await.unwrap_err();
    for number in 0..5 {
        let name = key(format!("k/{number}"));
        writer.create(&name, vec![]).await.unwrap();
        let event = timeout(Duration::from_secs(60), watch.next()).await.expect("a hint").unwrap();
        assert_eq!(event.key, name);
    }
}

#[tokio::test]
async fn a_dropped_write_happens_as_a_whole_or_not_and_harms_no_other() {
    let store = store("dropped").await;
    let mut kept = Vec::new();
    for number in 0..60 {
        let name = key(format!("dropped/{number}"));
        let dropped = store.create(&name, b"whole".to_vec());
        let _ = timeout(Duration::from_micros(150 * number), dropped).await;
        let name = key(format!("kept/{number}"));
        kept.push((store.create(&name, vec![]).await.unwrap(), name));
    }
    for (revision, name) in kept {
        assert_eq!(store.get(&name).await.unwrap().unwrap().revision, revision);
    }
    assert_values_whole(&store).await;
}

/// More of them than there is room for.
#[tokio::test]
async fn writes_that_were_dropped_before_they_began_are_skipped() {
    let store = store("skipped").await;
    let holder = bare().await;
    holder.batch_execute("BEGIN; SELECT 1 FROM skipped.head FOR UPDATE").await.unwrap();
    let names: Vec<_> = (0..40).map(|number| key(format!("dropped/{number}"))).collect();
    let mut writes: Vec<_> = names.iter().map(|name| store.create(name, vec![0; 4 << 20])).collect();
    for write in &mut writes {
        timeout(Duration::ZERO, write).await.unwrap_err();
    }
    drop(writes);
    holder.batch_execute("ROLLBACK").await.unwrap();
    let revision = store.create(&key("kept"), vec![]).await.unwrap();
    // One transaction may have begun.
    assert!(revision.as_str().parse::<u64>().unwrap() <= 3, "{revision:?}");
}

async fn assert_values_whole(store: &Postgres) {
    let page = store.list(&Prefix::new("dropped").unwrap(), Default::default()).await.unwrap();
    assert!(page.items.iter().all(|(_, stored)| stored.value == b"whole"));
}
