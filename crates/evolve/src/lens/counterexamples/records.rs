//! Cases about records themselves: damaged, foreign or older than what the lock says now, written in parts and under policies.

use wheelwright_document::{Arena, Value, encode};

use super::{object, same};
use crate::{
    Kind, Part, PutError, VersionName,
    testing::{declaration, document, history, kind},
};

#[test]
fn entries_that_nobody_understands_are_kept() {
    let (v1, v2) = (object("a: {type: string}"), object("b: {type: string}"));
    let kind = kind(&[("v1", &v1), ("v2", &v2)], "", "v2");
    let arena = Arena::new();
    let stored = document(r#"{"b":"1","later":2,"$bag":{"a":"3","from.later":4,"$later":5}}"#, &arena);
    let (v1, v2) = (kind.version("v1").unwrap(), kind.version("v2").unwrap());
    let put = |version, text| kind.put(version, document(text, &arena), Some(stored), Part::Whole, &arena).unwrap();
    let expected = r#"{"b":"9","later":2,"$bag":{"a":"3","from.later":4,"$later":5}}"#;
    assert!(same(put(v2, r#"{"b":"9"}"#), document(expected, &arena)));
    let expected = r#"{"b":"1","later":2,"$bag":{"from.later":4,"$later":5}}"#;
    assert!(same(put(v1, "{}"), document(expected, &arena)));
    // Under another hub, too, where its name means something else.
    let foreign = document(r#"{"b":"1","a":"not the field of v1"}"#, &arena);
    let other = kind.lenses_for(v1);
    let moved = kind.lenses().rehub(foreign, &other, &arena);
    assert!(same(other.get(v1, moved, &arena), document("{}", &arena)), "{moved:?}");
    assert!(same(other.rehub(moved, kind.lenses(), &arena), foreign), "{moved:?}");
    let damaged = document(r#"{"b":"1","$bag":7}"#, &arena);
    let put = kind.put(v1, document(r#"{"a":"2"}"#, &arena), Some(damaged), Part::Whole, &arena).unwrap();
    assert!(same(put, document(r#"{"b":"1","$bag":{"a":"2","$damaged":7}}"#, &arena)), "{put:?}");
}

#[test]
fn an_entry_of_a_bag_that_is_not_what_its_key_says_is_in_nobodys_way() {
    let (v1, v2) = (object("t: {type: string}, a: {type: string}"), object("seconds: {type: integer}"));
    let changes = "v2: {converted: {t: {to: seconds, with: durationSeconds}}, \
                   derived: {down: {a: \"has(self.seconds) ? 'derived' : 'none'\"}}}";
    let kind = kind(&[("v1", &v1), ("v2", &v2)], changes, "v2");
    let [v1, v2] = ["v1", "v2"].map(|name| kind.version(name).unwrap());
    let arena = Arena::new();
    let write = |version, text, stored| {
        let put = kind.put(version, document(text, &arena), Some(stored), Part::Whole, &arena).unwrap();
        document(&String::from_utf8(encode(put)).unwrap(), &arena)
    };
    for key in ["guard", "hook", "gone", "absent", "implicit", "unknown", "blocked", "foreign"] {
        let stored = document(&format!(r#"{{"seconds":60,"$bag":{{"${key}":7}}}}"#), &arena);
        assert!(same(write(v2, r#"{"seconds":60}"#, stored), stored), "what changes nothing mends nothing");
        let kept = format!(r#"{{"seconds":61,"$bag":{{"$damaged.{key}":7}}}}"#);
        let put = write(v2, r#"{"seconds":61}"#, stored);
        assert!(same(put, document(&kept, &arena)), "{put:?}");
        // The keys are free for what they are for, and reading and writing back changes nothing.
        let written = write(v1, r#"{"t":"120s"}"#, stored);
        let bag = written.get("$bag").unwrap();
        assert!(bag.get("$guard").is_some() && bag.get("$absent").is_some(), "{written:?}");
        assert!(bag.get(&format!("$damaged.{key}")).is_some(), "{written:?}");
        assert!(same(kind.get(v1, written, &arena), document(r#"{"t":"120s"}"#, &arena)), "{key}");
        assert!(same(write(v1, r#"{"t":"120s"}"#, written), written), "{key}");
        // The same damage again.
        let again = document(&format!(r#"{{"$bag":{{"${key}":8,"$damaged.{key}":7}}}}"#), &arena);
        assert!(same(write(v2, r#"{"seconds":61}"#, again), put), "{key}");
    }
}

#[test]
fn a_write_through_an_older_version_resets_or_is_refused_where_a_policy_says_so() {
    let v1 = object("a: {type: string}, l: {type: array, items: {type: object, properties: {x: {type: string}}}}");
    let v2 = object(
        "a: {type: string}, b: {type: string, default: d}, l: {type: array, items: {type: object, properties: {x: {type: string}, y: {type: string}}}}",
    );
    let versions = [("v1", v1.as_str()), ("v2", v2.as_str())];
    for hub in ["v1", "v2"] {
        let arena = Arena::new();
        let write = |changes: &str, stored: &str| {
            let kind = kind(&versions, changes, hub);
            let arena = Arena::new();
            let new =
                kind.put(kind.version("v2").unwrap(), document(stored, &arena), None, Part::Whole, &arena).unwrap();
            let old = document(r#"{"a":"1","l":[{"x":"2"}]}"#, &arena);
            let put = kind.put(kind.version("v1").unwrap(), old, Some(new), Part::Whole, &arena);
            put.map(|put| String::from_utf8(encode(kind.get(kind.version("v2").unwrap(), put, &arena))).unwrap())
        };
        let full = r#"{"a":"1","b":"c","l":[{"x":"2","y":"3"}]}"#;
        let kept = write("", full).unwrap();
        assert!(same(document(&kept, &arena), document(full, &arena)), "{kept}");
        let reset = write("v1: {olderWrite: reset}", full).unwrap();
        assert!(same(document(&reset, &arena), document(r#"{"a":"1","l":[{"x":"2"}],"b":"d"}"#, &arena)), "{reset}");
        assert!(write("v1: {olderWrite: reject}", full).is_err());
        assert!(write("v1: {olderWrite: reject}", r#"{"a":"1","b":"d","l":[{"x":"2"}]}"#).is_ok());
    }
}

#[test]
fn spec_and_status_are_written_apart() {
    let v1 = object(&format!("spec: {0}, status: {0}", object("a: {type: string}")));
    let v2 = object(&format!("spec: {0}, status: {0}", object("a: {type: string}, b: {type: string}")));
    for hub in ["v1", "v2"] {
        let kind = kind(&[("v1", &v1), ("v2", &v2)], "", hub);
        let arena = Arena::new();
        let (v1, v2) = (kind.version("v1").unwrap(), kind.version("v2").unwrap());
        let full = document(r#"{"spec":{"a":"1","b":"2"},"status":{"a":"3","b":"4"}}"#, &arena);
        let stored = kind.put(v2, full, None, Part::Whole, &arena).unwrap();
        let put = |part| {
            let written = document(r#"{"spec":{"a":"8"},"status":{"a":"9"}}"#, &arena);
            kind.get(v2, kind.put(v1, written, Some(stored), part, &arena).unwrap(), &arena)
        };
        let spec = document(r#"{"spec":{"a":"8","b":"2"},"status":{"a":"3","b":"4"}}"#, &arena);
        let status = document(r#"{"spec":{"a":"1","b":"2"},"status":{"a":"9","b":"4"}}"#, &arena);
        assert!(same(put(Part::Spec), spec), "{:?}", put(Part::Spec));
        assert!(same(put(Part::Status), status), "{:?}", put(Part::Status));
    }
}

#[test]
fn what_is_in_a_bag_is_read_after_the_hub_gained_a_place_for_it() {
    let (v1, v2) = (
        object("a: {type: string}"),
        object(
            "a: {type: string}, p: {type: object, properties: {f: {type: string}}}, l: {type: array, items: {type: object, properties: {x: {type: string}}}}",
        ),
    );
    let before = kind(&[("v1", &v1), ("v2", &v2)], "", "v1");
    let arena = Arena::new();
    let (old, new) = (before.version("v1").unwrap(), before.version("v2").unwrap());
    let written = document(r#"{"a":"1","p":{"f":"precious"},"l":[{"x":"y"}]}"#, &arena);
    let stored = before.put(new, written, None, Part::Whole, &arena).unwrap();
    for gained in [
        "p: {type: object, properties: {f: {type: string}}}",
        "l: {type: array, items: {type: object, properties: {x: {type: string}}}}",
        "p: {type: object, x-kubernetes-preserve-unknown-fields: true}",
    ] {
        let v1 = object(&format!("a: {{type: string}}, {gained}"));
        let after = kind(&[("v1", &v1), ("v2", &v2)], "", "v1");
        let shown = after.get(new, stored, &arena);
        assert!(same(shown, written), "{gained}: {shown:?}");
        let edited = after.put(old, document(r#"{"a":"2"}"#, &arena), Some(stored), Part::Status, &arena).unwrap();
        assert!(same(after.get(new, edited, &arena), written));
    }
}

#[test]
fn a_version_that_comes_later_does_not_change_what_an_undeclared_field_is() {
    let keeps = object("o: {type: object, x-kubernetes-preserve-unknown-fields: true}");
    let (text, number) = (
        object("o: {type: object, properties: {x: {type: string}}}"),
        object("o: {type: object, properties: {x: {type: integer}}}"),
    );
    let locked = history(&[("v1", &keeps), ("v2", &text)], "");
    let declaration = declaration(&[("v1", &keeps), ("v2alpha1", &number), ("v2", &text)], "");
    for hub in ["v1", "v2"] {
        let hub = VersionName::new(hub);
        let (kind, problems) = Kind::compile(&declaration, Some((&locked, &hub)));
        assert!(problems.is_empty(), "{problems:?}");
        let kind = kind.unwrap();
        let arena = Arena::new();
        let stored = document(r#"{"o":{"x":"text"}}"#, &arena);
        for (version, expected) in
            [("v1", r#"{"o":{"x":"text"}}"#), ("v2alpha1", r#"{"o":{}}"#), ("v2", r#"{"o":{"x":"text"}}"#)]
        {
            let shown = kind.get(kind.version(version).unwrap(), stored, &arena);
            assert!(same(shown, document(expected, &arena)), "{version}: {shown:?}");
        }
    }
}

#[test]
fn policies_for_writes_through_older_versions_stay_in_their_part_and_are_not_for_newer_ones() {
    let part = |fields: &str| format!("spec: {0}, status: {0}", object(fields));
    let v1 = object(&part("a: {type: string}, old: {type: string}"));
    let v2 =
        object(&part("a: {type: string}, b: {type: object, default: {}, properties: {c: {type: string, default: d}}}"));
    let arena = Arena::new();
    for (policy, hub) in [("reset", "v1"), ("reset", "v2"), ("reject", "v1"), ("reject", "v2")] {
        let changes = format!("v1: {{olderWrite: {policy}}}\nv2: {{olderWrite: {policy}}}");
        let kind = kind(&[("v1", &v1), ("v2", &v2)], &changes, hub);
        let (old, new) = (kind.version("v1").unwrap(), kind.version("v2").unwrap());
        let create = |version, text| kind.put(version, document(text, &arena), None, Part::Whole, &arena).unwrap();
        let write = |version, text, stored, part| kind.put(version, document(text, &arena), Some(stored), part, &arena);
        // A write of the status leaves what is hidden in the spec alone.
        let stored = create(new, r#"{"spec":{"a":"1","b":{"c":"x"}},"status":{"a":"2"}}"#);
        let status = write(old, r#"{"status":{"a":"3"}}"#, stored, Part::Status).unwrap();
        let shown = kind.get(new, status, &arena);
        assert!(same(shown.get("spec").unwrap(), document(r#"{"a":"1","b":{"c":"x"}}"#, &arena)), "{shown:?}");
        assert_eq!(
            write(old, r#"{"spec":{"a":"1"},"status":{"a":"3"}}"#, stored, Part::Whole).is_err(),
            policy == "reject"
        );
        // What only an older version has is no reason.
        let stored = create(old, r#"{"spec":{"a":"1","old":"x"}}"#);
        let written = write(new, r#"{"spec":{"a":"2"}}"#, stored, Part::Whole).unwrap();
        assert!(same(kind.get(old, written, &arena), document(r#"{"spec":{"a":"2","old":"x"}}"#, &arena)));
        // What is hidden and at its default is as good as reset.
        let stored = create(new, r#"{"spec":{"a":"1","b":{"c":"d"}}}"#);
        assert!(write(old, r#"{"spec":{"a":"2"}}"#, stored, Part::Whole).is_ok());
    }
}

/// What is converted is said, with all its parts; what is put into it later is not.
#[test]
fn parts_of_what_an_older_version_spells_otherwise_are_not_reset() {
    let pool = |fields: &str| object(&format!("n: {{type: integer}}, auto: {}", object(fields)));
    let (v1, v2) = (pool("min: {type: integer}"), pool("min: {type: integer}, max: {type: integer}"));
    let v3 = pool("min: {type: integer}, max: {type: integer}, mode: {type: string}");
    let converted = "{from: [n, auto], to: [n, auto], up: {n: self.n, auto: '{\"min\": self.auto.min, \"max\": 9}'}, \
                     down: {n: self.n, auto: '{\"min\": self.auto.min}'}}";
    let arena = Arena::new();
    for (policy, hub) in ["reset", "reject"].into_iter().flat_map(|policy| ["v1", "v2", "v3"].map(|hub| (policy, hub)))
    {
        let changes = format!("v1: {{olderWrite: {policy}}}\nv2: {{reshaped: [{converted}]}}");
        let kind = kind(&[("v1", &v1), ("v2", &v2), ("v3", &v3)], &changes, hub);
        let [old, new] = ["v1", "v3"].map(|name| kind.version(name).unwrap());
        let create = |text| kind.put(new, document(text, &arena), None, Part::Whole, &arena).unwrap();
        let back = |stored| kind.put(old, kind.get(old, stored, &arena), Some(stored), Part::Whole, &arena);
        let stored = create(r#"{"n":1,"auto":{"min":2,"max":3}}"#);
        assert!(same(back(stored).unwrap(), stored), "{policy} {hub}");
        let changed = document(r#"{"n":1,"auto":{"min":4}}"#, &arena);
        let changed = kind.put(old, changed, Some(stored), Part::Whole, &arena).unwrap();
        let expected = document(r#"{"n":1,"auto":{"min":4,"max":9}}"#, &arena);
        assert!(same(kind.get(new, changed, &arena), expected), "{policy} {hub}");
        let stored = create(r#"{"n":1,"auto":{"min":2,"max":3,"mode":"fast"}}"#);
        match back(stored) {
            Err(error) => assert_eq!((error, policy), (PutError::WouldReset("auto.mode".into()), "reject")),
            Ok(written) => {
                let shown = kind.get(new, written, &arena);
                let expected = document(r#"{"n":1,"auto":{"min":2,"max":3}}"#, &arena);
                assert!(policy == "reset" && same(shown, expected), "{policy} {hub}: {shown:?}");
            }
        }
    }
}

/// What a write through `v1` makes of what the newest version wrote, as that shows it; nothing if it is refused.
fn rewritten(versions: &[(&str, &str)], changes: &str, hub: &str, stored: &str, policy: &str) -> Option<String> {
    let kind = kind(versions, &format!("v1: {{olderWrite: {policy}}}\n{changes}"), hub);
    let arena = Arena::new();
    let [old, new] = ["v1", versions.last().unwrap().0].map(|name| kind.version(name).unwrap());
    let stored = kind.put(new, document(stored, &arena), None, Part::Whole, &arena).unwrap();
    let written = kind.put(old, kind.get(old, stored, &arena), Some(stored), Part::Whole, &arena).ok()?;
    Some(String::from_utf8(encode(kind.get(new, written, &arena))).unwrap())
}

/// Publishing a version changes nothing of what writes through older ones do.
#[test]
fn a_later_conversion_does_not_change_what_older_writes_reset() {
    let object_of = |name: &str, fields: &str| object(&format!("{name}: {}", object(fields)));
    let (v1, v2) = (object("a: {type: string}"), object_of("b", "min: {type: string}"));
    let (v3, v4) = (
        object_of("b", "min: {type: string}, mode: {type: string}"),
        object_of("c", "least: {type: string}, how: {type: string}"),
    );
    let versions = [("v1", &*v1), ("v2", &*v2), ("v3", &*v3), ("v4", &*v4)];
    let to_b = "v2: {converted: {a: {to: b, up: '{\"min\": self}', down: self.min}}}";
    let to_c = "v4: {converted: {b: {to: c, \
                up: '{\"least\": self.min, ?\"how\": self.?mode}', down: '{\"min\": self.least, ?\"mode\": self.?how}'}}}";
    for hub in ["v1", "v2", "v3"] {
        let write = |stored, policy| rewritten(&versions[..3], to_b, hub, stored, policy);
        assert_eq!(write(r#"{"b":{"min":"x","mode":"fast"}}"#, "reset").unwrap(), r#"{"b":{"min":"x"}}"#, "{hub}");
        assert_eq!(write(r#"{"b":{"min":"x","mode":"fast"}}"#, "reject"), None, "{hub}");
        assert!(write(r#"{"b":{"min":"x"}}"#, "reject").is_some(), "{hub}");
    }
    for hub in ["v1", "v2", "v3", "v4"] {
        let changes = format!("{to_b}\n{to_c}");
        let write = |stored, policy| rewritten(&versions, &changes, hub, stored, policy);
        assert_eq!(write(r#"{"c":{"least":"x","how":"fast"}}"#, "reset").unwrap(), r#"{"c":{"least":"x"}}"#, "{hub}");
        assert_eq!(write(r#"{"c":{"least":"x","how":"fast"}}"#, "reject"), None, "{hub}");
        assert!(write(r#"{"c":{"least":"x"}}"#, "reject").is_some(), "{hub}");
    }
}

/// Every step has two ways on, and they are not multiplied with each other.
#[test]
fn a_long_chain_of_conversions_is_looked_through_once() {
    let versions: Vec<(String, String)> = (1..=32)
        .map(|number| {
            let later = if number == 1 { "" } else { ", a: {type: string}, b: {type: string}" };
            (format!("v{number}"), object(&format!("x: {{type: string}}{later}")))
        })
        .collect();
    let step = |number: usize| {
        format!(
            "v{number}: {{reshaped: [{{from: [a, b], to: [a, b], up: {{a: self.b, b: self.a}}, \
             down: {{a: self.b, b: self.a}}}}]}}"
        )
    };
    let changes = (3..=32).map(step).collect::<Vec<_>>().join("\n");
    let versions: Vec<(&str, &str)> = versions.iter().map(|(name, schema)| (&**name, &**schema)).collect();
    let write = |stored, policy| rewritten(&versions, &changes, "v32", stored, policy);
    let stored = r#"{"x":"1","a":"2","b":"3"}"#;
    assert_eq!(write(stored, "reset").unwrap(), r#"{"x":"1"}"#);
    assert_eq!(write(stored, "reject"), None);
}

#[test]
fn a_field_beside_one_of_the_same_fact_is_reset() {
    let v1 = object("host: {type: string}");
    let v2 = object(&format!("host: {{type: string}}, extra: {}", object("port: {type: integer}")));
    let v3 = object("endpoint: {type: string}");
    let versions = [("v1", &*v1), ("v2", &*v2), ("v3", &*v3)];
    let changes = "v3: {reshaped: [{from: [host, extra], to: [endpoint], \
        up: {endpoint: 'self.host + (has(self.extra) ? \":\" + string(self.extra.port) : \"\")'}, \
        down: {host: 'self.endpoint.split(\":\")[0]', \
            extra: 'self.endpoint.contains(\":\") ? optional.of({\"port\": int(self.endpoint.split(\":\")[1])}) : optional.none()'}}]}";
    for hub in ["v1", "v2", "v3"] {
        let write = |stored, policy| rewritten(&versions, changes, hub, stored, policy);
        assert_eq!(write(r#"{"endpoint":"a:1"}"#, "preserve").unwrap(), r#"{"endpoint":"a:1"}"#, "{hub}");
        assert_eq!(write(r#"{"endpoint":"a:1"}"#, "reset").unwrap(), r#"{"endpoint":"a"}"#, "{hub}");
        assert_eq!(write(r#"{"endpoint":"a:1"}"#, "reject"), None, "{hub}");
        assert!(write(r#"{"endpoint":"a"}"#, "reject").is_some(), "{hub}");
    }
}

#[test]
fn a_document_that_is_no_object_replaces_nothing() {
    let v1 = object("a: {type: string}");
    let kind = kind(&[("v1", &v1)], "", "v1");
    let arena = Arena::new();
    let stored = document(r#"{"a":"1"}"#, &arena);
    let put = kind.put(kind.version("v1").unwrap(), Value::Null, Some(stored), Part::Status, &arena);
    assert_eq!(put.unwrap_err(), PutError::NoObject("null"));
}

#[test]
fn an_entry_in_the_wrong_bag_is_kept() {
    let (v1, v2) = (
        object("o: {type: object}, p: {type: object, properties: {a: {type: string}, b: {type: string}}}"),
        object(
            "o: {type: object, properties: {x: {type: string}}}, p: {type: object, properties: {a: {type: string}}}",
        ),
    );
    let kind = kind(&[("v1", &v1), ("v2", &v2)], "", "v2");
    let arena = Arena::new();
    let stored = document(r#"{"o":{"$bag":{"p.b":"lost"}}}"#, &arena);
    let (v1, v2) = (kind.version("v1").unwrap(), kind.version("v2").unwrap());
    let mut now = kind.put(v2, document(r#"{"o":{"x":"1"}}"#, &arena), Some(stored), Part::Whole, &arena).unwrap();
    now = kind.put(v2, document(r#"{"o":{"x":"2"}}"#, &arena), Some(now), Part::Whole, &arena).unwrap();
    now = kind.put(v2, document(r#"{"o":{"x":"2"},"p":{}}"#, &arena), Some(now), Part::Whole, &arena).unwrap();
    assert!(same(kind.get(v1, now, &arena), document(r#"{"o":{},"p":{"b":"lost"}}"#, &arena)), "{now:?}");
}

#[test]
fn a_list_in_the_place_of_an_object_keeps_what_other_versions_prune_in_it() {
    let keeping = "{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}}}";
    let pruning = "{type: object, properties: {a: {type: string}}}";
    let version = |item: &str| object(&format!("f: {item}, l: {{type: array, items: {item}}}, n: {{type: string}}"));
    let (v1, v2) = (version(keeping), version(pruning));
    for hub in ["v1", "v2"] {
        let kind = kind(&[("v1", &v1), ("v2", &v2)], "", hub);
        let [v1, v2] = ["v1", "v2"].map(|name| kind.version(name).unwrap());
        let arena = Arena::new();
        let written = document(r#"{"f":[{"q":1},[{"q":2}],3],"l":[[{"q":1}],{"q":1}]}"#, &arena);
        let stored = kind.put(v1, written, None, Part::Whole, &arena).unwrap();
        let shown = kind.get(v2, stored, &arena);
        assert!(same(shown, kind.normal(v2, shown, &arena).unwrap()), "{shown:?}");
        let back = kind.put(v2, kind.normal(v2, shown, &arena).unwrap(), Some(stored), Part::Whole, &arena).unwrap();
        assert!(same(kind.get(v1, back, &arena), written), "{back:?}");
    }
}
