//! Whether anything was written, told without asking SQLite.
//!
//! The index of a write-ahead log is a file that all processes have mapped. It begins with a header of 48 bytes, which is
//! there twice, and which every commit changes before it is acknowledged: how far the log goes, its salts, a checksum of all
//! its frames (<https://www.sqlite.org/walformat.html>). SQLite's own readers compare it with the one that they saw last to
//! learn whether what they have in memory still holds; so does this, without the locks and calls of a transaction.
//!
//! What is mapped shows to those who read the file on every local file system of Linux. There may be others where it does
//! not, so nothing is believed: the mark is told once a commit of this process was seen to move it, and never again after one
//! that did not.

use std::{
    collections::HashMap,
    fs, io,
    ops::Range,
    path::Path,
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicU8, Ordering},
    },
};

use super::file::{File, Identity, identity_of};
use crate::Mark;

/// Where the number of frames is in the header.
const FRAMES: Range<usize> = 16..20;

/// What is known of the mark: nobody has asked for it, it is yet to be tried, it moves, it is of no use.
const UNWANTED: u8 = 0;
const WANTED: u8 = 1;
const PROVEN: u8 = 2;
const USELESS: u8 = 3;

/// The mark of a file.
#[derive(Debug, Default)]
pub(super) struct Marks {
    state: AtomicU8,
    /// There once it is tried.
    index: OnceLock<Index>,
}

impl Marks {
    /// Where the mark is; none if that cannot be told, or not yet.
    pub(super) fn mark(&self) -> Option<Mark> {
        match self.state.load(Ordering::Acquire) {
            PROVEN => self.index.get()?.mark(),
            UNWANTED => {
                // If this fails, then somebody else has done it.
                let _ = self.state.compare_exchange(UNWANTED, WANTED, Ordering::AcqRel, Ordering::Relaxed);
                None
            }
            _ => None,
        }
    }

    /// Where the mark is before a commit of this process. The connection that commits is open, so SQLite has its index.
    pub(super) fn before_commit(&self, file: &File) -> Option<Mark> {
        match self.state.load(Ordering::Acquire) {
            WANTED if self.index.get().is_none() => match Index::open(&file.index_path()) {
                Ok(index) => self.index.get_or_init(|| index).mark(),
                Err(_) => {
                    self.end();
                    None
                }
            },
            WANTED | PROVEN => self.index.get()?.mark(),
            _ => None,
        }
    }

    /// Learns from a commit of this process that has written something.
    pub(super) fn after_commit(&self, before: Option<Mark>) {
        if matches!(self.state.load(Ordering::Acquire), WANTED | PROVEN)
            && let Some(after) = self.index.get().and_then(Index::mark)
        {
            let learned = if Some(after) == before { USELESS } else { PROVEN };
            self.state.store(learned, Ordering::Release);
        }
    }

    /// Tells no mark any more: as when nothing keeps others from beginning the index anew.
    pub(super) fn end(&self) {
        self.state.store(USELESS, Ordering::Release);
    }
}

/// The index of a write-ahead log.
#[derive(Debug)]
struct Index(&'static fs::File);

impl Index {
    /// Opens it. It is never closed: whoever closes a file gives up all locks that the process has on it, and those of SQLite
    /// keep other processes from beginning the index anew. So each is opened only once.
    fn open(path: &Path) -> io::Result<Self> {
        static OPEN: Mutex<Option<HashMap<Identity, &'static fs::File>>> = Mutex::new(None);
        if !cfg!(target_os = "linux") {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let open = open.get_or_insert_default();
        let identity = identity_of(path).ok_or(io::ErrorKind::NotFound)?;
        if let Some(file) = open.get(&identity) {
            return Ok(Self(file));
        }
        let file: &'static fs::File = Box::leak(Box::new(fs::File::open(path)?));
        open.insert(identity, file);
        Ok(Self(file))
    }

    /// None while somebody writes the header, and if the log has no frames that it could be told apart by.
    fn mark(&self) -> Option<Mark> {
        let mut headers = [0; 2 * Mark::BYTES];
        read_at_start(self.0, &mut headers).ok()?;
        let (first, second) = headers.split_at(Mark::BYTES);
        let is_mark = first == second && first[FRAMES] != [0; 4];
        first.try_into().ok().filter(|_| is_mark).map(Mark::new)
    }
}

#[cfg(unix)]
fn read_at_start(file: &fs::File, bytes: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, 0)
}

#[cfg(not(unix))]
fn read_at_start(_: &fs::File, _: &mut [u8]) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::{Key, Sqlite, SqliteOptions, Store};

    fn store(folder: &Path) -> Sqlite {
        Sqlite::open(folder.join("store"), SqliteOptions::default()).expect("a store")
    }

    /// That a mark moves is for the suite of all drivers; that there is one is not.
    #[tokio::test]
    async fn there_is_a_mark_once_a_commit_has_moved_it_and_reading_leaves_it_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (store, key) = (store(folder.path()), Key::new("a").unwrap());
        let revision = store.create(&key, Vec::new()).await.unwrap();
        assert_eq!(store.mark(), None, "nobody has asked for it");
        store.create(&key, Vec::new()).await.unwrap_err();
        assert_eq!(store.mark(), None, "nothing was written");
        store.health().await.unwrap();
        let mark = store.mark();
        assert!(mark.is_some());
        store.get(&key).await.unwrap();
        store.create(&key, Vec::new()).await.unwrap_err();
        assert_eq!(store.mark(), mark);
        store.delete(&key, &revision).await.unwrap();
        assert_ne!(store.mark(), mark);
    }

    #[tokio::test]
    async fn what_a_commit_does_not_move_is_no_mark() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path());
        store.mark();
        store.health().await.unwrap();
        let stays = folder.path().join("stays");
        fs::copy(store.file.index_path(), &stays).unwrap();
        let marks = Marks { state: AtomicU8::new(WANTED), index: Index::open(&stays).unwrap().into() };
        marks.after_commit(None);
        let mark = marks.mark();
        assert!(mark.is_some(), "it moved, as far as is known");
        marks.after_commit(mark);
        assert_eq!((marks.mark(), marks.before_commit(&store.file)), (None, None));
        marks.after_commit(None);
        assert_eq!(marks.mark(), None, "it is not believed again");
    }

    #[tokio::test]
    async fn a_header_that_is_being_written_is_no_mark() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path());
        store.mark();
        store.health().await.unwrap();
        let copy = folder.path().join("copy");
        fs::copy(store.file.index_path(), &copy).unwrap();
        let whole = fs::read(copy).unwrap();
        for (byte, has_mark) in [(0, false), (47, false), (48, false), (95, false), (96, true)] {
            let path = folder.path().join(format!("torn-{byte}"));
            let mut torn = whole.clone();
            torn[byte] ^= 1;
            fs::write(&path, &torn).unwrap();
            assert_eq!(Index::open(&path).unwrap().mark().is_some(), has_mark, "byte {byte}");
        }
    }
}
