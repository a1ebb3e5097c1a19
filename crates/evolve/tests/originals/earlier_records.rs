//! Records that earlier releases stored, with a list beside its guard and with whole values as guards.

use wheelwright_document::{Arena, Value, decode};
use wheelwright_evolve::{Kind, Part};

use super::{
    kind_of,
    sizes::{ARGUMENTS, BY_KEY, BY_VALUE, CONTACTS},
    text,
};

const ENDPOINT: [&str; 2] = [
    r#"{"type":"object","properties":{"note":{"type":"string"},"host":{"type":"string"},"port":{"type":"integer"}}}"#,
    r#"{"type":"object","properties":{"note":{"type":"string"},"endpoint":{"type":"string"}}}"#,
];
const TEMPLATE: &str = r#"{"v2":{"reshaped":[{"from":["host","port"],"to":"endpoint","template":"{host}:{port}"}]}}"#;

/// A document, the record that earlier releases stored of it, and the record that is stored today.
struct Earlier {
    versions: [&'static str; 2],
    changes: &'static str,
    document: &'static str,
    earlier: &'static str,
    today: &'static str,
}

const RECORDS: [Earlier; 4] = [
    Earlier {
        versions: ARGUMENTS,
        changes: BY_VALUE,
        document: r#"{"arguments":[{"name":"z","value":"1"},{"name":"a","value":"2"}]}"#,
        earlier: r#"{"arguments":{"z":"1","a":"2"},"$bag":{"arguments":[{"arguments[].name":"z","arguments[].value":"1"},{"arguments[].name":"a","arguments[].value":"2"}],"$guard":{"arguments#2":{"arguments#2":{"z":"1","a":"2"}}}}}"#,
        today: r#"{"arguments":{"z":"1","a":"2"},"$bag":{"$order":{"arguments#2":["z","a"]}}}"#,
    },
    // Items that the map cannot hold: two of one key, one without a key, one without a value.
    Earlier {
        versions: ARGUMENTS,
        changes: BY_VALUE,
        document: r#"{"arguments":[{"name":"z","value":"1"},{"name":"a","value":"2"},{"name":"z","value":"3"},{"value":"4"},{"name":"b"}]}"#,
        earlier: r#"{"arguments":{"z":"3","a":"2"},"$bag":{"arguments":[{"arguments[].name":"z","arguments[].value":"1"},{"arguments[].name":"a","arguments[].value":"2"},{"arguments[].name":"z","arguments[].value":"3"},{"arguments[].value":"4"},{"arguments[].name":"b"}],"$guard":{"arguments#2":{"arguments#2":{"z":"3","a":"2"}}}}}"#,
        today: r#"{"arguments":{"z":"3","a":"2"},"$bag":{"arguments":[{"arguments[].name":"z","arguments[].value":"1"},{"arguments[].name":"a","arguments[].value":"2"},{"arguments[].name":"z","arguments[].value":"3"},{"arguments[].value":"4"},{"arguments[].name":"b"}],"$guard":{"arguments#2":{"arguments#2":{"z":"3","a":"2"}}}}}"#,
    },
    Earlier {
        versions: CONTACTS,
        changes: BY_KEY,
        document: r#"{"contacts":[{"name":"z","mail":"z@example.org","port":1},{"name":"a","phone":"2"}]}"#,
        earlier: r#"{"contacts":{"z":{"mail":"z@example.org","port":1},"a":{"phone":"2"}},"$bag":{"contacts":[{"contacts[].name":"z","contacts[].mail":"z@example.org","contacts[].port":1},{"contacts[].name":"a","contacts[].phone":"2"}],"$guard":{"contacts#2":{"contacts#2":{"z":{"mail":"z@example.org","port":1},"a":{"phone":"2"}}}}}}"#,
        today: r#"{"contacts":{"z":{"mail":"z@example.org","port":1},"a":{"phone":"2"}},"$bag":{"$order":{"contacts#2":["z","a"]}}}"#,
    },
    Earlier {
        versions: ENDPOINT,
        changes: TEMPLATE,
        document: r#"{"host":"a-very-long-name-of-a-host.in-a-very-long-name-of-a-zone.cloud.example.org","port":443.0}"#,
        earlier: r#"{"endpoint":"a-very-long-name-of-a-host.in-a-very-long-name-of-a-zone.cloud.example.org:443.0","$bag":{"port":443.0,"$guard":{"endpoint":{"endpoint":"a-very-long-name-of-a-host.in-a-very-long-name-of-a-zone.cloud.example.org:443.0"}}}}"#,
        today: r#"{"endpoint":"a-very-long-name-of-a-host.in-a-very-long-name-of-a-zone.cloud.example.org:443.0","$bag":{"port":443.0,"$digest":{"endpoint":"c38732c9f301d0665ff0797e84aaf182"}}}"#,
    },
];

fn decoded<'a>(document: &str, arena: &'a Arena) -> Value<'a> {
    decode(arena.text(document).as_bytes(), arena).expect("JSON")
}

/// The document as both versions show a record.
fn views(kind: &Kind, record: &str) -> [String; 2] {
    let arena = Arena::new();
    let record = decoded(record, &arena);
    ["v1", "v2"].map(|version| text(kind.get(kind.version(version).expect("a version"), record, &arena)))
}

#[test]
fn earlier_records_are_read_unchanged_and_take_todays_form_at_the_next_write() {
    for Earlier { versions, changes, document, earlier, today } in RECORDS {
        let (kind, arena) = (kind_of(&versions, changes), Arena::new());
        assert_eq!(views(&kind, earlier)[0], document);
        assert_eq!(views(&kind, earlier), views(&kind, today));
        for version in kind.history().indexes() {
            let stored = decoded(earlier, &arena);
            let shown = text(kind.get(version, stored, &arena));
            let write = |document: &str, stored| {
                let written = kind.put(version, decoded(document, &arena), Some(stored), Part::Whole, &arena);
                text(written.expect("nothing is refused"))
            };
            // A write that changes nothing is not stored.
            assert_eq!(write(&shown, stored), earlier);
            let with_note = shown.replacen('{', r#"{"note":"new","#, 1);
            assert_eq!(write(&with_note, stored), today.replacen('{', r#"{"note":"new","#, 1));
            let written = write(&with_note, decoded(today, &arena));
            assert_eq!(written, today.replacen('{', r#"{"note":"new","#, 1));
        }
    }
}

#[test]
fn a_program_that_does_not_know_of_bags_changes_both_forms_alike() {
    // The value in the hub, and what another program makes of it.
    let edits = [
        (
            0,
            r#"{"z":"1","a":"2"}"#,
            &["{}", r#"{"a":"2"}"#, r#"{"a":"2","z":"1"}"#, r#"{"a":"5","z":"1","c":"6","b":"7"}"#][..],
        ),
        (1, r#"{"z":"3","a":"2"}"#, &["{}", r#"{"z":"8"}"#, r#"{"a":"2","b":"9","z":"3"}"#, r#"{"c":"1","a":"2"}"#]),
        (
            2,
            r#"{"z":{"mail":"z@example.org","port":1},"a":{"phone":"2"}}"#,
            &["{}", r#"{"z":{"mail":"y@example.org"}}"#, r#"{"a":{"phone":"2"},"b":{},"z":{}}"#],
        ),
        (3, ".org:443.0", &[".com:443.0", ".org:443", ".org:8080", ".org"]),
    ];
    for (record, old, news) in edits {
        let Earlier { versions, changes, earlier, today, .. } = &RECORDS[record];
        let kind = kind_of(versions, changes);
        assert!(earlier.contains(old) && today.contains(old), "{old}");
        for new in news {
            let [earlier, today] = [earlier, today].map(|record| record.replacen(old, new, 1));
            let views_of_earlier = views(&kind, &earlier);
            assert_eq!(views_of_earlier, views(&kind, &today), "{old} → {new}");
        }
    }
}

#[test]
fn an_original_that_an_earlier_release_stored_later_takes_precedence() {
    let kind = kind_of(&ARGUMENTS, BY_VALUE);
    // It keeps `$order`, which it does not know, beside the list that it stores.
    let mixed = r#"{"arguments":{"z":"1","a":"2","m":"3"},"$bag":{"arguments":[{"arguments[].name":"m","arguments[].value":"3"},{"arguments[].name":"a","arguments[].value":"2"},{"arguments[].name":"z","arguments[].value":"1"}],"$guard":{"arguments#2":{"arguments#2":{"z":"1","a":"2","m":"3"}}},"$order":{"arguments#2":["z","a"]}}}"#;
    let list = r#"{"arguments":[{"name":"m","value":"3"},{"name":"a","value":"2"},{"name":"z","value":"1"}]}"#;
    assert_eq!(views(&kind, mixed)[0], list);
    let arena = Arena::new();
    let (v1, stored) = (kind.version("v1").expect("a version"), decoded(mixed, &arena));
    let with_note = decoded(&list.replacen('{', r#"{"note":"new","#, 1), &arena);
    let written = kind.put(v1, with_note, Some(stored), Part::Whole, &arena).expect("nothing is refused");
    let today =
        r#"{"note":"new","arguments":{"z":"1","a":"2","m":"3"},"$bag":{"$order":{"arguments#2":["m","a","z"]}}}"#;
    assert_eq!(text(written), today);
}

#[test]
fn orders_and_digests_of_other_types_hide_no_item() {
    let kind = kind_of(&ARGUMENTS, BY_VALUE);
    for order in ["7", "[]", r#"{"arguments#2":7}"#, r#"{"arguments#2":[{},[],[1],null,["0"],"z","z"]}"#] {
        for key in ["$order", "$digest"] {
            let record = format!(r#"{{"arguments":{{"b":"1","z":"2"}},"$bag":{{"{key}":{order}}}}}"#);
            let list = &views(&kind, &record)[0];
            assert!(
                list.contains(r#"{"name":"b","value":"1"}"#) && list.contains(r#"{"name":"z","value":"2"}"#),
                "{list}"
            );
        }
    }
}
