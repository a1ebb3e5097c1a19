//! Cases of the rules, and the pages about them: what is shown as bad breaks that rule, and what is shown as good does not.

mod computed;
mod moved;

use std::collections::BTreeSet;

use wheelwright_document::{Arena, Decode, Owned, Span, Yaml, decode_yaml};
use wheelwright_findings::{Level, Rule, rules};
use wheelwright_schema::{Root, lower_schema};

use super::*;
use crate::{
    Declaration, DeclaredVersion, History, Located, Selector, Shape, Structure, VersionName, parse_changes,
    testing::schema,
};

/// A kind as the pages show it: schemas by version, `changes`, `hub` and what is `locked` as the hub.
struct Case {
    declaration: Declaration,
    history: History,
    locked: Option<VersionName>,
}

impl Case {
    fn new(text: &str) -> Self {
        let arena = Arena::new();
        let decode = Decode { yaml: Yaml::Core, ..Decode::default() };
        let document = decode_yaml(text.as_bytes(), &arena, &decode).unwrap()[0];
        let mut declaration = Declaration::new("example.com", "Example");
        let mut locked = None;
        for entry in document.as_object().unwrap() {
            match entry.key {
                "changes" => {
                    let (steps, problems) = parse_changes(&entry.value);
                    assert!(problems.is_empty(), "{problems:?}");
                    declaration.steps = steps;
                }
                "hub" => declaration.hub = entry.value.as_str().map(|name| located(VersionName::new(name))),
                "locked" => locked = entry.value.as_str().map(VersionName::new),
                name => declaration.versions.push(DeclaredVersion::new(
                    VersionName::new(name),
                    lower_schema(&entry.value).item,
                    Root::Resource,
                    entry.key_span,
                )),
            }
        }
        let (history, problems) = History::derive(&declaration, None);
        assert!(problems.is_empty(), "{problems:?}");
        Self { declaration, history, locked }
    }

    fn findings(&self) -> Vec<Incompatibility> {
        check(&self.declaration, &self.history, self.locked.as_ref())
    }

    fn versions(&self) -> (crate::VersionIndex, crate::VersionIndex) {
        let mut indexes = self.history.indexes();
        (indexes.next().unwrap(), indexes.next().unwrap())
    }
}

fn located<T>(item: T) -> Located<T> {
    Located { item, span: Span::default() }
}

fn selector(text: &str) -> Selector {
    Selector::parse(text).unwrap()
}

#[test]
fn the_line_that_derives_a_removed_field_removes_the_finding() {
    let case = |shape: &str, derived: &str| {
        let item = format!("{{type: object, required: [gone], properties: {{gone: {shape}, name: {{type: string}}}}}}");
        Case::new(&format!(
            "v1: {{type: object, properties: {{list: {{type: array, items: {item}}}}}}}\n\
             v2: {{type: object, properties: {{list: {{type: array, items: {{type: object, properties: {{name: {{type: string}}}}}}}}}}}}\n\
             changes:\n  v2:\n    keys: {{list: [name]}}\n    removed: ['list[].gone']\n{derived}"
        ))
        .findings()
    };
    let is_wanted = |found: &&Incompatibility| matches!(found.what, What::RequiredRemoved { .. });
    for shape in [
        "{type: string}",
        "{type: string, enum: [\"it's\"]}",
        "{type: string, minLength: 12}",
        "{type: integer, minimum: 7}",
        "{type: number}",
        "{type: boolean}",
        "{x-kubernetes-int-or-string: true}",
    ] {
        let found = case(shape, "");
        let mend = found.iter().find(is_wanted).unwrap_or_else(|| panic!("{shape}")).mend();
        let lines = mend.split_once("v2:\n").unwrap_or_else(|| panic!("{mend}")).1;
        let lines: String = lines.lines().map(|line| format!("  {line}\n")).collect();
        assert!(!case(shape, &lines).iter().any(|found| is_wanted(&found)), "{shape}: {lines}");
    }
    let found = case("{type: object, properties: {a: {type: string}}}", "");
    assert_eq!(found.iter().find(is_wanted).expect("objects are required, too").mend(), "keep the field");
}

#[test]
fn what_refuses_documents_is_shown_with_the_smallest_one() {
    let found = |before: &str, after: &str| {
        let versions = |name: &str, of: &str| format!("{name}: {{type: object, properties: {{a: {of}}}}}\n");
        let findings = Case::new(&(versions("v1", before) + &versions("v2", after))).findings();
        let shown = findings.iter().map(|finding| {
            let example = finding.example.as_ref().map(|example| spelled(&example.document));
            (finding.rule().id, finding.level, example.unwrap_or_default())
        });
        shown.collect::<Vec<_>>()
    };
    let document = |value: &str| {
        format!(r#"{{"apiVersion":"example.com/v1","kind":"Example","metadata":{{"name":"example"}},"a":{value}}}"#)
    };
    let cases = [
        ("{type: integer}", "{type: integer, x-kubernetes-validations: [{rule: self != 7}]}", "WW240", "7"),
        ("{type: string}", "{type: string, not: {enum: [x]}}", "WW240", r#""x""#),
        ("{type: string}", "{type: string, allOf: [{pattern: '^b'}]}", "WW240", r#""""#),
        ("{type: string, maxLength: 3}", "{type: string, maxLength: 2}", "WW156", r#""aaa""#),
        ("{type: string, pattern: '^[a-z]$'}", "{type: string, pattern: '^[a-y]$'}", "WW157", r#""z""#),
        ("{type: integer}", "{type: integer, format: int32}", "WW157", "2147483648"),
        (
            "{type: array, items: {type: integer}}",
            "{type: array, items: {type: integer}, x-kubernetes-list-type: set}",
            "WW240",
            "[1,1]",
        ),
    ];
    for (before, after, rule, value) in cases {
        assert_eq!(found(before, after), [(rule, Level::Error, document(value))], "{before} → {after}");
    }
    let immutable = "{type: string, x-kubernetes-validations: [{rule: self == oldSelf}]}";
    let findings = found("{type: string}", immutable);
    assert!(matches!(&findings[..], [("WW240", Level::Error, _)]), "{findings:?}");
    // A rule for new documents alone refuses none that is stored.
    let for_new =
        "{type: integer, x-kubernetes-validations: [{rule: oldSelf.hasValue() || self != 7, optionalOldSelf: true}]}";
    assert_eq!(found("{type: integer}", for_new), [("WW240", Level::Warning, String::new())]);
    // Nothing is refused, which no search can prove.
    let harmless = "{type: integer, x-kubernetes-validations: [{rule: self == self}]}";
    assert_eq!(found("{type: integer}", harmless), [("WW240", Level::Warning, String::new())]);
}

#[test]
fn a_limit_of_long_texts_is_shown_by_a_long_text() {
    let version =
        |most: usize| format!("{{type: object, properties: {{message: {{type: string, maxLength: {most}}}}}}}");
    let case = Case::new(&format!("v1: {}\nv2: {}\n", version(32_768), version(32_767)));
    let found = case.findings();
    assert!(matches!(&found[..], [one] if one.level == Level::Error && one.is_proven()), "{:?}", told(&found));
}

#[test]
fn a_required_object_that_may_be_empty_is_proposed_to_be_filled_in() {
    let case = Case::new(
        "v1: {type: object, properties: {spec: {type: object, properties: {selector: {type: object}, size: {type: integer}}}}}\n\
         v2: {type: object, properties: {spec: {type: object, required: [selector, size], properties: {selector: \
         {type: object}, size: {type: integer}}}}}",
    );
    let mends: Vec<String> = case.findings().iter().map(Incompatibility::mend).collect();
    assert_eq!(
        mends[0],
        "make it optional in v2, or let readers fill it in where it is absent:\nv1:\n  storageDefault:\n    spec.selector: {}\n"
    );
    assert!(mends[1].starts_with("make it optional in v2: it was published without a default"), "{}", mends[1]);
    let filled = "v1: {type: object, properties: {spec: {type: object, properties: {selector: {type: object}}}}}\n\
                  v2: {type: object, properties: {spec: {type: object, required: [selector], properties: {selector: \
                  {type: object}}}}}\nchanges: {v1: {storageDefault: {spec.selector: {}}}}";
    assert_eq!(told(&Case::new(filled).findings()), [""; 0]);
}

#[test]
fn what_is_not_searched_for_is_no_error() {
    let version = |name: &str, pattern: &str| {
        let fields = (0..300).map(|at| format!("f{at}: {{type: string, pattern: '{pattern}'}}")).collect::<Vec<_>>();
        format!("{name}: {{type: object, properties: {{{}}}}}\n", fields.join(", "))
    };
    let findings = Case::new(&(version("v1", "^a$") + &version("v2", "^a?$"))).findings();
    assert_eq!(findings.len(), 300 + 1, "one more is about v1");
    assert!(findings.iter().all(|finding| finding.level == Level::Note), "{:?}", told(&findings));
}

/// Findings as `WW150 note: message`, with the mend below it.
fn told(findings: &[Incompatibility]) -> Vec<String> {
    findings.iter().map(|finding| format!("{} {}", finding.rule().id, finding.message())).collect()
}

#[test]
fn bad_examples_break_their_rule_and_good_ones_do_not() {
    let mut pages = 0;
    let is_ours = |rule: &&&Rule| {
        ("WW150"..="WW170").contains(&rule.id)
            || ("WW205"..="WW206").contains(&rule.id)
            || ("WW221"..="WW225").contains(&rule.id)
            || ("WW240"..="WW242").contains(&rule.id)
    };
    for rule in rules::all().iter().filter(is_ours) {
        for (heading, expected) in [("## Bad", true), ("## Good", false)] {
            let section = rule.page.split_once(&format!("{heading}\n")).unwrap().1.split("\n## ").next().unwrap();
            let example = section.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
            let findings = Case::new(example).findings();
            let broken: BTreeSet<_> = findings.iter().map(|finding| finding.rule().id).collect();
            assert_eq!(broken.contains(rule.id), expected, "{} {heading}: {:?}", rule.id, told(&findings));
        }
        pages += 1;
    }
    assert_eq!(pages, 26);
}

#[test]
fn what_is_gone_is_asked_about_with_the_lines_to_add() {
    let findings = Case::new(
        "v1: {type: object, properties: {spec: {type: object, properties: {qty: {type: integer}, note: {type: string}, \
         zone: {type: object, properties: {name: {type: string}}}}}}}\n\
         v2: {type: object, properties: {spec: {type: object, properties: {quantity: {type: integer}}}}}",
    )
    .findings();
    assert_eq!(
        told(&findings),
        [
            "WW150 spec.note (string) disappeared in v2, and no change says why",
            "WW151 `spec.qty` disappeared and `spec.quantity` appeared in v2: renamed? one name is part of the other, or short \
             for it",
            "WW150 spec.zone (object) disappeared in v2, and no change says why",
        ]
    );
    assert_eq!(findings[0].mend(), "if it is gone for good, say so:\nv2:\n  removed:\n  - spec.note\n");
    assert_eq!(
        findings[1].mend(),
        "if so, add:\nv2:\n  renamed:\n    spec.qty: spec.quantity\nif not:\nv2:\n  removed:\n  - spec.qty\n"
    );
}

#[test]
fn a_removed_parent_accounts_for_everything_below_it() {
    let versions = "v1: {type: object, properties: {a: {type: object, properties: {b: {type: string}}}}}\n\
                    v2: {type: object, properties: {}}\n";
    assert_eq!(Case::new(versions).findings().len(), 1);
    assert_eq!(Case::new(&format!("{versions}changes: {{v2: {{removed: [a]}}}}")).findings(), []);
}

#[test]
fn an_object_is_accounted_for_with_everything_in_it() {
    let versions = "v1: {type: object, properties: {a: {type: object, properties: {b: {type: string}, c: {type: object, \
                    properties: {d: {type: string}}}}}}}\n\
                    v2: {type: object, properties: {b: {type: string}, nothingLikeThat: {type: integer}}}\n";
    let found = |changes: &str| told(&Case::new(&format!("{versions}changes: {{v2: {{{changes}}}}}")).findings());
    assert_eq!(found("renamed: {a.b: b}, removed: [a.c.d]"), [""; 0]);
    assert_eq!(found("converted: {a.b: {to: b, with: {values: {x: y}}}}, removed: [a.c]"), [""; 0]);
    assert_eq!(found("renamed: {a.b: b}"), ["WW150 a (object) disappeared in v2, and no change says why"]);
}

#[test]
fn what_was_renamed_out_of_an_object_is_not_offered_again() {
    let case = Case::new(
        "v1: {type: object, properties: {a: {type: object, properties: {size: {type: integer}}}, b: {type: object}}}\n\
         v2: {type: object, properties: {count: {type: integer}, b: {type: object, properties: {size: {type: integer}}}}}\n\
         changes: {v2: {renamed: {a.size: count}}}",
    );
    assert_eq!(told(&case.findings()), [""; 0]);
}

#[test]
fn a_field_that_is_said_to_be_new_replaces_nothing_by_accident() {
    let versions =
        "v1: {type: object, properties: {a: {type: string}}}\nv2: {type: object, properties: {a: {type: string}}}\n";
    let case = Case::new(&format!("{versions}changes: {{v2: {{new: [a]}}}}"));
    assert_eq!(told(&case.findings()), [""; 0]);
    let (a, b) = case.versions();
    assert!(matches!(diff(&case.declaration, &case.history, a, b)[0].change, Change::Replaced { .. }));
}

#[test]
fn only_a_default_that_readers_fill_in_makes_up_for_a_newly_required_field() {
    let found = |versions: &str, changes: &str| -> Vec<(String, String)> {
        let case = Case::new(&format!("{versions}changes: {changes}"));
        let findings = case.findings().into_iter().filter(|finding| finding.rule().id == "WW154");
        findings.map(|finding| (finding.field.to_string(), finding.mend())).collect()
    };
    let new = "v1: {type: object, properties: {}}\n\
               v2: {type: object, required: [size], properties: {size: {type: integer, minimum: 7}}}\n";
    let offered =
        "make it optional, or say what it is where it is left out, for instance:\nv2:\n  default:\n    size: 7\n";
    assert_eq!(found(new, "{}"), [("size".to_owned(), offered.to_owned())]);
    assert_eq!(found(new, "{v2: {default: {size: 7}}}"), []);
    let old = "v1: {type: object, properties: {size: {type: integer}}}\n\
               v2: {type: object, required: [size], properties: {size: {type: integer}}}\n";
    let back = "v1: {type: object, properties: {size: {type: integer}}}\nv2: {type: object, properties: {}}\n\
                v3: {type: object, required: [size], properties: {size: {type: integer}}}\n";
    for (versions, last) in [(old, "v2"), (back, "v3")] {
        let only = format!(
            "make it optional in {last}: it was published without a default, so that a default now is for new documents only"
        );
        for changes in ["{}".to_owned(), format!("{{{last}: {{default: {{size: 7}}}}}}")] {
            assert_eq!(found(versions, &changes), [("size".to_owned(), only.clone())]);
        }
    }
    let filled = "v1: {type: object, properties: {size: {type: integer, default: 1}}}\n\
                  v2: {type: object, required: [size], properties: {size: {type: integer}}}\n";
    assert_eq!(found(filled, "{}"), []);
}

#[test]
fn a_default_that_is_gone_is_a_note_where_readers_fill_it_in_all_the_same() {
    let told_of = |v1: &str, v2: &str, changes: &str| -> Vec<String> {
        let version = |name: &str, field: &str| format!("{name}: {{type: object, properties: {{f: {field}}}}}\n");
        let case = Case::new(&format!("{}{}changes: {changes}", version("v1", v1), version("v2", v2)));
        let tell = |finding: &Incompatibility| {
            format!("{} {} ({})", finding.level.as_str(), finding.message(), finding.mend().replace('\n', " "))
        };
        case.findings().iter().map(tell).collect()
    };
    let (with, without) = ("{type: string, default: a}", "{type: string}");
    let same = "note the default of f is \"a\" in v1 and nothing in v2; where it is left out, \"a\" is filled in for both \
                (leave it, or say the default for v2, too: v2:   default:     f: a )";
    assert_eq!(told_of(with, without, "{}"), [same]);
    assert_eq!(told_of(without, without, "{v1: {default: {f: a}}}"), [same]);
    assert_eq!(told_of(with, without, "{v2: {default: {f: a}}}"), [""; 0]);
    let within = "{type: object, properties: {f: {type: string}}}";
    let moved = told_of(with, within, "{v2: {renamed: {f: f.f}}}");
    let told = moved.iter().find(|told| told.contains("filled in for both")).unwrap();
    assert!(told.contains("filled in for both, in v2 only where the object that it is in, f, is there ("), "{told}");
    assert_eq!(
        told_of(without, with, "{}"),
        ["warning the default of f is nothing in v1 and \"a\" in v2; readers of old records keep leaving it absent \
             (leave it, if it is for new documents of v2 only; else leave out the default, or add a field of its own)"]
    );
}

#[test]
fn a_required_field_of_another_shape_is_one_that_old_documents_lack() {
    let case = Case::new(
        "v1: {type: object, properties: {a: {type: string}}}\n\
         v2: {type: object, required: [a], properties: {a: {type: integer}}}\nchanges: {v2: {removed: [a]}}",
    );
    let shown = "; v1 accepts {\"a\":\"\"}, and v2 refuses it: a: is required";
    let message = format!("WW154 a is required in v2, and documents of v1 do not have it{shown}");
    assert_eq!(told(&case.findings()), [message]);
}

#[test]
fn fields_that_moved_to_another_depth_are_offered() {
    let offered = |before: &str, after: &str| -> Vec<String> {
        let version = |name: &str, spec: &str| {
            format!("{name}: {{type: object, properties: {{spec: {{type: object, properties: {{{spec}}}}}}}}}\n")
        };
        let case = Case::new(&format!("{}{}", version("v1", before), version("v2", after)));
        let renames = case.findings().into_iter().filter_map(|finding| match &finding.what {
            What::ProbablyRenamed { to, .. } => Some(format!("{} → {to}", finding.field)),
            _ => None,
        });
        renames.collect()
    };
    let object = |name: &str, below: &str| format!("{name}: {{type: object, properties: {{{below}}}}}");
    let text = |name: &str| format!("{name}: {{type: string}}");
    let (strategy, rollout) =
        (object("strategy", &text("kind")), object("rollout", &object("strategy", &text("kind"))));
    assert_eq!(offered(&strategy, &rollout), ["spec.strategy → spec.rollout.strategy"]);
    // Two fields of the name, and nothing says which of them it is.
    let two = format!("{}, {}", object("a", &text("zone")), object("b", &text("zone")));
    assert_eq!(offered(&text("zone"), &two), [""; 0]);
    // Out of a list there is no rename.
    let list = format!("list: {{type: array, items: {{type: object, properties: {{{}}}}}}}", text("zone"));
    assert_eq!(offered(&list, &format!("list: {{type: array, items: {{type: object}}}}, {}", text("zone"))), [""; 0]);
    // The field of the same name between them may have changed places with either.
    let swapped = format!("{}, {}", text("phase"), object("old", &text("phase")));
    assert_eq!(
        offered(&swapped, &format!("{}, {}", text("phase"), object("new", &object("most", &text("phase"))))),
        [""; 0]
    );
}

#[test]
fn how_grave_it_is_depends_on_the_maturity_of_the_version() {
    for (version, level) in [("v1alpha2", Level::Warning), ("v1beta1", Level::Warning), ("v1", Level::Error)] {
        let case = Case::new(&format!(
            "v1alpha1: {{type: object, properties: {{a: {{type: string}}}}}}\n{version}: {{type: object}}"
        ));
        assert_eq!(case.findings()[0].level, level, "{version}");
    }
}

#[test]
fn examples_are_valid_where_they_come_from_and_refused_for_the_field_where_they_go() {
    let text = "v1: {type: object, required: [spec], properties: {spec: {type: object, required: [image], properties: {\
                image: {type: string, pattern: '^v[0-9.]+$'}, size: {type: integer, maximum: 9}, \
                disk: {type: string, enum: [A, B]}, ports: {type: array, items: {type: object, properties: {\
                number: {type: integer}}}}}}}}\n\
                v2: {type: object, required: [spec], properties: {spec: {type: object, required: [image, zone], properties: {\
                image: {type: string, pattern: '^v[0-9.]+$'}, size: {type: integer, maximum: 5}, zone: {type: string}, \
                disk: {type: string, enum: [B]}, ports: {type: array, items: {type: object, required: [number], properties: {\
                number: {type: integer}}}}}}}}";
    let case = Case::new(text);
    let schemas = Schemas::of(&case.declaration, &case.history);
    let sides = schemas.sides();
    let findings = case.findings();
    let fields: Vec<String> = findings.iter().map(|finding| finding.field.to_string()).collect();
    assert_eq!(fields, ["spec.size", "spec.zone", "spec.disk", "spec.ports[].number"]);
    for finding in findings {
        let example = finding.example.as_ref().unwrap();
        assert_eq!(sides[0].refusal(&example.document), None, "{}", finding.field);
        let name = finding.field.to_string().rsplit('.').next().unwrap().to_owned();
        assert!(example.refusal.as_ref().unwrap().contains(&name), "{example:?}");
    }
}

#[test]
fn a_frozen_default_that_a_rule_of_a_later_version_refuses_is_found() {
    let versions = |rule: &str| {
        format!(
            "v1: {{type: object, properties: {{size: {{type: integer, default: 0}}}}}}\n\
             v2: {{type: object, properties: {{size: {{type: integer, default: 0, x-kubernetes-validations: [{{rule: '{rule}'}}]}}}}}}"
        )
    };
    let rejected = |rule: &str| {
        let findings = Case::new(&versions(rule)).findings();
        findings.into_iter().find(|finding| finding.rule().id == "WW161")
    };
    assert!(rejected("self > 0").unwrap().example.is_some());
    assert_eq!(rejected("self >= 0"), None);
}

#[test]
fn a_zero_value_that_cannot_be_valid_is_never_ambiguous() {
    let lost = |field: &str| {
        let case = Case::new(&format!(
            "v1: {{type: object}}\nv2: {{type: object, properties: {{f: {field}}}}}\nchanges: {{v2: {{writers: omitempty}}}}"
        ));
        case.findings().iter().any(|finding| finding.rule().id == "WW162")
    };
    assert!(lost("{type: string, default: Managed}"));
    assert!(!lost("{type: string, default: Managed, enum: [Managed, Ephemeral]}"));
    assert!(!lost("{type: string, default: ''}"));
    assert!(lost("{type: integer, default: 1}"));
    assert!(!lost("{type: integer, default: 1, minimum: 1}"));
}

#[test]
fn renamed_keys_are_the_same_keys() {
    let list = |key: &str| {
        format!(
            "{{type: object, properties: {{l: {{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: \
             [{key}], items: {{type: object, required: [{key}], properties: {{{key}: {{type: string}}}}}}}}}}}}"
        )
    };
    let case =
        format!("v1: {}\nv2: {}\nchanges:\n  v2:\n    renamed:\n      l[].name: l[].id", list("name"), list("id"));
    assert_eq!(told(&Case::new(&case).findings()), [""; 0]);
}

#[test]
fn without_a_pin_a_newer_stable_version_is_a_note() {
    let case = Case::new("v1: {type: object}\nv2: {type: object}\nlocked: v1");
    let findings = case.findings();
    assert_eq!(findings[0].level, Level::Note);
    assert!(findings[0].mend().contains("`wheelwright lock --hub v2`"));
}

#[test]
fn a_history_that_was_put_together_wrongly_has_fields_without_a_place() {
    let case = Case::new(
        "v1: {type: object, properties: {a: {type: object, properties: {b: {type: string}}}, l: {type: array, items: \
         {type: object, properties: {c: {type: string}}}}}}\n\
         v2: {type: object, properties: {d: {type: string}}}",
    );
    let (first, second) = case.versions();
    for hub in [first, second] {
        assert_eq!(every_id_has_one_slot(&case.history, hub), []);
    }
    let node = |text: &str| {
        let version = case.history.version(if text == "d" { second } else { first });
        version.structure.find(&selector(text)).unwrap()
    };
    let id = |text: &str| case.history.version(first).id(node(text)).unwrap();
    let broken = |change: &dyn Fn(&mut History)| {
        let mut history = case.history.clone();
        change(&mut history);
        every_id_has_one_slot(&history, second).iter().map(|finding| finding.message()).collect::<Vec<_>>().join("\n")
    };
    assert!(broken(&|history| history.versions[0].set_id(node("l"), id("a"))).contains("a has the same id, a"));
    assert!(
        broken(&|history| history.versions[1].set_id(node("d"), id("l[].c")))
            .contains("other items or values than in v1")
    );
    assert!(
        broken(&|history| history.versions[1].set_id(node("d"), id("a"))).contains("it is string, and object in v1")
    );
}

#[test]
fn two_versions_without_a_word_say_what_kubernetes_would_lose() {
    let case = Case::new(
        "v1:\n  type: object\n  properties:\n    spec:\n      type: object\n      required: [image]\n      properties:\n\
         \x20       image: {type: string}\n        qty: {type: integer}\n        note: {type: string}\n\
         v2:\n  type: object\n  properties:\n    spec:\n      type: object\n      required: [image]\n      properties:\n\
         \x20       image: {type: string}\n        quantity: {type: integer, default: 1}\n",
    );
    let (a, b) = case.versions();
    let loss = lost_under_none(&case.declaration, &case.history, a, b);
    let told = format!("{}{}", describe_loss(&loss), describe_additions([&loss]).unwrap());
    assert_eq!(told, include_str!("golden/first_contact.txt"));
}

#[test]
fn what_probably_has_another_form_is_proposed_in_comments_and_not_said_to_be_gone() {
    let told = |old: &str, new: &str| {
        let case = Case::new(&format!(
            "v1: {{type: object, properties: {{{old}}}}}\nv2: {{type: object, properties: {{{new}}}}}"
        ));
        let (a, b) = case.versions();
        describe_additions([&lost_under_none(&case.declaration, &case.history, a, b)]).unwrap()
    };
    let (text, seconds) = ("timeout: {type: string}", "timeoutSeconds: {type: integer}");
    let proposed = "timeout: {to: timeoutSeconds, with: durationSeconds}  \
                    # likely: a text became seconds, or seconds a text, by their names";
    assert_eq!(
        told(&format!("{text}, old: {{type: boolean}}"), seconds),
        format!("    v2:\n      # converted:\n      #   {proposed}\n      removed:\n      - old\n")
    );
    assert_eq!(told(text, seconds), format!("    # v2:\n    #   converted:\n    #     {proposed}\n"));
}

#[test]
fn what_a_version_fills_in_is_stored_before_another_reads_it() {
    let case = Case::new(
        "v1: {type: object, properties: {replicas: {type: integer, default: 1}, port: {type: integer, default: 80}}}\n\
         v2: {type: object, required: [zone], properties: {replicas: {type: integer, default: 2}, zone: {type: string}}}",
    );
    let (a, b) = case.versions();
    let loss = lost_under_none(&case.declaration, &case.history, a, b);
    let shown = |lost: &Lost| {
        let RoundTrip { after: Owned::Object(fields), refusal, .. } = lost.shown.clone().unwrap() else {
            panic!("a document is an object");
        };
        let own = fields.iter().filter(|(name, _)| matches!(&**name, "replicas" | "port" | "zone"));
        (own.map(|(name, value)| format!("{name} {}", spelled(value))).collect::<Vec<_>>(), refusal)
    };
    let (after, refusal) = shown(&loss.there);
    assert_eq!(after, ["replicas 1", "port 80"]);
    assert_eq!(refusal.as_deref(), Some("zone: is required"));
    assert_eq!(shown(&loss.back), (vec!["replicas 2".to_owned()], None));
}

#[test]
fn pages_about_first_contact_show_it() {
    for (id, heading, expected) in
        [("WW172", "## Bad", true), ("WW172", "## Good", false), ("WW173", "## Bad", true), ("WW173", "## Good", false)]
    {
        let section = rules::find(id).unwrap().page.split_once(&format!("{heading}\n")).unwrap().1;
        let case = Case::new(section.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap());
        let (a, b) = case.versions();
        let loss = lost_under_none(&case.declaration, &case.history, a, b);
        let lacking = lacking_in_old_records(&case.declaration, &case.history, a, b);
        let found = if id == "WW172" { !loss.there.fields.is_empty() } else { !lacking.is_empty() };
        assert_eq!(found, expected, "{id} {heading}");
    }
}

#[test]
fn what_old_records_lack_reads_as_its_default_or_is_absent() {
    let case = Case::new(
        "v1: {type: object, properties: {image: {type: string}}}\n\
         v2: {type: object, required: [zone], properties: {image: {type: string}, diskType: {type: string, default: Managed}, \
         zone: {type: string}, taints: {type: array, items: {type: string}}}}",
    );
    let (a, b) = case.versions();
    let [old, new] = [a, b].map(|index| &case.history.version(index).name);
    assert_eq!(
        describe_lacking(old, new, &lacking_in_old_records(&case.declaration, &case.history, a, b)),
        "v1 → v2: records of v1 lack 3 fields of v2\n\n    diskType (string) reads as \"Managed\"\n    zone (string) is \
         absent, although v2 requires it\n    taints (list of string) is absent\n"
    );
}

#[test]
fn differences_are_one_a_line_below_their_object() {
    let case = Case::new(
        "v1: {type: object, properties: {spec: {type: object, required: [a], properties: {a: {type: string, default: x, \
         maxLength: 9}, b: {type: integer}, c: {type: string, nullable: true, enum: [x, y]}, d: {type: string}, \
         e: {type: string}, l: {type: array, items: {type: string, pattern: ^a}}}}}}\n\
         v2: {type: object, properties: {spec: {type: object, properties: {a: {type: string, default: y, maxLength: 5}, \
         b: {type: number}, c: {type: string, enum: [y]}, d: {type: integer}, g: {type: object, properties: {e: {type: string}}}, \
         f: {type: boolean, default: true}, l: {type: array, items: {type: string, pattern: ^b}}}}}}\n\
         changes: {v2: {renamed: {spec.e: spec.g.e}}}",
    );
    let (a, b) = case.versions();
    assert_eq!(
        describe_differences(&diff(&case.declaration, &case.history, a, b)),
        include_str!("golden/differences.txt")
    );
    assert_eq!(diff(&case.declaration, &case.history, a, a), []);
}

#[test]
fn lines_to_add_are_the_changes_they_stand_for() {
    let additions = [
        Addition::Renamed { from: selector("a[].b"), to: selector("a[].c") },
        Addition::Removed(selector("[\"x.y\"]{}.z")),
        Addition::Default(selector("d"), Owned::Object([].into())),
        Addition::Keys(selector("a"), vec!["c".into()]),
        Addition::Union(selector("e"), vec!["f".into(), "g".into()]),
    ];
    let text = changes_text(&VersionName::new("2024-01-01"), &additions);
    let arena = Arena::new();
    let document = decode_yaml(text.as_bytes(), &arena, &Decode::default()).unwrap()[0];
    let step = &parse_changes(&document).0[0];
    assert_eq!(step.version.item.as_str(), "2024-01-01");
    assert_eq!((&step.renamed[0].from.item, &step.renamed[0].to.item), (&selector("a[].b"), &selector("a[].c")));
    assert_eq!(step.removed[0].item, selector("[\"x.y\"]{}.z"));
    assert_eq!((&step.defaults[0].at.item, &step.defaults[0].value), (&selector("d"), &Owned::Object([].into())));
    assert_eq!((&step.keys[0].0.item, &step.keys[0].1[..]), (&selector("a"), &["c".into()][..]));
    assert_eq!(step.unions[0].members, ["f".into(), "g".into()] as [Box<str>; 2]);
}

#[test]
fn the_version_that_cannot_read_every_value_is_the_narrower_one() {
    let message = |before: &str, after: &str| {
        let of = |version: &str, shape: &str| format!("{version}: {{type: object, properties: {{a: {shape}}}}}\n");
        let case = format!("{}{}", of("v1", before), of("v2", after));
        let findings = Case::new(&case).findings();
        findings.iter().find(|finding| matches!(finding.what, What::Widened { .. })).map(Incompatibility::message)
    };
    let (integer, number) = ("{type: integer}", "{type: number}");
    let wider = "a is integer in v1 and number in v2: v1 cannot read every value";
    assert_eq!(message(integer, number).as_deref(), Some(wider));
    assert_eq!(message(integer, integer), None);
    assert_eq!(Narrower::of(shape(number), shape(integer)), Narrower::After);
    assert_eq!(Narrower::of(shape(number), shape("{x-kubernetes-int-or-string: true}")), Narrower::Both);
}

fn shape(text: &str) -> Shape {
    let object = schema(&format!("{{type: object, properties: {{a: {text}}}}}"));
    let structure = Structure::of(&object, Root::Value);
    structure.node(structure.child(structure.root(), "a").unwrap()).shape
}
