//! What clients of a repository can rely on, against a store in memory.

mod conflicts;
mod damaged;
mod golden;
mod mixed;
mod reads_and_writes;
mod rules;
mod support;
mod sweep;
mod watching;
