//! The front end: it serves two versions, and shows every database as both of them.
//!
//! `cargo run --example front -- --store sqlite:/tmp/databases.db`, with the back end in another terminal. It plants records
//! of an older release, creates and patches databases through either version, and ends when the back end has seen to all.

mod common;

use std::time::Duration;

use wheelwright::{
    repository::{Collection, Document, Name, RepositoryError, View, Write},
    store::{ErrorKind, PageRequest, Store},
};

use crate::common::{Names, Outcome, folder, open, print};

const V1: Names = Names { gib: "/spec/storageGiB" };
const V2: Names = Names { gib: "/spec/storage/gib" };

#[tokio::main]
async fn main() -> Outcome<()> {
    let repository = open().await?;
    let databases = repository.kind("Database")?;
    for name in ["older-release", "omitempty"] {
        plant(&**repository.store(), &databases, &Name::new(name)?).await?;
    }
    for number in 0..20 {
        let name = Name::new(&format!("database-{number}"))?;
        write(&databases, &name, number).await?;
        show(&databases, &name).await?;
    }
    for name in ["older-release", "omitempty"] {
        write(&databases, &Name::new(name)?, 1).await?;
    }
    while !all_are_ready(&databases).await? {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

/// Stores what an older release has written, as it wrote it.
async fn plant(store: &dyn Store, databases: &Collection, name: &Name) -> Outcome<()> {
    let bytes = std::fs::read(folder().join("planted").join(format!("{name}.json")))?;
    match store.create(&databases.kind().key(name)?, bytes).await {
        Err(error) if *error.kind() == ErrorKind::Exists => {}
        planted => drop(planted?),
    }
    show(databases, name).await
}

/// Creates a database through one version, or patches the one that is there through the other.
async fn write(databases: &Collection, name: &Name, number: usize) -> Outcome<()> {
    let (version, api_version) = [("v1", "data.example.com/v1"), ("v2", "data.example.com/v2")][number % 2];
    let spec = [r#"{"backups":false}"#, r#"{"storage":{"gib":64}}"#, r#"{"replicas":0}"#][number % 3];
    let json = format!(r#"{{"apiVersion":"{api_version}","kind":"Database","spec":{spec}}}"#);
    match databases.create(name, Write::document(version, json.as_bytes())).await {
        Err(RepositoryError::Store(error)) if *error.kind() == ErrorKind::Exists => {}
        created => drop(created?),
    }
    show(databases, name).await?;
    let (other, patch) = match version {
        "v1" => ("v2", format!(r#"{{"spec":{{"storage":{{"gib":{}}}}}}}"#, number + 1)),
        _ => ("v1", format!(r#"{{"spec":{{"replicas":{number}}}}}"#)),
    };
    let patched = databases.patch(name, Write::merge_patch(other, patch.as_bytes())).await?;
    let names = if other == "v1" { V1 } else { V2 };
    print("front", &patched.document, &names)
}

/// Shows a database as both versions.
async fn show(databases: &Collection, name: &Name) -> Outcome<()> {
    for (version, names) in [("v1", V1), ("v2", V2)] {
        if let Some(document) = databases.get(name, View::Version(version)).await? {
            print("front", &document, &names)?;
        }
    }
    Ok(())
}

/// Shows all databases as both versions, and says whether the back end has seen to each.
async fn all_are_ready(databases: &Collection) -> Outcome<bool> {
    let mut is_ready = true;
    for (version, names) in [("v1", V1), ("v2", V2)] {
        let mut page = PageRequest::default();
        loop {
            let listed = databases.list(None, page, View::Version(version)).await?;
            for document in listed.items {
                let document = document?;
                is_ready &= is_reconciled(&document)?;
                print("front", &document, &names)?;
            }
            match listed.next {
                Some(next) => page = PageRequest { after: Some(next), ..PageRequest::default() },
                None => break,
            }
        }
    }
    Ok(is_ready)
}

fn is_reconciled(document: &Document) -> Outcome<bool> {
    let json: serde_json::Value = serde_json::from_slice(&document.json)?;
    Ok(json.pointer("/status/replicas") == json.pointer("/spec/replicas"))
}
