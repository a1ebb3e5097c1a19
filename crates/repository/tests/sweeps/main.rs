//! A sweep in a real store, by several processes that are killed again and again, while others write.
//!
//! `WHEELWRIGHT_SWEEP_RECORDS` says how many records there are.

#![expect(clippy::print_stderr, reason = "a trial says what it took")]
#![expect(clippy::unwrap_used, reason = "a test that meets a surprise should stop right there")]

#[path = "../repository/at_hub.rs"]
mod at_hub;
mod instance;
mod trial;

use wheelwright_store::testing::PostgresServer;

/// How many records are swept.
fn records() -> usize {
    let records = std::env::var("WHEELWRIGHT_SWEEP_RECORDS").ok();
    records.map_or(5_000, |records| records.parse().expect("WHEELWRIGHT_SWEEP_RECORDS is a number"))
}

/// The process that the other tests start; it is no test of its own.
#[test]
fn instance() {
    instance::run_if_asked();
}

#[test]
fn every_record_in_a_sqlite_file_is_converted_once_whoever_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let address = |name: &str| format!("sqlite:{}", folder.path().join(name).display());
    trial::memory_is_flat("SQLite", address, records());
}

#[test]
fn every_record_in_postgresql_is_converted_once_whoever_is_killed() {
    trial::memory_is_flat("PostgreSQL", |name| PostgresServer::shared().address(name), records());
}
