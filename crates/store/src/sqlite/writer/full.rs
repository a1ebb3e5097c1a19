//! Commits on a disk that is full, or below a limit: deletes go on, and give their room back to writes.

use std::{
    thread,
    time::{Duration, Instant},
};

use super::{
    super::{
        compaction::{self, Age},
        disk,
        failure::{self, Doing, Problem},
        read,
    },
    COMPACTED_AT_ONCE, Desk, Work, copy,
};
use crate::{ErrorKind, StoreError, log::Write};

/// How long a write waits for room that history gives back.
const PATIENCE: Duration = Duration::from_millis(500);

/// How long the commits of one batch wait in all for reads that keep the write-ahead log from being reused. Most are soon done.
const READERS: Duration = Duration::from_secs(1);

/// The most bytes of removals that are committed together: the reserve has room for them and for forgetting them, in the
/// write-ahead log and in the file.
const TOGETHER_BYTES: u64 = disk::RESERVE / 4;

/// About what a removal writes beside its value: pages of the table and of the index.
const REMOVAL_BYTES: u64 = 16 << 10;

/// How the write-ahead log is moved to the file.
#[derive(Clone, Copy)]
enum Checkpoint {
    /// All of it, so that the next commit uses its room again.
    Restart,
    /// All of it, so that the disk gets its room back.
    Truncate,
}

/// How far a checkpoint came.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moved {
    All,
    /// A reader needs the rest, or another process is at it.
    Blocked,
    /// The file found no room.
    NoRoom,
}

/// The bytes of the file.
#[derive(Clone, Copy, Default)]
struct PageUse {
    used: u64,
    /// Where documents were deleted.
    free: u64,
    /// Those that are only in the write-ahead log, and will make the file longer.
    pending: u64,
}

impl Desk {
    /// Commits what there is room for: on a full disk, deletes alone, in the room that is kept back for them.
    pub(super) fn commit_with_room(&self, works: &[Work]) -> Vec<Result<u64, StoreError>> {
        let removals: Vec<Work> = works.iter().filter(|work| work.is_removal()).cloned().collect();
        let bytes: usize = works.iter().map(Work::room).sum();
        if self.has_plenty(bytes, removals.len()) {
            return self.commit_or_refuse(works, &removals, Ok(()));
        }
        // The row of a delete has what was deleted.
        let bytes = bytes as u64 + removals.iter().map(|removal| self.bytes_to_delete(removal)).sum::<u64>();
        let mut room = self.check_room(bytes);
        if is_full(&room) {
            room = self.make_room(bytes);
        }
        self.commit_or_refuse(works, &removals, room)
    }

    /// Commits all if there is room, and else the removals.
    fn commit_or_refuse(
        &self,
        works: &[Work],
        removals: &[Work],
        room: Result<(), StoreError>,
    ) -> Vec<Result<u64, StoreError>> {
        let mut patience = READERS;
        let failure = match room.and_then(|()| self.commit_after_checkpoint(works, &mut patience)) {
            Ok(answers) => return answers,
            Err(error) if *error.kind() == ErrorKind::Full => error,
            Err(error) => return works.iter().map(|_| Err(copy(&error))).collect(),
        };
        let mut answers = self.commit_removals(removals, &mut patience).into_iter();
        let answers = works.iter().map(|work| match work.is_removal() {
            true => answers.next().unwrap_or_else(|| Err(copy(&failure))),
            false => Err(copy(&failure)),
        });
        answers.collect()
    }

    /// Makes room for writes: on the disk, which gets that of the write-ahead log back, and in the file, where history is
    /// forgotten early until there is enough. A shorter history is better than no writes.
    fn make_room(&self, bytes: u64) -> Result<(), StoreError> {
        let began = Instant::now();
        loop {
            let mut no_patience = Duration::ZERO;
            self.checkpoint_in_reserve(Checkpoint::Truncate, &mut no_patience);
            let room = self.check_room(bytes);
            if !is_full(&room) || began.elapsed() > PATIENCE || !self.forget_early().unwrap_or_default() {
                return room;
            }
        }
    }

    /// Commits writes. If there is no room for them, room of the write-ahead log that is not needed any more is used first.
    fn commit_after_checkpoint(
        &self,
        works: &[Work],
        patience: &mut Duration,
    ) -> Result<Vec<Result<u64, StoreError>>, StoreError> {
        let mut outcome = self.commit(works);
        if is_full(&outcome) {
            self.checkpoint(Checkpoint::Restart, patience);
            outcome = self.commit(works);
        }
        if is_full(&outcome) && disk::is_limited(&self.file.path) {
            // There is less room than the disk reports, as under a quota: from now on only deletes are written.
            self.file.reserve.give_up();
        }
        outcome
    }

    /// Commits removals, as many together as the reserve has room for: the next ones can use the room that those gave back.
    /// If there is no room for some together, they are committed one at a time.
    fn commit_removals(&self, removals: &[Work], patience: &mut Duration) -> Vec<Result<u64, StoreError>> {
        let (mut answers, mut rest) = (Vec::with_capacity(removals.len()), removals);
        while !rest.is_empty() {
            let (together, later) = rest.split_at(self.count_together(rest));
            match self.commit_in_reserve(together, patience) {
                outcome if is_full(&outcome) && together.len() > 1 => answers
                    .extend(together.chunks(1).flat_map(|one| answer_each(one, self.commit_in_reserve(one, patience)))),
                outcome => answers.extend(answer_each(together, outcome)),
            }
            rest = later;
        }
        answers
    }

    /// How many of the first removals are committed together: at least one.
    fn count_together(&self, removals: &[Work]) -> usize {
        let ends = removals.iter().scan(0, |bytes, removal| {
            *bytes += self.bytes_to_remove(removal);
            Some(*bytes)
        });
        ends.take_while(|bytes| *bytes <= TOGETHER_BYTES).count().clamp(1, removals.len())
    }

    /// Commits removals on a full disk, in the end in the room that is kept back for them.
    fn commit_in_reserve(
        &self,
        removals: &[Work],
        patience: &mut Duration,
    ) -> Result<Vec<Result<u64, StoreError>>, StoreError> {
        let bytes = removals.iter().map(|removal| self.bytes_to_remove(removal)).sum();
        if !self.can_move_log(bytes) && self.give_back(patience) == Moved::Blocked && !self.can_move_log(bytes) {
            return Err(disk::full(&self.file.path));
        }
        let mut outcome = self.commit(removals);
        if is_full(&outcome) {
            self.give_back(patience);
            outcome = self.commit(removals);
        }
        if is_full(&outcome) && self.file.reserve.give_up() {
            outcome = self.commit(removals);
        }
        if outcome.is_ok() {
            self.give_back(patience);
        }
        outcome
    }

    /// Makes the room of deleted documents free at once, although watches could still need their history. The next commit can
    /// use it only if the write-ahead log begins again.
    fn give_back(&self, patience: &mut Duration) -> Moved {
        let _ = self.forget_early();
        self.checkpoint_in_reserve(Checkpoint::Restart, patience)
    }

    /// Forgets a part of the history, however new it is, and says whether there may be more.
    fn forget_early(&self) -> Result<bool, Problem> {
        let head = read::head(&self.connection)?;
        let due = Age::Over(self.file.options.history);
        let aged = compaction::due(&self.connection, head, due, COMPACTED_AT_ONCE)?;
        let has_more = self.forget(Age::Any)?;
        self.file.count_forgotten_early(read::head(&self.connection)?.compacted.saturating_sub(aged));
        Ok(has_more)
    }

    /// Whether no batch of writes needs a look at the room that there is.
    fn has_plenty(&self, bytes: usize, removals: usize) -> bool {
        let limit = self.size_limit();
        self.apply_size_limit(limit);
        let most = bytes as u64 + removals as u64 * self.file.options.max_value_bytes as u64;
        limit.is_none()
            && !self.file.reserve.is_used_up()
            && disk::has_room(&self.file.path, 2 * most + 2 * disk::RESERVE)
    }

    /// Fails if there is room for deletes only: on the disk, below the limit of the file, and in the file, where documents were
    /// deleted.
    fn check_room(&self, bytes: u64) -> Result<(), StoreError> {
        let path = &self.file.path;
        let pages = self.page_use().map_err(|error| Problem::from(error).told(path, Doing::Write))?;
        if self.size_limit().is_some_and(|limit| pages.used + 2 * bytes + disk::kept_below(limit) > limit) {
            return Err(disk::at_limit(path));
        }
        // Values are written to the write-ahead log and to the file.
        let reserve = &self.file.reserve;
        // The last one is for a write-ahead log that has room itself, on a disk that others have filled.
        match !reserve.is_used_up() && disk::has_room(path, 2 * bytes + pages.pending)
            || reserve.leaves_room(pages.free, pages.pending, bytes)
            || pages.free >= disk::RESERVE + 2 * bytes
        {
            true => Ok(()),
            false => Err(disk::full(path)),
        }
    }

    /// Whether the file can take the write-ahead log with `bytes` of removals in it. While a read keeps the log from being
    /// moved, it must not take the room that the file will need then.
    fn can_move_log(&self, bytes: u64) -> bool {
        let Ok(pages) = self.page_use() else { return false };
        self.file.reserve.has_room(pages.pending + bytes.saturating_sub(pages.free) + bytes)
    }

    /// About how much a removal writes.
    fn bytes_to_remove(&self, removal: &Work) -> u64 {
        REMOVAL_BYTES + removal.bytes() as u64 + self.bytes_to_delete(removal)
    }

    /// How long the value is that a delete removes.
    fn bytes_to_delete(&self, removal: &Work) -> u64 {
        let Work::Removal(key, Write::Delete { .. }) = removal else { return 0 };
        let sql = "SELECT length(value) FROM log WHERE key = ?1 ORDER BY revision DESC LIMIT 1";
        let length = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut query| query.query_row([key.as_str()], |row| row.get::<_, i64>(0)));
        // Of a key without a value, or if it cannot be read: then the delete fails.
        length.map_or(0, |length| length as u64)
    }

    /// The size that the file may grow to.
    fn size_limit(&self) -> Option<u64> {
        self.file.options.max_file_bytes.into_iter().chain(disk::process_limit()).min()
    }

    /// Has SQLite refuse writes that would need a larger file: they would stay in the write-ahead log and could never be moved.
    fn apply_size_limit(&self, limit: Option<u64>) {
        /// SQLite's own.
        const MOST_PAGES: u64 = 0xffff_fffe;
        if self.applied_limit.replace(limit) == limit {
            return;
        }
        let page_bytes = self.connection.pragma_query_value(None, "page_size", |row| row.get::<_, i64>(0));
        let pages = limit.zip(page_bytes.ok()).map_or(MOST_PAGES, |(limit, bytes)| limit / bytes.max(1) as u64);
        // If it fails, the file system refuses such writes later.
        let _ =
            self.connection
                .pragma_update_and_check(None, "max_page_count", pages.clamp(1, MOST_PAGES) as i64, |_| Ok(()));
    }

    fn page_use(&self) -> rusqlite::Result<PageUse> {
        let sql = "SELECT page_count * page_size, freelist_count * page_size
                   FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()";
        self.connection.query_one(sql, (), |row| {
            let (all, free) = (row.get::<_, i64>(0)? as u64, row.get::<_, i64>(1)? as u64);
            let length = std::fs::metadata(&self.file.path).map_or(all, |file| file.len());
            Ok(PageUse { used: all.saturating_sub(free), free, pending: all.saturating_sub(length) })
        })
    }

    /// A checkpoint that uses the room that is kept back, if the file finds no other. The room of the log takes its place.
    fn checkpoint_in_reserve(&self, how: Checkpoint, patience: &mut Duration) -> Moved {
        let mut moved = self.checkpoint(how, patience);
        if moved == Moved::NoRoom && self.file.reserve.give_up() {
            moved = self.checkpoint(Checkpoint::Truncate, patience);
            let pages = self.page_use().unwrap_or_default();
            if self.file.reserve.is_used_up() {
                self.file.reserve.leaves_room(pages.free, pages.pending, 0);
            }
        }
        moved
    }

    /// Moves what is in the write-ahead log to the file. Waits for reads no longer than `patience`, and shortens it by that.
    fn checkpoint(&self, how: Checkpoint, patience: &mut Duration) -> Moved {
        let mode = match how {
            Checkpoint::Restart => "RESTART",
            Checkpoint::Truncate => "TRUNCATE",
        };
        let sql = format!("PRAGMA wal_checkpoint({mode})");
        let mut blocked_since = None;
        let moved = loop {
            match self.connection.query_one(&sql, (), |row| row.get::<_, i64>(0)) {
                Ok(0) => break Moved::All,
                Err(error) if failure::is_full(&self.file.path, &error) => break Moved::NoRoom,
                _ if blocked_since.get_or_insert_with(Instant::now).elapsed() >= *patience => break Moved::Blocked,
                _ => thread::sleep(Duration::from_millis(1)),
            }
        };
        *patience = patience.saturating_sub(blocked_since.map_or(Duration::ZERO, |since| since.elapsed()));
        moved
    }
}

/// The answer to each of some works after one commit.
fn answer_each(
    works: &[Work],
    outcome: Result<Vec<Result<u64, StoreError>>, StoreError>,
) -> Vec<Result<u64, StoreError>> {
    outcome.unwrap_or_else(|error| works.iter().map(|_| Err(copy(&error))).collect())
}

/// Whether a commit failed because there is no room.
fn is_full<T>(outcome: &Result<T, StoreError>) -> bool {
    outcome.as_ref().is_err_and(|error| *error.kind() == ErrorKind::Full)
}
