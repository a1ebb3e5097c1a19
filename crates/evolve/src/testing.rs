//! What the tests of this crate share.

use wheelwright_document::{Arena, Decode, DuplicateKeys, Value, Yaml, decode, decode_yaml};
use wheelwright_schema::{Problem, Root, Schema, lower_schema};

use crate::*;

const CORE: Decode =
    Decode { max_bytes: 1 << 20, max_depth: 512, duplicate_keys: DuplicateKeys::Refuse, yaml: Yaml::Core };

/// A schema from YAML.
pub(crate) fn schema(text: &str) -> Schema {
    let arena = Arena::new();
    let documents = decode_yaml(text.as_bytes(), &arena, &CORE).expect("schemas of tests are YAML");
    lower_schema(&documents[0]).item
}

/// A kind without a group, with these versions, whose documents are plain values.
pub(crate) fn declaration(versions: &[(&str, &str)], changes: &str) -> Declaration {
    let mut declaration = Declaration::new("", "Test");
    for (name, text) in versions {
        let version = DeclaredVersion::new(VersionName::new(*name), schema(text), Root::Value, Default::default());
        declaration.versions.push(version);
    }
    declaration.steps = steps(changes);
    declaration
}

pub(crate) fn history(versions: &[(&str, &str)], changes: &str) -> History {
    let (history, problems) = History::derive(&declaration(versions, changes), None);
    assert!(problems.is_empty(), "{problems:?}");
    history
}

pub(crate) fn problems_of(versions: &[(&str, &str)], changes: &str) -> Vec<Problem> {
    History::derive(&declaration(versions, changes), None).1
}

pub(crate) fn kind(versions: &[(&str, &str)], changes: &str, hub: &str) -> Kind {
    let mut declaration = declaration(versions, changes);
    declaration.hub = Some(Located { item: VersionName::new(hub), span: Default::default() });
    let (kind, problems) = Kind::compile(&declaration, None);
    assert!(problems.is_empty(), "{problems:?}");
    kind.expect("there are versions")
}

/// A document from JSON.
pub(crate) fn document<'a>(text: &str, arena: &'a Arena) -> Value<'a> {
    decode(arena.text(text).as_bytes(), arena).unwrap_or_else(|error| panic!("{text:?} is not JSON: {error}"))
}

fn steps(changes: &str) -> Steps {
    let arena = Arena::new();
    let documents = decode_yaml(changes.as_bytes(), &arena, &CORE).expect("changes of tests are YAML");
    let Some(file) = documents.first() else { return Steps::new() };
    let (steps, problems) = parse_changes(file);
    assert!(problems.is_empty(), "{problems:?}");
    steps
}
