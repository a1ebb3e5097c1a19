//! Changes that real APIs made: documents in texts.

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
