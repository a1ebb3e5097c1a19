//! The PostgreSQL store against a private server.

#![expect(clippy::unwrap_used, reason = "a test that meets a surprise should stop right there")]

mod buckets;
mod cuts;
mod damage;
mod failures;
mod fsyncs;
mod full_disk;
mod kill;
mod order;
mod reads;
mod server;
mod setup;
mod silence;
mod support;
mod tls;
