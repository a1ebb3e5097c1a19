//! Tables with damage, and tables of earlier releases, which have no checksums.

use wheelwright_store::{ErrorKind, PageRequest, Postgres, PostgresOptions, Prefix, Store, StoreError};

use crate::support::{bare, key, store, store_with};

fn kind<T: std::fmt::Debug>(outcome: Result<T, StoreError>) -> ErrorKind {
    outcome.unwrap_err().kind().clone()
}

/// A store with the values 0 to 9 of `a`, of which those before 5 are forgotten, and one of `b`.
async fn filled(schema: &str) -> Postgres {
    let store = store(schema).await;
    let mut revision = store.create(&key("a"), b"0".to_vec()).await.unwrap();
    store.create(&key("b"), b"b".to_vec()).await.unwrap();
    for number in 1..10 {
        if number == 5 {
            store.compact().await.unwrap();
        }
        revision = store.replace(&key("a"), &revision, number.to_string().into_bytes()).await.unwrap();
    }
    store
}

async fn value(store: &Postgres, name: &str) -> Vec<u8> {
    store.get(&key(name)).await.unwrap().unwrap().value
}

#[tokio::test]
async fn a_row_that_lost_its_newer_one_is_not_shown() {
    let store = filled("lost_row").await;
    let newest = store.get(&key("a")).await.unwrap().unwrap().revision;
    assert!(store.find_damage().await.unwrap().is_none());
    bare().await.batch_execute(&format!("DELETE FROM lost_row.log WHERE revision = {newest}")).await.unwrap();
    let reopened = self::store("lost_row").await;
    let damage = reopened.find_damage().await.unwrap().unwrap().to_string();
    assert!(damage.contains("REINDEX") && !damage.contains("--to"), "{damage}");
    // The trail shows whose revision it was.
    assert_eq!(value(&reopened, "a").await, b"");
    assert_eq!(value(&reopened, "b").await, b"b");
    let page = reopened.list(&Prefix::all(), PageRequest::default()).await.unwrap();
    assert_eq!(page.items.iter().map(|(_, stored)| &*stored.value).collect::<Vec<_>>(), [&b""[..], b"b"]);
    assert_eq!(kind(reopened.create(&key("c"), Vec::new()).await), ErrorKind::Corrupt);
    assert_eq!(kind(reopened.health().await), ErrorKind::Corrupt);
    assert_eq!(kind(reopened.compact().await), ErrorKind::Corrupt);
}

#[tokio::test]
async fn bytes_that_do_not_match_their_checksum_can_be_saved() {
    let store = filled("unverified").await;
    let newest = store.get(&key("a")).await.unwrap().unwrap().revision;
    let change = format!("UPDATE unverified.log SET value = 'changed' WHERE revision = {newest}");
    bare().await.batch_execute(&change).await.unwrap();
    assert_eq!(value(&store, "a").await, b"");
    let unverified = store.get_unverified(&key("a")).await.unwrap().unwrap();
    assert_eq!((unverified.revision, unverified.value), (newest, b"changed".to_vec()));
    assert_eq!(store.get_unverified(&key("nothing")).await.unwrap(), None);
}

#[tokio::test]
async fn bytes_of_an_earlier_revision_are_not_those_of_a_damaged_one() {
    drop(filled("unverified_lost").await);
    let client = bare().await;
    client
        .batch_execute(
            "DELETE FROM unverified_lost.log WHERE revision = (SELECT revision FROM unverified_lost.head); \
             UPDATE unverified_lost.log SET value = 'changed' WHERE key = 'b'",
        )
        .await
        .unwrap();
    let store = store("unverified_lost").await;
    assert_eq!((value(&store, "a").await, value(&store, "b").await), (b"".to_vec(), b"".to_vec()));
    let lost = store.get_unverified(&key("a")).await.unwrap();
    assert_eq!(lost, store.get(&key("a")).await.unwrap());
    let b = store.get(&key("b")).await.unwrap().unwrap().revision;
    let unverified = store.get_unverified(&key("b")).await.unwrap().unwrap();
    assert_eq!((unverified.revision, unverified.value), (b, b"changed".to_vec()));
    assert_eq!(store.get_unverified(&key("nothing")).await.unwrap(), None);
}

#[tokio::test]
async fn a_store_that_runs_is_checked_again() {
    let store = filled("checked_again").await;
    store.health().await.unwrap();
    // Two values of one key change places with their revisions: nothing but the checksums shows it.
    let swap = "UPDATE checked_again.log SET revision = -1 WHERE revision = 12; \
                UPDATE checked_again.log SET revision = 12 WHERE revision = 11; \
                UPDATE checked_again.log SET revision = 11 WHERE revision = -1";
    bare().await.batch_execute(swap).await.unwrap();
    store.start_check().unwrap();
    while store.health().await.is_ok() {
        tokio::task::yield_now().await;
    }
    // Which document it is is known, and the other one can be read.
    assert_eq!(value(&store, "a").await, b"");
    assert_eq!(value(&store, "b").await, b"b");
    bare().await.batch_execute(swap).await.unwrap();
    store.start_check().unwrap();
    while store.health().await.is_err() {
        tokio::task::yield_now().await;
    }
    assert_eq!(value(&store, "a").await, b"9");
}

#[tokio::test]
async fn tables_of_an_earlier_release_get_checksums_and_take_its_rows() {
    drop(filled("no_sums").await);
    let client = bare().await;
    let earlier = "ALTER TABLE no_sums.log DROP COLUMN sum; \
                   ALTER TABLE no_sums.head DROP COLUMN digest, DROP COLUMN digested";
    client.batch_execute(earlier).await.unwrap();
    let store = store("no_sums").await;
    let a = store.get(&key("a")).await.unwrap().unwrap().revision;
    store.replace(&key("a"), &a, b"10".to_vec()).await.unwrap();
    // A server of the earlier release writes and forgets meanwhile.
    let written = "INSERT INTO no_sums.log (revision, key, action, value, at) VALUES (14, 'b', 1, 'new', 0); \
                   UPDATE no_sums.head SET revision = 14; \
                   DELETE FROM no_sums.log WHERE revision < 13 AND revision <> 3; UPDATE no_sums.head SET compacted = 13";
    client.batch_execute(written).await.unwrap();
    for _ in 0..2 {
        let store = self::store("no_sums").await;
        assert_eq!((value(&store, "a").await, value(&store, "b").await), (b"10".to_vec(), b"new".to_vec()));
        store.health().await.unwrap();
    }
    let sums = client.query("SELECT sum IS NULL FROM no_sums.log ORDER BY revision", &[]).await.unwrap();
    assert_eq!(sums.iter().map(|row| row.get(0)).collect::<Vec<bool>>(), [true, false, true]);
    let digest = client.query_one("SELECT digested FROM no_sums.head", &[]).await.unwrap();
    assert_eq!(digest.get::<_, i64>(0), 13);
    // A user who may not change the tables goes without.
    client.batch_execute(earlier).await.unwrap();
    let store = store_with("no_sums", PostgresOptions { create: false, ..PostgresOptions::default() }).await;
    let b = store.get(&key("b")).await.unwrap().unwrap().revision;
    store.delete(&key("b"), &b).await.unwrap();
    store.compact().await.unwrap();
    assert_eq!(store.get(&key("b")).await.unwrap(), None);
}
