//! Every driver against the suite, and the suite against stores that are unlike ours, or wrong.

mod memory;
mod mutants;
mod partitioned;
mod postgres;
mod sqlite;
