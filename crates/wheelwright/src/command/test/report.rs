//! What is said about examples.

use std::io;

use wheelwright_document::{Arena, Entry, Value, decode_trusted, encode};
use wheelwright_findings::shortened;

use super::difference::Difference;
use crate::{Console, ResultFormat, report::plural};

/// What came of a document.
#[derive(Debug)]
pub(super) struct Shown {
    /// The file that was held against it.
    pub(super) file: String,
    /// The version that the document is of.
    pub(super) from: String,
    /// The version that shows it.
    pub(super) to: Option<String>,
    /// The version that it was taken through, and back.
    pub(super) via: Option<String>,
    pub(super) verdict: Verdict,
    pub(super) differences: Vec<Difference>,
}

impl Shown {
    /// Whether a file has something else than what a version shows: not if no version can show anything.
    fn is_outdated(&self) -> bool {
        let is_shown = self.to.is_some() && self.differences.iter().all(|difference| difference.reason.is_none());
        self.verdict == Verdict::Different && is_shown
    }
}

/// Whether a document is what it should be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    Same,
    Different,
    /// It was not, and the file is now.
    Written,
}

impl Verdict {
    fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Different => "different",
            Self::Written => "written",
        }
    }
}

/// Says what came of examples, as each is done.
#[derive(Debug)]
pub(super) struct Reporter {
    format: ResultFormat,
    cases: usize,
    different: usize,
    /// Whether a file has something else than what a version shows.
    is_outdated: bool,
    written: usize,
    round_trips: usize,
}

/// More differences of one document than this are not shown to people.
const MOST_SHOWN: usize = 20;

impl Reporter {
    pub(super) fn new(format: ResultFormat) -> Self {
        Self { format, cases: 0, different: 0, is_outdated: false, written: 0, round_trips: 0 }
    }

    pub(super) fn case(
        &mut self,
        name: &str,
        kind: &str,
        shown: &[Shown],
        console: &mut Console<'_>,
    ) -> io::Result<()> {
        let is_different = shown.iter().any(|one| one.verdict == Verdict::Different);
        self.cases += 1;
        self.different += usize::from(is_different);
        self.is_outdated |= shown.iter().any(Shown::is_outdated);
        self.written += shown.iter().filter(|one| one.verdict == Verdict::Written).count();
        self.round_trips += shown.iter().filter(|one| one.via.is_some()).count();
        match self.format {
            ResultFormat::Json => shown.iter().try_for_each(|one| write_line(name, kind, one, console.data)),
            ResultFormat::Text => {
                let versions: Vec<&str> = shown.iter().filter_map(|one| one.to.as_deref()).collect();
                let from = shown.first().map_or("", |one| &one.from);
                let to = if versions.is_empty() { "no other version".to_owned() } else { versions.join(", ") };
                let word = if is_different { "FAIL" } else { "ok  " };
                writeln!(console.data, "{word}  {name}: {kind}, {from} → {to}")?;
                shown.iter().try_for_each(|one| write_text(one, console.data))
            }
        }
    }

    pub(super) fn finish(&self, console: &mut Console<'_>) -> io::Result<()> {
        if self.cases == 0 {
            return Ok(());
        }
        console.data.flush()?;
        let Self { cases, different, written, round_trips, .. } = self;
        let told = if *different == 0 {
            "all as they should be".to_owned()
        } else {
            format!("{different} not as they should be")
        };
        let files = if *written == 0 { String::new() } else { format!("; wrote {}", plural(*written, "file")) };
        console.say(format_args!(
            "{}, {}: {told}{files}",
            plural(*cases, "example"),
            plural(*round_trips, "round trip")
        ))?;
        if self.is_outdated {
            console.say("help: wheelwright test --update writes what versions show into the files")?;
        }
        Ok(())
    }
}

fn write_text(shown: &Shown, out: &mut dyn io::Write) -> io::Result<()> {
    let Shown { file, via, verdict, differences, .. } = shown;
    if *verdict == Verdict::Written {
        return writeln!(out, "      wrote {file}");
    }
    let through = via.as_ref().map_or_else(String::new, |via| format!(" through {via} and back"));
    for Difference { field, expected, found, reason } in differences.iter().take(MOST_SHOWN) {
        let at = if field.is_empty() { String::new() } else { format!(" {field}:") };
        let what = match (expected, found, reason) {
            (.., Some(reason)) => reason.clone(),
            (Some(expected), Some(found), _) => format!("expected {}, found {}", shortened(expected), shortened(found)),
            (Some(expected), None, _) => format!("expected {}, not found", shortened(expected)),
            (None, found, _) => format!("not expected, found {}", shortened(found.as_deref().unwrap_or_default())),
        };
        writeln!(out, "      {file}{through}:{at} {what}")?;
    }
    match differences.len().saturating_sub(MOST_SHOWN) {
        0 => Ok(()),
        more => writeln!(out, "      … and {more} more; --format json writes them all"),
    }
}

fn write_line(case: &str, kind: &str, shown: &Shown, out: &mut dyn io::Write) -> io::Result<()> {
    let arena = Arena::new();
    let text = |text: &Option<String>| text.as_ref().map_or(Value::Null, |text| Value::string(arena.text(text)));
    // The values of differences are JSON.
    let json = |text: &Option<String>| {
        let bytes = text.as_ref().map_or("null", |text| arena.text(text)).as_bytes();
        decode_trusted(bytes, &arena).unwrap_or(Value::Null)
    };
    let difference = |one: &Difference| {
        let mut entries = vec![Entry { key: "field", value: Value::string(arena.text(&one.field)) }];
        entries.extend(one.expected.as_ref().map(|_| Entry { key: "expected", value: json(&one.expected) }));
        entries.extend(one.found.as_ref().map(|_| Entry { key: "found", value: json(&one.found) }));
        entries.extend(one.reason.as_ref().map(|_| Entry { key: "reason", value: text(&one.reason) }));
        Value::Object(arena.slice(&entries))
    };
    let differences: Vec<Value<'_>> = shown.differences.iter().map(difference).collect();
    let entries = [
        ("example", Value::string(case)),
        ("kind", Value::string(kind)),
        ("file", Value::string(&shown.file)),
        ("from", Value::string(&shown.from)),
        ("to", text(&shown.to)),
        ("via", text(&shown.via)),
        ("result", Value::string(shown.verdict.name())),
        ("differences", Value::Array(&differences)),
    ];
    let mut line = encode(Value::Object(&entries.map(|(key, value)| Entry { key, value })));
    line.push(b'\n');
    out.write_all(&line)
}
