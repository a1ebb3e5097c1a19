//! Findings for GitHub's logs: workflow commands, which it shows beside the lines of a change.

use std::io;

use super::ends::Ends;
use crate::{Findings, Level, Sources};

/// Writes a workflow command a line for each finding that is not let pass, in the order of [`Findings::sorted`].
pub fn render_github(findings: &Findings, sources: &Sources, out: &mut dyn io::Write) -> io::Result<()> {
    let mut ends = Ends::new(sources);
    for finding in findings.sorted().into_iter().filter(|finding| finding.suppressed.is_none()) {
        let command = match finding.level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "notice",
        };
        let mut properties = String::new();
        if let Some(place) = &finding.place {
            let end = ends.of(place);
            properties = format!(
                "file={},line={},col={},endLine={},endColumn={},",
                property(&place.file),
                place.span.line,
                place.span.column,
                end.line,
                end.column
            );
        }
        let title = property(&format!("{} {}", finding.rule.id, finding.rule.name));
        let mend = finding.mend.as_deref().unwrap_or(finding.rule.mend);
        let field = if finding.field.is_root() { String::new() } else { format!("field: {}\n", finding.field) };
        let message = data(&format!("{}\n{field}mend: {mend}", finding.message));
        writeln!(out, "::{command} {properties}title={title}::{message}")?;
    }
    Ok(())
}

/// A text as GitHub reads it behind the second pair of colons.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A text as GitHub reads it before the second pair of colons.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_end_a_command_is_escaped() {
        assert_eq!(data("100%: a,\r\nb"), "100%25: a,%0D%0Ab");
        assert_eq!(property("100%: a,\r\nb"), "100%25%3A a%2C%0D%0Ab");
    }
}
