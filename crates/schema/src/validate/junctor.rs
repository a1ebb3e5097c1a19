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
    let mut matches = 0;
    matches += check_any_of(program, &junctors.any_of, value, path, tally);
    matches += check_one_of(program, &junctors.one_of, value, path, tally);
    matches += check_all_of(program, &junctors.all_of, value, path, tally);
    if let Some(branch) = junctors.not
        && Trial::of(program, branch, value, path).fits()
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

/// An alternative, tried quietly.
struct Trial {
    branch: NodeId,
    matches: usize,
    failures: usize,
}

impl Trial {
    fn of(program: &Program, branch: NodeId, value: Value<'_>, path: &Path<'_>) -> Self {
        let mut tally = Tally::quiet();
        let matches = evaluate(program, branch, value, path, &mut tally);
        Self { branch, matches, failures: tally.failures }
    }

    fn fits(&self) -> bool {
        self.failures == 0
    }
}

/// The first of those that fit best, which is the one whose errors are reported.
fn best(trials: impl IntoIterator<Item = Trial>) -> Option<Trial> {
    trials.into_iter().reduce(|best, trial| if trial.matches > best.matches { trial } else { best })
}

fn check_any_of(
    program: &Program,
    branches: &[NodeId],
    value: Value<'_>,
    path: &Path<'_>,
    tally: &mut Tally<'_>,
) -> usize {
    if branches.is_empty() {
        return 0;
    }
    let mut failed = Vec::new();
    for branch in branches {
        let trial = Trial::of(program, *branch, value, path);
        if trial.fits() {
            return trial.matches;
        }
        failed.push(trial);
    }
    tally.fail_at_root(path, || "must satisfy at least one of the alternatives under anyOf".to_owned());
    report(program, best(failed), value, path, tally)
}

fn check_one_of(
    program: &Program,
    branches: &[NodeId],
    value: Value<'_>,
    path: &Path<'_>,
    tally: &mut Tally<'_>,
) -> usize {
    if branches.is_empty() {
        return 0;
    }
    let trials = branches.iter().map(|branch| Trial::of(program, *branch, value, path));
    let (fitting, failed): (Vec<Trial>, Vec<Trial>) = trials.partition(Trial::fits);
    match &fitting[..] {
        [one] => one.matches,
        [] => {
            tally.fail_at_root(path, || "must satisfy one of the alternatives under oneOf".to_owned());
            report(program, best(failed), value, path, tally)
        }
        several => {
            let count = several.len();
            tally.fail_at_root(path, || {
                format!("must satisfy exactly one of the alternatives under oneOf, satisfies {count}")
            });
            0
        }
    }
}

fn check_all_of(
    program: &Program,
    branches: &[NodeId],
    value: Value<'_>,
    path: &Path<'_>,
    tally: &mut Tally<'_>,
) -> usize {
    let before = tally.failures;
    let matches = branches.iter().map(|branch| evaluate(program, *branch, value, path, tally)).sum();
    if tally.failures > before {
        tally.fail_at_root(path, || "must satisfy everything under allOf".to_owned());
    }
    matches
}

/// Tells what is wrong with the alternative that fits best, if somebody listens.
fn report(program: &Program, best: Option<Trial>, value: Value<'_>, path: &Path<'_>, tally: &mut Tally<'_>) -> usize {
    match best {
        Some(best) if tally.is_quiet() => {
            tally.failures += best.failures;
            best.matches
        }
        Some(best) => evaluate(program, best.branch, value, path, tally),
        None => 0,
    }
}
