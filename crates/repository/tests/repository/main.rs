//! What clients of a repository can rely on, against a store in memory.

mod golden;
mod mixed;
mod reads_and_writes;
mod support;
mod sweep;
