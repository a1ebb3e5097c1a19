//! Writers that write at once share a commit.

use std::time::Duration;

use tokio_postgres::Client;
use wheelwright_store::{Postgres, PostgresOptions, Store, testing::PostgresServer};

use crate::support::{bare_of, key};

const WRITERS: usize = 32;
const WRITES: usize = 50;

/// How often the server has made its log durable. It says so with a delay.
async fn fsyncs(client: &Client) -> Option<i64> {
    tokio::time::sleep(Duration::from_secs(2)).await;
    client.query_one("SELECT wal_sync FROM pg_stat_wal", &[]).await.ok().map(|row| row.get(0))
}

/// How many transactions have moved the head on.
async fn commits(client: &Client) -> i64 {
    let counted = "SELECT n_tup_upd FROM pg_stat_user_tables WHERE schemaname = 'fsyncs' AND relname = 'head'";
    client.query_one(counted, &[]).await.unwrap().get(0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_at_once_share_an_fsync() {
    let server = PostgresServer::start().unwrap();
    let store = Postgres::connect(&server.address("fsyncs"), PostgresOptions::default()).await.unwrap();
    let client = bare_of(&server).await;
    let before = (fsyncs(&client).await, commits(&client).await);
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let store = store.clone();
            tokio::spawn(async move {
                for number in 0..WRITES {
                    store.create(&key(format!("{writer}/{number}")), vec![7; 1000]).await.unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let after = (fsyncs(&client).await, commits(&client).await);
    let most = (WRITERS * WRITES / 8) as i64;
    assert!(after.1 - before.1 <= most, "{} transactions", after.1 - before.1);
    // Other releases than 14 to 17 count fsyncs elsewhere.
    if let (Some(before), Some(after)) = (before.0, after.0) {
        assert!((1..=most).contains(&(after - before)), "{} fsyncs", after - before);
    }
}
