//! Changes that real APIs made: documents in texts, numbers that the other version cannot hold, shorthands of richer fields.

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

const CHECKS: &str = "{type: array, items: {type: object, required: [name], properties: {name: {type: string}, \
    onFlavors: {type: array, items: {type: string}}}}}";

/// kueue's `admissionChecks`, which v1beta1 has beside the richer `admissionChecksStrategy`.
#[test]
fn list_shorthand() {
    let strategy = format!("strategy: {{type: object, properties: {{checks: {CHECKS}}}}}");
    let evolution = Evolution::new(
        &format!("checks: {{type: array, items: {{type: string}}}}, {strategy}"),
        &strategy,
        "reshaped: [{from: [spec.checks, spec.strategy.checks], to: spec.strategy.checks, folded: name}]",
    );
    evolution.is_both_ways(&[
        ("{strategy: {checks: [{name: a, onFlavors: [x]}]}}", "{strategy: {checks: [{name: a, onFlavors: [x]}]}}"),
        ("{strategy: {checks: []}}", "{strategy: {checks: []}}"),
        ("{}", "{}"),
    ]);
    evolution.shows(Through::V1, "{checks: [a, b]}", "{strategy: {checks: [{name: a}, {name: b}]}}");
    evolution.shows(Through::V1, "{checks: []}", "{strategy: {checks: []}}");
    // What both of them say is there once, and the richer one counts.
    evolution.shows(
        Through::V1,
        "{checks: [a, b, b], strategy: {checks: [{name: b, onFlavors: [x]}]}}",
        "{strategy: {checks: [{name: b, onFlavors: [x]}, {name: a}]}}",
    );
    // Clients of the older version see edits in the richer field.
    evolution.edited(
        Through::V1,
        "{checks: [a, b]}",
        "{strategy: {checks: [{name: a, onFlavors: [x]}, {name: b}]}}",
        "{strategy: {checks: [{name: a, onFlavors: [x]}, {name: b}]}}",
    );
    evolution.edited(Through::V1, "{checks: [a, b]}", "{}", "{}");
    evolution.edited(
        Through::V2,
        "{strategy: {checks: [{name: a}]}}",
        "{checks: [b]}",
        "{strategy: {checks: [{name: b}]}}",
    );
}

/// What the richer field hides from the version with the shorthand survives edits of that.
#[test]
fn list_shorthand_with_hidden_fields() {
    let checks =
        "checks: {type: array, items: {type: object, properties: {name: {type: string}, order: {type: integer}}}}";
    let evolution = Evolution::new(
        "names: {type: array, items: {type: string}}, checks: {type: array, items: {type: object, properties: \
            {name: {type: string}, note: {type: string}}}}",
        checks,
        "reshaped: [{from: [spec.names, spec.checks], to: spec.checks, folded: name}]",
    );
    evolution.edited(
        Through::V2,
        "{checks: [{name: a, order: 1}, {name: b, order: 2}]}",
        "{names: [c], checks: [{name: b, note: n}, {name: a}]}",
        "{checks: [{name: b, order: 2}, {name: a, order: 1}, {name: c}]}",
    );
    evolution.edited(
        Through::V1,
        "{names: [c], checks: [{name: a, note: n}]}",
        "{checks: [{name: a, order: 1}, {name: c}]}",
        "{checks: [{name: a, note: n}, {name: c}]}",
    );
}

/// A name beside a reference that has it, too.
#[test]
fn scalar_shorthand() {
    let class = "classRef: {type: object, properties: {name: {type: string}, group: {type: string}}}";
    let evolution = Evolution::new(
        &format!("className: {{type: string}}, {class}"),
        class,
        "reshaped: [{from: [spec.className, spec.classRef.name], to: spec.classRef.name, folded: true}]",
    );
    evolution.is_both_ways(&[("{classRef: {name: a, group: g}}", "{classRef: {name: a, group: g}}"), ("{}", "{}")]);
    evolution.shows(Through::V1, "{className: a}", "{classRef: {name: a}}");
    evolution.shows(Through::V1, "{className: a, classRef: {group: g}}", "{classRef: {name: a, group: g}}");
    evolution.shows(Through::V1, "{className: a, classRef: {name: b}}", "{classRef: {name: b}}");
    evolution.edited(Through::V1, "{className: a}", "{classRef: {name: b}}", "{classRef: {name: b}}");
}

/// One text in a list that is there already, and one value of a map.
#[test]
fn shorthands_of_items_and_values() {
    let hosts = "hosts: {type: array, items: {type: string}}";
    let limits = "limits: {type: object, additionalProperties: {type: string}}";
    let evolution = Evolution::new(
        &format!("host: {{type: string}}, {hosts}, cpu: {{type: string}}, {limits}"),
        &format!("{hosts}, {limits}"),
        "reshaped:\n    - { from: [spec.host, spec.hosts], to: spec.hosts, folded: true }\n    \
         - { from: [spec.cpu, spec.limits], to: spec.limits, folded: cpu }",
    );
    evolution.is_both_ways(&[("{hosts: [a, b], limits: {cpu: a}}", "{hosts: [a, b], limits: {cpu: a}}"), ("{}", "{}")]);
    evolution.shows(Through::V1, "{host: a}", "{hosts: [a]}");
    evolution.shows(Through::V1, "{host: a, hosts: [b, a, b]}", "{hosts: [b, a, b]}");
    evolution.shows(Through::V1, "{host: c, hosts: [b]}", "{hosts: [b, c]}");
    evolution.shows(Through::V1, "{cpu: a}", "{limits: {cpu: a}}");
    evolution.shows(Through::V1, "{cpu: a, limits: {memory: b}}", "{limits: {cpu: a, memory: b}}");
    evolution.shows(Through::V1, "{cpu: a, limits: {cpu: b}}", "{limits: {cpu: b}}");
    evolution.edited(Through::V1, "{host: a, cpu: b}", "{hosts: [a], limits: {cpu: c}}", "{host: a, limits: {cpu: c}}");
}

/// The newer version may have the shorthand as well.
#[test]
fn shorthand_in_the_newer_version() {
    let hosts = "hosts: {type: array, items: {type: string}}";
    let evolution = Evolution::new(
        hosts,
        &format!("host: {{type: string}}, {hosts}"),
        "reshaped: [{from: spec.hosts, to: [spec.host, spec.hosts], folded: true}]",
    );
    evolution.is_both_ways(&[("{hosts: [a]}", "{hosts: [a]}")]);
    evolution.shows(Through::V2, "{host: a}", "{hosts: [a]}");
    evolution.edited(Through::V2, "{host: a}", "{hosts: [a, b]}", "{hosts: [a, b]}");
}
