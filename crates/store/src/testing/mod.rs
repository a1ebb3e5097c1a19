//! What tests of stores need beside a store.

mod postgres_server;

pub use postgres_server::PostgresServer;
