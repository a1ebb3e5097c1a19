//! Copies of a store that is in use.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, SystemTime},
};

use wheelwright_store::{ErrorKind, PageRequest, Prefix, Sqlite, SqliteOptions, Store};

use crate::{assert_passed, folder, folder_of_parent, key, kind, open, process_under};

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_shows_one_moment_although_writers_write() {
    let folder = folder();
    let store = Arc::new(open(folder.path()));
    // Each writer has a pair of keys, of which it writes the first one first.
    let is_done = Arc::new(AtomicBool::new(false));
    let writers = (0..4).map(|writer| {
        let (store, is_done) = (store.clone(), is_done.clone());
        tokio::spawn(async move {
            let keys = [key(&format!("{writer}/first")), key(&format!("{writer}/second"))];
            let mut revisions = Vec::new();
            for key in &keys {
                revisions.push(store.create(key, 0_u64.to_string().into_bytes()).await.unwrap());
            }
            let mut number = 0_u64;
            while !is_done.load(Ordering::Relaxed) {
                number += 1;
                for (key, revision) in keys.iter().zip(&mut revisions) {
                    *revision = store.replace(key, revision, number.to_string().into_bytes()).await.unwrap();
                }
            }
        })
    });
    let writers: Vec<_> = writers.collect();
    while store.list(&Prefix::all(), PageRequest::default()).await.unwrap().items.len() < 8 {
        tokio::task::yield_now().await;
    }
    for number in 0..10 {
        let (path, source) = (folder.path().join(format!("backup-{number}")), store.clone());
        let before = store.list(&Prefix::all(), PageRequest::default()).await.unwrap();
        tokio::task::spawn_blocking(move || source.backup(path)).await.unwrap().unwrap();
        let path = folder.path().join(format!("backup-{number}"));
        let check: String = rusqlite::Connection::open(&path)
            .unwrap()
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .unwrap();
        assert_eq!(check, "ok");
        let copy = Sqlite::open(&path, SqliteOptions::default()).unwrap();
        let page = copy.list(&Prefix::all(), PageRequest::default()).await.unwrap();
        let numbers = |page: &wheelwright_store::Page| -> Vec<u64> {
            let text = |value: &[u8]| String::from_utf8(value.to_vec()).unwrap();
            page.items.iter().map(|(_, stored)| text(&stored.value).parse().unwrap()).collect()
        };
        for pair in numbers(&page).chunks(2) {
            assert!(pair[0] == pair[1] || pair[0] == pair[1] + 1, "{pair:?}");
        }
        // What was there when it began is in it.
        assert!(numbers(&before).iter().zip(numbers(&page)).all(|(before, copied)| *before <= copied));
        copy.create(&key("later"), vec![]).await.unwrap();
    }
    is_done.store(true, Ordering::Relaxed);
    for writer in writers {
        writer.await.unwrap();
    }
}

#[tokio::test]
async fn a_backup_replaces_nothing_and_leaves_nothing_unfinished() {
    let folder = folder();
    let store = open(folder.path());
    store.create(&key("a"), vec![1]).await.unwrap();
    let taken = folder.path().join("taken");
    fs::write(&taken, "precious").unwrap();
    assert_eq!(kind(store.backup(&taken)), Err(ErrorKind::Setup));
    assert_eq!(fs::read(&taken).unwrap(), b"precious");
    assert_eq!(kind(store.backup(folder.path().join("nowhere/backup"))), Err(ErrorKind::Setup));
    store.backup(folder.path().join("backup")).unwrap();
    drop(store);
    let mut names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["backup", "store", "taken"]);
}

#[tokio::test]
async fn of_a_damaged_file_there_is_no_backup() {
    let folder = folder();
    let store = open(folder.path());
    for number in 0..200 {
        store.create(&key(&format!("k{number}")), vec![7; 500]).await.unwrap();
    }
    drop(store);
    let file = folder.path().join("store");
    let mut bytes = fs::read(&file).unwrap();
    let pages = bytes.len() / 4096;
    assert!(pages > 8, "there are pages to damage");
    bytes[4096 * (pages / 2)..].fill(0xa5);
    fs::write(&file, bytes).unwrap();
    let backup = folder.path().join("backup");
    let store = Sqlite::open(&file, SqliteOptions::default()).unwrap();
    assert_eq!(kind(store.backup(&backup)), Err(ErrorKind::Corrupt));
    assert!(!backup.exists());
    let mut names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(!names.any(|name| name.to_string_lossy().contains("unfinished")));
}

#[tokio::test]
async fn a_backup_that_finds_no_room_leaves_nothing() {
    let test = "backup::a_backup_that_finds_no_room_leaves_nothing";
    let Some(folder) = folder_of_parent() else {
        let folder = folder();
        let store = open(folder.path());
        for number in 0..100 {
            store.create(&key(&format!("a/{number}")), vec![7; 100_000]).await.unwrap();
        }
        drop(store);
        // What backups that were killed have left, and one that is at work.
        let [old, new] = [1, 2].map(|id| folder.path().join(format!(".copy.{id:016x}.unfinished")));
        fs::write(&old, "old").unwrap();
        fs::write(&new, "new").unwrap();
        let long_ago = SystemTime::now() - Duration::from_secs(2 * 60 * 60);
        fs::File::options().write(true).open(&old).unwrap().set_modified(long_ago).unwrap();
        let limited = r#"trap '' XFSZ; exec prlimit --fsize=4194304 "$0" "$@""#;
        assert_passed(&process_under(&["sh", "-c", limited], test, folder.path()).output().expect("prlimit"));
        open(folder.path()).backup(folder.path().join("copy")).unwrap();
        assert!(!old.exists() && new.exists());
        return;
    };
    let files = || fs::read_dir(&folder).unwrap().filter(|file| !is_beside(file.as_ref().unwrap())).count();
    let before = files();
    let store = open(&folder);
    let error = store.backup(folder.join("other")).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Full, "{error}");
    assert!(error.to_string().contains("ulimit -f"), "{error}");
    assert_eq!(files(), before);
}

/// Whether SQLite made a file beside the store while it is open.
fn is_beside(file: &fs::DirEntry) -> bool {
    ["store-wal", "store-shm"].iter().any(|name| file.file_name() == *name)
}
