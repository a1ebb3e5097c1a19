//! Opening, closing, and two stores in one file.

use std::{fs, sync::Arc, time::Duration};

use wheelwright_store::{Change, Cursor, ErrorKind, PageRequest, Prefix, SqliteOptions, Store};

use crate::{
    PATIENCE, assert_passed, count_up, folder, folder_of_parent, key, kind, next, open, open_with, prefix, process,
};

#[tokio::test]
async fn what_was_written_is_there_after_reopening() {
    let folder = folder();
    let (first, second) = (key("a/one"), key("a/two"));
    let store = open(folder.path());
    let created = store.create(&first, b"1".to_vec()).await.unwrap();
    let replaced = store.replace(&first, &created, b"2".to_vec()).await.unwrap();
    let doomed = store.create(&second, b"3".to_vec()).await.unwrap();
    store.delete(&second, &doomed).await.unwrap();
    drop(store);

    let store = open(folder.path());
    let stored = store.get(&first).await.unwrap().unwrap();
    assert_eq!((stored.revision, stored.value), (replaced, b"2".to_vec()));
    assert_eq!(store.get(&second).await.unwrap(), None);
    let page = store.list(&Prefix::all(), PageRequest::default()).await.unwrap();
    assert_eq!(page.items.iter().map(|(key, _)| key).collect::<Vec<_>>(), [&first]);
    let mut watch = store.watch(&Prefix::all(), &Cursor::new("1")).await.unwrap();
    for expected in [
        Change::Created(b"1".to_vec()),
        Change::Replaced(b"2".to_vec()),
        Change::Created(b"3".to_vec()),
        Change::Deleted(b"3".to_vec()),
    ] {
        assert_eq!(next(&mut watch).await.change, expected);
    }
}

#[tokio::test]
async fn an_empty_store_of_an_earlier_release_is_watched_from_its_list() {
    let folder = folder();
    drop(open(folder.path()));
    let earlier = rusqlite::Connection::open(folder.path().join("store")).unwrap();
    earlier.execute_batch("UPDATE head SET revision = 0, compacted = 0").unwrap();
    drop(earlier);
    let store = open(folder.path());
    let cursor = store.list(&Prefix::all(), PageRequest::default()).await.unwrap().cursor;
    assert_eq!(cursor.as_str(), "1");
    let mut watch = store.watch(&Prefix::all(), &cursor).await.unwrap();
    for name in ["a", "b"] {
        store.create(&key(name), vec![]).await.unwrap();
        assert_eq!(next(&mut watch).await.key, key(name));
    }
}

#[tokio::test]
async fn a_store_that_is_closed_leaves_one_file_and_no_thread() {
    let Some(folder) = folder_of_parent() else {
        let folder = folder();
        let test = "basics::a_store_that_is_closed_leaves_one_file_and_no_thread";
        return assert_passed(&process(test, folder.path()).output().unwrap());
    };
    // No other test has threads in this process.
    let threads = || fs::read_dir("/proc/self/task").unwrap().count();
    let before = threads();
    let store = open(&folder);
    store.create(&key("a"), vec![1]).await.unwrap();
    let watch = store.watch(&Prefix::all(), &store.now().await.unwrap()).await.unwrap();
    assert_eq!(threads(), before + 3);
    drop(watch);
    drop(store);
    let ended = async {
        while threads() > before {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(PATIENCE, ended).await.unwrap();
    let names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["store"]);
}

#[tokio::test]
async fn a_watch_of_a_closed_store_says_so() {
    let folder = folder();
    let store = open(folder.path());
    let mut watch = store.watch(&Prefix::all(), &store.now().await.unwrap()).await.unwrap();
    store.create(&key("a"), vec![1]).await.unwrap();
    drop(store);
    assert_eq!(next(&mut watch).await.key, key("a"));
    assert_eq!(kind(watch.next().await), Err(ErrorKind::Unavailable));
}

#[tokio::test]
async fn two_stores_in_one_file_are_one() {
    for hints in [true, false] {
        let folder = folder();
        let options = SqliteOptions { hints, ..SqliteOptions::default() };
        let stores = [open_with(folder.path(), options.clone()), open_with(folder.path(), options)];
        let number = key("a/number");
        let mut watch = stores[1].watch(&prefix("a"), &stores[0].now().await.unwrap()).await.unwrap();
        stores[0].create(&number, b"0".to_vec()).await.unwrap();
        assert_eq!(kind(stores[1].create(&number, b"0".to_vec()).await), Err(ErrorKind::Exists));
        let stores = stores.map(Arc::new);
        let counting = stores.iter().map(|store| {
            let (store, number) = (store.clone(), number.clone());
            tokio::spawn(async move {
                for _ in 0..40 {
                    count_up(&*store, &number).await;
                }
            })
        });
        for task in counting.collect::<Vec<_>>() {
            task.await.unwrap();
        }
        for expected in 0..=80 {
            let (Change::Created(value) | Change::Replaced(value)) = next(&mut watch).await.change else {
                panic!("nothing is deleted");
            };
            assert_eq!(value, expected.to_string().into_bytes());
        }
    }
}

#[tokio::test]
async fn a_write_that_nobody_waits_for_happens_or_not_and_disturbs_nobody() {
    let folder = folder();
    let store = open(folder.path());
    for number in 0..200 {
        let key = key(&format!("a/{number}"));
        let abandoned = store.create(&key, b"whole".to_vec());
        // It is asked for, or has just begun, or is done, when it is dropped.
        let _ = tokio::time::timeout(Duration::from_micros(number * 5), abandoned).await;
        store.create(&crate::key(&format!("b/{number}")), vec![]).await.unwrap();
        if let Some(stored) = store.get(&key).await.unwrap() {
            assert_eq!(stored.value, b"whole");
        }
    }
    let page = store.list(&prefix("b"), PageRequest::default()).await.unwrap();
    assert_eq!(page.items.len(), 200);
}

#[tokio::test]
async fn a_value_that_is_too_large_is_refused() {
    let folder = folder();
    let store = open_with(folder.path(), SqliteOptions { max_value_bytes: 10, ..SqliteOptions::default() });
    let revision = store.create(&key("a"), vec![0; 10]).await.unwrap();
    assert_eq!(kind(store.create(&key("b"), vec![0; 11]).await), Err(ErrorKind::TooLarge));
    assert_eq!(kind(store.replace(&key("a"), &revision, vec![0; 11]).await), Err(ErrorKind::TooLarge));
}

#[tokio::test]
async fn an_address_names_its_driver() {
    let folder = folder();
    let path = folder.path().join("a store?.file");
    let store = wheelwright_store::open(&format!("sqlite:{}", path.display())).await.unwrap();
    store.create(&key("a"), vec![1]).await.unwrap();
    assert!(store.health().await.unwrap().took < PATIENCE);
    assert!(path.exists());
    for address in ["sqlite:", "mysql://somewhere", "", "store.db"] {
        let error = wheelwright_store::open(address).await.unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Setup, "{address}");
        assert!(error.to_string().contains("sqlite:PATH"), "{error}");
    }
}
