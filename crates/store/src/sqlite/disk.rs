//! How much room a store has on its disk.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
};

use crate::{DiskSpace, ErrorKind, StoreError};

/// The error of a write for which there is no room: on the disk, or below a limit.
pub(super) fn full(path: &Path) -> StoreError {
    if has_room(path, 0) {
        return at_limit(path);
    }
    let message = format!("the disk that holds {} is full; make room, or delete documents", path.display());
    StoreError::new(ErrorKind::Full, message)
}

/// The error of a write for which there is no room although the disk has some.
pub(super) fn at_limit(path: &Path) -> StoreError {
    let limit = process_limit().map_or_else(
        || "a size limit or a quota".to_owned(),
        |limit| format!("the file size limit of the process (ulimit -f), {limit} bytes,"),
    );
    // What is beyond the limit cannot be written, not even to delete it.
    let or_delete = if has_outgrown_limit(path) { "" } else { ", or delete documents" };
    StoreError::new(ErrorKind::Full, format!("{limit} leaves no room in {}; raise it{or_delete}", path.display()))
}

/// The size that files of this process may have.
#[cfg(unix)]
pub(super) fn process_limit() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Fsize).current
}

/// Other systems have no such limit.
#[cfg(not(unix))]
pub(super) fn process_limit() -> Option<u64> {
    None
}

/// How much of a file below its size limit is kept back for deletes. A value that is accepted is at most half as large.
pub(super) fn kept_below(limit: u64) -> u64 {
    RESERVE.min(limit / 2)
}

/// Whether a write of a database failed for its size: a file is as large as the process may have one, give or take a few pages,
/// or a quota is used up.
pub(super) fn may_not_grow(path: &Path) -> bool {
    const PAGES: u64 = 4 * 4096;
    let is_at_limit = |suffix, limit| fs::metadata(beside(path, suffix)).is_ok_and(|file| file.len() + PAGES > limit);
    process_limit().is_some_and(|limit| ["", "-wal", "-journal"].into_iter().any(|suffix| is_at_limit(suffix, limit)))
        || is_over_quota(path)
}

fn has_outgrown_limit(path: &Path) -> bool {
    process_limit().is_some_and(|limit| fs::metadata(path).is_ok_and(|file| file.len() > limit))
}

/// Whether a little more cannot be written beside a file, for want of room or of quota.
fn is_over_quota(path: &Path) -> bool {
    let probe = beside(path, "-probe");
    let written = fs::File::create(&probe).and_then(|file| allocate(&file, 64 << 10));
    let _ = fs::remove_file(&probe);
    written.is_err_and(|error| is_for_room(&error))
}

fn is_for_room(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// The file of a store, and those that are beside it at times.
pub(crate) fn files_of(path: &Path) -> Vec<PathBuf> {
    ["", "-wal", "-shm", "-journal", "-reserve", "-probe"].map(|suffix| beside(path, suffix)).into()
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut beside = OsString::from(path);
    beside.push(suffix);
    beside.into()
}

/// Less free room than this is none: the store is not ready, and takes nothing but deletes.
const MARGIN: u64 = 1 << 20;

/// The room that a server keeps back: the largest values twice, in the write-ahead log and in the file.
pub(crate) const RESERVE: u64 = 8 << 20;

/// Whether the disk of a store takes so many bytes.
pub(super) fn has_room(path: &Path, bytes: u64) -> bool {
    free_bytes(path).is_none_or(|free| free >= MARGIN + bytes)
}

/// The room that is left for a store, and how much is kept back.
pub(super) fn space(path: &Path, reserve: &Reserve) -> Option<DiskSpace> {
    let length = |path: &Path| fs::metadata(path).map_or(0, |file| file.len());
    let below_limit = process_limit().map(|limit| limit.saturating_sub(length(path)));
    let free_bytes = free_bytes(path).into_iter().chain(below_limit).min()?;
    Some(DiskSpace { free_bytes, reserve_bytes: length(&reserve.path) })
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
        Self { path: beside(store, "-reserve"), store: store.to_owned(), bytes }
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
        // A disk that has room and does not let it be kept back, as in a file of another user, is not full. A quota is.
        self.keep().is_err_and(|error| is_empty && is_for_room(&error))
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
        let bytes = process_limit().map_or(self.bytes, |limit| limit.min(self.bytes));
        super::private::create(&self.path)?;
        let file = fs::OpenOptions::new().write(true).open(&self.path)?;
        if is_new {
            // Every process that may write the store may use it. If that cannot be set, only this user may.
            let _ = fs::metadata(&self.store).and_then(|store| file.set_permissions(store.permissions()));
        }
        allocate(&file, bytes).inspect_err(|error| {
            // An empty file means that the room is used up.
            let _ = if is_for_room(error) && !is_new { file.set_len(0) } else { fs::remove_file(&self.path) };
        })
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
