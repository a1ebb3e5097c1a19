//! What tests of evolutions share: kinds of two versions, and documents of them.

use wheelwright_document::{Arena, Decode, DuplicateKeys, Span, Spanned, Value, Yaml, canonical, decode_yaml};
use wheelwright_evolve::{Declaration, DeclaredVersion, Kind, VersionIndex, VersionName, parse_changes};
use wheelwright_schema::{Root, lower_schema};

const CORE: Decode =
    Decode { max_bytes: 1 << 20, max_depth: 512, duplicate_keys: DuplicateKeys::Refuse, yaml: Yaml::Core };

/// A kind whose versions `v1` and `v2` have these fields in their spec, and a `note` besides. What changed is below `v2`,
/// from the second line on.
pub(crate) fn declaration(old: &str, new: &str, changes: &str) -> Declaration {
    let mut declaration = Declaration::new("example.org", "Test");
    for (name, fields) in [("v1", old), ("v2", new)] {
        let spec = format!("{{type: object, properties: {{note: {{type: string}}, {fields}}}}}");
        let schema = format!("{{type: object, properties: {{spec: {spec}}}}}");
        let schema = read(&schema, |schema| lower_schema(schema).item);
        let version = DeclaredVersion::new(VersionName::new(name), schema, Root::Resource, Span::default());
        declaration.versions.push(version);
    }
    if !changes.is_empty() {
        let (steps, problems) = read(&format!("v2:\n  {changes}"), parse_changes);
        assert!(problems.is_empty(), "{problems:?}");
        declaration.steps = steps;
    }
    declaration
}

/// A document of a version, in its normal form.
pub(crate) fn document<'a>(
    kind: &'a Kind,
    version: VersionIndex,
    metadata: &str,
    spec: &str,
    arena: &'a Arena,
) -> Value<'a> {
    let api_version = kind.api_version(version).expect("these are resources");
    let text = format!("{{apiVersion: {api_version}, kind: Test, metadata: {metadata}, spec: {spec}}}");
    let documents = decode_yaml(arena.text(&text).as_bytes(), arena, &CORE).expect("documents of tests are YAML");
    kind.normal(version, documents[0].to_value(arena), arena).expect("documents of tests are good")
}

/// A document whatever the order of its keys.
pub(crate) fn told(value: Value<'_>) -> String {
    String::from_utf8_lossy(&canonical(value)).into_owned()
}

fn read<T>(text: &str, read: impl Fn(&Spanned<'_>) -> T) -> T {
    let arena = Arena::new();
    let documents = decode_yaml(text.as_bytes(), &arena, &CORE).unwrap_or_else(|error| panic!("{error}: {text}"));
    read(&documents[0])
}
