//! How much room a store has on its disk.

use std::{ffi::OsString, fs, path::Path};

use crate::{ErrorKind, StoreError};

/// That there is no room for a database, and why.
pub(super) fn full(path: &Path) -> StoreError {
    let shown = path.display();
    let message = if is_at_size_limit(path) {
        format!("{shown} has reached the file size limit of the process; raise it (ulimit -f)")
    } else {
        format!("the disk that holds {shown} is full; make room, or delete documents")
    };
    StoreError::new(ErrorKind::Full, message)
}

/// Whether a file of a database is as large as the process may have one, give or take a few pages.
#[cfg(unix)]
pub(super) fn is_at_size_limit(path: &Path) -> bool {
    const PAGES: u64 = 4 * 4096;
    let Some(limit) = rustix::process::getrlimit(rustix::process::Resource::Fsize).current else { return false };
    let is_at_limit = |suffix| {
        let mut path = OsString::from(path);
        path.push(suffix);
        fs::metadata(path).is_ok_and(|file| file.len() + PAGES > limit)
    };
    ["", "-wal", "-journal"].into_iter().any(is_at_limit)
}

/// Other systems have no such limit.
#[cfg(not(unix))]
pub(super) fn is_at_size_limit(_: &Path) -> bool {
    false
}
