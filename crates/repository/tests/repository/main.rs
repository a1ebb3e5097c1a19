//! What clients of a repository can rely on, against a store in memory.

#![expect(clippy::unwrap_used, reason = "a test that meets a surprise should stop right there")]

mod adoption;
mod at_hub;
mod clusters;
mod conflicts;
mod damaged;
mod external;
mod external_failures;
mod golden;
mod lists;
mod mixed;
mod protocols;
mod reads_and_writes;
mod records;
mod repair;
mod rollout;
mod rules;
mod service;
mod size;
mod support;
mod sweep;
mod unchecked;
mod watching;
