use super::*;
use crate::{Kind, laws::Random, testing::declaration};

/// The lines that are proposed between two versions with these properties.
fn proposed(v1: &str, v2: &str) -> Vec<String> {
    let [v1, v2] = [v1, v2].map(|properties| format!("{{type: object, properties: {{{properties}}}}}"));
    let steps = propose(&declaration(&[("v1", &v1), ("v2", &v2)], ""), None);
    let text = proposals_text(&steps);
    let lines = text.lines().filter(|line| line.starts_with("#   "));
    lines.map(|line| line.trim_start_matches(['#', ' ']).to_owned()).collect()
}

/// The one line that is proposed, without the reason, and whether it is likely.
fn only(v1: &str, v2: &str) -> (String, bool) {
    let lines = proposed(v1, v2);
    let [_, line, others @ ..] = &lines[..] else { panic!("{lines:?}") };
    assert!(others.iter().all(|other| other.starts_with("or ")), "{lines:?}");
    let (line, reason) = line.split_once("  # ").unwrap();
    (line.to_owned(), reason.starts_with("likely: "))
}

fn assert_proposes(cases: &[(&str, &str, &str, bool)]) {
    for (v1, v2, line, is_likely) in cases {
        assert_eq!(only(v1, v2), ((*line).to_owned(), *is_likely), "{v1} {v2}");
    }
}

#[test]
fn scalars_are_converted_by_what_their_names_say() {
    assert_proposes(&[
        (
            "timeout: {type: string}",
            "timeoutSeconds: {type: integer}",
            "timeout: {to: timeoutSeconds, with: durationSeconds}",
            true,
        ),
        (
            "periodSeconds: {type: integer}",
            "period: {type: string}",
            "periodSeconds: {to: period, with: durationSeconds}",
            true,
        ),
        ("ttl: {type: string}", "ttl: {type: integer}", "ttl: {with: durationSeconds}", false),
        ("size: {type: string}", "sizeBytes: {type: integer}", "size: {to: sizeBytes, with: quantity}", true),
        ("memory: {type: string}", "memory: {type: number}", "memory: {with: quantity}", false),
        ("port: {type: string}", "port: {type: integer}", "port: {with: text}", true),
        ("strict: {type: boolean}", "strict: {type: string}", "strict: {with: text}", true),
        (
            "ttlMinutes: {type: integer}",
            "ttlSeconds: {type: integer}",
            "ttlMinutes: {to: ttlSeconds, with: {scale: 60}}",
            true,
        ),
        (
            "ttlMillis: {type: integer}",
            "ttlSeconds: {type: number}",
            "ttlMillis: {to: ttlSeconds, with: {scale: 0.001}}",
            true,
        ),
    ]);
}

#[test]
fn other_readings_are_yaml_whatever_the_paths_are() {
    let jobs = |fields: &str| format!("jobs: {{type: array, items: {{type: object, properties: {{{fields}}}}}}}");
    let count = "count: {type: integer}";
    let mut shown = 0;
    for (gone, came) in [
        ("img: {type: string}", "image: {type: string}"),
        ("tag: {type: string}", "image: {type: string}"),
        ("img: {type: string}", "image: {type: object, properties: {name: {type: string}, tag: {type: string}}}"),
        ("img: {type: string}, tag: {type: string}", "image: {type: string}, label: {type: string}"),
    ] {
        for line in proposed(&jobs(&format!("{gone}, {count}")), &jobs(&format!("{came}, {count}"))) {
            for flow in line.split('`').skip(1).step_by(2).filter(|flow| flow.contains(": ")) {
                let arena = wheelwright_document::Arena::new();
                let read = wheelwright_document::decode_yaml(flow.as_bytes(), &arena, &Default::default());
                assert!(read.is_ok(), "{flow}: {read:?}");
                shown += usize::from(flow.contains("[]"));
            }
        }
    }
    assert!(shown > 1, "paths with items are quoted");
}

#[test]
fn a_unit_that_no_decimal_number_leads_to_is_not_converted() {
    assert_eq!(proposed("ttlSeconds: {type: integer}", "ttlMinutes: {type: integer}")[0], "removed:");
}

#[test]
fn containers_are_converted_by_what_is_in_them() {
    let items = |properties: &str| format!("{{type: array, items: {{type: object, properties: {{{properties}}}}}}}");
    let values = |schema: &str| format!("{{type: object, additionalProperties: {schema}}}");
    let text = "{type: string}";
    let pair = items("name: {type: string}, value: {type: string}");
    let port = items("name: {type: string}, port: {type: integer}, note: {type: string}");
    let by_name = values("{type: object, properties: {port: {type: integer}, note: {type: string}}}");
    assert_proposes(&[
        (
            &format!("env: {pair}"),
            &format!("env: {}", values(text)),
            "- {from: env, to: env, key: name, value: value}",
            true,
        ),
        (&format!("ports: {by_name}"), &format!("ports: {port}"), "- {from: ports, to: ports, key: name}", true),
        (
            "disk: {type: object, properties: {size: {type: string}, zone: {type: string}}}",
            &format!("disks: {}", items("size: {type: string}, zone: {type: string}")),
            "disk: {to: disks, with: oneItem}",
            true,
        ),
        (
            "image: {type: string}",
            "image: {type: object, properties: {tag: {type: integer}, name: {type: string}}}",
            "image: {with: {key: name}}",
            true,
        ),
        ("args: {type: array, items: {type: string}}", "args: {type: string}", "args: {with: {joined: \",\"}}", false),
        (
            "ports: {type: array, items: {type: string}}",
            "ports: {type: array, items: {type: integer}}",
            "ports[]: {with: text}",
            true,
        ),
    ]);
}

#[test]
fn inside_of_a_renamed_object_more_is_found() {
    let v1 = "dlvr: {type: object, properties: {town: {type: string}, zip: {type: string}, timeout: {type: string}, podCIDR: {type: string}}}";
    let v2 = "dlvry: {type: object, properties: {town: {type: string}, zip: {type: string}, timeoutSeconds: {type: integer}, podCidr: {type: string}}}";
    assert_eq!(
        proposed(v1, v2),
        [
            "renamed:",
            "dlvr: dlvry  # likely: the names differ in a few letters, they are the only ones of their object, they have the \
             same fields",
            "dlvr.podCIDR: dlvry.podCidr  # likely: the names differ in letter case only",
            "converted:",
            "dlvr.timeout: {to: dlvry.timeoutSeconds, with: durationSeconds}  # likely: a text became seconds, or seconds a text, by their names",
        ]
    );
}

#[test]
fn a_field_may_be_converted_and_have_another_place() {
    let object = |name: &str, field: &str| format!("{name}: {{type: object, properties: {{{field}}}}}");
    let v1 = format!("drainTimeout: {{type: string}}, {}", object("check", "startTimeout: {type: string}"));
    let v2 = format!(
        "{}, {}",
        object("deletion", "drainTimeoutSeconds: {type: integer}"),
        object("health", "startTimeoutSeconds: {type: integer}")
    );
    let because = "a text became seconds, or seconds a text, by their names";
    assert_eq!(
        proposed(&v1, &v2),
        [
            "converted:",
            &format!(
                "check.startTimeout: {{to: health.startTimeoutSeconds, with: durationSeconds}}  # likely: {because}"
            ),
            &format!("drainTimeout: {{to: deletion.drainTimeoutSeconds, with: durationSeconds}}  # likely: {because}"),
        ]
    );
}

#[test]
fn what_has_no_counterpart_is_probably_gone() {
    assert_eq!(
        proposed(
            "coupon: {type: string}, b: {type: string}",
            "b: {type: boolean}, z: {type: integer}, y: {type: integer}"
        ),
        [
            "converted:",
            "b: {with: text}  # likely: string became boolean",
            "removed:",
            "- coupon  # possible: v2 has no field of its name and place; kept, but v2 clients will not see it",
            "or carried on by z or y, new in v2: `converted` or `reshaped`",
        ]
        .map(|line| line.to_owned())
    );
}

#[test]
fn a_required_field_is_never_hidden_by_a_line_that_is_proposed() {
    let object =
        |required: &str, fields: &str| format!("{{type: object, required: [{required}], properties: {{{fields}}}}}");
    let v1 = object("size", "size: {type: string}, note: {type: string}");
    let v2 = object("", "labels: {type: object, additionalProperties: {type: string}}");
    let versions = [("v1", &*v1), ("v2", &*v2)];
    let steps = propose(&declaration(&versions, ""), None);
    let text = accepted(&proposals_text(&steps));
    assert!(text.contains("  # size is open: v1 requires it, and v2 has no field of its name and place"), "{text}");
    let declared = declaration(&versions, &text);
    let removed: Vec<String> = declared.steps[0].removed.iter().map(|removed| removed.item.to_string()).collect();
    assert_eq!(removed, ["note"], "{text}");
    // Alone, the question is a version without changes.
    let alone = [("v1", "{type: object, required: [a], properties: {a: {type: string}}}"), ("v2", "{type: object}")];
    let text = accepted(&proposals_text(&propose(&declaration(&alone, ""), None)));
    assert!(declaration(&alone, &text).steps.iter().all(|step| step.removed.is_empty()), "{text}");
    assert!(text.contains("removed, with a value for v1 clients below `derived: {down: …}`"), "{text}");
}

#[test]
fn fields_of_one_shape_are_renamed_where_defaults_and_limits_agree() {
    let count = |name: &str, more: &str| format!("{name}: {{type: integer{more}}}");
    let old = count("instances", ", default: 1, minimum: 1");
    let others = "level: {type: string}, wait: {type: integer, default: 30}";
    let renamed = proposed(&old, &format!("{}, {others}", count("replicas", ", default: 1, minimum: 1")));
    assert_eq!(
        renamed,
        [
            "renamed:",
            "instances: replicas  # possible: the default is the same, the limits are the same",
            "or removed, if the fields have nothing to do with each other: `removed: [instances]`",
        ]
    );
    // With another default and other limits, both readings are left.
    let removed = proposed(&old, &format!("{}, {others}", count("replicas", ", default: 3, minimum: 3")));
    assert_eq!(removed[0], "removed:");
    assert!(removed[2].contains("`renamed: {instances: replicas}`"), "{removed:?}");
    // Opposites are never one field.
    let opposite =
        proposed(&count("minSize", ", minimum: 0"), &format!("{}, {others}", count("maxSize", ", minimum: 0")));
    assert_eq!(opposite[0], "removed:");
}

#[test]
fn a_field_that_both_versions_have_may_hold_the_value_now() {
    let below = "autoscaler: {type: object, properties: {minReplicas: {type: integer}}}";
    let lines = proposed(&format!("minReplicas: {{type: integer}}, {below}"), below);
    assert!(lines[1].starts_with("- minReplicas  # possible: "), "{lines:?}");
    assert_eq!(
        lines[2],
        "or folded into autoscaler.minReplicas, which v1 has, too: `reshaped: [{from: [minReplicas, autoscaler.minReplicas], \
         to: autoscaler.minReplicas, folded: true}]`"
    );
}

#[test]
fn numbers_that_the_other_field_has_no_room_for_are_clamped() {
    for (old, new, line) in [
        (
            "{type: string}",
            "{type: integer, format: int32}",
            "{to: timeoutSeconds, with: durationSeconds, clamped: true}",
        ),
        ("{type: string}", "{type: integer}", "{to: timeoutSeconds, with: durationSeconds}"),
    ] {
        let lines = proposed(&format!("timeout: {old}"), &format!("timeoutSeconds: {new}"));
        assert!(lines[1].starts_with(&format!("timeout: {line}  # likely")), "{lines:?}");
    }
    let lines = proposed("port: {type: string}", "port: {type: integer, minimum: 1, maximum: 65535}");
    assert!(lines[1].starts_with("port: {with: text, clamped: true}  # likely"), "{lines:?}");
    let lines = proposed("ttlMinutes: {type: integer}", "ttlSeconds: {type: integer, format: int32}");
    assert!(lines[1].starts_with("ttlMinutes: {to: ttlSeconds, with: {scale: 60}, clamped: true}"), "{lines:?}");
}

#[test]
fn a_shorthand_is_possibly_folded_into_what_it_stood_for() {
    let texts = "{type: array, items: {type: string}}";
    let object = |fields: &str| format!("{{type: object, properties: {{{fields}}}}}");
    let named = format!("{{type: array, items: {}}}", object("name: {type: string}, on: {type: string}"));
    for (shorthand, rich, line) in [
        (
            "namespace: {type: string}",
            format!("namespaces: {texts}"),
            "[namespace, namespaces], to: namespaces, folded: true",
        ),
        ("check: {type: string}", format!("checks: {named}"), "[check, checks], to: checks, folded: name"),
        (
            &*format!("admissionChecks: {texts}"),
            format!("admissionChecksStrategy: {}", object(&format!("admissionChecks: {named}"))),
            "[admissionChecks, admissionChecksStrategy.admissionChecks], to: admissionChecksStrategy.admissionChecks, folded: name",
        ),
        (
            "priorityClassName: {type: string}",
            format!("priorityClassRef: {}", object("group: {type: string}, name: {type: string}")),
            "[priorityClassName, priorityClassRef.name], to: priorityClassRef.name, folded: true",
        ),
    ] {
        let lines = proposed(&format!("{shorthand}, {rich}"), &rich);
        assert!(lines[1].contains("  # possible: "), "{lines:?}");
        assert!(lines[2].ends_with(&format!("`reshaped: [{{from: {line}}}]`")), "{lines:?}");
        // The line works at first try.
        let declared = lines[2].split('`').nth(1).unwrap();
        let versions = [("v1", &*object(&format!("{shorthand}, {rich}"))), ("v2", &*object(&rich))];
        let (kind, problems) = Kind::compile(&declaration(&versions, &format!("v2: {{{declared}}}")), None);
        assert!(kind.is_some() && problems.is_empty(), "{declared}: {problems:?}");
    }
    // What merely begins with the same word, or cannot hold the value, is something else.
    for (gone, stays) in [
        ("name: {type: string}", "nameTemplate: {type: string}"),
        ("size: {type: string}", "sizes: {type: array, items: {type: integer}}"),
    ] {
        assert_eq!(proposed(&format!("{gone}, {stays}"), stays).len(), 2, "{gone}");
    }
}

#[test]
fn what_is_said_already_is_not_proposed() {
    let [v1, v2] =
        ["qty", "quantity"].map(|name| format!("{{type: object, properties: {{{name}: {{type: integer}}}}}}"));
    assert!(propose(&declaration(&[("v1", &v1), ("v2", &v2)], "v2: {renamed: {qty: quantity}}"), None).is_empty());
    assert!(propose(&declaration(&[("v1", &v1), ("v2", &v2)], "v2: {removed: [qty]}"), None).is_empty());
}

#[test]
fn what_is_converted_is_neither_gone_nor_came() {
    let object = |fields: &str| format!("{{type: object, properties: {{{fields}}}}}");
    let v1 =
        object("timeout: {type: string}, timeoutSecs: {type: integer}, list: {type: array, items: {type: string}}");
    let v2 = object("timeoutSeconds: {type: integer}, lists: {type: array, items: {type: integer}}");
    let changes = "v2: {converted: {timeout: {to: timeoutSeconds, with: durationSeconds}, \
                   'list[]': {to: 'lists[]', with: text}}}";
    let declaration = declaration(&[("v1", &v1), ("v2", &v2)], changes);
    let steps = propose(&declaration, None);
    let lines = proposals_text(&steps);
    assert_eq!(
        lines.lines().skip(3).collect::<Vec<_>>(),
        ["#     - timeoutSecs  # likely: v2 has nothing like it; kept, but v2 clients will not see it"]
    );
    let (history, _) = History::derive(&declaration, None);
    let found = crate::check::check(&declaration, &history, None);
    let messages: Vec<String> = found.iter().map(|found| found.message()).collect();
    assert_eq!(messages, ["timeoutSecs (integer) disappeared in v2, and no change says why"]);
}

/// A changes file in which every proposal is accepted.
fn accepted(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", line.strip_prefix("# ").unwrap_or(line))).collect()
}

#[test]
fn all_proposals_together_are_a_changes_file_that_holds() {
    let object = |fields: &str| format!("{{type: object, properties: {{{fields}}}}}");
    let v1 = object(&format!(
        "qty: {{type: integer}}, timeout: {{type: string}}, size: {{type: string}}, ttlMinutes: {{type: integer}}, \
         port: {{type: string}}, args: {{type: array, items: {{type: string}}}}, image: {{type: string}}, \
         disk: {disk}, env: {{type: array, items: {env}}}, ports: {{type: array, items: {{type: string}}}}, \
         'odd name': {{type: string}}, coupon: {{type: boolean}}, mode: {{type: boolean}}, \
         items: {{type: array, items: {item}}}",
        disk = object("kind: {type: string}, zone: {type: string}"),
        env = object("name: {type: string}, value: {type: string}"),
        item = object("sku: {type: string}, delay: {type: string}"),
    ));
    let v2 = object(&format!(
        "quantity: {{type: integer}}, timeoutSeconds: {{type: integer}}, sizeBytes: {{type: integer}}, \
         ttlSeconds: {{type: integer}}, port: {{type: integer}}, args: {{type: string}}, image: {image}, \
         disks: {{type: array, items: {disk}}}, env: {{type: object, additionalProperties: {{type: string}}}}, \
         ports: {{type: array, items: {{type: integer}}}}, 'odd-name': {{type: string}}, \
         mode: {{type: array, items: {{type: integer}}}}, items: {{type: array, items: {item}}}",
        image = object("name: {type: string}, tag: {type: string}"),
        disk = object("kind: {type: string}, zone: {type: string}"),
        item = object("skus: {type: string}, delaySeconds: {type: number}"),
    ));
    let versions = [("v1", &*v1), ("v2", &*v2)];
    let steps = propose(&declaration(&versions, ""), None);
    let sorts: HashSet<_> = steps[0].proposals.iter().map(|one| std::mem::discriminant(&one.became)).collect();
    assert_eq!((sorts.len(), steps[0].proposals.len()), (3, 15), "{}", proposals_text(&steps));
    let text = accepted(&proposals_text(&steps));
    let (_, problems) = History::derive(&declaration(&versions, &text), None);
    assert!(problems.is_empty(), "{text}{problems:?}");
}

/// A schema of an object whose fields have names that are alike.
fn random_object(random: &mut Random, depth: usize) -> String {
    const NAMES: [&str; 20] = [
        "timeout",
        "timeoutSeconds",
        "timeoutMinutes",
        "size",
        "sizeBytes",
        "disk",
        "disks",
        "port",
        "ports",
        "env",
        "name",
        "names",
        "value",
        "spec",
        "specs",
        "image",
        "mode",
        "Mode",
        "args",
        "key",
    ];
    let mut names = NAMES.to_vec();
    let fields = (0..1 + random.below(5)).map(|_| {
        let name = names.swap_remove(random.below(names.len()));
        format!("{name}: {}", random_schema(random, depth))
    });
    format!("{{type: object, properties: {{{}}}}}", fields.collect::<Vec<_>>().join(", "))
}

fn random_schema(random: &mut Random, depth: usize) -> String {
    let below = depth.saturating_sub(1);
    match random.below(if depth == 0 { 4 } else { 9 }) {
        0 | 1 => "{type: string}".to_owned(),
        2 => "{type: integer}".to_owned(),
        3 => "{type: boolean}".to_owned(),
        4 => format!("{{type: array, items: {}}}", random_schema(random, below)),
        5 => format!("{{type: object, additionalProperties: {}}}", random_schema(random, below)),
        6 => format!("{{type: array, items: {}}}", random_object(random, below)),
        _ => random_object(random, below),
    }
}

#[test]
fn all_proposals_for_random_kinds_together_contradict_nobody() {
    let mut random = Random::new(5);
    let mut proposed = 0;
    for _ in 0..300 {
        let schemas: Vec<String> = (0..3).map(|_| random_object(&mut random, 3)).collect();
        let versions = [("v1", &*schemas[0]), ("v2", &*schemas[1]), ("v3", &*schemas[2])];
        let steps = propose(&declaration(&versions, ""), None);
        proposed += steps.iter().map(|step| step.proposals.len()).sum::<usize>();
        let text = accepted(&proposals_text(&steps));
        let (_, problems) = Kind::compile(&declaration(&versions, &text), None);
        assert!(problems.is_empty(), "{versions:#?}{text}{problems:#?}");
    }
    assert!(proposed > 1500, "{proposed}");
}
