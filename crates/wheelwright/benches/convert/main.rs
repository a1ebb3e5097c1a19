//! What converting a document costs: beside parsing and serializing it with `serde_json`, and computed fields beside
//! renamed ones.
//!
//! Everything is measured in one run, interleaved; the ratios are what counts. The run fails if converting takes longer
//! than twice a parse and serialize, or ten fields that are converted one to one by a named converter or a short expression
//! longer than twice the same fields renamed. A longer expression takes as long as it takes, which is told.
//!
//! The documents are those of Cluster API in the folder that `WHEELWRIGHT_SHARED` names, or `shared` beside the
//! repository, declared by `examples/cluster-api`; without that folder there are only those made here.

#![expect(clippy::print_stdout, reason = "a benchmark says what it measured")]

#[path = "../../../schema/benches/pipeline/measure.rs"]
mod measure;

use std::{
    fs,
    hint::black_box,
    io,
    path::{Path, PathBuf},
    process::ExitCode,
};

use measure::{Candidate, Measured, measure};
use wheelwright::{
    catalog::Catalog,
    document::{Arena, Decode, Span, Value, decode, decode_json_spanned, encode},
    evolve::{Declaration, DeclaredVersion, Kind, VersionName, parse_changes},
    findings::Level,
    schema::{Root, lower_schema},
};

fn main() -> ExitCode {
    // `cargo test` builds and runs benchmarks too, with `--test`: there, one round shows that they work.
    let rounds = if std::env::args().any(|argument| argument == "--bench") { 60 } else { 1 };
    let mut misses = Vec::new();
    ten_fields(rounds, &mut misses);
    for pair in cluster_api() {
        beside_serde(&pair, rounds, &mut misses);
    }
    for miss in &misses {
        println!("missed: {miss}");
    }
    if misses.is_empty() || rounds == 1 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Ten fields of one sort: what they are called, their types in either version, how they are converted, a value, and whether
/// more than twice the time fails the run.
const TEN_FIELDS: [(&str, &str, &str, &str, &str, bool); 11] = [
    ("duration", STRING, INTEGER, r#""with":"durationSeconds""#, r#""10m0s""#, true),
    ("duration that is not as Go prints it", STRING, INTEGER, r#""with":"durationSeconds""#, r#""10m""#, true),
    ("number in a text", STRING, INTEGER, r#""with":"text""#, r#""10""#, true),
    ("word with another name", STRING, STRING, r#""with":{"values":{"Fast":"Quick"}}"#, r#""Fast""#, true),
    ("number in another unit", INTEGER, INTEGER, r#""with":{"scale":1000}"#, "10", true),
    ("quantity", STRING, INTEGER, r#""with":"quantity""#, r#""10Gi""#, true),
    ("list in a text", STRING, STRINGS, r#""with":{"joined":","}"#, r#""a,b""#, true),
    ("number that an expression gives", INTEGER, INTEGER, r#""up":"self * 2","down":"self / 2""#, "10", true),
    ("number in an object", INTEGER, OBJECT, r#""with":{"key":"a"}"#, "10", true),
    ("object that is the one item of a list", OBJECT, OBJECTS, r#""with":"oneItem""#, r#"{"a":10}"#, true),
    ("text that an expression gives", STRING, STRING, r#""up":"self + 's'","down":"'s' + self""#, r#""10""#, false),
];
const STRING: &str = r#"{"type":"string"}"#;
const STRINGS: &str = r#"{"type":"array","items":{"type":"string"}}"#;
const OBJECT: &str = r#"{"type":"object","properties":{"a":{"type":"integer"}}}"#;
const OBJECTS: &str = r#"{"type":"array","items":{"type":"object","properties":{"a":{"type":"integer"}}}}"#;
const INTEGER: &str = r#"{"type":"integer"}"#;

/// Ten converted fields beside ten fields that were renamed.
fn ten_fields(rounds: usize, misses: &mut Vec<String>) {
    let ten = |line: &dyn Fn(usize) -> String| (0..10).map(line).collect::<Vec<_>>().join(",");
    let version = |prefix: &str, schema: &str| {
        let fields = ten(&|at| format!(r#""{prefix}{at}":{schema}"#));
        format!(r#"{{"type":"object","properties":{{"spec":{{"type":"object","properties":{{{fields}}}}}}}}}"#)
    };
    for (name, old_type, new_type, how, value, is_gated) in TEN_FIELDS {
        let conversions = ten(&|at| format!(r#""spec.old{at}":{{"to":"spec.new{at}",{how}}}"#));
        // The same documents, whose fields are renamed and nothing else.
        let renamed = |r#type: &str| {
            let renames = ten(&|at| format!(r#""spec.old{at}":"spec.new{at}""#));
            kind(
                &[("v1", &version("old", r#type)), ("v2", &version("new", r#type))],
                &format!(r#"{{"v2":{{"renamed":{{{renames}}}}}}}"#),
            )
        };
        let (renamed_up, renamed_down) = (renamed(old_type), renamed(new_type));
        let converted = kind(
            &[("v1", &version("old", old_type)), ("v2", &version("new", new_type))],
            &format!(r#"{{"v2":{{"converted":{{{conversions}}}}}}}"#),
        );
        let document = format!(r#"{{"spec":{{{}}}}}"#, ten(&|at| format!(r#""old{at}":{value}"#))).into_bytes();
        println!("ten fields, each a {name} ({} bytes)", document.len());
        let arena = Arena::new();
        let old = decode(&document, &arena).expect("it is JSON");
        let convert = |kind: &Kind, versions: [&str; 2], value: Value<'_>| {
            let [from, to] = versions.map(|name| kind.version(name).expect("declared"));
            let arena = Arena::for_input(document.len());
            black_box(kind.convert(from, to, black_box(value), &arena).is_ok());
        };
        let [v1, v2] = ["v1", "v2"].map(|name| converted.version(name).expect("declared"));
        let new = converted.convert(v1, v2, old, &arena).expect("it can be converted");
        let measured = measure(
            rounds,
            document.len(),
            vec![
                Candidate::new("ten renamed fields, up", || convert(&renamed_up, ["v1", "v2"], old)),
                Candidate::new("ten converted fields, up", || convert(&converted, ["v1", "v2"], old)),
                Candidate::new("ten renamed fields, down", || convert(&renamed_down, ["v2", "v1"], new)),
                Candidate::new("ten converted fields, down", || convert(&converted, ["v2", "v1"], new)),
            ],
        );
        for (way, measured) in ["up", "down"].into_iter().zip(measured.chunks(2)) {
            let [renames, conversions] = measured else { unreachable!("as listed above") };
            gate(
                &format!("converted to renamed, {way},"),
                conversions,
                renames,
                measured,
                is_gated.then_some(&mut *misses),
            );
        }
    }
}

/// A document, and what converts it.
struct Pair {
    name: String,
    kind: Kind,
    from: String,
    to: String,
    document: Vec<u8>,
}

fn beside_serde(pair: &Pair, rounds: usize, misses: &mut Vec<String>) {
    println!("{} ({} bytes)", pair.name, pair.document.len());
    let (from, to) = (pair.kind.version(&pair.from).expect("declared"), pair.kind.version(&pair.to).expect("declared"));
    let measured = measure(
        rounds,
        pair.document.len(),
        vec![
            Candidate::new("serde_json: parse and serialize", || {
                let value: serde_json::Value = serde_json::from_slice(black_box(&pair.document)).expect("it is JSON");
                black_box(serde_json::to_vec(&value).ok());
            }),
            Candidate::new("decode, convert and encode", || {
                let arena = Arena::for_input(pair.document.len());
                let value = decode(black_box(&pair.document), &arena).expect("it is JSON");
                black_box(encode(pair.kind.convert(from, to, value, &arena).expect("it can be converted")));
            }),
        ],
    );
    let [serde, ours] = &measured[..] else { unreachable!("as listed above") };
    gate("converting to parsing and serializing", ours, serde, &measured, Some(misses));
}

fn gate(what: &str, candidate: &Measured, base: &Measured, all: &[Measured], misses: Option<&mut Vec<String>>) {
    for line in all {
        println!("  {line}");
    }
    let (ratio, median) = (candidate.best / base.best, candidate.median / base.median);
    let bound = if misses.is_some() { "; at most 2" } else { "" };
    println!("  ratio: {what} {ratio:.2} (medians {median:.2}){bound}\n");
    if let Some(misses) = misses.filter(|_| ratio > 2.0) {
        misses.push(format!("{what} {ratio:.2} instead of 2"));
    }
}

/// The largest document of each kind and direction; none if something is missing, and it is said what.
fn cluster_api() -> Vec<Pair> {
    let repository = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let shared = std::env::var_os("WHEELWRIGHT_SHARED").map_or_else(|| repository.join("../shared"), PathBuf::from);
    let documents = shared.join("real-apis/cluster-api/pairs.jsonl");
    let read = fs::read_to_string(&documents).map_err(|error| format!("cannot read {}: {error}", documents.display()));
    match read.and_then(|pairs| Ok((pairs, declared(&repository, &shared)?))) {
        Ok((pairs, catalog)) => largest(&pairs, &catalog),
        Err(missing) => {
            println!("Cluster API is not measured: {missing}; WHEELWRIGHT_SHARED names the folder that has it\n");
            Vec::new()
        }
    }
}

/// The example, with its definitions where they are.
fn declared(repository: &Path, shared: &Path) -> Result<Catalog, String> {
    let told = |error: io::Error| error.to_string();
    let example = repository.join("examples/cluster-api").canonicalize().map_err(told)?;
    let shared = shared.canonicalize().map_err(told)?;
    let text = fs::read_to_string(example.join("wheelwright.yaml")).map_err(told)?;
    let text = text.replace("../../../shared/", &format!("{}/", shared.display()));
    let text = text.replace("changes: ", &format!("changes: {}/", example.display()));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cluster-api-bench");
    fs::create_dir_all(&folder).map_err(told)?;
    fs::write(folder.join("wheelwright.yaml"), text).map_err(told)?;
    let catalog = Catalog::load(&[folder]).map_err(|unreadable| unreadable.to_string())?;
    match catalog.findings().iter().find(|finding| finding.level == Level::Error) {
        Some(wrong) => Err(wrong.message.clone()),
        None => Ok(catalog),
    }
}

fn largest(pairs: &str, catalog: &Catalog) -> Vec<Pair> {
    let mut found: Vec<Pair> = Vec::new();
    for line in pairs.lines() {
        let pair: serde_json::Value = serde_json::from_str(line).expect("a pair a line");
        let (input, text) = (&pair["input"], |key: &str| pair[key].as_str().unwrap_or_default().to_owned());
        let (from, to, kind) = (text("from"), text("to"), input["kind"].as_str().unwrap_or_default());
        let name = format!("{kind} from {from} to {to}");
        let document = serde_json::to_vec(input).expect("it was JSON");
        if let Some(known) = found.iter_mut().find(|known| known.name == name) {
            if known.document.len() < document.len() {
                known.document = document;
            }
            continue;
        }
        let Some(declared) = catalog.kinds().iter().find(|declared| *declared.declaration.kind == *kind) else {
            continue;
        };
        if let Some(kind) = Kind::compile(&declared.declaration, None).0 {
            found.push(Pair { name, kind, from, to, document });
        }
    }
    found
}

fn kind(versions: &[(&str, &str)], changes: &str) -> Kind {
    let arena = Arena::new();
    let read = |text: &str| {
        let text = arena.text(text);
        decode_json_spanned(text.as_bytes(), &arena, &Decode::default()).expect("it is JSON")
    };
    let mut declaration = Declaration::new("", "Bench");
    for (name, schema) in versions {
        let schema = lower_schema(&read(schema)).item;
        let version = DeclaredVersion::new(VersionName::new(*name), schema, Root::Value, Span::default());
        declaration.versions.push(version);
    }
    declaration.steps = parse_changes(&read(changes)).0;
    let (kind, problems) = Kind::compile(&declaration, None);
    assert!(problems.is_empty(), "{problems:?}");
    kind.expect("there are versions")
}
