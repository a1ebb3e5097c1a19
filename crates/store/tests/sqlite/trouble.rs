//! What goes wrong with a file: said clearly, and over when its cause is.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use wheelwright_store::{ErrorKind, PageRequest, Prefix, Sqlite, SqliteOptions, Store, StoreError};

use crate::{assert_passed, folder, folder_of_parent, key, open, open_with, prefix, process_under};

#[tokio::test]
async fn a_file_that_may_not_grow_forgets_its_history_and_then_takes_deletes_only() {
    let folder = folder();
    let options = SqliteOptions { max_file_bytes: Some(1 << 20), ..SqliteOptions::default() };
    let store = open_with(folder.path(), options);
    let mut revision = store.create(&key("a"), vec![0; 10_000]).await.unwrap();
    // More than the file can hold at once.
    for value in 1..200 {
        revision = store.replace(&key("a"), &revision, vec![value; 10_000]).await.unwrap();
    }
    let mut written = vec![(key("a"), revision)];
    let error = loop {
        let key = key(&format!("b/{}", written.len()));
        match store.create(&key, vec![0; 10_000]).await {
            Ok(revision) => written.push((key, revision)),
            Err(error) => break error,
        }
        assert!(written.len() < 200, "the file grows");
    };
    assert_eq!(*error.kind(), ErrorKind::Full, "{error}");
    for (key, revision) in &written {
        assert_eq!(store.get(key).await.unwrap().unwrap().revision, *revision);
        store.delete(key, revision).await.unwrap();
    }
    store.create(&key("a"), vec![2; 10_000]).await.unwrap();
}

#[tokio::test]
async fn a_full_disk_says_so_and_when_there_is_room_again_all_goes_on() {
    let Some(folder) =
        on_a_disk_of_its_own("3m", "trouble::a_full_disk_says_so_and_when_there_is_room_again_all_goes_on")
    else {
        return;
    };
    let ballast = folder.join("ballast");
    fs::write(&ballast, vec![0; 1 << 20]).unwrap();
    let store = open(&folder);
    let mut written = Vec::new();
    let error = loop {
        let key = key(&format!("a/{}", written.len()));
        match store.create(&key, vec![written.len() as u8; 5000]).await {
            Ok(revision) => written.push((key, revision)),
            Err(error) => break error,
        }
    };
    assert_eq!(*error.kind(), ErrorKind::Full, "{error}");
    assert!(error.to_string().contains("store"), "{error}");
    let check = async |store: &Sqlite| {
        for (number, (key, revision)) in written.iter().enumerate() {
            let stored = store.get(key).await.unwrap().unwrap();
            assert_eq!((&stored.revision, stored.value), (revision, vec![number as u8; 5000]));
        }
    };
    check(&store).await;
    fs::remove_file(&ballast).unwrap();
    store.create(&key("later"), vec![0; 5000]).await.unwrap();
    check(&store).await;
    drop(store);
    check(&open(&folder)).await;
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_is_read() {
    let Some(folder) = on_a_disk_of_its_own("3m", "trouble::a_folder_that_cannot_be_written_is_read") else { return };
    let path = folder.join("a store?#%41é");
    let open = || Sqlite::open(&path, SqliteOptions::default()).unwrap();
    let revision = open().create(&key("a/b"), vec![1]).await.unwrap();
    mount(&["-o", "remount,ro", path_text(&folder)]);
    assert_is_read_only(&open(), revision.as_str()).await;
    let error = Sqlite::open(folder.join("another"), SqliteOptions::default()).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Setup, "{error}");
    mount(&["-o", "remount,rw", path_text(&folder)]);
    open().replace(&key("a/b"), &revision, vec![2]).await.unwrap();
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_is_read_while_others_write_it() {
    let test = "trouble::a_folder_that_cannot_be_written_is_read_while_others_write_it";
    let Some(folder) = on_a_disk_of_its_own("3m", test) else { return };
    let read_only = folder.join("read-only");
    fs::create_dir(&read_only).unwrap();
    let mut revision = open(&folder).create(&key("a/b"), vec![1]).await.unwrap();
    mount(&["--bind", path_text(&folder), path_text(&read_only)]);
    mount(&["-o", "remount,bind,ro", path_text(&read_only)]);
    // Opened before anybody writes, while somebody does, and when nobody does any more.
    let early = open(&read_only);
    assert_is_read_only(&early, revision.as_str()).await;
    let mut watches = vec![early.watch(&prefix("a"), &early.now().await.unwrap()).await.unwrap()];
    let writer = open(&folder);
    let late = open(&read_only);
    assert_is_read_only(&late, revision.as_str()).await;
    watches.push(late.watch(&prefix("a"), &late.now().await.unwrap()).await.unwrap());
    for value in 2..10 {
        revision = writer.replace(&key("a/b"), &revision, vec![value]).await.unwrap();
        for (reader, watch) in [&early, &late].into_iter().zip(&mut watches) {
            assert_eq!(reader.get(&key("a/b")).await.unwrap().unwrap().value, [value]);
            assert_eq!(crate::next(watch).await.revision, revision);
        }
    }
    drop(late);
    drop(watches);
    drop(writer);
    assert_eq!(early.get(&key("a/b")).await.unwrap().unwrap().value, [9]);
}

#[tokio::test]
async fn a_damaged_file_says_so() {
    let folder = folder();
    let path = folder.path().join("store");
    let store = open(folder.path());
    for number in 0..200 {
        store.create(&key(&format!("a/{number:03}")), vec![7; 1000]).await.unwrap();
    }
    drop(store);
    let sound = fs::read(&path).unwrap();

    let mut damaged = sound.clone();
    damaged[..4096].fill(b'?');
    fs::write(&path, &damaged).unwrap();
    {
        let store = open(folder.path());
        let error = store.health().await.unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(error.to_string().contains("damaged") && error.to_string().contains("backup"), "{error}");
        let page = store.list(&Prefix::all(), PageRequest::default()).await.unwrap();
        assert!(page.items.len() == 200 && page.items.iter().all(|(_, stored)| stored.value == [7; 1000]));
    }
    assert_eq!(fs::read(&path).unwrap(), damaged);

    let mut damaged = sound.clone();
    damaged.truncate(3 * 4096);
    fs::write(&path, &damaged).unwrap();
    assert_refused_somewhere(&folder).await;

    let mut damaged = sound.clone();
    damaged[4096..].fill(0x5a);
    fs::write(&path, &damaged).unwrap();
    assert_refused_somewhere(&folder).await;

    fs::write(&path, &sound).unwrap();
    let page = open(folder.path()).list(&Prefix::all(), PageRequest::default()).await.unwrap();
    assert_eq!(page.items.len(), 200);
}

#[tokio::test]
async fn what_is_no_store_is_left_alone() {
    let folder = folder();
    let path = folder.path().join("store");
    fs::write(&path, "a text, and no database at all; it has more than a hundred bytes, as a header would".repeat(3))
        .unwrap();
    let text = fs::read(&path).unwrap();
    assert_refused(&folder, ErrorKind::Corrupt, &["store", "no SQLite database", "name another file"]);
    assert_eq!(fs::read(&path).unwrap(), text);

    fs::remove_file(&path).unwrap();
    rusqlite::Connection::open(&path).unwrap().execute_batch("CREATE TABLE log (a)").unwrap();
    let database = fs::read(&path).unwrap();
    assert_refused(&folder, ErrorKind::Corrupt, &["store", "another program", "name another file"]);
    assert_eq!(fs::read(&path).unwrap(), database);
    rusqlite::Connection::open(&path).unwrap().execute_batch("DROP TABLE log; PRAGMA application_id = 5").unwrap();
    assert_refused(&folder, ErrorKind::Corrupt, &["another program"]);

    fs::write(&path, "").unwrap();
    fs::write(folder.path().join("store-wal"), [7; 100]).unwrap();
    assert_refused(&folder, ErrorKind::Corrupt, &["store", "empty", "store-wal", "backup"]);
    fs::remove_file(folder.path().join("store-wal")).unwrap();
    open(folder.path()).create(&key("a"), vec![]).await.unwrap();
}

#[tokio::test]
async fn a_file_of_a_newer_release_says_so_and_stays_as_it_is() {
    let folder = folder();
    let path = folder.path().join("store");
    drop(open(folder.path()));
    rusqlite::Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 7").unwrap();
    let newer = fs::read(&path).unwrap();
    assert_refused(&folder, ErrorKind::Newer, &["store", "format 7", "up to 1"]);
    assert_eq!(fs::read(&path).unwrap(), newer);
}

#[test]
fn a_path_that_cannot_be_says_so() {
    let folder = folder();
    for path in ["nowhere/store", "", "a\0b"] {
        let error = Sqlite::open(folder.path().join(path), SqliteOptions::default()).unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Setup, "{error}");
        assert!(error.to_string().contains(path_text(folder.path())), "{error}");
    }
}

#[tokio::test]
async fn a_file_that_is_moved_replaced_or_removed_is_noticed() {
    let folder = folder();
    let store = open(folder.path());
    store.health().await.unwrap();
    let [path, aside, copy] = ["store", "aside", "copy"].map(|name| folder.path().join(name));
    store.backup(&copy).unwrap();
    let assert_noticed = async || {
        // What would be written now, nobody else would see.
        for error in [store.health().await.unwrap_err(), store.create(&key("a/b"), vec![1]).await.unwrap_err()] {
            assert_eq!(*error.kind(), ErrorKind::Unavailable, "{error}");
            assert!(error.to_string().contains("moved, replaced or removed"), "{error}");
        }
        assert_eq!(store.get(&key("a/b")).await.unwrap(), None);
    };
    fs::rename(&path, &aside).unwrap();
    assert_noticed().await;
    fs::rename(&aside, &path).unwrap();
    store.health().await.unwrap();
    for beside in ["store-wal", "store-shm"].map(|name| folder.path().join(name)) {
        fs::rename(&beside, &aside).unwrap();
        assert_noticed().await;
        fs::rename(&aside, &beside).unwrap();
        store.health().await.unwrap();
    }
    if cfg!(unix) {
        fs::rename(&copy, &path).unwrap();
        assert_noticed().await;
    }
    fs::remove_file(&path).unwrap();
    assert_noticed().await;
}

#[tokio::test]
async fn nothing_is_forgotten_in_a_file_that_is_not_in_its_place() {
    let folder = folder();
    let [path, aside] = ["store", "aside"].map(|name| folder.path().join(name));
    let history = Duration::from_secs(4);
    let store = Sqlite::open(&path, SqliteOptions { history, ..SqliteOptions::default() }).unwrap();
    let first = store.create(&key("a/b"), vec![1]).await.unwrap();
    let second = store.replace(&key("a/b"), &first, vec![2]).await.unwrap();
    assert!(store.before(&key("a/b"), &second).await.unwrap().is_some());
    fs::rename(&path, &aside).unwrap();
    // Longer than it takes until what happened may be forgotten, and somebody looks.
    tokio::time::sleep(history + history / 2).await;
    assert!(store.before(&key("a/b"), &second).await.unwrap().is_some());
    fs::rename(&aside, &path).unwrap();
    while store.before(&key("a/b"), &second).await.is_ok() {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

async fn assert_is_read_only(store: &Sqlite, revision: &str) {
    let stored = store.get(&key("a/b")).await.expect("a get").expect("a value");
    assert_eq!((stored.revision.as_str(), &*stored.value), (revision, &[1][..]));
    assert_eq!(store.list(&prefix("a"), PageRequest::default()).await.expect("a list").items.len(), 1);
    for error in [
        store.create(&key("a/c"), vec![]).await.expect_err("refused"),
        store.delete(&key("a/b"), &stored.revision).await.expect_err("refused"),
        store.health().await.expect_err("refused"),
    ] {
        assert_eq!(*error.kind(), ErrorKind::ReadOnly, "{error}");
    }
}

fn assert_refused(folder: &tempfile::TempDir, kind: ErrorKind, parts: &[&str]) {
    let error = Sqlite::open(folder.path().join("store"), SqliteOptions::default()).expect_err("refused");
    assert_eq!(*error.kind(), kind, "{error}");
    assert!(parts.iter().all(|part| error.to_string().contains(part)), "{error}");
}

/// Damage to what is not needed for opening is found by whoever reads it.
async fn assert_refused_somewhere(folder: &tempfile::TempDir) {
    let tried: Result<_, StoreError> = async {
        let store = Sqlite::open(folder.path().join("store"), SqliteOptions::default())?;
        store.get(&key("a/001")).await?;
        store.list(&Prefix::all(), PageRequest::default()).await
    }
    .await;
    let error = tried.expect_err("refused");
    assert_eq!(*error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(error.to_string().contains("backup"), "{error}");
}

/// Runs a test again in a process that has a small disk of its own, and gives it the folder of that. None for the process
/// that only waits, and where no such disk can be had.
pub(crate) fn on_a_disk_of_its_own(size: &str, test: &str) -> Option<PathBuf> {
    if let Some(folder) = folder_of_parent() {
        mount(&["-t", "tmpfs", "-o", &format!("size={size}"), "none", path_text(&folder)]);
        return Some(folder);
    }
    let starter = ["unshare", "--user", "--map-root-user", "--mount"];
    let folder = folder();
    let can_mount = Command::new(starter[0])
        .args(&starter[1..])
        .args(["mount", "-t", "tmpfs", "none", path_text(folder.path())])
        .output()
        .is_ok_and(|output| output.status.success());
    if can_mount {
        assert_passed(&process_under(&starter, test, folder.path()).output().expect("this program again"));
    } else {
        // Past what the test program captures.
        let _ = writeln!(std::io::stderr(), "SKIPPED: {test}: no disk can be mounted here");
    }
    None
}

fn mount(arguments: &[&str]) {
    let output = Command::new("mount").args(arguments).output().expect("mount");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn path_text(path: &Path) -> &str {
    path.to_str().expect("a text")
}
