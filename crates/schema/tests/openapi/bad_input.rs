//! OpenAPI from outside: bombs, depth, size and nonsense end with findings, and in time and memory that are linear.

use std::time::{Duration, Instant};

use wheelwright_document::{Arena, Decode, decode_json_spanned};
use wheelwright_schema::{NoTree, Program, Root, Specification};

use crate::support::{accepts, findings, with};

/// Far more than anything here takes without optimisation, and far less than what grows with the square would.
const SOON: Duration = Duration::from_secs(60);

/// Checks a document, and lowers and compiles every definition; gives the ids of what was found.
fn load(text: &str) -> Vec<&'static str> {
    let (arena, started) = (Arena::new(), Instant::now());
    let limits = Decode { max_bytes: usize::MAX, ..Decode::default() };
    let document = decode_json_spanned(text.as_bytes(), &arena, &limits).expect("JSON");
    let mut specification = Specification::open("a.json", &document, &NoTree, &arena).expect("a specification");
    let (_, problems) = specification.check();
    let mut ids: Vec<_> = problems.iter().map(|problem| problem.rule.id).collect();
    for name in specification.definitions().take(1).collect::<Vec<_>>() {
        let lowered = specification.lower(name).expect("the definition is there");
        ids.extend(lowered.problems.iter().map(|problem| problem.rule.id));
        Program::compile(&lowered.item, Root::Value);
    }
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
    ids.sort_unstable();
    ids.dedup();
    ids
}

fn definitions(count: usize, definition: impl Fn(usize) -> String) -> String {
    let all: Vec<String> = (0..count).map(|number| format!("\"d{number}\": {}", definition(number))).collect();
    format!("{{\"$defs\": {{{}}}}}", all.join(",\n"))
}

fn reference(number: usize) -> String {
    format!("{{\"$ref\": \"#/$defs/d{number}\"}}")
}

#[test]
fn bombs_of_references_are_defused() {
    for wrap in [
        |one: String| format!("{{\"properties\": {{\"a\": {one}, \"b\": {one}}}}}"),
        |one: String| format!("{{\"allOf\": [{one}, {one}]}}"),
        |one: String| format!("{{\"anyOf\": [{one}, {one}]}}"),
        |one: String| format!("{{\"items\": {one}, \"not\": {one}}}"),
    ] {
        let bomb = definitions(40, |number| match number {
            39 => "{\"type\": \"string\"}".to_owned(),
            number => wrap(reference(number + 1)),
        });
        assert_eq!(load(&bomb), ["WW045"]);
    }
}

#[test]
fn long_chains_of_references_are_cut() {
    let chain = |wrap: fn(String) -> String| {
        definitions(5000, |number| match number {
            4999 => "{\"type\": \"string\"}".to_owned(),
            number => wrap(reference(number + 1)),
        })
    };
    assert_eq!(load(&chain(|one| one)), ["WW045"]);
    assert_eq!(load(&chain(|one| format!("{{\"items\": {one}}}"))), ["WW045"]);
    assert_eq!(load(&chain(|one| format!("{{\"allOf\": [{one}]}}"))), ["WW045"]);
}

#[test]
fn deep_nesting_ends_with_a_finding() {
    for (open, close) in
        [("{\"items\": ", "}"), ("{\"not\": ", "}"), ("{\"allOf\": [", "]}"), ("{\"properties\": {\"a\": ", "}}")]
    {
        let levels = if close.len() > 1 { 250 } else { 500 };
        let text = format!("{{\"$defs\": {{\"a\": {}{{}}{}}}}}", open.repeat(levels), close.repeat(levels));
        assert_eq!(load(&text), ["WW045"], "{open}");
    }
}

#[test]
fn large_documents_load_in_linear_time() {
    let fields: Vec<String> = (0..40)
        .map(|field| format!("\"f{field}\": {{\"type\": \"string\", \"description\": \"some text\"}}"))
        .collect();
    let text = definitions(5000, |number| {
        let next = if number + 1 < 5000 && number % 50 != 49 { number + 1 } else { 4999 };
        let all_of = if number == 4999 { String::new() } else { format!("\"allOf\": [{}],", reference(4999)) };
        let next = if number == 4999 { "{}".to_owned() } else { reference(next) };
        format!("{{{all_of} \"type\": \"object\", \"properties\": {{\"next\": {next}, {}}}}}", fields.join(", "))
    });
    assert!(text.len() > 10 << 20, "{}", text.len());
    assert!(load(&text).is_empty());
}

#[test]
fn many_parts_and_many_references_to_one_file_take_linear_time() {
    let parts: Vec<String> = (0..50_000).map(|part| format!("{{\"properties\": {{\"p{part}\": {{}}}}}}")).collect();
    assert!(load(&format!("{{\"$defs\": {{\"a\": {{\"allOf\": [{}]}}}}}}", parts.join(","))).is_empty());
    let fields: Vec<String> = (0..50_000).map(|field| format!("\"f{field}\": {}", reference(field))).collect();
    let targets: Vec<String> = (0..50_000).map(|field| format!("\"d{field}\": {{\"type\": \"string\"}}")).collect();
    let text = format!("{{\"$defs\": {{\"a\": {{\"properties\": {{{}}}}}, {}}}}}", fields.join(","), targets.join(","));
    assert!(load(&text).is_empty());
}

#[test]
fn definitions_that_include_each_other_again_and_again_are_not_all_looked_at() {
    let text = definitions(4500, |number| match number % 150 {
        0 => "{\"type\": \"string\"}".to_owned(),
        _ => format!("{{\"allOf\": [{}]}}", reference(number - 1)),
    });
    assert_eq!(load(&text), ["WW045"]);
}

#[test]
fn every_keyword_of_every_wrong_type_is_a_finding_at_most() {
    let keywords = [
        "$ref",
        "$id",
        "type",
        "properties",
        "items",
        "additionalProperties",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "enum",
        "const",
        "default",
        "format",
        "pattern",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "uniqueItems",
        "minProperties",
        "maxProperties",
        "required",
        "nullable",
        "x-nullable",
        "readOnly",
        "writeOnly",
        "discriminator",
        "x-ms-enum",
        "x-ms-mutability",
        "x-ms-identifiers",
        "x-ms-secret",
        "x-ms-discriminator-value",
        "x-kubernetes-list-type",
        "title",
        "description",
        "x-kubernetes-validations",
        "patternProperties",
        "prefixItems",
        "if",
        "dependentRequired",
        "$dynamicRef",
    ];
    let values = [
        "null",
        "true",
        "-1.5",
        "1e999",
        "\"x\"",
        "\"\"",
        "[]",
        "[[]]",
        "{}",
        "{\"a\": 1}",
        "[1, null, {}]",
        "{\"\": {}}",
    ];
    for head in [
        "\"swagger\": \"2.0\"",
        "\"openapi\": \"3.0.1\"",
        "\"openapi\": \"3.1.0\"",
        "\"$schema\": \"json-schema.org/\"",
    ] {
        for keyword in keywords {
            for value in values {
                let schema = format!("{{\"{keyword}\": {value}, \"type\": \"object\"}}")
                    .replace("\"type\": {}, \"type\"", "\"type\"");
                if keyword == "type" {
                    continue;
                }
                let text = format!(
                    "{{{head}, \"definitions\": {{\"A\": {schema}}}, \"components\": {{\"schemas\": {{\"A\": {schema}}}}}}}"
                );
                with(&[("a.json", &text)], |specification| {
                    let (_, problems) = specification.check();
                    assert!(problems.iter().all(|problem| problem.span.line == 1 && !problem.message.is_empty()));
                    let lowered = specification.lower("A").expect("the definition is there");
                    Program::compile(&lowered.item, Root::Value);
                });
            }
        }
    }
}

#[test]
fn wrong_types_above_the_definitions_are_no_definitions() {
    for text in
        ["swagger: '2.0'\ndefinitions: 5\n", "openapi: 3.0.0\ncomponents: [1]\n", "swagger: '2.0'\npaths: {a: [b]}\n"]
    {
        assert!(findings(&[("a.yaml", text)]).is_empty());
    }
    let text = "swagger: '2.0'\ndefinitions: {A: 5}\n";
    assert_eq!(findings(&[("a.yaml", text)]), ["WW002 a.yaml:2:18"]);
    with(&[("a.yaml", text)], |specification| {
        assert!(accepts(&specification.lower("A").expect("it is there").item, r#"{"kept": 1}"#));
    });
}
