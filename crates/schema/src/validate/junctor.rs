//! `allOf`, `anyOf`, `oneOf` and `not`.

use wheelwright_document::{Path, Value};

use super::{Tally, evaluate, type_fits};
use crate::program::{Junctors, Node, NodeId, Program, Types};

/// Checks the junctors of a node; answers how much of them fits, beyond what every node counts.
///
/// Every alternative is tried without writing anything down; only the one whose errors are wanted is looked at again,
/// so the cost stays far from exponential however deep junctors nest.
pub(crate) fn check_junctors(
    program: &Program,
    junctors: &Junctors,
    value: Value<'_>,
    path: &Path<'_>,
    tally: &mut Tally<'_>,
) -> usize {
    let candidate = Candidate { program, value, path };
    let matches = candidate.any_of(&junctors.any_of, tally)
        + candidate.one_of(&junctors.one_of, tally)
        + candidate.all_of(&junctors.all_of, tally);
    if let Some(branch) = junctors.not
        && candidate.try_out(branch).fits()
    {
        tally.fail_at_root(path, || "must not satisfy what stands under not".to_owned());
    }
    matches
}

impl Junctors {
    /// Whether the junctors need a look at all.
    #[inline]
    pub(crate) fn matter(&self, node: &Node, value: Value<'_>) -> bool {
        !(self.only_int_or_string && node.types == Types::INT_OR_STRING && type_fits(node, value))
    }
}

/// A value that alternatives are tried on.
struct Candidate<'c> {
    program: &'c Program,
    value: Value<'c>,
    path: &'c Path<'c>,
}

/// An alternative, tried quietly.
struct Trial {
    branch: NodeId,
    matches: usize,
    failures: usize,
}

impl Trial {
    fn fits(&self) -> bool {
        self.failures == 0
    }
}

impl Candidate<'_> {
    fn try_out(&self, branch: NodeId) -> Trial {
        let mut tally = Tally::quiet();
        let matches = self.evaluate(branch, &mut tally);
        Trial { branch, matches, failures: tally.failures }
    }

    fn evaluate(&self, branch: NodeId, tally: &mut Tally<'_>) -> usize {
        evaluate(self.program, branch, self.value, self.path, tally)
    }

    fn any_of(&self, branches: &[NodeId], tally: &mut Tally<'_>) -> usize {
        if branches.is_empty() {
            return 0;
        }
        let mut failed = Vec::new();
        for branch in branches {
            let trial = self.try_out(*branch);
            if trial.fits() {
                return trial.matches;
            }
            failed.push(trial);
        }
        tally.fail_at_root(self.path, || "must satisfy at least one of the alternatives under anyOf".to_owned());
        self.report_best(failed, tally)
    }

    fn one_of(&self, branches: &[NodeId], tally: &mut Tally<'_>) -> usize {
        if branches.is_empty() {
            return 0;
        }
        let trials = branches.iter().map(|branch| self.try_out(*branch));
        let (fitting, failed): (Vec<Trial>, Vec<Trial>) = trials.partition(Trial::fits);
        match &fitting[..] {
            [one] => one.matches,
            [] => {
                tally.fail_at_root(self.path, || "must satisfy one of the alternatives under oneOf".to_owned());
                self.report_best(failed, tally)
            }
            several => {
                let count = several.len();
                tally.fail_at_root(self.path, || {
                    format!("must satisfy exactly one of the alternatives under oneOf, satisfies {count}")
                });
                0
            }
        }
    }

    fn all_of(&self, branches: &[NodeId], tally: &mut Tally<'_>) -> usize {
        let before = tally.failures;
        let matches = branches.iter().map(|branch| self.evaluate(*branch, tally)).sum();
        if tally.failures > before {
            tally.fail_at_root(self.path, || "must satisfy everything under allOf".to_owned());
        }
        matches
    }

    /// Tells what is wrong with the first of the alternatives that fit best, if somebody listens.
    fn report_best(&self, failed: Vec<Trial>, tally: &mut Tally<'_>) -> usize {
        let best = failed.into_iter().reduce(|best, trial| if trial.matches > best.matches { trial } else { best });
        match best {
            Some(best) if tally.is_quiet() => {
                tally.failures += best.failures;
                best.matches
            }
            Some(best) => self.evaluate(best.branch, tally),
            None => 0,
        }
    }
}
