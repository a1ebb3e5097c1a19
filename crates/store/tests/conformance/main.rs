//! The suite against every driver, and against stores that are unlike ours, or wrong.

#![expect(clippy::unwrap_used, reason = "a test that meets a surprise should stop right there")]

mod memory;
mod mutants;
mod partitioned;
mod postgres;
mod sqlite;
