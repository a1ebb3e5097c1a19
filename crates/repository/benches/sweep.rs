//! What a sweep costs: beside a bare loop of conditional replaces of the same records with the same concurrency, in the same
//! run. The run fails if the sweep has less than half the rate of the loop.

#![expect(clippy::print_stdout, reason = "a benchmark says what it measured")]
#![expect(clippy::unwrap_used, reason = "a benchmark that meets a surprise should stop right there")]

#[path = "../tests/repository/at_hub.rs"]
mod at_hub;

use std::{
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::{StreamExt, stream};
use wheelwright_repository::{Collection, Name, Repository, SweepOptions, Write};
use wheelwright_store::{Key, PageRequest, Store, Stored, testing::PostgresServer};

use at_hub::example_at;

const CONCURRENCY: usize = 64;

fn main() -> ExitCode {
    // `cargo test` builds and runs benchmarks too, with `--test`: there, one round shows that they work.
    let is_measured = std::env::args().any(|argument| argument == "--bench");
    let (records, rounds) = if is_measured { (20_000, 5) } else { (600, 1) };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let stores = [
        ("SQLite", format!("sqlite:{}", folder.path().join("store").display())),
        ("PostgreSQL", PostgresServer::shared().address("sweep_bench")),
    ];
    let ratios = stores.map(|(driver, address)| runtime.block_on(measure(driver, &address, records, rounds)));
    let is_missed = is_measured && ratios.iter().any(|ratio| *ratio < 0.5);
    if is_missed {
        println!("missed: a sweep should have at least half the rate of a bare loop");
    }
    if is_missed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Sweeps forth and back, with a bare loop after each; the best of each counts.
async fn measure(driver: &str, address: &str, records: usize, rounds: usize) -> f64 {
    let store: Arc<dyn Store> = wheelwright_store::open(address).await.unwrap().into();
    let at = |hub: &str| Repository::new(store.clone(), example_at("orders", hub)).kinds().next().unwrap();
    let (old, new) = (at("v1"), at("v3"));
    plant(&old, records).await;
    let (mut swept, mut looped) = (Duration::MAX, Duration::MAX);
    for round in 0..rounds {
        let collection = if round % 2 == 0 { &new } else { &old };
        let began = Instant::now();
        let options = SweepOptions { concurrency: CONCURRENCY, back: true, ..SweepOptions::default() };
        let status = collection.sweep(&options, |_| ()).await.unwrap();
        assert_eq!(status.counts.converted, records as u64);
        swept = swept.min(began.elapsed());
        let began = Instant::now();
        bare_loop(collection, &store).await;
        looped = looped.min(began.elapsed());
    }
    let rate = |took: Duration| records as f64 / took.as_secs_f64();
    let ratio = rate(swept) / rate(looped);
    println!("{driver}, {records} records, {CONCURRENCY} at once, best of {rounds}");
    println!("  bare loop of conditional replaces  {:>8.0}/s", rate(looped));
    println!("  sweep                              {:>8.0}/s  {ratio:.2} ×", rate(swept));
    ratio
}

async fn plant(old: &Collection, records: usize) {
    let created = stream::iter(0..records).map(|number| async move {
        let document = format!(
            r#"{{"apiVersion":"shop.example.com/v1","kind":"Order","metadata":{{"name":"o{number}"}},
            "spec":{{"city":"Ulm","street":"Main street {number}","coupon":"C{number}","qty":{number},
            "lines":[{{"sku":"B-{number}","gift":true}},{{"sku":"A-{number}","gift":false}}]}}}}"#
        );
        let name = Name::new(&format!("shop/o{number:06}")).unwrap();
        old.create(&name, Write::document("v1", document.as_bytes())).await.unwrap();
    });
    created.buffer_unordered(CONCURRENCY).collect::<Vec<_>>().await;
}

/// Reads every record and stores it again as it is.
async fn bare_loop(collection: &Collection, store: &Arc<dyn Store>) {
    let mut after = None;
    loop {
        let page = store.list(collection.kind().prefix(), PageRequest { limit: None, after }).await.unwrap();
        let replaced = stream::iter(page.items).map(|(key, stored): (Key, Stored)| async move {
            store.replace(&key, &stored.revision, stored.value).await.unwrap();
        });
        replaced.buffer_unordered(CONCURRENCY).collect::<Vec<_>>().await;
        match page.next {
            Some(next) => after = Some(next),
            None => return,
        }
    }
}
