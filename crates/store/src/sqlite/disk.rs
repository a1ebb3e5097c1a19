//! How much room a store has on its disk.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
};

use super::file::File;
use crate::{DiskSpace, ErrorKind, StoreError};

/// The error of a write for which there is no room: on the disk, or below a limit.
pub(super) fn full(path: &Path) -> StoreError {
    if is_limited(path) {
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

/// Whether writes that find no room do so although the disk has some: there is a limit or a quota.
pub(super) fn is_limited(path: &Path) -> bool {
    has_room(path, RESERVE) || has_room(path, 0) && (process_limit().is_some() || is_over_quota(path))
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
pub(super) fn space(file: &File) -> Option<DiskSpace> {
    let path = &file.path;
    let length = |path: &Path| fs::metadata(path).map_or(0, |file| file.len());
    let below_limit = process_limit().map(|limit| limit.saturating_sub(length(path)));
    let free_bytes = free_bytes(path).into_iter().chain(below_limit).min()?;
    let (reserve_bytes, forgotten_early) = (length(&file.reserve.path), file.forgotten_early());
    Some(DiskSpace { free_bytes, reserve_bytes, forgotten_early })
}

/// How many bytes can be written to the disk of a file, or of the folder that it would be in.
#[cfg(unix)]
fn free_bytes(path: &Path) -> Option<u64> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let disk = rustix::fs::statvfs(path).or_else(|_| rustix::fs::statvfs(folder)).ok()?;
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

    /// Whether the reserve, or a part of it, is used up. Fills it again if there is room.
    pub(super) fn is_used_up(&self) -> bool {
        let (is_empty, kept) = match fs::metadata(&self.path) {
            Ok(file) if file.len() >= self.wanted() => return false,
            Ok(file) => (true, file.len()),
            Err(_) => (false, 0),
        };
        if free_bytes(&self.store).is_some_and(|free| free + kept < self.wanted() + MARGIN) {
            return is_empty;
        }
        // A disk that has room and does not let it be kept back, as in a file of another user, is not full. A quota is.
        self.keep(self.bytes).is_err_and(|error| is_empty && is_for_room(&error))
    }

    /// Whether a write of so many bytes leaves room for deletes, if a part of that is in free pages of the file. Only what these
    /// do not have is kept back on the disk.
    ///
    /// `pending` bytes will make the file longer.
    pub(super) fn leaves_room(&self, free_pages: u64, pending: u64, bytes: u64) -> bool {
        let Some(free) = free_bytes(&self.store) else { return true };
        let kept = fs::metadata(&self.path).map_or(0, |file| file.len());
        let room = Room { free: free.saturating_sub(pending), kept, free_pages };
        match room.kept_beside(bytes, self.bytes > 0) {
            Some(wanted) if wanted > kept => self.keep(wanted).is_ok(),
            Some(wanted) if wanted < kept => self.shorten(wanted).is_ok(),
            wanted => wanted.is_some(),
        }
    }

    /// Whether `bytes` and a little more have room on the disk once the reserve is given up.
    pub(super) fn has_room(&self, bytes: u64) -> bool {
        let kept = fs::metadata(&self.path).map_or(0, |file| file.len());
        free_bytes(&self.store).is_none_or(|free| free + kept >= bytes + MARGIN)
    }

    /// Gives the room up. Says whether there was any.
    pub(super) fn give_up(&self) -> bool {
        let had_room = fs::metadata(&self.path).is_ok_and(|file| file.len() > 0);
        had_room && self.shorten(0).is_ok()
    }

    fn shorten(&self, bytes: u64) -> io::Result<()> {
        fs::OpenOptions::new().write(true).open(&self.path)?.set_len(bytes)
    }

    fn wanted(&self) -> u64 {
        if self.bytes == 0 { RESERVE } else { self.bytes }
    }

    /// Lengthens the reserve to `bytes`. A store without a reserve does nothing.
    fn keep(&self, bytes: u64) -> io::Result<()> {
        if self.bytes == 0 {
            return Ok(());
        }
        let is_new = !self.path.exists();
        let bytes = process_limit().map_or(bytes, |limit| limit.min(bytes));
        super::private::create(&self.path)?;
        let file = fs::OpenOptions::new().write(true).open(&self.path)?;
        if is_new {
            // Every process that may write the store may use it. If that cannot be set, only this user may.
            let _ = fs::metadata(&self.store).and_then(|store| file.set_permissions(store.permissions()));
        }
        let kept = file.metadata()?.len();
        allocate(&file, bytes).inspect_err(|error| {
            // A file that is too short means that the room is used up.
            let _ = if is_for_room(error) && !is_new { file.set_len(kept) } else { fs::remove_file(&self.path) };
        })
    }
}

/// The room of a store, in bytes.
#[derive(Clone, Copy)]
struct Room {
    /// On the disk.
    free: u64,
    /// Kept back on the disk for deletes.
    kept: u64,
    /// In the file.
    free_pages: u64,
}

impl Room {
    /// How much is to be kept back on the disk while a write of so many bytes is done; none if that has no room. Deletes need
    /// the rest of the reserve in free pages, and at least half of it on the disk, for the write-ahead log.
    fn kept_beside(self, bytes: u64, may_change: bool) -> Option<u64> {
        /// For the pages of indexes in the write-ahead log.
        const SLACK: u64 = 128 << 10;
        let all = self.free + self.kept;
        let kept = if may_change { all.saturating_sub(MARGIN + bytes).min(RESERVE) } else { self.kept };
        let free_pages = self.free_pages.checked_sub(RESERVE.saturating_sub(kept))?;
        let needed = match bytes.saturating_sub(free_pages) {
            0 => SLACK + bytes,
            growth => MARGIN + bytes + growth,
        };
        (kept >= RESERVE / 2 && all >= kept + needed).then_some(kept)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deletes_have_room_on_the_disk_and_in_the_file() {
        const MIB: u64 = 1 << 20;
        let kept = |free, kept, free_pages, bytes| {
            let room = Room { free: free * MIB, kept: kept * MIB, free_pages: free_pages * MIB };
            room.kept_beside(bytes * MIB, true).map(|kept| kept / MIB)
        };
        // A full reserve, and pages of the file for the write.
        assert_eq!([kept(2, 8, 1, 1), kept(3, 8, 0, 1), kept(2, 8, 0, 1)], [Some(8), Some(8), None]);
        // Free pages take the place of a part of it.
        assert_eq!([kept(0, 8, 1, 0), kept(0, 8, 4, 1), kept(0, 8, 2, 1)], [Some(7), Some(6), None]);
        // An empty one is filled as far as the disk allows.
        assert_eq!([kept(10, 0, 0, 0), kept(8, 0, 1, 0), kept(8, 0, 0, 0)], [Some(8), Some(7), None]);
        assert_eq!([kept(5, 0, 4, 0), kept(5, 0, 3, 0), kept(4, 0, 9, 0)], [Some(4), None, None]);
        // What the write takes is not kept.
        assert_eq!([kept(8, 0, 4, 2), kept(8, 0, 5, 2)], [None, Some(5)]);
        // A command that keeps nothing back leaves what a server keeps.
        let room = Room { free: 2 * MIB, kept: 0, free_pages: 20 * MIB };
        assert_eq!(room.kept_beside(0, false), None);
        assert_eq!(Room { kept: RESERVE, ..room }.kept_beside(MIB, false), Some(RESERVE));
    }
}
