//! Cases about fields that become a part of something else.

use super::*;

/// What is an error about documents that are refused, for a step from fields of an object to others.
fn refused(v1: &str, v2: &str, changes: &str) -> Vec<String> {
    let version = |fields: &str| format!("{{type: object, properties: {{{fields}}}}}");
    let case = Case::new(&format!("v1: {}\nv2: {}\nchanges: {{v2: {changes}}}", version(v1), version(v2)));
    let findings = case.findings().into_iter().filter(|found| found.rule().id == "WW240");
    findings.map(|found| format!("{:?} {}", found.level, found.message())).collect()
}

#[test]
fn an_object_that_requires_more_than_a_moved_field_refuses_it() {
    let object = |required: &str, fields: &str| format!("o: {{type: object, {required}, properties: {{{fields}}}}}");
    let moved = "{renamed: {a: o.a}}";
    let z = "a: {type: string}, z: {type: string}";
    for (v2, reason) in [
        (object("required: [z]", z), "o.z: is required"),
        (object("x-kubernetes-validations: [{rule: has(self.z)}]", z), "o: failed rule: has(self.z)"),
        (object("minProperties: 2", z), "o: must have at least 2 fields"),
        (
            object("oneOf: [{required: [z]}, {required: [y]}]", &format!("{z}, y: {{type: string}}")),
            "alternatives under oneOf",
        ),
        (object("required: [p], maxProperties: 9", "a: {type: string}, p: {type: string}"), "o.p"),
    ] {
        let found = refused("a: {type: string}", &v2, moved);
        let [message] = &found[..] else { panic!("{v2}: {found:#?}") };
        assert!(message.starts_with("Error a of v1 is in o in v2") && message.contains(reason), "{message}");
    }
    // In items, and in an object that is itself a part of a new one.
    let items = |fields: &str| format!("l: {{type: array, items: {{type: object, properties: {{{fields}}}}}}}");
    let found =
        refused(&items("a: {type: string}"), &items(&object("required: [z]", z)), "{renamed: {'l[].a': 'l[].o.a'}}");
    assert!(matches!(&found[..], [one] if one.contains("l[0].o.z: is required")), "{found:#?}");
    let outer = "n: {type: object, required: [q], properties: {q: {type: string}, o: {type: object, properties: {a: \
                 {type: string}}}}}";
    let found = refused("a: {type: string}", outer, "{renamed: {a: n.o.a}}");
    assert!(matches!(&found[..], [one] if one.contains("n.q: is required")), "{found:#?}");
}

#[test]
fn what_a_field_is_converted_to_may_be_refused_by_a_rule() {
    let found = refused(
        "t: {type: integer}",
        "t: {type: string, x-kubernetes-validations: [{rule: \"self != '7'\"}]}",
        "{converted: {t: {with: text}}}",
    );
    assert!(matches!(&found[..], [one] if one.contains("\"t\":7")), "{found:#?}");
    let found = refused(
        "ref: {type: string}",
        "ref: {type: object, required: [tag], properties: {name: {type: string}, tag: {type: string}}}",
        "{converted: {ref: {with: {key: name}}}}",
    );
    assert!(matches!(&found[..], [one] if one.contains("ref.tag: is required")), "{found:#?}");
}

#[test]
fn a_field_that_a_rule_of_an_older_version_demands_is_required() {
    let found = |rule: &str| -> usize {
        let rule = format!("x-kubernetes-validations: [{{rule: \"{rule}\"}}]");
        let of = |fields: &str, rule: &str| {
            format!("{{type: object, properties: {{spec: {{type: object, properties: {{{fields}}}, {rule}}}}}}}")
        };
        let (v1, v2) = (of("a: {type: string}, k: {type: string}", &rule), of("a: {type: string}", ""));
        let case = Case::new(&format!("v1: {v1}\nv2: {v2}\nchanges: {{v2: {{removed: [spec.k]}}}}"));
        case.findings().iter().filter(|found| found.rule().id == "WW205" && found.level == Level::Error).count()
    };
    assert_eq!(found("has(self.k)"), 1);
    assert_eq!(found("self.k != 'x'"), 1, "without it, the rule cannot be evaluated");
    assert_eq!(found("!has(self.k) || self.k != 'x'"), 0);
    assert_eq!(found("!has(self.a) || self.a != 'k'"), 0, "another field is to blame");
}

#[test]
fn what_is_filled_in_or_accepted_is_no_finding() {
    let v1 = "a: {type: string}";
    let o = |z: &str| format!("o: {{type: object, required: [z], properties: {{a: {{type: string}}, z: {z}}}}}");
    for (v2, changes) in [
        (o("{type: string, default: x}"), "{renamed: {a: o.a}}"),
        (o("{type: string}"), "{renamed: {a: o.a}, derived: {up: {o.z: \"'x'\"}}}"),
        ("o: {type: object, properties: {a: {type: string}}}".to_owned(), "{renamed: {a: o.a}}"),
        ("b: {type: string}".to_owned(), "{renamed: {a: b}}"),
    ] {
        assert_eq!(refused(v1, &v2, changes), [""; 0], "{v2} {changes}");
    }
}
