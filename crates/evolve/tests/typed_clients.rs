//! Typed clients: what a Go client does to a document that it reads and writes back.
//!
//! Its encoder drops struct fields that are zero (`omitzero`) where an empty object is invalid, as the API conventions ask
//! for, and keeps the `{}` of pointers elsewhere. Whatever other versions have in such an object must stay.

use std::{env, fs, path::PathBuf};

use wheelwright_document::{Arena, Decode, Entry, Span, Value, canonical, decode_json_spanned};
use wheelwright_evolve::{
    Declaration, DeclaredVersion, Kind, Part, VersionIndex, VersionName,
    laws::{Generator, Random},
    parse_changes,
};
use wheelwright_schema::{Program, Root, Schema, Stages, lower_definition, lower_schema};

#[test]
fn typed_clients_of_our_own_kind_erase_nothing() {
    let read = |text: &str| {
        let arena = Arena::new();
        lower_schema(&decode_json_spanned(text.as_bytes(), &arena, &Decode::default()).expect("JSON")).item
    };
    let mut declaration = Declaration::new("example.com", "ControlPlane");
    let versions = [
        (
            "v1beta1",
            r#"{"type":"object","properties":{"spec":{"type":"object","properties":{"replicas":{"type":"integer"},
            "config":{"type":"object","properties":{"clusterName":{"type":"string"},"dns":{"type":"object","properties":{
                "type":{"type":"string"},"tag":{"type":"string"}}}}},
            "pools":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},
                "drain":{"type":"object","properties":{"old":{"type":"string"},"timeout":{"type":"integer"}}}}}}}}}}"#,
        ),
        (
            "v1beta2",
            r#"{"type":"object","properties":{"spec":{"type":"object","properties":{"replicas":{"type":"integer"},
            "config":{"type":"object","minProperties":1,"properties":{"dns":{"type":"object","minProperties":1,"properties":{
                "tag":{"type":"string"}}},"certificates":{"type":"object","required":["days"],"properties":{
                    "days":{"type":"integer"}}}}},
            "pools":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},
                "drain":{"type":"object","required":["timeout"],"properties":{"timeout":{"type":"integer"}}}}}}}}}}"#,
        ),
    ];
    for (name, schema) in versions {
        let name = VersionName::new(name);
        declaration.versions.push(DeclaredVersion::new(name, read(schema), Root::Resource, Span::default()));
    }
    let arena = Arena::new();
    let changes =
        r#"{"v1beta2":{"removed":["spec.config.clusterName","spec.config.dns.type","spec.pools[].drain.old"]}}"#;
    let changes = decode_json_spanned(changes.as_bytes(), &arena, &Decode::default()).expect("JSON");
    declaration.steps = parse_changes(&changes).0;
    let counts = write_back(&declaration, 400);
    assert!(counts.hidden > 20, "hardly any object was hidden: {}", counts.hidden);
    assert!(counts.edits > 20, "hardly anything was edited: {}", counts.edits);
    assert_eq!(counts.lost, Vec::<String>::new());
    assert_eq!(counts.invalid, Vec::<String>::new());
}

#[test]
#[expect(clippy::print_stdout, reason = "counts what was tried")]
fn typed_clients_of_real_kinds_erase_nothing() {
    let named = env::var_os("WHEELWRIGHT_SHARED").map(PathBuf::from);
    let shared = named.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"));
    let Ok(folder) = fs::read_dir(shared.join("conformance/crds")) else {
        return println!("typed clients of real kinds: SKIPPED, as there is no conformance/crds in the shared folder");
    };
    let mut files: Vec<PathBuf> = folder.map(|entry| entry.expect("it can be listed").path()).collect();
    files.sort();
    let cases = env::var("WHEELWRIGHT_LAW_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(25);
    let (mut kinds, mut all) = (0, Counts::default());
    for file in files {
        let declaration = declaration(&fs::read(&file).expect("it can be read"));
        if declaration.versions.len() > 1 {
            let counts = write_back(&declaration, cases);
            kinds += 1;
            all.writes += counts.writes;
            all.hidden += counts.hidden;
            all.edits += counts.edits;
            all.lost.extend(counts.lost);
            all.invalid.extend(counts.invalid);
        }
    }
    let Counts { writes, hidden, edits, .. } = all;
    println!(
        "typed clients: {kinds} kinds, {writes} writes, {hidden} of them without an object, and {edits} with an edit"
    );
    assert_eq!(all.lost, Vec::<String>::new());
    assert_eq!(all.invalid, Vec::<String>::new());
}

#[derive(Default)]
struct Counts {
    writes: usize,
    /// Writes of documents in which the client's version shows fewer objects than the one they were written in.
    hidden: usize,
    /// Writes with an edit.
    edits: usize,
    /// Documents that were others afterwards.
    lost: Vec<String>,
    /// Views with `{}` where it is invalid.
    invalid: Vec<String>,
}

/// Lets clients of every version write back what they read of valid documents of every other.
fn write_back(declaration: &Declaration, cases: usize) -> Counts {
    let (kind, problems) = Kind::compile(declaration, None);
    assert!(problems.is_empty(), "{problems:?}");
    let kind = kind.expect("there are versions");
    let mut counts = Counts::default();
    for version in kind.history().indexes() {
        let declared = declaration.version(kind.history().version(version).name.as_str()).expect("it is declared");
        let api_version = kind.api_version(version).expect("these are resources");
        let generator = Generator::new(&declared.schema, Root::Resource).of_kind(api_version, kind.name());
        let mut random = Random::new(7);
        for _ in 0..cases {
            let arena = Arena::new();
            let document = generator.generate(&mut random, &arena);
            if is_valid(&kind, version, document) {
                write_through_others(&kind, declaration, (version, document), &mut counts, &arena);
            }
        }
    }
    counts
}

fn write_through_others<'a>(
    kind: &'a Kind,
    declaration: &Declaration,
    (version, document): (VersionIndex, Value<'a>),
    counts: &mut Counts,
    arena: &'a Arena,
) {
    let normal = kind.normal(version, document, arena).expect("it is valid");
    let stored = kind.put(version, normal, None, Part::Whole, arena).expect("no policy refuses");
    let before = kind.get(version, stored, arena);
    for other in kind.history().indexes().filter(|other| *other != version) {
        let name = &kind.history().version(other).name;
        let schema = &declaration.version(name.as_str()).expect("it is declared").schema;
        let shown = kind.get(other, stored, arena);
        let encoded = encoded(shown, schema, arena);
        counts.writes += 1;
        counts.hidden += usize::from(objects(shown) < objects(before));
        if canonical(encoded) != canonical(shown) {
            counts.invalid.push(format!("{} of {name}: {}", kind.name(), text(shown)));
        }
        // As it was read, and with one scalar that both versions show changed.
        let edit = first_shared_scalar(encoded, before);
        counts.edits += usize::from(edit.is_some());
        let edited = edit.map(|path| (with_edit(encoded, &path, arena), with_edit(before, &path, arena)));
        for (sent, expected) in edited.into_iter().chain([(encoded, before)]) {
            let written = kind.normal_update(other, sent, shown, arena).expect("it was read");
            let after = kind.put(other, written, Some(stored), Part::Whole, arena).expect("no policy refuses");
            let after = kind.get(version, after, arena);
            if canonical(expected) != canonical(after) {
                let (expected, after) = (text(expected), text(after));
                counts.lost.push(format!("{} through {name}: {expected}\n  is {after}", kind.name()));
            }
        }
    }
}

/// The fields that lead to a scalar which two documents have alike, outside of lists.
fn first_shared_scalar<'a>(a: Value<'a>, b: Value<'a>) -> Option<Vec<&'a str>> {
    let (Value::Object(entries), Value::Object(_)) = (a, b) else { return None };
    entries.iter().filter(|entry| !matches!(entry.key, "apiVersion" | "kind" | "metadata")).find_map(|entry| {
        let other = b.get(entry.key)?;
        match entry.value {
            Value::Object(_) => {
                let below = first_shared_scalar(entry.value, other)?;
                Some([&[entry.key][..], &below].concat())
            }
            Value::String(_) | Value::Bool(_) if entry.value == other => Some(vec![entry.key]),
            _ => None,
        }
    })
}

/// A document with another value at a path.
fn with_edit<'a>(document: Value<'a>, path: &[&str], arena: &'a Arena) -> Value<'a> {
    let Some((name, rest)) = path.split_first() else {
        return match document {
            Value::Bool(value) => Value::Bool(!value),
            _ => Value::string("edited"),
        };
    };
    let entries = document.as_object().expect("the path leads through objects").iter();
    Value::Object(arena.slice_from(entries.map(|entry| match entry.key == *name {
        true => Entry { key: entry.key, value: with_edit(entry.value, rest, arena) },
        false => *entry,
    })))
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
fn refuses_empty(schema: &Schema) -> bool {
    let is_object = !schema.properties.is_empty() && schema.extensions.preserve_unknown_fields != Some(true);
    let mut alone = schema.clone();
    alone.extensions.validations.clear();
    let arena = Arena::new();
    let program = Program::compile(&alone, Root::Value);
    let admitted = program.run(Value::Object(&[]), &arena, Stages::ADMIT);
    is_object && admitted.map_or(true, |admitted| !admitted.errors.is_empty())
}

fn is_valid(kind: &Kind, version: VersionIndex, document: Value<'_>) -> bool {
    let arena = Arena::new();
    let program = kind.program(version).expect("it is declared");
    program.run(document, &arena, Stages::ADMIT).is_ok_and(|admitted| admitted.errors.is_empty())
}

/// How many objects are in a value.
fn objects(value: Value<'_>) -> usize {
    match value {
        Value::Object(entries) => 1 + entries.iter().map(|entry| objects(entry.value)).sum::<usize>(),
        Value::Array(items) => items.iter().map(|item| objects(*item)).sum(),
        _ => 0,
    }
}

fn text(value: Value<'_>) -> String {
    String::from_utf8_lossy(&canonical(value)).into_owned()
}

fn declaration(bytes: &[u8]) -> Declaration {
    let arena = Arena::new();
    let limits = Decode { max_bytes: 16 << 20, ..Decode::default() };
    let document = decode_json_spanned(bytes, &arena, &limits).expect("definitions are JSON");
    let definition = lower_definition(&document).expect("definitions are of v1").item;
    let mut declaration = Declaration::new(definition.group.text, definition.kind.text);
    for version in definition.versions {
        let Some(schema) = version.schema else { continue };
        let name = VersionName::new(version.name.text);
        declaration.versions.push(DeclaredVersion::new(name, schema, Root::Resource, Span::default()));
    }
    declaration
}
