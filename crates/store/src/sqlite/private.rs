//! New files are for their owner alone.

use std::{
    fs::OpenOptions,
    io,
    path::Path,
    sync::{Mutex, PoisonError},
};

/// Creates an empty file with mode 0600, whatever the umask, unless there is a file; that one keeps its mode. Returns whether
/// there was none.
///
/// SQLite takes an empty file for a new database, and gives `-wal`, `-shm` and `-journal` the mode of the database.
pub(super) fn create(path: &Path) -> io::Result<bool> {
    // Closing a file gives up every lock that this process has on it, so no other thread may have SQLite open it meanwhile.
    static CREATING: Mutex<()> = Mutex::new(());
    let _creating = CREATING.lock().unwrap_or_else(PoisonError::into_inner);
    if path.exists() {
        return Ok(false);
    }
    let mut options = OpenOptions::new();
    // Not `create_new`, which refuses a link to a file that is yet to be created.
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(|_| true)
}
