//! What the disk is asked for, noted at the system calls.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use wheelwright_store::{ErrorKind, Store};

use crate::{assert_passed, folder, folder_of_parent, key, kind, open, process};

#[tokio::test(flavor = "multi_thread")]
async fn thirty_two_writers_share_an_fsync_at_least_by_eight() {
    let test = "durability::thirty_two_writers_share_an_fsync_at_least_by_eight";
    let Some(folder) = where_fsyncs_are_noted(test) else { return };
    let store = Arc::new(open(&folder));
    let before = syncs_of_files(&folder);
    let writers = (0..32).map(|writer| {
        let store = store.clone();
        tokio::spawn(async move {
            let key = key(&format!("a/{writer}"));
            let mut revision = store.create(&key, vec![7; 1000]).await.unwrap();
            for _ in 1..100 {
                revision = store.replace(&key, &revision, vec![7; 1000]).await.unwrap();
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let (syncs, writes) = (syncs_of_files(&folder) - before, 32 * 100);
    assert!(syncs >= writes / 512, "{syncs} are too few to be true");
    assert!(syncs <= writes / 8, "{syncs} for {writes}");
}

#[tokio::test]
async fn every_acknowledged_write_is_on_the_disk_with_the_names_of_its_files() {
    let test = "durability::every_acknowledged_write_is_on_the_disk_with_the_names_of_its_files";
    let Some(folder) = where_fsyncs_are_noted(test) else { return };
    let store = open(&folder);
    assert!(notes(&folder).contains('d'), "{}", notes(&folder));
    // Whoever created the files may not have come to it yet.
    let before = notes(&folder).len();
    let store_of_another = open(&folder);
    assert!(notes(&folder)[before..].contains('d'), "{}", notes(&folder));
    drop(store_of_another);
    for number in 0..20 {
        let before = syncs_of_files(&folder);
        store.create(&key(&format!("a/{number}")), vec![]).await.unwrap();
        assert!(syncs_of_files(&folder) > before);
    }
    let before = syncs_of_files(&folder);
    store.health().await.unwrap();
    assert!(syncs_of_files(&folder) > before);
    store.backup(folder.join("backup")).unwrap();
    assert!(notes(&folder).ends_with('d'), "{}", notes(&folder));
}

#[tokio::test]
async fn a_disk_that_cannot_sync_leaves_it_open_whether_it_is_written() {
    let test = "durability::a_disk_that_cannot_sync_leaves_it_open_whether_it_is_written";
    let Some(folder) = where_fsyncs_are_noted(test) else { return };
    let store = open(&folder);
    store.create(&key("a"), vec![]).await.unwrap();
    fs::write(folder.join("fails"), "").unwrap();
    let b = key("b");
    let (one, other) = tokio::join!(store.create(&b, vec![]), store.create(&b, vec![]));
    // Not even that it exists is said, because nobody knows.
    assert_eq!((kind(one), kind(other)), (Err(ErrorKind::Unknown), Err(ErrorKind::Unknown)));
    let is_there = store.get(&key("b")).await.unwrap().is_some();
    fs::remove_file(folder.join("fails")).unwrap();
    store.create(&key("c"), vec![]).await.unwrap();
    drop(store);
    let store = open(&folder);
    assert!(store.get(&key("a")).await.unwrap().is_some());
    assert_eq!(store.get(&key("b")).await.unwrap().is_some(), is_there);
    assert!(store.get(&key("c")).await.unwrap().is_some());
}

/// Runs a test again in a process whose fsyncs are noted, and gives it its folder. None for the process that only waits.
fn where_fsyncs_are_noted(test: &str) -> Option<PathBuf> {
    if let Some(folder) = folder_of_parent() {
        return Some(folder);
    }
    let folder = folder();
    let library = folder.path().join("counting.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sqlite/counting.c");
    let compiled = Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source).output();
    let compiled = compiled.expect("the C compiler that SQLite needs too");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let output = process(test, folder.path())
        .env("LD_PRELOAD", library)
        .env("FSYNC_NOTES", folder.path().join("notes"))
        .env("FSYNC_FAILS", folder.path().join("fails"))
        .output();
    assert_passed(&output.expect("this program again"));
    None
}

/// One letter for each: `d` for a folder, `f` for a file.
fn notes(folder: &Path) -> String {
    fs::read_to_string(folder.join("notes")).unwrap_or_default()
}

fn syncs_of_files(folder: &Path) -> usize {
    notes(folder).matches('f').count()
}
