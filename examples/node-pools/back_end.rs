//! The back end: it knows the hub and no other version, and does what customers asked for.
//!
//! `cargo run --example node-pools-back-end -- --store sqlite:wheelwright.db`; it runs until it is stopped.

use std::{
    env,
    error::Error,
    io::{self, Write as _},
    path::Path,
    sync::Arc,
};

use wheelwright::{
    Console, Kinds,
    catalog::OnDisk,
    repository::{Collection, Document, DocumentChange, Repository, RepositoryError, View},
    store::{self, Cursor, ErrorKind, PageRequest},
};

type Outcome<T> = Result<T, Box<dyn Error>>;

#[tokio::main]
async fn main() -> Outcome<()> {
    let pools = open().await?.kind("NodePool")?;
    let mut watch = pools.watch(None, &see_to_all(&pools).await?).await?;
    loop {
        let event = watch.next(View::Hub).await?;
        if event.change != DocumentChange::Deleted {
            see_to(&pools, event.document).await?;
        }
    }
}

/// The store that `--store` names, with the kinds of the example.
async fn open() -> Outcome<Repository> {
    let mut arguments = env::args().skip_while(|argument| argument != "--store").skip(1);
    let address = arguments.next().ok_or("say where the pools are: --store sqlite:PATH or postgres://…")?;
    let (mut data, mut conversation) = (io::stdout(), io::stderr());
    let mut console = Console::plain(&mut data, &mut conversation);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/node-pools");
    let kinds = Kinds::load(&OnDisk::default(), &[folder], &mut console)?;
    let kinds = kinds.map_err(|_| "the catalog has errors")?.into_served()?;
    let store: Arc<dyn store::Store> = store::open(&address).await?.into();
    Ok(Repository::new(store, kinds))
}

/// Sees to what is there, page by page; says at which moment that was.
async fn see_to_all(pools: &Collection) -> Outcome<Cursor> {
    let (mut after, mut first) = (None, None);
    loop {
        let listed = pools.list(None, PageRequest { limit: Some(100), after }, View::Hub).await?;
        let listed_at = first.get_or_insert(listed.cursor).clone();
        for document in listed.items {
            see_to(pools, document).await?;
        }
        match listed.next {
            Some(next) => after = Some(next),
            None => return Ok(listed_at),
        }
    }
}

/// Does what is asked for. A pool that cannot be opened is somebody else's to mend; the others need not wait for that.
async fn see_to(pools: &Collection, document: Result<Document, RepositoryError>) -> Outcome<()> {
    let document = match document {
        Ok(document) => document,
        Err(error) => return Ok(writeln!(io::stderr(), "back end: {error}")?),
    };
    let (name, revision) = (&document.name, &document.revision);
    // Here machines would be started and stopped; the document has all values for it, defaults included.
    let done = match document.metadata.provisioning_state.as_deref() {
        Some("Accepted" | "Provisioning" | "Updating") => {
            let succeeded = pools.update_metadata(name, revision, |metadata, _| {
                metadata.provisioning_state = Some("Succeeded".into());
            });
            succeeded.await.map(|_| "Succeeded")
        }
        Some("Deleting") => pools.delete(name, revision).await.map(|_| "deleted"),
        _ => return Ok(()),
    };
    match done {
        Ok(what) => {
            let json: serde_json::Value = serde_json::from_slice(&document.json)?;
            let (size, repair) = (&json["properties"]["platform"]["vmSize"], &json["properties"]["autoRepair"]);
            writeln!(io::stdout(), "{name}: vmSize {size}, autoRepair {repair}: {what}")?;
            Ok(io::stdout().flush()?)
        }
        // Somebody has written or removed it since, which the watch will tell.
        Err(RepositoryError::Store(error)) if matches!(error.kind(), ErrorKind::Conflict(_) | ErrorKind::Missing) => {
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}
