//! Trouble with the store: clients are told what it means to them, and the log what it is.

use wheelwright_repository::{ErrorKind, StoreError};

/// What clients are told of a store that fails. Where it is and how it is reached is nothing to them.
pub(crate) fn told(error: &StoreError) -> &'static str {
    let cause = std::error::Error::source(error).map(ToString::to_string);
    tracing::error!(%error, cause, "the store fails");
    match error.kind() {
        ErrorKind::Unavailable => "the store cannot be used right now; try again",
        ErrorKind::ReadOnly => "the store cannot be written to",
        ErrorKind::Throttled(_) => "the store has too much to do; try again later",
        ErrorKind::Unknown => "the store did not answer; nobody knows whether it was done, so read first",
        ErrorKind::Full => "the store is full; documents can still be read and deleted",
        _ => "the store fails; the log of the server says why",
    }
}
