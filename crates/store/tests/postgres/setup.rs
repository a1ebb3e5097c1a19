//! Who may make the tables, and what is found there.

use std::{fs, time::Duration};

use tokio::time::timeout;
use wheelwright_store::{ErrorKind, PageRequest, Postgres, PostgresOptions, Prefix, Store, testing::PostgresServer};

use crate::support::{address_of_user, bare, bare_of, key, store};

async fn failure(address: &str) -> (ErrorKind, String) {
    let error = Postgres::connect(address, PostgresOptions::default()).await.unwrap_err();
    (error.kind().clone(), error.to_string())
}

#[tokio::test]
async fn any_number_of_processes_may_begin_at_once() {
    let stores: Vec<_> = (0..16).map(|_| tokio::spawn(store("at_once"))).collect();
    for (number, store) in stores.into_iter().enumerate() {
        store.await.unwrap().create(&key(format!("k/{number}")), vec![]).await.unwrap();
    }
}

#[tokio::test]
async fn tables_of_a_newer_release_are_left_alone() {
    let running = store("newer").await;
    bare().await.batch_execute("UPDATE newer.head SET format = 2").await.unwrap();
    assert_eq!(failure(&PostgresServer::shared().address("newer")).await.0, ErrorKind::Newer);
    let error = running.create(&key("k"), vec![]).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Newer);
}

#[tokio::test]
async fn tables_of_a_newer_release_do_not_count_as_damaged() {
    drop(store("newer_check").await);
    // The first checks find no connection.
    let address = address_of_user("newer_check", "unchecked").await;
    let grant = "ALTER ROLE unchecked CONNECTION LIMIT 1; GRANT USAGE ON SCHEMA newer_check TO unchecked; \
                 GRANT ALL ON ALL TABLES IN SCHEMA newer_check TO unchecked";
    bare().await.batch_execute(grant).await.unwrap();
    let running = Postgres::connect(&address, PostgresOptions::default()).await.unwrap();
    let change = "UPDATE newer_check.head SET format = 2; ALTER ROLE unchecked CONNECTION LIMIT -1";
    bare().await.batch_execute(change).await.unwrap();
    assert_eq!(running.find_damage().await.unwrap_err().kind(), &ErrorKind::Newer);
    assert_eq!(running.create(&key("k"), vec![]).await.unwrap_err().kind(), &ErrorKind::Newer);
}

#[tokio::test]
async fn an_empty_store_of_an_earlier_release_is_watched_from_its_list() {
    drop(store("earlier").await);
    bare().await.batch_execute("UPDATE earlier.head SET revision = 0, compacted = 0").await.unwrap();
    let store = store("earlier").await;
    let cursor = store.list(&Prefix::all(), PageRequest::default()).await.unwrap().cursor;
    assert_eq!(cursor.as_str(), "1");
    let mut watch = store.watch(&Prefix::all(), &cursor).await.unwrap();
    for name in ["a", "b"] {
        store.create(&key(name), vec![]).await.unwrap();
        let event = timeout(Duration::from_secs(60), watch.next()).await.expect("an event").unwrap();
        assert_eq!(event.key, key(name));
    }
}

#[tokio::test]
async fn a_missing_right_is_named() {
    let address = address_of_user("rights", "nobodys").await;
    let (kind, message) = failure(&address).await;
    assert_eq!(kind, ErrorKind::Setup);
    assert!(message.contains("grant CREATE on the database"), "{message}");
    bare().await.batch_execute("CREATE SCHEMA rights; GRANT USAGE, CREATE ON SCHEMA rights TO nobodys").await.unwrap();
    let store = Postgres::connect(&address, PostgresOptions::default()).await.unwrap();
    store.create(&key("k"), vec![]).await.unwrap();
}

#[tokio::test]
async fn whoever_does_not_make_the_tables_needs_only_to_use_them() {
    let maker = store("used").await;
    let address = address_of_user("used", "users").await;
    assert_eq!(failure(&address).await.0, ErrorKind::Setup);
    let grant = "GRANT USAGE ON SCHEMA used TO users; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA used TO users";
    bare().await.batch_execute(grant).await.unwrap();
    let user = Postgres::connect(&address, PostgresOptions::default()).await.unwrap();
    user.create(&key("k"), b"v".to_vec()).await.unwrap();
    user.compact().await.unwrap();
    assert_eq!(maker.get(&key("k")).await.unwrap().unwrap().value, b"v");
}

#[tokio::test]
async fn an_address_where_nothing_is_says_so() {
    let address = PostgresServer::shared().address("nowhere");
    let (kind, message) = failure(&address.replace("/postgres?", "/missing?")).await;
    assert_eq!(kind, ErrorKind::Setup);
    assert!(message.contains("\"missing\" does not exist"), "{message}");
    assert_eq!(failure("postgres://postgres@127.0.0.1:1/postgres").await.0, ErrorKind::Unavailable);
}

#[tokio::test]
async fn tables_that_are_gone_are_reported() {
    let store = store("gone").await;
    store.create(&key("k"), vec![]).await.unwrap();
    bare().await.batch_execute("DROP SCHEMA gone CASCADE").await.unwrap();
    assert_eq!(store.get(&key("k")).await.unwrap_err().kind(), &ErrorKind::Corrupt);
    assert_eq!(store.create(&key("k"), vec![]).await.unwrap_err().kind(), &ErrorKind::Corrupt);
}

#[tokio::test]
async fn who_only_looks_makes_no_tables() {
    let address = PostgresServer::shared().address("typo");
    let looks = || PostgresOptions { create: false, ..PostgresOptions::default() };
    let error = Postgres::connect(&address, looks()).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Setup);
    assert!(error.to_string().contains("there is no store in the schema typo"), "{error}");
    store("typo").await;
    Postgres::connect(&address, looks()).await.unwrap();
}

#[tokio::test]
async fn a_password_comes_from_the_file_that_the_address_names_and_is_shown_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let [access, passwords] = ["pg_hba.conf", "pgpass"].map(|name| folder.path().join(name));
    let rules = "local all all trust\nhost all asked 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n";
    fs::write(&access, rules).unwrap();
    let mut server = PostgresServer::start().unwrap();
    let role = "CREATE ROLE asked LOGIN PASSWORD 'se:cret'; GRANT CREATE ON DATABASE postgres TO asked";
    bare_of(&server).await.batch_execute(role).await.unwrap();
    server.set(&[&format!("hba_file={}", access.display())]);
    server.resume().unwrap();
    let address = server.address("asked").replace("postgres@", "asked@");
    let address = format!("{address}&passfile={}", passwords.display());
    for line in ["", "*:*:*:asked:wrong-se:cret\n"] {
        fs::write(&passwords, line).unwrap();
        let (kind, message) = failure(&address).await;
        assert_eq!(kind, ErrorKind::Setup, "{message}");
        assert!(!message.contains("cret"), "{message}");
    }
    fs::write(&passwords, "*:*:*:asked:se\\:cret\n").unwrap();
    let store = Postgres::connect(&address, PostgresOptions::default()).await.unwrap();
    store.create(&key("k"), vec![]).await.unwrap();
    assert!(!format!("{store:?}").contains("cret"), "{store:?}");
}
