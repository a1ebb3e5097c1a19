//! What could not be computed for documents, as findings where the changes say how it is computed.

use std::{collections::BTreeMap, io};

use wheelwright_document::{FieldPath, Span};
use wheelwright_evolve::{Kind, Trouble};
use wheelwright_findings::{Finding, Holds, Place, rules};

use crate::{
    Console, Exit, Kinds,
    report::{Manner, Report, plural},
};

/// What could not be computed, each with how many documents it was so for.
#[derive(Debug, Default)]
pub(super) struct Troubles(BTreeMap<Sort, Found>);

/// The kind, the version and field, and where the changes say how it is computed.
type Sort = (String, String, Option<(String, u32)>);

#[derive(Debug)]
struct Found {
    kind: String,
    version: String,
    field: String,
    /// Where the changes say how it is computed.
    place: Option<Place>,
    /// Why it failed for the first document.
    message: String,
    /// Where that document is.
    first: Whence,
    documents: usize,
}

/// Where a document is.
#[derive(Clone, Debug)]
pub(super) enum Whence {
    /// In a file.
    Place(Place),
    /// In a line of standard input.
    Line(usize),
}

impl Troubles {
    /// More sorts of troubles than this are not kept: there may be as many fields as changes.
    const MOST: usize = 1000;

    /// Takes what could not be computed for one document.
    pub(super) fn add(&mut self, kinds: &Kinds, kind: &Kind, troubles: Vec<Trouble>, document: Whence) {
        for trouble in troubles {
            let is_written = trouble.span != Span::default();
            let place = is_written.then(|| kinds.catalog().place(trouble.span)).flatten();
            let version = kind.history().version(trouble.version).name.to_string();
            let at = place.as_ref().map(|place| (place.file.clone(), place.span.start));
            let key = (kind.name().to_owned(), format!("{version} {}", trouble.field), at);
            if self.0.len() >= Self::MOST && !self.0.contains_key(&key) {
                continue;
            }
            let found = self.0.entry(key).or_insert_with(|| Found {
                kind: kind.name().to_owned(),
                version,
                field: trouble.field,
                place,
                message: trouble.message,
                first: document.clone(),
                documents: 0,
            });
            found.documents += 1;
        }
    }

    /// Adds all of it to a report, with the files of the catalog that it is about.
    pub(super) fn report(self, kinds: &Kinds, report: &mut Report) {
        for found in self.0.into_values() {
            let file = found.place.as_ref().map(|place| &place.file);
            if let Some(input) = kinds.catalog().inputs().find(|input| Some(&input.name) == file) {
                report.add_other(input);
            }
            report.add_finding(found.into_finding());
        }
    }

    /// Says all of it, for commands that report nothing else.
    pub(super) fn say(self, kinds: &Kinds, console: &mut Console<'_>) -> io::Result<()> {
        let mut report = Report::new(Holds::Documents);
        self.report(kinds, &mut report);
        let found = report.finish(console.today, Exit::Clean);
        found.write(Manner::text(console.colour_conversation), console.conversation)
    }
}

impl Found {
    fn into_finding(self) -> Finding {
        let Self { kind, version, field, place, message, first, documents } = self;
        let (line, document) = match first {
            Whence::Line(line) if documents == 1 => (format!(" (line {line})"), None),
            Whence::Line(line) => (format!(" (the first in line {line})"), None),
            Whence::Place(place) => (String::new(), Some(place)),
        };
        let documents = plural(documents, "document");
        let said = format!("{kind}: {field} of {version} cannot be computed for {documents}{line}: {message}");
        let mut finding =
            Finding::new(&rules::NOT_COMPUTED, said, FieldPath::root().child(&field)).about(kind, &version);
        finding.place = place.or_else(|| document.clone());
        match document.filter(|document| Some(document) != finding.place.as_ref()) {
            Some(document) => finding.with_related("the first of them", document),
            None => finding,
        }
    }
}
