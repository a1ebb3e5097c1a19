//! Changes that real APIs made: documents in texts, shorthands that were folded away, and narrower numbers.

use crate::evolution::{Evolution, Through};

/// OpenTelemetry's `config`: a text in v1alpha1, an object in v1beta1.
#[test]
fn text_to_document() {
    let evolution = Evolution::new(
        "config: {type: string}",
        "config: {type: object, properties: {receivers: {type: object, x-kubernetes-preserve-unknown-fields: true}, \
            service: {type: object, properties: {level: {type: string}}}}}",
        "converted: {spec.config: {with: {document: yaml}}}",
    );
    evolution.is_both_ways(&[
        (r#"{config: "receivers:\n  otlp: null\n"}"#, "{config: {receivers: {otlp: null}}}"),
        (r#"{config: "service:\n  level: debug\n"}"#, "{config: {service: {level: debug}}}"),
        ("{config: \"{}\\n\"}", "{config: {}}"),
        ("{}", "{}"),
    ]);
    // Comments and anchors.
    let written = r#"{config: "receivers: # all\n  a: &a {port: 1}\n  b: *a\n"}"#;
    evolution.shows(Through::V1, written, "{config: {receivers: {a: {port: 1}, b: {port: 1}}}}");
    // What the object cannot express stays in the text.
    let unknown = r#"{config: "service: {level: info}\nextra: 1\n"}"#;
    evolution.shows(Through::V1, unknown, "{config: {service: {level: info}}}");
    evolution.edited(
        Through::V1,
        unknown,
        "{config: {service: {level: debug}}}",
        r#"{config: "extra: 1\nservice:\n  level: debug\n"}"#,
    );
    // Texts that are no documents.
    for text in [r#""""#, r#""a: [""#, r#""a: 1\n---\nb: 1""#, "word", r#""a: 1\na: 2""#] {
        evolution.shows(Through::V1, &format!("{{config: {text}}}"), "{}");
    }
}

#[test]
fn document_to_text() {
    let evolution = Evolution::new(
        "rules: {type: array, items: {type: integer}}",
        "rules: {type: string}",
        "converted: {spec.rules: {with: {document: json}}}",
    );
    evolution.is_both_ways(&[("{rules: [1, 2]}", r#"{rules: "[1,2]"}"#), ("{rules: []}", r#"{rules: "[]"}"#)]);
    evolution.shows(Through::V2, r#"{rules: "[ 1 ]"}"#, "{rules: [1]}");
    evolution.shows(Through::V2, r#"{rules: "[\"a\"]"}"#, "{}");
}

/// kueue's `admissionChecks`, a shorthand for `admissionChecksStrategy` that v1beta2 no longer has.
#[test]
fn a_shorthand_is_folded_into_the_field_that_it_is_short_for() {
    let strategy = "admissionChecksStrategy: {type: object, properties: {admissionChecks: {type: array, \
        x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, required: [name], \
        properties: {name: {type: string}, onFlavors: {type: array, items: {type: string}}}}}}}";
    let docs = include_str!("../../../../docs/changes.md");
    let recipe = docs.split("# changes/clusterqueues.yaml\nv1beta2:\n").nth(1).unwrap().split("```").next().unwrap();
    let evolution = Evolution::new(
        &format!("admissionChecks: {{type: array, items: {{type: string}}}}, {strategy}"),
        strategy,
        recipe,
    );
    let strategy = "{admissionChecksStrategy: {admissionChecks: [{name: a, onFlavors: [x]}, {name: b}]}}";
    evolution.is_both_ways(&[(strategy, strategy), ("{}", "{}")]);
    evolution.shows(
        Through::V1,
        "{admissionChecks: [a, b]}",
        "{admissionChecksStrategy: {admissionChecks: [{name: a}, {name: b}]}}",
    );
    evolution.edited(Through::V1, "{admissionChecks: [a]}", strategy, strategy);
}

/// Cluster API's seconds, which have 32 bits.
#[test]
fn a_number_is_clamped_to_what_the_other_version_can_hold() {
    let docs = include_str!("../../../../docs/changes.md");
    let recipe = docs.split("# changes/machines.yaml\nv1beta2:\n").nth(1).unwrap().split("```").next().unwrap();
    let evolution = Evolution::new(
        "nodeDrainTimeout: {type: string, format: duration}, replicas: {type: integer, format: int64}",
        "nodeDrainTimeoutSeconds: {type: integer, format: int32}, replicas: {type: integer, format: int32}",
        recipe,
    );
    evolution.is_both_ways(&[
        ("{nodeDrainTimeout: 1m30s}", "{nodeDrainTimeoutSeconds: 90}"),
        ("{replicas: 3}", "{replicas: 3}"),
    ]);
    evolution.shows(Through::V1, "{nodeDrainTimeout: 1000000h}", "{nodeDrainTimeoutSeconds: 2147483647}");
    evolution.shows(Through::V1, "{replicas: 3000000000}", "{replicas: 2147483647}");
    evolution.edited(Through::V1, "{replicas: 3000000000}", "{replicas: 5}", "{replicas: 5}");
}
