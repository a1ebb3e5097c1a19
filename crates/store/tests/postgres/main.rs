//! The PostgreSQL store against a private server.

mod failures;
mod kill;
mod order;
mod reads;
mod setup;
mod support;
