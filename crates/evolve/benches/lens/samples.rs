//! The documents to measure with, and kinds of two and of ten versions around their schemas.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value as Json, json};
use wheelwright_document::{Arena, Decode, Entry, Span, Value, decode_json_spanned};
use wheelwright_evolve::{Declaration, DeclaredVersion, Kind, Located, Renamed, Selector, VersionName, VersionStep};
use wheelwright_schema::{Root, lower_schema};

/// A document of the oldest version of a kind.
pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) document: Vec<u8>,
    pub(crate) declaration: Declaration,
    pub(crate) two: Kind,
    pub(crate) ten: Kind,
}

pub(crate) fn all() -> Vec<Sample> {
    let sizes = ["small", "medium", "large"];
    match shared() {
        Some(folder) => ["app", "httproute"]
            .into_iter()
            .flat_map(|kind| sizes.map(|size| (kind, size)))
            .map(|(kind, size)| {
                let schema = read(&folder.join(format!("{kind}.schema.json")));
                let document = read(&folder.join(format!("{kind}_{size}.defaulted.json")));
                Sample::new(format!("{kind} {size}"), &schema, document)
            })
            .collect(),
        None => {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schema/benches/pipeline/data");
            let schema = read(&folder.join("fleet.schema.json"));
            let member = String::from_utf8(read(&folder.join("member.json"))).expect("the member is text");
            let fleet = |count: usize| {
                let members: Vec<String> =
                    (0..count).map(|number| member.replace("NUMBER", &number.to_string())).collect();
                let members = members.join(",");
                format!(r#"{{"apiVersion":"example.com/v1","kind":"Fleet","spec":{{"members":[{members}]}}}}"#)
            };
            sizes
                .into_iter()
                .zip([1, 12, 240])
                .map(|(size, count)| Sample::new(format!("fleet {size}"), &schema, fleet(count).into()))
                .collect()
        }
    }
}

impl Sample {
    fn new(name: String, schema: &[u8], document: Vec<u8>) -> Self {
        let schema: Json = serde_json::from_slice(schema).expect("the schema is JSON");
        let declaration = declaration(&schema, 2);
        let two = compile(&declaration);
        let ten = compile(&self::declaration(&schema, 10));
        Self { name, document, declaration, two, ten }
    }
}

fn compile(declaration: &Declaration) -> Kind {
    let (kind, problems) = Kind::compile(declaration, None);
    assert!(problems.is_empty(), "{problems:?}");
    kind.expect("there are versions")
}

/// Versions that each rename, move and add fields all over the one before. In the second every object of the first has a
/// field renamed and one added, and every object in an object gives one field away; the others each change one field
/// more.
fn declaration(schema: &Json, versions: usize) -> Declaration {
    let mut declaration = Declaration::new("example.com", "Sample");
    let mut schema = schema.clone();
    for number in 1..=versions {
        let name = VersionName::new(format!("v{number}"));
        let mut step = VersionStep::new(located(name.clone()));
        let mut renamed = Vec::new();
        if number == 2 {
            change(&mut schema, &mut Vec::new(), &mut renamed);
        } else if number > 2 {
            let spec = schema["properties"]["spec"]["properties"].as_object_mut().expect("there is a spec");
            spec.insert(format!("addedIn{number}"), json!({"type": "string"}));
        }
        step.renamed = renamed
            .into_iter()
            .map(|(from, to)| Renamed { from: located(selector(&from)), to: located(selector(&to)) })
            .collect();
        let bytes = serde_json::to_vec(&schema).expect("JSON is written");
        let arena = Arena::new();
        let source = decode_json_spanned(&bytes, &arena, &Decode::default()).expect("the schema is JSON");
        let schema = lower_schema(&source).item;
        declaration.versions.push(DeclaredVersion::new(name, schema, Root::Resource, Span::default()));
        declaration.steps.push(step);
    }
    declaration
}

fn located<T>(item: T) -> Located<T> {
    Located { item, span: Span::default() }
}

fn selector(path: &str) -> Selector {
    Selector::parse(path).expect("paths are well-formed")
}

/// Changes a schema and everything below it; paths are written down as they are before and after.
fn change(schema: &mut Json, path: &mut Vec<(String, String)>, renamed: &mut Vec<(String, String)>) {
    let at_root = path.is_empty();
    if let Some(items) = schema.get_mut("items") {
        below(path, "[]", "[]", |path| change(items, path, renamed));
    }
    if let Some(values) = schema.get_mut("additionalProperties").filter(|values| values.is_object()) {
        below(path, "{}", "{}", |path| change(values, path, renamed));
    }
    let required: Vec<String> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect();
    let keeps = schema.get("x-kubernetes-validations").is_some()
        || schema.get("oneOf").is_some()
        || schema.get("anyOf").is_some();
    let Some(properties) = schema.get_mut("properties").and_then(Json::as_object_mut) else { return };
    let mut changed = Map::new();
    let names: Vec<String> = properties.keys().cloned().collect();
    let free = |name: &String| !at_root && !keeps && !required.contains(name);
    let rename = names.iter().find(|name| free(name)).cloned();
    for name in names {
        if at_root && matches!(&*name, "apiVersion" | "kind" | "metadata") {
            changed.insert(name.clone(), properties[&name].clone());
            continue;
        }
        let new = if Some(&name) == rename.as_ref() { format!("{name}New") } else { name.clone() };
        let mut schema = properties[&name].clone();
        below(path, &field(&name), &field(&new), |path| {
            if new != name {
                renamed.push((text(path, false), text(path, true)));
            }
            change(&mut schema, path, renamed);
        });
        // One plain field of every object in an object moves up.
        if !at_root && schema.get("x-kubernetes-validations").is_none() && schema.get("required").is_none() {
            let inner = schema.get_mut("properties").and_then(Json::as_object_mut);
            let moved = inner.and_then(|inner| {
                let plain = |(name, schema): &(&String, &Json)| {
                    schema["type"] == "string" && !name.ends_with("New") && !name.ends_with("Moved") && *name != "added"
                };
                let name = inner.iter().find(plain)?.0.clone();
                Some((inner.remove(&name)?, name))
            });
            if let Some((schema, moved)) = moved {
                let up = format!("{new}{moved}Moved");
                below(path, &format!("{}.{moved}", field(&name)), &field(&up), |path| {
                    renamed.push((text(path, false), text(path, true)));
                });
                changed.insert(up, schema);
            }
        }
        changed.insert(new, schema);
    }
    if !at_root && !keeps {
        changed.insert("added".to_owned(), json!({"type": "string"}));
    }
    *properties = changed;
}

fn below(path: &mut Vec<(String, String)>, before: &str, after: &str, visit: impl FnOnce(&mut Vec<(String, String)>)) {
    path.push((before.to_owned(), after.to_owned()));
    visit(path);
    path.pop();
}

fn field(name: &str) -> String {
    name.to_owned()
}

/// A path as it was, or as it is.
fn text(path: &[(String, String)], new: bool) -> String {
    path.iter().fold(String::new(), |text, (before, after)| {
        let step = if new { after } else { before };
        let dot = if text.is_empty() || step.starts_with(['[', '{']) { "" } else { "." };
        format!("{text}{dot}{step}")
    })
}

/// A document with another text in a few places.
pub(crate) fn edited<'a>(document: Value<'a>, arena: &'a Arena) -> Value<'a> {
    fn edit<'a>(value: Value<'a>, count: &mut usize, arena: &'a Arena) -> Value<'a> {
        match value {
            Value::String(_) => {
                *count += 1;
                if count.is_multiple_of(10) { Value::string("edited") } else { value }
            }
            Value::Array(items) => {
                Value::Array(arena.slice(&items.iter().map(|item| edit(*item, count, arena)).collect::<Vec<_>>()))
            }
            Value::Object(entries) => Value::Object(
                arena.slice(
                    &entries
                        .iter()
                        .map(|entry| Entry { key: entry.key, value: edit(entry.value, count, arena) })
                        .collect::<Vec<_>>(),
                ),
            ),
            value => value,
        }
    }
    let Value::Object(entries) = document else { return document };
    let outside = |key: &str| matches!(key, "apiVersion" | "kind" | "metadata");
    let mut count = 0;
    let edited = entries.iter().map(|entry| match outside(entry.key) {
        true => *entry,
        false => Entry { key: entry.key, value: edit(entry.value, &mut count, arena) },
    });
    Value::Object(arena.slice(&edited.collect::<Vec<_>>()))
}

fn shared() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = env::var_os("WHEELWRIGHT_SHARED").map_or(beside, PathBuf::from).join("bench");
    folder.join("app.schema.json").exists().then_some(folder)
}

fn read(file: &Path) -> Vec<u8> {
    fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}
