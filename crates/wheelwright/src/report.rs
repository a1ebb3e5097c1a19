//! What a command found, collected over all its inputs and shown once at the end.

use std::io;

use wheelwright_findings::{Finding, Findings, Level, Sources, render_json, render_text};

use crate::{Exit, Input};

/// How findings are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Format {
    /// Pictures of the source with reasons and remedies, for people.
    #[default]
    Text,
    /// A JSON object a line, for programs; see [`render_json`] for its keys.
    Json,
}

/// As many as anybody reads; a program reads them all.
const MOST_PICTURES: usize = 1000;

/// Findings and the texts they point into; inputs without findings are not kept.
#[derive(Debug, Default)]
pub(crate) struct Report {
    findings: Findings,
    sources: Sources,
}

impl Report {
    pub(crate) fn add(&mut self, input: &Input, findings: Vec<Finding>) {
        if !findings.is_empty() {
            self.sources.insert(&input.name, input.text());
            self.findings.extend(findings);
        }
    }

    /// Adds a text that findings of another input point into.
    pub(crate) fn add_text(&mut self, name: String, text: String) {
        self.sources.insert(name, text);
    }

    pub(crate) fn exit(&self) -> Exit {
        if self.findings.is_clean() { Exit::Clean } else { Exit::Findings }
    }

    /// Writes every finding of at least a level. A reader who has seen enough is no reason to fail.
    pub(crate) fn write(&self, format: Format, least: Level, colour: bool, out: &mut dyn io::Write) -> io::Result<()> {
        let mut shown: Findings = self.findings.iter().filter(|finding| finding.level >= least).cloned().collect();
        if shown.is_empty() {
            return Ok(());
        }
        let mut text = Vec::new();
        let count = shown.iter().count();
        if format == Format::Text && count > MOST_PICTURES {
            shown = shown.sorted().into_iter().take(MOST_PICTURES).cloned().collect();
        }
        match format {
            Format::Json => render_json(&shown, &mut text)?,
            Format::Text => {
                render_text(&shown, &self.sources, colour, &mut text)?;
                if count > MOST_PICTURES {
                    let more = count - MOST_PICTURES;
                    text.extend_from_slice(format!("… and {more} more; --format json writes them all\n").as_bytes());
                }
            }
        }
        match out.write_all(&text).and_then(|()| out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            result => result,
        }
    }

    /// How many findings there are of each level.
    pub(crate) fn tally(&self) -> String {
        tally(self.findings.iter())
    }

    /// How many findings are below a level.
    pub(crate) fn below(&self, least: Level) -> usize {
        self.findings.iter().filter(|finding| finding.level < least).count()
    }
}

/// How many findings there are of each level: `2 errors, 1 note`, or `clean`.
pub(crate) fn tally<'f>(findings: impl Iterator<Item = &'f Finding> + Clone) -> String {
    let levels = [Level::Error, Level::Warning, Level::Note].into_iter();
    let counts = levels.map(|level| (findings.clone().filter(|finding| finding.level == level).count(), level));
    let words: Vec<_> = counts.filter(|(count, _)| *count > 0).map(|(n, level)| plural(n, level.as_str())).collect();
    if words.is_empty() { "clean".to_owned() } else { words.join(", ") }
}

/// `1 file`, `2 files`.
pub(crate) fn plural(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}
