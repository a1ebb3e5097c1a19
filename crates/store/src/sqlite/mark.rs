//! Whether anything was written, told without asking SQLite.
//!
//! The index of a write-ahead log is a file that all processes have mapped. It begins with a header of 48 bytes, which is
//! there twice, and which every commit changes before it is acknowledged: how far the log goes, its salts, a checksum of all
//! its frames (<https://www.sqlite.org/walformat.html>). SQLite's own readers compare it with the one that they saw last to
//! learn whether what they have in memory still holds; so does this, without the locks and calls of a transaction.

use std::{fs, mem::ManuallyDrop, sync::Mutex};

use rusqlite::Connection;

use super::{file::File, read};
use crate::Mark;

/// Where the number of frames is in the header.
const FRAMES: std::ops::Range<usize> = 16..20;

/// The index of a write-ahead log.
#[derive(Debug)]
pub(super) struct Index {
    /// Never closed: whoever closes a file gives up all locks that its process has on it, and those of SQLite keep other
    /// processes from beginning the index anew.
    file: ManuallyDrop<fs::File>,
    /// As long as a connection is open, nobody replaces the index.
    _connection: Mutex<Connection>,
}

impl Index {
    /// None if there is none, or if what others write into it need not show to those who read it as a file.
    pub(super) fn of(file: &File) -> Option<Self> {
        if !cfg!(target_os = "linux") {
            return None;
        }
        let connection = file.connect_for_long()?;
        // SQLite opens the index when it is needed for the first time.
        read::head(&connection).ok()?;
        let index = fs::File::open(file.index_path()).ok()?;
        Some(Self { file: ManuallyDrop::new(index), _connection: Mutex::new(connection) })
    }

    /// None while somebody writes the header, and if the log has no frames that it could be told apart by.
    pub(super) fn mark(&self) -> Option<Mark> {
        let mut headers = [0; 2 * Mark::BYTES];
        read_at_start(&self.file, &mut headers)?;
        let (first, second) = headers.split_at(Mark::BYTES);
        let has_frames = first[FRAMES] != [0; 4];
        (first == second && has_frames).then(|| first.try_into().ok().map(Mark::new))?
    }
}

#[cfg(unix)]
fn read_at_start(file: &fs::File, bytes: &mut [u8]) -> Option<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, 0).ok()
}

#[cfg(not(unix))]
fn read_at_start(_: &fs::File, _: &mut [u8]) -> Option<()> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::{Key, Sqlite, SqliteOptions, Store};

    /// That a mark moves is for the suite of all drivers; that there is one is not.
    #[tokio::test]
    async fn a_file_that_was_written_has_a_mark_that_reading_leaves_alone() {
        let folder = tempfile::tempdir().unwrap();
        let store = Sqlite::open(folder.path().join("store"), SqliteOptions::default()).unwrap();
        let key = Key::new("a").unwrap();
        store.create(&key, Vec::new()).await.unwrap();
        let mark = store.mark();
        assert!(mark.is_some());
        store.get(&key).await.unwrap();
        assert_eq!(store.mark(), mark);
    }

    #[test]
    fn a_header_that_is_being_written_is_no_mark() {
        let folder = tempfile::tempdir().unwrap();
        let (file, writer) = File::open(&folder.path().join("store"), SqliteOptions::default()).unwrap();
        let index = Index::of(&file).unwrap();
        let whole = fs::read(file.index_path()).unwrap();
        assert!(index.mark().is_some());
        for (byte, has_mark) in [(0, false), (47, false), (48, false), (95, false), (96, true)] {
            let mut torn = whole.clone();
            torn[byte] ^= 1;
            fs::write(folder.path().join("torn"), &torn).unwrap();
            let torn = fs::File::open(folder.path().join("torn")).unwrap();
            let index =
                Index { file: ManuallyDrop::new(torn), _connection: Mutex::new(Connection::open_in_memory().unwrap()) };
            assert_eq!(index.mark().is_some(), has_mark, "byte {byte}");
        }
        drop(writer);
    }
}
