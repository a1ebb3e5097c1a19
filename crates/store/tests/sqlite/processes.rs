//! Several processes with one file.

use std::time::Duration;

use wheelwright_store::{Change, ErrorKind, PageRequest, Prefix, SqliteOptions, Store};

use crate::{assert_passed, count_up, folder, folder_of_parent, key, kind, next, open, open_with, prefix, process};

/// How often a process counts up.
const COUNTS: u64 = 25;

#[tokio::test]
async fn processes_that_create_the_file_at_once_share_it() {
    if let Some(folder) = folder_of_parent() {
        open(&folder).create(&key(&format!("a/{}", std::process::id())), vec![]).await.unwrap();
        return;
    }
    for _ in 0..5 {
        let folder = folder();
        let start = |_| {
            let mut command = process("processes::processes_that_create_the_file_at_once_share_it", folder.path());
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap()
        };
        for child in (0..6).map(start).collect::<Vec<_>>() {
            assert_passed(&child.wait_with_output().unwrap());
        }
        let page = open(folder.path()).list(&prefix("a"), PageRequest::default()).await.unwrap();
        assert_eq!(page.items.len(), 6);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_count_together_and_a_watch_tells_each_step_once() {
    let number = key("a/number");
    if let Some(folder) = folder_of_parent() {
        let store = open(&folder);
        for _ in 0..COUNTS {
            count_up(&store, &number).await;
        }
        return;
    }
    for hints in [true, false] {
        let folder = folder();
        let store = open_with(folder.path(), SqliteOptions { hints, ..SqliteOptions::default() });
        let mut watch = store.watch(&Prefix::all(), &store.now().await.unwrap()).await.unwrap();
        store.create(&number, b"0".to_vec()).await.unwrap();
        let count = |_| {
            let test = "processes::processes_count_together_and_a_watch_tells_each_step_once";
            let mut command = process(test, folder.path());
            tokio::task::spawn_blocking(move || command.output().unwrap())
        };
        let children: Vec<_> = (0..3).map(count).collect();
        for expected in 0..=3 * COUNTS {
            let (Change::Created(value) | Change::Replaced(value)) = next(&mut watch).await.change else {
                panic!("nothing is deleted");
            };
            assert_eq!(value, expected.to_string().into_bytes());
        }
        for child in children {
            assert_passed(&child.await.unwrap());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notice_wakes_a_watch_long_before_it_would_look() {
    if let Some(folder) = folder_of_parent() {
        open(&folder).create(&key("a"), vec![]).await.unwrap();
        return;
    }
    let folder = folder();
    let poll_interval = Duration::from_secs(3600);
    let store = open_with(folder.path(), SqliteOptions { poll_interval, ..SqliteOptions::default() });
    let mut watch = store.watch(&Prefix::all(), &store.now().await.unwrap()).await.unwrap();
    let mut command = process("processes::a_notice_wakes_a_watch_long_before_it_would_look", folder.path());
    let child = tokio::task::spawn_blocking(move || command.output().unwrap());
    assert_eq!(next(&mut watch).await.key, key("a"));
    assert_passed(&child.await.unwrap());
}

#[tokio::test]
async fn a_write_waits_for_others_but_not_for_ever() {
    let folder = folder();
    let store =
        open_with(folder.path(), SqliteOptions { busy_timeout: Duration::from_millis(50), ..SqliteOptions::default() });
    let revision = store.create(&key("a"), vec![1]).await.unwrap();
    let other = rusqlite::Connection::open(folder.path().join("store")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(kind(store.replace(&key("a"), &revision, vec![2]).await), Err(ErrorKind::Unavailable));
    assert_eq!(kind(store.health().await).unwrap_err(), ErrorKind::Unavailable);
    // Readers do not wait.
    assert_eq!(store.get(&key("a")).await.unwrap().unwrap().value, [1]);
    other.execute_batch("ROLLBACK").unwrap();
    store.replace(&key("a"), &revision, vec![2]).await.unwrap();
    store.health().await.unwrap();
}
