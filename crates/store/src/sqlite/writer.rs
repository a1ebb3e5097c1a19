//! The thread that writes.

mod full;

use std::{
    cell::Cell,
    mem,
    sync::{
        Arc,
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    thread::JoinHandle,
    time::Duration,
};

use rusqlite::{Connection, params};
use tokio::sync::{oneshot, watch};

use super::{
    compaction::{self, Age},
    failure::{Doing, Problem},
    file::{self, File},
    mark::Marks,
    read::{self, Head},
};
use crate::{
    ErrorKind, Key, StoreError,
    log::{Action, Write},
    room::{Place, Room},
    sum,
};

/// The most writes of one commit.
const BATCH_WRITES: usize = 512;

/// A commit takes no more writes when those that it has are this large.
const BATCH_BYTES: usize = 8 << 20;

/// The most revisions that are forgotten in one commit while nobody waits for it.
const COMPACTED_AT_ONCE: u64 = 1024;

/// What only the thread can do.
#[derive(Clone, Debug)]
pub(super) enum Work {
    Write(Key, Write),
    /// A delete, or a write on the way to one: on a full disk, it may use the room that is kept back.
    Removal(Key, Write),
    /// Writes something that means nothing, to see whether it can be written.
    Probe,
    /// Forgets a part of what happened, however new it is.
    Compact,
}

/// The thread, as seen by others.
#[derive(Debug)]
pub(super) struct Writer {
    room: Room,
    jobs: mpsc::Sender<Option<Job>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Job {
    work: Work,
    answer: oneshot::Sender<Result<u64, StoreError>>,
    place: Place,
}

impl Writer {
    pub(super) fn start(
        file: &Arc<File>,
        connection: Connection,
        head: &Arc<watch::Sender<u64>>,
        marks: &Arc<Marks>,
    ) -> Result<Self, StoreError> {
        let (jobs, queue) = mpsc::channel();
        let marks = Marking(marks.clone());
        let desk =
            Desk { file: file.clone(), marks, connection, queue, head: head.clone(), applied_limit: Cell::new(None) };
        let thread = super::start_thread("store-writer", move || desk.work())?;
        Ok(Self { room: Room::new(file.options.waiting_bytes), jobs, thread: Some(thread) })
    }

    /// What wakes the thread, so that it looks at damage that was found.
    pub(super) fn waker(&self) -> impl FnOnce() + Send + 'static {
        let jobs = self.jobs.clone();
        // Without a thread, nothing uses the file.
        move || drop(jobs.send(None))
    }

    /// Has something done. The answer is a revision: that of a write, or up to which it is forgotten what happened.
    pub(super) async fn ask(&self, work: Work) -> Result<u64, StoreError> {
        let place = self.room.place(work.bytes()).await;
        let (answer, answered) = oneshot::channel();
        // Without a thread to take it, the answer is dropped, and that is seen below.
        let _ = self.jobs.send(Some(Job { work, answer, place }));
        let lost = || StoreError::new(ErrorKind::Unknown, "the store's writer ended; open the store again");
        answered.await.map_err(|_| lost())?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // The thread ends when it has done what is queued and there is nobody left to queue more.
        self.jobs = mpsc::channel().0;
        if let Some(thread) = self.thread.take() {
            // What a thread panicked of was said when it did.
            let _ = thread.join();
        }
    }
}

/// What the thread has.
struct Desk {
    file: Arc<File>,
    // Dropped before the connection, without which the index of the log may become another file.
    marks: Marking,
    connection: Connection,
    /// Jobs; none to look at damage that was found.
    queue: Receiver<Option<Job>>,
    head: Arc<watch::Sender<u64>>,
    /// The limit that SQLite knows.
    applied_limit: Cell<Option<u64>>,
}

/// What no mark is told without.
struct Marking(Arc<Marks>);

impl Drop for Marking {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl Desk {
    fn work(self) {
        let usual_rest = (self.file.options.history / 4).clamp(Duration::from_millis(50), Duration::from_secs(30));
        let mut rest = usual_rest;
        loop {
            match self.queue.recv_timeout(rest) {
                Ok(Some(first)) => self.serve(first),
                Ok(None) => self.file.apply_reported_damage(),
                Err(RecvTimeoutError::Timeout) => {
                    self.file.apply_reported_damage();
                    // If it fails, then it will be tried again, and whoever writes meanwhile is told why.
                    let forgotten = self.forget(Age::Over(self.file.options.history));
                    let has_more =
                        forgotten.map_err(|problem| self.file.told(problem, Doing::Write)).unwrap_or_default();
                    self.file.apply_reported_damage();
                    self.file.reserve.is_used_up();
                    rest = if has_more { Duration::ZERO } else { usual_rest };
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.file.apply_reported_damage();
        if self.file.damage().is_some() {
            file::keep_log_on_close(&self.connection);
        }
        self.file.close_readers();
    }

    /// Does all that is waiting, with one commit for it.
    fn serve(&self, first: Job) {
        let (mut works, mut askers, mut bytes) = (Vec::new(), Vec::new(), 0);
        let mut next = Some(first);
        while let Some(job) = next.take() {
            // Nobody waits for it any more, and it has not begun.
            if !job.answer.is_closed() {
                bytes += job.work.bytes();
                works.push(job.work);
                askers.push((job.answer, job.place));
            }
            if works.len() < BATCH_WRITES && bytes < BATCH_BYTES {
                next = self.queue.try_recv().ok().flatten();
            }
        }
        if works.is_empty() {
            return;
        }
        self.file.apply_reported_damage();
        let answers = match self.check_sound() {
            Ok(()) => self.commit_with_room(&works),
            Err(error) => works.iter().map(|_| Err(copy(&error))).collect(),
        };
        self.file.apply_reported_damage();
        for ((asker, _place), answer) in askers.into_iter().zip(answers) {
            // Whoever does not wait any more does not need it.
            let _ = asker.send(answer);
        }
    }

    /// What was decided is told only after the commit, refusals too: they may rest on a write before them that fails.
    fn commit(&self, works: &[Work]) -> Result<Vec<Result<u64, StoreError>>, StoreError> {
        let told = |problem: Problem| self.file.told(problem, Doing::Write);
        let (transaction, before) = self.begin().map_err(told)?;
        let is_probed = works.iter().any(|work| matches!(work, Work::Probe));
        let (answers, revision) = self.apply(works, before).map_err(told)?;
        let mark = self.marks.0.before_commit(&self.file);
        transaction.commit().map_err(|error| self.file.told(error.into(), Doing::Commit))?;
        if is_probed || revision > before.revision {
            self.marks.0.after_commit(mark);
        }
        if self.file.options.hints && revision > before.revision {
            self.head.send_if_modified(|known| revision > mem::replace(known, revision.max(*known)));
        }
        Ok(answers)
    }

    /// Does everything within the transaction, and says what came of each and at which revision the log is then.
    fn apply(&self, works: &[Work], before: Head) -> Result<(Vec<Result<u64, StoreError>>, u64), Problem> {
        let (at, history) = (compaction::now(), Age::Over(self.file.options.history));
        let (mut revision, mut compacted) = (before.revision, before.compacted);
        // Twice what comes in, so that this gets ahead of the writers although they never pause.
        let share = 2 * works.len() as u64;
        let mut answers = Vec::with_capacity(works.len());
        for work in works {
            answers.push(match work {
                Work::Write(key, write) | Work::Removal(key, write) => {
                    match self.append(key, write, revision + 1, at) {
                        Ok(()) => {
                            revision += 1;
                            Ok(revision)
                        }
                        Err(Problem::Store(refusal)) if *refusal.kind() != ErrorKind::Corrupt => Err(refusal),
                        Err(problem) => return Err(problem),
                    }
                }
                Work::Probe => {
                    // SQLite writes nothing where nothing changes.
                    self.connection.prepare_cached("UPDATE head SET probes = probes + 1")?.execute([])?;
                    Ok(revision)
                }
                Work::Compact => {
                    let head = Head { revision: before.revision, compacted };
                    compacted = compaction::compact(
                        &self.connection,
                        head,
                        Age::Any,
                        COMPACTED_AT_ONCE,
                        self.file.has_digest(),
                    )?;
                    Ok(compacted)
                }
            });
        }
        if revision > before.revision {
            self.connection.prepare_cached("UPDATE head SET revision = ?1")?.execute([revision as i64])?;
            let head = Head { revision: before.revision, compacted };
            compaction::compact(&self.connection, head, history, share, self.file.has_digest())?;
        }
        Ok((answers, revision))
    }

    fn append(&self, key: &Key, write: &Write, revision: u64, at: i64) -> Result<(), Problem> {
        let newest = read::newest(&self.connection, key)?;
        let action = write.decide(key, newest)?;
        match write {
            Write::Create(value) | Write::Replace { value, .. } => self.insert(key, action, revision, at, value),
            Write::Delete { .. } => {
                let last = newest.map_or(0, |newest| newest.revision as i64);
                let sql = "SELECT value FROM log WHERE revision = ?1";
                let value: Vec<u8> = self.connection.prepare_cached(sql)?.query_row([last], |row| row.get(0))?;
                self.insert(key, action, revision, at, &value)
            }
        }
    }

    fn insert(&self, key: &Key, action: Action, revision: u64, at: i64, value: &[u8]) -> Result<(), Problem> {
        if !self.file.has_sums() {
            let sql = "INSERT INTO log (revision, key, action, at, value) VALUES (?1, ?2, ?3, ?4, ?5)";
            let row = params![revision as i64, key.as_str(), action as i64, at, value];
            self.connection.prepare_cached(sql)?.execute(row)?;
            return Ok(());
        }
        let sql = "INSERT INTO log (revision, key, action, at, value, sum) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let sum = sum::of(revision, key.as_str(), action, value);
        let row = params![revision as i64, key.as_str(), action as i64, at, value, sum];
        self.connection.prepare_cached(sql)?.execute(row)?;
        Ok(())
    }

    /// Forgets a part of what is too old, and says whether there may be more.
    fn forget(&self, age: Age) -> Result<bool, Problem> {
        let head = read::head(&self.connection)?;
        // Looking first keeps those who have nothing to forget out of the way of those who write.
        if compaction::due(&self.connection, head, age, 1)? == head.compacted {
            return Ok(false);
        }
        let (transaction, head) = self.begin()?;
        let until = compaction::compact(&transaction, head, age, COMPACTED_AT_ONCE, self.file.has_digest())?;
        transaction.commit()?;
        Ok(until > head.compacted)
    }

    fn check_sound(&self) -> Result<(), StoreError> {
        self.file.check_sound().inspect_err(|_| file::keep_log_on_close(&self.connection))
    }

    fn begin(&self) -> Result<(rusqlite::Transaction<'_>, Head), Problem> {
        self.file.apply_reported_damage();
        self.check_sound()?;
        let transaction = file::begin(&self.connection, self.file.options.busy_timeout)?;
        // Once nobody else writes, and so at the last moment.
        self.file.check_in_place()?;
        let head = read::head(&transaction)?;
        Ok((transaction, head))
    }
}

/// The same failure for one more of those who wait.
fn copy(error: &StoreError) -> StoreError {
    let copy = StoreError::new(error.kind().clone(), error.to_string());
    match std::error::Error::source(error) {
        Some(cause) => copy.because(cause.to_string()),
        None => copy,
    }
}

impl Work {
    fn is_removal(&self) -> bool {
        matches!(self, Self::Removal(..))
    }

    /// How many bytes of the disk are needed. A store that has no room for a short document is not healthy.
    fn room(&self) -> usize {
        if matches!(self, Self::Probe) { 64 << 10 } else { self.bytes() }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Write(_, write) | Self::Removal(_, write) => match write {
                Write::Create(value) | Write::Replace { value, .. } => value.len(),
                Write::Delete { .. } => 0,
            },
            Self::Probe | Self::Compact => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;
    use crate::SqliteOptions;

    #[tokio::test]
    async fn what_has_no_room_waits_and_what_nobody_waits_for_is_skipped() {
        const WRITES: u64 = 40;
        let folder = tempfile::tempdir().unwrap();
        let (file, connection) = File::open(&folder.path().join("store"), SqliteOptions::default()).unwrap();
        let file = Arc::new(file);
        let writer = Writer::start(&file, connection, &Arc::new(watch::Sender::new(0)), &Arc::default()).unwrap();
        let other = Connection::open(&file.path).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let write = |number| {
            let key = Key::new(format!("k/{number}")).unwrap();
            writer.ask(Work::Write(key, Write::Create(vec![0; 4 << 20])))
        };
        let mut asked: Vec<_> = (0..WRITES).map(|number| Box::pin(write(number))).collect();
        for ask in &mut asked {
            timeout(Duration::ZERO, ask).await.unwrap_err();
        }
        assert_eq!(writer.room.free_bytes(), 0);
        drop(asked);
        other.execute_batch("ROLLBACK").unwrap();
        // Only what had begun was written before it.
        assert!(write(WRITES).await.unwrap() <= crate::log::FIRST_HEAD + 3);
        while writer.room.free_bytes() < crate::room::BYTES {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}
