//! What was acknowledged is there after the server was killed.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::time::{sleep, timeout};
use wheelwright_store::{
    ErrorKind, Event, Postgres, PostgresOptions, Prefix, Revision, Store, testing::PostgresServer,
};

use crate::support::key;

const WRITERS: usize = 8;

/// Counts up under its own key until it is told to stop; gives the revision of the last count that may be there, and all
/// that were acknowledged.
async fn count(store: Postgres, writer: usize, is_over: Arc<AtomicBool>) -> BTreeMap<u64, u64> {
    let own = key(format!("count/{writer}"));
    let mut acknowledged = BTreeMap::new();
    let mut at: Option<(Revision, u64)> = None;
    while !is_over.load(Ordering::Relaxed) {
        let next = at.as_ref().map_or(1, |(_, count)| count + 1);
        let written = match &at {
            None => store.create(&own, next.to_be_bytes().to_vec()).await,
            Some((revision, _)) => store.replace(&own, revision, next.to_be_bytes().to_vec()).await,
        };
        match written {
            Ok(revision) => {
                acknowledged.insert(revision.as_str().parse().unwrap(), next);
                at = Some((revision, next));
            }
            Err(error) if *error.kind() == ErrorKind::Unavailable => sleep(Duration::from_millis(5)).await,
            Err(error) => {
                assert_eq!(error.kind(), &ErrorKind::Unknown, "{error}");
                // What is there is what was before, or what was written: nothing else.
                let found = loop {
                    match store.get(&own).await {
                        Ok(found) => break found,
                        Err(error) => assert!(error.is_passing(), "{error}"),
                    }
                    sleep(Duration::from_millis(5)).await;
                };
                let found = found.map(|stored| {
                    (stored.revision, u64::from_be_bytes(stored.value.try_into().expect("a whole record")))
                });
                assert!(found == at || found.as_ref().is_some_and(|(_, count)| *count == next), "{found:?} {at:?}");
                at = found;
            }
        }
    }
    acknowledged
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_server_loses_nothing_that_was_acknowledged() {
    let rounds = std::env::var("WHEELWRIGHT_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(5);
    let mut server = PostgresServer::start().unwrap();
    let store = Postgres::connect(&server.address("kill"), PostgresOptions::default()).await.unwrap();
    let mut watch = store.watch(&Prefix::all(), &store.now().await.unwrap()).await.unwrap();
    let is_over = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> =
        (0..WRITERS).map(|writer| tokio::spawn(count(store.clone(), writer, is_over.clone()))).collect();
    for round in 0..rounds {
        sleep(Duration::from_millis(100 + 37 * (round % 7))).await;
        server.kill();
        server.resume().unwrap();
    }
    sleep(Duration::from_millis(300)).await;
    is_over.store(true, Ordering::Relaxed);
    let mut acknowledged = BTreeMap::new();
    for writer in writers {
        let of_writer = writer.await.unwrap();
        assert!(!of_writer.is_empty());
        acknowledged.extend(of_writer);
    }
    let head: u64 = loop {
        match store.now().await {
            Ok(now) => break now.as_str().parse().unwrap(),
            Err(error) => assert!(error.is_passing(), "{error}"),
        }
    };
    // The watch went through all of it, and tells every revision once.
    for expected in 2..=head {
        let event: Event = timeout(Duration::from_secs(60), watch.next()).await.expect("an event").unwrap();
        assert_eq!(event.revision.as_str(), expected.to_string());
        if let Some(count) = acknowledged.remove(&expected) {
            let (wheelwright_store::Change::Created(value) | wheelwright_store::Change::Replaced(value)) = event.change
            else {
                panic!("nothing was deleted")
            };
            assert_eq!(value, count.to_be_bytes());
        }
    }
    assert!(acknowledged.is_empty(), "lost: {acknowledged:?}");
}
