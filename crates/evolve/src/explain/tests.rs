//! Cases about the reasons of values.

use wheelwright_document::encode;

use super::*;
use crate::testing::{document, kind};

fn explained(kind: &Kind, from: &str, to: &str, json: &str) -> Vec<String> {
    let arena = Arena::new();
    let [from, to] = [from, to].map(|name| kind.version(name).unwrap());
    let (shown, explained) = kind.explain(from, to, document(json, &arena), &arena).unwrap();
    let converted = kind.convert(from, to, document(json, &arena), &arena).unwrap();
    assert_eq!(encode(shown), encode(converted));
    let line = |Explained { path, value, because }: &Explained<'_>| {
        let value = String::from_utf8(encode(*value)).unwrap();
        let because = match because {
            Because::Written { at, kept: Kept::InShape } => format!("written at {at}"),
            Because::Written { at, kept: Kept::InBag } => format!("written at {at}, in a bag"),
            Because::Written { at, kept } => format!("written at {at}, {kept:?}"),
            Because::Converted { at, by } => {
                let at: Vec<String> = at.iter().map(ToString::to_string).collect();
                let by = by.iter().map(|(step, with)| format!("{} {with}", kind.history().version(*step).name));
                format!("converted from {} by {}", at.join(", "), by.collect::<Vec<_>>().join(", "))
            }
            Because::Derived { step, expression, .. } => {
                format!("derived in {} as {expression}", kind.history().version(*step).name)
            }
            Because::Default { at } => format!("default at {at}"),
            Because::Frozen { first } => format!("frozen in {}", kind.history().version(*first).name),
            Because::Implied => "implied".to_owned(),
            Because::Asked => "asked".to_owned(),
        };
        format!("{path} = {value}: {because}")
    };
    explained.iter().map(line).collect()
}

#[test]
fn every_value_has_a_reason() {
    let kind = kind(
        &[
            (
                "v1",
                "{type: object, properties: {qty: {type: integer, default: 1}, note: {type: string}, city: {type: string}}}",
            ),
            (
                "v2",
                "{type: object, properties: {quantity: {type: integer}, city: {type: string}, \
                 priority: {type: string, default: low}}}",
            ),
            (
                "v3",
                "{type: object, properties: {quantity: {type: integer}, note: {type: string}, \
                 priority: {type: string}, address: {type: object, properties: {city: {type: string}}}}}",
            ),
        ],
        "{v2: {renamed: {qty: quantity}, removed: [note]}, v3: {renamed: {city: address.city}}}",
        "v2",
    );
    assert_eq!(
        explained(&kind, "v1", "v3", r#"{"note": "a", "city": "Ulm"}"#),
        [
            "quantity = 1: default at qty",
            "note = \"a\": written at note, in a bag",
            "priority = \"low\": frozen in v2",
            "address = {\"city\":\"Ulm\"}: implied",
            "address.city = \"Ulm\": written at city",
        ]
    );
    assert_eq!(
        explained(&kind, "v3", "v1", r#"{"quantity": null}"#),
        ["qty = 1: frozen in v1"],
        "null is nothing that anybody wrote"
    );
}

#[test]
fn items_and_values_are_found_where_they_were() {
    let item = "{type: object, properties: {id: {type: string}, size: {type: integer, default: 1}}}";
    let renamed = "{type: object, properties: {name: {type: string}, size: {type: integer}}}";
    let kind = kind(
        &[
            (
                "v1",
                &format!(
                    "{{type: object, properties: {{lists: {{type: array, items: {{type: object, \
                additionalProperties: {item}}}}}}}}}"
                ),
            ),
            (
                "v2",
                &format!(
                    "{{type: object, properties: {{rows: {{type: array, items: {{type: object, \
                additionalProperties: {renamed}}}}}}}}}"
                ),
            ),
        ],
        "v2: {renamed: {lists: rows, 'lists[]{}.id': 'rows[]{}.name'}}",
        "v2",
    );
    assert_eq!(
        explained(&kind, "v1", "v2", r#"{"lists": [{}, {"a/~.b": {"id": "x"}, "c": {"size": 2}}]}"#),
        [
            "rows[0] = {}: written at lists[0]",
            "rows[1][a/~.b].name = \"x\": written at lists[1][a/~.b].id",
            "rows[1][a/~.b].size = 1: default at lists[1][a/~.b].size",
            "rows[1][c].size = 2: written at lists[1][c].size",
        ]
    );
}

#[test]
fn what_nobody_describes_is_explained_down_to_its_leaves() {
    let kind = kind(
        &[
            (
                "v1",
                "{type: object, properties: {any: {x-kubernetes-preserve-unknown-fields: true}}, \
                x-kubernetes-preserve-unknown-fields: true}",
            ),
            (
                "v2",
                "{type: object, properties: {all: {x-kubernetes-preserve-unknown-fields: true}}, \
                x-kubernetes-preserve-unknown-fields: true}",
            ),
        ],
        "v2: {renamed: {any: all}}",
        "v2",
    );
    assert_eq!(
        explained(&kind, "v1", "v2", r#"{"any": {"a": [1, {"b": null}]}, "x": {"y": []}}"#),
        ["all.a[0] = 1: written at any.a[0]", "all.a[1].b = null: written at any.a[1].b", "x.y = []: written at x.y",]
    );
}

#[test]
fn explaining_costs_no_more_than_reading_whatever_the_length_of_paths() {
    let item = |more: &str| {
        format!(
            "{{type: object, properties: {{m: {{type: object, additionalProperties: {{type: array, items: \
             {{type: object, properties: {{a: {{type: string}}{more}}}}}}}}}}}}}"
        )
    };
    let kind = kind(&[("v1", &item("")), ("v2", &item(", b: {type: string}"))], "", "v2");
    let [v1, v2] = ["v1", "v2"].map(|name| kind.version(name).unwrap());
    let arena = Arena::new();
    let key = "k".repeat(100_000);
    let json = format!(r#"{{"m":{{"{key}":[{}]}}}}"#, vec![r#"{"a":"","b":""}"#; 2_000].join(","));
    let json = document(&json, &arena);
    let (_, explained) = kind.explain(v2, v2, json, &arena).unwrap();
    assert_eq!(explained.len(), 4_000);
    let last = explained.last().unwrap();
    assert_eq!(last.path.to_string(), format!("m[{key}][1999].b"));
    assert_eq!(last.because, Because::Written { at: last.path.clone(), kept: Kept::InShape });
    let left_out: usize = kind.left_out(v2, v1, json, (json, &[]), &arena).iter().map(|path| path.as_str().len()).sum();
    assert!((4 << 20..5 << 20).contains(&left_out), "{left_out}");
}

#[test]
fn computed_values_are_told_with_what_they_came_from() {
    let versions = [
        (
            "v1",
            "{type: object, properties: {timeout: {type: string, default: 5s}, first: {type: string}, rules: {type: array, \
             items: {type: object, properties: {size: {type: string}}}}}}",
        ),
        (
            "v2",
            "{type: object, properties: {seconds: {type: integer}, knownAs: {type: string}, rules: {type: array, items: \
             {type: object, properties: {bytes: {type: integer}}}}}}",
        ),
        (
            "v3",
            "{type: object, properties: {millis: {type: integer}, nick: {type: object, properties: {name: {type: string}}}}}",
        ),
    ];
    let changes = "{v2: {converted: {timeout: {to: seconds, with: durationSeconds}, 'rules[].size': {to: 'rules[].bytes', \
         with: quantity}}, derived: {up: {knownAs: self.first}, down: {first: self.knownAs}}}, \
         v3: {converted: {seconds: {to: millis, with: {scale: 1000}}, knownAs: {to: nick, up: '{\"name\": self}', \
         down: self.name}}, removed: [rules]}}";
    let json = r#"{"timeout": "60s", "first": "Ann", "rules": [{"size": "1k"}, {"size": "1000"}]}"#;
    for hub in ["v1", "v2", "v3"] {
        let kind = kind(&versions, changes, hub);
        assert_eq!(
            explained(&kind, "v1", "v2", json),
            [
                "seconds = 60: converted from timeout by v2 durationSeconds",
                "knownAs = \"Ann\": derived in v2 as self.first",
                "rules[0].bytes = 1000: converted from rules[0].size by v2 quantity",
                "rules[1].bytes = 1000: converted from rules[1].size by v2 quantity",
            ],
            "{hub}"
        );
        assert_eq!(
            explained(&kind, "v1", "v3", json),
            [
                "millis = 60000: converted from timeout by v2 durationSeconds, v3 scale 1000",
                "nick.name = \"Ann\": converted from  by v3 expressions",
            ],
            "{hub}"
        );
        assert_eq!(explained(&kind, "v1", "v2", "{}"), ["seconds = 5: converted from timeout by v2 durationSeconds"]);
        assert_eq!(explained(&kind, "v2", "v1", "{}"), ["timeout = \"5s\": frozen in v1"]);
    }
    let kind = kind(&versions, changes, "v2");
    assert_eq!(
        explained(&kind, "v1", "v1", json),
        [
            "timeout = \"60s\": written at timeout, Original",
            "first = \"Ann\": written at first, in a bag",
            "rules[0].size = \"1k\": written at rules[0].size, Original",
            "rules[1].size = \"1000\": written at rules[1].size, Respelled",
        ]
    );
}

#[test]
fn what_is_filled_in_in_a_computed_object_is_told_as_that() {
    let versions = [
        ("v1", "{type: object, properties: {o: {type: object, properties: {a: {type: string}}}}}"),
        (
            "v2",
            "{type: object, properties: {l: {type: array, items: {type: object, properties: {a: {type: string}, \
             b: {type: string, default: x}}}}}}",
        ),
    ];
    for hub in ["v1", "v2"] {
        let kind = kind(&versions, "v2: {converted: {o: {to: l, with: oneItem}}}", hub);
        assert_eq!(
            explained(&kind, "v1", "v2", r#"{"o":{"a":"1"}}"#),
            [r#"l[0].a = "1": converted from o by v2 oneItem"#, r#"l[0].b = "x": frozen in v2"#],
            "{hub}"
        );
    }
}
