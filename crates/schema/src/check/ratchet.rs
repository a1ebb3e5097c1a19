//! Ratcheting: an update is not refused for what the stored definition got wrong already.

use std::collections::HashSet;

use crate::Problem;

/// The problems of a new schema, told apart by what an update does with them.
#[derive(Debug)]
pub struct Ratcheted {
    /// The update is refused for these.
    pub refused: Vec<Problem>,
    /// These are forgiven, because the previous schema had one of the same sort.
    pub forgiven: Vec<Problem>,
}

/// Tells which problems of a schema would make Kubernetes refuse it as an update of one that had the `previous` ones.
/// Only some rules ratchet; an invalid default, for one, is refused every time.
pub fn ratchet(problems: Vec<Problem>, previous: &[Problem]) -> Ratcheted {
    let had_before: HashSet<&str> =
        previous.iter().filter(|before| before.ratchets).map(|before| before.rule.id).collect();
    let is_forgiven = |problem: &Problem| problem.ratchets && had_before.contains(problem.rule.id);
    let (forgiven, refused) = problems.into_iter().partition(is_forgiven);
    Ratcheted { refused, forgiven }
}
