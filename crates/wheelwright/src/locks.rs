//! The locks beside kinds: read once a folder, with what is wrong with each.

use std::path::{Path, PathBuf};

use wheelwright_catalog::{Catalog, Input, Kind, LOCK_FILE, Source, Unreadable, files, read_lock};
use wheelwright_document::{FieldPath, Span};
use wheelwright_evolve::{Declaration, History, Lock, LockedKind};
use wheelwright_findings::Finding;
use wheelwright_schema::Problem;

/// The locks of some catalogs, one a folder.
#[derive(Debug, Default)]
pub(crate) struct Locks(Vec<LockFile>);

/// The lock of a folder, which need not be there.
#[derive(Debug)]
pub(crate) struct LockFile {
    pub(crate) folder: PathBuf,
    /// The file, if there is one.
    pub(crate) input: Option<Input>,
    /// What it says, as far as it can be read.
    pub(crate) lock: Lock,
    problems: Vec<Problem>,
}

impl Locks {
    /// Reads the locks that belong to the kinds of catalogs.
    pub(crate) fn read<'c>(
        source: &dyn Source,
        catalogs: impl IntoIterator<Item = &'c Catalog>,
    ) -> Result<Self, Unreadable> {
        let mut locks: Vec<LockFile> = Vec::new();
        for kind in catalogs.into_iter().flat_map(Catalog::kinds) {
            if locks.iter().all(|lock| lock.folder != kind.folder) {
                locks.push(LockFile::read(source, &kind.folder)?);
            }
        }
        Ok(Self(locks))
    }

    /// Takes the locks of folders that have none here.
    pub(crate) fn extend(&mut self, others: Self) {
        for lock in others.0 {
            if self.0.iter().all(|known| known.folder != lock.folder) {
                self.0.push(lock);
            }
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &LockFile> {
        self.0.iter()
    }

    /// The lock that a kind belongs to.
    pub(crate) fn of(&self, kind: &Kind) -> Option<&LockFile> {
        self.0.iter().find(|lock| lock.folder == kind.folder)
    }

    /// The names that kinds of a catalog are said to have had, and that nobody knows.
    pub(crate) fn unknown_names(&self, catalog: &Catalog) -> Vec<Finding> {
        catalog.unknown_names(|declaration, name| {
            let mut locked = self.iter().filter_map(|lock| lock.lock.locked(declaration));
            locked.any(|locked| locked.names().contains(name))
        })
    }

    /// What is locked of a kind.
    pub(crate) fn locked(&self, kind: &Kind) -> Option<&LockedKind> {
        self.of(kind)?.lock.locked(&kind.declaration)
    }
}

impl LockFile {
    fn read(source: &dyn Source, folder: &Path) -> Result<Self, Unreadable> {
        let input = read_lock(source, folder)?;
        let (lock, problems) = input.as_ref().map(|input| Lock::parse(&input.text())).unwrap_or_default();
        Ok(Self { folder: folder.to_owned(), input, lock, problems })
    }

    /// Where it is, or would be.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.join(LOCK_FILE)
    }

    /// What to call it.
    pub(crate) fn name(&self) -> String {
        files::display(&self.path())
    }

    /// Whether nothing of a kind is left to be locked.
    pub(crate) fn has_all_of(&self, declaration: &Declaration, history: &History) -> bool {
        self.lock.grow(declaration, history, None).is_ok_and(|grown| grown == self.lock)
    }

    /// What is wrong with the file.
    pub(crate) fn findings(&self) -> Vec<Finding> {
        let of = |(problem, input): (&Problem, &Input)| {
            let mut finding = Finding::new(problem.rule, problem.message.clone(), FieldPath::root());
            finding.mend.clone_from(&problem.mend);
            finding.at(input.place(problem.span))
        };
        self.problems.iter().flat_map(|problem| self.input.as_ref().map(|input| of((problem, input)))).collect()
    }
}

/// The lines of each kind that the text of a lock has beyond another, which it continues, with `+`, and a hub that moved
/// with `-` and `+`. Sums change with every line.
pub(crate) fn changed_lines<'t>(before: &'t str, after: &'t str) -> Vec<(&'t str, Vec<(char, &'t str)>)> {
    let known = sections(before);
    let changed = sections(after).into_iter().map(|(kind, lines)| {
        let old = known.iter().find(|(known, _)| *known == kind).map_or(&[][..], |(_, lines)| lines);
        let moved = old.first().zip(lines.first()).filter(|(old, new)| old != new);
        let moved = moved.into_iter().flat_map(|(old, new)| [('-', *old), ('+', *new)]);
        let came = lines.iter().skip(old.len()).map(|line| ('+', *line));
        (kind, moved.chain(came).collect::<Vec<_>>())
    });
    changed.filter(|(_, lines)| !lines.is_empty()).collect()
}

/// The lines of every kind without its sum, under its title.
fn sections(text: &str) -> Vec<(&str, Vec<&str>)> {
    let mut sections: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in text.lines() {
        match sections.last_mut() {
            _ if line.starts_with("kind ") => sections.push((line, Vec::new())),
            Some((_, lines)) if !line.is_empty() && !line.starts_with("  sum ") => lines.push(line),
            _ => {}
        }
    }
    sections
}

/// A line of a lock without the blanks around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LockedLine<'t> {
    pub(crate) text: &'t str,
    pub(crate) span: Span,
}

impl LockedLine<'_> {
    /// The number of the line in its file, from 1.
    pub(crate) fn number(&self) -> u32 {
        self.span.line
    }
}

/// The lines of a kind, from its hub to the one before its sum.
#[derive(Debug)]
pub(crate) struct LockedLines<'t> {
    pub(crate) title: LockedLine<'t>,
    pub(crate) lines: Vec<LockedLine<'t>>,
}

/// The lines of every kind in the text of a lock, which may be any text.
pub(crate) fn locked_lines(text: &str) -> Vec<LockedLines<'_>> {
    let mut kinds: Vec<LockedLines<'_>> = Vec::new();
    let (mut start, mut is_open) = (0, false);
    for (number, raw) in (1..).zip(text.split('\n')) {
        let trimmed = raw.trim();
        let indent = raw.len() - raw.trim_start().len();
        let first = start + indent;
        let column = indent as u32 + 1;
        let span = Span { start: first as u32, end: (first + trimmed.len()) as u32, line: number, column };
        let line = LockedLine { text: trimmed, span };
        start += raw.len() + 1;
        if trimmed.starts_with("kind ") {
            kinds.push(LockedLines { title: line, lines: Vec::new() });
            is_open = true;
        } else if trimmed.starts_with("sum ") {
            is_open = false;
        } else if let Some(kind) = kinds.last_mut().filter(|_| is_open && !trimmed.is_empty()) {
            kind.lines.push(line);
        }
    }
    kinds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_came_and_what_moved_is_shown() {
        let before = "format 1\n\nkind A\n  hub v1\n  version v1 fingerprint 1\n    + a string\n  sum 1\n";
        let after = "format 1\n\nkind A\n  hub v2\n  version v1 fingerprint 1\n    + a string\n  version v2 from v1 fingerprint 2\n  sum 2\n\nkind B\n  hub v1\n  sum 3\n";
        assert!(changed_lines(before, before).is_empty());
        let a = vec![('-', "  hub v1"), ('+', "  hub v2"), ('+', "  version v2 from v1 fingerprint 2")];
        assert_eq!(changed_lines(before, after), [("kind A", a), ("kind B", vec![('+', "  hub v1")])]);
    }
}
