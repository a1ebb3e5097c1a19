//! What `check` said of seeded changes, counted by class.

use std::{collections::BTreeMap, fmt};

use super::repository::Level;

/// The counts of one class.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Row {
    /// Changes that no document showed to be harmful.
    harmless: usize,
    /// Those of them that `check` calls an error.
    false_errors: usize,
    /// Harmful changes of stable versions, by the level of what was found: silent, note, warning, error.
    stable: [usize; 4],
    /// The same of alpha and beta versions.
    unstable: [usize; 4],
}

/// The counts of all classes, and examples of what was missed.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    rows: BTreeMap<&'static str, Row>,
    /// Harm in stable versions that is no error, harm in others that is silent, and errors without harm.
    pub(crate) missed: Vec<String>,
}

impl Tally {
    pub(crate) fn count(&mut self, class: &'static str, harm: Option<&str>, is_stable: bool, level: Level, what: &str) {
        let row = self.rows.entry(class).or_default();
        let counts = if is_stable { &mut row.stable } else { &mut row.unstable };
        let wanted = if is_stable { Level::Error } else { Level::Warning };
        match harm {
            Some(harm) => {
                counts[level as usize] += 1;
                if level < wanted {
                    self.missed.push(format!("{class}: {level:?} for {what}: {harm}"));
                }
            }
            None => {
                row.harmless += 1;
                if level == Level::Error {
                    row.false_errors += 1;
                    self.missed.push(format!("{class}: an error without harm for {what}"));
                }
            }
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        for (class, row) in other.rows {
            let sum = self.rows.entry(class).or_default();
            sum.harmless += row.harmless;
            sum.false_errors += row.false_errors;
            for at in 0..4 {
                sum.stable[at] += row.stable[at];
                sum.unstable[at] += row.unstable[at];
            }
        }
        self.missed.extend(other.missed);
    }

    /// The classes of which a harmful change was seeded.
    pub(crate) fn harmful_classes(&self) -> usize {
        self.rows.values().filter(|row| row.harmful() > 0).count()
    }

    /// Harmful changes of stable versions: those that are errors, and all.
    pub(crate) fn stable(&self) -> (usize, usize) {
        let errors = self.rows.values().map(|row| row.stable[3]).sum();
        (errors, self.rows.values().map(|row| row.stable.iter().sum::<usize>()).sum())
    }

    /// The figures of this test in a line.
    pub(crate) fn summary(&self) -> String {
        let (errors, harmful) = self.stable();
        format!("{errors} of {harmful} harmful changes of stable versions are errors, {} are silent", self.silent())
    }

    /// Harmful changes of which nothing is said.
    pub(crate) fn silent(&self) -> usize {
        self.rows.values().map(|row| row.stable[0] + row.unstable[0]).sum()
    }
}

impl Row {
    fn harmful(&self) -> usize {
        self.stable.iter().chain(&self.unstable).sum()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:36} {:>22} {:>22} {:>14}", "", "stable, harmful", "unstable, harmful", "harmless")?;
        let columns = "error  warn  note silent";
        writeln!(f, "{:36} {columns:>24} {columns:>24} {:>6} {:>6}", "class", "error", "other")?;
        for (class, row) in &self.rows {
            write!(f, "{class:36}")?;
            for counts in [row.stable, row.unstable] {
                write!(f, "  {:5} {:5} {:5} {:5}", counts[3], counts[2], counts[1], counts[0])?;
            }
            writeln!(f, " {:6} {:6}", row.false_errors, row.harmless - row.false_errors)?;
        }
        let (errors, harmful) = self.stable();
        let classes = self.harmful_classes();
        write!(
            f,
            "{classes} classes with harm; in stable versions {errors} of {harmful} are errors; {} silent",
            self.silent()
        )
    }
}
