//! A store in one SQLite file, which any number of processes of one machine use at once.
//!
//! The file has one table, the log, to which every change is appended, and is read through SQLite's write-ahead log. So
//! readers never wait for writers, and they run on the thread that asks: a get takes less time than handing it to another
//! thread would. Writes go to a thread of the store that commits all that are waiting at once, so that concurrent writers
//! share an fsync. A second thread looks for what other processes wrote and wakes the watches.

mod backup;
mod check;
mod compaction;
mod damage;
pub(crate) mod disk;
mod facts;
mod failure;
mod file;
mod format;
mod found;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod kept;
mod mark;
mod pages;
mod private;
mod read;
mod rows;
mod salvage;
mod structure;
mod tail;
mod tree;
mod wal;
mod watch;
mod writer;

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use rusqlite::Connection;

use crate::{
    Answer, Continuation, Cursor, DiskSpace, ErrorKind, Guarantees, Health, Key, KeyRange, Mark, Page, PageRequest,
    Prefix, Revision, Store, StoreError, Stored, Watch,
    log::{self, Action, Write},
    room,
};
use check::Check;
use damage::Damage;
use failure::Problem;
use file::File;
use mark::Marks;
use tail::Tail;
use watch::SqliteWatch;
use writer::{Work, Writer};

/// A store in one SQLite file. When it is dropped, its threads end.
#[derive(Debug)]
pub struct Sqlite {
    // Dropped in this order: the connection of the writer is the last, because only a connection that may write cleans up.
    check: Mutex<Option<Check>>,
    tail: Tail,
    writer: Writer,
    marks: Arc<Marks>,
    file: Arc<File>,
}

/// Memory for pages of the file, for each connection: the default of SQLite.
pub(crate) const CACHE_BYTES: usize = 2 << 20;

/// The result of [`Sqlite::salvage`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Salvaged {
    /// How many values the new file has.
    pub saved: u64,
    /// Keys whose newest value is lost, or may be, with the last revision that is known of each.
    pub lost: Vec<(Key, Revision)>,
    /// There may have been other keys, of which nothing is left.
    pub may_miss_others: bool,
}

/// How a store in a SQLite file behaves.
#[derive(Clone, Debug)]
pub struct SqliteOptions {
    /// For how long what happened can be watched, and how it was can be listed.
    pub history: Duration,
    /// Whether watches are woken by notices, of this process or of the file system. Without them they find everything
    /// too, in the poll interval.
    pub hints: bool,
    /// How often watches look for what other processes wrote.
    pub poll_interval: Duration,
    /// For how long a write waits for those of other processes.
    pub busy_timeout: Duration,
    /// The largest value that can be stored.
    pub max_value_bytes: usize,
    /// The most bytes of values that wait to be written. Default: 64 MiB.
    pub waiting_bytes: usize,
    /// Memory for pages of the file, for each connection: one for writing, and one for each read at the same time.
    pub cache_bytes: usize,
    /// The structure of a file up to this size is checked when it is opened, which takes 1.3 s for 286 MB. That of a larger one
    /// is checked in the background while the store is used.
    pub check_at_open_bytes: u64,
    /// The size that the file may grow to; beyond it, writes fail with [`Full`](ErrorKind::Full). A part of it, at most 8 MiB,
    /// is kept back for deletes. None: as the disk and the file size limit of the process (`ulimit -f`) allow.
    pub max_file_bytes: Option<u64>,
    /// How much room on the disk is kept back for deletes, in a file beside the store; 0 for none. A server keeps 8 MiB.
    pub reserve_bytes: u64,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self {
            history: Duration::from_secs(5 * 60),
            hints: true,
            poll_interval: Duration::from_millis(20),
            busy_timeout: Duration::from_secs(10),
            max_value_bytes: 4 << 20,
            waiting_bytes: room::BYTES,
            cache_bytes: CACHE_BYTES,
            check_at_open_bytes: 256 << 20,
            max_file_bytes: None,
            reserve_bytes: 0,
        }
    }
}

impl Sqlite {
    /// The store in a file, which is created if it is not there, for its owner alone (mode 0600). A file or folder that
    /// cannot be written is opened for reading.
    ///
    /// # Errors
    /// [`Setup`](ErrorKind::Setup) if the file cannot be opened or created, [`Corrupt`](ErrorKind::Corrupt) if it is
    /// damaged or something else, [`Newer`](ErrorKind::Newer) if a newer release wrote it.
    pub fn open(path: impl AsRef<Path>, options: SqliteOptions) -> Result<Self, StoreError> {
        let (file, connection) = File::open(path.as_ref(), options)?;
        let file = Arc::new(file);
        let tail = Tail::start(&file)?;
        let marks = Arc::default();
        let writer = Writer::start(&file, connection, tail.head(), &marks)?;
        let check = (!file.is_checked()).then(|| Check::start(&file, writer.waker())).transpose()?;
        Ok(Self { check: Mutex::new(check), tail, writer, marks, file })
    }

    /// Copies the store as it is now to a new file, while it is written to. The file appears when it is complete. Takes
    /// as long as copying takes, on the calling thread.
    ///
    /// # Errors
    /// [`Setup`](ErrorKind::Setup) if there is such a file or it cannot be created; otherwise as reads and writes do.
    pub fn backup(&self, to: impl AsRef<Path>) -> Result<(), StoreError> {
        self.file.backup(to.as_ref())
    }

    /// Copies what is certain of a damaged file to a new file: the current value of each key, with its revision. Writes
    /// nothing to the damaged file, and does not need SQLite to be able to open it.
    ///
    /// The new file has no history: watches from before begin again with a list.
    ///
    /// # Errors
    /// [`Setup`](ErrorKind::Setup) if the new file exists or cannot be created, or the other one cannot be read;
    /// [`Corrupt`](ErrorKind::Corrupt) if no record of it can be.
    pub fn salvage(path: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<Salvaged, StoreError> {
        salvage::salvage(path.as_ref(), to.as_ref())
    }

    /// Forgets how things were before now, without waiting until they are as old as
    /// [`history`](SqliteOptions::history) says.
    ///
    /// # Errors
    /// As writes do.
    pub async fn compact(&self) -> Result<(), StoreError> {
        let goal = self.file.read(read::head)?.revision;
        while self.writer.ask(Work::Compact).await? < goal {}
        Ok(())
    }

    /// Reads the file, or what is certain of it if that is damaged. None of the latter is refused.
    async fn read<T>(
        &self,
        sound: impl FnOnce(&Connection) -> Result<T, Problem>,
        of_damaged: impl FnOnce(&Damage) -> Option<T>,
    ) -> Result<T, StoreError> {
        let damage = match self.file.damage() {
            Some(damage) => damage,
            None => {
                let result = self.file.read(sound);
                if result.is_ok() {
                    return result;
                }
                if self.file.has_reported_damage() {
                    // The thread that writes looks at the damage before it writes anything.
                    let _ = self.writer.ask(Work::Probe).await;
                }
                let Some(damage) = self.file.damage() else { return result };
                damage
            }
        };
        damage.check_unchanged(&self.file.path)?;
        of_damaged(damage).ok_or_else(|| damage.refusal(&self.file.path))
    }

    async fn write(&self, work: Work) -> Result<Revision, StoreError> {
        if let Work::Write(key, Write::Create(value) | Write::Replace { value, .. })
        | Work::Removal(key, Write::Replace { value, .. }) = &work
        {
            let most = self.file.options.max_value_bytes;
            if value.len() > most {
                let message = format!("the value of {key} has {} bytes; the store takes {most}", value.len());
                return Err(StoreError::new(ErrorKind::TooLarge, message));
            }
        }
        self.writer.ask(work).await.map(log::revision)
    }
}

impl Store for Sqlite {
    fn get<'a>(&'a self, key: &'a Key) -> Answer<'a, Option<Stored>> {
        Box::pin(async move {
            let sound = |connection: &Connection| read::get(connection, key, self.file.has_sums());
            self.read(sound, |damage| damage.get(key)).await
        })
    }

    fn get_unverified<'a>(&'a self, key: &'a Key) -> Answer<'a, Option<Stored>> {
        Box::pin(async move {
            let sound = |connection: &Connection| read::get_unverified(connection, key);
            self.read(sound, |damage| damage.get_unverified(key)).await
        })
    }

    fn has_revision<'a>(&'a self, key: &'a Key, revision: &'a Revision) -> Answer<'a, bool> {
        Box::pin(async move {
            let sound = |connection: &Connection| {
                let newest = read::newest(connection, key)?.filter(|newest| newest.action != Action::Deleted);
                Ok(newest.is_some_and(|newest| log::revision(newest.revision) == *revision))
            };
            let of_damaged =
                |damage: &Damage| Some(damage.get(key)?.is_some_and(|stored| stored.revision == *revision));
            self.read(sound, of_damaged).await
        })
    }

    fn list<'a>(&'a self, prefix: &'a Prefix, page: PageRequest) -> Answer<'a, Page> {
        Box::pin(async move {
            let sound = |connection: &Connection| read::page(connection, prefix, &page, self.file.has_sums());
            self.read(sound, |damage| damage.page(prefix, &page)).await
        })
    }

    fn list_after<'a>(&'a self, key: &'a Key) -> Answer<'a, Option<Continuation>> {
        Box::pin(async move { Ok(Some(log::continuation_at(&self.now().await?, key))) })
    }

    fn list_at<'a>(
        &'a self,
        moment: &'a Cursor,
        prefix: &'a Prefix,
        after: Option<&'a Key>,
    ) -> Answer<'a, Option<Continuation>> {
        Box::pin(async move { Ok(Some(log::continuation_of(moment, prefix, after))) })
    }

    fn before<'a>(&'a self, key: &'a Key, revision: &'a Revision) -> Answer<'a, Option<Stored>> {
        Box::pin(async move {
            let sound = |connection: &Connection| read::before(connection, key, revision, self.file.has_sums());
            self.read(sound, |_| None).await
        })
    }

    fn is_unchanged<'a>(&'a self, range: &'a KeyRange, since: &'a Cursor) -> Answer<'a, bool> {
        Box::pin(async move { self.read(|connection| read::is_unchanged(connection, range, since), |_| None).await })
    }

    fn mark(&self) -> Option<Mark> {
        self.marks.mark()
    }

    fn create<'a>(&'a self, key: &'a Key, value: Vec<u8>) -> Answer<'a, Revision> {
        Box::pin(self.write(Work::Write(key.clone(), Write::Create(value))))
    }

    fn replace<'a>(&'a self, key: &'a Key, expected: &'a Revision, value: Vec<u8>) -> Answer<'a, Revision> {
        Box::pin(self.write(Work::Write(key.clone(), Write::Replace { expected: expected.clone(), value })))
    }

    fn replace_to_delete<'a>(&'a self, key: &'a Key, expected: &'a Revision, value: Vec<u8>) -> Answer<'a, Revision> {
        Box::pin(self.write(Work::Removal(key.clone(), Write::Replace { expected: expected.clone(), value })))
    }

    fn delete<'a>(&'a self, key: &'a Key, expected: &'a Revision) -> Answer<'a, ()> {
        let delete = Work::Removal(key.clone(), Write::Delete { expected: expected.clone() });
        Box::pin(async move { self.write(delete).await.map(drop) })
    }

    fn watch<'a>(&'a self, prefix: &'a Prefix, from: &'a Cursor) -> Answer<'a, Box<dyn Watch>> {
        Box::pin(async move {
            let head = self.read(read::head, |_| None).await?;
            let told = log::cursor_number(from, head.revision, head.compacted)?;
            let watch = SqliteWatch::new(self.file.clone(), prefix.clone(), told, self.tail.subscribe());
            Ok(Box::new(watch) as Box<dyn Watch>)
        })
    }

    fn now(&self) -> Answer<'_, Cursor> {
        Box::pin(async move {
            let sound = |connection: &Connection| Ok(log::cursor(read::head(connection)?.revision));
            self.read(sound, |damage| Some(damage.cursor())).await
        })
    }

    fn health(&self) -> Answer<'_, Health> {
        Box::pin(async move {
            let began = Instant::now();
            self.file.check_in_place()?;
            self.read(read::head, |_| None).await?;
            self.writer.ask(Work::Probe).await?;
            Ok(Health { took: began.elapsed() })
        })
    }

    fn guarantees(&self) -> Guarantees {
        Guarantees::STRONG
    }

    fn disk(&self) -> Option<DiskSpace> {
        disk::space(&self.file)
    }

    fn find_damage(&self) -> Answer<'_, Option<StoreError>> {
        Box::pin(async move {
            if let Some(damage) = self.file.damage() {
                return Ok(Some(damage.refusal(&self.file.path)));
            }
            if self.file.is_checked() {
                return Ok(None);
            }
            self.start_check()?;
            let outcome = self.check.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(Check::outcome);
            let Some(mut outcome) = outcome else { return Ok(None) };
            let found = outcome.wait_for(Option::is_some).await.map(|found| found.clone().flatten());
            let found = found.map_err(|_| {
                let message = format!("the structure of {} could not be checked; try again", self.file.path.display());
                StoreError::new(ErrorKind::Unavailable, message)
            })?;
            Ok(found.map(|what| Damage::refusal_for(&self.file.path, &what)))
        })
    }

    fn start_check(&self) -> Result<(), StoreError> {
        let mut check = self.check.lock().unwrap_or_else(PoisonError::into_inner);
        if check.as_ref().is_none_or(Check::is_done) && self.file.damage().is_none() {
            *check = Some(Check::start(&self.file, self.writer.waker())?);
        }
        Ok(())
    }
}

fn start_thread(name: &str, run: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, StoreError> {
    thread::Builder::new().name(name.to_owned()).spawn(run).map_err(|error| {
        StoreError::new(ErrorKind::Unavailable, "the store could not start a thread; try again").because(error)
    })
}
