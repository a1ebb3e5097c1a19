//! `validate`: what Kubernetes would say to documents.

use std::io;

use wheelwright_document::Arena;
use wheelwright_findings::{Finding, Holds, Level};
use wheelwright_schema::Stages;

use super::documents::{DocumentOptions, Old, Treatment, each_document};
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
    /// Holds the document that the only other one replaces.
    pub old: Option<Input>,
    /// Whether people are shown what is let pass; programs are always told.
    pub show_suppressed: bool,
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
    let mut report = Report::new(Holds::Documents);
    let mut looked_at = Vec::new();
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
        total += outcome.count;
        exit = exit.max(outcome.exit);
        if let Some(input) = outcome.input {
            report.add(&input, outcome.findings);
            looked_at.push((input.name, outcome.count, outcome.exit));
        }
    }
    if old.is_some() && total > 1 {
        console.complain(format_args!("--old holds what one document replaces; there are {total}"))?;
        return Ok(Exit::Usage);
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
