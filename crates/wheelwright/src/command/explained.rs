//! How `convert --explain` tells where values came from.

use std::{io, mem};

use wheelwright_document::{Entry, Number, Value, encode};
use wheelwright_evolve::{Because, Explained, Kind, VersionIndex};
use wheelwright_findings::Place;

use crate::ResultFormat;

/// A document's way from one version to another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conversion<'k> {
    pub(super) kind: &'k Kind,
    pub(super) from: VersionIndex,
    pub(super) to: VersionIndex,
}

impl<'k> Conversion<'k> {
    fn name(&self, version: VersionIndex) -> &'k str {
        self.kind.history().version(version).name.as_str()
    }

    /// Why a value is there, for people.
    fn reason(&self, Explained { path, because, .. }: &Explained<'_>) -> String {
        let from = self.name(self.from);
        match because {
            Because::Written { at, in_bag } => {
                let mut reason = match at == path {
                    true => "set in the document".to_owned(),
                    false if parent(at) == parent(path) => format!("renamed from {at} in {from}"),
                    false => format!("moved from {at} in {from}"),
                };
                if *in_bag {
                    let hub = self.name(self.kind.lenses().hub());
                    reason.push_str(&format!(", kept in the bag: {hub} is stored and has no such field"));
                }
                reason
            }
            Because::Default { at } if at == path => format!("default of {from}"),
            Because::Default { at } => format!("default of {at} in {from}"),
            Because::Frozen { first } => format!("frozen default, since {}", self.name(*first)),
            Because::Implied => "implied by the fields that are in it".to_owned(),
            Because::Asked => "asked for".to_owned(),
        }
    }
}

/// Writes where the values of converted documents came from.
#[derive(Debug)]
pub(super) struct Explainer {
    format: ResultFormat,
    has_written: bool,
}

impl Explainer {
    pub(super) fn new(format: ResultFormat) -> Self {
        Self { format, has_written: false }
    }

    /// Takes a document as it was converted, and where it was before.
    pub(super) fn write(
        &mut self,
        conversion: &Conversion<'_>,
        document: Value<'_>,
        explained: &[Explained<'_>],
        place: &Place,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        match self.format {
            ResultFormat::Text => {
                if mem::replace(&mut self.has_written, true) {
                    writeln!(out)?;
                }
                write_table(conversion, document, explained, out)
            }
            ResultFormat::Json => {
                explained.iter().try_for_each(|explained| write_line(conversion, explained, place, out))
            }
        }
    }
}

fn write_table(
    conversion: &Conversion<'_>,
    document: Value<'_>,
    explained: &[Explained<'_>],
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let name = document.get("metadata").and_then(|metadata| metadata.get("name")?.as_str());
    let name = name.map(|name| format!(" {name}")).unwrap_or_default();
    let Conversion { kind, from, to } = *conversion;
    writeln!(out, "{}{name}: {} → {}", kind.name(), conversion.name(from), conversion.name(to))?;
    let rows: Vec<(&str, String, String)> = explained
        .iter()
        .map(|explained| (&*explained.path, picture(explained.value), conversion.reason(explained)))
        .collect();
    let width = |texts: &mut dyn Iterator<Item = &str>| texts.map(|text| text.chars().count()).max().unwrap_or(0);
    let paths = width(&mut rows.iter().map(|(path, ..)| *path));
    let values = width(&mut rows.iter().map(|(_, value, _)| value.as_str()));
    for (path, value, reason) in &rows {
        writeln!(out, "  {path:paths$}  {value:values$}  {reason}")?;
    }
    Ok(())
}

/// A value as far as it fits into a table.
fn picture(value: Value<'_>) -> String {
    const MOST: usize = 40;
    if value.as_object().is_some_and(|entries| !entries.is_empty()) {
        return "{…}".to_owned();
    }
    let text = String::from_utf8_lossy(&encode(value)).into_owned();
    match text.char_indices().nth(MOST) {
        Some(_) => text.chars().take(MOST - 1).chain(['…']).collect(),
        None => text,
    }
}

fn write_line(
    conversion: &Conversion<'_>,
    explained: &Explained<'_>,
    place: &Place,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let from = conversion.name(conversion.from);
    let (because, version, at, in_bag) = match &explained.because {
        Because::Written { at, in_bag } => ("written", Some(from), Some(at), *in_bag),
        Because::Default { at } => ("default", Some(from), Some(at), false),
        Because::Frozen { first } => ("frozen", Some(conversion.name(*first)), None, false),
        Because::Implied => ("implied", None, None, false),
        Because::Asked => ("asked", Some(conversion.name(conversion.to)), None, false),
    };
    let line = place.span.line.to_string();
    let entries = [
        ("file", Value::string(&place.file)),
        ("line", Number::new(&line).map_or(Value::Null, Value::Number)),
        ("path", Value::string(&explained.path)),
        ("value", explained.value),
        ("because", Value::string(because)),
        ("version", version.map_or(Value::Null, Value::string)),
        ("at", at.map_or(Value::Null, |at| Value::string(at))),
        ("inBag", Value::Bool(in_bag)),
    ];
    let entries = entries.map(|(key, value)| Entry { key, value });
    let mut row = encode(Value::Object(&entries));
    row.push(b'\n');
    out.write_all(&row)
}

/// Where a field is.
fn parent(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(parent, _)| parent)
}
