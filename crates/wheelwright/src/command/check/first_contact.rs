//! What somebody is told who has two versions and has not said anything about them yet: what would be lost, a document
//! that shows it, and the lines that mend it.

use std::{collections::HashSet, fmt::Write as _, path::Path};

use wheelwright_catalog::{Catalog, Kind, files};
use wheelwright_document::{Arena, FieldPath, Owned, Span, Value, write_yaml};
use wheelwright_evolve::{
    History, VersionHistory, VersionIndex, VersionName,
    check::{
        Addition, Incompatibility, Lacking, Loss, Lost, describe_additions, describe_hidden, describe_lacking,
        describe_loss, lacking_in_old_records, lost_under_none,
    },
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
    /// How a catalog declares the kind, if each of its versions is an OpenAPI document.
    entry: Option<Owned>,
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
        let entry = steps.iter().all(|step| step.loss().is_none()).then(|| entry(catalog, kind, history)).flatten();
        (!steps.is_empty()).then(|| Self { name: full_name(declaration), file, steps, entry })
    }

    /// The same as findings, one a step, for those who do not read the text.
    pub(super) fn findings(&self, catalog: &Catalog, kind: &Kind) -> Vec<Finding> {
        let finding = |step: &Step| {
            let rule = step.rule();
            let message = format!("{}: {}", kind.declaration.kind, step.message());
            let mut finding = Finding::new(rule, message, FieldPath::root())
                .with_identity(format!("{} {}", self.name, step.later))
                .about(&self.name, step.later.as_str());
            finding.level = level(rule.level, &step.later);
            finding.place = catalog.place(step.span);
            finding.mend = step.mend();
            finding
        };
        self.steps.iter().map(finding).collect()
    }

    /// Whether something is a part of the story: a field that is gone is shown with the lines to add.
    pub(super) fn tells(&self, finding: &Incompatibility) -> bool {
        let is_asked = [&rules::REMOVAL_NOT_ASSESSED, &rules::PROBABLE_RENAME]
            .iter()
            .any(|rule| std::ptr::eq(finding.rule(), *rule));
        let is_told = |step: &Step| step.later == finding.version && matches!(step.what, What::Lost(_));
        is_asked && self.steps.iter().any(is_told)
    }

    /// The whole story, for people.
    fn text(&self) -> String {
        let mut out = format!("{} ({})\n\n", self.name, self.file);
        for step in &self.steps {
            out.push_str(&match &step.what {
                What::Lost(loss) => describe_loss(loss),
                What::Lacking { earlier, fields } => format!("{}\n", describe_lacking(earlier, &step.later, fields)),
            });
        }
        let losses = || self.steps.iter().filter_map(Step::loss);
        if losses().next().is_none() {
            return out;
        }
        let hidden = describe_hidden(losses());
        let Some(lines) = describe_additions(losses()) else {
            let _ = match hidden {
                None => write!(out, "With Wheelwright nothing is lost, without a line to add.\n\n"),
                Some(hidden) => {
                    write!(out, "With Wheelwright every value is kept, without a line to add, but {hidden}.\n\n")
                }
            };
            return out;
        };
        let kept = match hidden {
            None => "nothing is lost".to_owned(),
            Some(hidden) => format!("every value is kept, but {hidden}"),
        };
        let is_rename = |addition: &Addition| matches!(addition, Addition::Renamed { .. });
        let has_renames = losses().flat_map(|loss| &loss.additions).any(is_rename);
        let question = if has_renames { " (are these renames right?)" } else { "" };
        let file = match self.file.rsplit('/').next().unwrap_or_default() {
            name if name == files::display(Path::new("-")) => "crd.yaml",
            name => name,
        };
        let _ = write!(
            out,
            "With Wheelwright {kept}. Put these lines into a file changes.yaml{question}:\n\n{lines}\n\
             and name it in a wheelwright.yaml:\n\n    kinds:\n      - crd: {file}\n        changes: changes.yaml\n\n"
        );
        if losses().any(|loss| !loss.proposals.is_empty()) {
            let _ = write!(out, "In these lines, {HOW_TO_TAKE_GUESSES}.\n\n");
        }
        if losses().any(renames_objects) {
            out.push_str("Then check again: it may ask about fields inside of what was renamed.\n\n");
        }
        out
    }

    /// The story in numbers: the kind, the versions, and what is lost or lacking between them.
    fn rows(&self) -> impl Iterator<Item = [String; 3]> {
        self.steps.iter().map(|step| match &step.what {
            What::Lost(loss) => {
                let count = |lost: &Lost| plural(lost.fields.len(), "field");
                let versions = format!("{} → {}", loss.there.version, loss.there.through);
                [self.name.clone(), versions, format!("{}, {} back", count(&loss.there), count(&loss.back))]
            }
            What::Lacking { earlier, fields } => {
                let versions = format!("{earlier} → {}", step.later);
                [self.name.clone(), versions, format!("{} that old records lack", plural(fields.len(), "field"))]
            }
        })
    }
}

impl Step {
    fn loss(&self) -> Option<&Loss> {
        match &self.what {
            What::Lost(loss) => Some(loss),
            What::Lacking { .. } => None,
        }
    }

    fn rule(&self) -> &'static Rule {
        match self.what {
            What::Lost(_) => &rules::LOST_UNDER_NONE,
            What::Lacking { .. } => &rules::OLD_RECORDS_LACK,
        }
    }

    fn mend(&self) -> Option<String> {
        let loss = self.loss()?;
        let lines = loss.lines();
        let guesses = if loss.proposals.is_empty() { String::new() } else { format!(" ({HOW_TO_TAKE_GUESSES})") };
        let told = || format!("convert with Wheelwright, and add to the changes{guesses}:\n{}", lines.trim_end());
        (!lines.is_empty()).then(told)
    }

    fn message(&self) -> String {
        match &self.what {
            What::Lost(lost) => {
                let directions =
                    [&lost.there, &lost.back].into_iter().filter(|lost| !lost.fields.is_empty()).map(|lost| {
                        let names = listed(lost.fields.iter().map(|lost| lost.field.to_string()), ", ");
                        let count = plural(lost.fields.len(), "field");
                        format!("{} → {} loses {count} ({names})", lost.version, lost.through)
                    });
                format!("under `strategy: None`, {}", directions.collect::<Vec<_>>().join(", and "))
            }
            What::Lacking { earlier, fields } => {
                let names = listed(fields.iter().map(|lacking| lacking.reads(&self.later)), "; ");
                format!("records of {earlier} lack {} of {}: {names}", plural(fields.len(), "field"), self.later)
            }
        }
    }
}

/// A field under `removed` never reaches the other version, and once that is locked, this is final.
const HOW_TO_TAKE_GUESSES: &str =
    "guesses are behind a #, with other readings below them: take the # away from those that are right";

/// What is told about kinds, before the findings: the whole story of a few, and of many that of the first. The stories
/// of OpenAPI documents are short.
pub(super) fn text(contacts: &[Contact]) -> String {
    let few = if contacts.iter().all(|contact| contact.entry.is_some()) { 3 } else { 2 };
    let told = if contacts.len() > few { 1 } else { contacts.len() };
    let (told, counted) = contacts.split_at(told);
    let mut out: String = told.iter().map(Contact::text).collect();
    out.push_str(&catalog_of_documents(told));
    let Some(next) = counted.first() else { return out };
    let rows: Vec<[String; 3]> = counted.iter().flat_map(Contact::rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let (first, second) = (width(0), width(1));
    let _ = writeln!(out, "The versions of {} lose fields to each other, too:\n", plural(counted.len(), "more kind"));
    for [name, versions, lost] in &rows {
        let _ = writeln!(out, "    {name:first$}  {versions:second$}  {lost}");
    }
    let is_elsewhere = told.iter().all(|told| told.file != next.file);
    let _ = match is_elsewhere {
        true => writeln!(out, "\nwheelwright check {} shows which, and the lines to add.\n", next.file),
        false => writeln!(out, "\nwheelwright check --format json names the fields.\n"),
    };
    out
}

/// How a catalog declares a kind of OpenAPI documents.
fn entry(catalog: &Catalog, kind: &Kind, history: &History) -> Option<Owned> {
    let string = |text: &str| Owned::from(Value::string(text));
    let document = |version: &VersionHistory| {
        let declared = kind.declaration.version(version.name.as_str())?;
        Some((version.name.as_str().into(), string(&catalog.place(declared.span)?.file)))
    };
    let documents: Option<_> = history.versions.iter().map(document).collect();
    let definition = ("definition".into(), string(&kind.declaration.kind));
    Some(Owned::Object([("openapi".into(), Owned::Object(documents?)), definition].into()))
}

/// The catalog that declares the kinds of OpenAPI documents, with how to go on; nothing if there is none.
fn catalog_of_documents(contacts: &[Contact]) -> String {
    let entries: Box<[Owned]> = contacts.iter().filter_map(|contact| contact.entry.clone()).collect();
    if entries.is_empty() {
        return String::new();
    }
    let arena = Arena::new();
    let catalog = write_yaml(Owned::Object([("kinds".into(), Owned::Array(entries))].into()).share(&arena));
    let lines: String = catalog.lines().map(|line| format!("    {line}\n")).collect();
    format!(
        "Wheelwright reads old records so. To go on, declare the documents in a wheelwright.yaml, where `changes` of a kind \
         can name\na file that says what was renamed or removed:\n\n{lines}\n"
    )
}

/// Whether fields have fields in them that are compared only once their rename is declared.
fn renames_objects(loss: &Loss) -> bool {
    let objects: HashSet<_> =
        loss.there.fields.iter().filter(|lost| lost.shape.contains("object")).map(|lost| &lost.field).collect();
    loss.additions.iter().any(|addition| matches!(addition, Addition::Renamed { from, .. } if objects.contains(from)))
}

fn listed(parts: impl Iterator<Item = String>, between: &str) -> String {
    parts.collect::<Vec<_>>().join(between)
}
