//! What the validation of a value found, and what it counted on the way.

use std::collections::BTreeSet;

use super::{Errors, Path, error};

/// The problems of a value and how many checks were passed: of the branches of a junctor that all fail, the one with
/// the most matches speaks.
#[derive(Default)]
pub(crate) struct Verdict {
    problems: BTreeSet<Problem>,
    pub(crate) matches: usize,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Problem {
    At(&'static str, String),
    /// The message of a junctor or of a number's range: it names its place in words only, so it lands at the root.
    Placeless,
}

impl Verdict {
    pub(crate) fn passed() -> Self {
        Self { matches: 1, ..Self::default() }
    }

    pub(crate) fn failed(kind: &'static str, path: &str) -> Self {
        let mut verdict = Self::default();
        verdict.report(kind, path);
        verdict
    }

    pub(crate) fn report(&mut self, kind: &'static str, path: &str) {
        self.problems.insert(Problem::At(kind, path.to_owned()));
    }

    pub(crate) fn complain(&mut self) {
        self.problems.insert(Problem::Placeless);
    }

    pub(crate) fn is_valid(&self) -> bool {
        self.problems.is_empty()
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.problems.extend(other.problems);
        self.matches += other.matches;
    }

    /// The errors, of a value whose own place is `base`.
    pub(crate) fn located(self, base: &Path) -> Errors {
        let problems = self.problems.iter().map(|problem| match problem {
            Problem::At(kind, path) if !path.is_empty() && path != "." => {
                error(kind, &base.child(path.strip_prefix('.').unwrap_or(path)))
            }
            Problem::At(kind, _) => error(kind, base),
            Problem::Placeless => error("Invalid", base),
        });
        problems.collect()
    }
}
