//! What somebody is told who has two versions and has not said anything about them yet: what would be lost, a document
//! that shows it, and the lines that mend it.

use std::fmt::Write as _;

use wheelwright_catalog::{Catalog, Kind};
use wheelwright_document::{FieldPath, Span};
use wheelwright_evolve::{
    History, Selector, VersionIndex, VersionName,
    check::{Lacking, Loss, describe_lacking, describe_loss, lacking_in_old_records, lost_under_none},
};
use wheelwright_findings::{Finding, Place, Rule, rules};
use wheelwright_schema::Root;

use super::compatibility::level;
use crate::{report::plural, subject::full_name};

/// What there is to tell about a kind.
pub(super) struct Contact {
    name: String,
    file: String,
    steps: Vec<Step>,
}

/// What there is to tell about two versions.
struct Step {
    later: VersionName,
    span: Span,
    what: What,
}

enum What {
    Lost(Box<Loss>),
    Lacking { earlier: VersionName, fields: Vec<Lacking> },
}

impl Contact {
    /// Looks at every version and the one before it; none if nothing would be lost and nothing is lacking.
    pub(super) fn of(catalog: &Catalog, kind: &Kind, history: &History) -> Option<Self> {
        let declaration = &kind.declaration;
        let step = |later: VersionIndex| {
            let version = history.version(later);
            let declared = declaration.version(version.name.as_str())?;
            let earlier = version.from?;
            let what = if declared.root == Root::Resource {
                let lost = lost_under_none(declaration, history, earlier, later);
                [&lost.there, &lost.back]
                    .iter()
                    .any(|lost| !lost.fields.is_empty())
                    .then(|| What::Lost(Box::new(lost)))?
            } else {
                let fields = lacking_in_old_records(declaration, history, earlier, later);
                let earlier = history.version(earlier).name.clone();
                (!fields.is_empty()).then_some(What::Lacking { earlier, fields })?
            };
            Some(Step { later: version.name.clone(), span: declared.span, what })
        };
        let steps: Vec<Step> = history.indexes().filter_map(step).collect();
        let file = catalog.place(kind.span).map(|Place { file, .. }| file).unwrap_or_default();
        (!steps.is_empty()).then(|| Self { name: full_name(declaration), file, steps })
    }

    /// The same as findings, one a step, for those who do not read the text.
    pub(super) fn findings(&self, catalog: &Catalog, kind: &Kind) -> Vec<Finding> {
        let finding = |step: &Step| {
            let rule = step.rule();
            let identity = format!("{} {}", full_name(&kind.declaration), step.later);
            let mut finding = Finding::new(rule, step.message(), FieldPath::root()).with_identity(identity);
            finding.level = level(rule.level, &step.later);
            finding.place = catalog.place(step.span);
            finding
        };
        self.steps.iter().map(finding).collect()
    }

    /// The whole story, for people.
    fn text(&self) -> String {
        let mut out = format!("{} ({})\n\n", self.name, self.file);
        for step in &self.steps {
            match &step.what {
                What::Lost(lost) => out.push_str(&describe_loss(lost)),
                What::Lacking { earlier, fields } => out.push_str(&describe_lacking(earlier, &step.later, fields)),
            }
            out.push('\n');
        }
        out
    }

    /// The story in a line a step, for those who have enough of them.
    fn line(&self) -> String {
        let steps: Vec<String> = self.steps.iter().map(Step::message).collect();
        format!("{}: {}\n", self.name, steps.join("; "))
    }
}

impl Step {
    fn rule(&self) -> &'static Rule {
        match self.what {
            What::Lost(_) => &rules::LOST_UNDER_NONE,
            What::Lacking { .. } => &rules::OLD_RECORDS_LACK,
        }
    }

    fn message(&self) -> String {
        match &self.what {
            What::Lost(lost) => {
                let directions =
                    [&lost.there, &lost.back].into_iter().filter(|lost| !lost.fields.is_empty()).map(|lost| {
                        let names = few(lost.fields.iter().map(|lost| &lost.field));
                        let count = plural(lost.fields.len(), "field");
                        format!("{} → {} loses {count} ({names})", lost.version, lost.through)
                    });
                format!("under `strategy: None`, {}", directions.collect::<Vec<_>>().join(", and "))
            }
            What::Lacking { earlier, fields } => {
                let names = few(fields.iter().map(|lacking| &lacking.field));
                format!("records of {earlier} lack {} of {} ({names})", plural(fields.len(), "field"), self.later)
            }
        }
    }
}

/// Kinds whose story is told; of more of them a line is enough.
const MOST_STORIES: usize = 3;

/// What is told about kinds, after the findings.
pub(super) fn text(contacts: &[Contact]) -> String {
    let (told, mentioned) = contacts.split_at(contacts.len().min(MOST_STORIES));
    let mut out: String = told.iter().map(Contact::text).collect();
    for contact in mentioned {
        out.push_str(&contact.line());
    }
    if let Some(first) = mentioned.first() {
        let _ = writeln!(out, "\nwheelwright check {} shows a document, and the lines to add.", first.file);
    }
    out
}

/// Some fields for a message, and how many more there are.
fn few<'f>(mut fields: impl Iterator<Item = &'f Selector>) -> String {
    const MOST: usize = 3;
    let mut shown: Vec<String> = fields.by_ref().take(MOST).map(Selector::to_string).collect();
    shown.extend(Some(fields.count()).filter(|more| *more > 0).map(|more| format!("{more} more")));
    shown.join(", ")
}
