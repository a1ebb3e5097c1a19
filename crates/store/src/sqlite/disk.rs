//! How much room a store has on its disk.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
};

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

/// Less free room than this is none: the store is not ready, and takes nothing but deletes.
const MARGIN: u64 = 1 << 20;

/// The room that a server keeps back: the largest values twice, in the write-ahead log and in the file.
pub(crate) const RESERVE: u64 = 8 << 20;

/// Whether the disk of a store takes so many bytes of values: in the write-ahead log, and in the file when that is moved there.
pub(super) fn has_room(path: &Path, bytes: usize) -> bool {
    free_bytes(path).is_none_or(|free| free >= MARGIN + 2 * bytes as u64)
}

/// How many bytes can be written to the disk of a file.
#[cfg(unix)]
fn free_bytes(path: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(path).ok()?;
    // File systems without blocks, such as ramfs, report no size at all.
    (disk.f_blocks > 0).then(|| disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Other systems are not asked.
#[cfg(not(unix))]
fn free_bytes(_: &Path) -> Option<u64> {
    None
}

/// Room that is kept back on the disk of a store, in a file beside it. When the disk is full, deletes use it; from then on the
/// store takes only deletes until there is enough room to keep it back again.
///
/// All processes of a store share the file: it has its full length, or it is empty and its room is used up.
#[derive(Debug)]
pub(super) struct Reserve {
    path: PathBuf,
    store: PathBuf,
    /// 0 if no room is to be kept back. Room that another process keeps back is used all the same.
    bytes: u64,
}

impl Reserve {
    pub(super) fn new(store: &Path, bytes: u64) -> Self {
        let mut path = OsString::from(store);
        path.push("-reserve");
        Self { path: path.into(), store: store.to_owned(), bytes }
    }

    /// Whether the store takes only deletes because the reserve is used up. Fills the reserve again if there is room.
    pub(super) fn is_used_up(&self) -> bool {
        let is_empty = match fs::metadata(&self.path) {
            Ok(file) if file.len() > 0 => return false,
            Ok(_) => true,
            Err(_) => false,
        };
        if free_bytes(&self.store).is_some_and(|free| free < self.wanted() + MARGIN) {
            return is_empty;
        }
        // A disk that has room and does not let it be kept back (a quota, the file of another user) is no full disk.
        let _ = self.keep();
        false
    }

    /// Gives the room up. Says whether there was any.
    pub(super) fn give_up(&self) -> bool {
        let had_room = fs::metadata(&self.path).is_ok_and(|file| file.len() > 0);
        had_room && fs::OpenOptions::new().write(true).open(&self.path).is_ok_and(|file| file.set_len(0).is_ok())
    }

    fn wanted(&self) -> u64 {
        if self.bytes == 0 { RESERVE } else { self.bytes }
    }

    /// Keeps room back, unless none is to be kept.
    fn keep(&self) -> io::Result<()> {
        if self.bytes == 0 {
            return Ok(());
        }
        let is_new = !self.path.exists();
        super::private::create(&self.path)?;
        let file = fs::OpenOptions::new().write(true).open(&self.path)?;
        if is_new {
            // Every process that may write the store may use it. If that cannot be set, only this user may.
            let _ = fs::metadata(&self.store).and_then(|store| file.set_permissions(store.permissions()));
        }
        // An empty file would mean that the room is used up.
        allocate(&file, self.bytes).inspect_err(|_| drop(fs::remove_file(&self.path)))
    }
}

/// Gives a file so many bytes that are its own on the disk.
fn allocate(mut file: &fs::File, bytes: u64) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    match rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, bytes) {
        // Some file systems cannot do that.
        Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => {}
        outcome => return Ok(outcome?),
    }
    io::copy(&mut io::Read::take(io::repeat(0), bytes), &mut file)?;
    file.sync_all()
}
