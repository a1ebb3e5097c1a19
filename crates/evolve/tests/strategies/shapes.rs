//! Strategies that give the same values another shape.

use crate::evolution::{Evolution, Through};

#[test]
fn scalar_to_object() {
    let evolution = Evolution::new(
        "replicas: {type: integer}",
        "scaling: {type: object, properties: {count: {type: integer}, most: {type: integer}}}",
        "converted: {spec.replicas: {to: spec.scaling, with: {key: count}}}",
    );
    evolution.is_both_ways(&[("{replicas: 3}", "{scaling: {count: 3}}"), ("{}", "{}")]);
    // Other keys of the object.
    evolution.shows(Through::V2, "{scaling: {count: 3, most: 5}}", "{replicas: 3}");
    evolution.shows(Through::V2, "{scaling: {most: 5}}", "{}");
    evolution.shows(Through::V2, "{scaling: {}}", "{}");
    evolution.edited(Through::V2, "{scaling: {count: 3, most: 5}}", "{replicas: 4}", "{scaling: {count: 4, most: 5}}");
}

#[test]
fn object_to_scalar() {
    let evolution = Evolution::new(
        "network: {type: object, properties: {range: {type: string}, name: {type: string}}}",
        "networkRange: {type: string}",
        "converted: {spec.network: {to: spec.networkRange, with: {key: range}}}",
    );
    evolution.is_both_ways(&[("{network: {range: 10.0.0.0/8}}", "{networkRange: 10.0.0.0/8}")]);
    evolution.shows(Through::V1, "{network: {range: 10.0.0.0/8, name: inner}}", "{networkRange: 10.0.0.0/8}");
    evolution.shows(Through::V1, "{network: {name: inner}}", "{}");
    evolution.edited(
        Through::V1,
        "{network: {range: a, name: inner}}",
        "{networkRange: b}",
        "{network: {range: b, name: inner}}",
    );
}

const DISK: &str = "{type: object, properties: {size: {type: integer}, path: {type: string}}}";

#[test]
fn singleton_array_to_object() {
    let evolution = Evolution::new(
        &format!("disks: {{type: array, items: {DISK}}}"),
        &format!("disk: {DISK}"),
        "converted: {spec.disks: {to: spec.disk, with: oneItem}}",
    );
    evolution.is_both_ways(&[("{disks: [{size: 1}]}", "{disk: {size: 1}}"), ("{disks: [{}]}", "{disk: {}}")]);
    // Longer lists, and empty ones.
    evolution.shows(Through::V1, "{disks: [{size: 1}, {size: 2, path: /b}]}", "{disk: {size: 1}}");
    evolution.shows(Through::V1, "{disks: []}", "{}");
    evolution.edited(
        Through::V1,
        "{disks: [{size: 1}, {size: 2, path: /b}]}",
        "{disk: {size: 7}}",
        "{disks: [{size: 7}, {size: 2, path: /b}]}",
    );
}

#[test]
fn object_to_singleton_array() {
    let evolution = Evolution::new(
        &format!("disk: {DISK}"),
        &format!("disks: {{type: array, items: {DISK}}}"),
        "converted: {spec.disk: {to: spec.disks, with: oneItem}}",
    );
    evolution.is_both_ways(&[("{disk: {size: 1}}", "{disks: [{size: 1}]}"), ("{}", "{}")]);
    evolution.shows(Through::V2, "{disks: [{size: 1}, {size: 2}, {size: 1}]}", "{disk: {size: 1}}");
    evolution.edited(
        Through::V2,
        "{disks: [{size: 1}, {size: 2}]}",
        "{disk: {size: 1, path: /a}}",
        "{disks: [{size: 1, path: /a}, {size: 2}]}",
    );
}

const STRINGS: &str = "{type: object, additionalProperties: {type: string}}";

#[test]
fn fields_to_map() {
    let evolution = Evolution::new(
        "cpuLimit: {type: string}, memoryLimit: {type: string}",
        &format!("limits: {STRINGS}"),
        "reshaped: [{from: [spec.cpuLimit, spec.memoryLimit], to: spec.limits, entries: [cpu, memory]}]",
    );
    evolution.is_both_ways(&[
        ("{cpuLimit: \"4\", memoryLimit: 16Gi}", "{limits: {cpu: \"4\", memory: 16Gi}}"),
        ("{cpuLimit: \"4\"}", "{limits: {cpu: \"4\"}}"),
        ("{}", "{}"),
    ]);
    // Keys that are no fields.
    evolution.shows(Through::V2, "{limits: {cpu: \"4\", gpu: \"1\"}}", "{cpuLimit: \"4\"}");
    evolution.shows(Through::V2, "{limits: {gpu: \"1\"}}", "{}");
    evolution.shows(Through::V2, "{limits: {}}", "{}");
    evolution.edited(
        Through::V2,
        "{limits: {cpu: \"4\", gpu: \"1\"}}",
        "{cpuLimit: \"5\", memoryLimit: 1Gi}",
        "{limits: {cpu: \"5\", gpu: \"1\", memory: 1Gi}}",
    );
}

#[test]
fn map_to_fields() {
    let evolution = Evolution::new(
        &format!("tags: {STRINGS}"),
        "env: {type: string}, team: {type: string}",
        "reshaped: [{from: spec.tags, to: [spec.env, spec.team]}]",
    );
    evolution.is_both_ways(&[("{tags: {env: prod, team: a}}", "{env: prod, team: a}")]);
    evolution.shows(Through::V1, "{tags: {env: prod, cost: high}}", "{env: prod}");
    evolution.edited(Through::V1, "{tags: {env: prod, cost: high}}", "{team: b}", "{tags: {team: b, cost: high}}");
}

#[test]
fn map_key_rename() {
    let labels = format!("labels: {STRINGS}");
    let evolution = Evolution::new(
        &labels,
        &labels,
        "reshaped: [{from: spec.labels, to: spec.labels, renamedKeys: {app: application}}]",
    );
    evolution.is_both_ways(&[
        ("{labels: {app: a, region: b}}", "{labels: {application: a, region: b}}"),
        ("{labels: {}}", "{labels: {}}"),
    ]);
    evolution.edited(Through::V1, "{labels: {app: a}}", "{labels: {application: b, x: y}}", "{labels: {app: b, x: y}}");
    // A key that is the new name of another already.
    evolution.shows(Through::V1, "{labels: {app: a, application: b}}", "{labels: {application: a}}");
}

#[test]
fn scalar_to_fields() {
    let evolution = Evolution::new(
        "diskSize: {type: string}",
        "value: {type: integer}, unit: {type: string}",
        "reshaped:\n    - from: spec.diskSize\n      to: [spec.value, spec.unit]\n      template: \"{value}{unit}\"\n      \
         pattern: \"(?P<value>[0-9]+)(?P<unit>[A-Za-z]+)\"",
    );
    evolution.is_both_ways(&[("{diskSize: 50Gi}", "{value: 50, unit: Gi}")]);
    // Texts that do not match, or not exactly.
    evolution.shows(Through::V1, "{diskSize: much}", "{}");
    evolution.shows(Through::V1, "{diskSize: 050Gi}", "{value: 50, unit: Gi}");
    evolution.edited(Through::V1, "{diskSize: 050Gi}", "{value: 51, unit: Gi}", "{diskSize: 51Gi}");
    evolution.edited(Through::V1, "{diskSize: much}", "{value: 5, unit: Gi}", "{diskSize: 5Gi}");
    evolution.shows(Through::V2, "{value: 5}", "{diskSize: \"5\"}");
}

#[test]
fn fields_to_scalar() {
    let evolution = Evolution::new(
        "name: {type: string}, email: {type: string}",
        "contact: {type: string}",
        "reshaped: [{from: [spec.name, spec.email], to: spec.contact, template: \"{name} <{email}>\"}]",
    );
    evolution.is_both_ways(&[("{name: Jo Doe, email: jo@example.org}", "{contact: Jo Doe <jo@example.org>}")]);
    evolution.shows(Through::V2, "{contact: nobody}", "{}");
    // Parts with what is between them.
    evolution.shows(Through::V1, "{name: a <b, email: c}", "{contact: a <b <c>}");
    evolution.edited(Through::V2, "{contact: nobody}", "{name: Jo, email: j}", "{contact: Jo <j>}");
}

#[test]
fn branch_map() {
    let old = "store: {type: object, properties: {backend: {type: string}, keep: {type: integer}, \
        s3: {type: object, properties: {bucket: {type: string}}}, \
        gcs: {type: object, properties: {bucket: {type: string}}}}, oneOf: [{required: [s3]}, {required: [gcs]}]}";
    let new = "store: {type: object, properties: {backend: {type: string}, keep: {type: integer}, \
        simple: {type: object, properties: {name: {type: string}, zone: {type: string}}}, \
        google: {type: object, properties: {name: {type: string}}}}, \
        oneOf: [{required: [simple]}, {required: [google]}]}";
    let evolution = Evolution::new(
        old,
        new,
        "renamed:\n    spec.store.s3: spec.store.simple\n    spec.store.s3.bucket: spec.store.simple.name\n    \
         spec.store.gcs: spec.store.google\n    spec.store.gcs.bucket: spec.store.google.name\n  \
         converted: {spec.store.backend: {with: {values: {s3: simple, gcs: google}}}}",
    );
    evolution.is_both_ways(&[
        ("{store: {backend: s3, s3: {bucket: logs}}}", "{store: {backend: simple, simple: {name: logs}}}"),
        (
            "{store: {backend: gcs, keep: 3, gcs: {bucket: b}}}",
            "{store: {backend: google, keep: 3, google: {name: b}}}",
        ),
        // No branch, and more than one.
        ("{store: {keep: 3}}", "{store: {keep: 3}}"),
        ("{store: {s3: {bucket: a}, gcs: {bucket: b}}}", "{store: {simple: {name: a}, google: {name: b}}}"),
    ]);
    evolution.shows(
        Through::V2,
        "{store: {backend: simple, simple: {name: logs, zone: a}}}",
        "{store: {backend: s3, s3: {bucket: logs}}}",
    );
    // Another branch takes what belongs to the former one with it.
    evolution.edited(
        Through::V2,
        "{store: {backend: simple, simple: {name: logs, zone: a}}}",
        "{store: {backend: gcs, gcs: {bucket: logs}}}",
        "{store: {backend: google, google: {name: logs}}}",
    );
}
