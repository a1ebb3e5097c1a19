//! The PostgreSQL store against a private server.

mod conformance;
mod cuts;
mod failures;
mod fsyncs;
mod kill;
mod order;
mod reads;
mod setup;
mod support;
