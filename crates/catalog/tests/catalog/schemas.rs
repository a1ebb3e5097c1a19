//! The documentation: its examples are read without a finding, and the JSON Schemas for editors take what is right and
//! refuse what is wrong.

use std::{fs, path::Path};

use wheelwright_document::{Arena, Decode, Yaml, decode_json_spanned, decode_yaml};
use wheelwright_findings::rules;
use wheelwright_schema::{NoTree, Program, Root, Specification};

use crate::support::{Memory, shown};

fn documentation(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)).unwrap()
}

/// The files that a page shows: blocks of YAML that begin with the name of a file.
fn shown_files(page: &str) -> Vec<(&str, &str)> {
    let blocks = page.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let name = |block: &str| Some(block.lines().next()?.strip_prefix("# ")?.split(';').next()?.len());
    blocks.filter_map(|block| name(block).map(|length| (&block[2..2 + length], block))).collect()
}

#[test]
fn the_examples_in_the_documentation_are_right() {
    let page = documentation("catalog.md");
    let files = shown_files(&page);
    assert!(files.len() >= 4, "{}", files.len());
    for (name, text) in files {
        let catalog = "kinds: [{crd: crds/carts.yaml, changes: changes/carts.yaml}]";
        let shop = Memory::shop([("wheelwright.yaml", catalog), (name, text)]);
        assert_eq!(shown(&shop.load("wheelwright.yaml")), "", "{text}");
    }
}

#[test]
fn the_schemas_take_what_is_right_and_refuse_what_is_wrong() {
    let page = documentation("catalog.md");
    for (name, text) in shown_files(&page) {
        assert_eq!(errors(name, text), [""; 0], "{text}");
    }
    // What a schema can know: not which paths and versions are there, and not what is said twice.
    for (id, knows) in [("WW110", true), ("WW111", true), ("WW114", true), ("WW119", false), ("WW121", false)] {
        let page = rules::find(id).unwrap().page;
        let [bad, good] = &shown_files(page)[..] else { panic!("{id} shows two files") };
        assert_eq!(errors(bad.0, bad.1).is_empty(), !knows, "the bad example of {id}");
        assert_eq!(errors(good.0, good.1), [""; 0], "the good example of {id}");
    }
    for wrong in [
        "kinds: [{}]",
        "kinds: [{crd: a, openapi: {v1: b}}]",
        "kinds: [{crd: a, arm: x}]",
        "kinds: [{crd: a, policies: {olderWrite: keep}}]",
        "policies: {}",
    ] {
        assert!(!errors("wheelwright.yaml", wrong).is_empty(), "{wrong}");
    }
    for wrong in ["v1: {union: {a: {discriminator: b}}}", "v1: {keys: {a: []}}", "v1: {writers: x}", "[]"] {
        assert!(!errors("changes/a.yaml", wrong).is_empty(), "{wrong}");
    }
}

/// What the schema of a file's format has against it.
fn errors(name: &str, text: &str) -> Vec<String> {
    let schema = documentation(match name {
        "wheelwright.yaml" => "schemas/catalog.schema.json",
        _ => "schemas/changes.schema.json",
    });
    let arena = Arena::new();
    let limits = Decode { yaml: Yaml::Core, ..Decode::default() };
    let document = decode_json_spanned(schema.as_bytes(), &arena, &limits).unwrap();
    let mut specification = Specification::open("schema.json", &document, &NoTree, &arena).unwrap();
    let (_, problems) = specification.check();
    assert!(problems.is_empty(), "{problems:?}");
    let program = Program::compile(&specification.lower_root().unwrap().item, Root::Definition);
    let file = decode_yaml(text.as_bytes(), &arena, &limits).unwrap()[0].to_value(&arena);
    let admitted = program.admit(file, &arena).unwrap();
    let unknown = admitted.unknown.iter().map(|field| format!("unknown {}", field.as_str()));
    admitted.errors.iter().map(|error| error.to_string()).chain(unknown).collect()
}
