//! Copies of a store, made while it is used.

use std::{
    ffi::{OsStr, OsString},
    fs,
    hash::{BuildHasher, Hasher, RandomState},
    io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use rusqlite::{
    Connection,
    backup::{Backup, StepResult},
    ffi,
};

use super::{
    failure::{Doing, Problem, is_full},
    file::{File, sync_folder_of, text, waiting},
    private,
};
use crate::{ErrorKind, StoreError};

/// Why there can be no backup.
pub(super) const TAKEN: &str = "there is such a file; name another one";

impl File {
    /// Copies the file as it is now.
    pub(super) fn backup(&self, to: &Path) -> Result<(), StoreError> {
        let setup = |message: &str| StoreError::new(ErrorKind::Setup, format!("{}: {message}", to.display()));
        if to.exists() {
            return Err(setup(TAKEN));
        }
        let Some(mut unfinished) = unfinished(to) else {
            return Err(setup("a backup needs the name of a file"));
        };
        remove_abandoned(to, to.file_name().unwrap_or_default());
        let copied = self.copy(&unfinished).and_then(|()| finish(&unfinished, to));
        // It is gone if it was moved. And whatever it was that failed says more than that this does too.
        let _ = fs::remove_file(&unfinished);
        // Where a write fails for a size limit, SQLite leaves its journal.
        unfinished.as_mut_os_string().push("-journal");
        let _ = fs::remove_file(&unfinished);
        copied
    }

    fn copy(&self, to: &Path) -> Result<(), StoreError> {
        let told = |error: rusqlite::Error| Problem::from(error).told(to, Doing::Open);
        // If it fails, then SQLite fails too and reports why.
        let _ = private::create(to);
        let mut copy = Connection::open(to).map_err(told)?;
        // The waiting is done here, since SQLite does not wait for everything that can be in the way.
        copy.busy_timeout(Duration::ZERO).map_err(told)?;
        self.read(|connection| {
            // In one step, which is one moment: in several, every write between two of them would begin it anew. Writers
            // do not wait for it.
            let backup = Backup::new(connection, &mut copy)?;
            waiting(self.options.busy_timeout, || match backup.step(-1) {
                Ok(StepResult::Done) => Ok(()),
                Ok(_) => Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_BUSY), None).into()),
                // There is no room where it is written to.
                Err(error) if is_full(to, &error) => Err(told(error).into()),
                Err(error) => Err(error.into()),
            })
        })?;
        // Pages are copied without a look at them, and a damaged copy may be put in the place of a good one.
        let found = copy.query_one("PRAGMA quick_check(1)", (), text).map_err(told)?;
        if found != "ok" {
            let path = self.path.display();
            let message = format!("{path} is damaged, and no backup was made of it; put an older one in its place");
            return Err(StoreError::new(ErrorKind::Corrupt, message).because(found));
        }
        copy.close().map_err(|(_, error)| told(error))
    }
}

/// The name of a new file while it is incomplete; none if it has no name. No other process writes to it.
pub(super) fn unfinished(to: &Path) -> Option<PathBuf> {
    let mut unfinished = OsString::from(".");
    unfinished.push(to.file_name()?);
    unfinished.push(format!(".{:016x}.unfinished", RandomState::new().build_hasher().finish()));
    Some(to.with_file_name(unfinished))
}

/// Gives a complete file its name.
pub(super) fn finish(unfinished: &Path, to: &Path) -> Result<(), StoreError> {
    let setup = |message: &str| StoreError::new(ErrorKind::Setup, format!("{}: {message}", to.display()));
    put(unfinished, to).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => setup(TAKEN),
        _ => setup("the file cannot be put there").because(error),
    })?;
    sync_folder_of(to);
    Ok(())
}

/// Removes the unfinished backups of a name that killed processes left. One that is written still is newer.
fn remove_abandoned(to: &Path, name: &OsStr) {
    const ABANDONED: Duration = Duration::from_secs(60 * 60);
    let beginning = format!(".{}.", name.display());
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let file = entry.file_name();
        let Some(rest) = file.to_str().and_then(|file| file.strip_prefix(&beginning)) else { continue };
        let (id, ending) = rest.split_at_checked(16).unwrap_or_default();
        let is_ours = id.bytes().all(|digit| digit.is_ascii_hexdigit()) && ending.starts_with(".unfinished");
        let is_old = |changed: SystemTime| changed.elapsed().is_ok_and(|age| age > ABANDONED);
        if is_ours && entry.metadata().and_then(|file| file.modified()).is_ok_and(is_old) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Gives a file a name that no other file has.
fn put(file: &Path, name: &Path) -> io::Result<()> {
    match fs::hard_link(file, name) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => put_without_link(file, name),
        result => result,
    }
}

/// The same where a file cannot have two names. Moving it would replace another file, so the name is taken first.
fn put_without_link(file: &Path, name: &Path) -> io::Result<()> {
    fs::File::create_new(name)?;
    fs::rename(file, name).inspect_err(|_| {
        // What is there is empty, and nobody's.
        let _ = fs::remove_file(name);
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::{
        SqliteOptions,
        format::{Content, check},
    };

    fn store(folder: &Path) -> (File, Connection) {
        let options = SqliteOptions { busy_timeout: Duration::from_millis(50), ..SqliteOptions::default() };
        File::open(&folder.join("store"), options).unwrap()
    }

    #[test]
    fn a_copy_that_cannot_be_written_now_is_not_taken_for_one() {
        let folder = tempfile::tempdir().unwrap();
        let ((file, _writer), to) = (store(folder.path()), folder.path().join("copy"));
        let other = Connection::open(&to).unwrap();
        other.execute_batch("BEGIN EXCLUSIVE").unwrap();
        assert_eq!(file.copy(&to).unwrap_err().kind(), &ErrorKind::Unavailable);
        other.execute_batch("ROLLBACK").unwrap();
        file.copy(&to).unwrap();
        assert!(check(&Connection::open(&to).unwrap(), &to).is_ok_and(|content| content == Content::Store));
    }

    #[test]
    fn a_file_never_takes_the_place_of_another() {
        let folder = tempfile::tempdir().unwrap();
        for put in [put, put_without_link] {
            let [file, taken, free] = ["file", "taken", "free"].map(|name| folder.path().join(name));
            fs::write(&file, "new").unwrap();
            fs::write(&taken, "precious").unwrap();
            assert_eq!(put(&file, &taken).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(fs::read_to_string(&taken).unwrap(), "precious");
            put(&file, &free).unwrap();
            assert_eq!(fs::read_to_string(&free).unwrap(), "new");
            fs::remove_file(&free).unwrap();
        }
    }
}
