//! The lock of a revision, held against the lock of today line by line: locks only grow.

use std::{
    collections::{HashMap, HashSet},
    path::{Component, Path, PathBuf},
};

use wheelwright_catalog::{LOCK_FILE, OnDisk, Revision, files, read_lock};
use wheelwright_document::{FieldPath, Span};
use wheelwright_evolve::Lock;
use wheelwright_findings::{Finding, Place, rules};

use super::versions::{Before, State};
use crate::{
    locks::{LockFile, LockedLine, LockedLines, locked_lines},
    report::plural,
};

/// The most lines of a kind that are named one by one.
const MAX_NAMED: usize = 5;

/// Reports every line of the locks at a revision that today's locks lack.
pub(super) fn rewritten_locks(before: &Before, now: &State) -> Vec<Finding> {
    let locks_now: Vec<(PathBuf, String)> =
        now.locks.iter().filter_map(|lock| Some((relative(&lock.folder), lock.input.as_ref()?.text()))).collect();
    let mut findings = Vec::new();
    for (folder, old) in locks_at(before, now) {
        let here = locks_now.iter().find(|(there, _)| *there == folder).map(|(_, text)| text.clone());
        // Without kinds in the folder nothing has read the lock yet.
        let on_disk = || read_lock(&OnDisk::default(), &folder).ok().flatten().map(|input| input.text());
        let here = here.or_else(on_disk).unwrap_or_default();
        let mut texts = vec![Today { name: name_in(&folder), text: &here }];
        // A catalog that moves takes its lock with it.
        let elsewhere = locks_now.iter().filter(|(there, _)| *there != folder);
        texts.extend(elsewhere.map(|(there, text)| Today { name: name_in(there), text }));
        findings.extend(rewritten(&before.revision, &name_in(&folder), &old, &texts));
    }
    findings
}

/// What is wrong with a lock, with the lines that were edited where git has a commit whose lock was right.
pub(super) fn named_edits(lock: &LockFile) -> Vec<Finding> {
    let mut findings = lock.findings();
    let is_edit = |finding: &Finding| std::ptr::eq(finding.rule, &rules::LOCK_EDITED);
    let Some(input) = lock.input.as_ref().filter(|_| findings.iter().any(is_edit)) else { return findings };
    let Some((revision, text)) = last_sound(&lock.folder) else { return findings };
    let today = [Today { name: lock.name(), text: &input.text() }];
    let lines = rewritten(&revision, &lock.name(), &text, &today);
    if !lines.is_empty() {
        let mend = findings.iter().find(|finding| is_edit(finding)).and_then(|finding| finding.mend.clone());
        findings.retain(|finding| !is_edit(finding));
        findings.extend(lines.into_iter().map(|line| Finding {
            rule: &rules::LOCK_EDITED,
            level: rules::LOCK_EDITED.level,
            mend: mend.clone(),
            ..line
        }));
    }
    findings
}

/// The newest of the last commits whose lock in a folder can be read, and its text.
fn last_sound(folder: &Path) -> Option<(String, String)> {
    const MOST: usize = 8;
    for number in 0..MOST {
        let name = if number == 0 { "HEAD".to_owned() } else { format!("HEAD~{number}") };
        let revision = Revision::open(Path::new("."), &name).ok()?;
        let text = read_lock(&revision, &relative(folder)).ok()??.text();
        if Lock::parse(&text).1.is_empty() {
            return Some((name, text));
        }
    }
    None
}

/// The locks at a revision: those of the kinds that are compared, and those that belonged to today's kinds elsewhere.
fn locks_at(before: &Before, now: &State) -> Vec<(PathBuf, String)> {
    let text_of = |lock: &LockFile| Some((relative(&lock.folder), lock.input.as_ref()?.text()));
    let is_other = |folder: &Path| before.other_locks.iter().any(|(other, _)| relative(other) == folder);
    let mut locks: Vec<_> = before.kinds.locks.iter().filter_map(text_of).collect();
    // The locks of kinds that moved here are among the others.
    locks.retain(|(folder, _)| !is_other(folder));
    let is_known = |folder: &Path, locks: &[(PathBuf, String)]| locks.iter().any(|(known, _)| known == folder);
    for (folder, text) in &before.other_locks {
        let folder = relative(folder);
        let is_gone = read_lock(&OnDisk::default(), &folder).is_ok_and(|input| input.is_none());
        let (lock, _) = Lock::parse(text);
        let is_ours = now.each().any(|(_, kind)| lock.locked(&kind.declaration).is_some());
        if is_gone && is_ours && !is_known(&folder, &locks) {
            locks.push((folder, text.clone()));
        }
    }
    locks
}

/// The text of a lock today.
struct Today<'t> {
    name: String,
    text: &'t str,
}

/// Compares the lock of a revision, kind by kind, with today's lock in its place, or else with the one that has the kind.
fn rewritten(revision: &str, name: &str, old: &str, today: &[Today<'_>]) -> Vec<Finding> {
    let sections: Vec<Vec<LockedLines<'_>>> = today.iter().map(|today| locked_lines(today.text)).collect();
    let mut findings = Vec::new();
    for then in locked_lines(old) {
        let found = sections
            .iter()
            .zip(today)
            .find_map(|(kinds, today)| Some((kinds.iter().find(|kind| kind.title.text == then.title.text)?, today)));
        let lost = lost_lines(&then, found.map(|(kind, _)| kind));
        let (title, in_file) = (then.title.text, found.map_or(name, |(_, today)| &today.name));
        let end = found.and_then(|(kind, _)| kind.lines.last()).map(|line| line.span);
        let count = lost.len();
        for (index, (line, became)) in lost.into_iter().take(MAX_NAMED).enumerate() {
            let there = format!("line {} of {name} at {revision}, `{}`", line.number(), line.text);
            let mut message = match became {
                Became::Missing if found.is_none() => format!("{there}, is missing with everything below it"),
                Became::Missing => format!("{there} of `{title}`, is missing"),
                Became::Replaced(now) => format!("{there} of `{title}`, was replaced by `{}`", now.text),
                Became::Moved(now) => {
                    format!("{there} of `{title}`, comes after `{}`, which was not before it", now.text)
                }
            };
            if index + 1 == MAX_NAMED && count > MAX_NAMED {
                message += &format!(", and so are {} more", plural(count - MAX_NAMED, "line"));
            }
            let span = match became {
                Became::Missing => end.unwrap_or(Span { line: 1, column: 1, ..Span::default() }),
                Became::Replaced(now) | Became::Moved(now) => now.span,
            };
            let finding = Finding::new(&rules::LOCK_REWRITTEN, message, FieldPath::root())
                .with_mend(format!(
                    "restore {name} from {revision} (git checkout {revision} -- {name}), correct the catalog or its \
                     changes instead, and run wheelwright lock, which only appends"
                ))
                .with_identity(format!("{title} {} {}", line.number(), line.text));
            findings.push(finding.at(Place { file: in_file.to_owned(), span }));
        }
    }
    findings
}

/// What became of a line.
#[derive(Clone, Copy)]
enum Became<'l, 't> {
    Missing,
    Replaced(&'l LockedLine<'t>),
    /// The line is there, after another one that was not before it.
    Moved(&'l LockedLine<'t>),
}

/// The lines of a kind that another text of the kind does not begin with.
///
/// The hub is left out: it moves when it is asked to.
fn lost_lines<'l, 't>(
    then: &'l LockedLines<'t>,
    now: Option<&'l LockedLines<'t>>,
) -> Vec<(&'l LockedLine<'t>, Became<'l, 't>)> {
    let Some(now) = now else { return vec![(&then.title, Became::Missing)] };
    let (old, new) = (then.lines.get(1..).unwrap_or_default(), now.lines.get(1..).unwrap_or_default());
    let same = old.iter().zip(new).take_while(|(old, new)| old.text == new.text).count();
    let (old, new) = (&old[same..], &new[same..]);
    let mut left: HashMap<&str, usize> = HashMap::new();
    new.iter().for_each(|line| *left.entry(line.text).or_default() += 1);
    let texts: HashSet<&str> = old.iter().map(|line| line.text).collect();
    let mut lost = Vec::new();
    for (index, line) in old.iter().enumerate() {
        match left.get_mut(line.text).filter(|left| **left > 0) {
            Some(left) => *left -= 1,
            None => {
                let instead = new.get(index).filter(|new| !texts.contains(new.text));
                lost.push((line, instead.map_or(Became::Missing, Became::Replaced)));
            }
        }
    }
    if lost.is_empty()
        && let (Some(line), Some(other)) = (old.first(), new.first())
    {
        lost.push((line, Became::Moved(other)));
    }
    lost
}

fn name_in(folder: &Path) -> String {
    files::display(&folder.join(LOCK_FILE))
}

/// A path below the current folder, without `.` in it.
fn relative(path: &Path) -> PathBuf {
    let here = std::env::current_dir().ok();
    let below = here.as_ref().and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path);
    below.components().filter(|component| !matches!(component, Component::CurDir)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str =
        "format 1\n\nkind A\n  hub v1\n  version v1 fingerprint 1\n    + a string\n    + b string\n  sum 1\n";

    fn messages(new: &str) -> Vec<(u32, String)> {
        let today = [Today { name: "wheelwright.lock".to_owned(), text: new }];
        let found = rewritten("main", "wheelwright.lock", OLD, &today);
        found.into_iter().map(|found| (found.place.map_or(0, |place| place.span.line), found.message)).collect()
    }

    #[test]
    fn a_lock_that_grew_or_moved_its_hub_is_not_rewritten() {
        assert_eq!(messages(OLD), []);
        assert_eq!(messages(&OLD.replace("  sum 1", "  amend v1 fingerprint 2\n    + c string\n  sum 2")), []);
        assert_eq!(messages(&OLD.replace("hub v1", "hub v2")), []);
        assert_eq!(messages(&OLD.replace('\n', "\r\n")), []);
        assert_eq!(messages(&format!("{OLD}\n# a remark\n\nkind B\n  hub v1\n  sum 1\n")), []);
    }

    #[test]
    fn a_line_that_is_edited_missing_or_moved_is_named() {
        let edited = messages(&OLD.replace("+ a string", "+ a integer"));
        let message = "line 6 of wheelwright.lock at main, `+ a string` of `kind A`, was replaced by `+ a integer`";
        assert_eq!(edited, [(6, message.to_owned())]);
        let cut = messages(&OLD.replace("    + a string\n", ""));
        assert_eq!(cut, [(6, "line 6 of wheelwright.lock at main, `+ a string` of `kind A`, is missing".to_owned())]);
        let gone = messages("");
        let message = "line 3 of wheelwright.lock at main, `kind A`, is missing with everything below it";
        assert_eq!(gone, [(1, message.to_owned())]);
        let moved = messages(&OLD.replace("    + a string\n    + b string\n", "    + b string\n    + a string\n"));
        let message = "line 6 of wheelwright.lock at main, `+ a string` of `kind A`, comes after `+ b string`, which was \
                       not before it";
        assert_eq!(moved, [(6, message.to_owned())]);
    }
}
