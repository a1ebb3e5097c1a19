//! Views of generated documents: none is invalid for an empty object, or for the lack of a required one.

use std::collections::{BTreeMap, BTreeSet};

use wheelwright::{
    document::{Arena, Entry, Value},
    evolve::{Kind, VersionIndex},
    schema::Schema,
};

use crate::{
    catalog::{Catalog, Variants, errors},
    spelled,
    typed_clients::{is_valid, refuses_empty},
};

#[test]
#[expect(clippy::print_stdout, reason = "counts what was tried")]
fn no_view_is_invalid_for_an_empty_object_or_the_lack_of_a_required_one() {
    let Some(catalog) = Catalog::find("views") else { return };
    let (mut views, mut valid, mut faulty) = (0, 0, 0);
    let mut faults: BTreeMap<String, (usize, String)> = BTreeMap::new();
    catalog.for_every_document(Variants::WithoutEmpty, |written| {
        for (other, name, schema) in written.others() {
            let view = written.shown(other);
            let invalid = problems(written.kind, other, view);
            let found = faults_of(written.kind, (other, schema), view, &invalid, written.arena);
            views += 1;
            valid += usize::from(invalid.is_empty());
            faulty += usize::from(!found.is_empty());
            for fault in found {
                let fault = format!("{} of {name}: {fault}", written.kind.name());
                let (count, example) = faults.entry(fault).or_default();
                let text = format!("{}\n  as {}", spelled(written.shown(written.version)), spelled(view));
                *count += 1;
                if example.is_empty() || text.len() < example.len() {
                    *example = text;
                }
            }
        }
    });
    println!("views of Cluster API: {views}, {valid} of them valid, {faulty} with wrong or missing empty objects");
    let faults: Vec<String> =
        faults.iter().map(|(fault, (count, example))| format!("{count} × {fault}\n  {example}")).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// What is wrong with a view that leaving out empty objects, or adding required ones as `{}`, corrects.
fn faults_of(
    kind: &Kind,
    (version, schema): (VersionIndex, &Schema),
    view: Value<'_>,
    problems_of_view: &BTreeSet<String>,
    arena: &Arena,
) -> Vec<String> {
    if problems_of_view.is_empty() {
        return Vec::new();
    }
    let corrected = problems(kind, version, corrected(view, schema, arena));
    problems_of_view.difference(&corrected).cloned().collect()
}

/// What is wrong with a document, without the positions in lists.
fn problems(kind: &Kind, version: VersionIndex, document: Value<'_>) -> BTreeSet<String> {
    let errors = errors(kind, version, document).into_iter().filter(|error| !error.is_about_skipped_rules());
    errors.map(|error| error.to_string().chars().filter(|letter| !letter.is_ascii_digit()).collect()).collect()
}

/// A document without the empty objects that its schema refuses, and with the required objects that may be empty.
fn corrected<'a>(value: Value<'a>, schema: &'a Schema, arena: &'a Arena) -> Value<'a> {
    match value {
        Value::Object(entries) => {
            let mut kept = Vec::new();
            for entry in entries {
                let declared = schema.property(entry.key);
                let Some(below) = declared.or_else(|| schema.additional_schema()) else {
                    kept.push(*entry);
                    continue;
                };
                let value = corrected(entry.value, below, arena);
                if declared.is_none() || !(matches!(value, Value::Object([])) && refuses_empty(below)) {
                    kept.push(Entry { key: entry.key, value });
                }
            }
            for name in &schema.checks.required {
                let missing = schema.property(name).filter(|_| kept.iter().all(|entry| entry.key != &**name));
                let is_object = |below: &&Schema| !below.properties.is_empty();
                if let Some(below) = missing.filter(is_object) {
                    let value = corrected(Value::Object(&[]), below, arena);
                    if is_valid(value, below) {
                        kept.push(Entry { key: name, value });
                    }
                }
            }
            Value::Object(arena.slice(&kept))
        }
        Value::Array(items) => match &schema.items {
            Some(below) => Value::Array(arena.slice_from(items.iter().map(|item| corrected(*item, below, arena)))),
            None => value,
        },
        scalar => scalar,
    }
}
