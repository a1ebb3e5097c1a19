//! Comments in YAML and what they allow: they are never part of a document, and nothing else is let pass.

use wheelwright_document::{Arena, Decode, FieldPath, Spanned, SpannedNode, decode_yaml, encode, yaml_comments};
use wheelwright_findings::{Allowances, Finding, Findings, Holds, Place, rules, suppress};

use crate::yaml::check_place;

/// Changes what the comments of a text say, and lets a finding at every value pass if they allow it.
pub fn comments(input: &[u8]) {
    let arena = Arena::new();
    let Ok(documents) = decode_yaml(input, &arena, &Decode::default()) else { return };
    let text = std::str::from_utf8(input).expect("only UTF-8 is decoded");
    let comments = yaml_comments(text);
    let mut changed = text.to_owned();
    for comment in comments.iter().rev() {
        check_place(text, comment.span);
        changed.replace_range(comment.span.start as usize + 1..comment.span.end as usize, "other");
    }
    let other = Arena::new();
    let again = decode_yaml(changed.as_bytes(), &other, &Decode::default()).expect("comments change nothing");
    let written = |documents: &[Spanned<'_>], arena: &Arena| -> Vec<Vec<u8>> {
        documents.iter().map(|document| encode(document.to_value(arena))).collect()
    };
    assert_eq!(written(&documents, &arena), written(&again, &other));

    let allowances = Allowances::read("a.yaml", &comments, &documents, Holds::Schemas);
    let mut findings = Findings::new();
    documents.iter().for_each(|document| find(document, &mut findings));
    let found = findings.iter().count();
    suppress(&mut findings, &[allowances], None, |_| true);
    assert!(findings.iter().count() >= found);
    let says_so = text.contains("wheelwright") && text.contains("--");
    assert!(says_so || findings.iter().all(|finding| finding.suppressed.is_none()));
}

fn find(value: &Spanned<'_>, findings: &mut Findings) {
    let place = Place::new("a.yaml", value.span);
    findings.push(Finding::new(&rules::TYPE_REQUIRED, "type is required", FieldPath::root()).at(place));
    match value.node {
        SpannedNode::Scalar(_) => {}
        SpannedNode::Array(items) => items.iter().for_each(|item| find(item, findings)),
        SpannedNode::Object(entries) => entries.iter().for_each(|entry| find(&entry.value, findings)),
    }
}
