//! Damaged records are found and repaired from the log or a backup.

use std::{path::Path, sync::Arc};

use rusqlite::Connection;
use wheelwright_repository::{Collection, CopySource, Damaged, ErrorKind, Name, Repository, View, Write};
use wheelwright_store::{Memory, Sqlite, SqliteOptions, Store};

use crate::support::{example, name};

fn orders(store: Arc<dyn Store>) -> Collection {
    Repository::new(store, example("orders")).kinds().next().unwrap()
}

/// Stores an order with a quantity.
async fn put(orders: &Collection, at: &Name, quantity: u32) {
    let body = format!(
        r#"{{"apiVersion":"shop.example.com/v3","kind":"Order","metadata":{{"name":"books"}},"spec":{{"quantity":{quantity}}}}}"#
    );
    let write = Write::document("v3", body.as_bytes());
    match orders.get(at, View::Hub).await.unwrap() {
        Some(read) => orders.update(at, &read.revision, write).await.unwrap(),
        None => orders.create(at, write).await.unwrap(),
    };
}

async fn quantity(orders: &Collection, at: &Name) -> u64 {
    let read = orders.get(at, View::Version("v3")).await.unwrap().unwrap();
    serde_json::from_slice::<serde_json::Value>(&read.json).unwrap()["spec"]["quantity"].as_u64().unwrap()
}

/// Changes the stored record without its checksum.
async fn damage(orders: &Collection, at: &Name) {
    let stored = orders.get_record(at).await.unwrap().unwrap();
    let text = String::from_utf8(stored.value).unwrap().replacen(r#""quantity":"#, r#""quantity":7"#, 1);
    let key = orders.kind().key(at).unwrap();
    orders.repository().store().replace(&key, &stored.revision, text.into_bytes()).await.unwrap();
}

fn sources(damaged: &Damaged) -> Vec<CopySource> {
    damaged.copies.iter().map(|copy| copy.source).collect()
}

#[tokio::test]
async fn a_damaged_record_is_repaired_from_the_log_or_else_from_a_backup() {
    let backup = Arc::new(Memory::new());
    let store = Arc::new(Memory::new());
    let (earlier, orders) = (orders(backup.clone()), orders(store.clone()));
    let names = ["shop/good", "shop/log", "shop/backup", "shop/nothing"].map(name);
    let [good, in_log, in_backup, nowhere] = &names;
    put(&orders, good, 1).await;
    put(&orders, in_log, 2).await;
    damage(&orders, in_log).await;
    damage(&orders, in_log).await;
    put(&earlier, in_backup, 3).await;
    for at in [in_backup, nowhere] {
        store.create(&orders.kind().key(at).unwrap(), b"{".to_vec()).await.unwrap();
    }
    // A record of a newer release is not damaged.
    let newer = orders.kind().key(&name("shop/newer")).unwrap();
    store.create(&newer, br#"{"$wheelwright":2}"#.to_vec()).await.unwrap();

    let found = orders.find_damage(Some(&*backup)).await.unwrap();
    assert_eq!((found.total, found.unopened.count), (5, 1));
    let copies: Vec<_> = found.damaged.iter().map(|one| (&*one.name, sources(one))).collect();
    let expected = [
        (in_backup.as_str(), vec![CopySource::Backup]),
        (in_log.as_str(), vec![CopySource::Log]),
        (nowhere.as_str(), vec![]),
    ];
    assert_eq!(copies, expected);
    let without = orders.find_damage(None).await.unwrap();
    assert!(without.damaged[0].copies.is_empty());

    for damaged in &found.damaged {
        let repaired = orders.repair(damaged, Some(&*backup)).await.unwrap();
        assert_eq!(repaired.map(|repaired| repaired.copy), damaged.copies.first().cloned());
    }
    assert_eq!((quantity(&orders, in_log).await, quantity(&orders, in_backup).await), (2, 3));
    let left = orders.find_damage(Some(&*backup)).await.unwrap();
    assert_eq!(left.damaged.iter().map(|one| &*one.name).collect::<Vec<_>>(), [nowhere.as_str()]);
    // A repair does not replace a record that was written after the listing.
    let error = orders.repair(&found.damaged[1], None).await.unwrap_err();
    assert!(matches!(error.store(), Some(ErrorKind::Conflict(_))), "{error}");
}

/// Flips a bit in the value of the newest row of a key, as a disk does.
fn flip(path: &Path, orders: &Collection, at: &Name) {
    let connection = Connection::open(path).unwrap();
    let newest = "SELECT revision, value FROM log WHERE key = ?1 ORDER BY revision DESC LIMIT 1";
    let key = orders.kind().key(at).unwrap();
    let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?));
    let (revision, mut value) = connection.query_row(newest, [key.as_str()], row).unwrap();
    let middle = value.len() / 2;
    value[middle] ^= 1;
    connection.execute("UPDATE log SET value = ?1 WHERE revision = ?2", (value, revision)).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_with_the_damaged_revision_itself_is_better_than_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("orders.db"), folder.path().join("backup.db"));
    let sqlite = Arc::new(Sqlite::open(&path, SqliteOptions::default()).unwrap());
    let orders = orders(sqlite.clone());
    let [same, older] = ["shop/same", "shop/older"].map(name);
    for quantity in [1, 2] {
        put(&orders, &same, quantity).await;
        put(&orders, &older, quantity).await;
    }
    sqlite.backup(&copy).unwrap();
    put(&orders, &older, 3).await;
    put(&orders, &older, 4).await;
    for at in [&same, &older] {
        flip(&path, &orders, at);
        orders.get(at, View::Hub).await.unwrap_err();
    }
    let backup = Sqlite::open(&copy, SqliteOptions::default()).unwrap();
    let found = orders.find_damage(Some(&backup)).await.unwrap();
    let [of_older, of_same] = &found.damaged[..] else { panic!("{found:?}") };
    assert_eq!(sources(of_older), [CopySource::Log, CopySource::Backup]);
    assert_eq!(sources(of_same), [CopySource::Backup, CopySource::Log]);
    assert_eq!(of_same.copies[0].revision, of_same.revision);
    for damaged in &found.damaged {
        orders.repair(damaged, Some(&backup)).await.unwrap().unwrap();
    }
    assert_eq!((quantity(&orders, &same).await, quantity(&orders, &older).await), (2, 3));
    assert!(orders.find_damage(None).await.unwrap().damaged.is_empty());
}
