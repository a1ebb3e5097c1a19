//! The laws over the definitions of real kinds, and over a kind of our own.

use std::{env, fs, path::PathBuf};

use wheelwright_document::{Arena, Decode, Span, decode_json_spanned};
use wheelwright_evolve::{
    Declaration, DeclaredVersion, Kind, VersionName,
    laws::{Laws, Report},
    parse_changes,
};
use wheelwright_schema::{Root, lower_definition, lower_schema};

/// How many cases a kind: a sample in the ordinary run, ten thousand in the full one.
fn cases() -> usize {
    env::var("WHEELWRIGHT_LAW_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(300)
}

const V1: &str = r#"{"type":"object","properties":{
    "spec":{"type":"object","properties":{
        "qty":{"type":"integer","default":1},"city":{"type":"string"},"coupon":{"type":"string","nullable":true},
        "lines":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["sku"],
            "items":{"type":"object","required":["sku"],"properties":{"sku":{"type":"string"},"gift":{"type":"boolean"}}}},
        "notes":{"type":"array","items":{"type":"object","properties":{"by":{"type":"string"},"text":{"type":"string"}}}},
        "source":{"type":"object","properties":{"web":{"type":"string"},"shop":{"type":"string"},"phone":{"type":"string"}},
            "oneOf":[{"required":["web"]},{"required":["shop"]},{"required":["phone"]}]},
        "extra":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
        "rates":{"type":"object","additionalProperties":{"type":"object","properties":{"rate":{"type":"number"}}}}}},
    "status":{"type":"object","properties":{"phase":{"type":"string"}}}}}"#;
const V2: &str = r#"{"type":"object","properties":{
    "spec":{"type":"object","properties":{
        "quantity":{"type":"integer","default":2},"delivery":{"type":"object","properties":{
            "city":{"type":"string"},"express":{"type":"boolean","default":false}}},
        "lines":{"type":"array","items":{"type":"object","properties":{"article":{"type":"string"},
            "price":{"type":"object","properties":{"amount":{"type":"number"}}}}}},
        "notes":{"type":"array","items":{"type":"object","properties":{"text":{"type":"string"}}}},
        "source":{"type":"object","properties":{"web":{"type":"string"},"shop":{"type":"string"}},
            "oneOf":[{"required":["web"]},{"required":["shop"]}]},
        "extra":{"type":"object","properties":{"level":{"type":"integer","default":3}}},
        "rates":{"type":"object","additionalProperties":{"type":"object","nullable":true,"properties":{
            "percent":{"type":"number"}}}}}},
    "status":{"type":"object","properties":{"phase":{"type":"string"},"since":{"type":"string"}}}}}"#;
const CHANGES: &str = r#"{"v2":{"renamed":{"spec.qty":"spec.quantity","spec.city":"spec.delivery.city",
    "spec.lines[].sku":"spec.lines[].article"},"removed":["spec.coupon","spec.lines[].gift","spec.notes[].by",
    "spec.source.phone","spec.rates{}.rate"]}}"#;

#[test]
fn every_law_holds_for_a_kind_with_everything_in_it() {
    let arena = Arena::new();
    let read = |text: &'static str| decode_json_spanned(text.as_bytes(), &arena, &Decode::default()).unwrap();
    let mut own = Declaration::new("shop.example.com", "Order");
    for (name, text) in [("v1", V1), ("v2", V2), ("v3", V1)] {
        let schema = lower_schema(&read(text)).item;
        own.versions.push(DeclaredVersion::new(VersionName::new(name), schema, Root::Resource, Span::default()));
    }
    let (steps, problems) = parse_changes(&read(CHANGES));
    assert!(problems.is_empty(), "{problems:?}");
    own.steps = steps;
    let (kind, problems) = Kind::compile(&own, None);
    assert!(problems.is_empty(), "{problems:?}");
    let report = Laws { cases: 2 * cases(), seed: 2 }.run(&kind.unwrap(), &own, &mut |_| {});
    assert!(report.is_success(), "{}", told(&report));
    assert!(report.covered.unions.applies && report.covered.reorders.applies && report.covered.bags.applies);
    assert!(report.laws.iter().all(|law| law.held > 0), "every law was held against something");
}

#[test]
fn every_law_holds_for_every_real_kind_with_several_versions() {
    let Some(folder) = shared().map(|shared| shared.join("conformance/crds")).filter(|folder| folder.exists()) else {
        return;
    };
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let only = env::var("WHEELWRIGHT_LAW_KIND").unwrap_or_default();
    let mut failures = Vec::new();
    let mut kinds = 0;
    for file in files.iter().filter(|file| file.to_string_lossy().contains(&only)) {
        let declaration = declaration(&fs::read(file).unwrap());
        if declaration.versions.len() < 2 {
            continue;
        }
        kinds += 1;
        let (kind, problems) = Kind::compile(&declaration, None);
        assert!(problems.is_empty(), "{problems:?}");
        let report = Laws { cases: cases(), seed: 1 }.run(&kind.unwrap(), &declaration, &mut |_| {});
        if !report.is_success() {
            failures.push(told(&report));
        }
    }
    assert!(failures.is_empty(), "{} of {kinds} kinds:\n{}", failures.len(), failures.join("\n"));
    assert!(kinds > 0 || !only.is_empty());
}

fn told(report: &Report) -> String {
    let mut text = format!("{} {:?}: {:?}\n", report.kind, report.versions, report.covered);
    for law in report.laws.iter().filter(|law| law.broken > 0) {
        let example = law.example.as_ref().map(|example| example.explain(law.law)).unwrap_or_default();
        text.push_str(&format!("  broken {} of {} times\n  {example}", law.broken, law.broken + law.held));
    }
    text
}

fn declaration(bytes: &[u8]) -> Declaration {
    let arena = Arena::new();
    let document = decode_json_spanned(bytes, &arena, &Decode { max_bytes: 16 << 20, ..Decode::default() });
    let document = document.expect("definitions are JSON");
    let definition = lower_definition(&document).expect("definitions are of v1").item;
    let mut declaration = Declaration::new(definition.group.text, definition.kind.text);
    for version in definition.versions {
        let Some(schema) = version.schema else { continue };
        let name = VersionName::new(version.name.text);
        declaration.versions.push(DeclaredVersion::new(name, schema, Root::Resource, Span::default()));
    }
    declaration
}

fn shared() -> Option<PathBuf> {
    let named = env::var_os("WHEELWRIGHT_SHARED").map(PathBuf::from);
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    named.or_else(|| beside.exists().then_some(beside))
}
