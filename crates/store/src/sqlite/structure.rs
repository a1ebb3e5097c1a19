//! Whether the structure of a file is damaged.
//!
//! SQLite does not notice a damaged index: a lookup finds an older row, or none. So the structure is checked as a whole: by
//! SQLite, and by what must hold between the head and the rows of the log.

use rusqlite::{Connection, OptionalExtension};

use super::{
    failure::Problem,
    kept,
    read::{self, Head},
};
use crate::sum;

/// The first thing that is wrong with the structure of a file; none if it is sound.
pub(super) fn find(connection: &Connection, has_sums: bool, has_digest: bool) -> Result<Option<String>, Problem> {
    let transaction = connection.unchecked_transaction()?;
    let found: String = transaction.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if found != "ok" {
        // SQLite puts the name of the database before it.
        return Ok(Some(found.trim_start_matches("*** in database main ***\n").to_owned()));
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
    if has_digest {
        match kept::read(&transaction, compacted as u64)? {
            kept::Stored::Unknown => {}
            kept::Stored::Damaged => return Ok(Some("the digest of the head is damaged".to_owned())),
            kept::Stored::Known(digest) if digest == kept::of_rows(&transaction, compacted as u64)? => {}
            kept::Stored::Known(_) => {
                return Ok(Some(format!("the rows up to revision {compacted} are not those that were kept")));
            }
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
