//! A new file with all that is certain of a damaged one.

use std::{fs, path::Path};

use rusqlite::params;

use super::{
    Salvaged, SqliteOptions,
    backup::{self, TAKEN},
    facts::Facts,
    failure::{Doing, Problem},
    file::File,
    kept,
    pages::Pages,
};
use crate::{
    ErrorKind, Key, StoreError,
    log::{self, Action},
    sum,
};

/// How many revisions are passed over if it is not known which was the last one.
const UNKNOWN_REVISIONS: u64 = 1_000_000;

/// Copies the current values that are certain, with their revisions, to a new file, whose log begins after all of them.
pub(super) fn salvage(from: &Path, to: &Path) -> Result<Salvaged, StoreError> {
    let setup =
        |path: &Path, message: &str| StoreError::new(ErrorKind::Setup, format!("{}: {message}", path.display()));
    if to.exists() {
        return Err(setup(to, TAKEN));
    }
    // The write-ahead log is beside the file itself, not beside a link to it.
    let real = fs::canonicalize(from).unwrap_or_else(|_| from.to_owned());
    let pages = Pages::open(&real).map_err(|error| setup(from, "the file cannot be read").because(error))?;
    let facts = Facts::of(pages);
    if !facts.has_proof && facts.newest.is_empty() {
        return Err(StoreError::new(ErrorKind::Corrupt, format!("{} has no readable record", from.display())));
    }
    let unfinished = backup::unfinished(to).ok_or_else(|| setup(to, "the new file needs a name"))?;
    let salvaged = write(&facts, &unfinished).and_then(|salvaged| backup::finish(&unfinished, to).map(|()| salvaged));
    for path in [&unfinished, &super::pages::wal_path(&unfinished)] {
        // It was moved, unless something failed.
        let _ = fs::remove_file(path);
    }
    salvaged
}

fn write(facts: &Facts, to: &Path) -> Result<Salvaged, StoreError> {
    let problem = |problem: Problem| problem.told(to, Doing::Write);
    let (file, connection) = File::open(to, SqliteOptions::default())?;
    let write = || -> Result<Salvaged, Problem> {
        let transaction = connection.unchecked_transaction()?;
        let (mut saved, mut lost) = (0, Vec::<(Key, crate::Revision)>::new());
        for (key, newest) in &facts.newest {
            let row = newest.row.as_ref().filter(|_| newest.is_certain);
            if row.is_some_and(super::rows::Row::is_removal) {
                continue;
            }
            let value = row.and_then(|row| Some((row, row.value(&facts.pages)?)));
            let Some((row, value)) = value else {
                lost.push((key.clone(), log::revision(newest.revision)));
                continue;
            };
            // Its checksum is for its action, which a compacted log may have.
            let sum = row.sum.unwrap_or_else(|| sum::of(row.revision, key.as_str(), row.action, &value));
            let sql = "INSERT INTO log (revision, key, action, at, value, sum) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
            debug_assert_ne!(row.action, Action::Deleted);
            let columns = params![row.revision as i64, key.as_str(), row.action as i64, row.at, value, sum];
            transaction.prepare_cached(sql)?.execute(columns)?;
            saved += 1;
        }
        // After every revision that clients may know, so that they list again instead of going on where they were.
        let head = facts.last + if facts.head.is_some() { 1 } else { UNKNOWN_REVISIONS };
        let digest = kept::bytes(&kept::of_rows(&transaction, head)?, head);
        let sql = "UPDATE head SET revision = ?1, compacted = ?1, digest = ?2";
        transaction.execute(sql, params![head as i64, digest])?;
        transaction.commit()?;
        Ok(Salvaged { saved, lost, may_miss_others: !facts.has_all("", None) })
    };
    let salvaged = write().map_err(problem)?;
    drop(file);
    connection.close().map_err(|(_, error)| problem(error.into()))?;
    Ok(salvaged)
}
