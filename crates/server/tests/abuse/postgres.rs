//! Attacks on a server whose store is PostgreSQL: its records wait in connections, and are read by the page.

use std::time::Duration;

use tokio::task::JoinSet;

use crate::{
    memory::{create_long, deaf, long_note, many_watches},
    process::{Process, postgres},
    support::orders,
    work::{JSON, MERGE_PATCH, create_ledgers, create_orders, ledger, ledgers, repeat, request, withstands_at},
};

#[test]
fn merge_patches_of_long_objects() {
    let path = format!("{}/l0", ledgers());
    let short = request("PATCH", &path, "", MERGE_PATCH, r#"{"metadata":{"labels":{"a":"b"}}}"#);
    // Nearly 3 MiB.
    let long = request("PATCH", &path, "", MERGE_PATCH, &ledger("l0", 1_500_000));
    withstands_at(postgres, async |process| create_ledgers(process, 1, 1_500_000).await, &[(180, short), (20, long)]);
}

#[test]
fn lists_and_watches_that_are_not_read() {
    let path = orders("attacked");
    let selected = format!("{path}?fieldSelector=metadata.name!%3Dnone");
    Process::withstands(
        postgres,
        async |process| create_long(process, 20).await,
        async |process| {
            let mut held = deaf(process, 60, "GET", &path, "").await;
            held.extend(deaf(process, 30, "GET", &selected, "").await);
            held.extend(deaf(process, 40, "GET", &format!("{path}?watch=true"), "").await);
            let note = long_note();
            for number in 20..26 {
                let status = process.create(&format!("o{number}"), &note).await;
                // Others have to read first, or the answer has no room.
                assert!([201, 429].contains(&status), "{status}");
            }
            held
        },
    );
}

#[test]
fn many_watches_that_are_not_read_while_long_objects_are_written() {
    Process::withstands(postgres, async |_| {}, async |process| many_watches(process, 200).await);
}

#[test]
fn lists_and_deletions_of_collections_with_selectors() {
    let terms = ["a"; 31_000].join(",");
    let list = request("GET", &format!("{}?labelSelector={terms}", orders("attacked")), "", JSON, "");
    let short = request("DELETE", &format!("{}?dryRun=All&labelSelector=a", orders("attacked")), "", JSON, "");
    let long = request("DELETE", &format!("{}?labelSelector=a", ledgers()), "", JSON, "");
    withstands_at(
        postgres,
        async |process| {
            create_orders(process, 200).await;
            create_ledgers(process, 5, 400_000).await;
        },
        &[(100, list), (50, short), (50, long)],
    );
}

#[test]
fn long_objects_without_their_bodies() {
    let objects: Vec<String> =
        (0..25).map(|number| request("HEAD", &format!("{}/o{number}", orders("attacked")), "", JSON, "")).collect();
    Process::withstands(
        postgres,
        async |process| create_long(process, objects.len()).await,
        async |process| {
            let mut clients = JoinSet::new();
            for object in &objects {
                repeat(&mut clients, process, 10, Duration::from_millis(20), object);
            }
            clients
        },
    );
}
