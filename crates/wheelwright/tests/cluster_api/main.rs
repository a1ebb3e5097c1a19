//! Cluster API, declared: `examples/cluster-api` says what the project's own conversion code does, and loses nothing.
//!
//! Its definitions, and documents that its code converted, are in the folder that `WHEELWRIGHT_SHARED` names, or in
//! `shared` beside the repository. Without them there is nothing to show.

mod catalog;
mod typed_clients;
mod views;

use std::{collections::BTreeSet, fs, path::Path, process::Command};

use wheelwright::{
    document::{Arena, Entry, Path as Place, Value, canonical, decode, encode},
    evolve::{Kind, VersionIndex, laws::Laws},
};

use self::catalog::Catalog;

#[test]
fn what_their_code_converts_without_loss_ours_converts_alike() {
    let Some(catalog) = Catalog::find("alike") else { return };
    let mut differences = Vec::new();
    for pair in Pair::all(&catalog).iter().filter(|pair| pair.is_lossless) {
        differences.extend(pair.differences(&catalog));
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn where_their_code_loses_something_ours_shows_the_same_and_keeps_it() {
    let Some(catalog) = Catalog::find("lossy") else { return };
    let mut differences = Vec::new();
    for pair in Pair::all(&catalog).iter().filter(|pair| !pair.is_lossless) {
        differences.extend(pair.differences(&catalog));
        let arena = Arena::new();
        let input = parse(&pair.input, &arena);
        let mut lost = Vec::new();
        compare(input, parse(&pair.back, &arena), &Place::Root, &mut lost);
        assert!(!lost.is_empty(), "line {}: nothing is lost", pair.line);
        compare(input, pair.back(&catalog, &arena), &Place::Root, &mut differences);
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn durations_that_do_not_fit_into_32_bits_are_cut_off_as_theirs_and_kept() {
    let Some(catalog) = Catalog::find("clamped") else { return };
    let kind = catalog.kind("machine");
    let version = |name: &str| kind.version(name).expect("both versions are declared");
    let (old, new) = (version("v1beta1"), version("v1beta2"));
    for (timeout, seconds) in [("596523h14m7s", "2147483647"), ("596523h14m8s", "2147483647"), ("-1s", "0")] {
        let arena = Arena::new();
        let text = format!(
            "{{\"apiVersion\":\"cluster.x-k8s.io/v1beta1\",\"kind\":\"Machine\",\"metadata\":{{\"name\":\"m\"}},\
             \"spec\":{{\"clusterName\":\"c\",\"bootstrap\":{{}},\"infrastructureRef\":{{}},\"nodeDrainTimeout\":\"{timeout}\"}}}}"
        );
        let document = parse(text.as_bytes(), &arena);
        let shown = kind.convert(old, new, document, &arena).expect("it can be written");
        let at = |value: Value<'_>, names: &[&str]| {
            spelled(names.iter().try_fold(value, |value, name| value.get(name)).unwrap_or(Value::Null))
        };
        assert_eq!(at(shown, &["spec", "deletion", "nodeDrainTimeoutSeconds"]), seconds, "{timeout}");
        let back = kind.round_trip(old, new, document, &arena).expect("it can be written");
        assert_eq!(at(back, &["spec", "nodeDrainTimeout"]), format!("\"{timeout}\""));
    }
}

#[test]
fn a_round_trip_gives_the_normal_form() {
    let Some(catalog) = Catalog::find("round-trips") else { return };
    for pair in Pair::all(&catalog) {
        let arena = Arena::new();
        let (kind, from, _) = pair.versions(&catalog);
        let normal = kind.convert(from, from, parse(&pair.input, &arena), &arena).expect("it can be written");
        assert_eq!(spelled(pair.back(&catalog, &arena)), spelled(normal), "line {}", pair.line);
    }
}

#[test]
fn the_laws_hold_for_all_ten_kinds() {
    let Some(catalog) = Catalog::find("laws") else { return };
    assert_eq!(catalog.kinds.iter().count(), 10);
    for (kind, declaration) in catalog.kinds.iter().zip(catalog.kinds.declarations()) {
        let report = Laws { cases: 200, seed: 5 }.run(kind, declaration, &mut |_| {});
        for law in &report.laws {
            let example = law.example.as_ref().map(|example| example.explain(law.law));
            assert_eq!(law.broken, 0, "{}: {}", kind.name(), example.unwrap_or_default());
        }
    }
}

#[test]
fn check_finds_no_errors() {
    let Some(catalog) = Catalog::find("check") else { return };
    let checked = Command::new(env!("CARGO_BIN_EXE_wheelwright")).arg("check").arg(&catalog.folder).output();
    let checked = checked.expect("the command is built");
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    let said = String::from_utf8_lossy(&checked.stdout);
    assert!(said.contains("[WW156]"), "{said}");
    for rule in ["WW150", "WW151", "WW152"] {
        assert!(!said.contains(rule), "what became of a field is left open: {said}");
    }
}

#[test]
fn what_became_of_every_field_is_said_so_that_it_can_be_locked() {
    let Some(catalog) = Catalog::find("lock") else { return };
    let mut lock = Command::new(env!("CARGO_BIN_EXE_wheelwright"));
    let locked = lock.arg("lock").current_dir(&catalog.folder).output().expect("the command is built");
    assert!(locked.status.success(), "{}", String::from_utf8_lossy(&locked.stderr));
}

#[test]
fn the_page_says_how_many_lines_it_takes() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/cluster-api");
    let page = fs::read_to_string(example.join("README.md")).expect("it has a page");
    let (mut written, mut all) = (0, 0);
    for file in fs::read_dir(example.join("changes")).expect("it has changes") {
        let file = file.expect("it can be read");
        let text = fs::read_to_string(file.path()).expect("it is a text");
        let is_written = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with('#');
        let lines = text.lines().filter(is_written).count();
        (written, all) = (written + lines, all + text.lines().count());
        let row = format!("(changes/{}) | {lines} |", file.file_name().to_string_lossy());
        assert!(page.contains(&row), "the page lacks {row}");
    }
    assert!(page.contains(&format!("{written} lines of YAML ({all} with comments)")), "{written} and {all}");
}

/// A document, and what the project's code made of it.
struct Pair {
    line: usize,
    kind: String,
    from: String,
    to: String,
    input: Vec<u8>,
    output: Vec<u8>,
    back: Vec<u8>,
    is_lossless: bool,
}

impl Pair {
    fn all(catalog: &Catalog) -> Vec<Self> {
        let text = fs::read_to_string(catalog.shared.join("real-apis/cluster-api/pairs.jsonl")).expect("it is there");
        let pairs: Vec<Self> = text.lines().enumerate().map(|(line, text)| Self::read(line + 1, text)).collect();
        assert!(!pairs.is_empty());
        pairs
    }

    fn read(line: usize, text: &str) -> Self {
        let arena = Arena::new();
        let pair = parse(text.as_bytes(), &arena);
        let field = |name: &str| pair.get(name).unwrap_or_else(|| panic!("line {line} has no {name}"));
        let text = |name: &str| field(name).as_str().expect("it is a text").to_owned();
        Self {
            line,
            kind: text("kind"),
            from: text("from"),
            to: text("to"),
            input: encode(field("input")),
            output: encode(field("output")),
            back: encode(field("back")),
            is_lossless: field("lossless").as_bool().expect("it is a boolean"),
        }
    }

    fn versions<'c>(&self, catalog: &'c Catalog) -> (&'c Kind, VersionIndex, VersionIndex) {
        let kind = catalog.kind(&self.kind);
        let version = |name: &str| kind.version(name).expect("both versions are declared");
        (kind, version(&self.from), version(&self.to))
    }

    /// Where our conversion is not theirs.
    fn differences(&self, catalog: &Catalog) -> Vec<String> {
        let (kind, from, to) = self.versions(catalog);
        let arena = Arena::new();
        let ours = kind.convert(from, to, parse(&self.input, &arena), &arena).expect("it can be written");
        let mut places = Vec::new();
        compare(parse(&self.output, &arena), ours, &Place::Root, &mut places);
        places.iter().map(|place| format!("line {}, {} to {}: {place}", self.line, self.kind, self.to)).collect()
    }

    /// What we give back once a client of the other version has read the document and written it back.
    fn back<'a>(&'a self, catalog: &'a Catalog, arena: &'a Arena) -> Value<'a> {
        let (kind, from, to) = self.versions(catalog);
        kind.round_trip(from, to, parse(&self.input, arena), arena).expect("it can be written")
    }
}

fn parse<'a>(text: &'a [u8], arena: &'a Arena) -> Value<'a> {
    decode(text, arena).expect("the documents are JSON")
}

fn spelled(value: Value<'_>) -> String {
    String::from_utf8(canonical(value)).expect("JSON is text")
}

/// Go writes some empty values and leaves out others, as the types of its fields want it.
fn is_empty(value: Value<'_>) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_f64() == 0.0,
        Value::String(text) => matches!(text.as_str(), "" | "0s"),
        Value::Array(items) => items.iter().all(|item| is_empty(*item)),
        Value::Object(entries) => entries.iter().all(|entry| is_empty(entry.value)),
    }
}

/// The places at which two values differ in more than what is empty.
fn compare(theirs: Value<'_>, ours: Value<'_>, at: &Place<'_>, places: &mut Vec<String>) {
    match (theirs, ours) {
        (Value::Object(left), Value::Object(right)) => {
            let keys: BTreeSet<&str> = left.iter().chain(right).map(|entry: &Entry<'_>| entry.key).collect();
            for key in keys {
                let [left, right] = [theirs, ours].map(|object| object.get(key).unwrap_or(Value::Null));
                compare(left, right, &Place::Child(at, key), places);
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (index, (left, right)) in left.iter().zip(right).enumerate() {
                compare(*left, *right, &Place::Index(at, index), places);
            }
        }
        _ if is_empty(theirs) && is_empty(ours) || spelled(theirs) == spelled(ours) => {}
        _ => places.push(format!("{at} is {}, and ours {}", spelled(theirs), spelled(ours))),
    }
}
