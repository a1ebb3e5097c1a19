//! The check of the structure of the tables.
//!
//! PostgreSQL does not notice every damage: a lookup in a damaged index finds an older row or none, and a page of zeros has no
//! rows. So all keys and revisions are read, from the table and from both indexes, and compared with each other, with the head,
//! since nothing after `compacted` is ever left out of the log, and with the digest of the rows up to there.

use tokio_postgres::types::Type;

use super::{
    Shared,
    connection::Parameters,
    failure,
    rows::{self, Head},
    scan::{Entry, Index, Scan},
};
use crate::{ErrorKind, StoreError, log::Action, sum};

/// The result of a check.
#[derive(Debug)]
pub(super) enum Checked {
    Sound,
    /// The first thing that is wrong.
    Damaged(String),
}

/// A set of rows, as numbers that differ if the sets do.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Sketch {
    rows: u64,
    digest: i64,
    /// Rows after the revision up to which the log is forgotten.
    recent: u64,
    last: u64,
    /// The digest of the other rows.
    kept: i64,
}

/// The head with the digest of the rows up to `compacted`; no digest if an earlier release deleted rows since it was computed.
#[derive(Clone, Copy)]
pub(super) struct Known {
    pub(super) head: Head,
    pub(super) digest: Option<i64>,
}

/// Checks the structure over a connection of its own.
pub(super) async fn check(shared: &Shared, is_paced: bool) -> Result<Checked, StoreError> {
    let client = shared.connector.connect().await?;
    let scan = match Scan::begin(&client, &shared.statements, is_paced).await {
        Ok(scan) => scan,
        // A database that only speaks PostgreSQL's protocol has other means against damage.
        Err(error) if *error.kind() == ErrorKind::Setup => return Ok(Checked::Sound),
        Err(error) => return Err(error),
    };
    let known = Known::read(shared, &scan).await?;
    let (kept, what) = find(&scan, known).await?;
    scan.end().await;
    if let Some(what) = what {
        return Ok(Checked::Damaged(what));
    }
    if shared.statements.has_sums && known.digest.is_none() {
        // If this fails, the next check tries again.
        let compacted = known.head.compacted as i64;
        let parameters: &Parameters<'_> = &[(&kept, Type::INT8), (&compacted, Type::INT8)];
        let _ = client.execute_typed(&shared.statements.set_digest, parameters).await;
    }
    Ok(Checked::Sound)
}

/// The digest of the rows up to `compacted`, and the first thing that is wrong.
async fn find(scan: &Scan<'_>, Known { head, digest }: Known) -> Result<(i64, Option<String>), StoreError> {
    let compacted = head.compacted;
    let (mut table, mut altered) = (Sketch::default(), None);
    let is_whole = scan
        .table(&mut |entry| {
            table.add(&entry, compacted);
            if is_altered(&entry) {
                altered = Some(entry.revision);
            }
        })
        .await?;
    let kept = table.kept;
    let damaged = |what: String| Ok((kept, Some(what)));
    if !is_whole {
        return damaged("PostgreSQL cannot read all of the table log".to_owned());
    }
    if let Some(revision) = altered {
        return damaged(format!("the row of revision {revision} was written as another one"));
    }
    if table.recent != head.revision.saturating_sub(compacted) || table.last > head.revision {
        let Sketch { last, recent, .. } = table;
        let message = format!("the log ends at {last} with {recent} rows after {compacted}, not at {}", head.revision);
        return damaged(message);
    }
    if digest.is_some_and(|digest| digest != kept) {
        return damaged(format!(
            "rows up to {compacted} are missing from the table log, or are back after they were deleted"
        ));
    }
    // The index alone comes first: PostgreSQL removes the entries of lost rows when it looks for the rows.
    let mut newer: Option<Entry> = None;
    let mut out_of_turn = None;
    for index in [Index::KeysAlone, Index::Keys, Index::Revisions] {
        let (mut found, mut is_in_order, mut before) = (Sketch::default(), true, None::<Entry>);
        let is_whole = scan
            .index(index, &mut |entry| {
                found.add(&entry, compacted);
                is_in_order &= before.as_ref().is_none_or(|before| index.is_in_order(before, &entry));
                if matches!(index, Index::Keys) {
                    if newer.as_ref().is_some_and(|newer| !follows(newer, Some(&entry), compacted)) {
                        out_of_turn = newer.as_ref().map(|newer| newer.revision);
                    }
                    newer = Some(entry.clone());
                }
                before = Some(entry);
            })
            .await?;
        if !is_whole || !is_in_order || found != table {
            return damaged("an index of the table log does not match the table".to_owned());
        }
    }
    if let Some(oldest) = newer.filter(|oldest| !follows(oldest, None, compacted)) {
        out_of_turn = Some(oldest.revision);
    }
    match out_of_turn {
        Some(revision) => damaged(format!("revision {revision} does not follow from the revision before it")),
        None => Ok((kept, None)),
    }
}

impl Known {
    pub(super) async fn read(shared: &Shared, scan: &Scan<'_>) -> Result<Self, StoreError> {
        let statements = &shared.statements;
        let read = async |sql: &str| scan.query(sql).await.map_err(|error| failure::of_read(&error));
        let head = rows::head(&read(&statements.head).await?)?;
        if !statements.has_sums {
            return Ok(Self { head, digest: None });
        }
        let found = read(&statements.digest).await?;
        let row = found.first().ok_or_else(super::tables::no_head)?;
        let digest: Option<i64> = rows::column(row, 0)?;
        let digested: Option<i64> = rows::column(row, 1)?;
        Ok(Self { head, digest: digest.filter(|_| digested == Some(head.compacted as i64)) })
    }
}

impl Sketch {
    fn add(&mut self, entry: &Entry, compacted: u64) {
        let digest = sum::digest(entry.revision as i64, entry.key.as_str().as_bytes());
        self.rows += 1;
        self.digest ^= digest;
        self.last = self.last.max(entry.revision);
        match entry.revision > compacted {
            true => self.recent += 1,
            false => self.kept ^= digest,
        }
    }
}

/// Whether a row was written with another key or revision. Another action alone is found when the row is read.
pub(super) fn is_altered(entry: &Entry) -> bool {
    entry.sum.is_some_and(|sum| !sum::is_of(sum, entry.revision, entry.key.as_str()))
}

/// Whether a row can follow the next older one, if that is one of the same key.
fn follows(newer: &Entry, older: Option<&Entry>, compacted: u64) -> bool {
    let older = older.filter(|older| older.key == newer.key);
    let had_value = older.is_some_and(|older| older.action != Some(Action::Deleted));
    match newer.action {
        // A damaged action is found when the row is read.
        None => true,
        Some(action) if newer.revision <= compacted => action != Action::Deleted && older.is_none(),
        Some(Action::Created) => !had_value,
        Some(Action::Replaced | Action::Deleted) => had_value,
    }
}
