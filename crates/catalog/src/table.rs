//! The files of a catalog as if they were one long text, so that a span says which file it is in.

use std::collections::HashSet;

use wheelwright_document::{Arena, Span, Spanned, SpannedEntry, SpannedNode};
use wheelwright_findings::{Finding, Place};
use wheelwright_schema::Problem;

use crate::Input;

/// The files that were read, each with a range of offsets of its own, one after the other.
#[derive(Debug, Default)]
pub(crate) struct FileTable {
    files: Vec<TableFile>,
    next_base: u32,
}

#[derive(Debug)]
struct TableFile {
    base: u32,
    input: Input,
}

impl FileTable {
    /// Adds a file and gives the offset of its first byte; `None` if all files together are too large.
    pub(crate) fn add(&mut self, input: Input) -> Option<u32> {
        self.add_at(self.next_base, input)
    }

    /// Adds a file whose offsets were given to it by somebody else, behind all that are known.
    pub(crate) fn add_at(&mut self, base: u32, input: Input) -> Option<u32> {
        let length = u32::try_from(input.bytes.len()).ok()?;
        let end = base.checked_add(length)?.checked_add(1)?;
        self.files.push(TableFile { base, input });
        self.next_base = self.next_base.max(end);
        Some(base)
    }

    /// The place in a file of a span among all of them.
    pub(crate) fn place(&self, span: Span) -> Option<Place> {
        if span.line == 0 {
            return None;
        }
        let after = self.files.partition_point(|file| file.base <= span.start);
        let file = self.files.get(after.checked_sub(1)?)?;
        let span = Span { start: span.start - file.base, end: span.end.saturating_sub(file.base), ..span };
        Some(file.input.place(span))
    }

    /// A problem as a finding at its place.
    pub(crate) fn finding(&self, problem: Problem) -> Finding {
        let mut finding = Finding::new(problem.rule, problem.message, problem.path);
        finding.place = self.place(problem.span);
        finding.mend = problem.mend;
        finding.error_type = problem.kind.map(|kind| kind.name());
        let related = problem.related.into_iter();
        related.fold(finding, |finding, (span, label)| match self.place(span) {
            Some(place) => finding.with_related(label, place),
            None => finding,
        })
    }

    /// The files, each once.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = &Input> {
        let mut seen = HashSet::new();
        self.files.iter().map(|file| &file.input).filter(move |input| seen.insert(&*input.name))
    }
}

/// A document whose spans begin at `base`, and whose own span reaches to the end of its file: what is read behind it
/// gets offsets behind that.
pub(crate) fn moved<'a>(document: &Spanned<'a>, base: u32, length: usize, arena: &'a Arena) -> Spanned<'a> {
    let mut document = moved_value(document, base, arena);
    document.span.end = document.span.end.max(base.saturating_add(u32::try_from(length).unwrap_or(u32::MAX)));
    document
}

fn moved_value<'a>(value: &Spanned<'a>, base: u32, arena: &'a Arena) -> Spanned<'a> {
    let node = match value.node {
        SpannedNode::Scalar(scalar) => SpannedNode::Scalar(scalar),
        SpannedNode::Array(items) => {
            SpannedNode::Array(arena.slice_from(items.iter().map(|item| moved_value(item, base, arena))))
        }
        SpannedNode::Object(entries) => {
            SpannedNode::Object(arena.slice_from(entries.iter().map(|entry| SpannedEntry {
                key: entry.key,
                key_span: moved_span(entry.key_span, base),
                value: moved_value(&entry.value, base, arena),
            })))
        }
    };
    Spanned { span: moved_span(value.span, base), node }
}

fn moved_span(span: Span, base: u32) -> Span {
    Span { start: span.start.saturating_add(base), end: span.end.saturating_add(base), ..span }
}
