//! Which driver an address is for.

#[cfg(feature = "sqlite")]
use std::path::Path;
use std::path::PathBuf;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
use std::time::Duration;

use crate::{ErrorKind, Store, StoreError};

/// Opens the store at an address, with the driver that its beginning names: `sqlite:PATH` or `postgres://…`. One that is not
/// there is made. PostgreSQL needs a tokio runtime.
///
/// # Errors
/// [`Setup`](ErrorKind::Setup) for an address that no driver is for; otherwise as the driver does.
pub async fn open(address: &str) -> Result<Box<dyn Store>, StoreError> {
    open_or_make(address, Purpose::Create).await
}

/// As [`open`], for a server whose process may use so much memory: a store uses about an eighth of it for values that wait to
/// be written and for pages of the file.
///
/// A SQLite store keeps room back on its disk, so that documents can be deleted when it is full.
///
/// # Errors
/// As for [`open`].
#[cfg_attr(
    not(any(feature = "sqlite", feature = "postgres")),
    expect(unused_variables, reason = "without drivers there is nothing to open")
)]
pub async fn open_to_serve(address: &str, memory_bytes: usize) -> Result<Box<dyn Store>, StoreError> {
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    let waiting_bytes = crate::room::BYTES.min(memory_bytes / 8);
    #[cfg(feature = "sqlite")]
    if let Some(path) = path_of(address, true)? {
        let options = crate::SqliteOptions {
            reserve_bytes: crate::sqlite::disk::RESERVE,
            waiting_bytes,
            cache_bytes: crate::sqlite::CACHE_BYTES.min(memory_bytes / 256),
            ..crate::SqliteOptions::default()
        };
        return Ok(Box::new(crate::Sqlite::open(path, options)?));
    }
    #[cfg(feature = "postgres")]
    if is_postgres(address) {
        let options = crate::PostgresOptions { waiting_bytes, ..crate::PostgresOptions::default() };
        return Ok(Box::new(crate::Postgres::connect(address, options).await?));
    }
    Err(no_driver(address))
}

/// As [`open`], but a store that is not there is not made.
///
/// # Errors
/// [`Setup`](ErrorKind::Setup) if there is no store; otherwise as for [`open`].
pub async fn open_existing(address: &str) -> Result<Box<dyn Store>, StoreError> {
    open_or_make(address, Purpose::Existing).await
}

/// As [`open_existing`], for finding earlier revisions of damaged values: this process removes no history.
///
/// # Errors
/// As for [`open_existing`].
pub async fn open_to_repair(address: &str) -> Result<Box<dyn Store>, StoreError> {
    open_or_make(address, Purpose::Repair).await
}

/// The files that the store at an address uses or may use: none for databases.
pub fn files_of(address: &str) -> Vec<PathBuf> {
    #[cfg(feature = "sqlite")]
    if let Ok(Some(path)) = path_of(address, true) {
        return crate::sqlite::disk::files_of(Path::new(path));
    }
    let _ = address;
    Vec::new()
}

/// Copies the store at an address, as it is now, to a new file, while others write to it.
///
/// # Errors
/// [`Setup`](ErrorKind::Setup) if there is no store or the file is there already, and for databases that have tools of their
/// own for this; otherwise as reads and writes do.
#[cfg(feature = "sqlite")]
pub fn backup(address: &str, to: &Path) -> Result<(), StoreError> {
    if let Some(path) = path_of(address, false)? {
        return crate::Sqlite::open(path, crate::SqliteOptions::default())?.backup(to);
    }
    if is_postgres(address) {
        let message = "PostgreSQL has a tool of its own for this: pg_dump --schema wheelwright DATABASE";
        return Err(StoreError::new(ErrorKind::Setup, message));
    }
    Err(no_driver(address))
}

/// Copies what is certain of the damaged SQLite store at an address to a new file.
///
/// # Errors
/// As [`Sqlite::salvage`](crate::Sqlite::salvage) does; [`Setup`](ErrorKind::Setup) for stores that are not in SQLite.
#[cfg(feature = "sqlite")]
pub fn salvage(address: &str, to: &Path) -> Result<crate::Salvaged, StoreError> {
    match path_of(address, false)? {
        Some(path) => crate::Sqlite::salvage(path, to),
        None if is_postgres(address) => {
            Err(StoreError::new(ErrorKind::Setup, "PostgreSQL has tools of its own for this: restore a backup"))
        }
        None => Err(no_driver(address)),
    }
}

#[cfg_attr(
    not(any(feature = "sqlite", feature = "postgres")),
    expect(unused_variables, reason = "without drivers there is nothing to make")
)]
async fn open_or_make(address: &str, purpose: Purpose) -> Result<Box<dyn Store>, StoreError> {
    #[cfg(feature = "sqlite")]
    if let Some(path) = path_of(address, purpose == Purpose::Create)? {
        let mut options = crate::SqliteOptions::default();
        if purpose == Purpose::Repair {
            options.history = WHOLE_HISTORY;
        }
        return Ok(Box::new(crate::Sqlite::open(path, options)?));
    }
    #[cfg(feature = "postgres")]
    if is_postgres(address) {
        let mut options =
            crate::PostgresOptions { create: purpose == Purpose::Create, ..crate::PostgresOptions::default() };
        if purpose == Purpose::Repair {
            options.history = WHOLE_HISTORY;
        }
        let store = crate::Postgres::connect(address, options).await?;
        return Ok(Box::new(store));
    }
    Err(no_driver(address))
}

/// Longer than any store has existed.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
const WHOLE_HISTORY: Duration = Duration::from_secs(50 * 365 * 24 * 60 * 60);

/// What a store is opened for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// It is created if it does not exist.
    Create,
    Existing,
    Repair,
}

/// The file of a SQLite database, which must be there unless it may be made.
#[cfg(feature = "sqlite")]
fn path_of(address: &str, make: bool) -> Result<Option<&str>, StoreError> {
    let Some(path) = address.strip_prefix("sqlite:").filter(|path| !path.is_empty()) else { return Ok(None) };
    // Two slashes are how the addresses of servers begin; who means a file of the root folder writes one or three.
    if path.starts_with("//") && !path.starts_with("///") {
        let file = path.trim_start_matches('/');
        let message =
            format!("sqlite:{path} names no file; write sqlite:{file}, or sqlite:/{file} for one in the root folder");
        return Err(StoreError::new(ErrorKind::Setup, message));
    }
    if Path::new(path).is_dir() {
        return Err(StoreError::new(ErrorKind::Setup, format!("{path} is a folder; name a file in it")));
    }
    // SQLite takes an empty file for a new database.
    if !make && std::fs::metadata(path).map_or(0, |file| file.len()) == 0 {
        return Err(StoreError::new(ErrorKind::Setup, format!("there is no store {path}")));
    }
    Ok(Some(path))
}

#[cfg(any(feature = "sqlite", feature = "postgres"))]
fn is_postgres(address: &str) -> bool {
    address.starts_with("postgres://") || address.starts_with("postgresql://")
}

fn no_driver(address: &str) -> StoreError {
    let beginning = address.split_once(':').map_or(address, |(beginning, _)| beginning);
    let message = format!("no store is at {beginning:?}; write sqlite:PATH or postgres://USER@HOST/DATABASE");
    StoreError::new(ErrorKind::Setup, message)
}
