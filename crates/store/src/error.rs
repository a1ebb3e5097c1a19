//! How a store fails.

use std::{error::Error, fmt, time::Duration};

use crate::{Key, Revision};

/// What a store could not do.
#[derive(Debug)]
pub struct StoreError {
    kind: ErrorKind,
    message: String,
    cause: Option<Box<dyn Error + Send + Sync>>,
}

/// Why it could not.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The key has a value already.
    Exists,
    /// The key has no value.
    Missing,
    /// The key has another value, with this revision.
    Conflict(Revision),
    /// What happened since then, or how it was then, is forgotten: list again.
    TooOld,
    /// A continuation or cursor that this store never gave, or gave for something else.
    BadToken,
    /// The value is larger than the store takes.
    TooLarge,
    /// The store cannot be reached now, or is busy; nothing was written, and later it may do.
    Unavailable,
    /// Too much was asked of the store; after this time it may do. Nothing was written.
    Throttled(Duration),
    /// The answer to a write got lost: it has happened as a whole or not at all. Read to find out: a store answers this
    /// once it is decided, unless that takes longer than its patience.
    Unknown,
    /// There is no room left. Nothing was written.
    Full,
    /// The store can be read but not written.
    ReadOnly,
    /// What is there is damaged, or was never a store.
    Corrupt,
    /// A newer release wrote it, in a format that this one does not know.
    Newer,
    /// The store is not set up as it must be: a wrong address, a missing right.
    Setup,
}

impl StoreError {
    /// An error with what happened, in words: a fragment in lower case that says what to do about it, if that helps.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), cause: None }
    }

    /// The same, with what it comes from.
    #[must_use]
    pub fn because(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// The key has a value already.
    pub fn exists(key: &Key) -> Self {
        Self::new(ErrorKind::Exists, format!("{key} exists already"))
    }

    /// The key has no value.
    pub fn missing(key: &Key) -> Self {
        Self::new(ErrorKind::Missing, format!("{key} does not exist"))
    }

    /// The key has another value than expected.
    pub fn conflict(key: &Key, expected: &Revision, current: Revision) -> Self {
        let message = format!("{key} is at revision {current}, not {expected}; read it again");
        Self::new(ErrorKind::Conflict(current), message)
    }

    /// Why it failed.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// Whether the same call may do later although nobody changes anything.
    pub fn is_passing(&self) -> bool {
        matches!(self.kind, ErrorKind::Unavailable | ErrorKind::Throttled(_) | ErrorKind::Unknown)
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as &(dyn Error + 'static))
    }
}
