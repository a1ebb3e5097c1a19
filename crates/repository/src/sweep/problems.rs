//! What is said about records of which there may be any number.

use std::fmt;

/// The most problems that are told one by one.
pub(super) const MOST_LISTED: usize = 100;

/// A record, and what is the matter with it.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Problem {
    /// What the record is called within its kind.
    pub name: Box<str>,
    /// What is the matter with it.
    pub why: Box<str>,
}

/// Records with something the matter: how many, and the first hundred of them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Problems {
    /// How many there are.
    pub count: u64,
    /// The first of them.
    pub first: Vec<Problem>,
}

impl Problems {
    /// Adds one.
    pub(super) fn add(&mut self, name: &str, why: impl fmt::Display) {
        self.count += 1;
        if self.first.len() < MOST_LISTED {
            self.first.push(Problem { name: name.into(), why: why.to_string().into() });
        }
    }

    /// Adds those of somebody else.
    pub(super) fn extend(&mut self, others: &Self) {
        self.count += others.count;
        let room = MOST_LISTED.saturating_sub(self.first.len());
        self.first.extend(others.first.iter().take(room).cloned());
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}
