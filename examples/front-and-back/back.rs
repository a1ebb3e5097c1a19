//! The back end: it knows the hub and no other version, watches all databases, and sees to each of them.
//!
//! `cargo run --example back -- --store sqlite:/tmp/databases.db`; it runs until it is stopped.

mod common;

use wheelwright::{
    repository::{Collection, Document, Part, RepositoryError, View, Write},
    store::{ErrorKind, PageRequest},
};

use crate::common::{Names, Outcome, open, print};

const HUB: Names = Names { gib: "/spec/storage/gib" };

#[tokio::main]
async fn main() -> Outcome<()> {
    let databases = open().await?.kind("Database")?;
    let listed = databases.list(None, PageRequest::default(), View::Hub).await?;
    let mut watch = databases.watch(None, &listed.cursor).await?;
    for document in listed.items {
        reconcile(&databases, document?).await?;
    }
    loop {
        let event = watch.next(View::Hub).await?;
        reconcile(&databases, event.document?).await?;
    }
}

/// Makes what is wanted of a database, and writes into its status that it is so.
async fn reconcile(databases: &Collection, document: Document) -> Outcome<()> {
    print("back", &document, &HUB)?;
    let json: serde_json::Value = serde_json::from_slice(&document.json)?;
    let wanted = json.pointer("/spec/replicas").unwrap_or(&serde_json::Value::Null);
    if json.pointer("/status/replicas") == Some(wanted) {
        return Ok(());
    }
    let status = format!(r#"{{"status":{{"replicas":{wanted},"phase":"Ready"}}}}"#);
    let version = document.version.as_str();
    let status = Write::merge_patch(version, status.as_bytes()).by_service().of(Part::Status);
    match databases.update(&document.name, &document.revision, status).await {
        Ok(written) => print("back", &written.document, &HUB),
        // Somebody has written it since, which the watch will tell.
        Err(RepositoryError::Store(error)) if matches!(error.kind(), ErrorKind::Conflict(_)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
