//! Typed clients: what a Go client does to a document that it reads and writes back.
//!
//! Its encoder drops structs that are zero (`omitzero`) where `{}` is invalid, as the API conventions ask for, and keeps the
//! `{}` of pointers (`omitempty`) elsewhere.

use wheelwright::{
    document::{Arena, Entry, Value},
    evolve::Part,
    schema::{Program, Root, Schema, Stages},
};

use crate::{
    catalog::{Catalog, Variants},
    spelled,
};

#[test]
#[expect(clippy::print_stdout, reason = "counts what was tried")]
fn typed_clients_erase_nothing() {
    let Some(catalog) = Catalog::find("typed-clients") else { return };
    let (mut writes, mut hiding, mut lost) = (0, 0, Vec::new());
    catalog.for_every_document(Variants::Valid, |written| {
        let before = written.shown(written.version);
        for (other, name, schema) in written.others() {
            let kind = written.kind;
            let shown = written.shown(other);
            let encoded = encoded(shown, schema, written.arena);
            let sent = kind.normal_update(other, encoded, shown, written.arena).expect("it was read");
            let after = kind.put(other, sent, Some(written.stored), Part::Whole, written.arena);
            let after = kind.get(written.version, after.expect("no policy refuses"), written.arena);
            writes += 1;
            hiding += usize::from(objects(shown) < objects(before));
            if spelled(before) != spelled(after) {
                lost.push(format!("{} through {name}: {}\n  became {}", kind.name(), spelled(before), spelled(after)));
            }
        }
    });
    println!("typed clients of Cluster API: {writes} writes, {hiding} of them through fewer objects");
    assert!(hiding > writes / 20, "hardly any object was hidden: {hiding} of {writes}");
    assert!(lost.is_empty(), "{} of {writes}:\n{}", lost.len(), lost.join("\n"));
}

/// A value as a typed client encodes it: without objects that are empty and would be invalid so.
fn encoded<'a>(value: Value<'a>, schema: &Schema, arena: &'a Arena) -> Value<'a> {
    match value {
        Value::Object(entries) => {
            let mut kept = Vec::new();
            for entry in entries {
                let declared = schema.property(entry.key);
                let Some(below) = declared.or_else(|| schema.additional_schema()) else {
                    kept.push(*entry);
                    continue;
                };
                let value = encoded(entry.value, below, arena);
                let is_zero = matches!(value, Value::Object([])) && declared.is_some();
                if !(is_zero && refuses_empty(below)) {
                    kept.push(Entry { key: entry.key, value });
                }
            }
            Value::Object(arena.slice(&kept))
        }
        Value::Array(items) => match &schema.items {
            Some(below) => Value::Array(arena.slice_from(items.iter().map(|item| encoded(*item, below, arena)))),
            None => value,
        },
        scalar => scalar,
    }
}

/// Whether a schema refuses `{}`, found by validating it.
pub(crate) fn refuses_empty(schema: &Schema) -> bool {
    let is_struct = !schema.properties.is_empty() && schema.extensions.preserve_unknown_fields != Some(true);
    is_struct && !is_valid(Value::Object(&[]), schema)
}

pub(crate) fn is_valid(value: Value<'_>, schema: &Schema) -> bool {
    let arena = Arena::new();
    let program = Program::compile(schema, Root::Value);
    let admitted = program.run(value, &arena, Stages::ADMIT);
    admitted.is_ok_and(|admitted| admitted.errors.is_empty())
}

/// How many objects are in a value.
fn objects(value: Value<'_>) -> usize {
    match value {
        Value::Object(entries) => 1 + entries.iter().map(|entry| objects(entry.value)).sum::<usize>(),
        Value::Array(items) => items.iter().map(|item| objects(*item)).sum(),
        _ => 0,
    }
}
