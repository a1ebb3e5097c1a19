//! What SQLite's errors mean to whoever uses the store.

use std::path::Path;

use rusqlite::{ErrorCode, ffi};

use super::disk;
use crate::{ErrorKind, StoreError};

/// What was being done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Doing {
    Open,
    Read,
    Write,
    Commit,
}

/// What can go wrong while the file is used: something with the file, or with what was asked.
#[derive(Debug)]
pub(super) enum Problem {
    Sql(rusqlite::Error),
    Store(StoreError),
}

impl From<rusqlite::Error> for Problem {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Problem {
    /// What whoever asked is told.
    pub(super) fn told(self, path: &Path, doing: Doing) -> StoreError {
        match self {
            Self::Sql(error) => failure(path, doing, &error),
            Self::Store(error) => error,
        }
    }

    /// Whether SQLite found that its database is damaged.
    pub(super) fn is_damage(&self) -> bool {
        matches!(self, Self::Sql(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt))
    }

    pub(super) fn is_busy(&self) -> bool {
        matches!(self, Self::Sql(error) if is_busy(error))
    }
}

/// Whether another connection is in the way, and will not be for long.
pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    use ErrorCode::{DatabaseBusy, DatabaseLocked, FileLockingProtocolFailed};
    matches!(error.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked | FileLockingProtocolFailed))
}

/// Whether a write of a database found no room: the disk is full, or the process may not have a larger file.
pub(super) fn is_full(path: &Path, error: &rusqlite::Error) -> bool {
    let extended = error.sqlite_error().map(|error| error.extended_code);
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => true,
        Some(ErrorCode::SystemIoFailure) => match extended {
            // The index of the write-ahead log could not grow.
            Some(ffi::SQLITE_IOERR_SHMSIZE) => true,
            Some(ffi::SQLITE_IOERR_WRITE) => disk::may_not_grow(path),
            _ => false,
        },
        _ => false,
    }
}

/// What SQLite's error means.
pub(super) fn failure(path: &Path, doing: Doing, error: &rusqlite::Error) -> StoreError {
    if is_full(path, error) {
        return disk::full(path).because(error.to_string());
    }
    let path = path.display();
    let (kind, message) = match error.sqlite_error_code() {
        None if matches!(error, rusqlite::Error::NulError(_) | rusqlite::Error::InvalidPath(_)) => {
            (ErrorKind::Setup, format!("{path} is no path of a file"))
        }
        Some(ErrorCode::ReadOnly) => {
            (ErrorKind::ReadOnly, format!("{path} cannot be written; allow it, for the file and its folder"))
        }
        Some(ErrorCode::DatabaseCorrupt) => {
            (ErrorKind::Corrupt, format!("{path} is damaged; put a backup in its place"))
        }
        Some(ErrorCode::NotADatabase) => (
            ErrorKind::Corrupt,
            format!("{path} is no SQLite database; name another file, or put a backup in its place"),
        ),
        Some(ErrorCode::TooBig) => (ErrorKind::TooLarge, format!("the value is too large for {path}")),
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) if doing == Doing::Open => {
            let message = format!("{path} cannot be opened; is there such a folder, and may it be written?");
            (ErrorKind::Setup, message)
        }
        // The commit may be in the write-ahead log although SQLite could not make sure of it, and be found there when the
        // machine starts again.
        Some(ErrorCode::SystemIoFailure) if doing == Doing::Commit => {
            (ErrorKind::Unknown, format!("it is not known whether {path} was written; read to find out"))
        }
        // The file has not what a store has: not a row of its own table, not the columns, not a text where there must be one.
        None | Some(ErrorCode::Unknown | ErrorCode::TypeMismatch | ErrorCode::ConstraintViolation) => {
            (ErrorKind::Corrupt, format!("{path} is not what a store left there; put a backup in its place"))
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed) => {
            (ErrorKind::Unavailable, format!("other processes keep {path} busy; try again"))
        }
        Some(_) if doing == Doing::Read => (ErrorKind::Unavailable, format!("{path} cannot be read now; try again")),
        Some(_) => (ErrorKind::Unavailable, format!("{path} cannot be written now; try again")),
    };
    StoreError::new(kind, message).because(error.to_string())
}
