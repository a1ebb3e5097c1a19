//! How a lock is written: a line a field, and every line for good.

mod computed;

use std::fmt::{self, Write as _};

use wheelwright_document::{Arena, Owned, Text, Value, encode};

use super::{
    fingerprint::{Fingerprint, Sum},
    model::{Attributes, Description, Edit, Entry, Lock, LockedKind, Origin},
};
use crate::{History, KindName, Selector, Union, VersionHistory, Writers};

/// The release of the format that is written, and the newest that is read.
pub(super) const FORMAT: u32 = 1;

/// How the whole document is written where a path is expected.
pub(super) const DOCUMENT: &str = ".";

const HEADER: &str = "# wheelwright.lock: written by `wheelwright lock`; review it, commit it, do not edit it.";

impl fmt::Display for Lock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEADER}\nformat {FORMAT}")?;
        for kind in &self.kinds {
            let mut text = String::new();
            write_kind(kind, &mut text)?;
            let mut sum = Sum::default();
            text.lines().for_each(|line| sum.line(line));
            writeln!(f, "\n{text}  sum {}", sum.finish())?;
        }
        Ok(())
    }
}

impl History {
    /// A sum of all that decides how documents are converted, in the words of a lock: where it was declared, in which file
    /// and beside what, is no part of it.
    pub fn fingerprint(&self) -> Fingerprint {
        let mut text = String::new();
        // Writing to a text never fails.
        let _ = self.versions.iter().try_for_each(|version| write_version(version, self, &mut text));
        let _ = self.fields.iter().try_for_each(|field| match &field.frozen {
            Some(frozen) => writeln!(text, "{} frozen {}", Word(&field.text), Json(frozen)),
            None => writeln!(text, "{}", Word(&field.text)),
        });
        Fingerprint::of_text(&text)
    }
}

/// A version as it is, not as it differs from another.
fn write_version(version: &VersionHistory, history: &History, out: &mut String) -> fmt::Result {
    write!(out, "version {} writers {}", Word(version.name.as_str()), writers_name(version.writers))?;
    if let Some(from) = version.from {
        write!(out, " from {}", Word(history.version(from).name.as_str()))?;
    }
    version.published_as.iter().try_for_each(|name| write!(out, " {}", Named(name)))?;
    out.push('\n');
    for node in version.structure.indexes() {
        let description = Description::of(&version.structure, node);
        write!(out, "{} {description}", Path(&version.structure.selector(node)))?;
        if let Some(id) = version.id(node) {
            write!(out, " id {}", Word(&history.field(id).text))?;
        }
        out.push('\n');
    }
    version.respelled.iter().try_for_each(|respelled| writeln!(out, "{}", computed::Respelling(respelled)))?;
    version.derived.iter().try_for_each(|derived| writeln!(out, "{}", computed::Derivation(derived)))
}

fn write_kind(kind: &LockedKind, out: &mut String) -> fmt::Result {
    writeln!(out, "{}\n  hub {}", Named(&kind.title), Word(kind.hub.as_str()))?;
    kind.entries.iter().try_for_each(|entry| write_entry(entry, out))
}

fn write_entry(entry: &Entry, out: &mut String) -> fmt::Result {
    let version = Word(entry.version.as_str());
    match &entry.origin {
        Origin::Amended => write!(out, "  amend {version}")?,
        Origin::New { from, before } => {
            write!(out, "  version {version}")?;
            for (word, name) in [("from", from), ("before", before)] {
                if let Some(name) = name {
                    write!(out, " {word} {}", Word(name.as_str()))?;
                }
            }
        }
    }
    if let Some(name) = &entry.published_as {
        write!(out, " {}", Named(name))?;
    }
    writeln!(out, " fingerprint {}", entry.fingerprint)?;
    entry.edits.iter().try_for_each(|edit| write_edit(edit, out))
}

fn write_edit(edit: &Edit, out: &mut String) -> fmt::Result {
    out.push_str("    ");
    match edit {
        Edit::Remove(at) => write!(out, "- {}", Path(at))?,
        Edit::Move { from, to } => write!(out, "~ {} -> {}", Path(from), Path(to))?,
        Edit::Describe { at, description } => write!(out, "= {} {description}", Path(at))?,
        Edit::Order { at, names } => write!(out, "order {} {}", Path(at), Words(names))?,
        Edit::Writers(writers) => write!(out, "writers {}", writers_name(*writers))?,
        Edit::Respelled(respelled) => write!(out, "{}", computed::Respelling(respelled))?,
        Edit::Derived(derived) => write!(out, "{}", computed::Derivation(derived))?,
        Edit::Add { at, description, id, frozen } => {
            write!(out, "+ {} {description}", Path(at))?;
            if let Some(frozen) = frozen {
                write!(out, " frozen {}", Json(frozen))?;
            }
            if let Some(id) = id {
                write!(out, " id {}", Word(id))?;
            }
        }
    }
    out.push('\n');
    Ok(())
}

/// How those who write documents are called.
pub(super) fn writers_name(writers: Writers) -> &'static str {
    match writers {
        Writers::Exact => "exact",
        Writers::Omitempty => "omitempty",
    }
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (level, shape) in self.shapes.iter().enumerate() {
            write!(f, "{}{}", if level > 0 { " of " } else { "" }, shape.name())?;
        }
        let Attributes { nullable, keeps_unknown, keys, union, default } = &self.attributes;
        for (word, is_set) in [(" nullable", nullable), (" keeps-unknown", keeps_unknown)] {
            f.write_str(if *is_set { word } else { "" })?;
        }
        if !keys.is_empty() {
            write!(f, " keys {}", Words(keys))?;
        }
        if let Some(Union { members, discriminator }) = union {
            write!(f, " union {}", Words(members))?;
            if let Some(discriminator) = discriminator {
                write!(f, " discriminator {}", Word(discriminator))?;
            }
        }
        match default {
            Some(default) => write!(f, " default {}", Json(default)),
            None => Ok(()),
        }
    }
}

/// The name of a kind, and its group if it has one.
struct Named<'n>(&'n KindName);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kind {}", Word(&self.0.kind))?;
        match &*self.0.group {
            "" => Ok(()),
            group => write!(f, " group {}", Word(group)),
        }
    }
}

/// A word, in quotes if it would not be read as one without.
struct Word<'w>(&'w str);

impl fmt::Display for Word<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_separator = |letter: char| letter.is_whitespace() || letter.is_control() || letter == ',';
        if self.0.is_empty() || self.0.starts_with('"') || self.0.contains(is_separator) {
            return Quoted(self.0).fmt(f);
        }
        f.write_str(self.0)
    }
}

/// Words with commas between them; none at all are a comma.
struct Words<'w>(&'w [Box<str>]);

impl fmt::Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, rest)) = self.0.split_first() else { return f.write_str(",") };
        write!(f, "{}", Word(first))?;
        rest.iter().try_for_each(|word| write!(f, ",{}", Word(word)))
    }
}

struct Path<'p>(&'p Selector);

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.steps() {
            [] => f.write_str(DOCUMENT),
            _ => Word(&self.0.to_string()).fmt(f),
        }
    }
}

/// A text in quotes.
struct Quoted<'t>(&'t str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_json(Value::String(Text::new(self.0)), f)
    }
}

struct Json<'v>(&'v Owned);

impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_json(self.0.share(&Arena::new()), f)
    }
}

fn write_json(value: Value<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(&String::from_utf8_lossy(&encode(value)))
}
