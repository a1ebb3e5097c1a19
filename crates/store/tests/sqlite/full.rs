//! A disk that is full: it is told at once, documents can be deleted, and all goes on when there is room.

use std::{
    fs,
    io::Write,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use wheelwright_store::{ErrorKind, Key, PageRequest, Prefix, Revision, Sqlite, SqliteOptions, Store, StoreError};

use crate::{assert_passed, folder, folder_of_parent, key, process_under, trouble::on_a_disk_of_its_own};

const RESERVE: u64 = 8 << 20;

fn open(folder: &Path) -> Sqlite {
    let options = SqliteOptions { reserve_bytes: RESERVE, ..SqliteOptions::default() };
    Sqlite::open(folder.join("store"), options).expect("a store")
}

/// Writes until the disk takes no more.
fn fill(file: &Path) {
    let mut file = fs::File::create(file).expect("a file");
    for size in [64 << 10, 4096, 1] {
        let zeros = vec![0; size];
        while file.write_all(&zeros).is_ok() {}
    }
}

/// Creates documents until there is no room for another: returns their keys and revisions, and the error.
async fn fill_store(store: &Sqlite, value_bytes: usize) -> (Vec<(Key, Revision)>, StoreError) {
    let mut written = Vec::new();
    loop {
        let key = key(&format!("a/{}", written.len()));
        match store.create(&key, vec![7; value_bytes]).await {
            Ok(revision) => written.push((key, revision)),
            Err(error) => {
                assert_eq!(*error.kind(), ErrorKind::Full, "{error}");
                return (written, error);
            }
        }
        assert!(written.len() < 20_000, "the store never becomes full");
    }
}

fn reserved(folder: &Path) -> u64 {
    fs::metadata(folder.join("store-reserve")).expect("a reserve").len()
}

#[tokio::test]
async fn on_a_full_disk_there_are_deletes_and_when_there_is_room_there_are_writes() {
    let test = "full::on_a_full_disk_there_are_deletes_and_when_there_is_room_there_are_writes";
    let Some(folder) = on_a_disk_of_its_own("32m", test) else { return };
    let store = open(&folder);
    assert_eq!(reserved(&folder), RESERVE);
    let mut written = Vec::new();
    let create = async |number: usize| store.create(&key(&format!("a/{number}")), vec![7; 100_000]).await;
    for number in 0..30 {
        written.push((number, create(number).await.unwrap()));
    }
    store.health().await.unwrap();
    let ballast = folder.join("ballast");
    fill(&ballast);
    let error = store.health().await.unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Full, "{error}");
    assert!(error.to_string().contains("the disk that holds"), "{error}");
    let error = loop {
        let number = written.len();
        match create(number).await {
            Ok(revision) => written.push((number, revision)),
            Err(error) => break error,
        }
        assert!(number < 1000, "the disk is full");
    };
    assert_eq!(*error.kind(), ErrorKind::Full, "{error}");
    // Each delete is a row that has what was deleted.
    let kept = written.split_off(written.len() - 2);
    for (number, revision) in &written {
        store.delete(&key(&format!("a/{number}")), revision).await.unwrap();
        assert_eq!(store.get(&key(&format!("a/{number}"))).await.unwrap(), None);
    }
    // What they had is given to others, although the disk is as full as before, until another program takes that, too.
    store.health().await.unwrap();
    create(2000).await.unwrap();
    fill(&folder.join("more"));
    let mut number = 3000;
    for value_bytes in [100_000, 1_000] {
        while store.create(&key(&format!("a/{number}")), vec![7; value_bytes]).await.is_ok() {
            number += 1;
            assert!(number < 5000, "the disk is full");
        }
    }
    assert_eq!(*store.health().await.unwrap_err().kind(), ErrorKind::Full);
    drop(store);
    // After a restart, too.
    let store = open(&folder);
    let ((number, revision), last) = (&kept[0], &kept[1]);
    store.delete(&key(&format!("a/{number}")), revision).await.unwrap();
    assert_eq!(*store.create(&key("b"), vec![7; 1_000_000]).await.unwrap_err().kind(), ErrorKind::Full);
    fs::remove_file(&ballast).unwrap();
    store.create(&key("b"), vec![7; 1_000_000]).await.unwrap();
    store.health().await.unwrap();
    assert_eq!(reserved(&folder), RESERVE);
    assert_eq!(store.get(&key(&format!("a/{}", last.0))).await.unwrap().unwrap().revision, last.1);
    drop(store);
    let check = rusqlite::Connection::open(folder.join("store")).unwrap();
    assert_eq!(check.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0)).unwrap(), "ok");
}

#[tokio::test]
async fn a_small_disk_that_was_full_holds_as_much_again_when_all_is_deleted() {
    let test = "full::a_small_disk_that_was_full_holds_as_much_again_when_all_is_deleted";
    let Some(folder) = on_a_disk_of_its_own("24m", test) else { return };
    for value_bytes in [20_000, 1_000_000, 3_000_000, 3 << 20] {
        let store = open(&folder);
        let mut counts = Vec::new();
        for _ in 0..3 {
            let (written, error) = fill_store(&store, value_bytes).await;
            assert!(error.to_string().contains("the disk that holds"), "{error}");
            counts.push(written.len());
            for (key, revision) in &written {
                store.delete(key, revision).await.unwrap();
            }
            // Watches from before have to list again.
            assert!(store.disk().unwrap().forgotten_early > 0);
        }
        assert!(counts.iter().all(|count| count * 5 >= counts[0] * 4 && count * value_bytes > 6 << 20), "{counts:?}");
        store.create(&key("b"), vec![7; value_bytes]).await.unwrap();
        drop(store);
        for file in fs::read_dir(&folder).unwrap() {
            fs::remove_file(file.unwrap().path()).unwrap();
        }
    }
}

#[tokio::test]
async fn large_documents_are_deleted_at_once_although_there_is_room_for_one_at_a_time() {
    let test = "full::large_documents_are_deleted_at_once_although_there_is_room_for_one_at_a_time";
    let Some(folder) = on_a_disk_of_its_own("64m", test) else { return };
    let store = open(&folder);
    let mut written = Vec::new();
    for number in 0..5 {
        let key = key(&format!("a/{number}"));
        let revision = store.create(&key, vec![7; 3 << 20]).await.unwrap();
        written.push((key, revision));
    }
    // Closing the store removes its write-ahead log, which would be room.
    drop(store);
    let store = open(&folder);
    fill(&folder.join("ballast"));
    let [one, two, three, four, five] = &written[..] else { unreachable!("five were written") };
    let deleted = tokio::join!(
        store.delete(&one.0, &one.1),
        store.delete(&two.0, &two.1),
        store.delete(&three.0, &three.1),
        store.delete(&four.0, &four.1),
        store.delete(&five.0, &five.1),
    );
    assert!(matches!(deleted, (Ok(()), Ok(()), Ok(()), Ok(()), Ok(()))), "{deleted:?}");
}

/// A long read keeps the write-ahead log from being reused: the deletes share one wait for it, and use the reserve together.
#[tokio::test]
async fn on_a_full_disk_a_long_read_does_not_hold_up_each_of_many_deletes() {
    let test = "full::on_a_full_disk_a_long_read_does_not_hold_up_each_of_many_deletes";
    let Some(folder) = on_a_disk_of_its_own("24m", test) else { return };
    let store = Arc::new(open(&folder));
    let (mut written, _) = fill_store(&store, 20_000).await;
    fill(&folder.join("ballast"));
    let reader = rusqlite::Connection::open(folder.join("store")).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM log").unwrap();
    let mut deletes = tokio::task::JoinSet::new();
    let count = written.len();
    for (key, revision) in written.split_off(count - 40) {
        let store = store.clone();
        deletes.spawn(async move { store.delete(&key, &revision).await });
    }
    let deleted = tokio::time::timeout(crate::PATIENCE, deletes.join_all()).await.expect("one wait for the reader");
    assert!(deleted.iter().all(Result::is_ok), "{deleted:?}");
    // Those for which there is no room while the read goes on fail, and find room when it has ended.
    let mut deletes = tokio::task::JoinSet::new();
    for (key, revision) in &written {
        let (store, key, revision) = (store.clone(), key.clone(), revision.clone());
        deletes.spawn(async move { store.delete(&key, &revision).await });
    }
    let deleted = tokio::time::timeout(crate::PATIENCE, deletes.join_all()).await.expect("one wait for the reader");
    assert!(deleted.iter().flat_map(Result::as_ref).count() < written.len());
    assert!(deleted.iter().filter_map(|deleted| deleted.as_ref().err()).all(|error| *error.kind() == ErrorKind::Full));
    reader.execute_batch("COMMIT").unwrap();
    for (key, revision) in &written {
        if store.get(key).await.unwrap().is_some() {
            store.delete(key, revision).await.unwrap();
        }
    }
    store.create(&key("b"), vec![7; 20_000]).await.unwrap();
}

#[tokio::test]
async fn on_a_full_disk_marks_of_deleted_documents_are_written() {
    let test = "full::on_a_full_disk_marks_of_deleted_documents_are_written";
    let Some(folder) = on_a_disk_of_its_own("32m", test) else { return };
    let store = open(&folder);
    let mut written = Vec::new();
    for number in 0..100 {
        let key = key(&format!("a/{number}"));
        written.push((key.clone(), store.create(&key, vec![7; 100_000]).await.unwrap()));
    }
    // Closing the store removes its write-ahead log, which would be room.
    drop(store);
    let store = open(&folder);
    fill(&folder.join("ballast"));
    let (first, revision) = &written[0];
    let error = store.replace(first, revision, vec![8; 100_100]).await.unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Full, "{error}");
    for (key, revision) in &written {
        let marked = store.replace_to_delete(key, revision, vec![8; 100_100]).await.unwrap();
        assert_eq!(store.get(key).await.unwrap().unwrap().value, vec![8; 100_100]);
        store.delete(key, &marked).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_reserve_deletes_use_the_free_pages_of_the_file_while_others_read() {
    let test = "full::without_a_reserve_deletes_use_the_free_pages_of_the_file_while_others_read";
    let Some(folder) = on_a_disk_of_its_own("48m", test) else { return };
    let store = Arc::new(crate::open(&folder));
    let mut written = Vec::new();
    for number in 0..1200 {
        let key = key(&format!("a/{number}"));
        written.push((key.clone(), store.create(&key, vec![7; 20_000]).await.unwrap()));
    }
    // Their pages are free, but for those that history needs.
    for (key, revision) in written.split_off(600) {
        store.delete(&key, &revision).await.unwrap();
    }
    store.compact().await.unwrap();
    let other = rusqlite::Connection::open(folder.join("store")).unwrap();
    other.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).unwrap();
    drop(other);
    fill(&folder.join("ballast"));
    let is_done = Arc::new(AtomicBool::new(false));
    let readers: Vec<_> = (0..2)
        .map(|_| {
            let (store, is_done) = (store.clone(), is_done.clone());
            tokio::spawn(async move {
                while !is_done.load(Ordering::Relaxed) {
                    store.list(&Prefix::all(), PageRequest::first(50)).await.unwrap();
                    tokio::task::yield_now().await;
                }
            })
        })
        .collect();
    for (key, revision) in &written {
        let marked = store.replace_to_delete(key, revision, vec![8; 20_000]).await.unwrap();
        store.delete(key, &marked).await.unwrap();
    }
    is_done.store(true, Ordering::Relaxed);
    for reader in readers {
        reader.await.unwrap();
    }
}

/// A store whose files may have this size: the largest values fill it, and all of them can be deleted.
#[tokio::test]
async fn below_a_file_size_limit_there_are_deletes_and_then_writes() {
    const LIMIT: u64 = 24 << 20;
    let test = "full::below_a_file_size_limit_there_are_deletes_and_then_writes";
    let Some(folder) = folder_of_parent() else {
        let limited = format!(r#"trap '' XFSZ; exec prlimit --fsize={LIMIT} "$0" "$@""#);
        let folder = folder();
        assert_passed(&process_under(&["sh", "-c", &limited], test, folder.path()).output().expect("prlimit"));
        return;
    };
    let mut store = open(&folder);
    for value_bytes in [3 << 20, 10_000] {
        let (written, error) = fill_store(&store, value_bytes).await;
        let message = error.to_string();
        assert!(message.contains("(ulimit -f)") && message.contains(&LIMIT.to_string()), "{message}");
        assert!(message.contains("or delete documents"), "{message}");
        assert!(written.len() * value_bytes > (6 << 20), "{} of {value_bytes} bytes", written.len());
        if value_bytes > 1 << 20 {
            store.health().await.unwrap();
            store.create(&key("small"), vec![7; 1000]).await.unwrap();
        }
        // A restart finds what was written to the log of SQLite.
        drop(store);
        store = open(&folder);
        for (key, revision) in &written {
            let revision = store.replace_to_delete(key, revision, vec![8; value_bytes]).await.unwrap();
            store.delete(key, &revision).await.unwrap();
        }
        store.health().await.unwrap();
        store.create(&key("a/0"), vec![7; value_bytes]).await.unwrap();
        store.delete(&key("a/0"), &store.get(&key("a/0")).await.unwrap().unwrap().revision).await.unwrap();
    }
    drop(store);
    let check = rusqlite::Connection::open(folder.join("store")).unwrap();
    assert_eq!(check.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0)).unwrap(), "ok");
}

#[tokio::test]
async fn a_store_that_keeps_nothing_back_has_no_reserve() {
    let folder = folder();
    drop(crate::open(folder.path()));
    assert!(!folder.path().join("store-reserve").exists());
}
