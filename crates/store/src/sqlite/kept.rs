//! The digest of the rows that are kept up to where the log is compacted.
//!
//! Revisions after `compacted` follow each other without a gap, so one that is lost is missed. Of the earlier ones only the newest
//! of each key is kept, and nothing in the table or its index shows which: older copies of a page of both agree with each other.
//! So the row of the head has buckets of these keys with their revisions. They change only where the log is compacted, and are in
//! the page of the head, which every commit writes.
//!
//! An earlier release compacts without them. Then they are those of an earlier revision, and unknown until
//! [`complete`] computes them again.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{failure::Problem, file, read};
use crate::buckets::{Element, KeyHash, PageBuckets};

/// Their number among the parts of a digest, which has this one alone.
const PART: usize = 0;

/// What the head has of the digest.
pub(super) enum Stored {
    /// None, or that of an earlier revision.
    Unknown,
    /// Bytes that are not what was written.
    Damaged,
    Known(PageBuckets),
}

/// The digest in a column of the head, if it is that of the rows up to `compacted`.
pub(super) fn stored(bytes: Option<&[u8]>, compacted: u64) -> Stored {
    let Some(bytes) = bytes else { return Stored::Unknown };
    let mut buckets = PageBuckets::unknown();
    match PageBuckets::part_revision(PART, bytes) {
        None => Stored::Damaged,
        Some(_) if buckets.set_part(PART, compacted, bytes) => Stored::Known(buckets),
        Some(_) => Stored::Unknown,
    }
}

/// Reads the digest from the head.
pub(super) fn read(connection: &Connection, compacted: u64) -> rusqlite::Result<Stored> {
    let mut statement = connection.prepare_cached("SELECT digest FROM head")?;
    let bytes: Option<Option<Vec<u8>>> = statement.query_row([], |row| row.get(0)).optional()?;
    Ok(stored(bytes.flatten().as_deref(), compacted))
}

/// The bytes of the digest for the head.
pub(super) fn bytes(buckets: &PageBuckets, compacted: u64) -> Vec<u8> {
    buckets.part(PART, compacted)
}

/// The digest of the rows in the log.
pub(super) fn of_rows(connection: &Connection, compacted: u64) -> rusqlite::Result<PageBuckets> {
    let mut buckets = PageBuckets::of_none();
    let mut statement =
        connection.prepare("SELECT revision, key FROM log INDEXED BY log_by_key WHERE revision <= ?1")?;
    let mut rows = statement.query([compacted as i64])?;
    while let Some(row) = rows.next()? {
        buckets.toggle(element(row)?);
    }
    Ok(buckets)
}

/// The element of a row that begins with its revision and its key.
pub(super) fn element(row: &Row<'_>) -> rusqlite::Result<Element> {
    let revision: i64 = row.get(0)?;
    Ok((KeyHash::of_bytes(row.get_ref(1)?.as_bytes()?), revision as u64))
}

/// Computes the digest if it is unknown: once for a file of an earlier release. Others cannot write meanwhile, for less than a
/// second per million rows. The structure of the file must have been checked.
pub(super) fn complete(connection: &Connection, patience: Duration) -> Result<(), Problem> {
    let is_unknown = || -> Result<_, Problem> {
        let compacted = read::head(connection)?.compacted;
        Ok(Some(compacted).filter(|_| matches!(read(connection, compacted), Ok(Stored::Unknown))))
    };
    if connection.is_readonly("main")? || is_unknown()?.is_none() {
        return Ok(());
    }
    let transaction = file::begin(connection, patience)?;
    if let Some(compacted) = is_unknown()? {
        let digest = bytes(&of_rows(&transaction, compacted)?, compacted);
        transaction.execute("UPDATE head SET digest = ?1", params![digest])?;
        transaction.commit()?;
    }
    Ok(())
}
