//! Changes files: everything that they say is read, in YAML and in JSON, and nothing that they say is lost silently.

#![expect(clippy::unwrap_used, reason = "a test that meets a surprise should stop right there")]

mod computed;

use wheelwright_document::{Arena, Decode, Yaml, decode_json_spanned, decode_yaml, encode};
use wheelwright_evolve::{OlderWrite, Steps, Writers, parse_changes};

fn parse(text: &str) -> (Steps, Vec<String>) {
    let arena = Arena::new();
    let limits = Decode { yaml: Yaml::Core, ..Decode::default() };
    let document = match text.starts_with('{') {
        true => decode_json_spanned(text.as_bytes(), &arena, &limits).unwrap(),
        false => decode_yaml(text.as_bytes(), &arena, &limits).unwrap()[0],
    };
    let (steps, problems) = parse_changes(&document);
    let shown = problems.iter().map(|problem| format!("{} {}: {}", problem.rule.id, problem.path, problem.message));
    (steps, shown.collect())
}

const FILE: &str = "\
v2:
  from: v1beta1
  renamed:
    spec.alphaKey: spec.sortKey
    spec.ports[].id: spec.ports[].name
  removed: [spec.firstName]
  new: ['spec.hosts{}.tls']
  keys: {spec.ports: [name, protocol]}
  union:
    spec.source: [git, http]
    spec.target: {members: [y, on], discriminator: type}
  default: {spec.disk: {}, spec.size: 1.50}
  storageDefault: {spec.mode: null}
  writers: omitempty
  olderWrite: reject
v3:
";

#[test]
fn a_step_says_all_of_it() {
    let (steps, problems) = parse(FILE);
    assert_eq!(problems, [""; 0]);
    let [step, empty] = &steps[..] else { panic!("two steps") };
    assert_eq!(step.version.item.as_str(), "v2");
    assert_eq!(step.from.as_ref().unwrap().item.as_str(), "v1beta1");
    let renamed: Vec<_> = step.renamed.iter().map(|it| format!("{} {}", it.from.item, it.to.item)).collect();
    assert_eq!(renamed, ["spec.alphaKey spec.sortKey", "spec.ports[].id spec.ports[].name"]);
    assert_eq!(step.removed[0].item.to_string(), "spec.firstName");
    assert_eq!(step.new[0].item.to_string(), "spec.hosts{}.tls");
    assert_eq!(step.keys[0].1, ["name".into(), "protocol".into()]);
    assert_eq!(step.unions[0].members, ["git".into(), "http".into()]);
    assert_eq!(step.unions[0].discriminator, None);
    assert_eq!(step.unions[1].members, ["y".into(), "on".into()], "words are texts");
    assert_eq!(step.unions[1].discriminator.as_deref(), Some("type"));
    let arena = Arena::new();
    let values = step.defaults.iter().chain(&step.storage_defaults);
    let values: Vec<_> = values.map(|it| String::from_utf8(encode(it.value.share(&arena))).unwrap()).collect();
    assert_eq!(values, ["{}", "1.50", "null"]);
    assert_eq!(step.writers.as_ref().unwrap().item, Writers::Omitempty);
    assert_eq!(step.older_write.as_ref().unwrap().item, OlderWrite::Reject);
    assert_eq!((empty.version.item.as_str(), empty.renamed.len()), ("v3", 0));
}

#[test]
fn json_says_the_same() {
    let json = r#"{"v2": {"renamed": {"spec.a": "spec.b"}, "keys": {"spec.l": ["id"]}}}"#;
    let yaml = "v2: {renamed: {spec.a: spec.b}, keys: {spec.l: [id]}}\n";
    let facts = |text| {
        let (steps, problems) = parse(text);
        assert_eq!(problems, [""; 0]);
        let step = &steps[0];
        (step.renamed[0].from.item.clone(), step.renamed[0].to.item.clone(), step.keys[0].1.clone())
    };
    assert_eq!(facts(json), facts(yaml));
}

#[test]
fn what_is_right_is_read_beside_what_is_wrong() {
    let (steps, problems) = parse("v2: {removed: [spec.a, 7, spec.b], renamed: {a: [], c: d}, colour: red}\nv3: []\n");
    assert_eq!(steps.len(), 2);
    assert_eq!((steps[0].removed.len(), steps[0].renamed.len()), (2, 1));
    assert_eq!(
        problems,
        [
            "WW110 v2.removed[1]: expected a path to a field, such as spec.ports[].name, found a number",
            "WW110 v2.renamed[a]: expected a path to a field, such as spec.ports[].name, found an array",
            "WW111 v2.colour: nobody knows the key \"colour\"",
            "WW110 v3: expected an object with what changed, such as renamed or removed, found an array",
        ]
    );
}

#[test]
fn paths_are_compared_by_what_they_mean() {
    let (_, problems) = parse("v2: {default: {a.b: 1, '[\"a\"].b': 2}}\n");
    assert_eq!(problems, ["WW113 v2.default: \"a.b\" is named twice, and only one can be meant"]);
    let (_, problems) = parse("v2: {renamed: {a: c, b: c}, new: [c]}\n");
    assert_eq!(problems.len(), 2);
    assert!(parse("v2: {renamed: {a: b, b: a}}\n").1.is_empty(), "a step is a set, so fields can change places");
}

#[test]
fn characters_are_counted_and_not_bytes() {
    let (_, problems) = parse("v2: {removed: [spec.größe..x]}\n");
    assert_eq!(
        problems,
        [
            "WW112 v2.removed[0]: \"spec.größe..x\" is no path to a field: at character 12, '.', expected the name of a field"
        ]
    );
}

#[test]
fn no_file_is_told_more_than_anybody_reads() {
    let many: String = (0..100_000).map(|number| format!("v{number}: [{}]\n", "x".repeat(8))).collect();
    assert_eq!(parse(&many).1.len(), 1001);
    let long = "x".repeat(1 << 20);
    let items = "1,".repeat(100_000);
    let (_, problems) = parse(&format!("{{\"{long}\": {{}}, \"v2\": {{\"keys\": {{\"{long}\": [{items}1]}}}}}}"));
    let said: usize = problems.iter().map(String::len).sum();
    assert!(problems.len() > 2 && said < 4 << 20, "{} problems, {said} bytes", problems.len());
}
