//! `converted`, `reshaped`, `derived` and `hook`.

use wheelwright_evolve::{Conversion, Derived, Direction, Respelled};

use crate::parse;

/// A respelled fact in one line.
fn shown(Respelled { from, to, with }: &Respelled) -> String {
    let paths = |side: &[wheelwright_evolve::Located<wheelwright_evolve::Selector>]| {
        side.iter().map(|field| field.item.to_string()).collect::<Vec<_>>().join(" ")
    };
    let with = match &with.item {
        Conversion::Expression { up, down } => format!("up {} down {}", up.item, down.item),
        Conversion::Expressions { up, down } => {
            let spelled = |side: &[wheelwright_evolve::Located<Box<str>>]| {
                side.iter().map(|expression| &*expression.item).collect::<Vec<_>>().join("; ")
            };
            format!("up {} down {}", spelled(up), spelled(down))
        }
        Conversion::Clamped(_) => with.item.to_string(),
        Conversion::Template { template, pattern: Some(pattern) } => format!("{template} by {}", pattern.item),
        other => format!("{other:?}"),
    };
    format!("{} > {}: {with}", paths(from), paths(to))
}

const FILE: &str = r#"
v2:
  hook:
    - {name: legacyAddress, from: [spec.address], to: [spec.location, spec.country]}
  converted:
    spec.timeout: {to: spec.timeoutSeconds, with: durationSeconds}
    spec.size: {to: spec.sizeBytes, with: quantity}
    spec.weight: {to: spec.weightGrams, with: {scale: 1e3}}
    spec.port: {to: spec.portNumber, with: text}
    spec.mode: {with: {values: {Fast: Quick, Swift: Quick, "": None}}}
    spec.args: {to: spec.argLine, with: {joined: " "}}
    spec.image: {with: {key: name}}
    spec.disk: {to: spec.disks, with: oneItem}
    spec.limit: {to: spec.cap, up: self * 2, down: self / 2}
    spec.delays[]: {to: "spec.delaySeconds[]", with: durationSeconds}
    spec.config: {with: {document: yaml}}
    spec.replicas: {with: clamped}
    spec.grace: {to: spec.graceSeconds, with: durationSeconds, clamped: true}
    spec.share: {with: {scale: 100}, clamped: false}
    "spec.sets{}[]": {with: text}
  reshaped:
    - {from: spec.endpoint, to: [spec.host, spec.ports], template: "{host}:{ports}", pattern: "^(?P<host>.*):(?P<ports>.*)$"}
    - {from: [spec.major, spec.minor], to: spec.version, template: "v{major}.{minor}"}
    - {from: spec.extraArgs, to: spec.extraArgs, key: name, value: value}
    - {from: spec.users, to: spec.users, key: name}
    - {from: [spec.cpu, spec.memory], to: spec.limits}
    - {from: spec.requests, to: [spec.requestedCpu, spec.requestedMemory], entries: [cpu, memory]}
    - {from: spec.labels, to: spec.labels, renamedKeys: {app: application}}
    - {from: [spec.checks, spec.strategy.checks], to: spec.strategy.checks, folded: name}
    - {from: [spec.url, spec.urls], to: spec.urls, folded: true}
    - from: [spec.first, spec.last]
      to: spec.full
      up: {spec.full: "self.spec.first + ' ' + self.spec.last"}
      down: {spec.last: "self.spec.full.split(' ')[1]", spec.first: "self.spec.full.split(' ')[0]"}
  derived:
    up: {spec.knownAs: self.spec.firstName}
    down: {spec.firstName: self.spec.knownAs}
  new: [spec.knownAs]
  removed: [spec.firstName]
"#;

#[test]
fn every_way_to_compute_fields_is_read() {
    let (steps, problems) = parse(FILE);
    assert_eq!(problems, [""; 0]);
    let respelled: Vec<String> = steps[0].respelled.iter().map(shown).collect();
    assert_eq!(
        respelled,
        [
            "spec.timeout > spec.timeoutSeconds: DurationSeconds",
            "spec.size > spec.sizeBytes: Quantity",
            "spec.weight > spec.weightGrams: Scale(\"1e3\")",
            "spec.port > spec.portNumber: Text",
            "spec.mode > spec.mode: Values([(\"Fast\", \"Quick\"), (\"Swift\", \"Quick\"), (\"\", \"None\")])",
            "spec.args > spec.argLine: Joined(\" \")",
            "spec.image > spec.image: ObjectWithKey(\"name\")",
            "spec.disk > spec.disks: OneItem",
            "spec.limit > spec.cap: up self * 2 down self / 2",
            "spec.delays[] > spec.delaySeconds[]: DurationSeconds",
            "spec.config > spec.config: Document(Yaml)",
            "spec.replicas > spec.replicas: clamped",
            "spec.grace > spec.graceSeconds: durationSeconds clamped",
            "spec.share > spec.share: Scale(\"100\")",
            "spec.sets{}[] > spec.sets{}[]: Text",
            "spec.endpoint > spec.host spec.ports: {host}:{ports} by ^(?P<host>.*):(?P<ports>.*)$",
            "spec.major spec.minor > spec.version: Template { template: \"v{major}.{minor}\", pattern: None }",
            "spec.extraArgs > spec.extraArgs: KeyedList { key: \"name\", value: Some(\"value\") }",
            "spec.users > spec.users: KeyedList { key: \"name\", value: None }",
            "spec.cpu spec.memory > spec.limits: Entries([\"cpu\", \"memory\"])",
            "spec.requests > spec.requestedCpu spec.requestedMemory: Entries([\"cpu\", \"memory\"])",
            "spec.labels > spec.labels: RenamedKeys([(\"app\", \"application\")])",
            "spec.checks spec.strategy.checks > spec.strategy.checks: Folded(Some(\"name\"))",
            "spec.url spec.urls > spec.urls: Folded(None)",
            "spec.first spec.last > spec.full: up self.spec.first + ' ' + self.spec.last down \
             self.spec.full.split(' ')[0]; self.spec.full.split(' ')[1]",
            "spec.address > spec.location spec.country: Hook(\"legacyAddress\")",
        ],
        "hooks come last, wherever they are written"
    );
    let derived = steps[0].derived.iter().map(|Derived { direction, at, expression }| {
        (*direction, at.item.to_string(), &*expression.item, expression.span.line)
    });
    let expected = [
        (Direction::Up, "spec.knownAs".to_owned(), "self.spec.firstName", 36),
        (Direction::Down, "spec.firstName".to_owned(), "self.spec.knownAs", 37),
    ];
    assert_eq!(derived.collect::<Vec<_>>(), expected);
}

#[test]
fn a_change_that_cannot_be_followed_is_told_with_its_place_and_left_out() {
    for (changes, told) in [
        ("converted: {a: {with: duration}}", "WW114 v2.converted[a].with: nobody knows the converter \"duration\""),
        ("converted: {a: {with: 7}}", "WW110 v2.converted[a].with: expected a converter, found a number"),
        ("converted: {a: {with: {scle: 2}}}", "WW111 v2.converted[a].with.scle: nobody knows the key \"scle\""),
        ("converted: {a: {with: {text: x}}}", "WW114 v2.converted[a].with.text: the converter text takes nothing"),
        (
            "converted: {a: {with: {document: xml}}}",
            "WW114 v2.converted[a].with.document: \"xml\" is not a format of documents",
        ),
        (
            "converted: {a: {clamped: true}}",
            "WW114 v2.converted[a]: clamped needs a conversion whose numbers are clamped",
        ),
        (
            "converted: {a: {with: text, clamped: 32}}",
            "WW110 v2.converted[a].clamped: expected true or false, found a number",
        ),
        (
            "converted: {a: {with: {clamped: 1}}}",
            "WW114 v2.converted[a].with.clamped: the converter clamped takes nothing",
        ),
        ("converted: {a: {with: {}}}", "WW114 v2.converted[a].with: expected one converter, found 0"),
        (
            "converted: {a: {with: {scale: 0.0}}}",
            "WW114 v2.converted[a].with.scale: a multiple by 0 says nothing of the value",
        ),
        (
            "converted: {a: {with: {scale: '2'}}}",
            "WW110 v2.converted[a].with.scale: expected a number to multiply by, found a string",
        ),
        (
            "converted: {a: {with: {values: {}}}}",
            "WW110 v2.converted[a].with.values: expected an object from old values to new ones, found an empty one",
        ),
        (
            "converted: {a: {with: {values: {x: 1}}}}",
            "WW110 v2.converted[a].with.values[x]: expected a text, found a number",
        ),
        (
            "converted: {a: {with: {joined: ''}}}",
            "WW110 v2.converted[a].with.joined: expected the text between the items, found an empty text",
        ),
        (
            "converted: {a: text}",
            "WW110 v2.converted[a]: expected an object with a converter, such as {with: text}, found a string",
        ),
        ("converted: {a: {to: b}}", "WW114 v2.converted[a]: nothing says how the field is converted"),
        ("converted: {a: {wth: text}}", "WW111 v2.converted[a].wth: nobody knows the key \"wth\""),
        (
            "converted: {a: {with: text, up: self, down: self}}",
            "WW114 v2.converted[a]: the field has a converter and expressions, and only one of them can be followed",
        ),
        (
            "converted: {a: {up: self}}",
            "WW114 v2.converted[a]: up without down: what is written in one spelling could not be shown in the other",
        ),
        (
            "converted: {a: {down: self}}",
            "WW114 v2.converted[a]: down without up: what is written in one spelling could not be shown in the other",
        ),
        (
            "converted: {a: {up: 1, down: self}}",
            "WW110 v2.converted[a].up: expected an expression in quotes, such as \"self * 2\", found a number",
        ),
        (
            "converted: {'a[]': {to: b, with: text}}",
            "WW114 v2.converted[a[]]: \"a[]\" stands for items or values, and the other side does not",
        ),
        (
            "converted: {a: {to: 'b{}', with: text}}",
            "WW114 v2.converted[a]: \"b{}\" stands for items or values, and the other side does not",
        ),
        (
            "converted: {'a[]': {to: 'b{}', with: text}}",
            "WW114 v2.converted[a[]]: \"a[]\" stands for items or values, and the other side does not",
        ),
        (
            "reshaped: {from: a, to: b}",
            "WW110 v2.reshaped: expected a list of changes, each with from and to, found an object",
        ),
        ("reshaped: [a]", "WW110 v2.reshaped[0]: expected an object with from and to, found a string"),
        ("reshaped: [{from: a, key: x}]", "WW110 v2.reshaped[0]: to is missing"),
        (
            "reshaped: [{from: [], to: a, key: x}]",
            "WW110 v2.reshaped[0].from: expected a path to a field, or a list of them, found an empty one",
        ),
        ("reshaped: [{from: a, to: b}]", "WW114 v2.reshaped[0].entries: nothing says how the field is reshaped"),
        (
            "reshaped: [{from: [a, b], to: [c, d]}]",
            "WW114 v2.reshaped[0].entries: several fields become several others, and nothing says how",
        ),
        ("reshaped: [{from: [a, b], to: c, entries: [x]}]", "WW114 v2.reshaped[0].entries: 1 keys for 2 fields"),
        (
            "reshaped: [{from: [a.x, b.x], to: c}]",
            "WW114 v2.reshaped[0].entries: two of the fields have the same last name, which cannot be the key of both",
        ),
        (
            "reshaped: [{from: [a, b], to: c, entries: [x, x]}]",
            "WW113 v2.reshaped[0].entries[1]: \"x\" is named twice, and only one can be meant",
        ),
        (
            "reshaped: [{from: a, to: b, key: x, renamedKeys: {y: z}}]",
            "WW114 v2.reshaped[0]: key and renamedKeys are two ways to convert, and only one can be followed",
        ),
        (
            "reshaped: [{from: a, to: b, value: x}]",
            "WW114 v2.reshaped[0]: value says something of key, which is not there",
        ),
        (
            "reshaped: [{from: a, to: b, pattern: x}]",
            "WW114 v2.reshaped[0]: pattern says something of template, which is not there",
        ),
        (
            "reshaped: [{from: a, to: b, key: x, value: x}]",
            "WW114 v2.reshaped[0]: \"x\" cannot be the key of an item and its value",
        ),
        (
            "reshaped: [{from: [a, b], to: c, key: x}]",
            "WW114 v2.reshaped[0]: key is of one field that becomes one field",
        ),
        (
            "reshaped: [{from: a, to: b, renamedKeys: {x: z, y: z}}]",
            "WW114 v2.reshaped[0].renamedKeys: \"x\" and \"y\" would both be \"z\", and a map has a key once",
        ),
        (
            "reshaped: [{from: a, to: b, renamedKeys: []}]",
            "WW110 v2.reshaped[0].renamedKeys: expected an object from old keys to new ones, found an array",
        ),
        (
            "reshaped: [{from: [a, b], to: [c, d], template: '{a}{b}'}]",
            "WW114 v2.reshaped[0]: a template is for one text, and both sides have several fields",
        ),
        (
            "reshaped: [{from: a, to: [b, c], template: '{b}:{c}', pattern: [x]}]",
            "WW110 v2.reshaped[0].pattern: expected a pattern with groups, such as \"^(?P<host>.*):(?P<port>[0-9]+)$\", \
             found an array",
        ),
        (
            "reshaped: [{from: 'a[]', to: [b, c], template: '{b}:{c}'}]",
            "WW114 v2.reshaped[0]: \"a[]\" stands for items or values, and the other side does not",
        ),
        (
            "reshaped: [{from: a, to: b, up: {b: self.a}}]",
            "WW114 v2.reshaped[0]: up without down: what is written in one spelling could not be shown in the other",
        ),
        (
            "reshaped: [{from: a, to: b, up: self.a, down: {a: self.b}}]",
            "WW110 v2.reshaped[0].up: expected an object with an expression for each field, found a string",
        ),
        (
            "reshaped: [{from: [a, c], to: b, up: {b: self.a}, down: {a: self.b}}]",
            "WW114 v2.reshaped[0].down: \"c\" has no expression",
        ),
        (
            "reshaped: [{from: a, to: b, up: {b: self.a, c: self.a}, down: {a: self.b}}]",
            "WW114 v2.reshaped[0].up: \"c\" is not among the fields of to",
        ),
        ("derived: {a: self.b}", "WW111 v2.derived.a: nobody knows the key \"a\""),
        (
            "derived: {up: {a: 3}}",
            "WW110 v2.derived.up[a]: expected an expression in quotes, such as \"self * 2\", found a number",
        ),
        ("derived: {up: {'a[]': self.b}}", "WW114 v2.derived.up: \"a[]\" is no field, but the items or values of one"),
        (
            "hook: {name: x, from: a, to: b}",
            "WW110 v2.hook: expected a list of hooks, each with name, from and to, found an object",
        ),
        ("hook: [{from: a, to: b}]", "WW110 v2.hook[0]: name is missing"),
        (
            "hook: [{name: x, from: [a, 1], to: b}]",
            "WW110 v2.hook[0].from[1]: expected a path to a field, such as spec.ports[].name, found a number",
        ),
    ] {
        let (steps, problems) = parse(&format!("v2: {{{changes}}}\n"));
        assert_eq!(problems.first().map(String::as_str), Some(told), "{changes}");
        if !["WW113", "WW111"].iter().any(|id| told.starts_with(id)) {
            assert_eq!(problems.len(), 1, "{changes}: {problems:?}");
            assert_eq!(steps[0].respelled.len() + steps[0].derived.len(), 0, "{changes}");
        }
    }
}

#[test]
fn a_field_is_computed_once() {
    for (changes, at, what) in [
        ("renamed: {a: b}, converted: {a: {to: c, with: text}}", "v2", "\"a\""),
        ("renamed: {a: c}, converted: {b: {to: c, with: text}}", "v2", "\"c\""),
        ("removed: [a], converted: {a: {to: c, with: text}}", "v2", "\"a\""),
        ("renamed: {a: b}, converted: {'a[]': {to: 'c[]', with: text}}", "v2", "\"a\""),
        ("hook: [{name: x, from: a, to: [c, c]}]", "v2", "\"c\""),
        ("converted: {a: {with: text}}, reshaped: [{from: b, to: a, key: x}]", "v2", "\"a\""),
        ("renamed: {a: b}, derived: {down: {a: self.c}}", "v2.derived", "\"a\""),
        ("derived: {up: {a: self.c, '[\"a\"]': self.d}}", "v2.derived", "\"a\""),
    ] {
        let (_, problems) = parse(&format!("v2: {{{changes}}}\n"));
        assert_eq!(problems, [format!("WW113 {at}: {what} is named twice, and only one can be meant")], "{changes}");
    }
    for (changes, whole, part) in [
        ("converted: {a: {with: oneItem}}, renamed: {a.b: d}", "a", "a.b"),
        ("hook: [{name: x, from: c, to: a}], derived: {up: {'a[].b': self.c}}", "a", "a[].b"),
        ("converted: {'a[]': {with: oneItem}, 'a[].b': {with: text}}", "a", "a[].b"),
    ] {
        let (_, problems) = parse(&format!("v2: {{{changes}}}\n"));
        let message = format!("WW113 v2: \"{whole}\" is computed as a whole, with \"{part}\" in it");
        assert_eq!(problems.first(), Some(&message), "{changes}");
    }
    for changes in [
        "converted: {a: {to: b, with: text}, b: {to: a, with: text}}",
        "renamed: {a.tag: tag}, converted: {a: {with: {key: name}}}",
        "renamed: {a: b}, converted: {a.x: {to: b.y, with: text}}",
        "derived: {up: {a: self.b}, down: {a: self.c}}",
        "converted: {a: {to: b, with: text}}, derived: {up: {b: self.c}}",
        "reshaped: [{from: a, to: [a.host, a.port], template: '{host}:{port}'}]",
    ] {
        assert_eq!(parse(&format!("v2: {{{changes}}}\n")).1, [""; 0], "{changes}");
    }
}

#[test]
fn an_unknown_converter_names_the_one_that_is_meant() {
    use wheelwright_document::{Arena, Decode, Yaml, decode_yaml};
    for (written, mend) in [
        ("durationSecond", "write durationSeconds, if that is what is meant"),
        ("scale", "write {scale: 1000}, if that is what is meant"),
        (
            "magic",
            "write one of durationSeconds, quantity, text, oneItem, clamped, {scale: 1000}, {values: {Old: New}}, \
             {joined: \",\"}, {key: name}, {document: yaml}, or up: and down: with expressions",
        ),
    ] {
        let arena = Arena::new();
        let text = format!("v2: {{converted: {{a: {{with: {written}}}}}}}");
        let limits = Decode { yaml: Yaml::Core, ..Decode::default() };
        let file = decode_yaml(text.as_bytes(), &arena, &limits).unwrap()[0];
        let (_, problems) = wheelwright_evolve::parse_changes(&file);
        assert_eq!(problems[0].mend.as_deref(), Some(mend));
    }
}

#[test]
fn a_field_that_is_to_be_absent_has_null_in_quotes() {
    use wheelwright_document::{Arena, Decode, Yaml, decode_yaml};
    let mends = |expressions: &str| {
        let arena = Arena::new();
        let text = format!("v2: {{reshaped: [{{from: [a, c], to: b, up: {{b: self.a}}, down: {{{expressions}}}}}]}}");
        let file = decode_yaml(text.as_bytes(), &arena, &Decode { yaml: Yaml::Core, ..Decode::default() }).unwrap()[0];
        let (_, problems) = wheelwright_evolve::parse_changes(&file);
        problems.into_iter().map(|problem| (problem.rule.id, problem.mend.unwrap_or_default())).collect::<Vec<_>>()
    };
    let add = "add an expression, or `c: \"null\"` if the field is to be absent".to_owned();
    assert_eq!(mends("a: self.b"), [("WW114", add)]);
    let quote = "write an expression, or \"null\" in quotes if the field is to be absent".to_owned();
    assert_eq!(mends("a: self.b, c: null"), [("WW110", quote)]);
    assert_eq!(mends("a: self.b, c: \"null\""), [], "what the findings say to write is right");
}
