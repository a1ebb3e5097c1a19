//! Kinds of which a version hides a part of list items: published ones that do so already, and others with a version more,
//! in which a field of every item is `removed`.

use std::{collections::BTreeSet, env, fs, path::PathBuf};

use serde_json::{Value as Json, json};
use wheelwright_document::{Arena, Decode, Span, decode_json_spanned, encode};
use wheelwright_evolve::{
    Declaration, DeclaredVersion, History, Kind, Located, NodeIndex, VersionIndex, VersionName, check::check,
    parse_changes,
};
use wheelwright_schema::{Root, lower_schema};

use crate::{
    oracle::values,
    schemas::{Leaf, Scalar, Step, at, at_mut, keys, leaves, lists, remove, selector},
};

/// A kind, and two of its versions of which the one hides what the other shows of list items.
pub(crate) struct Subject {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// The version that shows everything.
    pub(crate) rich: VersionIndex,
    /// The version of the client.
    pub(crate) poor: VersionIndex,
    pub(crate) lists: Vec<List>,
    /// Whether both versions were published so.
    pub(crate) is_published: bool,
}

/// A list whose items hide a field.
#[derive(Clone)]
pub(crate) struct List {
    pub(crate) path: Vec<Step>,
    pub(crate) keys: Vec<String>,
    /// What items hide.
    pub(crate) hidden: Leaf,
    /// What both versions show of items, keys included.
    pub(crate) visible: Vec<Leaf>,
}

impl Subject {
    /// The values that fields in the items of a list have by default, the client's version's own and frozen ones, by their
    /// paths in an item.
    pub(crate) fn defaults_of_items(&self, list: usize) -> BTreeSet<(String, String)> {
        let history = self.kind.history();
        let version = history.version(self.poor);
        let structure = &version.structure;
        let path = &self.lists[list].path;
        let find = |at: NodeIndex, step: &Step| match step {
            Step::Field(name) => structure.child(at, name),
            Step::Items | Step::Values => structure.element(at),
        };
        let list = path.iter().try_fold(structure.root(), find);
        let mut found = BTreeSet::new();
        let mut waiting: Vec<_> =
            list.and_then(|list| structure.element(list)).map(|item| (item, String::new())).into_iter().collect();
        while let Some((node, path)) = waiting.pop() {
            let frozen = version.id(node).and_then(|id| history.field(id).frozen.as_ref());
            let node = structure.node(node);
            for default in [node.default.as_ref(), frozen].into_iter().flatten() {
                let arena = Arena::new();
                let default = serde_json::from_slice(&encode(default.share(&arena))).unwrap();
                values(&default, &path, &mut |field, value| {
                    found.insert((field, value));
                });
            }
            waiting.extend(node.children.iter().map(|child| match structure.node(*child).name() {
                Some(name) => (*child, format!("{path}.{name}")),
                None => (*child, format!("{path}[]")),
            }));
        }
        found
    }
}

/// The shape of a published definition.
struct Definition {
    group: String,
    kind: String,
    versions: Vec<(String, Json)>,
}

/// Kinds of our own: of flat and nested lists, with and without keys.
pub(crate) fn own() -> Vec<Subject> {
    let text = || json!({"type": "string"});
    let list = |item: Json| json!({"type": "array", "items": {"type": "object", "properties": item}});
    let keyed = |item: Json| {
        let mut list = list(item);
        list["x-kubernetes-list-type"] = json!("map");
        list["x-kubernetes-list-map-keys"] = json!(["name"]);
        list
    };
    let attestors = || list(json!({"issuer": text(), "count": {"type": "integer"}, "mark": text()}));
    let images = list(json!({
        "image": text(), "required": {"type": "boolean", "default": true}, "key": text(), "attestors": attestors(),
    }));
    let ports = json!({"name": text(), "number": {"type": "integer"}, "protocol": {"type": "string", "default": "TCP"}, "hint": text()});
    let pools = json!({"type": "object", "additionalProperties": {
        "type": "object", "properties": {"taints": list(json!({"effect": text(), "source": text()}))},
    }});
    let bare = list(json!({"only": text()}));
    let spec = json!({
        "images": images,
        "ports": keyed(ports.clone()),
        "containers": keyed(json!({"name": text(), "image": text(), "note": text(), "ports": list(ports), "mounts": attestors()})),
        "pools": pools,
        "bare": bare,
        "groups": list(json!({"title": text(), "secret": text(), "members": list(json!({"roles": attestors(), "id": text(), "badge": text()}))})),
    });
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": spec}}});
    let definition =
        Definition { group: "lab.example.com".into(), kind: "Policy".into(), versions: vec![("v1".into(), schema)] };
    (0..8).flat_map(|seed| derived(&definition, 0, seed)).collect()
}

/// The published kinds with several versions: all pairs of versions of which one hides something of list items, and every
/// version with a derived one beside it.
pub(crate) fn real(all: bool) -> Vec<Subject> {
    let mut subjects = Vec::new();
    for (number, definition) in definitions().iter().enumerate() {
        let count = definition.versions.len();
        let pairs =
            (0..count).flat_map(|rich| (0..count).map(move |poor| (rich, poor))).filter(|(rich, poor)| rich != poor);
        for (at, (rich, poor)) in pairs.enumerate() {
            let hubs = if all { 0..count } else { (number + at) % count..(number + at) % count + 1 };
            subjects.extend(hubs.filter_map(|hub| published(definition, rich, poor, hub)));
        }
        for version in 0..count {
            let seeds = if all { 0..4 } else { number % 4..number % 4 + 1 };
            subjects.extend(seeds.filter_map(|seed| derived(definition, version, seed)));
        }
    }
    subjects
}

/// The kinds and lists that `check` names, because their items hide something and have no keys.
pub(crate) fn named_by_check() -> Vec<(String, String)> {
    let mut named = Vec::new();
    for definition in definitions() {
        let declaration = declaration(&definition, &definition.versions, "{}");
        let (history, problems) = History::derive(&declaration, None);
        assert!(problems.is_empty(), "{}: {problems:?}", definition.kind);
        let findings = check(&declaration, &history, None).into_iter().filter(|finding| finding.rule().id == "WW230");
        named.extend(findings.map(|finding| (definition.kind.clone(), finding.field.to_string())));
    }
    named
}

/// The published definitions with several versions.
fn definitions() -> Vec<Definition> {
    let named = env::var_os("WHEELWRIGHT_SHARED").map(PathBuf::from);
    let shared = named.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"));
    let Ok(folder) = fs::read_dir(shared.join("conformance/crds")) else { return Vec::new() };
    let mut files: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let read = |file: &PathBuf| definition(&serde_json::from_slice(&fs::read(file).unwrap()).unwrap());
    files.iter().map(read).filter(|definition| definition.versions.len() > 1).collect()
}

fn definition(definition: &Json) -> Definition {
    let spec = &definition["spec"];
    let versions = spec["versions"].as_array().unwrap().iter();
    let versions = versions
        .map(|version| (version["name"].as_str().unwrap().to_owned(), version["schema"]["openAPIV3Schema"].clone()));
    Definition {
        group: spec["group"].as_str().unwrap().into(),
        kind: spec["names"]["kind"].as_str().unwrap().into(),
        versions: versions.collect(),
    }
}

/// Two published versions, if the items of a list hide something from the second.
fn published(definition: &Definition, rich: usize, poor: usize, hub: usize) -> Option<Subject> {
    let schema = |version: usize| &definition.versions[version].1;
    let lists: Vec<List> = lists(schema(rich))
        .into_iter()
        .filter_map(|path| {
            let (list, items) = (at(schema(rich), &path[..path.len() - 1])?, at(schema(rich), &path)?);
            let (poor_list, poor_items) = (at(schema(poor), &path[..path.len() - 1])?, at(schema(poor), &path)?);
            let declared = definition.versions.iter().filter_map(|(_, schema)| at(schema, &path[..path.len() - 1]));
            let has_one_key = declared.map(keys).all(|others| others == keys(list)) && keys(list) == keys(poor_list);
            let shows = |leaf: &Leaf| leaves(poor_items).contains(leaf);
            // A name that is something else in the other version is shown there, as far as pruning leaves it.
            let is_unknown = |leaf: &&Leaf| {
                let step = |object: &Json, name: &String| object["properties"].get(name).cloned();
                !shows(leaf) && leaf.names.iter().try_fold(poor_items.clone(), |at, name| step(&at, name)).is_none()
            };
            let (visible, hidden): (Vec<Leaf>, Vec<Leaf>) = leaves(items).into_iter().partition(shows);
            let hidden = hidden.iter().filter(is_unknown).find(|leaf| leaf.scalar != Scalar::Flag)?.clone();
            let path = path[..path.len() - 1].to_vec();
            has_one_key.then(|| List { path, keys: keys(list), hidden, visible })
        })
        .collect();
    let names: Vec<&str> = definition.versions.iter().map(|(name, _)| name.as_str()).collect();
    let name = format!("{} {} hides from {}, hub {}", definition.kind, names[rich], names[poor], names[hub]);
    (!lists.is_empty()).then(|| {
        let kind = compile(definition, &definition.versions, names[hub], "{}");
        let [rich, poor] = [rich, poor].map(|version| kind.version(names[version]).unwrap());
        Subject { name, kind, rich, poor, lists, is_published: true }
    })
}

/// A version, and one that lacks a field of the items of every list. `seed` says which fields, which version is the newer
/// one, and which is the hub.
fn derived(definition: &Definition, version: usize, seed: usize) -> Option<Subject> {
    let (version_name, rich) = &definition.versions[version];
    let mut poor = rich.clone();
    let mut found = Vec::new();
    for path in lists(rich) {
        let items = at(rich, &path).unwrap();
        let list = path[..path.len() - 1].to_vec();
        let keys = keys(at(rich, &list).unwrap());
        let is_hideable =
            |leaf: &&Leaf| leaf.scalar != Scalar::Flag && !(leaf.names.len() == 1 && keys.contains(&leaf.names[0]));
        let mut visible = leaves(items);
        let candidates: Vec<Leaf> = visible.iter().filter(is_hideable).cloned().collect();
        let Some(hidden) = candidates.get((seed * 7 + found.len()) % candidates.len().max(1)).cloned() else {
            continue;
        };
        remove(at_mut(&mut poor, &path).unwrap(), &hidden.names);
        visible.retain(|leaf| *leaf != hidden);
        found.push(List { path: list, keys, hidden, visible });
    }
    if found.is_empty() {
        return None;
    }
    let is_newer = seed.is_multiple_of(2);
    let (rich_name, poor_name) = if is_newer { ("v1", "v2") } else { ("v2", "v1") };
    let mut versions = vec![(rich_name.to_owned(), rich.clone()), (poor_name.to_owned(), poor)];
    versions.sort_by(|a, b| a.0.cmp(&b.0));
    let removed: Vec<String> = found
        .iter()
        .map(|list| {
            let fields = list.hidden.names.iter().map(|name| Step::Field(name.clone()));
            selector(&list.path.iter().cloned().chain([Step::Items]).chain(fields).collect::<Vec<_>>())
        })
        .collect();
    let changes = if is_newer { json!({"v2": {"removed": removed}}).to_string() } else { "{}".to_owned() };
    let hub = ["v2", "v1"][seed / 2 % 2];
    let kind = compile(definition, &versions, hub, &changes);
    let [rich, poor] = [rich_name, poor_name].map(|name| kind.version(name).unwrap());
    let name = format!("{} {version_name} ({rich_name}) hides from a derived {poor_name}, hub {hub}", definition.kind);
    Some(Subject { name, kind, rich, poor, lists: found, is_published: false })
}

fn declaration(definition: &Definition, versions: &[(String, Json)], changes: &str) -> Declaration {
    let limits = Decode { max_bytes: 16 << 20, ..Decode::default() };
    let mut declaration = Declaration::new(definition.group.clone(), definition.kind.clone());
    for (name, schema) in versions {
        let (arena, text) = (Arena::new(), schema.to_string());
        let schema = lower_schema(&decode_json_spanned(text.as_bytes(), &arena, &limits).unwrap()).item;
        let name = VersionName::new(name.as_str());
        declaration.versions.push(DeclaredVersion::new(name, schema, Root::Resource, Span::default()));
    }
    let arena = Arena::new();
    let (steps, problems) = parse_changes(&decode_json_spanned(changes.as_bytes(), &arena, &limits).unwrap());
    assert!(problems.is_empty(), "{}: {problems:?}", definition.kind);
    declaration.steps = steps;
    declaration
}

fn compile(definition: &Definition, versions: &[(String, Json)], hub: &str, changes: &str) -> Kind {
    let mut declaration = declaration(definition, versions, changes);
    declaration.hub = Some(Located { item: VersionName::new(hub), span: Span::default() });
    let (kind, problems) = Kind::compile(&declaration, None);
    assert!(problems.is_empty(), "{}: {problems:?}", definition.kind);
    kind.unwrap()
}
