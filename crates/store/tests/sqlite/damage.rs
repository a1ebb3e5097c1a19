//! Damaged files: the check in the background, and pages that lead to each other in circles.

use std::{fs, time::Instant};

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
async fn the_damage_of_a_large_file_is_waited_for() {
    let folder = folder();
    let options = SqliteOptions { check_at_open_bytes: 0, ..SqliteOptions::default() };
    let store = open_with(folder.path(), options.clone());
    store.create(&key("a/1"), vec![1]).await.unwrap();
    for _ in 0..2 {
        assert!(store.find_damage().await.unwrap().is_none());
    }
    drop(store);
    let file = rusqlite::Connection::open(folder.path().join("store")).unwrap();
    file.execute("UPDATE log SET action = 1", []).unwrap();
    drop(file);
    let damage = open_with(folder.path(), options).find_damage().await.unwrap().unwrap();
    assert_eq!(*damage.kind(), ErrorKind::Corrupt);
    assert!(damage.to_string().contains("wheelwright store repair --to"), "{damage}");
}

#[tokio::test]
async fn bytes_that_do_not_match_their_checksum_can_be_saved() {
    let folder = folder();
    let store = open(folder.path());
    let revision = store.create(&key("a/1"), b"value".to_vec()).await.unwrap();
    let file = rusqlite::Connection::open(folder.path().join("store")).unwrap();
    file.execute("UPDATE log SET value = CAST('changed' AS BLOB)", []).unwrap();
    assert_eq!(store.get(&key("a/1")).await.unwrap().unwrap().value, b"");
    let unverified = store.get_unverified(&key("a/1")).await.unwrap().unwrap();
    assert_eq!((&unverified.revision, &*unverified.value), (&revision, &b"changed"[..]));
    assert_eq!(store.get_unverified(&key("a/2")).await.unwrap(), None);
    store.delete(&key("a/1"), &revision).await.unwrap();
    assert_eq!(store.get_unverified(&key("a/1")).await.unwrap(), None);
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

/// A change of a file.
type Change<'c> = &'c dyn Fn(&mut Vec<u8>);

/// The first child of a page of a B-tree that has children.
fn first_child(file: &[u8], page: usize) -> usize {
    let page = &file[(page - 1) * PAGE..page * PAGE];
    assert!([2, 5].contains(&page[0]), "a page with children");
    let cell = usize::from(u16::from_be_bytes([page[12], page[13]]));
    page[cell..cell + 4].iter().fold(0, |number, byte| number << 8 | usize::from(*byte))
}

const PAGE: usize = 4096;

#[tokio::test]
async fn pages_that_lead_to_each_other_in_circles_are_read_once() {
    let folder = folder();
    let path = folder.path().join("store");
    let store = open(folder.path());
    let long = |number: usize| key(&format!("a/{}-{number:04}", "x".repeat(300)));
    for number in 0..2_000 {
        store.create(&long(number), vec![7; 30]).await.unwrap();
    }
    store.create(&key("b/long"), vec![7; 1 << 20]).await.unwrap();
    drop(store);
    let connection = rusqlite::Connection::open(&path).unwrap();
    let root = |name: &str| {
        let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
        connection.query_row(sql, [name], |row| row.get::<_, u32>(0)).unwrap() as usize
    };
    let (table, index) = (root("log"), root("log_by_key"));
    drop(connection);
    let sound = fs::read(&path).unwrap();
    // The index has a level between its root and its leaves.
    let middle = first_child(&sound, index);
    first_child(&sound, middle);
    // Of a value that fills pages: each is nothing but the number of the next one, and bytes.
    let is_of_value = |page: &[u8]| page[4..] == [7; PAGE - 4];
    let of_value = sound.chunks(PAGE).position(is_of_value).unwrap() + 1;

    let own_children = |file: &mut [u8], page: usize| {
        let start = (page - 1) * PAGE;
        let own = u32::try_from(page).unwrap().to_be_bytes();
        for cell in 0..usize::from(u16::from_be_bytes([file[start + 3], file[start + 4]])) {
            let at = start + 12 + 2 * cell;
            let at = start + usize::from(u16::from_be_bytes([file[at], file[at + 1]]));
            file[at..at + 4].copy_from_slice(&own);
        }
    };
    let circles: [Change<'_>; 6] = [
        &|file| file.copy_within((index - 1) * PAGE..index * PAGE, (middle - 1) * PAGE),
        &|file| file.copy_within((middle - 1) * PAGE..middle * PAGE, (first_child(&sound, middle) - 1) * PAGE),
        &|file| file.copy_within((table - 1) * PAGE..table * PAGE, (first_child(&sound, table) - 1) * PAGE),
        &|file| {
            let own = u32::try_from(of_value).unwrap().to_be_bytes();
            file[(of_value - 1) * PAGE..][..4].copy_from_slice(&own);
        },
        &|file| own_children(file, middle),
        &|file| own_children(file, table),
    ];
    for (number, damage) in circles.iter().enumerate() {
        let mut file = sound.clone();
        damage(&mut file);
        fs::write(&path, &file).unwrap();
        let store = open(folder.path());
        let last = store.get(&long(1_999)).await.unwrap().unwrap();
        assert!(last.value == [7; 30] || [2, 5].contains(&number), "{number}");
        let value = store.get(&key("b/long")).await.unwrap().unwrap().value;
        assert!(value == vec![7; 1 << 20] || (number == 3 && value.is_empty()), "{number}: {} bytes", value.len());
    }
}
