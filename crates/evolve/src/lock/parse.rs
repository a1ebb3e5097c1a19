//! Reading a lock, line by line; what is wrong with it has a place and says how to mend it.

mod computed;
#[cfg(test)]
mod tests;
mod words;

use std::collections::HashSet;

use wheelwright_document::Span;
use wheelwright_findings::{Rule, rules};

use self::words::{Expected, Words};
use super::{
    fingerprint::{Fingerprint, Sum},
    model::{Entry, Lock, LockedKind, full_name},
    replay::Replay,
    text::FORMAT,
};
use crate::{KindName, VersionName, problem::problem_at};
use wheelwright_schema::Problem;

/// The largest lock that is read, in bytes.
const MAX_BYTES: usize = 64 << 20;

/// The most problems that are told.
const MAX_PROBLEMS: usize = 100;

/// How many fields all versions of all kinds may have, besides a number for each line: versions are differences, so
/// that a short text could be an endless history.
const FREE_FIELDS: usize = 1_000_000;
const FIELDS_A_LINE: usize = 8;

/// Reads a lock.
pub(super) fn parse(text: &str) -> (Lock, Vec<Problem>) {
    if text.len() > MAX_BYTES {
        let message = format!("the lock has {} bytes, more than {MAX_BYTES}", text.len());
        return (Lock::default(), vec![problem_at(&rules::LOCK_UNREADABLE, Span::default(), message)]);
    }
    if let Some(line) = lines(text).find(|line| is_conflict(line.raw)) {
        return (Lock::default(), vec![conflict(&line)]);
    }
    let mut reader = Reader { fields_left: FREE_FIELDS, ..Reader::default() };
    for line in lines(text) {
        reader.fields_left += FIELDS_A_LINE;
        reader.read(&line);
        if reader.is_over || reader.problems.len() >= MAX_PROBLEMS {
            break;
        }
    }
    reader.end_kind();
    if !reader.has_format && reader.problems.is_empty() {
        let message = format!("the lock has no line `format {FORMAT}`");
        reader.problems.push(problem_at(&rules::LOCK_UNREADABLE, Span::default(), message).mend(RESTORE));
    }
    reader.lock.kinds.sort_by(|a, b| a.title.cmp(&b.title));
    (reader.lock, reader.problems)
}

const RESTORE: &str = "restore the file from version control, and run `wheelwright lock` again, which adds what is new";

/// A line without what ends it.
struct Line<'t> {
    raw: &'t str,
    span: Span,
}

fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut start = 0;
    text.split('\n').zip(1..).map(move |(line, number)| {
        let raw = line.trim_end();
        let indent = raw.len() - raw.trim_start().len();
        let first = start + indent;
        let column = raw[..indent].chars().count() as u32 + 1;
        let span = Span { start: first as u32, end: (start + raw.len()) as u32, line: number, column };
        start += line.len() + 1;
        Line { raw, span }
    })
}

fn is_conflict(line: &str) -> bool {
    ["<<<<<<<", "|||||||", "=======", ">>>>>>>"].into_iter().any(|mark| line.starts_with(mark))
}

fn conflict(line: &Line<'_>) -> Problem {
    let message = "two branches have grown the lock, and their merge was left undone here";
    let mend = "take the file as it is on the branch that is deployed or merged first (`git checkout --theirs` or \
                `--ours`), and run `wheelwright lock` again: it adds what the other branch has";
    problem_at(&rules::LOCK_CONFLICT, line.span, message).mend(mend)
}

#[derive(Default)]
struct Reader {
    lock: Lock,
    problems: Vec<Problem>,
    has_format: bool,
    /// Nothing that follows can be understood.
    is_over: bool,
    fields_left: usize,
    names: HashSet<KindName>,
    kind: Option<OpenKind>,
}

/// A kind whose lines are being read.
struct OpenKind {
    title: KindName,
    span: Span,
    hub: Option<(VersionName, Span)>,
    entries: Vec<(Entry, Span, Vec<Span>)>,
    sum: Sum,
    is_summed: bool,
    /// A line of it could not be read, or it is there twice.
    is_broken: bool,
}

impl Reader {
    fn read(&mut self, line: &Line<'_>) {
        let trimmed = line.raw.trim_start();
        if trimmed.is_empty() {
            return;
        }
        let is_open = self.kind.as_ref().is_some_and(|kind| !kind.is_summed);
        if trimmed.starts_with('#') && !is_open {
            return;
        }
        let mut words = Words::new(trimmed);
        let outcome = match words.word() {
            "format" if !self.has_format => self.format(&mut words, line.span),
            _ if !self.has_format => Err(Expected(format!("`format {FORMAT}`"))),
            "kind" => self.open_kind(words, line),
            _ => self.line_of_kind(trimmed, line),
        };
        if let Err(Expected(what)) = outcome {
            self.problem(&rules::LOCK_UNREADABLE, line.span, format!("expected {what}"));
            self.is_over |= !self.has_format;
            if let Some(kind) = &mut self.kind {
                kind.is_broken = true;
            }
        }
    }

    fn problem(&mut self, rule: &'static Rule, span: Span, message: String) {
        self.problems.push(problem_at(rule, span, message).mend(RESTORE));
    }

    fn format(&mut self, words: &mut Words<'_>, span: Span) -> Result<(), Expected> {
        let number = words.word();
        words.end()?;
        let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        if !digits || number.trim_start_matches('0').is_empty() {
            return Err(Expected("the number of a format".to_owned()));
        }
        self.has_format = true;
        if number.parse() != Ok(FORMAT) {
            let message = format!("the lock has format {number}, and this release reads format {FORMAT}");
            let mend = "update wheelwright to the release that wrote the lock, or a newer one";
            self.problems.push(problem_at(&rules::LOCK_TOO_NEW, span, message).mend(mend));
            self.is_over = true;
        }
        Ok(())
    }

    fn open_kind(&mut self, mut words: Words<'_>, line: &Line<'_>) -> Result<(), Expected> {
        self.end_kind();
        let title = words.kind_name()?;
        words.end()?;
        let is_new = self.names.insert(title.clone());
        if !is_new {
            let message = format!("{} is locked twice", full_name(&title));
            self.problem(&rules::LOCK_INCONSISTENT, line.span, message);
        }
        let mut sum = Sum::default();
        sum.line(line.raw);
        let (hub, entries, span) = (None, Vec::new(), line.span);
        self.kind = Some(OpenKind { title, span, hub, entries, sum, is_summed: false, is_broken: !is_new });
        Ok(())
    }

    fn line_of_kind(&mut self, trimmed: &str, line: &Line<'_>) -> Result<(), Expected> {
        let Some(kind) = self.kind.as_mut().filter(|kind| !kind.is_summed) else {
            return Err(Expected("`kind`".to_owned()));
        };
        let mut words = Words::new(trimmed);
        if words.takes("sum") {
            let sum = Fingerprint::parse(words.word()).ok_or(Expected("32 hexadecimal digits".to_owned()))?;
            words.end()?;
            kind.is_summed = true;
            if sum != kind.sum.finish() && !kind.is_broken {
                let name = full_name(&kind.title);
                let message = format!("what is locked of {name} was edited, or merged by hand: its sum is another one");
                self.problem(&rules::LOCK_EDITED, line.span, message);
            }
            return Ok(());
        }
        kind.sum.line(line.raw);
        if kind.is_broken {
            return Ok(());
        }
        if kind.hub.is_none() {
            if !words.takes("hub") {
                return Err(Expected("`hub`".to_owned()));
            }
            kind.hub = Some((VersionName::new(words.quotable()?), line.span));
            return words.end();
        }
        match words.word() {
            "version" => kind.entries.push((words.version()?, line.span, Vec::new())),
            "amend" => kind.entries.push((words.amended()?, line.span, Vec::new())),
            sign => match kind.entries.last_mut() {
                Some((entry, _, spans)) => {
                    entry.edits.push(words.edit(sign)?);
                    spans.push(line.span);
                }
                None => return Err(Expected("`version`".to_owned())),
            },
        }
        words.end()
    }

    /// Takes in the kind whose lines came to an end.
    fn end_kind(&mut self) {
        let Some(open) = self.kind.take() else { return };
        let name = full_name(&open.title);
        if !open.is_summed && !self.is_over && self.problems.len() < MAX_PROBLEMS {
            self.problem(&rules::LOCK_EDITED, open.span, format!("the end of {name} is missing: it has no sum"));
        }
        if open.is_broken {
            return;
        }
        let mut replay = Replay::new(open.title.clone());
        for (entry, span, spans) in &open.entries {
            let Some(left) = self.fields_left.checked_sub(replay.cost(entry)) else {
                let message = "the versions so far have more fields than can be read".to_owned();
                return self.problem(&rules::LOCK_UNREADABLE, *span, message);
            };
            self.fields_left = left;
            match replay.build(entry) {
                Ok(built) => replay.settle_entry(built),
                Err(fault) => return self.problems.push(fault.problem(*span, spans)),
            }
        }
        let hub = open.hub.filter(|(hub, _)| replay.version(hub).is_some());
        let Some((hub, _)) = hub else {
            return self.problem(
                &rules::LOCK_INCONSISTENT,
                open.span,
                format!("the hub of {name} is no version of it"),
            );
        };
        let entries = open.entries.into_iter().map(|(entry, ..)| entry).collect();
        let kind = LockedKind::new(open.title, hub, entries, replay.history());
        let mut others = kind.names().iter().filter(|name| **name != kind.title);
        match others.find(|name| !self.names.insert(KindName::clone(name))) {
            None => self.lock.kinds.push(kind),
            Some(name) => {
                let message =
                    format!("{} is a name of {} and of another kind", full_name(name), full_name(&kind.title));
                self.problem(&rules::LOCK_INCONSISTENT, open.span, message);
            }
        }
    }
}
