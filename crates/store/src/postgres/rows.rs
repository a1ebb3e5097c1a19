//! What statements answer, as the log has it.

use tokio_postgres::{Row, types::FromSql};

use super::{failure, tables};
use crate::{
    ErrorKind, Key, StoreError, Stored,
    log::{self, Action},
    sum,
};

/// How far the log goes, and what of it is forgotten.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Head {
    pub(super) revision: u64,
    pub(super) compacted: u64,
}

/// A row of the log.
#[derive(Debug)]
pub(super) struct LogRow {
    pub(super) revision: u64,
    pub(super) key: Key,
    pub(super) action: Action,
    /// None if the statement left it out. Unreadable if the checksum of the row does not match.
    pub(super) value: Option<Vec<u8>>,
}

/// The head, which is in the first two columns of every row.
pub(super) fn head(rows: &[Row]) -> Result<Head, StoreError> {
    let row = rows.first().ok_or_else(tables::no_head)?;
    Ok(Head { revision: revision(row, 0)?, compacted: revision(row, 1)? })
}

/// The head, and the rows of the log beside it.
pub(super) fn head_and_log(rows: &[Row]) -> Result<(Head, Vec<LogRow>), StoreError> {
    let head = head(rows)?;
    let is_empty = column::<Option<i64>>(&rows[0], 2)?.is_none();
    let log = rows.iter().filter(|_| !is_empty).map(|row| {
        let key = String::from_utf8(column(row, 3)?).ok().and_then(|text| Key::new(text).ok());
        let key = key.ok_or_else(|| corrupt("a key that is none"))?;
        let (revision, action) = (revision(row, 2)?, action(row, 4)?);
        let mut value: Option<Vec<u8>> = column(row, 5)?;
        if !sum::matches_parts(column(row, 6)?, revision, key.as_str(), action, value.as_deref()) {
            value = Some(sum::UNREADABLE);
        }
        Ok(LogRow { revision, key, action, value })
    });
    Ok((head, log.collect::<Result<_, StoreError>>()?))
}

/// The value of a key in a row of revision, action, value and checksum; none if the row is a removal.
pub(super) fn stored(key: &Key, row: &Row) -> Result<Option<Stored>, StoreError> {
    let (revision, action) = (revision(row, 0)?, action(row, 1)?);
    let value: Option<Vec<u8>> = column(row, 2)?;
    let value = match sum::matches_parts(column(row, 3)?, revision, key.as_str(), action, value.as_deref()) {
        true => value,
        false => Some(sum::UNREADABLE),
    };
    Ok(value.map(|value| Stored { revision: log::revision(revision), value }))
}

pub(super) fn revision(row: &Row, index: usize) -> Result<u64, StoreError> {
    u64::try_from(column::<i64>(row, index)?).map_err(|_| corrupt("a revision below zero"))
}

pub(super) fn action(row: &Row, index: usize) -> Result<Action, StoreError> {
    Action::from_number(column::<i16>(row, index)?.into()).ok_or_else(|| corrupt("an action that is none"))
}

pub(super) fn column<'a, T: FromSql<'a>>(row: &'a Row, index: usize) -> Result<T, StoreError> {
    row.try_get(index).map_err(|error| failure::of_answer(&error))
}

fn corrupt(what: &str) -> StoreError {
    StoreError::new(ErrorKind::Corrupt, format!("the table log holds {what}: restore it from a backup"))
}
