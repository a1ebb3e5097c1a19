//! What the buckets, the trail and the second places of the head show of damaged tables, and what they are for earlier releases.

use std::time::Duration;

use tokio::time::{sleep, timeout};
use wheelwright_store::{
    ErrorKind, PageRequest, Postgres, PostgresOptions, Prefix, Store, StoreError, Stored, Unreadable,
};

use crate::support::{address_of_user, bare, key, store, store_with};

fn kind<T: std::fmt::Debug>(outcome: Result<T, StoreError>) -> ErrorKind {
    outcome.unwrap_err().kind().clone()
}

async fn value(store: &Postgres, name: &str) -> Option<Vec<u8>> {
    store.get(&key(name)).await.unwrap().map(|stored| stored.value)
}

async fn stored(store: &Postgres, name: &str) -> Stored {
    store.get(&key(name)).await.unwrap().unwrap()
}

async fn names(store: &Postgres) -> Vec<String> {
    let page = store.list(&Prefix::all(), PageRequest::default()).await.unwrap();
    page.items.iter().map(|(key, _)| key.to_string()).collect()
}

async fn execute(sql: &str) {
    bare().await.batch_execute(sql).await.unwrap();
}

async fn number(sql: &str) -> i64 {
    bare().await.query_one(sql, &[]).await.unwrap().get(0)
}

/// A store with `a` to `e` from before a compaction and a deleted `gone`, and a later value of `a`.
async fn filled(schema: &str) -> Postgres {
    let store = store(schema).await;
    for name in ["a", "b", "c", "d", "e", "gone"] {
        store.create(&key(name), name.into()).await.unwrap();
    }
    execute(&format!("CREATE TABLE {schema}.kept AS SELECT * FROM {schema}.log")).await;
    let gone = stored(&store, "gone").await.revision;
    store.delete(&key("gone"), &gone).await.unwrap();
    store.compact().await.unwrap();
    let a = stored(&store, "a").await.revision;
    store.replace(&key("a"), &a, b"new".to_vec()).await.unwrap();
    store
}

#[tokio::test]
async fn a_store_without_a_head_is_read_and_not_written() {
    let cursor = filled("no_head").await.now().await.unwrap();
    execute("DELETE FROM no_head.head").await;
    let store = store("no_head").await;
    assert_eq!(store.now().await.unwrap(), cursor);
    assert_eq!(value(&store, "a").await.unwrap(), b"new");
    assert_eq!(value(&store, "gone").await, None);
    assert_eq!(names(&store).await, ["a", "b", "c", "d", "e"]);
    assert_eq!(kind(store.create(&key("f"), Vec::new()).await), ErrorKind::Corrupt);
    assert_eq!(kind(store.health().await), ErrorKind::Corrupt);
}

#[tokio::test]
async fn a_head_that_is_damaged_is_corrected() {
    drop(filled("bad_head").await);
    for damage in [
        "revision = 4",
        "revision = 10",
        "revision = revision + 64",
        "revision = 1::int8 << 61",
        "format = -7",
        "compacted = 2",
        "compacted = 99",
    ] {
        execute("CREATE TABLE bad_head.saved AS SELECT * FROM bad_head.head").await;
        execute(&format!("UPDATE bad_head.head SET {damage}")).await;
        let store = store("bad_head").await;
        assert_eq!(kind(store.health().await), ErrorKind::Corrupt, "{damage}");
        assert_eq!(value(&store, "a").await.unwrap(), b"new", "{damage}");
        assert_eq!(value(&store, "f").await, None, "{damage}");
        assert_eq!(names(&store).await, ["a", "b", "c", "d", "e"], "{damage}");
        execute("DELETE FROM bad_head.head; INSERT INTO bad_head.head SELECT * FROM bad_head.saved; DROP TABLE bad_head.saved").await;
    }
    store("bad_head").await.health().await.unwrap();
}

#[tokio::test]
async fn a_write_that_the_log_refuses_shows_that_the_head_was_changed() {
    let store = filled("head_changed").await;
    store.health().await.unwrap();
    execute("UPDATE head_changed.head SET revision = 4").await;
    assert_eq!(kind(store.create(&key("f"), Vec::new()).await), ErrorKind::Corrupt);
    let found = async {
        while store.health().await.is_ok() {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(Duration::from_secs(60), found).await.expect("the check finds the damage");
    assert_eq!(value(&store, "a").await.unwrap(), b"new");
}

#[tokio::test]
async fn lost_rows_from_before_a_compaction_cost_their_keys_alone() {
    drop(filled("lost_kept").await);
    execute("DELETE FROM lost_kept.log WHERE key IN ('b', 'd')").await;
    let store = store("lost_kept").await;
    // The name is not left anywhere, but its hash is.
    assert_eq!(value(&store, "b").await.unwrap(), b"");
    assert_eq!(value(&store, "d").await.unwrap(), b"");
    assert_eq!(value(&store, "a").await.unwrap(), b"new");
    assert_eq!(value(&store, "c").await.unwrap(), b"c");
    assert_eq!(value(&store, "f").await, None);
    // A list cannot name them.
    assert_eq!(kind(store.list(&Prefix::all(), PageRequest::default()).await), ErrorKind::Corrupt);
}

#[tokio::test]
async fn rows_that_are_back_after_they_were_deleted_are_not_shown() {
    drop(filled("back").await);
    execute("INSERT INTO back.log SELECT * FROM back.kept WHERE key = 'gone'").await;
    let store = store("back").await;
    assert_eq!(value(&store, "gone").await, None);
    assert_eq!(value(&store, "a").await.unwrap(), b"new");
    assert_eq!(names(&store).await, ["a", "b", "c", "d", "e"]);
    // With the buckets lost, it is not known.
    execute("DELETE FROM back.buckets").await;
    let store = self::store("back").await;
    assert_eq!(kind(store.health().await), ErrorKind::Corrupt);
    let gone = value(&store, "gone").await.unwrap();
    assert_eq!(Unreadable::of(&gone), Some(Unreadable::Uncertain));
    assert_eq!(kind(store.get(&key("other")).await), ErrorKind::Corrupt);
    assert_eq!(value(&store, "a").await.unwrap(), b"new");
}

#[tokio::test]
async fn a_lost_removal_is_known_from_the_trail() {
    let store = filled("lost_removal").await;
    let b = stored(&store, "b").await.revision;
    store.delete(&key("b"), &b).await.unwrap();
    execute("DELETE FROM lost_removal.log WHERE action = 2").await;
    let store = self::store("lost_removal").await;
    assert_eq!(kind(store.health().await), ErrorKind::Corrupt);
    assert_eq!(value(&store, "b").await, None);
    assert_eq!(names(&store).await, ["a", "c", "d", "e"]);
}

#[tokio::test]
async fn compactions_keep_the_buckets_that_a_check_computes() {
    let store = filled("computed").await;
    for round in 0..3 {
        for name in ["a", "b", "f"] {
            match store.get(&key(name)).await.unwrap() {
                Some(stored) if round == 1 => store.delete(&key(name), &stored.revision).await.unwrap(),
                Some(stored) => drop(store.replace(&key(name), &stored.revision, vec![round]).await.unwrap()),
                None => drop(store.create(&key(name), vec![round]).await.unwrap()),
            }
        }
        store.compact().await.unwrap();
        let digest = "SELECT hashtextextended(string_agg(part || encode(buckets, 'hex'), ',' ORDER BY part), 0) \
                      FROM computed.buckets";
        let kept = number(digest).await;
        execute("DELETE FROM computed.buckets").await;
        drop(self::store("computed").await);
        assert_eq!(number(digest).await, kept);
    }
}

#[tokio::test]
async fn the_trail_is_as_long_as_the_history_and_probes_leave_none() {
    let store = filled("trail").await;
    let count = "SELECT count(*) FROM trail.trail";
    store.compact().await.unwrap();
    assert_eq!(number(count).await, 1);
    for _ in 0..5 {
        store.health().await.unwrap();
    }
    assert_eq!((number(count).await, number("SELECT count(*) FROM trail.trail_copy").await), (1, 1));
}

#[tokio::test]
async fn tables_of_an_earlier_release_get_buckets_and_a_trail_and_are_shared_with_it() {
    drop(filled("earlier_buckets").await);
    let drop_them = "DROP TABLE earlier_buckets.trail, earlier_buckets.trail_copy, earlier_buckets.buckets";
    execute(drop_them).await;
    let store = store("earlier_buckets").await;
    store.health().await.unwrap();
    let stamped = "SELECT count(*) FROM earlier_buckets.buckets b, earlier_buckets.head h \
                   WHERE get_byte(b.buckets, 0) = h.compacted";
    assert_eq!(number(stamped).await, 24);
    // The earlier release writes, without a trail, and forgets.
    let a = stored(&store, "a").await.revision;
    let write = "INSERT INTO earlier_buckets.log (revision, key, action, value, at) VALUES (10, 'b', 1, 'newer', 0); \
                 UPDATE earlier_buckets.head SET revision = 10";
    execute(write).await;
    store.replace(&key("a"), &a, b"newest".to_vec()).await.unwrap();
    execute("DELETE FROM earlier_buckets.log WHERE revision IN (3, 9); UPDATE earlier_buckets.head SET compacted = 10")
        .await;
    store.compact().await.unwrap();
    assert_eq!(number(stamped).await, 0);
    let store = self::store("earlier_buckets").await;
    store.health().await.unwrap();
    assert_eq!(number(stamped).await, 24);
    assert_eq!(
        (value(&store, "a").await.unwrap(), value(&store, "b").await.unwrap()),
        (b"newest".into(), b"newer".into())
    );
    // A revision of the earlier release has no trail: if it is lost, any key may have had it.
    execute(
        "UPDATE earlier_buckets.head SET revision = 12; \
         INSERT INTO earlier_buckets.log (revision, key, action, value, at) VALUES (12, 'c', 1, 'lost', 0)",
    )
    .await;
    let a = stored(&store, "a").await.revision;
    store.replace(&key("a"), &a, b"13".to_vec()).await.unwrap();
    execute("DELETE FROM earlier_buckets.log WHERE revision = 12").await;
    let store = self::store("earlier_buckets").await;
    assert_eq!(value(&store, "a").await.unwrap(), b"13");
    assert_eq!(kind(store.get(&key("c")).await), ErrorKind::Corrupt);
    assert_eq!(kind(store.list(&Prefix::all(), PageRequest::default()).await), ErrorKind::Corrupt);
}

#[tokio::test]
async fn a_user_who_may_not_add_the_tables_goes_without() {
    drop(filled("without").await);
    execute("DROP TABLE without.trail, without.trail_copy, without.buckets").await;
    let store = store_with("without", PostgresOptions { create: false, ..PostgresOptions::default() }).await;
    store.create(&key("f"), b"f".to_vec()).await.unwrap();
    store.compact().await.unwrap();
    assert_eq!(value(&store, "f").await.unwrap(), b"f");
    assert_eq!(number("SELECT count(*) FROM pg_tables WHERE schemaname = 'without'").await, 3);
}

#[tokio::test]
async fn a_user_without_rights_to_the_tables_goes_without() {
    drop(filled("no_rights").await);
    let address = address_of_user("no_rights", "earlier_user").await;
    execute(
        "GRANT USAGE ON SCHEMA no_rights TO earlier_user; \
         GRANT SELECT, INSERT, UPDATE, DELETE ON no_rights.log, no_rights.head TO earlier_user",
    )
    .await;
    let user = Postgres::connect(&address, PostgresOptions::default()).await.unwrap();
    let revision = user.create(&key("f"), b"f".to_vec()).await.unwrap();
    assert_eq!(value(&user, "f").await.unwrap(), b"f");
    // The trail does not have what this user has written.
    assert_eq!(number("SELECT max(first + octet_length(traces) / 8 - 1) FROM no_rights.trail").await, 9);
    assert_eq!(number("SELECT revision FROM no_rights.head").await.to_string(), revision.to_string());
    store("no_rights").await.health().await.unwrap();
}

#[tokio::test]
async fn a_database_that_can_only_be_read_is_read_with_the_rights_that_there_are() {
    drop(filled("only_read").await);
    let address = address_of_user("only_read", "reader").await;
    execute(
        "ALTER ROLE reader SET default_transaction_read_only = on; GRANT USAGE ON SCHEMA only_read TO reader; \
         GRANT SELECT ON only_read.log, only_read.head TO reader",
    )
    .await;
    let options = || PostgresOptions { create: false, ..PostgresOptions::default() };
    let check = async || {
        let reader = Postgres::connect(&address, options()).await.unwrap();
        assert_eq!(reader.find_damage().await.unwrap().map(|error| error.to_string()), None);
        assert_eq!(value(&reader, "a").await.unwrap(), b"new");
        assert_eq!(names(&reader).await, ["a", "b", "c", "d", "e"]);
        assert_eq!(kind(reader.create(&key("f"), Vec::new()).await), ErrorKind::ReadOnly);
    };
    check().await;
    execute("GRANT SELECT ON only_read.trail, only_read.trail_copy, only_read.buckets TO reader").await;
    check().await;
    // They are used from now on: they show what the head was.
    execute("DELETE FROM only_read.head").await;
    let reader = Postgres::connect(&address, options()).await.unwrap();
    assert_eq!(value(&reader, "a").await.unwrap(), b"new");
}

#[tokio::test]
async fn a_damaged_table_beside_the_log_is_written_anew_and_stops_nothing() {
    drop(filled("beside").await);
    let refuse = |schema: &str, table: &str| {
        format!(
            "CREATE FUNCTION {schema}.refuse() RETURNS trigger LANGUAGE plpgsql \
             AS $$ BEGIN RAISE 'invalid page' USING ERRCODE = 'XX001'; END $$; \
             CREATE TRIGGER refuse BEFORE DELETE ON {schema}.{table} FOR EACH ROW EXECUTE FUNCTION {schema}.refuse()"
        )
    };
    let one = "UPDATE beside.trail SET sum = sum + 1 WHERE first = (SELECT max(first) FROM beside.trail)";
    let other = "UPDATE beside.trail_copy SET traces = 'short'";
    let both = &format!("{one}; {other}");
    let buckets = "UPDATE beside.buckets SET buckets = '' WHERE part = 3";
    // A page that PostgreSQL cannot read is not deleted from; the table is truncated.
    let page = &format!("{}; {one}", refuse("beside", "trail"));
    for (round, damage) in [one, other, both, buckets, page].into_iter().enumerate() {
        execute(damage).await;
        let store = store("beside").await;
        assert_eq!(store.find_damage().await.unwrap().map(|error| error.to_string()), None, "{damage}");
        store.create(&key(format!("f{round}")), Vec::new()).await.unwrap();
        store.health().await.unwrap();
        let differ = "SELECT count(*) FROM (TABLE beside.trail EXCEPT TABLE beside.trail_copy) d";
        let missing = "SELECT count(*) FROM (TABLE beside.trail_copy EXCEPT TABLE beside.trail) d";
        assert_eq!((number(differ).await, number(missing).await), (0, 0), "{damage}");
        assert_eq!(number("SELECT count(*) FROM beside.buckets WHERE buckets <> ''").await, 24, "{damage}");
    }
    // The trail that there is again shows the head.
    let head = "SELECT max(first + octet_length(traces) / 8 - 1) FROM beside.trail";
    assert_eq!(number(head).await, number("SELECT revision FROM beside.head").await);
    // With the digest gone too, nothing shows whether rows are missing.
    execute(&format!("UPDATE beside.head SET digested = 0; {buckets}; UPDATE beside.trail_copy SET sum = 0")).await;
    assert_eq!(kind(store("beside").await.health().await), ErrorKind::Corrupt);
}
