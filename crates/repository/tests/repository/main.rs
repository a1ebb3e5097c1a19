//! What clients of a repository can rely on, against a store in memory.

#![expect(clippy::unwrap_used, reason = "a test that meets a surprise should stop right there")]

mod at_hub;
mod mixed;
mod reads_and_writes;
mod support;
mod sweep;
