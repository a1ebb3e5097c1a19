//! What the tables record of the log beside its rows: the head, the digest and the buckets of the rows up to `compacted`, and
//! the trail of those after it.

use tokio_postgres::Row;

use super::{
    Shared, parts,
    rows::{self, Head},
    scan::{Scan, short},
    tables,
    trail::{Traces, Trail},
};
use crate::{
    ErrorKind, StoreError,
    buckets::{self, Buckets},
};

#[derive(Debug)]
pub(super) struct Known {
    /// The head, or what it must have been if it is damaged.
    pub(super) head: Head,
    /// The head as PostgreSQL reads it; none if it is lost and known from the trail and the buckets alone.
    pub(super) seen: Option<Head>,
    /// What is wrong with the head.
    pub(super) what: Option<String>,
    /// The digest of the rows up to `compacted`; none if an earlier release deleted rows since it was computed.
    pub(super) digest: Option<i64>,
    /// The buckets of the same rows, as far as they are known.
    pub(super) buckets: Buckets,
    /// The table of the buckets could be read as a whole.
    pub(super) are_parts_whole: bool,
    pub(super) trail: Trail,
}

impl Known {
    pub(super) async fn read(shared: &Shared, scan: &Scan<'_>, traces: Traces) -> Result<Self, StoreError> {
        let statements = &shared.statements;
        let (mut trail, mut parts) = (Trail::default(), Vec::<(usize, Vec<u8>)>::new());
        let mut are_parts_whole = true;
        if statements.has_buckets {
            trail = Trail::read(scan, statements, traces).await?;
            let columns = format!("part, {}", short("buckets", buckets::PART_BYTES));
            let mut each = |row: &Row| {
                parts.extend(parts::part(row).map(|(part, bytes)| (part, bytes.to_vec())));
            };
            are_parts_whole = scan.pages(&statements.buckets, &columns, &mut each).await?;
        }
        let stamp = parts.iter().filter_map(|(part, bytes)| buckets::part_revision(*part, bytes)).max();
        let recorded = trail.end().map(|end| Head { compacted: end.compacted.max(stamp.unwrap_or(0)), ..end });
        let mut what = None;
        let read = scan.attempt(&statements.head).await?;
        let read = read.as_deref().map(|rows| {
            let head = rows::head(rows)?;
            tables::check_format(rows::column(&rows[0], 2)?).map(|()| head)
        });
        let seen = read.as_ref().and_then(|head| head.as_ref().ok().copied());
        let head = match read {
            Some(Ok(head)) => {
                let known = head.corrected(recorded, stamp);
                if known != head {
                    let Head { revision, compacted } = head;
                    what = Some(format!("the head is at {revision} and {compacted}, not at what other tables record"));
                }
                known
            }
            // A newer release has changed the tables, which are not damaged.
            Some(Err(error)) if *error.kind() == ErrorKind::Newer => return Err(error),
            unreadable => {
                what = Some("the row of the table head is lost".to_owned());
                let error = unreadable.and_then(Result::err).unwrap_or_else(tables::no_head);
                recorded.ok_or(error)?
            }
        };
        let digest = match statements.has_sums {
            true => scan.attempt(&statements.digest).await?.and_then(|rows| {
                let row = rows.first()?;
                let digested: Option<i64> = rows::column(row, 1).ok()?;
                rows::column::<Option<i64>>(row, 0).ok()?.filter(|_| digested == Some(head.compacted as i64))
            }),
            false => None,
        };
        let mut buckets = Buckets::unknown();
        for (part, bytes) in &parts {
            buckets.set_part(*part, head.compacted, bytes);
        }
        Ok(Self { head, seen, what, digest, buckets, are_parts_whole, trail })
    }

    /// Whether the buckets or the trail are damaged.
    pub(super) fn is_damaged_beside(&self) -> bool {
        !self.are_parts_whole || self.trail.damaged.contains(&true)
    }
}

impl Head {
    /// The head, unless the trail or the buckets show that it went further.
    fn corrected(self, recorded: Option<Self>, stamp: Option<u64>) -> Self {
        let revision = recorded.map_or(self.revision, |recorded| recorded.revision.max(self.revision));
        let recorded = recorded.map(|recorded| recorded.compacted).max(stamp);
        let compacted = recorded.map_or(self.compacted, |recorded| recorded.max(self.compacted));
        // Beyond the end of the log, it is damaged.
        let compacted = recorded.filter(|_| compacted > revision).unwrap_or(compacted);
        Self { revision, compacted }
    }
}
