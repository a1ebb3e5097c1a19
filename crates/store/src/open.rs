//! Which driver an address is for.

use crate::{ErrorKind, Store, StoreError};

/// Opens the store at an address, with the driver that its beginning names: `sqlite:PATH` or `postgres://…`.
/// PostgreSQL needs a tokio runtime.
///
/// # Errors
/// [`Setup`](ErrorKind::Setup) for an address that no driver is for; otherwise as the driver does.
pub async fn open(address: &str) -> Result<Box<dyn Store>, StoreError> {
    #[cfg(feature = "sqlite")]
    if let Some(path) = address.strip_prefix("sqlite:").filter(|path| !path.is_empty()) {
        let store = crate::Sqlite::open(path, crate::SqliteOptions::default())?;
        return Ok(Box::new(store));
    }
    #[cfg(feature = "postgres")]
    if address.starts_with("postgres://") || address.starts_with("postgresql://") {
        let store = crate::Postgres::connect(address, crate::PostgresOptions::default()).await?;
        return Ok(Box::new(store));
    }
    let beginning = address.split_once(':').map_or(address, |(beginning, _)| beginning);
    let message = format!("no store is at {beginning:?}; write sqlite:PATH or postgres://USER@HOST/DATABASE");
    Err(StoreError::new(ErrorKind::Setup, message))
}
