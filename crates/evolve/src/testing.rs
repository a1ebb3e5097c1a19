//! What the tests of this crate share.

use wheelwright_document::{Arena, Decode, Owned, Spanned, Value, Yaml, decode, decode_yaml};
use wheelwright_schema::{Root, Schema, lower_schema};

use crate::*;

const CORE: Decode = Decode {
    max_bytes: 1 << 20,
    max_depth: 512,
    duplicate_keys: wheelwright_document::DuplicateKeys::Refuse,
    yaml: Yaml::Core,
};

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

pub(crate) fn problems_of(versions: &[(&str, &str)], changes: &str) -> Vec<ChangeProblem> {
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
    decode(arena.text(text).as_bytes(), arena).expect("documents of tests are JSON")
}

fn steps(changes: &str) -> Steps {
    let arena = Arena::new();
    let documents = decode_yaml(changes.as_bytes(), &arena, &CORE).expect("changes of tests are YAML");
    let Some(file) = documents.first() else { return Steps::new() };
    file.as_object().unwrap_or_default().iter().map(|entry| step(entry.key, entry.key_span, &entry.value)).collect()
}

fn step(name: &str, span: wheelwright_document::Span, source: &Spanned<'_>) -> VersionStep {
    let mut step = VersionStep::new(Located { item: VersionName::new(name), span });
    let at = |text: &str, span| Located { item: Selector::parse(text).expect("a path"), span };
    let paths = |source: &Spanned<'_>| {
        source
            .as_array()
            .unwrap_or_default()
            .iter()
            .map(|item| at(item.as_str().unwrap_or_default(), item.span))
            .collect::<Vec<_>>()
    };
    for entry in source.as_object().unwrap_or_default() {
        let entries = entry.value.as_object().unwrap_or_default();
        let text = entry.value.as_str().unwrap_or_default();
        let values = || {
            entries
                .iter()
                .map(|entry| FieldValue {
                    at: at(entry.key, entry.key_span),
                    value: Owned::from(entry.value.to_value(&Arena::new())),
                })
                .collect()
        };
        let names = |source: &Spanned<'_>| {
            paths(source).iter().map(|path| path.item.to_string().into()).collect::<Vec<Box<str>>>()
        };
        match entry.key {
            "from" => step.from = Some(Located { item: VersionName::new(text), span: entry.value.span }),
            "renamed" => {
                step.renamed = entries
                    .iter()
                    .map(|entry| Renamed {
                        from: at(entry.key, entry.key_span),
                        to: at(entry.value.as_str().unwrap_or_default(), entry.value.span),
                    })
                    .collect()
            }
            "removed" => step.removed = paths(&entry.value),
            "new" => step.new = paths(&entry.value),
            "keys" => {
                step.keys = entries.iter().map(|entry| (at(entry.key, entry.key_span), names(&entry.value))).collect()
            }
            "union" => {
                step.unions = entries
                    .iter()
                    .map(|entry| DeclaredUnion {
                        at: at(entry.key, entry.key_span),
                        members: names(&entry.value),
                        discriminator: None,
                    })
                    .collect()
            }
            "default" => step.defaults = values(),
            "storageDefault" => step.storage_defaults = values(),
            "writers" => step.writers = Some(Located { item: Writers::Omitempty, span: entry.value.span }),
            "olderWrite" => {
                step.older_write = Some(Located {
                    item: if text == "reset" { OlderWrite::Reset } else { OlderWrite::Reject },
                    span: entry.value.span,
                })
            }
            other => panic!("{other}"),
        }
    }
    step
}
