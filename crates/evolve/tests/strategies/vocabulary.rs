//! Changes that real APIs made: documents in texts, numbers that the other version cannot hold.

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

/// Cluster API's timeouts: durations in v1beta1, seconds of 32 bits in v1beta2.
#[test]
fn clamped_duration() {
    let evolution = Evolution::new(
        "timeout: {type: string}",
        "timeoutSeconds: {type: integer, format: int32, minimum: 0}",
        "converted: {spec.timeout: {to: spec.timeoutSeconds, with: durationSeconds, clamped: true}}",
    );
    evolution.is_both_ways(&[("{timeout: 5m0s}", "{timeoutSeconds: 300}"), ("{}", "{}")]);
    evolution.shows(Through::V1, "{timeout: 876000h}", "{timeoutSeconds: 2147483647}");
    evolution.shows(Through::V1, "{timeout: -1s}", "{timeoutSeconds: 0}");
    evolution.edited(Through::V1, "{timeout: 876000h}", "{timeoutSeconds: 2147483646}", "{timeout: 596523h14m6s}");
    // What is no duration has no nearest number.
    evolution.shows(Through::V1, "{timeout: soon}", "{}");
}

#[test]
fn clamped_alone() {
    let evolution = Evolution::new(
        "replicas: {type: integer, format: int64}, share: {type: number}",
        "replicas: {type: integer, format: int32, minimum: 1}, share: {type: number, minimum: 0, maximum: 1}",
        "converted: {spec.replicas: {with: clamped}, spec.share: {with: clamped}}",
    );
    evolution.is_both_ways(&[("{replicas: 3, share: 0.5}", "{replicas: 3, share: 0.5}")]);
    evolution.shows(Through::V1, "{replicas: 3000000000, share: -0.5}", "{replicas: 2147483647, share: 0}");
    // One of them is changed: the other keeps its original.
    evolution.edited(
        Through::V1,
        "{replicas: 3000000000, share: -0.5}",
        "{replicas: 2147483647, share: 1}",
        "{replicas: 3000000000, share: 1}",
    );
}
