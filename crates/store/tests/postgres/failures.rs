//! What goes wrong while a store is used, what is said about it, and that it passes.

use std::time::Duration;

use tokio::time::{Instant, timeout};
use wheelwright_store::{ErrorKind, Postgres, PostgresOptions, Prefix, Store, StoreError, testing::PostgresServer};

use crate::support::{address_of_user, bare, bare_of, key, store};

/// Tries until it does.
async fn in_the_end<T, E: std::fmt::Debug>(mut attempt: impl AsyncFnMut() -> Result<T, E>) -> T {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        match attempt().await {
            Ok(done) => return done,
            Err(error) => assert!(Instant::now() < end, "{error:?}"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Makes every insert into the log fail with a code.
async fn refuse_inserts(schema: &str, code: &str) {
    let trigger = format!(
        "CREATE OR REPLACE FUNCTION {schema}.refuse() RETURNS trigger LANGUAGE plpgsql AS \
         $$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '{code}'; END $$; \
         CREATE OR REPLACE TRIGGER refuse BEFORE INSERT ON {schema}.log EXECUTE FUNCTION {schema}.refuse()"
    );
    bare().await.batch_execute(&trigger).await.unwrap();
}

async fn accept_inserts(schema: &str) {
    bare().await.batch_execute(&format!("DROP TRIGGER refuse ON {schema}.log")).await.unwrap();
}

fn kind<T: std::fmt::Debug>(outcome: Result<T, StoreError>) -> ErrorKind {
    outcome.unwrap_err().kind().clone()
}

#[tokio::test]
async fn codes_of_the_server_become_kinds_and_pass() {
    let store = store("codes").await;
    for (number, (code, expected)) in [
        ("53100", ErrorKind::Full),
        ("25006", ErrorKind::ReadOnly),
        ("57014", ErrorKind::Unavailable),
        ("53200", ErrorKind::Unavailable),
        ("40001", ErrorKind::Unavailable),
        ("40003", ErrorKind::Unknown),
        ("42501", ErrorKind::Setup),
        ("XX001", ErrorKind::Corrupt),
    ]
    .into_iter()
    .enumerate()
    {
        refuse_inserts("codes", code).await;
        let name = key(format!("k/{number}"));
        assert_eq!(kind(store.create(&name, vec![]).await), expected, "{code}");
        assert_eq!(store.get(&name).await.unwrap(), None);
        accept_inserts("codes").await;
        store.create(&name, vec![]).await.unwrap();
    }
}

#[tokio::test]
async fn a_transaction_that_stood_in_the_way_is_tried_again() {
    let store = store("again").await;
    refuse_inserts("again", "40001").await;
    let name = key("k");
    let (created, ()) = tokio::join!(store.create(&name, vec![]), async {
        tokio::time::sleep(Duration::from_millis(30)).await;
        accept_inserts("again").await;
    });
    created.unwrap();
}

#[tokio::test]
async fn a_database_that_can_only_be_read_is_read() {
    let writer = store("read_only").await;
    writer.create(&key("k"), b"v".to_vec()).await.unwrap();
    let address = address_of_user("read_only", "readers").await;
    let rights = "GRANT USAGE ON SCHEMA read_only TO readers; \
        GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA read_only TO readers; \
        ALTER ROLE readers SET default_transaction_read_only = on";
    bare().await.batch_execute(rights).await.unwrap();
    let reader = Postgres::connect(&address, PostgresOptions::default()).await.unwrap();
    assert_eq!(reader.get(&key("k")).await.unwrap().unwrap().value, b"v");
    assert_eq!(kind(reader.create(&key("l"), vec![]).await), ErrorKind::ReadOnly);
    assert_eq!(kind(reader.health().await), ErrorKind::ReadOnly);
}

#[tokio::test]
async fn whoever_waits_too_long_for_another_writer_is_told() {
    let maker = store("slow").await;
    let patience = Duration::from_millis(300);
    let address = PostgresServer::shared().address("slow");
    let impatient = Postgres::connect(&address, PostgresOptions { patience, ..Default::default() }).await.unwrap();
    let holder = bare().await;
    holder.batch_execute("BEGIN; SELECT 1 FROM slow.head FOR UPDATE").await.unwrap();
    assert_eq!(kind(impatient.create(&key("k"), vec![]).await), ErrorKind::Unavailable);
    assert_eq!(impatient.get(&key("k")).await.unwrap(), None);
    holder.batch_execute("ROLLBACK").await.unwrap();
    in_the_end(async || impatient.create(&key("k"), vec![]).await).await;
    maker.health().await.unwrap();
}

#[tokio::test]
async fn cut_connections_are_made_again() {
    let mut server = PostgresServer::start().unwrap();
    let address = server.address("cut");
    let store = Postgres::connect(&address, PostgresOptions::default()).await.unwrap();
    let mut watch = store.watch(&Prefix::all(), &store.now().await.unwrap()).await.unwrap();
    let mut revision = store.create(&key("k"), vec![0]).await.unwrap();
    for round in 1..=5 {
        let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'wheelwright'";
        bare_of(&server).await.query(cut, &[]).await.unwrap();
        // Nothing was under way, so nobody notices.
        assert_eq!(store.get(&key("k")).await.unwrap().unwrap().revision, revision);
        revision = store.replace(&key("k"), &revision, vec![round]).await.unwrap();
    }
    server.stop();
    assert_eq!(kind(store.get(&key("k")).await), ErrorKind::Unavailable);
    assert_eq!(kind(store.replace(&key("k"), &revision, vec![9]).await), ErrorKind::Unavailable);
    assert_eq!(kind(store.health().await), ErrorKind::Unavailable);
    server.resume().unwrap();
    in_the_end(async || store.health().await).await;
    store.replace(&key("k"), &revision, vec![6]).await.unwrap();
    for round in 0..=6_u8 {
        let event = timeout(Duration::from_secs(60), watch.next()).await.expect("an event").unwrap();
        assert_eq!(event.revision.as_str(), (round + 2).to_string());
    }
}

#[tokio::test]
async fn no_connection_left_is_no_end() {
    let mut server = PostgresServer::start().unwrap();
    server.set(&["max_connections=8", "superuser_reserved_connections=0"]);
    server.resume().unwrap();
    let store = Postgres::connect(&server.address("few"), PostgresOptions::default()).await.unwrap();
    let mut others = Vec::new();
    let address = format!("postgres://postgres@127.0.0.1:{}/postgres", server.port());
    while let Ok((client, connection)) = tokio_postgres::connect(&address, tokio_postgres::NoTls).await {
        tokio::spawn(connection);
        others.push(client);
    }
    store.create(&key("k"), b"v".to_vec()).await.unwrap();
    assert_eq!(kind(store.get(&key("k")).await), ErrorKind::Unavailable);
    drop(others);
    assert_eq!(in_the_end(async || store.get(&key("k")).await).await.unwrap().value, b"v");
}
