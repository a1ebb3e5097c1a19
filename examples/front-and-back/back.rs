//! The back end: it knows the hub and no other version, watches all databases, and sees to each of them.
//!
//! `cargo run --example back -- --store sqlite:/tmp/databases.db`; it runs until it is stopped.

mod common;

use std::io::Write as _;

use wheelwright::{
    repository::{Collection, Document, DocumentChange, Part, RepositoryError, View, Write},
    store::{Cursor, ErrorKind, PageRequest},
};

use crate::common::{Names, Outcome, open, print};

/// How many databases are listed at a time.
const PAGE: usize = 8;

const HUB: Names = Names { gib: "/spec/storage/gib" };

#[tokio::main]
async fn main() -> Outcome<()> {
    let databases = open().await?.kind("Database")?;
    let listed_at = see_to_all(&databases).await?;
    let mut watch = databases.watch(None, &listed_at).await?;
    loop {
        let event = watch.next(View::Hub).await?;
        if event.change != DocumentChange::Deleted {
            see_to(&databases, event.document).await?;
        }
    }
}

/// Sees to what is there, page by page; says at which moment that was.
async fn see_to_all(databases: &Collection) -> Outcome<Cursor> {
    let (mut after, mut first) = (None, None);
    loop {
        let listed = databases.list(None, PageRequest { limit: Some(PAGE), after }, View::Hub).await?;
        let listed_at = first.get_or_insert(listed.cursor).clone();
        for document in listed.items {
            see_to(databases, document).await?;
        }
        match listed.next {
            Some(next) => after = Some(next),
            None => return Ok(listed_at),
        }
    }
}

/// Sees to a database; to one that cannot be opened, somebody else must, and all others need not wait for that.
async fn see_to(databases: &Collection, document: Result<Document, RepositoryError>) -> Outcome<()> {
    match document {
        Ok(document) => reconcile(databases, document).await,
        Err(error) => Ok(writeln!(std::io::stderr(), "back: {error}")?),
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
        // Somebody has written or removed it since, which the watch will tell.
        Err(RepositoryError::Store(error)) if matches!(error.kind(), ErrorKind::Conflict(_) | ErrorKind::Missing) => {
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}
