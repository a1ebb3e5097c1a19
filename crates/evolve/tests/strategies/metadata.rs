//! Strategies that keep fields in annotations and labels.

use wheelwright_evolve::CARRY_PREFIX;

use crate::evolution::{Evolution, Through};

#[test]
fn to_annotation() {
    // A field that a version cannot say survives there with no declaration. Under an API server it rides on the document in an
    // annotation, of any type.
    let evolution = Evolution::new(
        "description: {type: string}, sizes: {type: array, items: {type: integer}}",
        "",
        "removed: [spec.description, spec.sizes]",
    );
    evolution.shows(Through::V1, "{description: made by v1, sizes: [1, 2]}", "{}");
    let served = evolution.served(Through::V1, "{description: made by v1}");
    assert!(served.contains(CARRY_PREFIX) && served.contains("made by v1"), "{served}");
    assert!(!evolution.served(Through::V1, "{}").contains(CARRY_PREFIX));
}

#[test]
fn to_label() {
    // The same for what is no value of a label.
    let evolution = Evolution::new("tier: {type: string}", "", "removed: [spec.tier]");
    evolution.shows(Through::V1, "{tier: gold}", "{}");
    evolution.shows(Through::V1, "{tier: \"not a label: ü\"}", "{}");
}

#[test]
fn from_annotation() {
    let mut evolution = Evolution::new(
        "",
        "operatorNote: {type: string}",
        "derived:\n    up:\n      spec.operatorNote: \"metadata.?annotations[?'example.org/note']\"",
    );
    evolution.shows(Through::V1, "{}", "{}");
    evolution.metadata = "{name: x, annotations: {example.org/note: checked, other: x}}";
    evolution.shows(Through::V1, "{}", "{operatorNote: checked}");
    // What a client wrote wins, and survives where the version cannot say it.
    evolution.shows(Through::V2, "{operatorNote: mine}", "{}");
    evolution.shows(Through::V2, "{}", "{}");
}

#[test]
fn from_label() {
    let mut evolution = Evolution::new(
        "",
        "operatorTier: {type: string}",
        "derived: {up: {spec.operatorTier: \"metadata.labels['operator-tier']\"}}",
    );
    evolution.metadata = "{name: x, labels: {operator-tier: gold}}";
    evolution.shows(Through::V1, "{}", "{operatorTier: gold}");
    evolution.shows(Through::V2, "{operatorTier: silver}", "{}");
    evolution.metadata = "{name: x, labels: {}}";
    evolution.shows(Through::V1, "{}", "{}");
}
