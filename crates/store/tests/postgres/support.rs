//! Stores and bare connections of a test.

use std::time::Duration;

use tokio_postgres::{Client, NoTls};
use wheelwright_store::{Key, Postgres, PostgresOptions, testing::PostgresServer};

/// A store in a schema of the shared server.
pub(crate) async fn store(schema: &str) -> Postgres {
    store_with(schema, PostgresOptions::default()).await
}

pub(crate) async fn store_with(schema: &str, options: PostgresOptions) -> Postgres {
    Postgres::connect(&PostgresServer::shared().address(schema), options).await.unwrap()
}

/// Hints only: nobody asks before a test is over.
pub(crate) fn hints_only() -> PostgresOptions {
    PostgresOptions { poll_interval: Duration::from_secs(600), ..PostgresOptions::default() }
}

/// No hints.
pub(crate) fn polls_only() -> PostgresOptions {
    PostgresOptions { hints: false, poll_interval: Duration::from_millis(20), ..PostgresOptions::default() }
}

/// The server beside the store.
pub(crate) async fn bare() -> Client {
    bare_of(PostgresServer::shared()).await
}

pub(crate) async fn bare_of(server: &PostgresServer) -> Client {
    let address = format!("postgres://postgres@127.0.0.1:{}/postgres", server.port());
    let (client, connection) = tokio_postgres::connect(&address, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// The address of a schema for a user who may do nothing but connect.
pub(crate) async fn address_of_user(schema: &str, user: &str) -> String {
    bare().await.batch_execute(&format!("CREATE ROLE {user} LOGIN")).await.unwrap();
    PostgresServer::shared().address(schema).replace("postgres@", &format!("{user}@"))
}

pub(crate) fn key(text: impl Into<String>) -> Key {
    Key::new(text.into()).unwrap()
}
