//! What makes a file a store: its tables, and the marks in its header.

use std::{path::Path, time::Duration};

use rusqlite::Connection;

use super::{
    SqliteOptions,
    failure::Problem,
    file::{begin, text, waiting},
    kept,
};
use crate::{ErrorKind, StoreError, buckets::PageBuckets, log};

/// What is in the header of every store: "WWST".
const APPLICATION: i64 = 0x5757_5354;

/// The format of the tables below. It counts up.
const FORMAT: i64 = 1;

/// A new store. The head is that of [`log::FIRST_HEAD`].
///
/// The value comes late, so that SQLite can tell the rest of a row without reading its pages. Rows of earlier releases have
/// no sum.
const TABLES: &str = "
    CREATE TABLE log (
        revision INTEGER PRIMARY KEY,
        key TEXT NOT NULL,
        action INTEGER NOT NULL,
        at INTEGER NOT NULL,
        value BLOB NOT NULL,
        sum INTEGER
    ) STRICT;
    CREATE UNIQUE INDEX log_by_key ON log (key, revision);
    CREATE TABLE head (
        revision INTEGER NOT NULL,
        compacted INTEGER NOT NULL,
        probes INTEGER NOT NULL,
        digest BLOB
    ) STRICT;
    INSERT INTO head VALUES (1, 1, 0, NULL);
";

/// What a file is.
#[derive(PartialEq, Eq)]
pub(super) enum Content {
    Nothing,
    Store,
}

pub(super) fn prepare(connection: &Connection, path: &Path, options: &SqliteOptions) -> Result<(), Problem> {
    connection.busy_timeout(Duration::ZERO)?;
    let content = waiting(options.busy_timeout, || check_at_once(connection, path))?;
    if connection.is_readonly("main")? && content == Content::Store {
        return Ok(());
    }
    waiting(options.busy_timeout, || match connection.pragma_update_and_check(None, "journal_mode", "wal", text)? {
        mode if mode == "wal" => Ok(()),
        mode => {
            let message = format!("{} has the journal mode {mode} and cannot have wal", path.display());
            Err(StoreError::new(ErrorKind::Setup, message).into())
        }
    })?;
    // A commit is durable when it is acknowledged, also where fsync alone does not do that. And a write-ahead log that was
    // large once does not stay so.
    connection.execute_batch(
        "PRAGMA synchronous = FULL; PRAGMA fullfsync = 1; PRAGMA checkpoint_fullfsync = 1;
         PRAGMA journal_size_limit = 67108864",
    )?;
    if content == Content::Nothing {
        let transaction = begin(connection, options.busy_timeout)?;
        if check(&transaction, path)? == Content::Nothing {
            transaction.execute_batch(TABLES)?;
            let digest = kept::bytes(&PageBuckets::of_none(), log::FIRST_HEAD);
            transaction.execute("UPDATE head SET digest = ?1", [digest])?;
            transaction.pragma_update(None, "application_id", APPLICATION)?;
            transaction.pragma_update(None, "user_version", FORMAT)?;
            transaction.commit()?;
        }
    }
    // A store of an earlier release in which nothing has happened yet. If this fails, then lists are still right.
    let _ = connection.query_one("SELECT revision FROM head WHERE revision = 0", (), |_| Ok(())).and_then(|()| {
        connection.execute("UPDATE head SET revision = ?1, compacted = ?1 WHERE revision = 0", [log::FIRST_HEAD as i64])
    });
    // Without them there are no checksums and no digest, as in files of earlier releases.
    for (table, column, sort) in [SUM, DIGEST] {
        if !has_column(connection, table, column)? {
            let _ = begin(connection, options.busy_timeout).and_then(|transaction| {
                if !has_column(&transaction, table, column)? {
                    transaction.execute_batch(&format!("ALTER TABLE {table} ADD COLUMN {column} {sort}"))?;
                }
                Ok(transaction.commit()?)
            });
        }
    }
    Ok(())
}

/// Columns that earlier releases do not have: their table, name and type.
pub(super) const SUM: (&str, &str, &str) = ("log", "sum", "INTEGER");
pub(super) const DIGEST: (&str, &str, &str) = ("head", "digest", "BLOB");

pub(super) fn has_column(connection: &Connection, table: &str, column: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT count(*) FROM pragma_table_info(?1) WHERE name = ?2";
    connection.query_row(sql, [table, column], |row| row.get::<_, i64>(0)).map(|count| count > 0)
}

/// Another process may just be creating it.
pub(super) fn check_at_once(connection: &Connection, path: &Path) -> Result<Content, Problem> {
    check(&*connection.unchecked_transaction()?, path)
}

pub(super) fn check(connection: &Connection, path: &Path) -> Result<Content, Problem> {
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let application = number("PRAGMA application_id")?;
    let format = number("PRAGMA user_version")?;
    let path = path.display();
    let (kind, message) = match (application, format) {
        (APPLICATION, FORMAT) => return Ok(Content::Store),
        (APPLICATION, FORMAT..) => {
            let message =
                format!("{path} has format {format}, of a newer release; this one knows formats up to {FORMAT}");
            (ErrorKind::Newer, message)
        }
        (APPLICATION, _) => {
            let message = format!("{path} has format {format}, which no release wrote; put a backup in its place");
            (ErrorKind::Corrupt, message)
        }
        (0, 0) if number("SELECT count(*) FROM sqlite_schema")? == 0 => return Ok(Content::Nothing),
        _ => (ErrorKind::Corrupt, format!("{path} is a database of another program; name another file")),
    };
    Err(StoreError::new(kind, message).into())
}
