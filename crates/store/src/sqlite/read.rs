//! What is read from the log.

use rusqlite::{
    Connection, OptionalExtension, Row, ToSql, params,
    types::{ToSqlOutput, Value, ValueRef},
};

use super::failure::Problem;
use crate::{
    Cursor, ErrorKind, Event, Key, KeyRange, Page, PageRequest, Prefix, Revision, StoreError, Stored, Upcoming,
    log::{self, Action, Newest, PAGE_LIMIT},
    sum,
};

/// A page ends when its values have more than this, so that memory stays flat whatever is stored.
const LIST_BYTES: usize = 1 << 20;

/// As much as a watch holds beside the next event.
const PORTION_BYTES: usize = 64 << 10;

/// The most events that a watch holds.
const PORTION_EVENTS: usize = 256;

/// The most rows that a watch passes over at once.
const PORTION_ROWS: u64 = 8192;

/// A statement that reads `sum`, and the same for files without.
macro_rules! sums {
    ($before:literal, $after:literal) => {
        [concat!($before, "NULL", $after), concat!($before, "sum", $after)]
    };
}

const GET: [&str; 2] =
    sums!("SELECT revision, action, value, ", " FROM log WHERE key = ?1 ORDER BY revision DESC LIMIT 1");

/// How far the log goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub(super) revision: u64,
    pub(super) compacted: u64,
}

/// The longest value that is read of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Longest {
    /// As long as a portion.
    Portion,
    Any,
}

/// A part of what happened to the keys with a prefix.
#[derive(Debug)]
pub(super) struct Portion {
    pub(super) events: Vec<(u64, Event)>,
    /// The event after them, if its value was too long to be read.
    pub(super) long: Option<Upcoming>,
    /// The row up to which these are all.
    pub(super) until: u64,
    /// Whether there are rows after that.
    pub(super) has_more: bool,
}

pub(super) fn head(connection: &Connection) -> Result<Head, Problem> {
    let mut statement = connection.prepare_cached("SELECT revision, compacted FROM head")?;
    Ok(statement.query_row([], |row| Ok(Head { revision: number(row, 0)?, compacted: number(row, 1)? }))?)
}

pub(super) fn get(connection: &Connection, key: &Key, has_sums: bool) -> Result<Option<Stored>, Problem> {
    let mut statement = connection.prepare_cached(GET[usize::from(has_sums)])?;
    let mut rows = statement.query([key.as_str()])?;
    match rows.next()? {
        Some(row) => Ok(stored(row, key)?),
        None => Ok(None),
    }
}

/// As [`get`], without a look at the checksum.
pub(super) fn get_unverified(connection: &Connection, key: &Key) -> Result<Option<Stored>, Problem> {
    let mut statement = connection.prepare_cached(GET[0])?;
    let mut rows = statement.query([key.as_str()])?;
    let Some(row) = rows.next()?.map(|row| (number(row, 0), action(row, 1), row.get(2))) else { return Ok(None) };
    let (revision, action, value) = (row.0?, row.1?, row.2?);
    Ok((action != Action::Deleted).then(|| Stored { revision: log::revision(revision), value }))
}

/// What a key had right before a revision.
pub(super) fn before(
    connection: &Connection,
    key: &Key,
    revision: &Revision,
    has_sums: bool,
) -> Result<Option<Stored>, Problem> {
    let transaction = connection.unchecked_transaction()?;
    let until = log::revision_number(revision, head(&transaction)?.compacted)?;
    const BEFORE: [&str; 2] = sums!(
        "SELECT revision, action, value, ",
        " FROM log WHERE key = ?1 AND revision < ?2 ORDER BY revision DESC LIMIT 1"
    );
    let mut statement = transaction.prepare_cached(BEFORE[usize::from(has_sums)])?;
    let mut rows = statement.query(params![key.as_str(), until as i64])?;
    match rows.next()? {
        Some(row) => Ok(stored(row, key)?),
        None => Ok(None),
    }
}

/// The value of a row, of its revision, action, value and checksum; none if it is a removal.
fn stored(row: &Row<'_>, key: &Key) -> Result<Option<Stored>, Problem> {
    let (revision, action) = (number(row, 0)?, action(row, 1)?);
    let value: Vec<u8> = row.get(2)?;
    let value = match sum::matches(row.get(3)?, revision, key.as_str(), action, &value) {
        true if action == Action::Deleted => return Ok(None),
        true => value,
        false => sum::UNREADABLE,
    };
    Ok(Some(Stored { revision: log::revision(revision), value }))
}

/// The newest row of a key.
pub(super) fn newest(connection: &Connection, key: &Key) -> Result<Option<Newest>, Problem> {
    let sql = "SELECT revision, action FROM log WHERE key = ?1 ORDER BY revision DESC LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let newest = statement.query_row([key.as_str()], |row| Ok((number(row, 0)?, row.get(1)?))).optional()?;
    newest.map(|(revision, number)| Ok(Newest { revision, action: known_action(number)? })).transpose()
}

pub(super) fn page(
    connection: &Connection,
    prefix: &Prefix,
    request: &PageRequest,
    has_sums: bool,
) -> Result<Page, Problem> {
    // The head and the values must be of one moment.
    let transaction = connection.unchecked_transaction()?;
    let head = head(&transaction)?;
    let limit = request.limit.unwrap_or(PAGE_LIMIT).clamp(1, PAGE_LIMIT);
    let (moment, after) = match &request.after {
        Some(after) => log::continuation_parts(after, prefix, head.revision, head.compacted)?,
        None => (head.revision, prefix.as_str()),
    };
    // The inner query walks the index alone, in the order of the keys, and no further than the page goes.
    const PAGE: [&str; 2] = sums!(
        "SELECT log.revision, log.action, log.value, ",
        ", newest.key, newest.revision FROM (
             SELECT key, max(revision) AS revision FROM log INDEXED BY log_by_key
             WHERE key > ?1 AND key < ?2 AND revision <= ?3 GROUP BY key ORDER BY key
         ) AS newest LEFT JOIN log NOT INDEXED ON log.revision = newest.revision AND log.key = newest.key"
    );
    let mut statement = transaction.prepare_cached(PAGE[usize::from(has_sums)])?;
    let mut rows = statement.query(params![after, End::of(prefix), moment as i64])?;
    let (mut items, mut bytes, mut next) = (Vec::new(), 0, None);
    while let Some(row) = rows.next()? {
        if items.len() == limit || bytes > LIST_BYTES {
            next = items.last().map(|(key, _)| log::continuation(moment, key));
            break;
        }
        let key = key(row, 4)?;
        if row.get_ref(0)? == ValueRef::Null {
            return Err(corrupt(&format!("no row of revision {} of {key}", number(row, 5)?)).into());
        }
        let Some(stored) = stored(row, &key)? else { continue };
        bytes += stored.value.len();
        items.push((key, stored));
    }
    Ok(Page { items, next, cursor: log::cursor(moment) })
}

/// Whether nothing has happened to some keys since a moment.
pub(super) fn is_unchanged(connection: &Connection, range: &KeyRange, since: &Cursor) -> Result<bool, Problem> {
    let transaction = connection.unchecked_transaction()?;
    let head = head(&transaction)?;
    let Some(since) = log::recent(since, head.revision, head.compacted) else { return Ok(false) };
    if since == head.revision {
        return Ok(true);
    }
    // The signs keep SQLite from going by keys, of which there may be many more.
    let sql = "SELECT NOT EXISTS (SELECT 1 FROM log
                   WHERE revision > ?1 AND +key > ?2 AND +key < ?3 AND (?4 IS NULL OR +key <= ?4))";
    let mut statement = transaction.prepare_cached(sql)?;
    let after = range.after.as_ref().map_or(range.prefix.as_str(), Key::as_str);
    let until = range.until.as_ref().map(Key::as_str);
    Ok(statement.query_row(params![since as i64, after, End::of(&range.prefix), until], |row| row.get(0))?)
}

/// What happened after a row.
pub(super) fn portion(
    connection: &Connection,
    prefix: &Prefix,
    after: u64,
    longest: Longest,
    has_sums: bool,
) -> Result<Portion, Problem> {
    let transaction = connection.unchecked_transaction()?;
    let head = head(&transaction)?;
    if after < head.compacted {
        return Err(log::too_old(after, head.compacted).into());
    }
    let mut until = head.revision.min(after.saturating_add(PORTION_ROWS));
    // Those of other keys too: one that is missing is noticed.
    const PORTION: [&str; 2] = sums!(
        "SELECT revision, key, action, CASE WHEN key > ?3 AND key < ?4 AND length(value) <= ?5 THEN value END, ",
        ", length(value), key > ?3 AND key < ?4 FROM log WHERE revision > ?1 AND revision <= ?2 ORDER BY revision"
    );
    let mut statement = transaction.prepare_cached(PORTION[usize::from(has_sums)])?;
    let most_bytes = match longest {
        Longest::Portion => PORTION_BYTES as i64,
        Longest::Any => i64::MAX,
    };
    let range = params![after as i64, until as i64, prefix.as_str(), End::of(prefix), most_bytes];
    let mut rows = statement.query(range)?;
    let (mut events, mut long, mut bytes) = (Vec::new(), None, 0);
    let mut last = after;
    while let Some(row) = rows.next()? {
        let revision = number(row, 0)?;
        if revision != last + 1 {
            break;
        }
        last = revision;
        if !row.get::<_, bool>(6)? {
            continue;
        }
        let (key, action) = (key(row, 1)?, action(row, 2)?);
        let Some(mut value) = row.get::<_, Option<Vec<u8>>>(3)? else {
            long = Some(Upcoming { key, revision: log::revision(revision), bytes: number(row, 5)? as usize });
            until = revision - 1;
            break;
        };
        if !sum::matches(row.get(4)?, revision, key.as_str(), action, &value) {
            value = sum::UNREADABLE;
        }
        bytes += value.len();
        let event = Event {
            key,
            revision: log::revision(revision),
            change: action.change(value),
            cursor: log::cursor(revision),
        };
        events.push((revision, event));
        if events.len() == PORTION_EVENTS || bytes > PORTION_BYTES {
            until = revision;
            break;
        }
    }
    if long.is_none() && last < until {
        return Err(corrupt(&format!("no row of revision {}", last + 1)).into());
    }
    Ok(Portion { events, long, until, has_more: until < head.revision })
}

/// What no key with a prefix is beyond.
struct End(Option<String>);

impl End {
    fn of(prefix: &Prefix) -> Self {
        Self(prefix.end())
    }
}

impl ToSql for End {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        // In SQLite's order every text is before every blob.
        Ok(self.0.as_deref().map_or(ToSqlOutput::Owned(Value::Blob(Vec::new())), ToSqlOutput::from))
    }
}

fn number(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, number))
}

fn key(row: &Row<'_>, column: usize) -> Result<Key, Problem> {
    let text: String = row.get(column)?;
    Key::new(text).map_err(|problem| corrupt("a key that cannot be one").because(problem).into())
}

fn action(row: &Row<'_>, column: usize) -> Result<Action, Problem> {
    known_action(row.get(column)?)
}

fn known_action(number: i64) -> Result<Action, Problem> {
    Action::from_number(number).ok_or_else(|| corrupt(&format!("an action {number}, which no release wrote")).into())
}

fn corrupt(what: &str) -> StoreError {
    StoreError::new(ErrorKind::Corrupt, format!("the log has {what}; put a backup in the place of the file"))
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;
    use crate::{SqliteOptions, sqlite::file::File};

    #[test]
    fn a_get_is_planned_once() {
        let folder = tempfile::tempdir().unwrap();
        let (file, _writer) = File::open(&folder.path().join("store"), SqliteOptions::default()).unwrap();
        for name in ["a", "b", "a"] {
            file.read(|connection| get(connection, &Key::new(name).unwrap(), true)).unwrap();
        }
        let status =
            file.read(|connection| Ok(connection.prepare_cached(GET[1])?.get_status(StatementStatus::RePrepare)));
        let runs = file.read(|connection| Ok(connection.prepare_cached(GET[1])?.get_status(StatementStatus::Run)));
        assert_eq!((status.unwrap(), runs.unwrap()), (0, 3));
    }
}
