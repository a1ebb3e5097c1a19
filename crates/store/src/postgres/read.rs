//! Reads of one value and of lists. Each is one statement, and so one moment.

use tokio_postgres::{Row, types::Type};

use super::{
    Shared,
    connection::{OwnedParameters, Parameters},
    rows::{self, LogRow},
};
use crate::{
    Continuation, Cursor, ErrorKind, Key, KeyRange, Page, PageRequest, Prefix, Revision, StoreError, Stored,
    log::{self, Action, PAGE_LIMIT},
    sum,
};

/// The longest value that is read over a connection for short rows.
pub(super) const SHORT_BYTES: i32 = 64 << 10;

/// The size of values after which a page is long enough.
const PAGE_BYTES: i64 = 1 << 20;

/// The most rows that one statement of a list looks at.
const MOST_ROWS: i64 = 8192;

pub(super) async fn get(shared: &Shared, key: &Key) -> Result<Option<Stored>, StoreError> {
    let bytes = key.as_str().as_bytes();
    let parameters: &Parameters<'_> = &[(&bytes, Type::BYTEA), (&SHORT_BYTES, Type::INT4)];
    let mut rows = shared.readers.query(&shared.statements.get, parameters).await;
    if rows.as_ref().is_ok_and(|rows| rows.first().is_some_and(has_long_value)) {
        let parameters: OwnedParameters =
            vec![(Box::new(bytes.to_vec()), Type::BYTEA), (Box::new(i32::MAX), Type::INT4)];
        rows = shared.readers.query_long(&shared.statements.get, parameters).await;
    }
    let rows = match rows {
        // The value may be all that cannot be read.
        Err(error) if *error.kind() == ErrorKind::Corrupt => {
            let revision = revision(shared, key).await?;
            return Ok(revision.map(|revision| Stored { revision, value: sum::UNREADABLE }));
        }
        rows => rows?,
    };
    rows.first().map_or(Ok(None), |row| rows::stored(key, row))
}

/// As [`get`], without a look at the checksum.
pub(super) async fn get_unverified(shared: &Shared, key: &Key) -> Result<Option<Stored>, StoreError> {
    let bytes = key.as_str().as_bytes().to_vec();
    let parameters: OwnedParameters = vec![(Box::new(bytes), Type::BYTEA), (Box::new(i32::MAX), Type::INT4)];
    let rows = shared.readers.query_long(&shared.statements.get, parameters).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let revision = log::revision(rows::revision(row, 0)?);
    let value: Option<Vec<u8>> = rows::column(row, 2)?;
    Ok(value.map(|value| Stored { revision, value }))
}

/// The revision of the value of a key; none if it has none.
pub(super) async fn revision(shared: &Shared, key: &Key) -> Result<Option<Revision>, StoreError> {
    let key = key.as_str().as_bytes();
    let rows = shared.readers.query(&shared.statements.get_no_value, &[(&key, Type::BYTEA)]).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let is_removal = rows::action(row, 1)? == Action::Deleted;
    let revision = rows::revision(row, 0)?;
    Ok((!is_removal).then(|| log::revision(revision)))
}

/// Whether a row of [`get`](super::tables::Statements::get) lacks its value because that is long.
fn has_long_value(row: &Row) -> bool {
    let is_removal = rows::action(row, 1).is_ok_and(|action| action == Action::Deleted);
    !is_removal && matches!(rows::column::<Option<&[u8]>>(row, 2), Ok(None))
}

/// What a key had right before a revision.
pub(super) async fn before(shared: &Shared, key: &Key, revision: &Revision) -> Result<Option<Stored>, StoreError> {
    let until = log::revision_number(revision, 0)? as i64;
    let bytes = key.as_str().as_bytes().to_vec();
    let parameters: OwnedParameters = vec![(Box::new(bytes), Type::BYTEA), (Box::new(until), Type::INT8)];
    let rows = shared.readers.query_long(&shared.statements.before, parameters).await?;
    // Asked later, so that whatever was forgotten meanwhile is known.
    let head = rows::head(&shared.readers.query(&shared.statements.head, &[]).await?)?;
    log::revision_number(revision, head.compacted)?;
    rows.first().map_or(Ok(None), |row| rows::stored(key, row))
}

/// Whether nothing has happened to some keys since a moment.
pub(super) async fn is_unchanged(shared: &Shared, range: &KeyRange, since: &Cursor) -> Result<bool, StoreError> {
    let Some(row) = log::row_of(since) else { return Ok(false) };
    let after = range.after.as_ref().map_or(range.prefix.as_str(), Key::as_str).as_bytes();
    let until = range.until.as_ref().map(|key| key.as_str().as_bytes());
    let parameters: &Parameters<'_> = &[
        (&(row as i64), Type::INT8),
        (&(log::MOST_LOOKED_THROUGH as i64), Type::INT8),
        (&after, Type::BYTEA),
        (&range.prefix.end().map(String::into_bytes), Type::BYTEA),
        (&until, Type::BYTEA),
    ];
    let rows = shared.readers.query(&shared.statements.is_unchanged, parameters).await?;
    let head = rows::head(&rows)?;
    let is_known = log::recent(since, head.revision, head.compacted).is_some();
    Ok(is_known && rows::column(&rows[0], 2)?)
}

/// A page, by as many statements as it takes to step over the history of keys and over keys that are gone.
pub(super) async fn page(shared: &Shared, prefix: &Prefix, request: &PageRequest) -> Result<Page, StoreError> {
    let limit = request.limit.unwrap_or(PAGE_LIMIT).clamp(1, PAGE_LIMIT);
    let end = prefix.end().map(String::into_bytes);
    let mut list = List::begin(prefix, request.after.as_ref())?;
    let mut most_rows = limit as i64 + 1;
    loop {
        // The first statement shows all that it sees.
        let moment = list.moment.map_or(i64::MAX, |moment| moment as i64);
        let parameters = |most_bytes: i64| -> OwnedParameters {
            vec![
                (Box::new(list.after.clone().into_bytes()), Type::BYTEA),
                (Box::new(end.clone()), Type::BYTEA),
                (Box::new(moment), Type::INT8),
                (Box::new(most_rows), Type::INT8),
                (Box::new(most_bytes), Type::INT8),
            ]
        };
        let rows = shared.readers.query_long(&shared.statements.list, parameters(PAGE_BYTES)).await;
        let (head, rows) = match rows {
            // Without values, which are read one by one.
            Err(error) if *error.kind() == ErrorKind::Corrupt => {
                let rows = shared.readers.query_long(&shared.statements.list, parameters(0)).await?;
                let (head, mut rows) = rows::head_and_log(&rows)?;
                let mut key = None;
                let newest = rows.iter_mut().filter(move |row| key.replace(row.key.clone()).as_ref() != Some(&row.key));
                let newest = newest.filter(|row| row.action != Action::Deleted);
                read_values(shared, newest, PAGE_BYTES).await?;
                (head, rows)
            }
            rows => rows::head_and_log(&rows?)?,
        };
        if let Some(after) = &request.after {
            log::continuation_parts(after, prefix, head.revision, head.compacted)?;
        }
        let moment = *list.moment.get_or_insert(head.revision);
        if moment < head.compacted {
            return Err(log::too_old(moment, head.compacted));
        }
        let is_end = (rows.len() as i64) < most_rows;
        let is_cut = list.take(rows);
        let is_full = list.items.len() > limit;
        list.items.truncate(limit);
        if is_full || is_end && !is_cut || is_cut && !list.items.is_empty() {
            let last = list.items.last().filter(|_| is_full || is_cut);
            let next = last.map(|(key, _)| log::continuation(moment, key));
            return Ok(Page { items: list.items, next, cursor: log::cursor(moment) });
        }
        most_rows = (most_rows * 2).min(MOST_ROWS);
    }
}

/// Reads the values of rows one by one, until there are so many bytes.
pub(super) async fn read_values<'r>(
    shared: &Shared,
    rows: impl Iterator<Item = &'r mut LogRow>,
    most: i64,
) -> Result<(), StoreError> {
    let mut bytes = 0;
    for row in rows.filter(|row| row.value.is_none()) {
        if bytes >= most {
            return Ok(());
        }
        let value = value(shared, row).await?;
        bytes += value.len() as i64;
        row.value = Some(value);
    }
    Ok(())
}

/// The value of a row, unreadable if the server cannot read it.
async fn value(shared: &Shared, row: &LogRow) -> Result<Vec<u8>, StoreError> {
    let (key, revision) = (row.key.as_str().as_bytes().to_vec(), row.revision as i64);
    let parameters: OwnedParameters = vec![(Box::new(key), Type::BYTEA), (Box::new(revision), Type::INT8)];
    let rows = match shared.readers.query_long(&shared.statements.value, parameters).await {
        Err(error) if *error.kind() == ErrorKind::Corrupt => return Ok(sum::UNREADABLE),
        rows => rows?,
    };
    let Some(found) = rows.first() else { return Ok(sum::UNREADABLE) };
    let value: Vec<u8> = rows::column(found, 0)?;
    let is_right =
        sum::matches_parts(rows::column(found, 1)?, row.revision, row.key.as_str(), row.action, Some(&value));
    Ok(if is_right { value } else { sum::UNREADABLE })
}

/// A page as it grows.
struct List {
    /// What it shows; unknown before the first statement.
    moment: Option<u64>,
    /// The key or the beginning of keys that it goes on after.
    after: String,
    items: Vec<(Key, Stored)>,
}

impl List {
    fn begin(prefix: &Prefix, after: Option<&Continuation>) -> Result<Self, StoreError> {
        let Some(after) = after else {
            // No key is equal to a prefix.
            return Ok(Self { moment: None, after: prefix.as_str().to_owned(), items: Vec::new() });
        };
        // Whether the store has such a moment is seen when it answers.
        let (moment, last) = log::continuation_parts(after, prefix, u64::MAX, 0)?;
        Ok(Self { moment: Some(moment), after: last.to_owned(), items: Vec::new() })
    }

    /// Adds what keys have, by their first rows. Says whether a value was left out because there were too many bytes.
    fn take(&mut self, rows: Vec<LogRow>) -> bool {
        for row in rows {
            if row.key.as_str() == self.after {
                continue;
            }
            match row.value {
                Some(value) => {
                    self.after = row.key.as_str().to_owned();
                    self.items.push((row.key, Stored { revision: log::revision(row.revision), value }));
                }
                None if row.action == Action::Deleted => self.after = row.key.as_str().to_owned(),
                None => return true,
            }
        }
        false
    }
}
