//! Errors of the store: what clients are told, and what the log says.

use std::error::Error as _;

use wheelwright_repository::{ErrorKind, StoreError};

/// What clients are told of a store that fails. Where it is and how it is reached is nothing to them.
pub(crate) fn told(error: &StoreError) -> &'static str {
    match error.kind() {
        ErrorKind::Unavailable => "the store cannot be used right now; try again",
        ErrorKind::ReadOnly => "the store cannot be written to",
        ErrorKind::Throttled(_) => "the store has too much to do; try again later",
        ErrorKind::Unknown => "the store did not answer; nobody knows whether it was done, so read first",
        ErrorKind::Full => "the store is full; documents can still be read and deleted",
        _ => "the store fails; the log of the server says why",
    }
}

/// The error and its cause, for the log.
pub(crate) fn cause(error: &StoreError) -> Box<str> {
    match error.source() {
        Some(source) => format!("{error}: {source}").into(),
        None => error.to_string().into(),
    }
}
