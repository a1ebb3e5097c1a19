//! `validate`: what Kubernetes would say to documents.

use std::io;

use wheelwright_findings::{Finding, Holds, Level};
use wheelwright_schema::Stages;

use super::documents::{DocumentOptions, each_document};
use crate::{
    Console, Exit, Format, Input, Schemas, Unreadable,
    report::{Manner, Report, plural, tally},
};

/// How documents are validated and what is said of them.
#[derive(Clone, Debug, Default)]
pub struct ValidateOptions {
    /// How documents are treated.
    pub documents: DocumentOptions,
    /// How findings are written: text is conversation, everything else is data.
    pub format: Format,
    /// Whether people are shown what is let pass; programs are always told.
    pub show_suppressed: bool,
}

/// Takes every document through a write, and reports what is wrong with it where it was written. A line an input says
/// whether it is valid.
///
/// # Errors
/// The console cannot be written to.
pub fn validate(
    documents: impl IntoIterator<Item = Result<Input, Unreadable>>,
    schemas: &Schemas,
    options: &ValidateOptions,
    console: &mut Console<'_>,
) -> io::Result<Exit> {
    let mut report = Report::new(Holds::Documents);
    let mut looked_at = Vec::new();
    let mut exit = Exit::Clean;
    for input in documents {
        let outcome = each_document(input, schemas, &options.documents, Stages::ADMIT, console, &mut |_, _, _| Ok(()))?;
        exit = exit.max(outcome.exit);
        if let Some(input) = outcome.input {
            report.add(&input, outcome.findings);
            looked_at.push((input.name, outcome.count, outcome.exit));
        }
    }
    let found = report.finish(console.today, exit);
    let manner = Manner {
        format: options.format,
        show_suppressed: options.show_suppressed,
        ..Manner::text(console.colour_conversation)
    };
    match options.format {
        Format::Text => found.write(manner, console.conversation)?,
        _ => found.write(manner, console.data)?,
    }
    let by_file = found.by_file();
    for (file, count, exit) in looked_at {
        let findings = by_file.get(file.as_str()).map_or(&[][..], Vec::as_slice);
        if let Some(verdict) = verdict(&file, count, exit, findings) {
            console.say(verdict)?;
        }
    }
    Ok(found.exit())
}

/// Whether an input is valid; nothing if something in it was not looked at, which has been said by then.
fn verdict(file: &str, count: usize, exit: Exit, findings: &[&Finding]) -> Option<String> {
    let is_valid = findings.iter().all(|finding| finding.level < Level::Error || finding.suppressed.is_some());
    let found = || tally(findings.iter().copied());
    match (is_valid, exit) {
        (false, _) => Some(format!("invalid: {file}: {}", found())),
        (true, Exit::Clean) if !findings.is_empty() => Some(format!("valid: {file}: {}", found())),
        (true, Exit::Clean) if count == 1 => Some(format!("valid: {file}")),
        (true, Exit::Clean) => Some(format!("valid: {file}: {}", plural(count, "document"))),
        (true, _) => None,
    }
}
