//! Files with a damaged structure: finding that out when they are opened, and reading what can still be read of them.
//!
//! SQLite does not notice a damaged index: a lookup finds an older row, or none. So the structure is checked once, and if it
//! is damaged, nothing is looked up in it again. All keys and revisions are read from the table and from the index, and
//! compared; values are then read by revision alone. A key whose newest row cannot be read has an empty value, which no
//! reader takes for a document. Nothing is written to such a file.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use rusqlite::{Connection, OptionalExtension, Row};

use super::{
    failure::Problem,
    read::{self, Head},
};
use crate::{
    ErrorKind, Key, Page, PageRequest, Prefix, StoreError, Stored,
    log::{self, Action, PAGE_LIMIT},
    sum,
};

/// A page of a list ends when its values have more than this.
const PAGE_BYTES: usize = 4 << 20;

/// What is known of a file with a damaged structure.
#[derive(Debug)]
pub(super) struct Damage {
    /// The first thing that is wrong.
    what: String,
    /// The newest revision of each key; none if it cannot be determined.
    newest: BTreeMap<Key, Option<u64>>,
    /// All keys are in `newest`.
    has_all_keys: bool,
    /// No newer revision of any key is lost.
    is_current: bool,
    head: u64,
}

/// The first thing that is wrong with the structure of a file; none if it is sound.
pub(super) fn find(connection: &Connection, has_sums: bool) -> Result<Option<String>, Problem> {
    let transaction = connection.unchecked_transaction()?;
    let found: String = transaction.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if found != "ok" {
        return Ok(Some(found));
    }
    let Head { revision, compacted } = read::head(&transaction)?;
    let (revision, compacted) = (revision as i64, compacted as i64);
    // Nothing after `compacted` is ever left out of the log.
    let count = "SELECT count(*) FROM log WHERE revision > ?1";
    let rows: i64 = transaction.query_row(count, [compacted], |row| row.get(0))?;
    let last: i64 = transaction.query_row("SELECT coalesce(max(revision), 0) FROM log", [], |row| row.get(0))?;
    if rows != revision - compacted || last > revision {
        return Ok(Some(format!("the log ends at {last} with {rows} rows after {compacted}, not at {revision}")));
    }
    let compacted_removal =
        "SELECT revision FROM log NOT INDEXED WHERE revision <= ?1 AND action NOT IN (0, 1) LIMIT 1";
    let out_of_turn = "SELECT revision FROM (
            SELECT revision, action, (
                SELECT older.action FROM log AS older INDEXED BY log_by_key
                WHERE older.key = newer.key AND older.revision < newer.revision ORDER BY older.revision DESC LIMIT 1
            ) AS before FROM log AS newer WHERE revision > ?1
        ) WHERE CASE action WHEN 0 THEN coalesce(before, 2) <> 2 WHEN 1 THEN coalesce(before, 2) = 2
                            WHEN 2 THEN coalesce(before, 2) = 2 ELSE 1 END LIMIT 1";
    for sql in [compacted_removal, out_of_turn] {
        if let Some(row) = transaction.query_row(sql, [compacted], |row| row.get::<_, i64>(0)).optional()? {
            return Ok(Some(format!("revision {row} does not follow from the revision before it")));
        }
    }
    if has_sums {
        let sql = "SELECT revision, key, sum FROM log WHERE revision > ?1 AND sum IS NOT NULL";
        let mut statement = transaction.prepare(sql)?;
        let mut rows = statement.query([compacted])?;
        while let Some(row) = rows.next()? {
            let (revision, key, sum): (i64, String, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
            if sum::is_moved(sum, revision as u64, &key, last as u64) {
                return Ok(Some(format!("the row of revision {revision} was written at another one")));
            }
        }
    }
    Ok(None)
}

/// Keys and revisions as the table or the index has them.
struct Scan {
    rows: Vec<(Key, u64, Option<Action>)>,
    /// The checksums of rows, by revision.
    sums: HashMap<u64, i64>,
    /// All of it could be read, in ascending order.
    is_whole: bool,
}

impl Damage {
    /// Reads all that can be read of keys and revisions.
    pub(super) fn of(connection: &Connection, what: String, has_sums: bool) -> Self {
        let index =
            Scan::of(connection, "key, revision, NULL, NULL FROM log INDEXED BY log_by_key", ["key", "revision"]);
        let sum = if has_sums { "sum" } else { "NULL" };
        let of_table = format!("key, revision, action, {sum} FROM log NOT INDEXED");
        let table = Scan::of(connection, &of_table, ["revision", "revision"]);
        let head = read::head(connection).ok();
        let in_index: HashSet<(&Key, u64)> = index.rows.iter().map(|(key, revision, _)| (key, *revision)).collect();
        let in_table: HashSet<(&Key, u64)> = table.rows.iter().map(|(key, revision, _)| (key, *revision)).collect();
        let claims: HashSet<(&Key, u64)> = in_index.union(&in_table).copied().collect();
        // What a checksum confirms refutes everything else that is said of the revision.
        let is_of = |(key, revision): &(&Key, u64)| {
            table.sums.get(revision).map(|sum| sum::is_of(*sum, *revision, key.as_str()))
        };
        let confirmed: HashSet<u64> = claims.iter().filter(|row| is_of(row) == Some(true)).map(|row| row.1).collect();
        let compacted = head.map_or(0, |head| head.compacted);
        let revisions: HashSet<u64> = claims.iter().map(|row| row.1).collect();
        let last = head.map_or_else(|| revisions.iter().copied().max().unwrap_or_default(), |head| head.revision);
        let is_moved =
            in_table.iter().filter(|row| row.1 > compacted && !confirmed.contains(&row.1)).any(|(key, revision)| {
                table.sums.get(revision).is_some_and(|sum| sum::is_moved(*sum, *revision, key.as_str(), last))
            });
        let is_same = index.is_whole && table.is_whole && in_index == in_table;
        let is_current = match head {
            Some(head) => {
                head.revision - head.compacted.min(head.revision) <= revisions.len() as u64
                    && (head.compacted + 1..=head.revision).all(|revision| revisions.contains(&revision))
            }
            None => false,
        };
        let is_current = (is_current || is_same) && !is_moved;

        // The revision of an index entry was changed if the key has one in the table alone.
        let only_in_table: HashSet<&Key> = match table.is_whole {
            true => in_table.difference(&in_index).map(|(key, _)| *key).collect(),
            false => HashSet::new(),
        };
        let is_stray = |row: &(&Key, u64)| !in_table.contains(row) && only_in_table.contains(row.0);
        let is_refuted = |row: &(&Key, u64)| confirmed.contains(&row.1) && is_of(row) == Some(false);
        let mut newest = BTreeMap::<Key, Option<u64>>::new();
        for (key, revision) in claims.iter().filter(|row| !is_stray(row) && !is_refuted(row)) {
            let known = newest.entry((*key).clone()).or_default();
            *known = (*known).max(Some(*revision));
        }
        for key in table.out_of_turn(compacted) {
            newest.insert(key, None);
        }
        let has_all_keys = index.is_whole || table.is_whole;
        Self { what, newest, has_all_keys, is_current, head: last }
    }

    /// The error of what a damaged file is not used for.
    pub(super) fn refusal(&self, path: &std::path::Path) -> StoreError {
        let message = format!(
            "{} is damaged: what is still readable can be read, and nothing is written; put a backup in its place",
            path.display()
        );
        StoreError::new(ErrorKind::Corrupt, message).because(self.what.clone())
    }

    /// The value of a key: empty if it cannot be read. None if it is not known whether there is one.
    pub(super) fn get(&self, connection: &Connection, key: &Key, has_sums: bool) -> Option<Option<Stored>> {
        if !self.is_current {
            return None;
        }
        match self.newest.get(key) {
            Some(revision) => Some(stored(connection, key, *revision, has_sums)),
            None => self.has_all_keys.then_some(None),
        }
    }

    /// A page of a list of now; none if keys may be missing.
    pub(super) fn page(
        &self,
        connection: &Connection,
        prefix: &Prefix,
        request: &PageRequest,
        has_sums: bool,
    ) -> Option<Page> {
        if !self.is_current || !self.has_all_keys {
            return None;
        }
        let limit = request.limit.unwrap_or(PAGE_LIMIT).clamp(1, PAGE_LIMIT);
        let after = match &request.after {
            Some(after) => log::continuation_parts(after, prefix, u64::MAX, 0).ok()?.1,
            None => prefix.as_str(),
        };
        let (mut items, mut bytes, mut next) = (Vec::new(), 0, None);
        let keys = self.newest.range::<str, _>((std::ops::Bound::Excluded(after), std::ops::Bound::Unbounded));
        for (key, revision) in keys.take_while(|(key, _)| prefix.is_of(key)) {
            if items.len() == limit || bytes > PAGE_BYTES {
                next = items.last().map(|(key, _)| log::continuation(self.head, key));
                break;
            }
            if let Some(stored) = stored(connection, key, *revision, has_sums) {
                bytes += stored.value.len();
                items.push((key.clone(), stored));
            }
        }
        Some(Page { items, next, cursor: log::cursor(self.head) })
    }
}

/// The value of a row; none if the row is a removal.
fn stored(connection: &Connection, key: &Key, revision: Option<u64>, has_sums: bool) -> Option<Stored> {
    let sum = if has_sums { "sum" } else { "NULL" };
    let sql = format!("SELECT action, value, {sum} FROM log NOT INDEXED WHERE revision = ?1");
    let read = |revision: u64| -> rusqlite::Result<(i64, Vec<u8>, Option<i64>)> {
        let parts = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        connection.prepare_cached(&sql)?.query_row([revision as i64], parts)
    };
    let row = revision.and_then(|revision| read(revision).ok());
    let unreadable = |revision| Some(Stored { revision: log::revision(revision), value: sum::UNREADABLE });
    let (Some(revision), Some((action, value, sum))) = (revision, row) else {
        return unreadable(revision.unwrap_or_default());
    };
    match Action::from_number(action) {
        Some(action) if sum::matches(sum, revision, key.as_str(), action, &value) => {
            (action != Action::Deleted).then(|| Stored { revision: log::revision(revision), value })
        }
        _ => unreadable(revision),
    }
}

impl Scan {
    /// Reads from both ends, as far as it goes.
    fn of(connection: &Connection, what: &str, [first, second]: [&str; 2]) -> Self {
        let mut scan = Self { rows: Vec::new(), sums: HashMap::new(), is_whole: true };
        let by = |order: &str| format!("SELECT {what} ORDER BY {first} {order}, {second} {order}");
        if scan.read(connection, &by("ASC")).is_err() {
            scan.is_whole = false;
            // What cannot be read from this end either stays unread.
            let _ = scan.read(connection, &by("DESC"));
            return scan;
        }
        let place = |row: &(Key, u64, Option<Action>)| match first {
            "key" => (Some(row.0.clone()), row.1),
            _ => (None, row.1),
        };
        scan.is_whole &= scan.rows.windows(2).all(|pair| place(&pair[0]) < place(&pair[1]));
        scan
    }

    fn read(&mut self, connection: &Connection, sql: &str) -> rusqlite::Result<()> {
        let mut statement = connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        let parts = |row: &Row<'_>| -> Option<(Key, u64, Option<Action>)> {
            let (text, revision, action) =
                (row.get::<_, String>(0).ok()?, row.get::<_, i64>(1).ok()?, row.get(2).ok()?);
            let action: Option<i64> = action;
            Some((Key::new(text).ok()?, u64::try_from(revision).ok()?, action.and_then(Action::from_number)))
        };
        while let Some(row) = rows.next()? {
            match parts(row) {
                Some(parts) => {
                    if let Ok(Some(sum)) = row.get(3) {
                        self.sums.insert(parts.1, sum);
                    }
                    self.rows.push(parts);
                }
                None => self.is_whole = false,
            }
        }
        Ok(())
    }

    /// Keys with a row that does not follow from the one before it.
    fn out_of_turn(&self, compacted: u64) -> BTreeSet<Key> {
        let (mut last, mut found) = (HashMap::new(), BTreeSet::new());
        if !self.is_whole {
            return found;
        }
        for (key, revision, action) in &self.rows {
            let has_value = matches!(last.insert(key, *action), Some(Some(Action::Created | Action::Replaced)));
            let is_in_turn = match action {
                None => false,
                Some(Action::Deleted) if *revision <= compacted => false,
                Some(_) if *revision <= compacted => true,
                Some(Action::Created) => !has_value,
                Some(Action::Replaced | Action::Deleted) => has_value,
            };
            if !is_in_turn {
                found.insert(key.clone());
            }
        }
        found
    }
}
