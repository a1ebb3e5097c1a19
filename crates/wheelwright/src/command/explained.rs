//! How `convert --explain` tells where values came from.

use std::{io, mem};

use wheelwright_document::{Entry, Number, Value, encode};
use wheelwright_evolve::{Because, Explained, Kept, Kind, Trail, VersionIndex};
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
    fn reason(&self, path: &str, because: &Because) -> String {
        let from = self.name(self.from);
        match because {
            Because::Written { at, kept } => {
                let at = at.to_string();
                let mut reason = match at == path {
                    true => "set in the document".to_owned(),
                    false if parent(&at) == parent(path) => format!("renamed from {at} in {from}"),
                    false => format!("moved from {at} in {from}"),
                };
                let hub = self.name(self.kind.lenses().hub());
                match kept {
                    Kept::InBag => {
                        reason.push_str(&format!(", kept in the bag: {hub} is stored and has no such field"));
                    }
                    Kept::Original => reason
                        .push_str(&format!(", kept in the bag as it was written: {hub} is stored in another spelling")),
                    Kept::InShape | Kept::Respelled => {}
                }
                reason
            }
            Because::Converted { at, by } => {
                let by: Vec<String> = by.iter().map(|(step, with)| format!("{with}, {}", self.name(*step))).collect();
                let by = by.join("; ");
                match &at[..] {
                    [] => format!("converted from what is derived ({by})"),
                    at => format!("converted from {} in {from} ({by})", listed(at)),
                }
            }
            Because::Derived { step, source, expression } => {
                format!("derived from {}: {expression} ({})", self.name(*source), self.name(*step))
            }
            Because::Default { at } if at.to_string() == path => format!("default of {from}"),
            Because::Default { at } => format!("default of {at} in {from}"),
            Because::Frozen { first } => format!("frozen default, since {}", self.name(*first)),
            Because::Implied => "implied by the fields that are in it".to_owned(),
            Because::Asked => format!("as {} is published", self.name(self.to)),
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

/// How much text a table has about one document: all paths together can be as long as the square of the document.
const MOST_BYTES: usize = 4 << 20;
/// What is wider stands out of its column, lest every line is as wide.
const WIDEST_COLUMN: usize = 200;

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
    let mut bytes = 0;
    let rows = explained.iter().map_while(|Explained { path, value, because }| {
        let path = (bytes <= MOST_BYTES).then(|| path.to_string())?;
        let reason = conversion.reason(&path, because);
        bytes += path.len() + reason.len();
        Some((path, picture(*value), reason))
    });
    let rows: Vec<(String, String, String)> = rows.collect();
    let width = |texts: &mut dyn Iterator<Item = &str>| {
        let widths = texts.map(|text| text.chars().count());
        widths.filter(|width| *width <= WIDEST_COLUMN).max().unwrap_or(0)
    };
    let paths = width(&mut rows.iter().map(|(path, ..)| path.as_str()));
    let values = width(&mut rows.iter().map(|(_, value, _)| value.as_str()));
    for (path, value, reason) in &rows {
        writeln!(out, "  {path:paths$}  {value:values$}  {reason}")?;
    }
    match explained.len() - rows.len() {
        0 => Ok(()),
        more => writeln!(out, "  … and {more} more values: all of their paths would be too long"),
    }
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
    let at = |at: &[Trail]| (!at.is_empty()).then(|| listed(at));
    let (because, version, at, in_bag) = match &explained.because {
        Because::Written { at: path, kept } => {
            ("written", Some(from), at(std::slice::from_ref(path)), kept.is_in_bag())
        }
        Because::Default { at: path } => ("default", Some(from), at(std::slice::from_ref(path)), false),
        Because::Converted { at: paths, .. } => ("converted", Some(from), at(paths), false),
        Because::Derived { source, .. } => ("derived", Some(conversion.name(*source)), None, false),
        Because::Frozen { first } => ("frozen", Some(conversion.name(*first)), None, false),
        Because::Implied => ("implied", None, None, false),
        Because::Asked => ("asked", Some(conversion.name(conversion.to)), None, false),
    };
    let line = place.span.line.to_string();
    let path = explained.path.to_string();
    let by = match &explained.because {
        Because::Converted { by, .. } => {
            let by = by.iter().map(|(step, with)| format!("{}: {with}", conversion.name(*step)));
            Some(by.collect::<Vec<_>>().join("; "))
        }
        Because::Derived { step, expression, .. } => Some(format!("{}: {expression}", conversion.name(*step))),
        _ => None,
    };
    let entries = [
        ("file", Value::string(&place.file)),
        ("line", Number::new(&line).map_or(Value::Null, Value::Number)),
        ("path", Value::string(&path)),
        ("value", explained.value),
        ("because", Value::string(because)),
        ("version", version.map_or(Value::Null, Value::string)),
        ("at", at.as_deref().map_or(Value::Null, Value::string)),
        ("inBag", Value::Bool(in_bag)),
        ("by", by.as_deref().map_or(Value::Null, Value::string)),
    ];
    let entries = entries.map(|(key, value)| Entry { key, value });
    let mut row = encode(Value::Object(&entries));
    row.push(b'\n');
    out.write_all(&row)
}

fn listed(paths: &[Trail]) -> String {
    paths.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Where a field is.
fn parent(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(parent, _)| parent)
}
