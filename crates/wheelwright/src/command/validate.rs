//! `validate`: what Kubernetes would say to documents.

use std::io;

use wheelwright_document::Arena;
use wheelwright_findings::Level;
use wheelwright_schema::Stages;

use super::documents::{DocumentOptions, Old, Treatment, each_document};
use crate::{
    Console, Exit, Format, Input, Schemas, Unreadable,
    report::{Report, plural, tally},
};

/// How documents are validated and what is said of them.
#[derive(Clone, Debug, Default)]
pub struct ValidateOptions {
    /// How documents are treated.
    pub documents: DocumentOptions,
    /// How findings are written: text is conversation, JSON is data.
    pub format: Format,
    /// Holds the document that the only other one replaces.
    pub old: Option<Input>,
}

/// Takes every document through a write, and reports what is wrong with it where it was written. A line an input says
/// whether it is valid. Where there is an old document, the other one is validated as an update of it.
///
/// # Errors
/// The console cannot be written to.
pub fn validate(
    documents: impl IntoIterator<Item = Result<Input, Unreadable>>,
    schemas: &Schemas,
    options: &ValidateOptions,
    console: &mut Console<'_>,
) -> io::Result<Exit> {
    let mut report = Report::default();
    let mut verdicts = Vec::new();
    let mut exit = Exit::Clean;
    let arena = Arena::new();
    let old = match &options.old {
        Some(input) => match read_old(input, &arena) {
            Ok(old) => Some(old),
            Err(complaint) => {
                console.complain(complaint)?;
                return Ok(Exit::Usage);
            }
        },
        None => None,
    };
    let treatment = Treatment { stages: Stages::ADMIT, old: old.as_ref() };
    let mut total = 0;
    for input in documents {
        let outcome = each_document(input, schemas, &options.documents, treatment, console, &mut |_, _, _| Ok(()))?;
        let count = outcome.count;
        total += count;
        exit = exit.max(outcome.exit);
        let Some(input) = outcome.input else { continue };
        let is_valid = outcome.findings.iter().all(|finding| finding.level < Level::Error);
        let found = tally(outcome.findings.iter());
        verdicts.extend(match (is_valid, outcome.exit) {
            (false, _) => Some(format!("invalid: {}: {found}", input.name)),
            (true, Exit::Clean) if outcome.findings.is_empty() && count == 1 => Some(format!("valid: {}", input.name)),
            (true, Exit::Clean) if outcome.findings.is_empty() => {
                Some(format!("valid: {}: {}", input.name, plural(count, "document")))
            }
            (true, Exit::Clean) => Some(format!("valid: {}: {found}", input.name)),
            // Something in it was not looked at, which has been said.
            (true, _) => None,
        });
        report.add(&input, outcome.findings);
    }
    if old.is_some() && total > 1 {
        console.complain(format_args!("--old holds what one document replaces; there are {total}"))?;
        return Ok(Exit::Usage);
    }
    match options.format {
        Format::Text => {
            report.write(Format::Text, Level::Note, console.colour_conversation, console.conversation)?;
        }
        Format::Json => report.write(Format::Json, Level::Note, false, console.data)?,
    }
    for verdict in verdicts {
        console.say(verdict)?;
    }
    Ok(exit.max(report.exit()))
}

/// The only document of an input, or what to complain of.
fn read_old<'a>(input: &'a Input, arena: &'a Arena) -> Result<Old<'a>, String> {
    let name = &input.name;
    let mut documents = match input.documents(arena) {
        Ok((_, documents)) => documents,
        Err(finding) => {
            let place =
                finding.place.map_or_else(String::new, |place| format!(":{}:{}", place.span.line, place.span.column));
            return Err(format!("{name}{place}: {}", finding.message));
        }
    };
    match (documents.len(), documents.pop()) {
        (1, Some(document)) => Ok(Old { name, document }),
        (count, _) => Err(format!("{name}: --old must hold one document, not {count}")),
    }
}
