//! The trail: which keys the newest transactions have written, in two tables beside the log.
//!
//! Each transaction adds the same row to both. If rows of the log are lost, the trail shows whose they were, and it has the
//! revision of the head in a second and a third place. Earlier releases do not write it.

use std::collections::HashMap;

use tokio_postgres::Row;
use twox_hash::XxHash3_64;

use super::{
    rows::{self, Head},
    scan::{Scan, short},
    tables::{FORMAT, Statements},
};
use crate::{Key, StoreError, buckets::KeyHash, log::Action};

/// Which key a revision was of, by a part of its hash, and what was done to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Trace(u64);

/// A part of the hash of a key, which keys are recognized by.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Stem(u64);

/// The row of a transaction.
#[derive(Debug)]
pub(super) struct Step {
    /// The first revision of the transaction.
    pub(super) first: u64,
    /// Up to where the log was forgotten.
    pub(super) compacted: u64,
    /// A trace for each revision.
    pub(super) traces: Vec<u8>,
}

/// What can be read of the trail.
#[derive(Debug, Default)]
pub(super) struct Trail {
    traces: HashMap<u64, Trace>,
    end: Option<Head>,
    /// Which of the two tables could not be read as a whole.
    pub(super) damaged: [bool; 2],
}

/// Whether the traces of the trail are kept in memory, or only where it ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Traces {
    Kept,
    Skipped,
}

const ACTION: u64 = 3;
const TRACE_BYTES: usize = 8;

/// The most bytes of traces in a row, also of a later release whose transactions may be larger.
const MOST_BYTES: usize = 1 << 20;

impl Trace {
    pub(super) fn of(key: &Key, action: Action) -> Self {
        Self(Stem::of(KeyHash::of(key)).0 | action as u64)
    }

    pub(super) fn stem(self) -> Stem {
        Stem(self.0 & !ACTION)
    }

    pub(super) fn is_deletion(self) -> bool {
        self.0 & ACTION == Action::Deleted as u64
    }
}

impl Stem {
    pub(super) fn of(hash: KeyHash) -> Self {
        Self(hash.number() & !ACTION)
    }
}

impl Step {
    pub(super) fn new(first: u64, compacted: u64, traces: impl Iterator<Item = Trace>) -> Self {
        Self { first, compacted, traces: traces.flat_map(|trace| trace.0.to_le_bytes()).collect() }
    }

    /// The checksum of the row.
    pub(super) fn sum(&self) -> i64 {
        let numbers = [self.first, self.compacted].map(u64::to_le_bytes).concat();
        let seed = XxHash3_64::oneshot_with_seed(FORMAT as u64, &numbers);
        XxHash3_64::oneshot_with_seed(seed, &self.traces) as i64
    }

    /// A row of first revision, compacted, traces and checksum; none if it is damaged.
    fn of_row(row: &Row) -> Option<Self> {
        let number = |index| rows::revision(row, index).ok();
        let step = Self { first: number(0)?, compacted: number(1)?, traces: row.try_get(2).ok()? };
        let is_right = row.try_get::<_, i64>(3).is_ok_and(|sum| sum == step.sum());
        (is_right && step.first > 0 && step.traces.len().is_multiple_of(TRACE_BYTES)).then_some(step)
    }

    fn last(&self) -> u64 {
        self.first + (self.traces.len() / TRACE_BYTES) as u64 - 1
    }
}

impl Trail {
    pub(super) async fn read(scan: &Scan<'_>, statements: &Statements, traces: Traces) -> Result<Self, StoreError> {
        let mut trail = Self::default();
        let columns = format!("first, compacted, {}, sum", short("traces", MOST_BYTES));
        for (number, table) in statements.trails.iter().enumerate() {
            let mut are_rows = true;
            let mut add = |row: &Row| match Step::of_row(row) {
                Some(step) => trail.add(&step, traces),
                None => are_rows = false,
            };
            let is_read = scan.pages(table, &columns, &mut add).await?;
            trail.damaged[number] = !is_read || !are_rows;
        }
        Ok(trail)
    }

    fn add(&mut self, step: &Step, traces: Traces) {
        if traces == Traces::Kept {
            let traces = step.traces.chunks_exact(TRACE_BYTES).map(|bytes| {
                let number = bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
                Trace(number)
            });
            self.traces.extend((step.first..).zip(traces));
        }
        let end = Head { revision: step.last(), compacted: step.compacted };
        if self.end.is_none_or(|known| known.revision <= end.revision) {
            self.end = Some(end);
        }
    }

    /// The head, as of the newest transaction.
    pub(super) fn end(&self) -> Option<Head> {
        self.end
    }

    /// The trace of a revision.
    pub(super) fn trace(&self, revision: u64) -> Option<Trace> {
        self.traces.get(&revision).copied()
    }

    /// The revisions that have a trace.
    pub(super) fn revisions(&self) -> impl Iterator<Item = u64> {
        self.traces.keys().copied()
    }
}
