//! The PostgreSQL store against a private server.

mod conformance;
mod failures;
mod kill;
mod order;
mod reads;
mod setup;
mod support;
