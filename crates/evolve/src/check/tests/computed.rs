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
fn a_number_that_only_the_bounds_refuse_can_be_clamped() {
    let refused = |a: &str, b: &str, with: &str| -> Vec<(String, bool)> {
        let each = if a.contains("items") { "[]" } else { "" };
        let changes = format!("{{converted: {{'spec.a{each}': {{to: 'spec.b{each}', {with}}}}}}}");
        let case = spec(&format!("properties: {{a: {{{a}}}}}"), &format!("properties: {{b: {{{b}}}}}"), &changes);
        let found = case.findings().into_iter().filter(|finding| finding.rule().id == "WW224");
        found.map(|finding| (finding.message(), finding.mend().contains("`clamped: true`"))).collect()
    };
    for (a, b, with) in [
        ("type: string", "type: integer, format: int32", "with: durationSeconds"),
        ("type: string", "type: integer, format: int32", "with: quantity"),
        ("type: string", "type: integer, minimum: 1, maximum: 65535", "with: text"),
        ("type: integer", "type: integer, maximum: 100", "with: {scale: 1000}"),
        ("type: integer, minimum: 1", "type: integer, maximum: 9", "up: self * 2, down: self / 2"),
        ("type: number", "type: number, minimum: 0, exclusiveMinimum: true", "with: {scale: 2}"),
        ("type: array, items: {type: string}", "type: array, items: {type: integer, maximum: 0}", "with: text"),
    ] {
        let found = refused(a, b, with);
        assert!(found.iter().any(|(_, is_proposed)| *is_proposed), "{with}: {found:?}");
        let left = refused(a, b, &format!("{with}, clamped: true"));
        let is_not_a_bound =
            |(message, is_proposed): &(String, bool)| message.contains("cannot become") && !is_proposed;
        assert!(left.iter().all(is_not_a_bound), "{with}: {left:?}");
    }
    // What is refused for something else is no better clamped.
    let found = refused("type: string", "type: integer, enum: [1, 7]", "with: text");
    assert!(!found.is_empty() && found.iter().all(|(_, is_proposed)| !is_proposed), "{found:?}");
}

#[test]
fn a_folded_shorthand_is_not_removed() {
    let field = "checks: {type: array, items: {type: object, required: [name], properties: {name: {type: string}}}}";
    let case = spec(
        &format!("properties: {{check: {{type: string}}, {field}}}"),
        &format!("properties: {{{field}}}"),
        "{reshaped: [{from: [spec.check, spec.checks], to: spec.checks, folded: name}]}",
    );
    assert_eq!(told(&case.findings()), [""; 0]);
    let (a, b) = case.versions();
    assert_eq!(
        describe_differences(&diff(&case.declaration, &case.history, a, b)),
        "spec\n  > check, checks → checks (folded)\n"
    );
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
    let both = "required: [b], properties: {a: {type: string}, b: {type: string}, c: {type: string}}";
    let only_some = "spec.b is required in v2, and `self.spec.a` derives it only from some documents of v1";
    let with_c = "properties: {a: {type: string}, c: {type: string}}";
    assert_eq!(required(with_c, both, &derived("self.spec.a")), [only_some]);
    // An object in which v2 would see nothing is not shown there, and lacks nothing.
    assert_eq!(required(&fields("", "a"), both, &derived("self.spec.a")), [""; 0]);
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
        let findings = spec(&field("a"), &field("b"), &changes).findings();
        told(&findings).into_iter().filter(|told| told.starts_with("WW221 ")).collect::<Vec<_>>()
    };
    assert_eq!(drifts("self / 10", "self * 10"), [""; 0]);
    assert_eq!(drifts("self * 10", "self / 10"), [""; 0]);
    assert_eq!(drifts("7", "1"), [""; 0]);
    let found = drifts("self * 2", "self");
    assert!(matches!(&found[..], [one] if one.contains(" as spec.b in v2, which v1 reads as ")));
}

/// What is told of a conversion between field `a` of one version and field `b` of the next: the level, and the message.
fn converted(old: &str, new: &str, with: &str) -> Vec<(Level, String)> {
    let path = if old.contains("type: array") && new.contains("type: array") { "[]" } else { "" };
    let changes = format!("{{converted: {{'spec.a{path}': {{to: 'spec.b{path}', {with}}}}}}}");
    let case = spec(&format!("properties: {{a: {old}}}"), &format!("properties: {{b: {new}}}"), &changes);
    case.findings().iter().map(|finding| (finding.level, finding.message())).collect()
}

#[test]
fn a_valid_value_that_the_other_version_refuses_is_told_with_what_becomes_of_it() {
    let is = |old: &str, new: &str, with: &str, level: Level, told: &str| {
        let found = converted(old, new, with);
        assert!(matches!(&found[..], [(is, message)] if *is == level && message.starts_with(told)), "{found:#?}");
    };
    let (text, number) = ("{type: string}", "{type: integer}");
    let becomes = "becomes 5400 as spec.b in v2, which refuses it: ";
    let told = format!("\"1h30m0s\", valid for spec.a in v1, {becomes}");
    is(text, "{type: integer, maximum: 3600}", "with: durationSeconds", Level::Error, &told);
    let told = "\"876000h0m0s\", valid for spec.a in v1, becomes 3153600000 as spec.b in v2, which refuses it: ";
    // One word, `clamped`, keeps it.
    is(text, "{type: integer, format: int32}", "with: durationSeconds", Level::Error, told);
    let told = "\"-1s\", valid for spec.a in v1, becomes -1 as spec.b in v2, which refuses it: ";
    is(text, "{type: integer, minimum: 0}", "with: durationSeconds", Level::Error, told);
    // A value of which the bound tells.
    let told = "2501, valid for spec.a in v1, becomes 5002 as spec.b in v2, which refuses it: ";
    is(number, "{type: integer, maximum: 5001}", "up: self * 2, down: self / 2", Level::Error, told);
    let told = "\"5Gi\", valid for spec.a in v1, becomes 5368709120 as spec.b in v2, which refuses it: ";
    is(text, "{type: integer, format: int32}", "with: quantity", Level::Error, told);
    let told = "1, valid for spec.b in v2, cannot become spec.a of v1: 0.001 is not a whole number";
    is(number, number, "with: {scale: 1000}", Level::Note, told);
    let told =
        "\"something-else\", valid for spec.a in v1, becomes \"something-else\" as spec.b in v2, which refuses it: ";
    is(text, "{type: string, enum: [y]}", "with: {values: {x: y}}", Level::Error, told);
    let told = "\"high\", valid for spec.a in v1, cannot become spec.b of v2: \"high\" is no integer";
    is("{type: string, enum: ['1', high]}", "{type: integer, enum: [1]}", "with: text", Level::Warning, told);
    let told = "0, valid for spec.a in v1, cannot become spec.b of v2: division by zero";
    is(
        "{type: integer, enum: [0, 5]}",
        "{type: integer, enum: [2]}",
        "up: 10 / self, down: self + 3",
        Level::Warning,
        told,
    );
    let told = "[\"0s\"], valid for spec.a in v1, becomes [0] as spec.b in v2, which refuses it: ";
    let items = |schema: &str| format!("{{type: array, items: {schema}}}");
    is(&items(text), &items("{type: integer, minimum: 1}"), "with: durationSeconds", Level::Error, told);
    let told = "\"a,a\", valid for spec.a in v1, becomes [\"a\",\"a\"] as spec.b in v2, which refuses it: ";
    is(text, "{type: array, items: {type: string}, maxItems: 1}", "with: {joined: ','}", Level::Error, told);
    let object = |size: &str| format!("{{type: object, properties: {{size: {size}}}}}");
    let told = "{\"size\":";
    let found = converted(&object(text), &format!("{{type: array, items: {}}}", object(number)), "with: oneItem");
    assert!(
        matches!(&found[..], [up, down] if up.1.starts_with(told) && down.1.starts_with("[{\"size\":")),
        "{found:#?}"
    );
}

#[test]
fn where_every_valid_value_is_one_of_the_other_version_nothing_is_told() {
    let (text, number) = ("{type: string}", "{type: integer}");
    for (old, new, with) in [
        (text, number, "with: durationSeconds"),
        (number, text, "with: quantity"),
        (text, "{type: boolean}", "with: text"),
        ("{type: string, enum: [x, z]}", "{type: string, enum: [y, z]}", "with: {values: {x: y}}"),
        (text, "{type: array, items: {type: integer}}", "with: {joined: ';'}"),
        (text, text, "up: \"self.split(':')[1]\", down: \"'a:' + self\""),
        ("{type: number}", "{type: number}", "with: {scale: 3}"),
        ("{type: integer, enum: [1, 2]}", "{type: string, enum: [one, '2']}", "with: {values: {'1': one}}"),
    ] {
        assert_eq!(converted(old, new, with), [], "{old} {new} {with}");
    }
}

#[test]
fn what_is_computed_of_metadata_is_tried_with_some_and_may_fail_with_other() {
    let told = |old: &str, new: &str, up: &str| converted(old, new, &format!("up: '{up}', down: self"));
    let number = "{type: integer}";
    assert_eq!(told(number, number, "metadata.name.startsWith(\"x\") ? self * 2 : self"), []);
    assert_eq!(told(number, number, "metadata.labels[\"factor\"] == \"2\" ? self * 2 : self"), []);
    let found = told("{type: integer, enum: [5]}", "{type: integer, enum: [7]}", "metadata.name != \"\" ? self : 7");
    let refused = "5, valid for spec.a in v1, becomes 5 as spec.b in v2, which refuses it";
    assert!(found[0].1.starts_with(refused), "{found:#?}");
}

#[test]
fn a_value_that_neither_enum_lists_is_misspelled() {
    let found = converted(
        "{type: string, enum: [Fast, Slow]}",
        "{type: string, enum: [Quick, Careful]}",
        "with: {values: {Fst: Quick, Slow: Carefull}}",
    );
    // What comes of it is shown by a document.
    let (Level::Error, shown) = &found[2] else { panic!("{found:#?}") };
    assert!(shown.contains("v1 accepts {\"spec\":{\"a\":\"Fast\"}}, and v2 refuses it"), "{shown}");
    assert_eq!(
        found[..2],
        [
            "the changes name \"Fst\", which is no value of spec.a in v1: it takes \"Fast\", \"Slow\"",
            "the changes name \"Carefull\", which is no value of spec.b in v2: it takes \"Quick\", \"Careful\"",
        ]
        .map(|message| (Level::Warning, message.to_owned()))
    );
}

#[test]
fn parts_of_a_text_that_their_fields_refuse_are_told() {
    let changes = "{reshaped: [{from: spec.endpoint, to: [spec.host, spec.port], template: '{host}:{port}'}]}";
    let found = |port: &str| {
        let new = format!("properties: {{host: {{type: string}}, port: {{type: integer{port}}}}}");
        told(&spec("properties: {endpoint: {type: string}}", &new, changes).findings())
    };
    assert_eq!(found(""), [""; 0]);
    let told = found(", maximum: 65535");
    assert!(
        matches!(&told[..], [one] if one.starts_with("WW224 \"a:3000000000\", valid for spec.endpoint in v1, becomes ")),
        "{told:#?}"
    );
}

#[test]
fn a_field_of_another_shape_is_offered_as_another_spelling() {
    let mend = |v1: &str, v2: &str| {
        let case = spec(&format!("properties: {{{v1}}}"), &format!("properties: {{{v2}}}"), "{}");
        case.findings()[0].mend()
    };
    assert_eq!(
        mend("port: {type: string}", "port: {type: integer}"),
        "if it is the same in another form, add:\nv2:\n  converted:\n    \
         spec.port: {with: text}  # likely: string became integer\n\
         if not, give the new field another name, or say that the old one is gone:\nv2:\n  removed:\n  - spec.port\n"
    );
    assert_eq!(
        mend("timeout: {type: string}", "timeoutSeconds: {type: integer}"),
        "if it is the same in another form, add:\nv2:\n  converted:\n    \
         spec.timeout: {to: spec.timeoutSeconds, with: durationSeconds}  # likely: a text became seconds, or seconds a text, \
         by their names\n\
         if not, say that it is gone:\nv2:\n  removed:\n  - spec.timeout\n"
    );
}
