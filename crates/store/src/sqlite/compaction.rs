//! Forgetting how things were long ago.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OptionalExtension, params};

use super::{kept, read::Head};

/// Which rows may be forgotten.
#[derive(Clone, Copy, Debug)]
pub(super) enum Age {
    /// Those that are older than this.
    Over(Duration),
    /// All.
    Any,
}

/// Forgets at most so many revisions of those that may be forgotten, and says up to which they are.
///
/// What may be forgotten are rows with a newer one for their key, and removals. The row before each of a range of rows is
/// removed; so what a row supersedes is gone as soon as the range has passed it, however often a key was written.
pub(super) fn compact(
    connection: &Connection,
    head: Head,
    age: Age,
    most: u64,
    has_digest: bool,
) -> rusqlite::Result<u64> {
    let until = due(connection, head, age, most)?;
    if until > head.compacted {
        let range = params![head.compacted as i64, until as i64];
        let mut digest = match has_digest.then(|| kept::read(connection, head.compacted)).transpose()? {
            Some(kept::Stored::Known(digest)) => Some(digest),
            _ => None,
        };
        let superseded = "DELETE FROM log WHERE revision IN (
                SELECT (
                    SELECT max(older.revision) FROM log AS older INDEXED BY log_by_key
                    WHERE older.key = newer.key AND older.revision < newer.revision
                ) FROM log AS newer WHERE newer.revision > ?1 AND newer.revision <= ?2
            ) RETURNING revision, key";
        let removals = "DELETE FROM log WHERE revision > ?1 AND revision <= ?2 AND action = 2 RETURNING revision, key";
        for forget in [superseded, removals] {
            let mut statement = connection.prepare_cached(forget)?;
            let mut forgotten = statement.query(range)?;
            while let Some(row) = forgotten.next()? {
                let element = kept::element(row)?;
                // Later ones were not kept yet.
                if let Some(digest) = digest.as_mut().filter(|_| element.1 <= head.compacted) {
                    digest.toggle(element);
                }
            }
        }
        match &mut digest {
            Some(digest) => {
                let rest = "SELECT revision, key FROM log WHERE revision > ?1 AND revision <= ?2";
                let mut statement = connection.prepare_cached(rest)?;
                let mut kept = statement.query(range)?;
                while let Some(row) = kept.next()? {
                    digest.toggle(kept::element(row)?);
                }
                let sql = "UPDATE head SET compacted = ?1, digest = ?2";
                connection.prepare_cached(sql)?.execute(params![until as i64, kept::bytes(digest, until)])?
            }
            None => connection.prepare_cached("UPDATE head SET compacted = ?1")?.execute([until as i64])?,
        };
    }
    Ok(until)
}

/// Up to which revision things may be forgotten now.
pub(super) fn due(connection: &Connection, head: Head, age: Age, most: u64) -> rusqlite::Result<u64> {
    let last = head.revision.min(head.compacted.saturating_add(most));
    let Age::Over(history) = age else { return Ok(last) };
    let history = i64::try_from(history.as_millis()).unwrap_or(i64::MAX);
    let now = now();
    // A row from the far future was written when the clock was wrong; it must not stop this until then.
    let sql = "SELECT revision FROM log WHERE revision > ?1 AND revision <= ?2 AND at > ?3 AND at <= ?4
               ORDER BY revision LIMIT 1";
    let range = params![head.compacted as i64, last as i64, now.saturating_sub(history), now.saturating_add(history)];
    let young = connection.prepare_cached(sql)?.query_row(range, |row| row.get::<_, i64>(0)).optional()?;
    Ok(young.map_or(last, |revision| revision as u64 - 1))
}

/// Milliseconds since 1970.
pub(super) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
