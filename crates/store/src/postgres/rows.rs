//! What statements answer, as the log has it.

use tokio_postgres::{Row, types::FromSql};

use super::{failure, tables};
use crate::{ErrorKind, Key, StoreError, log::Action};

/// How far the log goes, and what of it is forgotten.
#[derive(Clone, Copy, Debug)]
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
    /// None if the statement left it out.
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
        Ok(LogRow { revision: revision(row, 2)?, key, action: action(row, 4)?, value: column(row, 5)? })
    });
    Ok((head, log.collect::<Result<_, StoreError>>()?))
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
