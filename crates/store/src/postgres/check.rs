//! The check of the structure of the tables.
//!
//! PostgreSQL does not notice every damage: a lookup in a damaged index finds an older row or none, and a page of zeros has no
//! rows. So all keys and revisions are read, from the table and from both indexes, and compared with each other, with the head,
//! since nothing after `compacted` is ever left out of the log, and with the digest of the rows up to there.
//!
//! Digest and buckets that are not known, because the tables are of an earlier release or one has deleted rows meanwhile, are
//! computed from tables that are sound. So are buckets and a trail that are damaged.

use super::{
    Shared, failure,
    known::Known,
    mend::{Kept, Mending},
    scan::{Entry, Index, Scan},
    trail::Traces,
};
use crate::{
    ErrorKind, StoreError,
    buckets::{Buckets, KeyHash},
    log::Action,
    sum,
};

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

/// Checks the structure over a connection of its own.
pub(super) async fn check(shared: &Shared, is_paced: bool) -> Result<Checked, StoreError> {
    let client = shared.connector.connect().await?;
    let scan = match Scan::begin(&client, &shared.statements, is_paced).await {
        Ok(scan) => scan,
        // A database that only speaks PostgreSQL's protocol has other means against damage.
        Err(error) if *error.kind() == ErrorKind::Setup => return Ok(Checked::Sound),
        Err(error) => return Err(error),
    };
    let known = Known::read(shared, &scan, Traces::Skipped).await?;
    let found = match &known.what {
        Some(what) => Err(what.clone()),
        None => find(&scan, &known).await?,
    };
    scan.end().await;
    let kept = match found {
        Ok(kept) => kept,
        Err(what) => return Ok(Checked::Damaged(what)),
    };
    // What the table log is compared with is gone.
    if known.is_damaged_beside() && known.digest.is_none() && !known.buckets.are_known() {
        return Ok(Checked::Damaged("a table beside the table log is damaged".to_owned()));
    }
    let is_digest_missing = shared.statements.has_sums && known.digest.is_none();
    let are_buckets_wrong = shared.statements.has_buckets && (known.buckets != kept.buckets || !known.are_parts_whole);
    let mending = Mending {
        kept: (is_digest_missing || are_buckets_wrong).then_some(&kept),
        trails: known.trail.damaged,
        compacted: known.head.compacted,
    };
    match mending.is_needed().then(|| mending.run(&client, &shared.statements)) {
        None => Ok(Checked::Sound),
        Some(run) => Ok(run.await.map_or_else(
            |error| {
                let what = "a table beside the table log is damaged, and this user may not truncate it";
                Checked::Damaged(format!("{what}: {}", failure::of_server(&error)))
            },
            |()| Checked::Sound,
        )),
    }
}

/// The digest and the buckets of the rows up to `compacted`, or the first thing that is wrong.
async fn find(scan: &Scan<'_>, known: &Known) -> Result<Result<Kept, String>, StoreError> {
    let Known { head, digest, .. } = *known;
    let compacted = head.compacted;
    let (mut table, mut buckets, mut altered) = (Sketch::default(), Buckets::of_none(), None);
    let is_whole = scan
        .table(&mut |entry| {
            table.add(&entry, compacted);
            if entry.revision <= compacted {
                buckets.toggle((KeyHash::of(&entry.key), entry.revision));
            }
            if is_altered(&entry) {
                altered = Some(entry.revision);
            }
        })
        .await?;
    let kept = Kept { digest: table.kept, buckets };
    let damaged = |what: String| Ok(Err(what));
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
    let is_other =
        digest.map_or(known.buckets.are_known() && known.buckets != kept.buckets, |digest| digest != kept.digest);
    if is_other {
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
        None => Ok(Ok(kept)),
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
