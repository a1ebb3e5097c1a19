//! `validate`: what Kubernetes would say to documents.

use std::io;

use wheelwright_findings::{Holds, Level};
use wheelwright_schema::Stages;

use super::documents::{DocumentOptions, each_document};
use crate::{
    Console, Exit, Format, Input, Schemas, Unreadable,
    report::{Found, Manner, Report, plural, tally},
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
    for (file, count, exit) in looked_at {
        if let Some(verdict) = verdict(&file, count, exit, &found) {
            console.say(verdict)?;
        }
    }
    Ok(found.exit())
}

/// Whether an input is valid; nothing if something in it was not looked at, which has been said by then.
fn verdict(file: &str, count: usize, exit: Exit, found: &Found) -> Option<String> {
    let mut findings = found.in_file(file);
    let is_valid = findings.clone().all(|finding| finding.level < Level::Error || finding.suppressed.is_some());
    match (is_valid, exit) {
        (false, _) => Some(format!("invalid: {file}: {}", tally(findings))),
        (true, Exit::Clean) if findings.next().is_some() => {
            Some(format!("valid: {file}: {}", tally(found.in_file(file))))
        }
        (true, Exit::Clean) if count == 1 => Some(format!("valid: {file}")),
        (true, Exit::Clean) => Some(format!("valid: {file}: {}", plural(count, "document"))),
        (true, _) => None,
    }
}
