//! The lock file on disk: read as a whole, and replaced as a whole.

use std::{io, path::Path};

use crate::{Input, Origin, Source, Unreadable, replace_file};

/// What the lock of a folder is called.
pub const LOCK_FILE: &str = "wheelwright.lock";

/// Reads the lock of a folder; `None` if it has none.
///
/// # Errors
/// It is there and cannot be read.
pub fn read_lock(source: &dyn Source, folder: &Path) -> Result<Option<Input>, Unreadable> {
    let path = folder.join(LOCK_FILE);
    let name = source.display(&path);
    match source.read(&path) {
        Ok(bytes) => Ok(Some(Input { name, bytes, origin: Origin::Ours, tree: None })),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Unreadable { name, error }),
    }
}

/// Replaces a lock, as [`replace_file`] does.
///
/// # Errors
/// As of [`replace_file`].
pub fn write_lock(path: &Path, text: &str) -> io::Result<()> {
    replace_file(path, text)
}
