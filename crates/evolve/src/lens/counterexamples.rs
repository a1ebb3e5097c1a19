//! The cases that broke simpler rules, one test each, for every hub.

mod computed;
mod records;

use wheelwright_document::{Arena, Value, encode};

use super::same;
use crate::{
    Kind, Part,
    testing::{document, kind},
};

/// A stored document, and the versions it is written and read through.
struct Stored<'a> {
    kind: &'a Kind,
    arena: &'a Arena,
    stored: Option<Value<'a>>,
}

impl<'a> Stored<'a> {
    /// Writes a document through a version, and checks that this version then shows it, that writing back what any version
    /// shows changes nothing, and that the way to every other hub and back loses nothing.
    fn write(&mut self, version: &str, text: &str) -> &mut Self {
        let index = self.kind.version(version).unwrap();
        let written = document(text, self.arena);
        let normal = match self.stored {
            None => self.kind.normal(index, written, self.arena).unwrap(),
            Some(stored) => {
                let shown = self.kind.get(index, stored, self.arena);
                self.kind.normal_update(index, written, shown, self.arena).unwrap()
            }
        };
        let stored = self.kind.put(index, normal, self.stored, Part::Whole, self.arena).unwrap();
        self.stored = Some(stored);
        let shown = self.kind.get(index, stored, self.arena);
        assert!(same(shown, normal), "{version} wrote {normal:?} and reads {shown:?} from {stored:?}");
        for other in self.kind.history().indexes() {
            let shown = self.kind.get(other, stored, self.arena);
            let back = self.kind.put(other, shown, Some(stored), Part::Whole, self.arena).unwrap();
            assert!(same(back, stored), "writing back {shown:?} turned {stored:?} into {back:?}");
            let lenses = self.kind.lenses_for(other);
            let arena = Arena::new();
            let copy = document(&String::from_utf8(encode(stored)).unwrap(), &arena);
            let moved = self.kind.lenses().rehub(copy, &lenses, &arena);
            for reader in self.kind.history().indexes() {
                let (direct, moved) = (self.kind.get(reader, stored, self.arena), lenses.get(reader, moved, &arena));
                assert!(same(direct, moved), "{direct:?} and, from another hub, {moved:?}");
            }
            let back = lenses.rehub(moved, self.kind.lenses(), &arena);
            assert!(same(back, copy), "{copy:?} came back as {back:?} by way of {moved:?}");
        }
        self
    }

    fn reads(&mut self, version: &str, text: &str) -> &mut Self {
        let shown = self.kind.get(self.kind.version(version).unwrap(), self.stored.unwrap(), self.arena);
        let expected = document(text, self.arena);
        assert!(same(shown, expected), "{version} reads {shown:?} and not {expected:?} from {:?}", self.stored);
        self
    }
}

/// Runs a case with every version as the hub.
fn for_every_hub(versions: &[(&str, &str)], changes: &str, case: impl Fn(&mut Stored<'_>)) {
    for (hub, _) in versions {
        let kind = kind(versions, changes, hub);
        let arena = Arena::new();
        case(&mut Stored { kind: &kind, arena: &arena, stored: None });
    }
}

const STRING: &str = "{type: string}";

/// An object schema with these properties.
fn object(properties: &str) -> String {
    format!("{{type: object, properties: {{{properties}}}}}")
}

#[test]
fn what_one_version_writes_every_other_reads_and_none_erases() {
    let v1 = object("a: {type: string}, b: {type: integer}");
    let v2 = object("a: {type: string}, c: {type: boolean}");
    for_every_hub(&[("v1", &v1), ("v2", &v2)], "", |stored| {
        stored.write("v2", r#"{"a":"x","c":false}"#).reads("v1", r#"{"a":"x"}"#);
        stored.write("v1", r#"{"a":"y","b":0}"#).reads("v2", r#"{"a":"y","c":false}"#);
        stored.write("v2", "{}").reads("v1", r#"{"b":0}"#);
    });
}

#[test]
fn renames_and_moves_carry_values_at_any_depth() {
    let v1 = object(
        "a: {type: string}, l: {type: array, items: {type: object, properties: {x: {type: string}, o: {type: object, properties: {y: {type: string}}}}}}",
    );
    let v2 = object(
        "b: {type: string}, l: {type: array, items: {type: object, properties: {z: {type: string}, y: {type: string}}}}",
    );
    let changes = r#"v2: {renamed: {a: b, "l[].x": "l[].z", "l[].o.y": "l[].y"}}"#;
    for_every_hub(&[("v1", &v1), ("v2", &v2)], changes, |stored| {
        stored.write("v1", r#"{"a":"1","l":[{"x":"2","o":{"y":"3"}},{"o":{}},{}]}"#);
        stored.reads("v2", r#"{"b":"1","l":[{"z":"2","y":"3"},{},{}]}"#);
        stored.write("v2", r#"{"l":[{"z":"2","y":"4"},{},{}]}"#);
        stored.reads("v1", r#"{"l":[{"x":"2","o":{"y":"4"}},{"o":{}},{}]}"#);
    });
}

#[test]
fn absent_stays_absent_over_an_object_that_a_moved_field_implies() {
    // Both versions have x; the other field of it moved into it.
    let v1 = object(&format!("x: {}", object("f: {type: string}, g: {type: string, default: d}")));
    let v2 = object(&format!("x: {}, y: {}", object("g: {type: string}"), object("f: {type: string}")));
    for_every_hub(&[("v1", &v1), ("v2", &v2)], "v2: {renamed: {x.f: y.f}}", |stored| {
        stored.write("v2", r#"{"y":{"f":"1"}}"#).reads("v1", r#"{"x":{"f":"1","g":"d"}}"#);
        stored.write("v2", r#"{"y":{"f":"2"}}"#).reads("v2", r#"{"y":{"f":"2"}}"#);
        stored.write("v1", "{}").reads("v2", r#"{"y":{}}"#);
    });
}

#[test]
fn a_nullable_null_passes_through_a_version_that_cannot_say_it() {
    let v1 = object(
        "f: {type: string}, o: {type: object, properties: {s: {type: string}}}, m: {type: object, additionalProperties: {type: string}}",
    );
    let v2 = object(
        "f: {type: string, nullable: true}, o: {type: object, nullable: true, properties: {s: {type: string}}}, m: {type: object, additionalProperties: {type: string, nullable: true}}",
    );
    for_every_hub(&[("v1", &v1), ("v2", &v2)], "", |stored| {
        stored.write("v2", r#"{"f":null,"o":null,"m":{"a":null,"b":"x"}}"#).reads("v1", r#"{"m":{"b":"x"}}"#);
        stored.write("v1", r#"{"m":{"b":"y","c":"z"}}"#);
        stored.reads("v2", r#"{"f":null,"o":null,"m":{"a":null,"b":"y","c":"z"}}"#);
        stored.write("v1", r#"{"f":"","o":{}}"#).reads("v2", r#"{"f":"","o":{}}"#);
        stored.write("v2", r#"{"f":null}"#).reads("v1", "{}").write("v1", "{}").reads("v2", r#"{"f":null}"#);
    });
}

#[test]
fn an_emptied_object_whose_only_child_moved_away_stays() {
    let v1 = object(&format!("a: {}", object(&format!("b: {}", object("c: {type: string}")))));
    let v2 = object(&format!("a: {}", object("c: {type: string}")));
    for_every_hub(&[("v1", &v1), ("v2", &v2)], "v2: {renamed: {a.b.c: a.c}}", |stored| {
        stored.write("v2", r#"{"a":{"c":"1"}}"#).reads("v1", r#"{"a":{"b":{"c":"1"}}}"#);
        stored.write("v1", r#"{"a":{"b":{}}}"#).reads("v2", r#"{"a":{}}"#);
        stored.write("v2", r#"{"a":{"c":"2"}}"#).reads("v1", r#"{"a":{"b":{"c":"2"}}}"#);
        stored.write("v2", r#"{"a":{}}"#).reads("v1", r#"{"a":{"b":{}}}"#);
        stored.write("v1", r#"{"a":{}}"#).write("v1", r#"{"a":{"b":{"c":"3"}}}"#).reads("v2", r#"{"a":{"c":"3"}}"#);
    });
}

#[test]
fn a_null_in_the_place_of_an_object_blocks_what_moved_below_it_and_loses_nothing() {
    let v1 = object("b: {type: object, nullable: true, properties: {c: {type: string}}}");
    let v2 = object("b: {type: object, nullable: true, properties: {d: {type: string}}}, c: {type: string}");
    for_every_hub(&[("v1", &v1), ("v2", &v2)], "v2: {renamed: {b.c: c}}", |stored| {
        stored.write("v2", r#"{"b":null,"c":"1"}"#).reads("v1", r#"{"b":null}"#);
        stored.write("v2", r#"{"b":{"d":"2"},"c":"1"}"#).reads("v1", r#"{"b":{"c":"1"}}"#);
        stored.write("v2", r#"{"b":null,"c":"1"}"#).write("v1", r#"{"b":{}}"#).reads("v2", r#"{"b":{}}"#);
    });
    // A version that cannot say the null shows what moved there, and creating an object drops no null it cannot see.
    let v1 = object("b: {type: object, properties: {c: {type: string}}}");
    let v2 = object("b: {type: object, nullable: true, properties: {}}, c: {type: string, nullable: true}");
    for_every_hub(&[("v1", &v1), ("v2", &v2)], "v2: {renamed: {b.c: c}}", |stored| {
        stored.write("v2", r#"{"b":null,"c":"1"}"#).reads("v1", r#"{"b":{"c":"1"}}"#);
        stored.write("v1", r#"{"b":{"c":"2"}}"#).reads("v2", r#"{"b":null,"c":"2"}"#);
        stored.write("v2", r#"{"c":null}"#).write("v1", r#"{"b":{}}"#).reads("v2", r#"{"b":{},"c":null}"#);
    });
}

#[test]
fn whoever_clears_the_way_to_an_object_removes_nothing_that_it_could_not_see() {
    for (v1, v2, hidden, shown) in [
        ("h: {type: string}", "x: {type: string}", r#"{"h":"1"}"#, r#"{"h":"1"}"#),
        (
            "p: {type: object, properties: {h: {type: string}, y: {type: string}}}",
            "p: {type: object, properties: {y: {type: string}}}, x: {type: string}",
            r#"{"p":{"h":"1","y":"2"}}"#,
            r#"{"p":{"h":"1"}}"#,
        ),
    ] {
        let (v1, v2) =
            (object(&format!("a: {}", object(v1))), object(&format!("o: {}", object(&format!("a: {}", object(v2))))));
        let (hidden, shown) = (format!(r#"{{"a":{hidden}}}"#), format!(r#"{{"a":{shown}}}"#));
        for_every_hub(&[("v1", &v1), ("v2", &v2)], "v2: {renamed: {a: o.a}}", |stored| {
            stored.write("v2", r#"{"o":7}"#).reads("v1", "{}");
            stored.write("v1", &hidden).reads("v1", &hidden).reads("v2", r#"{"o":7}"#);
            stored.write("v2", r#"{"o":{}}"#).reads("v2", r#"{"o":{}}"#).reads("v1", &shown);
            stored.write("v2", r#"{"o":{"a":{"x":"3"}}}"#).write("v2", "{}").reads("v1", "{}");
        });
    }
}

#[test]
fn a_frozen_default_that_a_later_version_rejects_is_shown_and_is_no_error() {
    let v1 = object("size: {type: string, enum: [small, large], default: small}");
    let v2 = object("size: {type: string, enum: [large], default: large}");
    for_every_hub(&[("v1", &v1), ("v2", &v2)], "", |stored| {
        stored.stored = Some(Value::Object(&[]));
        stored.reads("v1", r#"{"size":"small"}"#).reads("v2", r#"{"size":"small"}"#);
        stored.write("v2", r#"{"size":"small"}"#).write("v2", r#"{"size":"large"}"#).reads("v1", r#"{"size":"large"}"#);
    });
    // A later version's own default is for what is written through it.
    for_every_hub(&[("v1", &v1), ("v2", &v2)], "", |stored| {
        stored.write("v2", "{}").reads("v1", r#"{"size":"large"}"#);
    });
}

#[test]
fn a_default_that_arrives_after_its_field_fills_no_old_document() {
    let v1 = object("f: {type: string}");
    let v2 = object("f: {type: string, default: d}, o: {type: object, properties: {g: {type: string, default: e}}}");
    for_every_hub(&[("v1", &v1), ("v2", &v2)], "", |stored| {
        stored.write("v1", "{}").reads("v2", "{}").write("v2", "{}").reads("v1", "{}");
        // New objects are filled, and so is what was there and was removed.
        stored.write("v2", r#"{"o":{}}"#).reads("v2", r#"{"o":{"g":"e"}}"#);
        stored.write("v2", r#"{"f":"x"}"#).write("v2", "{}").reads("v1", r#"{"f":"d"}"#);
    });
}

#[test]
fn a_hub_moved_there_and_back_keeps_what_is_in_the_bag() {
    let v1 = object(
        "old: {type: object, properties: {a: {type: string}, l: {type: array, items: {type: object, properties: {s: {type: string}}}}}}",
    );
    let v2 = object("new: {type: object, properties: {b: {type: string}}}");
    let v3 = object("new: {type: object, properties: {b: {type: string}, a: {type: string}}}, $bag: {type: string}");
    let versions = [("v1", v1.as_str()), ("v2", v2.as_str()), ("v3", v3.as_str())];
    for_every_hub(&versions, "", |stored| {
        stored.write("v1", r#"{"old":{"a":"1","l":[{"s":"2"},{}]}}"#).write("v2", r#"{"new":{"b":"3"}}"#);
        stored.write("v3", r#"{"new":{"b":"3","a":"4"},"$bag":"mine"}"#);
        stored.reads("v1", r#"{"old":{"a":"1","l":[{"s":"2"},{}]}}"#).reads("v2", r#"{"new":{"b":"3"}}"#);
        stored.write("v1", "{}").reads("v3", r#"{"new":{"b":"3","a":"4"},"$bag":"mine"}"#);
    });
}

#[test]
fn deleting_the_first_item_does_not_give_its_secret_to_the_second() {
    let item = |fields: &str| object(&format!("l: {{type: array, items: {}}}", object(fields)));
    let v1 = item("name: {type: string}");
    let v2 = item("name: {type: string}, secret: {type: string}");
    for keys in ["", "v1: {keys: {l: [name]}}"] {
        for_every_hub(&[("v1", &v1), ("v2", &v2)], keys, |stored| {
            stored.write("v2", r#"{"l":[{"name":"a","secret":"1"},{"name":"b","secret":"2"}]}"#);
            stored.write("v1", r#"{"l":[{"name":"b"}]}"#).reads("v2", r#"{"l":[{"name":"b","secret":"2"}]}"#);
            stored.write("v1", r#"{"l":[{"name":"c"},{"name":"b"}]}"#);
            stored.reads("v2", r#"{"l":[{"name":"c"},{"name":"b","secret":"2"}]}"#);
            stored.write("v1", r#"{"l":[{"name":"b"},{"name":"c"}]}"#);
            stored.reads("v2", r#"{"l":[{"name":"b","secret":"2"},{"name":"c"}]}"#);
        });
    }
}

#[test]
fn of_two_items_with_one_visible_key_the_nth_stays_the_nth() {
    let item = |fields: &str, keys: &str| {
        let items = format!("{{type: object, properties: {{{fields}}}, required: [{keys}]}}");
        object(&format!(
            "l: {{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [{keys}], items: {items}}}"
        ))
    };
    let v1 = item("port: {type: integer}, note: {type: string}", "port");
    let v2 = item("port: {type: integer}, protocol: {type: string}, note: {type: string}", "port, protocol");
    for_every_hub(&[("v1", &v1), ("v2", &v2)], "", |stored| {
        stored.write("v2", r#"{"l":[{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP"}]}"#);
        stored.write("v1", r#"{"l":[{"port":53},{"port":53,"note":"x"}]}"#);
        stored.reads("v2", r#"{"l":[{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP","note":"x"}]}"#);
        stored.write("v1", r#"{"l":[{"port":80},{"port":53},{"port":53,"note":"x"},{"port":53}]}"#);
        stored.reads(
            "v2",
            r#"{"l":[{"port":80},{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP","note":"x"},{"port":53}]}"#,
        );
    });
}

#[test]
fn a_union_switched_by_an_old_client_loses_the_member_it_cannot_see() {
    let member = |names: &[&str]| {
        let fields: Vec<_> = names.iter().map(|name| format!("{name}: {STRING}")).collect();
        let required: Vec<_> = names.iter().map(|name| format!("{{required: [{name}]}}")).collect();
        let union =
            format!("{{type: object, properties: {{{}}}, oneOf: [{}]}}", fields.join(", "), required.join(", "));
        object(&format!("source: {union}, other: {STRING}"))
    };
    let (v1, v2) = (member(&["git", "http"]), member(&["git", "http", "oci"]));
    for_every_hub(&[("v1", &v1), ("v2", &v2)], "", |stored| {
        stored.write("v2", r#"{"source":{"oci":"x"}}"#).reads("v1", "{}");
        stored.write("v1", r#"{"source":{},"other":"y"}"#).reads("v2", r#"{"source":{"oci":"x"},"other":"y"}"#);
        stored.write("v1", r#"{"source":{"git":"z"}}"#).reads("v2", r#"{"source":{"git":"z"}}"#);
    });
}

#[test]
fn a_union_switch_leaves_a_member_that_the_version_shows_elsewhere() {
    let union =
        "{type: object, properties: {a: {type: string}, b: {type: string}}, oneOf: [{required: [a]}, {required: [b]}]}";
    let v1 = object(&format!("u: {union}"));
    let v2 = object("u: {type: object, properties: {b: {type: string}}}, c: {type: string}");
    for_every_hub(&[("v1", &v1), ("v2", &v2)], "v2: {renamed: {u.a: c}}", |stored| {
        stored.write("v1", r#"{"u":{"a":"x"}}"#).write("v2", r#"{"u":{"b":"y"},"c":"x"}"#);
        stored.reads("v1", r#"{"u":{"a":"x","b":"y"}}"#);
    });
}

#[test]
fn a_member_set_in_an_object_that_its_writer_did_not_see_removes_the_one_that_another_version_has_elsewhere() {
    let union = |fields: &str, names: [&str; 2]| {
        format!(
            "{{type: object, properties: {{{fields}}}, oneOf: [{{required: [{}]}}, {{required: [{}]}}]}}",
            names[0], names[1]
        )
    };
    let v1 = object(&format!("u: {}", union("a: {type: string}, b: {type: string}", ["a", "b"])));
    let v2 = object("c: {type: string}");
    let v3 = object(&format!("u: {}", object("b: {type: string}")));
    for_every_hub(&[("v1", &v1), ("v2", &v2), ("v3", &v3)], "v2: {renamed: {u.a: c}}", |stored| {
        stored.write("v2", r#"{"c":"x"}"#).reads("v1", r#"{"u":{"a":"x"}}"#).reads("v3", "{}");
        stored.write("v3", r#"{"u":{"b":"y"}}"#).reads("v1", r#"{"u":{"b":"y"}}"#).reads("v2", "{}");
    });
}

#[test]
fn every_discriminator_that_a_version_has_switches_the_union() {
    let v1 =
        object(&format!("u: {}", object("t: {type: string}, k: {type: string}, a: {type: string}, b: {type: string}")));
    let v2 = object(&format!("u: {}", object("t: {type: string}, k: {type: string}, b: {type: string}")));
    let changes =
        "{v1: {union: {u: {members: [a, b], discriminator: t}}}, v2: {union: {u: {members: [b], discriminator: k}}}}";
    for written in [r#"{"u":{"t":"2"}}"#, r#"{"u":{"t":"1","k":"2"}}"#] {
        for_every_hub(&[("v1", &v1), ("v2", &v2)], changes, |stored| {
            stored.write("v1", r#"{"u":{"t":"1","a":"x"}}"#).write("v2", written).reads("v1", written);
        });
    }
}

#[test]
fn what_is_hidden_belongs_to_the_objects_that_hold_it_in_every_version_whatever_the_hub() {
    let v1 = object(&format!("a: {}", object("x: {type: string}")));
    let v2 = object(&format!("a: {}, b: {STRING}", object("x: {type: string}, c: {type: string}")));
    let v3 = object(&format!("a: {}", object("x: {type: string}, c: {type: string}, b: {type: string}")));
    for_every_hub(&[("v1", &v1), ("v2", &v2), ("v3", &v3)], "v3: {renamed: {b: a.b}}", |stored| {
        stored.write("v2", r#"{"a":{"c":"1"},"b":"2"}"#).reads("v3", r#"{"a":{"c":"1","b":"2"}}"#);
        // Everybody has c in a; only some have b there.
        stored.write("v1", "{}").reads("v2", r#"{"b":"2"}"#).reads("v3", r#"{"a":{"b":"2"}}"#);
    });
}

#[test]
fn a_required_parent_removed_by_an_old_client_goes_with_what_it_hides() {
    let v1 = object(&format!("p: {}", object("a: {type: string}")));
    let v2 = "{type: object, required: [p], properties: {p: {type: object, required: [b], properties: {a: {type: string}, b: {type: string}}}}}";
    for_every_hub(&[("v1", &v1), ("v2", v2)], "", |stored| {
        stored.write("v2", r#"{"p":{"a":"1","b":"2"}}"#).write("v1", "{}").reads("v2", "{}");
        stored.write("v1", r#"{"p":{"a":"3"}}"#).reads("v2", r#"{"p":{"a":"3"}}"#);
    });
}

#[test]
fn a_field_that_returns_after_two_versions_with_another_shape_meets_no_old_value() {
    let with = |shape: &str| object(&format!("f: {shape}, g: {STRING}"));
    let without = object("g: {type: string}");
    let (v1, v4) = (with("{type: string}"), with("{type: integer}"));
    let versions = [("v1", v1.as_str()), ("v2", without.as_str()), ("v3", without.as_str()), ("v4", v4.as_str())];
    for_every_hub(&versions, "", |stored| {
        stored.write("v1", r#"{"f":"text","g":"1"}"#).reads("v4", r#"{"g":"1"}"#);
        stored.write("v4", r#"{"f":7,"g":"2"}"#).reads("v1", r#"{"f":"text","g":"2"}"#);
        stored.write("v2", r#"{"g":"3"}"#).reads("v4", r#"{"f":7,"g":"3"}"#).reads("v1", r#"{"f":"text","g":"3"}"#);
    });
}

#[test]
fn unknown_fields_are_kept_for_versions_that_keep_them_and_never_taken_for_a_bag() {
    let v1 = object("o: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}}}");
    let v2 = object("o: {type: object, properties: {a: {type: string}, b: {type: string}}}");
    for_every_hub(&[("v1", &v1), ("v2", &v2)], "", |stored| {
        let document = r#"{"o":{"a":"1","x":{"deep":[1.0]},"$bag":{"o.b":"no"},"$$bag":2}}"#;
        stored.write("v1", document).reads("v2", r#"{"o":{"a":"1"}}"#);
        stored.write("v2", r#"{"o":{"a":"2","b":"3"}}"#);
        stored.reads("v1", r#"{"o":{"a":"2","b":"3","x":{"deep":[1.0]},"$bag":{"o.b":"no"},"$$bag":2}}"#);
        stored.write("v1", r#"{"o":{"b":"3","y":1}}"#).reads("v2", r#"{"o":{"b":"3"}}"#);
    });
}

#[test]
fn what_was_kept_without_a_schema_is_read_once_there_is_one() {
    let v1 = object("o: {type: object, x-kubernetes-preserve-unknown-fields: true}");
    let v2 = object(
        "o: {type: object, properties: {level: {type: integer, default: 3}, p: {type: object, properties: {q: {type: string}}}}}",
    );
    for_every_hub(&[("v1", &v1), ("v2", &v2)], "", |stored| {
        stored.write("v1", r#"{"o":{"level":7,"p":{"q":"x","r":null},"else":1}}"#);
        stored.reads("v2", r#"{"o":{"level":7,"p":{"q":"x"}}}"#);
        stored.write("v2", r#"{"o":{"level":8,"p":{}}}"#);
        stored.reads("v1", r#"{"o":{"level":8,"p":{"r":null},"else":1}}"#);
        // Nothing is filled in where nothing is declared.
        stored.write("v1", r#"{"o":{}}"#).reads("v2", r#"{"o":{"level":3}}"#).reads("v1", r#"{"o":{}}"#);
        stored.write("v1", r#"{"o":{"level":"wrong","p":null}}"#).reads("v2", r#"{"o":{"level":"wrong"}}"#);
        // What the other would prune, it does not show, and so does not take away by writing back.
        stored
            .write("v1", r#"{"o":{"level":{"deep":[1]},"p":[{"q":1}]}}"#)
            .reads("v2", r#"{"o":{"level":{},"p":[{}]}}"#);
        stored
            .write("v2", r#"{"o":{"level":{},"p":[{}]}}"#)
            .reads("v1", r#"{"o":{"level":{"deep":[1]},"p":[{"q":1}]}}"#);
    });
    // What was stored before there was a schema is found as well.
    let v3 = object("o: {type: object, properties: {other: {type: string}}}");
    let kind = kind(&[("v1", &v1), ("v2", &v2), ("v3", &v3)], "", "v3");
    let arena = Arena::new();
    let old = document(r#"{"o":{"$bag":{"$unknown":{"level":5}}}}"#, &arena);
    for version in ["v1", "v2"] {
        let shown = kind.get(kind.version(version).unwrap(), old, &arena);
        assert!(same(shown, document(r#"{"o":{"level":5}}"#, &arena)), "{shown:?}");
    }
}

#[test]
fn what_is_kept_without_a_schema_leaves_out_what_the_version_has_elsewhere() {
    let v1 = object("o: {type: object, x-kubernetes-preserve-unknown-fields: true}, q: {type: string}");
    let v2 = object(&format!("o: {}", object(&format!("p: {}", object("q: {type: string}, r: {type: string}")))));
    let v3 = object(&format!("o: {}", object(&format!("p: {}", object("q: {type: integer}")))));
    for_every_hub(&[("v1", &v1), ("v2", &v2), ("v3", &v3)], "v2: {renamed: {q: o.p.q}}", |stored| {
        // To v1, o.p.q is v3's: v2's it has as q.
        stored.write("v1", r#"{"o":{"p":{"q":7,"r":"1"}},"q":"x"}"#);
        stored.reads("v2", r#"{"o":{"p":{"q":"x","r":"1"}}}"#).reads("v3", r#"{"o":{"p":{"q":7}}}"#);
        stored.write("v3", r#"{"o":{"p":{"q":8}}}"#).reads("v1", r#"{"o":{"p":{"q":8,"r":"1"}},"q":"x"}"#);
    });
}

#[test]
fn null_among_the_values_of_a_map_is_of_the_wrong_type_where_no_version_can_say_it() {
    let values = |fields: &str| object(&format!("m: {{type: object, additionalProperties: {}}}", object(fields)));
    let (v1, v2) = (values("a: {type: string}"), values("a: {type: string}, b: {type: string}"));
    for hub in ["v1", "v2"] {
        let kind = kind(&[("v1", &v1), ("v2", &v2)], "", hub);
        let arena = Arena::new();
        let written = document(r#"{"m":{"x":null}}"#, &arena);
        let version = |name: &str| kind.version(name).unwrap();
        let stored = kind.put(version("v1"), written, None, Part::Whole, &arena).unwrap();
        for reader in ["v1", "v2"] {
            assert!(same(kind.get(version(reader), stored, &arena), written), "{reader} with hub {hub}");
        }
    }
}

#[test]
fn a_value_of_the_wrong_type_is_carried_as_it_is() {
    let v1 = object(&format!(
        "o: {}, l: {{type: array, items: {}}}",
        object("a: {type: string}"),
        object("b: {type: string}")
    ));
    let v2 = object(&format!(
        "p: {}, m: {{type: array, items: {}}}",
        object("a: {type: string}"),
        object("c: {type: string}")
    ));
    for_every_hub(&[("v1", &v1), ("v2", &v2)], "v2: {renamed: {o: p, l: m}}", |stored| {
        stored.write("v1", r#"{"o":"text","l":[1,null,"x",{}]}"#).reads("v2", r#"{"p":"text","m":[1,null,"x",{}]}"#);
        stored.write("v2", r#"{"p":[],"m":{}}"#).reads("v1", r#"{"o":[],"l":{}}"#);
    });
}

#[test]
fn an_item_that_leaves_out_a_key_with_a_default_is_not_new() {
    let list = |fields: &str| {
        object(&format!(
            "l: {{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [port, protocol], items: {{type: object, required: [port], properties: {{port: {{type: integer}}, protocol: {{type: string, default: TCP}}{fields}}}}}}}"
        ))
    };
    let (v1, v2) = (list(", mode: {type: string}"), list(", mode: {type: string, default: fast}"));
    for_every_hub(&[("v1", &v1), ("v2", &v2)], "", |stored| {
        stored.write("v1", r#"{"l":[{"port":80,"protocol":"TCP"}]}"#);
        stored.write("v2", r#"{"l":[{"port":80},{"port":81}]}"#);
        stored.reads("v2", r#"{"l":[{"port":80,"protocol":"TCP"},{"port":81,"protocol":"TCP","mode":"fast"}]}"#);
    });
}
