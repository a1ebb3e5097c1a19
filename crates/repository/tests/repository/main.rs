//! What clients of a repository can rely on, against a store in memory.

mod adoption;
mod clusters;
mod external;
mod external_failures;
mod mixed;
mod reads_and_writes;
mod records;
mod rollout;
mod support;
mod sweep;
