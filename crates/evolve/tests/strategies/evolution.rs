//! A step from one version to the next, and what must come of what is written on either side of it.

use wheelwright_document::{Arena, Entry, Value};
use wheelwright_evolve::{Carry, Kind, Lenses, Part, VersionIndex, laws::Laws};

use crate::support::{declaration, document, told};

/// How many cases the laws are held against.
const CASES: usize = 40;

/// A kind of two versions, `v1` and `v2`.
pub(crate) struct Evolution {
    kind: Kind,
    /// The metadata of all documents.
    pub(crate) metadata: &'static str,
}

/// The version that something is written through; it is read through the other one.
#[derive(Clone, Copy)]
pub(crate) enum Through {
    V1,
    V2,
}

impl Evolution {
    /// A kind whose two versions have these fields in their spec, and a `note` besides. Every law holds for it.
    pub(crate) fn new(old: &str, new: &str, changes: &str) -> Self {
        let declaration = declaration(old, new, changes);
        let (kind, problems) = Kind::compile(&declaration, None);
        assert!(problems.is_empty(), "{problems:?}");
        let kind = kind.expect("there are versions");
        let report = Laws { cases: CASES, seed: 1 }.run(&kind, &declaration, &mut |_| {});
        if let Some(law) = report.laws.iter().find(|law| law.broken > 0) {
            panic!("{}", law.example.as_ref().map(|example| example.explain(law.law)).unwrap_or_default());
        }
        Self { kind, metadata: "{name: x}" }
    }

    /// What is said in the one version is said so in the other, whichever it is written through.
    pub(crate) fn is_both_ways(&self, pairs: &[(&str, &str)]) {
        for (old, new) in pairs {
            self.shows(Through::V1, old, new);
            self.shows(Through::V2, new, old);
        }
    }

    /// What is written through the one version is shown so in the other, and survives a client of that: one that writes
    /// back what it read, and one that changes something else.
    pub(crate) fn shows(&self, through: Through, written: &str, shown: &str) {
        let arena = &Arena::new();
        let (writer, reader) = self.versions(through);
        let (document, expected) = (self.document(writer, written, arena), self.document(reader, shown, arena));
        for hub in self.kind.history().indexes() {
            let lenses = self.kind.lenses_for(hub);
            let stored = lenses.put(writer, document, None, Part::Whole, arena).expect("nothing is refused");
            assert_eq!(told(lenses.get(writer, stored, arena)), told(document), "the writer reads it");
            let read = lenses.get(reader, stored, arena);
            assert_eq!(told(read), told(expected), "the other version of {written} reads it");
            let back = lenses.put(reader, read, Some(stored), Part::Whole, arena).expect("nothing is refused");
            assert_eq!(told(back), told(stored), "writing back {shown} changes nothing");
            for other in self.kind.history().indexes() {
                let other = self.kind.lenses_for(other);
                let moved = lenses.rehub(stored, &other, arena);
                assert_eq!(told(other.get(writer, moved, arena)), told(document), "another hub shows the same");
                assert_eq!(told(other.get(reader, moved, arena)), told(expected), "another hub shows the same");
                assert_eq!(told(other.rehub(moved, &lenses, arena)), told(stored), "there and back");
            }
        }
        let edited = noted(shown);
        for (edit, expected) in [(shown, written.to_owned()), (&edited, noted(written))] {
            self.edited(through, written, edit, &expected);
        }
    }

    /// What is written through the one version and then replaced by a client of the other is shown so to the first one: in a
    /// store, and under an API server.
    pub(crate) fn edited(&self, through: Through, written: &str, edit: &str, expected: &str) {
        self.stored(through, written, edit, expected);
        self.carried(through, written, edit, expected);
    }

    fn stored(&self, through: Through, written: &str, edit: &str, expected: &str) {
        let arena = &Arena::new();
        let (writer, reader) = self.versions(through);
        let document = self.document(writer, written, arena);
        let expected = told(self.document(writer, expected, arena));
        for hub in self.kind.history().indexes() {
            let lenses = self.kind.lenses_for(hub);
            let stored = lenses.put(writer, document, None, Part::Whole, arena).expect("nothing is refused");
            let edit = self.document(reader, edit, arena);
            let stored = lenses.put(reader, edit, Some(stored), Part::Whole, arena).expect("nothing is refused");
            assert_eq!(told(lenses.get(reader, stored, arena)), told(edit), "what is written is read");
            assert_eq!(told(lenses.get(writer, stored, arena)), expected, "{written}, then {}", told(edit));
        }
    }

    /// An API server only keeps what the documents themselves carry.
    fn carried(&self, through: Through, written: &str, edit: &str, expected: &str) {
        let arena = &Arena::new();
        let (writer, reader) = self.versions(through);
        let document = self.document(writer, written, arena);
        let expected = told(self.document(writer, expected, arena));
        let [here, there] = [writer, reader].map(|version| self.kind.lenses_for(version));
        let stored = here.put(writer, document, None, Part::Whole, arena).expect("nothing is refused");
        let (here, there) = (carry(&here), carry(&there));
        let (served, _) = here
            .convert(here.unload(stored, arena).expect("there is room for annotations"), &there, arena)
            .expect("there is room for annotations");
        let sent = with_spec_of(served, self.document(reader, edit, arena), arena);
        let (back, _) = there.convert(sent, &here, arena).expect("there is room for annotations");
        let back = without_annotations_of(back, document, arena);
        assert_eq!(told(back), expected, "{written}, then {edit}, carried by {}", told(sent));
    }

    /// What a document of `through` looks like to the other version under an API server.
    pub(crate) fn served(&self, through: Through, written: &str) -> String {
        let arena = &Arena::new();
        let (writer, reader) = self.versions(through);
        let [here, there] = [writer, reader].map(|version| self.kind.lenses_for(version));
        let stored = here
            .put(writer, self.document(writer, written, arena), None, Part::Whole, arena)
            .expect("nothing is refused");
        let (here, there) = (carry(&here), carry(&there));
        told(
            here.convert(here.unload(stored, arena).expect("there is room for annotations"), &there, arena)
                .expect("there is room for annotations")
                .0,
        )
    }

    fn versions(&self, through: Through) -> (VersionIndex, VersionIndex) {
        let [v1, v2] = ["v1", "v2"].map(|name| self.kind.version(name).expect("declared"));
        match through {
            Through::V1 => (v1, v2),
            Through::V2 => (v2, v1),
        }
    }

    fn document<'a>(&'a self, version: VersionIndex, spec: &str, arena: &'a Arena) -> Value<'a> {
        document(&self.kind, version, self.metadata, spec, arena)
    }
}

/// The same spec with another note.
fn noted(spec: &str) -> String {
    match spec.strip_prefix('{') {
        Some("}") => "{note: edited}".to_owned(),
        Some(fields) => format!("{{note: edited, {fields}"),
        None => panic!("{spec} is no object in braces"),
    }
}

fn carry(lenses: &Lenses) -> Carry<'_> {
    Carry::new(lenses).expect("these are resources")
}

fn with_spec_of<'a>(document: Value<'a>, other: Value<'a>, arena: &'a Arena) -> Value<'a> {
    replaced(document, other, "spec", arena)
}

/// The document with the metadata of another: what is carried is out of sight.
fn without_annotations_of<'a>(document: Value<'a>, other: Value<'a>, arena: &'a Arena) -> Value<'a> {
    replaced(document, other, "metadata", arena)
}

fn replaced<'a>(document: Value<'a>, other: Value<'a>, key: &str, arena: &'a Arena) -> Value<'a> {
    let entry = |value: Value<'a>| value.as_object().unwrap_or_default().iter().copied();
    let others = entry(document).filter(|entry| entry.key != key);
    let entries: Vec<Entry<'a>> = others.chain(entry(other).filter(|entry| entry.key == key)).collect();
    Value::Object(arena.slice(&entries))
}
