//! Cases about fields that are computed from those of another version.

use super::*;

/// Fields of a spec in two versions, and what the changes of the second say.
fn spec(v1: &str, v2: &str, changes: &str) -> Case {
    let version = |fields: &str| format!("{{type: object, properties: {{spec: {{type: object, {fields}}}}}}}");
    Case::new(&format!("v1: {}\nv2: {}\nchanges: {{v2: {changes}}}", version(v1), version(v2)))
}

#[test]
fn a_fact_in_another_spelling_is_neither_gone_nor_new() {
    let case = spec(
        "properties: {timeout: {type: string}, endpoint: {type: string}, mode: {type: string}, old: {type: object, \
         properties: {size: {type: string}}}}",
        "properties: {timeoutSeconds: {type: integer}, host: {type: string}, port: {type: integer}, mode: {type: string}, \
         bytes: {type: integer}, timeout: {type: integer}}",
        "{converted: {spec.timeout: {to: spec.timeoutSeconds, with: durationSeconds}, spec.mode: {with: {values: {A: B}}}, \
         spec.old.size: {to: spec.bytes, with: quantity}}, removed: [spec.old], \
         reshaped: [{from: spec.endpoint, to: [spec.host, spec.port], template: '{host}:{port}'}]}",
    );
    assert_eq!(told(&case.findings()), [""; 0]);
    let (a, b) = case.versions();
    assert_eq!(
        describe_differences(&diff(&case.declaration, &case.history, a, b)),
        "spec\n  > timeout → timeoutSeconds (durationSeconds)\n  > endpoint → host, port (template \"{host}:{port}\")\n  \
         > mode → mode (values)\n  > spec.old.size → bytes (quantity)\n  + timeout: integer\n  - old: object\n"
    );
    assert_eq!(
        describe_differences(&diff(&case.declaration, &case.history, b, a)),
        "spec\n  > timeoutSeconds → timeout (durationSeconds)\n  > host, port → endpoint (template \"{host}:{port}\")\n  \
         > mode → mode (values)\n  + old: object\n  - timeout: integer\nspec.old\n  > spec.bytes → size (quantity)\n"
    );
    for hub in [a, b] {
        assert_eq!(every_id_has_one_slot(&case.history, hub), []);
    }
    let lacking = lacking_in_old_records(&case.declaration, &case.history, a, b);
    assert_eq!(lacking.iter().map(|it| it.field.to_string()).collect::<Vec<_>>(), ["spec.timeout"]);
}

#[test]
fn a_derived_field_says_so_and_nobody_asks_why_the_other_is_gone() {
    let case = spec(
        "properties: {firstName: {type: string}}",
        "properties: {knownAs: {type: string}}",
        "{derived: {up: {spec.knownAs: self.spec.firstName}, down: {spec.firstName: self.spec.knownAs}}}",
    );
    assert_eq!(told(&case.findings()), [""; 0]);
    let (a, b) = case.versions();
    assert_eq!(
        describe_differences(&diff(&case.declaration, &case.history, a, b)),
        "spec\n  + knownAs: string, derived: self.spec.firstName\n  - firstName: string, derived: self.spec.knownAs\n"
    );
    let lacking = lacking_in_old_records(&case.declaration, &case.history, a, b);
    assert_eq!(
        describe_lacking(&VersionName::new("v1"), &VersionName::new("v2"), &lacking),
        "v1 → v2: records of v1 lack 1 field of v2\n\n    spec.knownAs (string) is derived: self.spec.firstName\n"
    );
}

#[test]
fn a_newly_required_field_must_be_computed_from_every_old_document() {
    let required = |v1: &str, v2: &str, changes: &str| -> Vec<String> {
        let findings = spec(v1, v2, changes).findings().into_iter().filter(|finding| finding.rule().id == "WW154");
        findings.map(|finding| finding.message()).collect()
    };
    let derived = |expression: &str| format!("{{derived: {{up: {{spec.b: \"{expression}\"}}}}}}");
    let fields =
        |required: &str, name: &str| format!("required: [{required}], properties: {{{name}: {{type: string}}}}");
    let both = "required: [b], properties: {a: {type: string}, b: {type: string}}";
    let only_some = "spec.b is required in v2, and `self.spec.a` derives it only from some documents of v1";
    assert_eq!(required(&fields("", "a"), both, &derived("self.spec.a")), [only_some]);
    assert_eq!(required(&fields("a", "a"), both, &derived("self.spec.a")), [""; 0]);
    assert_eq!(required(&fields("", "a"), both, &derived("has(self.spec.a) ? self.spec.a : 'x'")), [""; 0]);
    assert_eq!(required(&fields("", "a"), both, &derived("'x'")), [""; 0]);
    let converted = "{converted: {spec.a: {to: spec.b, with: {values: {x: y}}}}}";
    let lack = "spec.b is required in v2, and documents of v1 may lack it";
    assert_eq!(required(&fields("", "a"), &fields("b", "b"), converted), [lack]);
    assert_eq!(required(&fields("a", "a"), &fields("b", "b"), converted), [""; 0]);
}

#[test]
fn the_default_of_a_fact_is_converted_with_it() {
    let changed = |default: &str| -> Vec<String> {
        let seconds = format!("properties: {{seconds: {{type: integer{default}}}}}");
        let changes = "{converted: {spec.timeout: {to: spec.seconds, with: durationSeconds}}}";
        told(&spec("properties: {timeout: {type: string, default: 10m}}", &seconds, changes).findings())
    };
    assert_eq!(changed(", default: 600"), [""; 0]);
    assert_eq!(changed(""), [""; 0]);
    assert_eq!(
        changed(", default: 5"),
        [
            "WW160 the default of spec.seconds is 5 in v2, and where spec.timeout was left out in v1, it is 600 for readers"
        ]
    );
}

#[test]
fn expressions_may_lose_something_but_not_drift() {
    let drifts = |up: &str, down: &str| {
        let changes = format!("{{converted: {{spec.a: {{to: spec.b, up: '{up}', down: '{down}'}}}}}}");
        let field = |name: &str| format!("properties: {{{name}: {{type: integer, minimum: 1, maximum: 1000}}}}");
        told(&spec(&field("a"), &field("b"), &changes).findings())
    };
    assert_eq!(drifts("self / 10", "self * 10"), [""; 0]);
    assert_eq!(drifts("self * 10", "self / 10"), [""; 0]);
    assert_eq!(drifts("7", "1"), [""; 0]);
    let found = drifts("self * 2", "self");
    assert!(
        matches!(&found[..], [one] if one.starts_with("WW221 ") && one.contains(" as spec.b in v2, which v1 reads as "))
    );
}
