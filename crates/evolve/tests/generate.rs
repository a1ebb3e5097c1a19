//! Laws of generated documents: valid as often as stated, everywhere in the schema, and decided by the seed.

use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
    time::Instant,
};

use wheelwright_document::{Arena, Decode, Value, decode, decode_json_spanned, encode};
use wheelwright_evolve::laws::{Generator, Random, TextOfPattern};
use wheelwright_schema::{Program, Refused, Root, Schema, Specification, Stages, Tree, lower_definition, lower_schema};

fn lower(json: &str) -> Schema {
    let arena = Arena::new();
    let lowered = lower_schema(&decode_json_spanned(json.as_bytes(), &arena, &Decode::default()).expect("JSON"));
    assert!(lowered.problems.is_empty(), "{:?}", lowered.problems);
    lowered.item
}

/// Everything that a schema can ask for at once.
const SCHEMA: &str = r#"{"type": "object", "required": ["spec"], "properties": {
    "metadata": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 5, "pattern": "^[a-z]+$"}}},
    "spec": {"type": "object", "required": ["name", "ports"], "properties": {
        "name": {"type": "string", "minLength": 3, "maxLength": 8, "pattern": "^[a-z]+$",
            "allOf": [{"pattern": "b"}, {"not": {"enum": ["bbb"]}}]},
        "size": {"type": "integer", "minimum": 3, "maximum": 7, "exclusiveMaximum": true, "nullable": true},
        "even": {"type": "integer", "minimum": 3, "multipleOf": 2},
        "ratio": {"type": "number", "minimum": 0, "maximum": 1},
        "mode": {"type": "string", "enum": ["A", "B", "C"]},
        "when": {"type": "string", "format": "date-time"},
        "paused": {"type": "boolean", "default": false},
        "either": {"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]},
        "limits": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}, "maxProperties": 3},
        "anything": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "resource": {"type": "object", "x-kubernetes-embedded-resource": true, "properties": {
            "spec": {"type": "object", "properties": {"a": {"type": "string"}}}}},
        "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string", "maxLength": 2}},
        "ports": {"type": "array", "minItems": 1, "maxItems": 4, "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"], "items": {"type": "object", "required": ["name"], "properties": {
                "name": {"type": "string"}, "port": {"type": "integer", "minimum": 1, "maximum": 65535}}}},
        "source": {"type": "object", "oneOf": [{"required": ["git"]}, {"required": ["http"]}], "properties": {
            "git": {"type": "object", "properties": {"url": {"type": "string", "format": "uri"}}},
            "http": {"type": "object", "properties": {"deep": {"type": "object", "required": ["er"],
                "properties": {"er": {"type": "array", "items": {"type": "object",
                    "properties": {"still": {"type": "boolean"}}}}}}}}}},
        "single": {"type": "object", "minProperties": 1, "maxProperties": 1, "properties": {
            "a": {"type": "string"}, "b": {"type": "string"}, "c": {"type": "string"}}},
        "strategy": {"type": "object", "properties": {
            "type": {"type": "string", "enum": ["RollingUpdate", "Recreate", "OnDelete"]},
            "rollingUpdate": {"type": "object", "properties": {"surge": {"type": "integer"}}},
            "recreate": {"type": "object"}}}}},
    "status": {"type": "object", "properties": {"ready": {"type": "boolean"}}}}}"#;

fn generator() -> Generator {
    Generator::new(&lower(SCHEMA), Root::Resource).of_kind("example.com/v2", "Thing")
}

fn is_valid(program: &Program, document: Value<'_>, stages: Stages) -> bool {
    let arena = Arena::new();
    let text = encode(document);
    let document = decode(&text, &arena).expect("generated documents are JSON");
    program.run(document, &arena, stages).is_ok_and(|admitted| admitted.errors.is_empty())
}

#[test]
fn most_documents_are_valid_and_some_are_not() {
    let (generator, mut random) = (generator(), Random::new(1));
    let program = Program::compile(&lower(SCHEMA), Root::Resource);
    let valid = (0..2_000).filter(|_| {
        let arena = Arena::new();
        is_valid(&program, generator.generate(&mut random, &arena), Stages::ADMIT)
    });
    let valid = valid.count();
    assert!((1_500..1_900).contains(&valid), "{valid} of 2,000");
}

#[test]
fn documents_made_to_reach_a_node_reach_it_and_are_valid() {
    let (generator, mut random) = (generator(), Random::new(2));
    let program = Program::compile(&lower(SCHEMA), Root::Resource);
    for (position, selector) in generator.nodes().enumerate() {
        for _ in 0..20 {
            let arena = Arena::new();
            let document = generator.generate_reaching(&[position], &mut random, &arena);
            let mut reached = BTreeSet::new();
            generator.visit(document, |node| {
                reached.insert(node);
            });
            assert!(reached.contains(&position), "{selector} is not in {document:?}");
            assert!(is_valid(&program, document, Stages::ADMIT), "{document:?}");
        }
    }
}

#[test]
fn every_node_is_reached_soon() {
    let (generator, mut random) = (generator(), Random::new(3));
    let mut left: BTreeSet<usize> = (0..generator.nodes().len()).collect();
    for _ in 0..200 {
        let arena = Arena::new();
        generator.visit(generator.generate(&mut random, &arena), |node| {
            left.remove(&node);
        });
    }
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_seed_decides_documents_and_edits() {
    let generator = generator();
    let documents = |seed| -> Vec<String> {
        let (mut random, arena) = (Random::new(seed), Arena::new());
        let document = generator.generate(&mut random, &arena);
        let edited = generator.mutate(document, &mut random, &arena);
        [document, edited].into_iter().map(|document| format!("{document:?}")).collect()
    };
    assert_eq!(documents(4), documents(4));
    assert_ne!(documents(4), documents(5));
}

type Sight = fn(Value<'_>) -> bool;

/// What a document of [`SCHEMA`] may show, and a test whether it does.
const SIGHTS: &[(&str, Sight)] = &[
    ("every member of an enum", |spec| spec.get("mode").is_some_and(|mode| mode.as_str() == Some("C"))),
    ("the smallest number", |spec| number(spec, "size") == Some("3")),
    ("the largest number", |spec| number(spec, "size") == Some("6")),
    ("a null where it is allowed", |spec| spec.get("size").is_some_and(Value::is_null)),
    ("a null where it is not", |spec| spec.get("name").is_some_and(Value::is_null)),
    ("a number with a point", |spec| number(spec, "even").is_some_and(|number| number.ends_with(".0"))),
    ("a number with an exponent", |spec| number(spec, "even").is_some_and(|number| number.ends_with("e3"))),
    ("an integer for either", |spec| spec.get("either").is_some_and(|either| either.as_number().is_some())),
    ("a string for either", |spec| spec.get("either").is_some_and(|either| either.as_str().is_some())),
    ("the key of the bag", |spec| spec.get("anything").is_some_and(|any| any.get("$bag").is_some())),
    ("a declared name elsewhere", |spec| spec.get("anything").is_some_and(|any| any.get("ports").is_some())),
    ("an empty list", |spec| spec.get("tags").is_some_and(|tags| tags.as_array() == Some(&[]))),
    ("an empty object", |spec| spec.get("limits").is_some_and(|limits| limits.as_object() == Some(&[]))),
    ("four items", |spec| ports(spec).len() == 4),
    ("items with one key", |spec| ports(spec).windows(2).any(|pair| pair[0].get("name") == pair[1].get("name"))),
    ("items that differ in the key only", |spec| {
        ports(spec).windows(2).any(|pair| {
            pair[0].get("port").is_some()
                && pair[0].get("port") == pair[1].get("port")
                && pair[0].get("name") != pair[1].get("name")
        })
    }),
    ("one member of a union", |spec| spec.get("source").is_some_and(|source| source.get("git").is_some())),
    ("a member as its discriminator says", |spec| {
        spec.get("strategy").is_some_and(|strategy| {
            strategy.get("rollingUpdate").is_some()
                && strategy.get("type").is_some_and(|kind| kind.as_str() == Some("RollingUpdate"))
        })
    }),
    ("no ports although they are required", |spec| spec.get("ports").is_none()),
    ("a string with an escape", |spec| ports(spec).iter().any(|port| format!("{port:?}").contains("\\n"))),
];

fn number<'a>(spec: Value<'a>, field: &str) -> Option<&'a str> {
    Some(spec.get(field)?.as_number()?.as_str())
}

fn ports<'a>(spec: Value<'a>) -> &'a [Value<'a>] {
    spec.get("ports").and_then(Value::as_array).unwrap_or_default()
}

#[test]
fn everything_that_can_go_wrong_is_seen() {
    let (generator, mut random) = (generator(), Random::new(6));
    let mut unseen: Vec<_> = SIGHTS.to_vec();
    let mut without_spec = 0;
    let mut sizes = Vec::new();
    for _ in 0..4_000 {
        let arena = Arena::new();
        let document = generator.generate(&mut random, &arena);
        assert_eq!(document.get("kind"), Some(Value::string("Thing")));
        sizes.push(encode(document).len());
        match document.get("spec") {
            Some(spec) => unseen.retain(|(_, is_seen)| !is_seen(spec)),
            None => without_spec += 1,
        }
    }
    let unseen: Vec<&str> = unseen.iter().map(|(name, _)| *name).collect();
    assert!(unseen.is_empty(), "{unseen:?}");
    assert!(without_spec > 50, "{without_spec}");
    sizes.sort_unstable();
    assert!(sizes[2_000] < 1_000, "documents stay small: {}", sizes[2_000]);
}

#[test]
fn edits_change_documents_and_keep_what_every_resource_has() {
    let (generator, mut random) = (generator(), Random::new(7));
    let source = br#"{"kind": "Thing", "metadata": {"name": "a"}, "spec": {"name": "abc", "size": 4, "ports": [
        {"name": "a", "port": 1}, {"name": "b"}, {"name": "c", "port": 3}], "source": {"git": {"url": "/a"}}}}"#;
    let arena = Arena::new();
    let document = decode(source, &arena).unwrap();
    let before = ports(document.get("spec").unwrap());
    let mut seen = [0; 9];
    for _ in 0..4_000 {
        let arena = Arena::new();
        let edited = generator.mutate(document, &mut random, &arena);
        assert_eq!(document.get("metadata"), edited.get("metadata"));
        let spec = edited.get("spec").unwrap_or(Value::Null);
        let after = ports(spec);
        let sorted = |ports: &[Value<'_>]| ports.iter().map(|port| format!("{port:?}")).collect::<BTreeSet<_>>();
        let source = spec.get("source");
        let sights = [
            document != edited,
            after == &before[1..],
            after.len() == 3 && after != before && sorted(after) == sorted(before),
            after.len() == 4 && sorted(after) == sorted(before),
            after.len() == 4 && sorted(after).is_superset(&sorted(before)),
            after.is_empty() && spec.get("ports").is_some(),
            source.is_some_and(|source| source.get("git").is_none() && source.get("http").is_some()),
            spec.get("size") == Some(Value::Null),
            edited.get("spec").is_none(),
        ];
        sights.into_iter().zip(&mut seen).for_each(|(is_seen, count)| *count += usize::from(is_seen));
    }
    assert!(seen[0] > 3_900 && seen.iter().all(|count| *count > 10), "{seen:?}");
}

#[test]
fn schemas_that_demand_too_much_get_bounded_documents() {
    let list = |items: &str| format!(r#"{{"type": "array", "minItems": 100000, "items": {items}}}"#);
    let many = list(&list(&list(r#"{"type": "string", "minLength": 1000000000, "pattern": "^a+$"}"#)));
    let schema = lower(&format!(r#"{{"type": "object", "required": ["a"], "properties": {{"a": {many}}}}}"#));
    let (generator, mut random, arena) = (Generator::new(&schema, Root::Value), Random::new(8), Arena::new());
    for _ in 0..3 {
        let document = generator.generate_reaching(&[1], &mut random, &arena);
        assert!(encode(document).len() < 1_000_000);
        generator.mutate(document, &mut random, &arena);
    }
}

#[test]
fn schemas_that_nothing_satisfies_get_documents_all_the_same() {
    for schema in [
        r#"{"type": "integer", "minimum": 5, "maximum": 1, "multipleOf": 1000}"#,
        r#"{"type": "number", "minimum": 1e308, "maximum": -1e308}"#,
        r#"{"type": "string", "pattern": "a^b", "format": "ipv4", "maxLength": 0}"#,
        r#"{"type": "object", "maxProperties": 0, "minProperties": 5, "required": ["a"]}"#,
        r#"{"type": "string", "enum": ["a"], "allOf": [{"enum": ["b"]}]}"#,
        r#"{"type": "integer", "minimum": -1e300, "maximum": 1e300, "multipleOf": 1e300}"#,
        r#"{}"#,
    ] {
        let (generator, mut random, arena) =
            (Generator::new(&lower(schema), Root::Value), Random::new(9), Arena::new());
        for _ in 0..200 {
            let document = generator.generate(&mut random, &arena);
            generator.mutate(document, &mut random, &arena);
        }
    }
}

/// A schema that somebody published.
struct Published {
    name: String,
    api_version: String,
    kind: String,
    root: Root,
    schema: Schema,
}

fn shared() -> PathBuf {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    env::var_os("WHEELWRIGHT_SHARED").map_or(beside, PathBuf::from)
}

/// The real definitions and OpenAPI documents, if they are there.
fn published() -> Vec<Published> {
    let mut schemas = Vec::new();
    for path in files(&shared().join("conformance/crds"), "") {
        let (arena, bytes) = (Arena::new(), fs::read(path).expect("a readable file"));
        let source = decode_json_spanned(&bytes, &arena, &Decode::default()).expect("JSON");
        let definition = lower_definition(&source).expect("a definition").item;
        for version in definition.versions {
            schemas.extend(version.schema.map(|schema| Published {
                name: format!("{} {}", definition.name.text, version.name.text),
                api_version: format!("{}/{}", definition.group.text, version.name.text),
                kind: definition.kind.text.to_string(),
                root: Root::Resource,
                schema,
            }));
        }
    }
    let service =
        "real-apis/aro-hcp/api/redhatopenshift/resource-manager/Microsoft.RedHatOpenShift/hcpopenshiftclusters/preview";
    for path in files(&shared().join(service), "openapi.json") {
        let (arena, bytes, name) = (Arena::new(), fs::read(&path).expect("a file"), path.to_string_lossy());
        let source = decode_json_spanned(&bytes, &arena, &Decode::default()).expect("JSON");
        let mut document = Specification::open(&name, &source, &Trusting, &arena).expect("an OpenAPI document");
        for kind in ["NodePool", "HcpOpenShiftCluster"] {
            let version = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
            schemas.push(Published {
                name: format!("{kind} {version}"),
                api_version: version,
                kind: kind.to_owned(),
                root: Root::Definition,
                schema: document.lower(kind).expect("a declared kind").item,
            });
        }
    }
    schemas
}

/// What is in a folder, in the order of names; or what has a name in every folder there.
fn files(folder: &Path, name: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.expect("a readable folder").path());
    let mut paths: Vec<PathBuf> = paths.map(|path| if name.is_empty() { path } else { path.join(name) }).collect();
    paths.sort();
    paths
}

/// Reads whatever is asked for.
struct Trusting;

impl Tree for Trusting {
    fn locate(&self, from: &str, reference: &str) -> Result<String, Refused> {
        Ok(Path::new(from).with_file_name(reference).to_string_lossy().into_owned())
    }

    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        fs::read(name).map_err(|error| error.to_string())
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "reports figures, or that there are no definitions to make them with")]
fn real_schemas_are_reached_and_mostly_satisfied() {
    let cases = if cfg!(debug_assertions) { 200 } else { 2_000 };
    let schemas = published();
    if schemas.is_empty() {
        println!("real definitions: SKIPPED");
        return;
    }
    let (mut documents, mut bytes, mut seconds) = (0, 0, 0.0);
    let (mut all_reached, mut all_nodes, mut wrong) = (0, 0, Vec::new());
    for Published { name, api_version, kind, root, schema } in &schemas {
        let generator = Generator::new(schema, *root).of_kind(api_version, kind);
        let program = Program::compile(schema, *root);
        let mut random = Random::new(1);
        let (mut valid, mut passing, mut reached) = (0, 0, BTreeSet::new());
        for _ in 0..cases {
            let arena = Arena::new();
            let start = Instant::now();
            let document = generator.generate(&mut random, &arena);
            seconds += start.elapsed().as_secs_f64();
            bytes += encode(document).len();
            generator.visit(document, |node| {
                reached.insert(node);
            });
            let is_sound = is_valid(&program, document, Stages::ADMIT.without_rules());
            valid += usize::from(is_sound);
            passing += usize::from(is_sound && is_valid(&program, document, Stages::ADMIT));
        }
        documents += cases;
        let nodes = generator.nodes().len();
        all_reached += reached.len();
        all_nodes += nodes;
        let percent = |count: usize| count * 100 / cases;
        println!(
            "{name}: {} valid, {} with rules, {} of {nodes} nodes",
            percent(valid),
            percent(passing),
            reached.len()
        );
        if percent(valid) < 70 || percent(passing) < 10 {
            wrong.push(format!("{name}: {}% are valid, {}% with rules", percent(valid), percent(passing)));
        }
        // What chance has missed is reached on demand, so that laws can cover everything.
        for node in 0..nodes {
            for _ in 0..8 {
                if !reached.contains(&node) {
                    let arena = Arena::new();
                    generator.visit(generator.generate_reaching(&[node], &mut random, &arena), |node| {
                        reached.insert(node);
                    });
                }
            }
        }
        let missed = generator.nodes().enumerate().filter(|(node, _)| !reached.contains(node));
        wrong.extend(missed.map(|(_, selector)| format!("{name}: {selector} is never reached")));
    }
    let (reach, size, speed) = (all_reached * 100 / all_nodes, bytes / documents, documents as f64 / seconds);
    println!("{documents} documents, {reach}% of nodes, {size} bytes on average, {speed:.0} a second");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn patterns_of<'s>(schema: &'s Schema, patterns: &mut BTreeSet<&'s str>) {
    patterns.extend(schema.checks.pattern.as_deref());
    let fields = schema.properties.iter().map(|field| &field.schema);
    let below = fields.chain(schema.items.as_deref()).chain(schema.additional_schema()).chain(schema.not.as_deref());
    let branches = [&schema.all_of, &schema.any_of, &schema.one_of].into_iter().flatten();
    below.chain(branches).for_each(|below| patterns_of(below, patterns));
}

#[test]
#[expect(clippy::print_stdout, reason = "reports the share")]
fn texts_can_be_made_for_every_pattern_of_the_real_schemas() {
    let schemas = published();
    let mut patterns = BTreeSet::new();
    schemas.iter().for_each(|published| patterns_of(&published.schema, &mut patterns));
    let mut random = Random::new(1);
    let sampled = |go: &&str| {
        TextOfPattern::new(go).and_then(|pattern| pattern.sample(&mut random, &(0..=usize::MAX), |_| true)).is_none()
    };
    let count = patterns.len();
    let failed: Vec<&str> = patterns.into_iter().filter(sampled).collect();
    println!("{} of {count} patterns", count - failed.len());
    assert!(failed.is_empty(), "{failed:?}");
}
