//! What a file allows, where it may say so, and how far that reaches.

#![expect(clippy::unwrap_used, reason = "a test that meets a surprise should stop right there")]

use proptest::prelude::*;
use wheelwright_document::{
    Arena, Decode, FieldPath, Span, Spanned, SpannedNode, decode_json_spanned, decode_yaml, yaml_comments,
};
use wheelwright_findings::{Allowances, Date, Finding, Findings, Holds, Level, Place, rules, suppress};

/// The day of every test.
const TODAY: &str = "2026-12-31";

/// A finding of WW005 for every value `{}`, suppressed as the text says; what is left is told by lines.
fn told(text: &str) -> Vec<String> {
    let arena = Arena::new();
    let documents = decode_yaml(text.as_bytes(), &arena, &Decode::default()).unwrap();
    let allowances = Allowances::read("a.yaml", &yaml_comments(text), &documents, Holds::Schemas);
    settle(&documents, allowances)
}

fn told_of_json(text: &str) -> Vec<String> {
    let arena = Arena::new();
    let document = decode_json_spanned(text.as_bytes(), &arena, &Decode::default()).unwrap();
    let allowances = Allowances::read("a.yaml", &[], &[document], Holds::Schemas);
    settle(&[document], allowances)
}

fn settle(documents: &[Spanned<'_>], allowances: Allowances) -> Vec<String> {
    let mut spans = Vec::new();
    documents.iter().for_each(|document| empty_objects(document, &mut spans));
    let found = |span| {
        Finding::new(&rules::TYPE_REQUIRED, "type is required", FieldPath::root()).at(Place::new("a.yaml", span))
    };
    let mut findings = Findings::from_iter(spans.into_iter().map(found));
    suppress(&mut findings, &[allowances], Date::parse(TODAY), |rule| rule.id < "WW100");
    let tell = |finding: &Finding| {
        let line = finding.place.as_ref().unwrap().span.line;
        match &finding.suppressed {
            Some(suppression) => format!("{line}: let pass: {}", suppression.reason),
            None => format!("{line}: {}", finding.rule.id),
        }
    };
    findings.sorted().into_iter().map(tell).collect()
}

fn empty_objects(value: &Spanned<'_>, spans: &mut Vec<Span>) {
    match value.node {
        SpannedNode::Object([]) => spans.push(value.span),
        SpannedNode::Object(entries) => entries.iter().for_each(|entry| empty_objects(&entry.value, spans)),
        SpannedNode::Array(items) => items.iter().for_each(|item| empty_objects(item, spans)),
        SpannedNode::Scalar(_) => {}
    }
}

#[test]
fn a_comment_alone_reaches_what_follows_it_and_no_further() {
    let text = "\
# wheelwright: allow WW005 -- all of a
a:
  x: {}
  y: [{}, {}]
b: {}
c:
  # wheelwright: allow WW005 -- only x

  # another comment
  x: {}
  y: {}
";
    let all = "let pass: all of a";
    assert_eq!(
        told(text),
        [
            &format!("3: {all}"),
            &format!("4: {all}"),
            &format!("4: {all}"),
            "5: WW005",
            "10: let pass: only x",
            "11: WW005"
        ]
    );
}

#[test]
fn a_comment_at_an_item_reaches_the_item() {
    let text = "\
- a: {}
# wheelwright: allow WW005 -- one item
- a: {}
  b: {}
- a: {}   # wheelwright: allow WW005 -- one entry
  b: {}
- {}   # wheelwright: allow WW005 -- itself
";
    let one = "let pass: one item";
    assert_eq!(
        told(text),
        [
            "1: WW005",
            &format!("3: {one}"),
            &format!("4: {one}"),
            "5: let pass: one entry",
            "6: WW005",
            "7: let pass: itself"
        ]
    );
}

#[test]
fn a_comment_behind_a_name_reaches_its_value() {
    let text = "a:   # wheelwright: allow type-required -- below\n  b: {}\nc: {}\nd:\n  {} # wheelwright: allow WW005 -- here\n";
    assert_eq!(told(text), ["2: let pass: below", "3: WW005", "5: let pass: here"]);
}

#[test]
fn the_innermost_allowance_counts() {
    let text = "\
# wheelwright: allow-file WW005 -- everywhere
a: {}
# wheelwright: allow WW005 -- b
b:
  # wheelwright: allow WW005 -- c
  c: {}
  d: {}
---
e: {}
";
    assert_eq!(told(text), ["2: let pass: everywhere", "6: let pass: c", "7: let pass: b", "9: let pass: everywhere"]);
}

#[test]
fn an_expired_allowance_lets_nothing_pass() {
    let text = "# wheelwright: allow WW005 until 2026-12-30 -- over\na: {}\n# wheelwright: allow WW005 until 2026-12-31 -- last day\nb: {}\n";
    assert_eq!(told(text), ["1: WW061", "2: WW005", "4: let pass: last day"]);
}

#[test]
fn needless_and_malformed_allowances_are_found() {
    let text = "# wheelwright: allow WW005, WW006 -- half\na: {}\n# wheelwright: allow WW005\nb: {}\n# wheelwright: allow WW101 -- for another command\nc: 1\n# wheelwright: allow WW005 -- at the end\n";
    assert_eq!(told(text), ["1: WW062", "2: let pass: half", "3: WW060", "4: WW005", "7: WW062"]);
    assert_eq!(told("a: '# wheelwright: allow WW005 -- a text'\nb: |\n  # wheelwright: allow\nc: {}\n"), ["4: WW005"]);
}

#[test]
fn json_has_a_keyword_and_an_annotation() {
    let keyword = r#"{"properties": {
        "a": {"x-wheelwright-allow": "WW005 -- below a", "properties": {"b": {}}},
        "c": {},
        "x-wheelwright-allow": {},
        "d": {"x-wheelwright-allow": ["WW005 -- one", "WW006 until 2020-01-01 -- two"], "items": {}},
        "e": {"x-wheelwright-allow": 7, "default": {"x-wheelwright-allow": 7}}
    }}"#;
    let expected = ["2: let pass: below a", "3: WW005", "4: WW005", "5: WW061", "5: let pass: one", "6: WW060"];
    assert_eq!(told_of_json(keyword), expected);
    let annotation = r#"{"kind": "List", "items": [
        {"metadata": {"annotations": {"wheelwright-allow": "WW005 -- all\nWW006 -- none"}}, "a": {}},
        {"a": {}}
    ]}"#;
    assert_eq!(told_of_json(annotation), ["2: WW062", "2: let pass: all", "3: WW005"]);
}

#[test]
fn documents_have_no_keywords() {
    let text = br#"{"x-wheelwright-allow": 7}"#;
    let arena = Arena::new();
    let document = decode_json_spanned(text, &arena, &Decode::default()).unwrap();
    assert!(Allowances::read("a.json", &[], &[document], Holds::Documents).is_empty());
    assert!(!Allowances::read("a.json", &[], &[document], Holds::Schemas).is_empty());
}

#[test]
fn what_is_let_pass_does_not_fail() {
    let text = "# wheelwright: allow WW005 -- x\na: {}\n";
    let arena = Arena::new();
    let documents = decode_yaml(text.as_bytes(), &arena, &Decode::default()).unwrap();
    let allowances = [Allowances::read("a.yaml", &yaml_comments(text), &documents, Holds::Schemas)];
    let place = |file| Place::new(file, documents[0].get("a").unwrap().span);
    let finding = |file| Finding::new(&rules::TYPE_REQUIRED, "x", FieldPath::root()).at(place(file));
    let mut findings = Findings::from_iter([finding("a.yaml")]);
    suppress(&mut findings, &allowances, None, |_| true);
    assert!(findings.is_clean() && findings.count(Level::Error) == 0 && findings.iter().count() == 1);
    let mut elsewhere = Findings::from_iter([finding("b.yaml")]);
    suppress(&mut elsewhere, &allowances, None, |_| true);
    assert!(!elsewhere.is_clean());
}

#[test]
fn many_allowances_and_findings_take_no_long_time() {
    let text = "# wheelwright: allow WW005 -- x\n- a: {}\n".repeat(50_000);
    let told = told(&format!("# wheelwright: allow-file WW005 -- all\n{text}"));
    assert_eq!(told.iter().filter(|line| line.ends_with("let pass: x")).count(), 50_000);
    assert_eq!(told.len(), 50_001);
}

proptest! {
    #[test]
    fn only_what_is_named_is_let_pass(
        lines in prop::collection::vec("(  )?([a-d]:|- )( \\{\\}| [a-z]| )?( # wheelwright: allow(-file)? WW00[56]( until 20(20|99)-01-01)?( -- x)?)?", 0..12),
    ) {
        let text = lines.join("\n");
        let arena = Arena::new();
        if let Ok(documents) = decode_yaml(text.as_bytes(), &arena, &Decode::default()) {
            let allowances = Allowances::read("a.yaml", &yaml_comments(&text), &documents, Holds::Schemas);
            let told = settle(&documents, allowances);
            let may_pass = |line: &str| line.contains("WW005") && line.ends_with(" -- x") && !line.contains("2020");
            if told.iter().any(|line| line.contains("let pass")) {
                prop_assert!(lines.iter().any(|line| may_pass(line)), "{text}");
            }
        }
    }
}
