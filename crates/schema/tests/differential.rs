//! The compiled program and the plain interpreter in `reference` agree on generated schemas and documents, and the
//! interpreter agrees with what is recorded of Kubernetes.
//!
//! `PROPTEST_CASES` sets the number of cases; 2,000 unless set.

mod generate;
mod reference;
mod support;

use std::{
    cell::RefCell,
    collections::{BTreeSet, HashMap},
    env, fs,
    path::{Path, PathBuf},
};

use generate::{Case, case, config, hold};
use proptest::prelude::*;
use reference::{Environment, Errors};
use serde_json::Value as Json;
use support::lower;
use wheelwright_document::{Arena, Decode, Value};
use wheelwright_schema::{Problem, Program, Root, Stages, ValidationError, check, is_convertible};

/// The interpreter has no formats and patterns of its own; these have tests of their own.
const ENVIRONMENT: Environment = Environment { format_accepts, pattern_matches, pattern_is_valid };

proptest! {
    #![proptest_config(config(2_000))]

    #[test]
    fn program_and_interpreter_agree(case in case()) {
        hold(case, agree)?;
    }

    #[test]
    fn program_and_interpreter_agree_on_updates(case in case()) {
        hold(case, agree_on_updates)?;
    }
}

fn agree(Case { schema, root, documents }: &Case) -> Result<(), TestCaseError> {
    let lowered = lower(schema.to_string().as_bytes());
    let structural = reference::structural_errors(ENVIRONMENT, schema);
    if !is_convertible(&lowered) {
        prop_assert_eq!(structural, Errors::from([("NewStructural".to_owned(), String::new())]));
        return Ok(());
    }
    prop_assert_eq!(problem_set(check::check_structural(&lowered)), structural, "structural errors");
    let root_kind = if *root { Root::Resource } else { Root::Value };
    let default_errors = reference::default_errors(ENVIRONMENT, schema, *root);
    prop_assert_eq!(problem_set(check::check_defaults(&lowered, root_kind)), default_errors, "default errors");

    let program = Program::compile(&lowered, root_kind);
    for document in documents {
        let expected = reference::evaluate(ENVIRONMENT, schema, *root, document);
        let arena = Arena::new();
        let document = document.to_string();
        let document = wheelwright_document::decode(document.as_bytes(), &arena).expect("a document");
        let pruned = program.run(document, &arena, Stages::PRUNE).expect("pruning refuses nothing");
        assert_same(pruned.value, &expected.pruned, "pruned")?;
        let unknown: BTreeSet<String> = pruned.unknown.iter().map(ToString::to_string).collect();
        prop_assert_eq!(unknown, expected.unknown, "unknown fields");
        match program.admit(document, &arena) {
            Err(error) => prop_assert!(expected.coerce_error.is_some(), "refused without reason: {}", error),
            Ok(admitted) => {
                prop_assert_eq!(None, expected.coerce_error, "not refused");
                assert_same(admitted.value, &expected.defaulted, "defaulted")?;
                prop_assert_eq!(error_set(&admitted.errors), expected.errors, "errors of {:?}", admitted.value);
            }
        }
    }
    Ok(())
}

/// Updates of documents as they come out of defaulting.
fn agree_on_updates(case: &Case) -> Result<(), TestCaseError> {
    let lowered = lower(case.schema.to_string().as_bytes());
    if !is_convertible(&lowered) {
        return Ok(());
    }
    let program = Program::compile(&lowered, if case.root { Root::Resource } else { Root::Value });
    for (new, old) in case.updates() {
        let [new, old] =
            [new, &old].map(|document| reference::evaluate(ENVIRONMENT, &case.schema, case.root, document).defaulted);
        let expected = reference::update_errors(ENVIRONMENT, &case.schema, &new, &old);
        let (arena, texts) = (Arena::new(), [new.to_string(), old.to_string()]);
        let [new, old] =
            [0, 1].map(|at| wheelwright_document::decode(texts[at].as_bytes(), &arena).expect("a document"));
        let update = program.validate_update(new, old, &arena);
        prop_assert_eq!(error_set(&update.errors), expected, "errors of replacing {:?} by {:?}", old, new);
    }
    Ok(())
}

fn assert_same(found: Value<'_>, expected: &Json, what: &str) -> Result<(), TestCaseError> {
    let arena = Arena::new();
    let expected = expected.to_string();
    let expected = wheelwright_document::decode(expected.as_bytes(), &arena).expect("a document");
    prop_assert!(found.equivalent(expected), "{what}: found {found:?}, expected {expected:?}");
    Ok(())
}

fn error_set(errors: &[ValidationError]) -> Errors {
    errors.iter().map(|error| (error.kind().to_string(), error.kubernetes_path().to_string())).collect()
}

fn problem_set(problems: Vec<Problem>) -> Errors {
    problems.into_iter().filter_map(|problem| Some((problem.kind?.to_string(), problem.path.to_string()))).collect()
}

/// Whether a string passes a schema of one keyword.
fn accepts(keyword: &str, value: &str, text: &str) -> bool {
    thread_local! {
        static PROGRAMS: RefCell<HashMap<String, Program>> = RefCell::default();
    }
    let schema = serde_json::json!({"type": "string", keyword: value}).to_string();
    PROGRAMS.with_borrow_mut(|programs| {
        let program = programs
            .entry(schema)
            .or_insert_with_key(|schema| Program::compile(&lower(schema.as_bytes()), Root::Value));
        let arena = Arena::new();
        program.admit(Value::string(text), &arena).expect("nothing to coerce").errors.is_empty()
    })
}

fn format_accepts(format: &str, text: &str) -> Option<bool> {
    const KNOWN: [&str; 27] = [
        "bsonobjectid",
        "byte",
        "cidr",
        "creditcard",
        "date",
        "date-time",
        "duration",
        "email",
        "hexcolor",
        "hostname",
        "ipv4",
        "ipv6",
        "isbn",
        "isbn10",
        "isbn13",
        "k8s-long-name",
        "k8s-short-name",
        "mac",
        "password",
        "quantity",
        "rgbcolor",
        "ssn",
        "uri",
        "uuid",
        "uuid3",
        "uuid4",
        "uuid5",
    ];
    let same = |known: &&str| known.replace('-', "") == format.replace('-', "");
    KNOWN.iter().any(same).then(|| accepts("format", format, text))
}

fn pattern_matches(pattern: &str, text: &str) -> bool {
    accepts("pattern", pattern, text)
}

fn pattern_is_valid(pattern: &str) -> bool {
    let schema = serde_json::json!({"type": "object", "pattern": pattern}).to_string();
    check::check_structural(&lower(schema.as_bytes())).is_empty()
}

/// The interpreter would be no judge if it did not itself say what Kubernetes says.
#[test]
#[expect(clippy::print_stdout, reason = "says what was skipped")]
fn interpreter_agrees_with_recorded_cases() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let own = crates.join("wheelwright/tests/conformance/own");
    let mut files: Vec<PathBuf> =
        fs::read_dir(own).expect("our own cases").map(|entry| entry.expect("a file").path()).collect();
    let shared = env::var_os("WHEELWRIGHT_SHARED").map_or(crates.join("../../shared"), PathBuf::from);
    for name in ["schemas.jsonl", "probes.jsonl", "updates.jsonl"] {
        let file = shared.join("conformance").join(name);
        if file.exists() { files.push(file) } else { println!("interpreter: SKIPPED {name}") }
    }
    let mut cases = 0;
    for file in files {
        let text = fs::read_to_string(&file).expect("a readable file");
        for line in text.lines().filter(|line| !line.is_empty()) {
            let record: Json = serde_json::from_str(line).expect("a case");
            cases += compare_with_record(&record);
        }
    }
    println!("interpreter: {cases} recorded cases");
}

fn compare_with_record(record: &Json) -> usize {
    let id = record["id"].as_str().expect("a case has an id");
    // What the interpreter does not do: rules in CEL, integers beyond 64 bits as text, and dropping metadata.
    let cannot = id.contains("CEL") || id.contains("x-cel") || id == "integer > int64";
    if cannot || record["dropInvalidMetadata"] == true {
        return 0;
    }
    let (schema, root) = (&record["schema"], record["root"] == true);
    if record.get("structural_errors").is_some() {
        let structural = reference::structural_errors(ENVIRONMENT, schema);
        assert_eq!(structural, pairs(&record["structural_errors"]), "{id}: structural errors");
        if !has_rules(schema) {
            let defaults = reference::default_errors(ENVIRONMENT, schema, root);
            assert_eq!(defaults, pairs(&record["default_errors"]), "{id}: default errors");
        }
    }
    let cases = record["cases"].as_array().map_or(std::slice::from_ref(record), Vec::as_slice);
    for case in cases {
        compare_update(id, schema, root, case);
    }
    for case in cases.iter().filter(|case| case.get("pruned").is_some()) {
        let found = reference::evaluate(ENVIRONMENT, schema, root, &case["object"]);
        let same = |found: &Json, recorded: &Json| {
            let (arena, limits) = (Arena::new(), Decode::default());
            let texts = [found.to_string(), recorded.to_string()];
            let [found, recorded] =
                [0, 1].map(|at| limits.decode(texts[at].as_bytes(), &arena).expect("a document").value);
            assert!(found.equivalent(recorded), "{id}: found {found:?}, recorded {recorded:?}");
        };
        same(&found.pruned, &case["pruned"]);
        let unknown: BTreeSet<String> = texts(&case["unknown"]).collect();
        assert_eq!(found.unknown, unknown, "{id}: unknown fields");
        if case.get("defaulted").is_some() {
            assert_eq!(found.coerce_error, None, "{id}: refused");
            same(&found.defaulted, &case["defaulted"]);
            assert_eq!(found.errors, pairs(&case["errors"]), "{id}: errors");
        } else {
            assert!(found.coerce_error.is_some(), "{id}: not refused");
        }
    }
    cases.len()
}

/// The interpreter knows no rules; where they are not recorded apart, it cannot be compared.
fn has_rules(schema: &Json) -> bool {
    schema.to_string().contains("x-kubernetes-validations")
}

fn compare_update(id: &str, schema: &Json, root: bool, case: &Json) {
    let Some(old) = case.get("old").or(case.get("oldObject")).filter(|_| case.get("update_errors").is_some()) else {
        return;
    };
    if has_rules(schema) {
        return;
    }
    let [new, old] =
        [&case["object"], old].map(|object| reference::evaluate(ENVIRONMENT, schema, root, object).defaulted);
    let found = reference::update_errors(ENVIRONMENT, schema, &new, &old);
    assert_eq!(found, pairs(&case["update_errors"]), "{id}: update errors");
}

fn pairs(list: &Json) -> Errors {
    let pairs = list.as_array().into_iter().flatten();
    pairs
        .map(|pair| (pair[0].as_str().expect("a type").to_owned(), pair[1].as_str().expect("a path").to_owned()))
        .collect()
}

fn texts(list: &Json) -> impl Iterator<Item = String> {
    list.as_array().into_iter().flatten().filter_map(Json::as_str).map(str::to_owned)
}
