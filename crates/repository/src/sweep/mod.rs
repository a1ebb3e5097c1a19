//! Sweeps: bringing every record to the hub of today.

mod rewrite;
