//! Ratcheting: an update is not refused for what the stored definition got wrong already.

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
    let had_before =
        |problem: &Problem| previous.iter().any(|before| before.ratchets && std::ptr::eq(before.rule, problem.rule));
    let (forgiven, refused) = problems.into_iter().partition(|problem| problem.ratchets && had_before(problem));
    Ratcheted { refused, forgiven }
}
