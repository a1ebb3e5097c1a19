//! Cases about fields that are computed.

use wheelwright_document::{Arena, encode};

use super::{STRING, Stored, for_every_hub, object};
use crate::testing::{declaration, document, kind};

const INTEGER: &str = "{type: integer}";

#[test]
fn a_spelling_is_kept_until_somebody_changes_the_fact() {
    let v1 = object("timeout: {type: string}, note: {type: string}");
    let v2 = object("timeoutSeconds: {type: integer}");
    let changes = "v2: {converted: {timeout: {to: timeoutSeconds, with: durationSeconds}}}";
    for_every_hub(&[("v1", &v1), ("v2", &v2)], changes, |stored| {
        stored.write("v1", r#"{"timeout":"10m"}"#).reads("v2", r#"{"timeoutSeconds":600}"#);
        stored.write("v1", r#"{"timeout":"10m","note":"x"}"#).reads("v2", r#"{"timeoutSeconds":600}"#);
        stored.write("v2", r#"{"timeoutSeconds":900}"#).reads("v1", r#"{"timeout":"15m0s","note":"x"}"#);
        stored.write("v1", r#"{"timeout":"garbage"}"#).reads("v2", "{}");
        stored.write("v2", "{}").reads("v1", r#"{"timeout":"garbage"}"#);
        stored.write("v2", r#"{"timeoutSeconds":1}"#).reads("v1", r#"{"timeout":"1s"}"#);
        stored.write("v1", "{}").reads("v2", "{}");
    });
}

#[test]
fn chains_of_conversions_keep_every_spelling() {
    let v1 = object("t: {type: string}");
    let v2 = object("seconds: {type: number}");
    let v3 = object("s: {type: string}");
    let changes = "{v2: {converted: {t: {to: seconds, with: durationSeconds}}}, \
                   v3: {converted: {seconds: {to: s, with: text}}}}";
    for_every_hub(&[("v1", &v1), ("v2", &v2), ("v3", &v3)], changes, |stored| {
        stored.write("v1", r#"{"t":"1500ms"}"#).reads("v2", r#"{"seconds":1.5}"#).reads("v3", r#"{"s":"1.5"}"#);
        stored.write("v3", r#"{"s":"2.50"}"#).reads("v2", r#"{"seconds":2.5}"#).reads("v1", r#"{"t":"2.5s"}"#);
        stored.write("v3", r#"{"s":"?"}"#).reads("v2", "{}").reads("v1", "{}");
        stored.write("v2", r#"{"seconds":60}"#).reads("v1", r#"{"t":"1m0s"}"#).reads("v3", r#"{"s":"60"}"#);
    });
}

#[test]
fn a_converted_field_may_move_into_an_object_that_nobody_wrote() {
    let v1 = object("spec: {type: object, properties: {drain: {type: string}}}");
    let v2 = object(
        "spec: {type: object, properties: {deletion: {type: object, properties: {drainSeconds: {type: integer}, \
         order: {type: string}}}}}",
    );
    let changes = "v2: {converted: {spec.drain: {to: spec.deletion.drainSeconds, with: durationSeconds}}}";
    for_every_hub(&[("v1", &v1), ("v2", &v2)], changes, |stored| {
        stored.write("v1", r#"{"spec":{"drain":"1m"}}"#).reads("v2", r#"{"spec":{"deletion":{"drainSeconds":60}}}"#);
        stored.write("v1", r#"{"spec":{}}"#).reads("v2", r#"{"spec":{}}"#);
        stored.write("v2", r#"{"spec":{"deletion":{"drainSeconds":5,"order":"x"}}}"#);
        stored.reads("v1", r#"{"spec":{"drain":"5s"}}"#);
        stored.write("v1", r#"{"spec":{}}"#).reads("v2", r#"{"spec":{"deletion":{"order":"x"}}}"#);
        stored.write("v2", r#"{"spec":{"deletion":{}}}"#).reads("v1", r#"{"spec":{}}"#);
    });
}

#[test]
fn a_fact_in_a_list_item_keeps_its_spelling_with_the_item() {
    let item = |fields: &str| object(&format!("l: {{type: array, items: {{type: object, properties: {{{fields}}}}}}}"));
    let v1 = item("name: {type: string}, ttl: {type: string}");
    let v2 = item("name: {type: string}, ttlSeconds: {type: integer}");
    let changes = "v2: {converted: {\"l[].ttl\": {to: \"l[].ttlSeconds\", with: durationSeconds}}, keys: {l: [name]}}";
    for_every_hub(&[("v1", &v1), ("v2", &v2)], changes, |stored| {
        stored.write("v1", r#"{"l":[{"name":"a","ttl":"1h"},{"name":"b","ttl":"90s"}]}"#);
        stored.write("v2", r#"{"l":[{"name":"b","ttlSeconds":90},{"name":"c","ttlSeconds":1}]}"#);
        stored.reads("v1", r#"{"l":[{"name":"b","ttl":"90s"},{"name":"c","ttl":"1s"}]}"#);
    });
}

#[test]
fn a_keyed_list_keeps_its_order_and_its_hidden_data() {
    let list = |fields: &str| {
        object(&format!("m: {{type: array, items: {{type: object, properties: {{name: {STRING}, {fields}}}}}}}"))
    };
    let v1 = object("m: {type: object, additionalProperties: {type: string}}");
    let v2 = list("value: {type: string}");
    let v3 = list("value: {type: string}, secret: {type: string}");
    let changes =
        "{v2: {reshaped: [{from: m, to: m, key: name, value: value}], keys: {m: [name]}}, v3: {keys: {m: [name]}}}";
    for_every_hub(&[("v1", &v1), ("v2", &v2), ("v3", &v3)], changes, |stored| {
        stored.write("v3", r#"{"m":[{"name":"b","value":"1","secret":"s"},{"name":"a","value":"2"}]}"#);
        stored.reads("v1", r#"{"m":{"b":"1","a":"2"}}"#);
        stored.write("v1", r#"{"m":{"a":"2","b":"3","c":"4"}}"#);
        let all = r#"{"m":[{"name":"b","value":"3","secret":"s"},{"name":"a","value":"2"},{"name":"c","value":"4"}]}"#;
        stored.reads("v3", all);
    });
}

#[test]
fn a_list_that_is_a_map_by_two_keys_is_matched_by_the_key_of_the_older_step() {
    let item = |more: &str| format!("{{type: array, items: {{type: object, properties: {{b: {STRING}{more}}}}}}}");
    let map = |more: &str| {
        format!("{{type: object, additionalProperties: {{type: object, properties: {{c: {STRING}{more}}}}}}}")
    };
    let v1 = object(&format!("a: {}", map(&format!(", b: {STRING}"))));
    let v2 = object(&format!("a: {}", item(&format!(", c: {STRING}, d: {STRING}"))));
    let v3 = object(&format!("a: {}", item(&format!(", c: {STRING}, d: {STRING}, e: {STRING}"))));
    let v4 = object(&format!("a: {}", map(&format!(", d: {STRING}, e: {STRING}"))));
    let changes = "{v2: {reshaped: [{from: a, to: a, key: d}]}, v4: {reshaped: [{from: a, to: a, key: b}]}}";
    for_every_hub(&[("v1", &v1), ("v2", &v2), ("v3", &v3), ("v4", &v4)], changes, |stored| {
        stored.write("v3", r#"{"a":[{"e":"hidden"}]}"#);
        stored.write("v2", r#"{"a":[{"d":"x"}]}"#).reads("v3", r#"{"a":[{"d":"x"}]}"#);
    });
}

#[test]
fn what_is_filled_in_where_an_object_is_shown_is_read_also_if_something_derived_shows_it() {
    let item = |fields: &str| object(&format!("l: {{type: array, items: {{type: object, properties: {{{fields}}}}}}}"));
    let v1 = item("b: {type: string}, a: {type: object, properties: {a: {type: integer, default: 0}}}");
    let v2 = item("b: {type: string}, a: {type: object, properties: {a: {type: string}, b: {type: string}}}");
    let v3 = item("b: {type: string}, f: {type: string}, a: {type: object, properties: {a: {type: string}}}");
    let changes = "{v2: {converted: {'l[].a.a': {to: 'l[].a.a', with: durationSeconds}}, \
                         derived: {up: {'l[].a.b': self.b}}}, \
                    v3: {derived: {up: {'l[].f': self.a.a}}}}";
    for_every_hub(&[("v1", &v1), ("v2", &v2), ("v3", &v3)], changes, |stored| {
        stored.write("v1", r#"{"l":[{"b":"x"}]}"#);
        stored.reads("v3", r#"{"l":[{"b":"x","f":"0s"}]}"#);
    });
}

#[test]
fn what_is_filled_in_beside_a_field_is_there_also_if_another_spelling_shows_its_object() {
    let v1 =
        object("p: {type: string}, y: {type: integer}, o: {type: object, properties: {q: {type: string, default: d}}}");
    let v2 = object("p: {type: string}, o: {type: object, properties: {q: {type: string}, x: {type: string}}}");
    let v3 = object("r: {type: string}");
    let changes = "{v2: {converted: {y: {to: o.x, with: durationSeconds}}}, \
                    v3: {removed: [o.x], reshaped: [{from: [p, o.q], to: r, template: '{p}:{q}'}]}}";
    for_every_hub(&[("v1", &v1), ("v2", &v2), ("v3", &v3)], changes, |stored| {
        stored.write("v1", r#"{"p":"1","y":5}"#).reads("v2", r#"{"p":"1","o":{"q":"d","x":"5s"}}"#);
        stored.reads("v3", r#"{"r":"1:d"}"#);
    });
}

#[test]
fn a_fact_does_not_leave_what_it_consists_of_behind() {
    let v1 = object("a: {type: object, properties: {a: {type: integer}}}");
    let v2 = object("a: {type: object, properties: {a: {type: object, properties: {a: {type: string}}}}}");
    let items = "{type: array, items: {type: object, properties: {a: {type: string}}}}";
    let v3 = object(&format!("a: {{type: object, properties: {{a: {items}}}}}"));
    let changes = "{v2: {converted: {a.a: {to: a.a.a, with: durationSeconds}}}, \
                    v3: {converted: {a.a: {with: oneItem}}}}";
    for_every_hub(&[("v1", &v1), ("v2", &v2), ("v3", &v3)], changes, |stored| {
        stored.write("v3", r#"{"a":{"a":[{"a":"x"}]}}"#).reads("v1", r#"{"a":{}}"#);
        stored.write("v1", "{}").reads("v2", r#"{"a":{"a":{"a":"x"}}}"#).reads("v3", r#"{"a":{"a":[{"a":"x"}]}}"#);
    });
}

#[test]
fn a_fact_that_was_taken_away_is_back_once_somebody_changes_it_also_if_that_shows_nowhere_in_between() {
    let items =
        |fields: &str| object(&format!("a: {{type: array, items: {{type: object, properties: {{{fields}}}}}}}"));
    let v1 = object(&format!("b: {{type: object, properties: {{p: {STRING}, q: {STRING}}}}}"));
    let v2 = items(&format!("p: {STRING}, q: {STRING}"));
    let v3 = items(&format!("p: {STRING}"));
    let v4 = object(&format!("a: {{type: object, properties: {{p: {STRING}}}}}"));
    let changes = "{v2: {converted: {b: {to: a, with: oneItem}}}, v4: {converted: {a: {with: oneItem}}}}";
    for_every_hub(&[("v1", &v1), ("v2", &v2), ("v3", &v3), ("v4", &v4)], changes, |stored| {
        stored.write("v2", r#"{"a":[{},{"q":"1"}]}"#);
        stored.write("v4", "{}").reads("v1", r#"{"b":{"q":"1"}}"#).reads("v3", r#"{"a":[{}]}"#);
        stored.write("v1", r#"{"b":{"q":"2"}}"#).reads("v3", r#"{"a":[{}]}"#).reads("v4", r#"{"a":{}}"#);
    });
}

#[test]
fn whoever_takes_away_the_first_item_takes_what_that_hides_and_nothing_of_the_others() {
    let items =
        |fields: &str| object(&format!("a: {{type: array, items: {{type: object, properties: {{{fields}}}}}}}"));
    let v1 = items(&format!("p: {STRING}, q: {STRING}"));
    let v2 = items(&format!("p: {STRING}"));
    let v3 = object(&format!("a: {{type: object, properties: {{p: {STRING}}}}}"));
    for keys in ["", "v2: {keys: {a: [p]}}, "] {
        let changes = format!("{{{keys}v3: {{converted: {{a: {{with: oneItem}}}}}}}}");
        for_every_hub(&[("v1", &v1), ("v2", &v2), ("v3", &v3)], &changes, |stored| {
            stored.write("v1", r#"{"a":[{"p":"x","q":"1"},{"p":"x","q":"2"}]}"#).reads("v3", r#"{"a":{"p":"x"}}"#);
            stored.write("v3", r#"{"a":{"p":"y"}}"#).reads("v1", r#"{"a":[{"p":"y","q":"1"},{"p":"x","q":"2"}]}"#);
            stored.write("v3", r#"{"a":{"p":"x"}}"#).reads("v1", r#"{"a":[{"p":"x","q":"1"},{"p":"x","q":"2"}]}"#);
            stored.write("v3", "{}").reads("v1", r#"{"a":[{"p":"x","q":"2"}]}"#);
            stored.write("v3", r#"{"a":{"p":"x"}}"#).reads("v1", r#"{"a":[{"p":"x"},{"p":"x","q":"2"}]}"#);
        });
    }
}

#[test]
fn what_was_written_does_not_follow_what_nobody_changed() {
    let v1 = object(&format!("b: {STRING}, note: {STRING}"));
    let v2 = object(&format!("e: {INTEGER}, note: {STRING}"));
    let v3 = object(&format!("a: {INTEGER}, note: {STRING}"));
    let changes = "{v2: {derived: {up: {e: size(self.b)}, down: {b: \"'x'\"}}}, \
                    v3: {derived: {up: {a: self.e}, down: {e: self.a}}}}";
    for_every_hub(&[("v1", &v1), ("v2", &v2), ("v3", &v3)], changes, |stored| {
        stored.write("v3", r#"{"a":2}"#).reads("v2", r#"{"e":2}"#).reads("v1", r#"{"b":"x"}"#);
        stored.write("v1", r#"{"b":"x","note":"n"}"#).reads("v3", r#"{"a":2,"note":"n"}"#);
        stored.write("v2", r#"{"e":5,"note":"n"}"#).reads("v3", r#"{"a":5,"note":"n"}"#);
    });
}

#[test]
fn all_objects_of_what_is_computed_are_there_also_if_they_were_shown_before_for_what_is_in_them() {
    let inner = format!("{{type: object, properties: {{a: {{type: object, properties: {{a: {STRING}}}}}}}}}");
    let v1 = object(&format!("b: {STRING}"));
    let v2 = object(&format!("b: {inner}"));
    let v3 = object(&format!("a: {{type: array, items: {inner}}}, b: {STRING}"));
    let changes = "{v2: {renamed: {b: b.a.a}}, v3: {converted: {b: {to: a, with: oneItem}}}}";
    for_every_hub(&[("v1", &v1), ("v2", &v2), ("v3", &v3)], changes, |stored| {
        stored.write("v3", r#"{"a":[{"a":{"a":"x"}}],"b":"x"}"#).reads("v2", r#"{"b":{"a":{"a":"x"}}}"#);
        stored.write("v1", "{}").reads("v2", r#"{"b":{"a":{}}}"#);
    });
}

#[test]
fn a_list_that_cannot_be_converted_any_more_is_absent_if_nothing_can_be_hidden_in_it() {
    let v1 = object("delays: {type: array, items: {type: string}}");
    let v2 = object("seconds: {type: array, items: {type: integer}}");
    let changes = "v2: {converted: {'delays[]': {to: 'seconds[]', with: durationSeconds}}}";
    for written in [r#"{"delays":["60m"]}"#, r#"{"delays":["1h0m0s"]}"#] {
        for_every_hub(&[("v1", &v1), ("v2", &v2)], changes, |stored| {
            stored.write("v1", written).reads("v2", r#"{"seconds":[3600]}"#);
            stored.write("v2", r#"{"seconds":[9223372037]}"#).reads("v1", "{}");
        });
    }
}

#[test]
fn a_number_in_another_spelling_is_the_same_fact_and_the_same_key() {
    let items = |more: &str| {
        let item = format!("{{type: object, properties: {{w: {{type: number}}{more}}}}}");
        object(&format!("l: {{type: array, items: {item}}}, n: {{type: number}}"))
    };
    let v1 = object(&format!(
        "l: {{type: array, items: {{type: object, properties: {{w: {{type: number}}}}}}}}, t: {STRING}"
    ));
    let v2 = items(&format!(", hidden: {STRING}"));
    for keys in ["", ", keys: {l: [w]}"] {
        let changes = format!("v2: {{converted: {{t: {{to: n, with: text}}}}{keys}}}");
        for_every_hub(&[("v1", &v1), ("v2", &v2)], &changes, |stored| {
            stored.write("v2", r#"{"l":[{"w":80.0,"hidden":"a"},{"w":1e3,"hidden":"b"}]}"#);
            stored.write("v1", r#"{"l":[{"w":1000},{"w":80}],"t":"1e-7"}"#);
            stored.reads("v2", r#"{"l":[{"w":1000,"hidden":"b"},{"w":80,"hidden":"a"}],"n":1e-7}"#);
            stored.write("v2", r#"{"l":[],"n":1e-07}"#).reads("v1", r#"{"l":[],"t":"1e-7"}"#);
        });
    }
}

#[test]
fn what_has_to_be_said_of_derived_fields_too_does_not_move_what_items_hide() {
    let items = |fields: &str| {
        object(&format!("l: {{type: array, items: {{type: object, properties: {{{fields}}}}}}}, m: {STRING}"))
    };
    let one = |fields: &str| object(&format!("a: {{type: object, properties: {{{fields}}}}}, m: {STRING}"));
    let v1 = items(&format!("p: {STRING}, c: {STRING}, q: {STRING}"));
    let v2 = items(&format!("p: {STRING}, c: {STRING}"));
    let v3 = one(&format!("p: {STRING}, c: {STRING}"));
    let v4 = one(&format!("c: {STRING}"));
    let changes = "{v3: {converted: {l: {to: a, with: oneItem}}}, v4: {derived: {down: {a.p: self.m}}}}";
    for_every_hub(&[("v1", &v1), ("v2", &v2), ("v3", &v3), ("v4", &v4)], changes, |stored| {
        stored.write("v1", r#"{"l":[{"c":"w","q":"0"},{"c":"x","q":"1"},{"c":"y","q":"2"}]}"#);
        stored.write("v3", "{}").reads("v1", r#"{"l":[{"c":"x","q":"1"},{"c":"y","q":"2"}]}"#);
        stored.write("v1", r#"{"m":"5","l":[{"c":"x","q":"1"},{"c":"y","q":"2"}]}"#);
        stored.write("v3", r#"{"m":"6","a":{"p":"5","c":"z"}}"#);
        stored.reads("v1", r#"{"m":"6","l":[{"p":"5","c":"z"},{"c":"x","q":"1"},{"c":"y","q":"2"}]}"#);
    });
}

#[test]
fn an_item_whose_number_is_spelled_otherwise_keeps_its_spelling() {
    let v1 = object("delays: {type: array, items: {type: string}}");
    let v2 = object("seconds: {type: array, items: {type: number}}");
    let changes = "v2: {converted: {'delays[]': {to: 'seconds[]', with: durationSeconds}}}";
    for_every_hub(&[("v1", &v1), ("v2", &v2)], changes, |stored| {
        stored.write("v1", r#"{"delays":["60m"]}"#);
        stored.write("v2", r#"{"seconds":[3600.0,5]}"#).reads("v1", r#"{"delays":["60m","5s"]}"#);
    });
    let v1 = object("big: {type: array, items: {type: string}}");
    let v2 = object(&format!("size: {INTEGER}"));
    let changes = "v2: {converted: {big: {to: size, up: self.size(), down: \"self > 0 ? ['x'] : []\"}}}";
    for_every_hub(&[("v1", &v1), ("v2", &v2)], changes, |stored| {
        stored.write("v2", r#"{"size":-1e3}"#).reads("v1", "{}");
        stored.write("v2", r#"{"size":-1000}"#).reads("v1", r#"{"big":[]}"#);
    });
}

#[test]
fn an_object_of_which_a_part_is_another_spelling_keeps_what_nobody_declares() {
    let fields = |names: &[&str]| {
        let fields: Vec<String> = names.iter().map(|name| format!("{name}: {STRING}")).collect();
        let fields = fields.join(", ");
        format!("{{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {{{fields}}}}}")
    };
    let list = format!("b: {{type: array, items: {}}}", fields(&["b", "c"]));
    let v1 = object(&list);
    let v2 = object(&format!("a: {}", fields(&["b", "c"])));
    let v3 = object(&format!("a: {}, {list}", fields(&["c"])));
    let changes = "{v2: {converted: {b: {to: a, with: oneItem}}}, v3: {derived: {down: {a.b: self.a.c}}}}";
    for_every_hub(&[("v1", &v1), ("v2", &v2), ("v3", &v3)], changes, |stored| {
        stored.write("v3", r#"{"a":{"c":"x","u":0},"b":[{}]}"#).reads("v2", r#"{"a":{"b":"x","c":"x","u":0}}"#);
        stored.write("v3", r#"{"a":{"c":"x","u":1},"b":[{"b":"y"}]}"#);
        stored.reads("v2", r#"{"a":{"b":"y","c":"x","u":1}}"#);
    });
}

#[test]
fn items_that_change_places_keep_what_could_not_be_converted() {
    let list = |fields: &str| {
        object(&format!("a: {{type: array, items: {{type: object, properties: {{a: {STRING}{fields}}}}}}}"))
    };
    let v1 = list(&format!(", c: {STRING}"));
    let v2 = list(&format!(", b: {INTEGER}"));
    let v3 = list(&format!(", b: {INTEGER}, c: {STRING}"));
    let changes = "v2: {converted: {'a[].c': {to: 'a[].b', with: durationSeconds}}}";
    for_every_hub(&[("v1", &v1), ("v2", &v2), ("v3", &v3)], changes, |stored| {
        stored.write("v1", r#"{"a":[{"a":"5","c":"b"},{"a":"7"}]}"#);
        stored.write("v1", r#"{"a":[{"a":"7"},{"a":"5","c":"b"}]}"#);
        stored.write("v2", r#"{"a":[{"a":"5"},{"a":"7"}]}"#).reads("v1", r#"{"a":[{"a":"5","c":"b"},{"a":"7"}]}"#);
    });
    for_every_hub(&[("v1", &v1), ("v2", &v2), ("v3", &v3)], changes, |stored| {
        stored.write("v1", r#"{"a":[{"a":"5","c":"b"},{"a":7}]}"#);
        stored.write("v1", r#"{"a":[{"a":7},{"a":"5","c":"b"}]}"#);
        stored.write("v2", r#"{"a":[{"a":"5"},{"a":7}]}"#).reads("v1", r#"{"a":[{"a":"5","c":"b"},{"a":7}]}"#);
    });
}

#[test]
fn an_object_and_a_list_of_it_are_one_fact_with_what_is_hidden_in_it() {
    let v1 = object("disk: {type: object, properties: {size: {type: integer}}}");
    let v2 = object("disks: {type: array, items: {type: object, properties: {size: {type: integer}}}}");
    let v3 = object(
        "disks: {type: array, items: {type: object, properties: {size: {type: integer}, cache: {type: string}}}}",
    );
    let changes = "v2: {converted: {disk: {to: disks, with: oneItem}}}";
    for_every_hub(&[("v1", &v1), ("v2", &v2), ("v3", &v3)], changes, |stored| {
        stored.write("v3", r#"{"disks":[{"size":1,"cache":"c"},{"size":2}]}"#).reads("v1", r#"{"disk":{"size":1}}"#);
        stored.write("v1", r#"{"disk":{"size":5}}"#).reads("v3", r#"{"disks":[{"size":5,"cache":"c"},{"size":2}]}"#);
        stored.write("v1", "{}").reads("v3", r#"{"disks":[{"size":2}]}"#);
        stored.write("v1", r#"{"disk":{}}"#).reads("v2", r#"{"disks":[{},{"size":2}]}"#);
    });
}

#[test]
fn a_derived_value_is_shown_and_never_stored_until_it_is_written() {
    let v1 = object("first: {type: string}, last: {type: string}");
    let v2 = object("known: {type: string}, family: {type: string}, key: {type: string}");
    let changes = "v2: {derived: {up: {known: self.first, family: self.last, key: self.last}, \
                   down: {first: self.known, last: self.family}}}";
    for_every_hub(&[("v1", &v1), ("v2", &v2)], changes, |stored| {
        stored.write("v1", r#"{"first":"Ada","last":"Byron"}"#);
        stored.reads("v2", r#"{"known":"Ada","family":"Byron","key":"Byron"}"#);
        stored.write("v1", r#"{"first":"Ada","last":"King"}"#);
        stored.reads("v2", r#"{"known":"Ada","family":"King","key":"King"}"#);
        // What was written follows no longer, and what was written before follows it as long as it did.
        stored.write("v2", r#"{"known":"Ada","family":"Lovelace","key":"King"}"#);
        stored.reads("v1", r#"{"first":"Ada","last":"Lovelace"}"#);
        stored.write("v1", r#"{"first":"A.","last":"Lovelace"}"#);
        stored.reads("v2", r#"{"known":"A.","family":"Lovelace","key":"King"}"#);
        // Nothing can be written over what would be derived.
        stored.write("v2", r#"{"family":"Lovelace","key":"King"}"#).reads("v1", r#"{"first":"A.","last":"Lovelace"}"#);
        stored.write("v2", r#"{"family":"X"}"#).reads("v1", r#"{"first":"A.","last":"X"}"#);
    });
    for_every_hub(&[("v1", &v1), ("v2", &v2)], changes, |stored| {
        stored.write("v2", r#"{"known":"Bob","family":"F"}"#).reads("v1", r#"{"first":"Bob","last":"F"}"#);
        stored.reads("v2", r#"{"known":"Bob","family":"F"}"#);
        stored.write("v2", r#"{"family":"F"}"#).reads("v1", r#"{"last":"F"}"#);
    });
}

#[test]
fn a_constant_is_shown_only_in_objects_that_are_there() {
    let v1 =
        object("ref: {type: object, properties: {kind: {type: string}, name: {type: string}}}, mode: {type: string}");
    let v2 = object("ref: {type: object, properties: {name: {type: string}}}");
    let changes = "v2: {derived: {down: {ref.kind: \"'Node'\", mode: \"'legacy'\"}}}";
    for_every_hub(&[("v1", &v1), ("v2", &v2)], changes, |stored| {
        stored.write("v2", "{}").reads("v1", r#"{"mode":"legacy"}"#);
        stored.write("v2", r#"{"ref":{"name":"n"}}"#);
        stored.reads("v1", r#"{"ref":{"kind":"Node","name":"n"},"mode":"legacy"}"#);
        stored.write("v1", r#"{"ref":{"kind":"Pod","name":"n"}}"#).reads("v2", r#"{"ref":{"name":"n"}}"#);
    });
}

#[test]
fn fields_are_taken_apart_and_put_together() {
    let v1 = object("endpoint: {type: string}");
    let v2 = object(&format!("host: {STRING}, port: {INTEGER}"));
    let changes = "v2: {reshaped: [{from: endpoint, to: [host, port], template: '{host}:{port}'}]}";
    for_every_hub(&[("v1", &v1), ("v2", &v2)], changes, |stored| {
        stored.write("v1", r#"{"endpoint":"a:080"}"#).reads("v2", r#"{"host":"a","port":80}"#);
        stored.write("v2", r#"{"host":"b","port":80}"#).reads("v1", r#"{"endpoint":"b:80"}"#);
        stored.write("v2", r#"{"port":80}"#).reads("v1", r#"{"endpoint":":80"}"#);
        stored.write("v1", r#"{"endpoint":"no port"}"#).reads("v2", r#"{"host":"no port"}"#);
        stored.write("v1", r#"{"endpoint":"a:b"}"#).reads("v2", "{}");
    });
}

#[test]
fn parts_that_only_one_spelling_has_stay_when_the_other_is_changed() {
    let list = |fields: &str| object(&format!("u: {{type: array, items: {{type: object, properties: {{{fields}}}}}}}"));
    let map = |fields: &str| {
        object(&format!("u: {{type: object, additionalProperties: {{type: object, properties: {{{fields}}}}}}}"))
    };
    let v1 = list("name: {type: string}, age: {type: integer}, old: {type: string}");
    let v2 = map("age: {type: integer}, city: {type: string}");
    let changes = "v2: {reshaped: [{from: u, to: u, key: name}]}";
    for_every_hub(&[("v1", &v1), ("v2", &v2)], changes, |stored| {
        stored.write("v2", r#"{"u":{"a":{"age":1,"city":"C"},"b":{"city":"D"}}}"#);
        stored.reads("v1", r#"{"u":[{"name":"a","age":1},{"name":"b"}]}"#);
        stored.write("v1", r#"{"u":[{"name":"b"},{"name":"a","age":2,"old":"o"}]}"#);
        stored.reads("v2", r#"{"u":{"b":{"city":"D"},"a":{"age":2,"city":"C"}}}"#);
        stored.write("v2", r#"{"u":{"a":{"age":3,"city":"E"}}}"#);
        stored.reads("v1", r#"{"u":[{"name":"a","age":3,"old":"o"}]}"#);
    });
    let v1 = object("d: {type: object, properties: {size: {type: integer}, old: {type: string}}}");
    let v2 = list("size: {type: integer}, extra: {type: string}");
    let changes = "v2: {converted: {d: {to: u, with: oneItem}}}";
    for_every_hub(&[("v1", &v1), ("v2", &v2)], changes, |stored| {
        stored.write("v2", r#"{"u":[{"size":1,"extra":"E"},{"size":2}]}"#).reads("v1", r#"{"d":{"size":1}}"#);
        stored.write("v1", r#"{"d":{"size":5,"old":"o"}}"#).reads("v2", r#"{"u":[{"size":5,"extra":"E"},{"size":2}]}"#);
        stored.write("v2", r#"{"u":[{"size":6}]}"#).reads("v1", r#"{"d":{"size":6,"old":"o"}}"#);
    });
}

#[test]
fn an_item_that_is_edited_as_the_value_of_a_map_keeps_what_is_hidden_in_it() {
    let list = |fields: &str| {
        object(&format!("m: {{type: array, items: {{type: object, properties: {{name: {STRING}, {fields}}}}}}}"))
    };
    let v1 = object("m: {type: object, additionalProperties: {type: string}}");
    let (v2, v3) = (list("value: {type: string}"), list("value: {type: string}, secret: {type: string}"));
    // No schema says what tells the items apart, but the change does.
    let changes = "v2: {reshaped: [{from: m, to: m, key: name, value: value}]}";
    for_every_hub(&[("v1", &v1), ("v2", &v2), ("v3", &v3)], changes, |stored| {
        stored.write("v3", r#"{"m":[{"name":"b","value":"1","secret":"s"},{"name":"a","value":"2"}]}"#);
        stored.write("v1", r#"{"m":{"b":"3"}}"#).reads("v3", r#"{"m":[{"name":"b","value":"3","secret":"s"}]}"#);
    });
}

#[test]
fn a_hub_that_was_changed_behind_our_back_counts_and_what_was_not_touched_keeps_its_spelling() {
    let v1 = object("delays: {type: array, items: {type: string}}, t: {type: string}");
    let v2 = object("delays: {type: array, items: {type: integer}}, s: {type: integer}");
    let changes = "v2: {converted: {\"delays[]\": {to: \"delays[]\", with: durationSeconds}, \
                   t: {to: s, with: durationSeconds}}}";
    let kind = kind(&[("v1", &v1), ("v2", &v2)], changes, "v2");
    let arena = Arena::new();
    let mut stored = Stored { kind: &kind, arena: &arena, stored: None };
    stored.write("v1", r#"{"delays":["600s","90s"],"t":"10m"}"#);
    let text = String::from_utf8(encode(stored.stored.unwrap())).unwrap();
    for (from, to, read) in [
        ("\"s\":600,", "\"s\":600.0,", r#"{"delays":["600s","90s"],"t":"10m"}"#),
        ("\"s\":600,", "\"s\":601,", r#"{"delays":["600s","90s"],"t":"10m1s"}"#),
        ("\"delays\":[600,90],", "\"delays\":[600,91],", r#"{"delays":["600s","1m31s"],"t":"10m"}"#),
    ] {
        assert!(text.contains(from), "{text}");
        let edited = document(&text.replacen(from, to, 1), &arena);
        stored.stored = Some(edited);
        stored.reads("v1", read);
    }
}

#[test]
fn what_is_merely_shown_is_neither_reset_nor_refuses_a_write() {
    let (v1, v2) = (object("a: {type: string}"), object("a: {type: string}, b: {type: string}"));
    let changes = "{v1: {olderWrite: reject}, v2: {derived: {up: {b: self.a}}}}";
    for_every_hub(&[("v1", &v1), ("v2", &v2)], changes, |stored| {
        stored.write("v1", r#"{"a":"x"}"#).reads("v2", r#"{"a":"x","b":"x"}"#);
        stored.write("v1", r#"{"a":"y"}"#).reads("v2", r#"{"a":"y","b":"y"}"#);
    });
}

#[test]
fn what_is_written_is_read_although_the_metadata_it_is_derived_from_changed_too() {
    let spec = |fields: &str| object(&format!("spec: {{type: object, properties: {{{fields}}}}}"));
    let (v1, v2) = (spec("a: {type: string}"), spec("a: {type: string}, team: {type: string}"));
    let mut declaration =
        declaration(&[("v1", &v1), ("v2", &v2)], "v2: {derived: {up: {spec.team: metadata.labels.team}}}");
    declaration.versions.iter_mut().for_each(|version| version.root = wheelwright_schema::Root::Resource);
    let (kind, problems) = crate::Kind::compile(&declaration, None);
    assert!(problems.is_empty(), "{problems:?}");
    let (kind, arena) = (kind.unwrap(), Arena::new());
    let resource = |version: &str, label: &str, team: &str| {
        format!(
            r#"{{"apiVersion":"{version}","kind":"Test","metadata":{{"name":"x","labels":{{"team":"{label}"}}}},"spec":{{{team}}}}}"#
        )
    };
    let mut stored = Stored { kind: &kind, arena: &arena, stored: None };
    stored.write("v1", &resource("v1", "a", "")).reads("v2", &resource("v2", "a", r#""team":"a""#));
    // One that nobody wrote follows the metadata; one that somebody wrote does not.
    stored.write("v1", &resource("v1", "b", "")).reads("v2", &resource("v2", "b", r#""team":"b""#));
    stored.write("v2", &resource("v2", "c", r#""team":"b""#)).reads("v2", &resource("v2", "c", r#""team":"b""#));
}

#[test]
fn nothing_is_derived_from_the_spec_for_the_status_or_the_other_way_round() {
    let with = |spec: &str| {
        object(&format!(
            "spec: {{type: object, properties: {{{spec}}}}}, status: {{type: object, properties: {{p: {STRING}}}}}"
        ))
    };
    let declared = declaration(
        &[("v1", &with("a: {type: string}")), ("v2", &with("a: {type: string}, p: {type: string}"))],
        "v2: {derived: {up: {spec.p: self.status.p}}}",
    );
    let problems = crate::Kind::compile(&declared, None).1;
    assert_eq!(problems.iter().map(|problem| problem.rule.id).collect::<Vec<_>>(), ["WW133"]);
}

#[test]
fn a_conversion_that_fails_takes_nothing_away_that_others_have_hidden() {
    let list = |fields: &str| {
        object(&format!("m: {{type: array, items: {{type: object, properties: {{id: {INTEGER}, {fields}}}}}}}"))
    };
    let v1 = object("m: {type: object, additionalProperties: {type: string}}");
    let (v2, v3) = (list("value: {type: string}"), list("value: {type: string}, secret: {type: string}"));
    let changes = "v2: {reshaped: [{from: m, to: m, key: id, value: value}]}";
    for_every_hub(&[("v1", &v1), ("v2", &v2), ("v3", &v3)], changes, |stored| {
        let all = r#"{"m":[{"id":1,"value":"a","secret":"s"}]}"#;
        stored.write("v3", all).reads("v1", r#"{"m":{"1":"a"}}"#);
        stored.write("v1", r#"{"m":{"1":"a","x":"b"}}"#).reads("v3", all);
        stored.write("v1", r#"{"m":{"1":"b"}}"#).reads("v3", r#"{"m":[{"id":1,"value":"b","secret":"s"}]}"#);
    });
}
