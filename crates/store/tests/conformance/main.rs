//! The suite against SQLite and memory, and against stores that are unlike ours, or wrong. PostgreSQL's tests run it too.

#![expect(clippy::unwrap_used, reason = "a test that meets a surprise should stop right there")]

mod memory;
mod mutants;
mod partitioned;
mod sqlite;
