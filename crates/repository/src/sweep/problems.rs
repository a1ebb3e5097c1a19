//! What is said about records of which there may be any number.

use std::fmt;

/// The most problems that a ledger lists: it is read and written again and again.
const MOST_IN_LEDGER: usize = 100;

/// A record, and what is the matter with it.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Problem {
    /// What the record is called within its kind.
    pub name: Box<str>,
    /// What is the matter with it.
    pub why: Box<str>,
}

/// Records with something the matter. All of them are listed, but for those that a sweep met in other processes: of these,
/// its ledger lists the first hundred.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Problems {
    /// How many there are.
    pub count: u64,
    /// Those that are listed.
    pub listed: Vec<Problem>,
}

impl Problems {
    /// Adds one.
    pub(crate) fn add(&mut self, name: &str, why: impl fmt::Display) {
        self.count += 1;
        self.listed.push(Problem { name: name.into(), why: why.to_string().into() });
    }

    /// Adds those of a portion to those of a ledger.
    pub(super) fn extend(&mut self, others: &Self) {
        self.count += others.count;
        let room = MOST_IN_LEDGER.saturating_sub(self.listed.len());
        self.listed.extend(others.listed.iter().take(room).cloned());
    }

    /// Lists what somebody has seen and a ledger has no room for.
    pub(super) fn list_seen(&mut self, seen: Vec<Problem>) {
        self.listed.extend(seen);
        self.listed.sort_by(|one, other| one.name.cmp(&other.name));
        self.listed.dedup_by(|one, other| one.name == other.name);
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}
