//! The carry by example.

use wheelwright_document::{Entry, Value};

use super::{
    case::{Case, with_annotations_of},
    kinds::{Described, KINDS},
};
use crate::{
    ANNOTATION_LIMIT, CARRY_PREFIX, Part,
    carry::{CarryFate, annotations, carry_size, set_annotations},
    lens::same,
    testing::document,
};

/// The kind that is about something.
fn described(name: &str) -> Described {
    *KINDS.iter().find(|(about, ..)| *about == name).unwrap_or_else(|| panic!("no kind is about {name}"))
}

/// Serves what v2 wrote at v1, as v1's clients see it.
fn served_at_v1<'a>(case: &'a Case<'a>, written: &str) -> Value<'a> {
    let text = format!(r#"{{"apiVersion":"v2","kind":"Test","metadata":{{"name":"t"}},{written}}}"#);
    let (served, notes) = case.carries[1].convert(document(&text, case.arena), &case.carries[0], case.arena).unwrap();
    assert!(notes.is_empty());
    served
}

/// What v2 shows of a document of v1 with these fields and the annotations of another.
fn read_at_v2<'a>(case: &'a Case<'a>, served: Value<'a>, fields: &str) -> Value<'a> {
    let text = format!(r#"{{"apiVersion":"v1","kind":"Test","metadata":{{"name":"t"}},{fields}}}"#);
    let sent = with_annotations_of(document(&text, case.arena), served, case.arena);
    case.carries[0].convert(sent, &case.carries[1], case.arena).unwrap().0
}

/// Edits what v1 wrote and is stored as v3, again and again: that does to what is carried what it does to what is stored.
fn edit_at_v3(case: &Case<'_>, written: &str, edits: &[&str]) {
    edit_at(case, "v3", ("v1", written), edits);
}

/// The same at another version, of what another version wrote.
fn edit_at(case: &Case<'_>, hub: &str, (writer, written): (&str, &str), edits: &[&str]) {
    let [hub_index, writer_index] = [hub, writer].map(|name| case.kind.version(name).unwrap());
    let carry = &case.carries[hub_index.position()];
    let document = |version: &str, fields: &str| {
        let text = format!(r#"{{"apiVersion":"{version}","kind":"Test","metadata":{{"name":"t"}}{fields}}}"#);
        document(&text, case.arena)
    };
    let put = |version, document, old| carry.lenses.put(version, document, old, Part::Whole, case.arena).unwrap();
    let mut stored = put(writer_index, document(writer, written), None);
    for edited in edits {
        let edited = document(hub, edited);
        let served = carry.unload(stored, case.arena).unwrap();
        let expected = put(hub_index, edited, Some(stored));
        let loaded = carry.load(with_annotations_of(edited, served, case.arena), case.arena).stored;
        assert!(
            same(loaded, expected),
            "{stored:?}\nis served as {served:?}\nand loads as {loaded:?}\nnot as {expected:?}"
        );
        stored = expected;
    }
}

#[test]
fn what_an_item_hides_stays_with_it_whatever_else_happens_to_the_list() {
    let (_, versions, _) = described("items without keys");
    for changes in ["", "v1: {keys: {l: [n]}}"] {
        Case::run(versions, changes, |case| {
            let served = served_at_v1(case, r#""l":[{"n":"a","secret":"1"},{"n":"b","secret":"2"},{"n":"c"}]"#);
            let secrets = |fields: &str| {
                let list = read_at_v2(case, served, fields).get("l").unwrap();
                let secret = |item: &Value<'_>| item.get("secret").map(|secret| secret.as_str().unwrap().to_owned());
                list.as_array().unwrap().iter().map(secret).collect::<Vec<_>>()
            };
            let [one, two] = ["1", "2"].map(|text| Some(text.to_owned()));
            assert_eq!(secrets(r#""l":[{"n":"b"},{"n":"c"}]"#), [two.clone(), None]);
            assert_eq!(secrets(r#""l":[{"n":"c"},{"n":"b"},{"n":"a"}]"#), [None, two.clone(), one.clone()]);
            assert_eq!(secrets(r#""l":[{"n":"b"},{"n":"c"},{"n":"d"}]"#), [two.clone(), None, None]);
            // With keys another key is another item; without, neighbours tell which item was changed.
            let changed = if changes.is_empty() { one } else { None };
            assert_eq!(secrets(r#""l":[{"n":"x"},{"n":"b"},{"n":"c"}]"#), [changed, two, None]);
        });
    }
}

#[test]
fn what_a_newer_release_knows_of_an_item_stays_with_it_through_many_changes() {
    let (_, versions, _) = described("items without keys");
    Case::run(versions, "", |case| {
        let mut served = served_at_v1(case, r#""l":[{"n":"a","secret":"1"},{"n":"b","secret":"2"}]"#);
        let all = annotations(served.as_object().unwrap());
        // As if v1 and v2 were all that this release knows, and a newer one had carried another field of the first item.
        let newer: Vec<Entry<'_>> = all
            .iter()
            .filter(|entry| entry.value.as_str().unwrap().contains(r#""value":"1""#))
            .map(|entry| {
                let text = entry.value.as_str().unwrap().replace("l[].secret", "l[].newer");
                Entry { key: "carry.wheelwright.dev/newer", value: Value::string(case.arena.text(&text)) }
            })
            .collect();
        assert_eq!(newer.len(), 1);
        let all: Vec<_> = all.iter().chain(&newer).copied().collect();
        served = Value::Object(set_annotations(served.as_object().unwrap(), Some(&all), case.arena));
        for names in ["xb", "xy", "zy"] {
            let [first, second] = [&names[..1], &names[1..]];
            let text = format!(
                r#"{{"apiVersion":"v1","kind":"Test","metadata":{{}},"l":[{{"n":"{first}"}},{{"n":"{second}"}}]}}"#
            );
            let sent = with_annotations_of(document(&text, case.arena), served, case.arena);
            let loaded = case.carries[0].load(sent, case.arena);
            served = case.carries[0].unload(loaded.stored, case.arena).unwrap();
            assert!(same(case.carries[0].load(served, case.arena).stored, loaded.stored), "{served:?}");
            let kept = annotations(served.as_object().unwrap());
            assert!(kept.iter().any(|entry| entry.key == newer[0].key), "{names}: {kept:?}");
        }
    });
}

#[test]
fn an_object_that_a_client_removes_takes_along_only_what_every_version_has_in_it() {
    let v1 = "o: {type: object, properties: {a: {type: string}}}";
    let v2 = "o: {type: object, properties: {a: {type: string}, moved: {type: string}, own: {type: string}}}";
    let v3 = "o: {type: object, properties: {a: {type: string}, own: {type: string}}}, moved: {type: string}";
    Case::run(&[("v1", v1), ("v2", v2), ("v3", v3)], "v3: {renamed: {o.moved: moved}}", |case| {
        let served = served_at_v1(case, r#""o":{"a":"1","moved":"2","own":"3"}"#);
        let read = |fields: &str| read_at_v2(case, served, fields).get("o");
        let all = document(r#"{"a":"4","moved":"2","own":"3"}"#, case.arena);
        assert!(same(read(r#""o":{"a":"4"}"#).unwrap(), all));
        assert_eq!(read(r#""x":1"#), Some(document(r#"{"moved":"2"}"#, case.arena)));
    });
}

#[test]
fn defaults_that_an_api_server_fills_in_make_no_other_item() {
    let v1 = "l: {type: array, items: {type: object, properties: {n: {type: string}, d: {type: integer, default: 1}}}}";
    let v2 = "l: {type: array, items: {type: object, properties: {n: {type: string}, d: {type: integer, default: 1}, s: {type: string}}}}";
    Case::run(&[("v1", v1), ("v2", v2)], "", |case| {
        let served = served_at_v1(case, r#""l":[{"n":"a","s":"1"},{"n":"b","s":"2"}]"#);
        let read = read_at_v2(case, served, r#""l":[{"n":"b","d":1.0}]"#);
        assert_eq!(read.get("l"), Some(document(r#"[{"n":"b","d":1.0,"s":"2"}]"#, case.arena)));
    });
}

#[test]
fn names_are_those_of_annotations_and_readable_where_they_fit() {
    let long = "x".repeat(80);
    let v1 = "a: {type: object, additionalProperties: {type: object, properties: {b: {type: string}}}}".to_owned();
    let v2 = format!(
        "a: {{type: object, additionalProperties: {{type: object, properties: {{b: {{type: string}}, c: {{type: string}}}}}}}}, \
         plain: {{type: object, properties: {{field: {{type: string}}}}}}, {long}: {{type: string}}, _odd: {{type: string}}"
    );
    Case::run(&[("v1", &v1), ("v2", &v2)], "", |case| {
        let written =
            format!(r#""a":{{"k":{{"c":"1"}},"l":{{"c":"2"}}}},"plain":{{"field":"3"}},"{long}":"4","_odd":"5""#);
        let served = served_at_v1(case, &written);
        let names: Vec<_> = annotations(served.as_object().unwrap()).iter().map(|entry| entry.key).collect();
        assert_eq!(names.len(), 5, "{names:?}");
        assert!(names.contains(&"carry.wheelwright.dev/plain.field"), "{names:?}");
        for name in names {
            let name = name.strip_prefix(CARRY_PREFIX).unwrap();
            let is_end = |letter: Option<char>| letter.is_some_and(|letter| letter.is_ascii_alphanumeric());
            assert!(name.len() <= 63 && is_end(name.chars().next()) && is_end(name.chars().last()), "{name}");
            assert!(name.chars().all(|letter| letter.is_ascii_alphanumeric() || "._-".contains(letter)), "{name}");
        }
    });
}

#[test]
fn annotations_that_cannot_be_read_are_kept_through_every_conversion_and_told() {
    let (_, versions, _) = described("fields that come and go");
    Case::run(versions, "", |case| {
        let values = [
            r#""{""#,
            r#""[]""#,
            "7",
            r#""{\"id\":\"spec.b\"}""#,
            r#""{\"id\":\"gone\",\"value\":1}""#,
            r#""{\"at\":[\"gone\",{\"name\":\"k\"}],\"id\":\"x\",\"value\":1}""#,
            r#""{\"items\":\"zz\"}""#,
        ];
        for value in values {
            let text = format!(
                r#"{{"apiVersion":"v1","kind":"Test","metadata":{{"name":"t","annotations":{{"carry.wheelwright.dev/spec.o":{value}}}}},"spec":{{"b":1}}}}"#
            );
            let sent = document(&text, case.arena);
            let (other, notes) = case.carries[0].convert(sent, &case.carries[1], case.arena).unwrap();
            assert!(matches!(notes[..], [note] if note.fate.is_kept()), "{value}: {notes:?}");
            let (back, _) = case.carries[1].convert(other, &case.carries[0], case.arena).unwrap();
            assert!(same(back, sent), "{sent:?} came back as {back:?}");
        }
    });
}

#[test]
fn stored_fields_that_nobody_understands_are_carried_whatever_the_hub_has_in_their_place() {
    let (_, versions, _) = described("fields that come and go");
    Case::run(versions, "", |case| {
        let text = r#"{"apiVersion":"v1","kind":"Test","metadata":{"name":"t"},"spec":{"b":1,"x":2,"$bag":{"$foreign":{"a":3}}}}"#;
        let stored = document(text, case.arena);
        let served = case.carries[0].unload(stored, case.arena).unwrap();
        let loaded = case.carries[0].load(served, case.arena);
        assert!(loaded.notes.is_empty() && same(loaded.stored, stored), "{served:?} loads as {loaded:?}");
    });
}

#[test]
fn what_a_version_would_prune_is_never_taken_for_the_field_of_another() {
    let versions: &[(&str, &str)] = &[
        ("v1", "o: {type: object, x-kubernetes-preserve-unknown-fields: true}"),
        ("v2", "o: {type: object, properties: {a: {type: string}}}"),
        ("v3", "o: {type: object, properties: {b: {type: string}}}"),
    ];
    Case::run(versions, "", |case| {
        let carry = &case.carries[2];
        let fields = r#"{"a":"1","b":"2","c":"3","$bag":{"o.a":"4"},"$$bag":5}"#;
        let text = format!(r#"{{"apiVersion":"v3","kind":"Test","metadata":{{"name":"t"}},"o":{fields}}}"#);
        let loaded = carry.load(document(&text, case.arena), case.arena).stored;
        let served = carry.unload(loaded, case.arena).unwrap();
        assert!(same(served.get("o").unwrap(), document(r#"{"b":"2"}"#, case.arena)), "{served:?}");
        let again = carry.load(served, case.arena).stored;
        assert!(same(again, loaded), "{loaded:?}\nwas served as {served:?}\nand came back as {again:?}");
        let (read, _) = carry.convert(served, &case.carries[1], case.arena).unwrap();
        assert!(same(read.get("o").unwrap(), Value::Object(&[])), "{read:?}");
    });
}

#[test]
fn what_stood_behind_something_else_goes_if_an_object_is_written_there_without_it() {
    let versions: &[(&str, &str)] = &[
        (
            "v1",
            "a: {type: object, properties: {a: {type: object, x-kubernetes-preserve-unknown-fields: true, \
             properties: {b: {type: string}}}}}",
        ),
        (
            "v2",
            "a: {type: object}, c: {type: object, x-kubernetes-preserve-unknown-fields: true, \
             properties: {b: {type: string}}}",
        ),
    ];
    Case::run(versions, "v2: {renamed: {a.a: c, a.a.b: c.b}}", |case| {
        let served = served_at_v1(case, r#""a":7,"c":{"b":"x","u":0}"#);
        let read = |fields: &str| read_at_v2(case, served, fields).get("c");
        assert!(same(read(r#""a":7"#).unwrap(), document(r#"{"b":"x","u":0}"#, case.arena)), "nobody wrote anything");
        assert!(same(read(r#""a":{"a":{}}"#).unwrap(), Value::Object(&[])), "whoever writes it says what is in it");
    });
}

#[test]
fn past_the_room_for_annotations_the_largest_entry_is_named() {
    let (_, versions, _) = described("fields that come and go");
    Case::run(versions, "", |case| {
        let served = |bytes: usize| {
            served_at_v1(case, &format!(r#""spec":{{"o":{{"c":true,"p":{{"d":"{}"}}}}}}"#, "x".repeat(bytes)))
        };
        let size = carry_size(served(1000)).unwrap();
        assert!(size.carried == size.total && (1000..1300).contains(&size.total), "{size:?}");
        let error = carry_size(served(ANNOTATION_LIMIT)).unwrap_err();
        assert_eq!(&*error.largest, "carry.wheelwright.dev/spec.o.p.d");
        assert!(error.to_string().contains("may take 262144"));
    });
}

#[test]
fn items_are_looked_for_by_the_keys_of_some_version_only() {
    let v1 = "l: {type: array, items: {type: object, properties: {n: {type: string}, p: {type: string}}}}";
    let v2 = "l: {type: array, items: {type: object, properties: {n: {type: string}, p: {type: string}, s: {type: string}}}}";
    Case::run(&[("v1", v1), ("v2", v2)], "v1: {keys: {l: [n]}}", |case| {
        let load = |key: &str| {
            let carried =
                format!(r#"{{\"at\":[\"l\",{{\"keys\":[[\"{key}\",\"a\"]]}}],\"id\":\"l[].s\",\"value\":\"1\"}}"#);
            let text = format!(
                r#"{{"apiVersion":"v1","kind":"Test","metadata":{{"annotations":{{"{CARRY_PREFIX}x":"{carried}"}}}},"l":[{{"n":"a","p":"a"}}]}}"#
            );
            let loaded = case.carries[0].load(document(&text, case.arena), case.arena);
            let fates: Vec<_> = loaded.notes.iter().map(|note| note.fate).collect();
            (fates, annotations(loaded.stored.as_object().unwrap()).len())
        };
        assert_eq!(load("n"), (vec![], 0));
        assert_eq!(load("p"), (vec![CarryFate::Undecodable], 1), "it is kept for whoever knows such a key");
    });
}

#[test]
fn another_spelling_of_what_follows_is_no_input_of_it() {
    let (_, versions, changes) = described("computed fields in items");
    Case::run(versions, changes, |case| {
        let text = r#"{"apiVersion":"v2","kind":"Test","metadata":{"name":"t"},"l":[{"k":"x","b":"c"}]}"#;
        let served = case.carries[1].unload(document(text, case.arena), case.arena).unwrap();
        assert_eq!(served.get("l"), Some(document(r#"[{"b":"c","d":"c","k":"x"}]"#, case.arena)));
        // What v1 calls `a` would follow `d`, had the client not said by `b` what it is.
        let text = r#"{"apiVersion":"v2","kind":"Test","metadata":{"name":"t"},"l":[{"k":"x","b":"a","d":"b"}]}"#;
        let sent = with_annotations_of(document(text, case.arena), served, case.arena);
        let loaded = case.carries[1].load(sent, case.arena);
        let expected = document(r#"[{"b":"a","d":"b","k":"x"}]"#, case.arena);
        assert!(same(loaded.stored.get("l").unwrap(), expected), "{loaded:?}");
    });
}

#[test]
fn what_is_said_to_be_absent_at_the_end_of_a_chain_goes_when_the_fact_changes() {
    let versions = &[("v1", "a: {type: string}"), ("v2", "a: {type: integer}"), ("v3", "a: {type: string}")];
    let changes = "{v2: {converted: {a: {with: durationSeconds}}, derived: {down: {a: \"'x'\"}}}, \
        v3: {converted: {a: {with: durationSeconds}}}}";
    Case::run(versions, changes, |case| edit_at_v3(case, "", &[r#","a":"no duration""#]));
}

#[test]
fn what_goes_takes_along_the_objects_that_it_spoke_for() {
    let versions = &[
        (
            "v1",
            "s: {type: object, properties: {a: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: \
             {b: {type: string}}}, c: {type: string}}, oneOf: [{required: [a]}, {required: [c]}]}",
        ),
        (
            "v2",
            "s: {type: object, properties: {o: {type: object, properties: {a: {type: object, properties: \
             {b: {type: string}}}}}, c: {type: string}}}",
        ),
        (
            "v3",
            "s: {type: object, properties: {o: {type: array, items: {type: object, properties: {a: {type: object, \
             properties: {b: {type: string}}}}}}, c: {type: string}}}",
        ),
    ];
    let changes = "{v2: {renamed: {s.a: s.o.a}}, v3: {converted: {s.o: {with: oneItem}}}}";
    Case::run(versions, changes, |case| {
        for written in [r#"{"b":"x"}"#, r#"{"undeclared":"x"}"#, r#"{"b":"x","undeclared":"x"}"#] {
            for edited in [r#"{"a":{"b":"x"}}"#, r#"{"a":{}}"#, r#"{"a":{"b":"y"}}"#, "{}"] {
                let (written, edited) =
                    (format!(r#","s":{{"a":{written}}}"#), format!(r#","s":{{"o":[{edited}],"c":"y"}}"#));
                edit_at_v3(case, &written, &[&edited]);
            }
        }
    });
}

#[test]
fn what_is_hidden_in_a_computed_object_goes_with_it_wherever_it_is_stored() {
    let versions = &[
        ("v1", "b: {type: object, properties: {x: {type: string}, y: {type: string}}}"),
        ("v2", "b: {type: object, properties: {a: {type: object, properties: {y: {type: string}}}}}"),
        (
            "v3",
            "a: {type: array, items: {type: object, properties: {a: {type: object, properties: {y: {type: string}}}}}}",
        ),
    ];
    let changes = "{v2: {renamed: {b: b.a, b.y: b.a.y}}, v3: {converted: {b: {to: a, with: oneItem}}}}";
    Case::run(versions, changes, |case| {
        edit_at_v3(case, r#","b":{"x":"1"}"#, &[r#","a":[{"a":{}},{}]"#, r#","a":[{},{"a":{}}]"#]);
    });
}

#[test]
fn what_is_not_computed_is_not_said_to_be_absent() {
    let (_, versions, _) = described("fields that come and go");
    Case::run(versions, "", |case| {
        let fields = r#""spec":{"a":"x"}"#;
        let text = format!(
            r#"{{"apiVersion":"v1","kind":"Test","metadata":{{"annotations":{{"{CARRY_PREFIX}x":"{{\"link\":\"x\",\"gone\":[\"spec.a\"]}}"}}}},{fields}}}"#
        );
        let loaded = case.carries[0].load(document(&text, case.arena), case.arena).stored;
        let expected = format!(r#"{{"apiVersion":"v1","kind":"Test","metadata":{{}},{fields}}}"#);
        assert!(same(loaded, document(&expected, case.arena)), "{loaded:?}");
    });
}

#[test]
fn what_is_computed_in_an_object_that_came_back_goes_with_it() {
    let list = "c: {type: array, items: {type: object, properties: {a: {type: string}}}}";
    let versions = &[
        ("v1", "f: {type: object, properties: {a: {type: string}}}"),
        ("v2", list),
        ("v3", &format!("{list}, f: {{type: object, properties: {{b: {{type: string}}}}}}")),
    ];
    Case::run(versions, "v2: {converted: {f: {to: c, with: oneItem}}}", |case| {
        for edited in [r#","c":[{"a":"x"}]"#, r#","c":[{"a":"y"}]"#, r#","c":[{"a":"y"}],"f":{}"#, r#","f":{}"#] {
            edit_at_v3(case, r#","f":{"a":"x"}"#, &[edited]);
        }
    });
}

#[test]
fn what_another_fact_has_in_a_computed_object_is_there_before_the_object_is() {
    let object = |below: &str| format!("{{type: object, properties: {{{below}}}}}");
    let nested = |leaf: &str| format!("a: {}", object(&format!("b: {}", object(&format!("a: {}", object(leaf))))));
    let versions = [
        ("v1", nested("a: {type: string}")),
        ("v2", nested("") + ", b: {type: integer}"),
        ("v3", format!("a: {{type: array, items: {}}}, b: {{type: integer}}", object(""))),
    ];
    let versions = versions.each_ref().map(|(name, schema)| (*name, schema.as_str()));
    let changes = "{v2: {converted: {a.b.a.a: {to: b, up: int(self), down: string(self)}}}, \
                   v3: {converted: {a: {with: oneItem}}}}";
    Case::run(&versions, changes, |case| {
        edit_at_v3(case, r#","a":{"b":{"a":{"a":"x"}}}"#, &[r#","a":[]"#, r#","a":[{}]"#, r#","a":[{}],"b":1"#]);
    });
}

#[test]
fn reading_another_spelling_takes_away_no_member_of_a_union() {
    let versions = &[
        (
            "v1",
            "a: {type: object, properties: {b: {type: object, properties: {a: {type: object, properties: \
             {a: {type: string}}}}}}}",
        ),
        (
            "v2",
            "a: {type: object, properties: {a: {type: array, items: {type: object, properties: {a: {type: string}}}}, \
             b: {type: object, properties: {}}}}",
        ),
        ("v3", "a: {type: object, properties: {b: {type: object, properties: {}}}}"),
        ("v4", "a: {type: array, items: {type: object, properties: {b: {type: object, properties: {}}}}}"),
    ];
    let changes = "{v2: {converted: {a.b.a: {to: a.a, with: oneItem}}, union: {a: {members: [a], discriminator: b}}}, \
                   v4: {converted: {a: {with: oneItem}}}}";
    Case::run(versions, changes, |case| {
        let text = r#"{"apiVersion":"v2","kind":"Test","metadata":{"name":"t"},"a":{"a":[],"b":{}}}"#;
        let v2 = case.kind.version("v2").unwrap();
        for carry in &case.carries {
            let stored = carry.lenses.put(v2, document(text, case.arena), None, Part::Whole, case.arena).unwrap();
            let served = carry.unload(stored, case.arena).unwrap();
            for other in &case.carries {
                let (there, _) = carry.convert(served, other, case.arena).unwrap();
                let (back, notes) = other.convert(there, carry, case.arena).unwrap();
                assert!(same(back, served), "{served:?}\nis {there:?}\nand back {back:?}\n{notes:?}");
            }
        }
    });
}

/// An object with some fields, in YAML.
fn object(fields: &str) -> String {
    format!("{{type: object, properties: {{{fields}}}}}")
}

#[test]
fn what_a_client_took_away_is_not_kept_for_what_is_computed_beside_it() {
    let nested = |fields: &str| object(&format!("b: {}", object(&format!("a: {fields}"))));
    let keeping = "{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: array, items: \
                   {type: object, properties: {}}}}}";
    let versions = [
        ("v1", format!("a: {}", nested(&object("")))),
        ("v2", format!("a: {}", nested(&object(&format!("a: {}", object("")))))),
        ("v3", format!("a: {}", object(&format!("a: {keeping}")))),
    ];
    let versions = versions.each_ref().map(|(name, schema)| (*name, schema.as_str()));
    let changes = "{v2: {renamed: {a.b: a.b.a}}, \
                   v3: {renamed: {a: a.a}, converted: {a.b: {to: a.a.a, with: oneItem}}}}";
    Case::run(&versions, changes, |case| {
        for written in ["7", "{}", r#""x""#] {
            for edited in ["[{},{}]", "[{}]", "[]"] {
                let (written, edited) =
                    (format!(r#","a":{{"b":{{"a":{written}}}}}"#), format!(r#","a":{{"a":{{"a":{edited}}}}}"#));
                edit_at_v3(case, &written, &[&edited]);
            }
        }
    });
}

#[test]
fn what_comes_back_with_a_fact_comes_back_in_every_spelling() {
    let nested = |leaf: &str| object(&format!("b: {}", object(&format!("a: {}", object(leaf)))));
    let list = format!("a: {{type: array, items: {}}}", object(&format!("a: {}", object(""))));
    let versions = [
        ("v1", format!("a: {}", nested("a: {type: string}"))),
        ("v2", format!("a: {}", nested("a: {type: integer}"))),
        ("v3", format!("a: {}", object(&list))),
        ("v4", format!("a: {}", object(&format!("{list}, b: {}", object(&format!("a: {}", object(""))))))),
    ];
    let versions = versions.each_ref().map(|(name, schema)| (*name, schema.as_str()));
    let changes = "{v2: {converted: {a.b.a.a: {with: durationSeconds}}}, \
                   v3: {converted: {a.b: {to: a.a, with: oneItem}}}}";
    Case::run(&versions, changes, |case| {
        let written = ("v2", r#","a":{"b":{"a":{"a":90}}}"#);
        for edited in [r#"[{"a":{}},{}]"#, r#"[{"a":{}}]"#, "[{}]", "[{},{}]", "[]"] {
            edit_at(case, "v4", written, &[&format!(r#","a":{{"a":{edited}}}"#)]);
            edit_at(case, "v4", written, &[&format!(r#","a":{{"a":{edited},"b":{{}}}}"#)]);
        }
    });
}
