//! The documentation: its examples are read without a finding, and the JSON Schemas for editors take what is right and
//! refuse what is wrong.

use std::{fs, path::Path};

use wheelwright_catalog::parse_catalog;
use wheelwright_document::{Arena, Decode, Yaml, decode_json_spanned, decode_yaml};
use wheelwright_evolve::parse_changes;
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
    let pages = documentation("catalog.md") + &documentation("changes.md");
    let files = shown_files(&pages);
    assert!(files.len() >= 7, "{}", files.len());
    for (name, text) in files {
        let catalog = "kinds: [{crd: crds/carts.yaml, changes: changes/carts.yaml}]";
        let shop = Memory::shop([("wheelwright.yaml", catalog), (name, text)]);
        assert_eq!(shown(&shop.load("wheelwright.yaml")), "", "{text}");
    }
    // The files of this page are those of one catalog.
    let adopting = documentation("adopting.md");
    let files = shown_files(&adopting);
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["wheelwright.yaml", "changes/carts.yaml"]);
    assert_eq!(shown(&Memory::shop(files).load("wheelwright.yaml")), "");
}

#[test]
fn the_schemas_take_what_is_right_and_refuse_what_is_wrong() {
    let pages = documentation("catalog.md") + &documentation("changes.md") + &documentation("adopting.md");
    for (name, text) in shown_files(&pages) {
        assert_eq!(errors(name, text), [""; 0], "{text}");
    }
    // What a schema can know: not which paths and versions are there, and not what is said twice.
    for (id, knows) in [("WW110", true), ("WW111", true), ("WW114", true), ("WW119", false), ("WW121", false)] {
        let page = rules::find(id).unwrap().page;
        let [bad, good] = &shown_files(page)[..] else { panic!("{id} shows two files") };
        assert_eq!(errors(bad.0, bad.1).is_empty(), !knows, "the bad example of {id}");
        assert_eq!(errors(good.0, good.1), [""; 0], "the good example of {id}");
    }
}

/// Entries of `kinds` that are right, and some that are not.
const ENTRIES: (&[&str], &[&str]) = (
    &[
        "{crd: a}",
        "{crd: a, kind: B, changes: c, hub: v1, order: [v1, v2], successors: {v0: v1}}",
        "{crd: a, order: null, successors: null, policies: null}",
        "{openapi: {v1: b}, definition: C, arm: A.B/c}",
        "{openapi: {v1: b}, definition: C, arm: {type: A.B/c}}",
        "{crd: a, arm: {type: A.B/c, subscription: 5a2f}}",
        "{crd: a, oldestWriter: v1, adopt: {version: v1, prefix: a/b}, external: {s: {version: v1, fields: [a.b]}}}",
        "{crd: a, adopt: null, external: {s: {version: v1, fields: [], missing: [absent, null, '']}}}",
        "{openapi: {v1: b}, definition: C, longRunning: true, deprecated: {v1: {on: 2026-09-01, sunset: 2027-09-01}}}",
        "{crd: a, deprecated: {v1: true, v2: {}}, computed: {a.b: parent.a}}",
        "{crd: a, deprecated: null, computed: null}",
        "{crd: a, gate: {stable: error, beta: warning, alpha: note}, rules: {WW150: off, limit-tightened: note}}",
        "{crd: a, gate: null, rules: null}",
        "{crd: a, policies: {olderWrite: {default: reset, versions: {v1: reject}, fields: {a.b: preserve}}, null: zero}}",
    ],
    &[
        "{}",
        "a",
        "{crd: a, openapi: {v1: b}}",
        "{crd: a, definition: B}",
        "{crd: ''}",
        "{crd: a, arm: x}",
        "{crd: a, arm: A.B/c}",
        "{crd: a, arm: {type: A.B/c}}",
        "{crd: a, arm: {subscription: s}}",
        "{crd: a, arm: {type: A.B/c, subscription: s/t}}",
        "{openapi: {v1: b}, definition: C, arm: {type: A.B/c, subscription: s}}",
        "{crd: a, hub: v 1}",
        "{crd: a, order: [1]}",
        "{crd: a, colour: red}",
        "{openapi: {}}",
        "{openapi: [b]}",
        "{crd: a, gate: {ga: error}}",
        "{crd: a, gate: {beta: fatal}}",
        "{crd: a, rules: {WW150: never}}",
        "{crd: a, rules: [WW150]}",
        "{crd: a, policies: {olderWrite: keep}}",
        "{crd: a, policies: {nul: zero}}",
        "{crd: a, policies: {null: {fields: {a: b}}}}",
        "{crd: []}",
        "{crd: a, was: Person}",
        "{crd: a, was: [{group: g}]}",
        "{crd: a, oldestWriter: 1}",
        "{crd: a, adopt: v1}",
        "{crd: a, adopt: {versions: v1}}",
        "{crd: a, external: {s: {fields: [a]}}}",
        "{crd: a, external: {s: {version: v1}}}",
        "{crd: a, external: {s: {version: v1, fields: [a.]}}}",
        "{crd: a, external: {s: {version: v1, fields: [a], missing: [0]}}}",
        "{openapi: {v1: {definition: A}}}",
        "{crd: a, longRunning: maybe}",
        "{crd: a, deprecated: [v1]}",
        "{crd: a, deprecated: {v1: false}}",
        "{crd: a, deprecated: {v1: {on: soon}}}",
        "{crd: a, deprecated: {v1: {since: 2026-09-01}}}",
        "{crd: a, computed: {a: 1}}",
        "{crd: a, computed: [a]}",
    ],
);

/// What steps say that is right, and some that is not.
const STEPS: (&[&str], &[&str]) = (
    &[
        "from: v1",
        "renamed: {a: b, 'c[].d': 'c[][\"x.y\"]'}",
        "renamed: null, removed: null, new: null, converted: null, reshaped: null, derived: null, hook: null",
        "keys: null, union: null, default: null, storageDefault: null",
        "removed: [a, 'b{}.c'], new: ['[\"\\\"\"].a']",
        "keys: {a: [b]}, union: {a: [b, c], d: {members: [e]}, f: {members: [g], discriminator: h}}",
        "union: {a: {members: [b], discriminator: null}}",
        "default: {a: null, b: [1]}, storageDefault: {c: {}}",
        "writers: exact, olderWrite: reset",
        "converted: {a: {with: durationSeconds}, b: {with: quantity}, c: {with: text}, d: {with: oneItem}}",
        "converted: {a: {to: b.c, with: {scale: 0.5}}, d: {with: {scale: -1000}}}",
        "converted: {a: {with: {values: {x: y, '': z}}}, b: {with: {joined: ' '}}, c: {with: {key: d}}}",
        "converted: {a: {with: {document: yaml}}, b: {to: c, with: {document: json}}}",
        "converted: {a: {with: clamped}, b: {with: text, clamped: true}, c: {up: self, down: self, clamped: false}}",
        "converted: {a: {to: b, up: self, down: self}, 'c[]': {to: 'd[]', up: self, down: self}}",
        "reshaped: []",
        "reshaped: [{from: a, to: [b, c], template: '{b}{c}', pattern: '(?P<b>.)(?P<c>.)'}]",
        "reshaped: [{from: [a, b], to: [c], template: '{a}-{b}'}]",
        "reshaped: [{from: a, to: b, key: c, value: d}, {from: e, to: [f], key: g}]",
        "reshaped: [{from: [a, b], to: c}, {from: d, to: [e, f]}]",
        "reshaped: [{from: [a, b], to: c, entries: [x, y]}, {from: d, to: e, entries: [z]}]",
        "reshaped: [{from: a, to: a, renamedKeys: {x: y}}]",
        "reshaped: [{from: [a, b], to: b, folded: name}, {from: c, to: [d, c], folded: true}]",
        "reshaped: [{from: [a, b], to: [c, d], up: {c: x, d: x}, down: {a: x, b: x}}]",
        "derived: {up: {a: self.b}, down: {c: self.d}}",
        "derived: {up: null}",
        "hook: [{name: x, from: a, to: [b, c]}]",
    ],
    &[
        "from: 1",
        "from: 'v 1'",
        "colour: red",
        "renamed: [a]",
        "renamed: {a: b.}",
        "removed: ['a[0]']",
        "removed: [a..b]",
        "removed: ['[]']",
        "removed: ['a[\"x']",
        "removed: ['a\"b']",
        "new: {a: b}",
        "keys: {a: []}",
        "keys: {a: [b, b]}",
        "union: {a: {discriminator: b}}",
        "union: {a: {members: [b], kind: c}}",
        "default: [a]",
        "writers: x",
        "olderWrite: keep",
        "converted: {a: text}",
        "converted: {a: {}}",
        "converted: {a: {to: b}}",
        "converted: {a: {to: b., with: text}}",
        "converted: {a: {with: words}}",
        "converted: {a: {with: {}}}",
        "converted: {a: {clamped: true}}",
        "converted: {a: {with: {clamped: true}}}",
        "converted: {a: {with: text, clamped: 32}}",
        "converted: {a: {with: {text: x}}}",
        "converted: {a: {with: {scale: 0}}}",
        "converted: {a: {with: {scale: 0.0}}}",
        "converted: {a: {with: {scale: '2'}}}",
        "converted: {a: {with: {scale: 2, joined: ','}}}",
        "converted: {a: {with: {values: {}}}}",
        "converted: {a: {with: {values: {a: 1}}}}",
        "converted: {a: {with: {joined: ''}}}",
        "converted: {a: {with: {key: 1}}}",
        "converted: {a: {up: self}}",
        "converted: {a: {down: self}}",
        "converted: {a: {up: 1, down: self}}",
        "converted: {a: {with: text, up: self, down: self}}",
        "converted: {a: {with: text, up: self}}",
        "converted: {a: {with: text, key: b}}",
        "reshaped: {}",
        "reshaped: [a]",
        "reshaped: [{from: a, to: b}]",
        "reshaped: [{from: [a, b], to: [c, d]}]",
        "reshaped: [{from: [], to: b, key: c}]",
        "reshaped: [{to: b, key: c}]",
        "reshaped: [{from: a, to: b, value: c}]",
        "reshaped: [{from: [a, b], to: b, folded: false}]",
        "reshaped: [{from: [a, b], to: b, folded: ''}]",
        "reshaped: [{from: [a, b], to: b, folded: name, key: c}]",
        "reshaped: [{from: a, to: b, key: c, pattern: d}]",
        "reshaped: [{from: a, to: b, key: c, renamedKeys: {d: e}}]",
        "reshaped: [{from: [a, b], to: c, key: d}]",
        "reshaped: [{from: [a, b], to: c, renamedKeys: {d: e}}]",
        "reshaped: [{from: a, to: b, renamedKeys: {}}]",
        "reshaped: [{from: [a, b], to: [c, d], template: '{a}{b}'}]",
        "reshaped: [{from: a, to: b, template: ''}]",
        "reshaped: [{from: [a, b], to: [c, d], entries: [x, y]}]",
        "reshaped: [{from: a, to: [b, c], entries: []}]",
        "reshaped: [{from: a, to: [b, c], entries: [x, x]}]",
        "reshaped: [{from: a, to: b, up: {b: x}}]",
        "reshaped: [{from: a, to: b, up: {b: x}, down: x}]",
        "reshaped: [{from: a, to: b, up: {}, down: {a: x}}]",
        "reshaped: [{from: [a, a], to: b}]",
        "derived: [a]",
        "derived: {a: self.b}",
        "derived: {up: {a: 3}}",
        "derived: {up: {a: ''}}",
        "hook: {}",
        "hook: [{name: x, from: a}]",
        "hook: [{name: '', from: a, to: b}]",
        "hook: [{name: x, from: a, to: b, key: c}]",
    ],
);

/// What is wrong with steps, and no schema knows: names that have to fit others.
const BEYOND_SCHEMAS: &[&str] = &[
    "renamed: {a: a}",
    "renamed: {a.: b}",
    "renamed: {a: b}, removed: [a]",
    "converted: {'a[]': {to: b, with: text}}",
    "reshaped: [{from: a, to: [b, c], entries: [x]}]",
    "reshaped: [{from: a, to: b, up: {c: x}, down: {a: x}}]",
    "derived: {up: {'a[]': x}}",
];

#[test]
fn schemas_and_parsers_agree() {
    let entry = |entry: &&str| format!("kinds: [{entry}]");
    let step = |step: &&str| format!("v2: {{{step}}}");
    let good = ENTRIES.0.iter().map(entry).chain(STEPS.0.iter().map(step));
    for text in good.chain(["kinds: [{crd: a}]\npolicies: {olderWrite: preserve}".to_owned(), "v2:".to_owned()]) {
        assert_eq!((errors(file_of(&text), &text), told(&text)), (vec![], vec![]), "{text}");
    }
    let bad = ENTRIES.1.iter().map(entry).chain(STEPS.1.iter().map(step));
    for text in bad.chain(["kinds: []", "kinds: {}", "[]", "v2: [a]"].map(str::to_owned)) {
        assert!(!told(&text).is_empty(), "the parser takes {text}");
        assert!(!errors(file_of(&text), &text).is_empty(), "the schema takes {text}");
    }
    for text in BEYOND_SCHEMAS.iter().map(step) {
        assert!(!told(&text).is_empty(), "the parser takes {text}");
        assert_eq!(errors(file_of(&text), &text), [""; 0], "{text}");
    }
}

/// Which file a text is meant for.
fn file_of(text: &str) -> &'static str {
    if text.starts_with("kinds") { "wheelwright.yaml" } else { "changes/a.yaml" }
}

/// What the parser of a file has against it.
fn told(text: &str) -> Vec<String> {
    let arena = Arena::new();
    let limits = Decode { yaml: Yaml::Core, ..Decode::default() };
    let file = decode_yaml(text.as_bytes(), &arena, &limits).unwrap()[0];
    let problems = match file_of(text) {
        "wheelwright.yaml" => parse_catalog(&file).1,
        _ => parse_changes(&file).1,
    };
    problems.into_iter().map(|problem| problem.message).collect()
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
