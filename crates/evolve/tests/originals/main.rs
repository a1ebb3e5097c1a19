//! Facts in other spellings than the hub's: when somebody changes the hub's without knowing of them, and when they return.

mod earlier_records;
mod sizes;

use wheelwright_document::{Arena, Decode, Span, Value, decode, decode_json_spanned, encode};
use wheelwright_evolve::{Declaration, DeclaredVersion, Kind, Part, VersionName, parse_changes};
use wheelwright_schema::{Root, lower_schema};

const V1: &str = r#"{"type":"object","properties":{"delays":{"type":"array","items":{"type":"string"}},
    "arguments":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"value":{"type":"string"}}}}}}"#;
const V2: &str = r#"{"type":"object","properties":{"delaySeconds":{"type":"array","items":{"type":"integer"}},
    "arguments":{"type":"object","additionalProperties":{"type":"string"}}}}"#;
const CHANGES: &str = r#"{"v2":{"converted":{"delays[]":{"to":"delaySeconds[]","with":"durationSeconds"}},
    "reshaped":[{"from":"arguments","to":"arguments","key":"name","value":"value"}]}}"#;

fn kind_of(versions: &[&'static str], changes: &'static str) -> Kind {
    let arena = Arena::new();
    let read = |text: &'static str| decode_json_spanned(text.as_bytes(), &arena, &Decode::default()).expect("JSON");
    let mut declaration = Declaration::new("", "Test");
    for (position, schema) in versions.iter().enumerate() {
        let (name, schema) = (VersionName::new(format!("v{}", position + 1)), lower_schema(&read(schema)).item);
        declaration.versions.push(DeclaredVersion::new(name, schema, Root::Value, Span::default()));
    }
    declaration.steps = parse_changes(&read(changes)).0;
    let (kind, problems) = Kind::compile(&declaration, None);
    assert!(problems.is_empty(), "{problems:?}");
    kind.expect("there are versions")
}

fn text(value: Value<'_>) -> String {
    String::from_utf8(encode(value)).expect("JSON is text")
}

/// What the first version reads after it wrote a document and somebody replaced a text in what is stored.
fn after_replacing(document: &str, old: &str, new: &str) -> String {
    let (kind, arena) = (kind_of(&[V1, V2], CHANGES), Arena::new());
    let (v1, hub) = (kind.version("v1").expect("a version"), kind.lenses().hub());
    assert_eq!(kind.version("v2"), Some(hub));
    let document = decode(document.as_bytes(), &arena).expect("JSON");
    let stored = kind.put(v1, document, None, Part::Whole, &arena).expect("nothing is refused");
    assert_eq!(kind.get(v1, stored, &arena), document);
    let stored = text(stored);
    let (shown, bag) = stored.split_once(r#","$bag""#).expect("something is in the bag");
    assert!(shown.contains(old), "{shown}");
    let changed = format!(r#"{},"$bag"{bag}"#, shown.replace(old, new));
    text(kind.get(v1, decode(arena.text(&changed).as_bytes(), &arena).expect("JSON"), &arena))
}

#[test]
fn items_that_did_not_change_keep_their_spelling() {
    let read = after_replacing(r#"{"delays":["60s","120s","3h"]}"#, "120", "90");
    assert_eq!(read, r#"{"delays":["60s","1m30s","3h"]}"#);
}

#[test]
fn items_of_a_list_that_is_a_map_elsewhere_keep_their_order() {
    let document = r#"{"arguments":[{"name":"z","value":"1"},{"name":"a","value":"2"}]}"#;
    assert_eq!(
        after_replacing(document, r#""2""#, r#""3""#),
        r#"{"arguments":[{"name":"z","value":"1"},{"name":"a","value":"3"}]}"#
    );
}

/// An object that became a list, and returned beside it with other fields.
const RETURNED: [&str; 3] = [
    r#"{"type":"object","properties":{"disk":{"type":"object","properties":{"path":{"type":"string"}}}}}"#,
    r#"{"type":"object","properties":{"disks":{"type":"array","items":{"type":"object","properties":{
        "path":{"type":"string"}}}}}}"#,
    r#"{"type":"object","properties":{"disks":{"type":"array","items":{"type":"object","properties":{
        "path":{"type":"string"}}}},"disk":{"type":"object","properties":{"size":{"type":"integer"}}}}}"#,
];

#[test]
fn what_a_version_says_in_both_spellings_is_what_it_reads_whatever_the_hub() {
    let kind = kind_of(&RETURNED, r#"{"v2":{"converted":{"disk":{"to":"disks","with":"oneItem"}}}}"#);
    let arena = Arena::new();
    let version = kind.version("v3").unwrap();
    let document = decode(br#"{"disks":[],"disk":{"size":1}}"#, &arena).unwrap();
    for hub in kind.history().indexes() {
        let lenses = kind.lenses_for(hub);
        let old = lenses.put(version, decode(b"{}", &arena).unwrap(), None, Part::Whole, &arena).unwrap();
        let stored = lenses.put(version, document, Some(old), Part::Whole, &arena).unwrap();
        assert_eq!(text(lenses.get(version, stored, &arena)), text(document), "hub {}", hub.position());
    }
}

const ENDPOINT: [&str; 3] = [
    r#"{"type":"object","properties":{"host":{"type":"string"}}}"#,
    r#"{"type":"object","properties":{"host":{"type":"string"},"port":{"type":"integer","default":443}}}"#,
    r#"{"type":"object","properties":{"endpoint":{"type":"string"}}}"#,
];

#[test]
fn of_several_fields_what_a_version_shows_is_converted_if_one_of_them_is_there() {
    let kind = kind_of(
        &ENDPOINT,
        r#"{"v3":{"reshaped":[{"from":["host","port"],"to":"endpoint","template":"{host}:{port}"}]}}"#,
    );
    let arena = Arena::new();
    let [v1, v2, v3] = ["v1", "v2", "v3"].map(|name| kind.version(name).unwrap());
    let document = |text: &'static str| decode(text.as_bytes(), &arena).unwrap();
    for hub in kind.history().indexes() {
        let lenses = kind.lenses_for(hub);
        let put = |version, text, old| lenses.put(version, document(text), old, Part::Whole, &arena).unwrap();
        let shown = |version, stored| text(lenses.get(version, stored, &arena));
        let old = put(v1, r#"{"host":"h"}"#, None);
        assert_eq!(shown(v2, old), r#"{"host":"h","port":443}"#);
        assert_eq!(shown(v3, old), r#"{"endpoint":"h:443"}"#, "hub {}", hub.position());
        assert_eq!(text(put(v3, r#"{"endpoint":"h:443"}"#, Some(old))), text(old));
        let without = put(v3, r#"{"endpoint":"h"}"#, Some(old));
        assert_eq!((shown(v3, without), shown(v2, without)), (r#"{"endpoint":"h"}"#.into(), shown(v2, old)));
        let moved = put(v2, r#"{"host":"g","port":443}"#, Some(without));
        assert_eq!(shown(v3, moved), r#"{"endpoint":"g:443"}"#);
        // Where neither is there, there is nothing to convert, and a default of one part is none of the whole.
        let none = put(v1, "{}", Some(old));
        assert_eq!((shown(v2, none), shown(v3, none)), (r#"{"port":443}"#.into(), "{}".into()));
    }
}

/// What two versions show after each of several writes, whatever the hub.
fn shown_after(versions: &[&'static str; 2], changes: &'static str, writes: &[(&str, &str)], expected: [&str; 2]) {
    let (kind, arena) = (kind_of(versions, changes), Arena::new());
    for hub in kind.history().indexes() {
        let lenses = kind.lenses_for(hub);
        let mut stored = None;
        for (version, document) in writes {
            let (version, document) = (kind.version(version).expect("declared"), arena.text(document).as_bytes());
            let document = decode(document, &arena).expect("JSON");
            let now = lenses.put(version, document, stored, Part::Whole, &arena).expect("nothing is refused");
            assert_eq!(text(lenses.get(version, now, &arena)), text(document), "{writes:?}, hub {}", hub.position());
            stored = Some(now);
        }
        for (version, expected) in ["v1", "v2"].into_iter().zip(expected) {
            let shown =
                lenses.get(kind.version(version).expect("declared"), stored.expect("something was written"), &arena);
            assert_eq!(text(shown), expected, "{version} after {writes:?}, hub {}", hub.position());
        }
    }
}

#[test]
fn who_removes_the_one_item_removes_no_other() {
    let versions = [RETURNED[0], RETURNED[1]];
    let after = |writes: &[(&str, &str)], expected| {
        shown_after(&versions, r#"{"v2":{"converted":{"disk":{"to":"disks","with":"oneItem"}}}}"#, writes, expected);
    };
    let first = ("v2", r#"{"disks":[{"path":"a"},{"path":"b"}]}"#);
    after(&[first, ("v1", "{}")], ["{}", r#"{"disks":[{"path":"b"}]}"#]);
    let again = [first, ("v1", "{}"), ("v1", r#"{"disk":{"path":"c"}}"#)];
    after(&again, [r#"{"disk":{"path":"c"}}"#, r#"{"disks":[{"path":"c"},{"path":"b"}]}"#]);
    let changed = [first, ("v1", "{}"), ("v2", r#"{"disks":[{"path":"c"}]}"#)];
    after(&changed, [r#"{"disk":{"path":"c"}}"#, r#"{"disks":[{"path":"c"}]}"#]);
    after(&[("v1", r#"{"disk":{"path":"a"}}"#), ("v1", "{}")], ["{}", "{}"]);
}

#[test]
fn who_removes_a_key_removes_none_that_it_hides() {
    const LABELS: &str =
        r#"{"type":"object","properties":{"labels":{"type":"object","additionalProperties":{"type":"string"}}}}"#;
    let after = |writes: &[(&str, &str)], expected| {
        let changes = r#"{"v2":{"reshaped":[{"from":"labels","to":"labels","renamedKeys":{"app":"application"}}]}}"#;
        shown_after(&[LABELS, LABELS], changes, writes, expected);
    };
    let first = ("v2", r#"{"labels":{"app":"own","application":"shop"}}"#);
    after(&[first], [r#"{"labels":{"app":"shop"}}"#, first.1]);
    let removed = ("v1", r#"{"labels":{}}"#);
    after(&[first, removed], [removed.1, r#"{"labels":{"app":"own"}}"#]);
    let set = ("v1", r#"{"labels":{"app":"new"}}"#);
    after(&[first, removed, set], [set.1, r#"{"labels":{"application":"new","app":"own"}}"#]);
    // What did not change is still not there for the one who removed it.
    let other = ("v2", r#"{"labels":{"app":"own","k":"v"}}"#);
    after(&[first, removed, other], [r#"{"labels":{"k":"v"}}"#, other.1]);
    // A key that is none of the renamed ones for the one side is none that it hides for the other.
    after(
        &[("v2", r#"{"labels":{"app":"own"}}"#), ("v2", r#"{"labels":{}}"#)],
        [r#"{"labels":{}}"#, r#"{"labels":{}}"#],
    );
    after(&[first, ("v1", "{}")], ["{}", "{}"]);
}

/// Three spellings in a chain: minutes or seconds as a text, whole seconds, and seconds as a text of their own.
const CHAIN: [&str; 3] = [
    r#"{"type":"object","properties":{"wait":{"type":"string"},"waits":{"type":"array","items":{"type":"string"}}}}"#,
    r#"{"type":"object","properties":{"seconds":{"type":"integer"},
        "manySeconds":{"type":"array","items":{"type":"integer"}}}}"#,
    r#"{"type":"object","properties":{"size":{"type":"string"},"sizes":{"type":"array","items":{"type":"string"}}}}"#,
];
const CHAIN_CHANGES: &str = r#"{
    "v2":{"converted":{"wait":{"to":"seconds","with":"durationSeconds"},
        "waits[]":{"to":"manySeconds[]","with":"durationSeconds"}}},
    "v3":{"converted":{"seconds":{"to":"size","with":"quantity"},"manySeconds[]":{"to":"sizes[]","with":"quantity"}}}}"#;

#[test]
fn what_is_written_for_a_fact_does_not_outlive_it_although_a_spelling_in_between_does() {
    let (kind, arena) = (kind_of(&CHAIN, CHAIN_CHANGES), Arena::new());
    let [v1, v3] = ["v1", "v3"].map(|name| kind.version(name).unwrap());
    for hub in kind.history().indexes() {
        let lenses = kind.lenses_for(hub);
        let put = |version, document: &str, old| {
            let document = decode(arena.text(document).as_bytes(), &arena).unwrap();
            lenses.put(version, document, old, Part::Whole, &arena).unwrap()
        };
        let after = |first: &str, shown: &str, then: &str| {
            let old = put(v3, first, None);
            assert_eq!(text(lenses.get(v1, old, &arena)), shown, "hub {}", hub.position());
            text(lenses.get(v3, put(v1, then, Some(old)), &arena))
        };
        // It was a second and a half, which is two; now it is two.
        assert_eq!(after(r#"{"size":"1500m"}"#, r#"{"wait":"2s"}"#, r#"{"wait":"2000ms"}"#), r#"{"size":"2"}"#);
        assert_eq!(
            after(r#"{"size":"1500m"}"#, r#"{"wait":"2s"}"#, r#"{"wait":"2s","waits":[]}"#),
            r#"{"size":"1500m","sizes":[]}"#
        );
        // Nothing can be made of it, and nothing could.
        assert_eq!(after(r#"{"size":"some"}"#, "{}", r#"{"wait":"soon"}"#), "{}");
        let (many, seen) = (r#"{"sizes":["1500m","2500m","1Ki"]}"#, r#"{"waits":["2s","3s","17m4s"]}"#);
        let edited = r#"{"waits":["2s","3000ms","17m4s"]}"#;
        assert_eq!(after(many, seen, edited), r#"{"sizes":["1500m","3","1Ki"]}"#);
    }
}

#[test]
fn what_is_written_for_a_fact_does_not_outlive_an_edit_behind_our_back() {
    let (kind, arena) = (kind_of(&CHAIN, CHAIN_CHANGES), Arena::new());
    let v3 = kind.version("v3").unwrap();
    let lenses = kind.lenses_for(kind.version("v1").unwrap());
    let written = decode(br#"{"size":"1500m"}"#, &arena).unwrap();
    let stored = text(lenses.put(v3, written, None, Part::Whole, &arena).unwrap());
    let read = |stored: &str| text(lenses.get(v3, decode(arena.text(stored).as_bytes(), &arena).unwrap(), &arena));
    assert_eq!(read(&stored), text(written));
    let edited = stored.replacen(r#""2s""#, r#""2000ms""#, 1);
    assert_eq!(read(&edited), r#"{"size":"2"}"#, "{edited}");
}

#[test]
fn what_an_edit_behind_our_back_makes_impossible_to_convert_keeps_what_is_hidden_in_it() {
    let versions = [
        r#"{"type":"object","properties":{"title":{"type":"string"},"ports":{"type":"array","items":{"type":"object",
            "properties":{"port":{"type":"integer"},"protocol":{"type":"string"},"note":{"type":"string"}}}}}}"#,
        r#"{"type":"object","properties":{"title":{"type":"string"},"ports":{"type":"object","additionalProperties":
            {"type":"object","properties":{"protocol":{"type":"string"}}}}}}"#,
    ];
    let kind = kind_of(&versions, r#"{"v2":{"reshaped":[{"from":"ports","to":"ports","key":"port"}]}}"#);
    let arena = Arena::new();
    let (v1, v2) = (kind.version("v1").expect("a version"), kind.version("v2").expect("a version"));
    let read = |text: &str| decode(arena.text(text).as_bytes(), &arena).expect("JSON");
    let written = read(r#"{"ports":[{"port":80,"protocol":"tcp","note":"x"}]}"#);
    let stored = text(kind.put(v1, written, None, Part::Whole, &arena).expect("nothing is refused"));
    // Somebody who knows of no bags adds what is no number, and takes it away again after a client has written the title.
    let entry = r#""80":{"protocol":"tcp"}"#;
    let (added, there) = (format!(r#"{entry},"http":{{}}"#), r#","http":{}"#);
    assert!(stored.contains(entry), "{stored}");
    let spoiled = read(&stored.replacen(entry, &added, 1));
    let titled = read(&format!(r#"{{"title":"t","ports":{{{added}}}}}"#));
    let titled = text(kind.put(v2, titled, Some(spoiled), Part::Whole, &arena).expect("nothing is refused"));
    let mended = read(&titled.replacen(there, "", 1));
    let expected = r#"{"title":"t","ports":[{"port":80,"protocol":"tcp","note":"x"}]}"#;
    assert_eq!(text(kind.get(v1, mended, &arena)), expected, "{titled}");
}

#[test]
fn a_default_of_one_part_is_none_of_the_whole() {
    let versions = [
        r#"{"type":"object","properties":{"host":{"type":"string"},"port":{"type":"integer","default":80}}}"#,
        r#"{"type":"object","properties":{"endpoint":{"type":"string"}}}"#,
    ];
    let changes = r#"{"v2":{"reshaped":[{"from":["host","port"],"to":"endpoint","template":"{host}:{port}"}]}}"#;
    let (kind, arena) = (kind_of(&versions, changes), Arena::new());
    let [v1, v2] = ["v1", "v2"].map(|name| kind.version(name).expect("a version"));
    let nothing = decode(b"{}", &arena).expect("JSON");
    let converted = |from, to| text(kind.convert(from, to, nothing, &arena).expect("it can be converted"));
    assert_eq!(converted(v2, v2), "{}");
    assert_eq!(converted(v2, v1), r#"{"port":80}"#);
    assert_eq!(converted(v1, v2), r#"{"endpoint":":80"}"#, "the API default of v1 is written by its clients");
}

/// A field of either version with the whole schema of it, and how it is respelled.
fn respelled(schemas: [&str; 2], changes: &'static str, writes: &[(&str, &str)], expected: [&str; 2]) {
    let versions = schemas.map(|fields| {
        let schema = format!(r#"{{"type":"object","properties":{{{fields}}}}}"#);
        &*Box::leak(schema.into_boxed_str())
    });
    shown_after(&versions, changes, writes, expected);
}

const ONE_ITEM: &str = r#"{"v2":{"converted":{"disk":{"to":"disks","with":"oneItem"}}}}"#;
const KEYED: &str = r#"{"v2":{"reshaped":[{"from":"users","to":"users","key":"name"}]}}"#;

#[test]
fn what_only_one_spelling_has_stays_in_lists_and_maps_inside_of_objects() {
    const PARTS: [&str; 2] = [
        r#""disk":{"type":"object","properties":{"path":{"type":"string"},
            "parts":{"type":"array","items":{"type":"object","properties":{"size":{"type":"integer"}}}},
            "mounts":{"type":"object","additionalProperties":{"type":"object","properties":{"at":{"type":"string"}}}}}}"#,
        r#""disks":{"type":"array","items":{"type":"object","properties":{"path":{"type":"string"},
            "parts":{"type":"array","items":{"type":"object","properties":{
                "size":{"type":"integer"},"label":{"type":"string"}}}},
            "mounts":{"type":"object","additionalProperties":{"type":"object","properties":{
                "at":{"type":"string"},"mode":{"type":"string"}}}}}}}"#,
    ];
    let after = |writes: &[(&str, &str)], expected| respelled(PARTS, ONE_ITEM, writes, expected);
    let first = ("v2", r#"{"disks":[{"path":"a","parts":[{"size":1,"label":"boot"},{"size":2,"label":"data"}]}]}"#);
    let edited = r#"{"disk":{"path":"b","parts":[{"size":1},{"size":2}]}}"#;
    after(
        &[first, ("v1", edited)],
        [edited, r#"{"disks":[{"path":"b","parts":[{"size":1,"label":"boot"},{"size":2,"label":"data"}]}]}"#],
    );
    let removed = r#"{"disk":{"path":"a","parts":[{"size":2}]}}"#;
    after(&[first, ("v1", removed)], [removed, r#"{"disks":[{"path":"a","parts":[{"size":2,"label":"data"}]}]}"#]);
    let mounts = ("v2", r#"{"disks":[{"mounts":{"x":{"at":"/x","mode":"ro"},"y":{"at":"/y","mode":"rw"}}}]}"#);
    let edited = r#"{"disk":{"mounts":{"x":{"at":"/z"}}}}"#;
    after(&[mounts, ("v1", edited)], [edited, r#"{"disks":[{"mounts":{"x":{"at":"/z","mode":"ro"}}}]}"#]);
}

#[test]
fn what_only_the_items_have_stays_in_entries_that_nobody_touched() {
    const PORTS: [&str; 2] = [
        r#""users":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},
            "ports":{"type":"array","items":{"type":"object","properties":{
                "number":{"type":"integer"},"note":{"type":"string"}}}}}}}"#,
        r#""users":{"type":"object","additionalProperties":{"type":"object","properties":{
            "ports":{"type":"array","items":{"type":"object","properties":{"number":{"type":"integer"}}}}}}}"#,
    ];
    let first = r#"{"users":[{"name":"b","ports":[]},{"name":"a","ports":[{"number":1,"note":"x"}]}]}"#;
    let edited = r#"{"users":{"b":{"ports":[{"number":2}]},"a":{"ports":[{"number":1}]}}}"#;
    respelled(
        PORTS,
        KEYED,
        &[("v1", first), ("v2", edited)],
        [r#"{"users":[{"name":"b","ports":[{"number":2}]},{"name":"a","ports":[{"number":1,"note":"x"}]}]}"#, edited],
    );
}

#[test]
fn the_last_of_several_items_with_a_key_keeps_what_the_map_does_not_show() {
    const USERS: [&str; 2] = [
        r#""users":{"type":"array","items":{"type":"object","properties":{
            "name":{"type":"string"},"size":{"type":"integer"},"note":{"type":"string"}}}}"#,
        r#""users":{"type":"object","additionalProperties":{"type":"object","properties":{"size":{"type":"integer"}}}}"#,
    ];
    let first =
        r#"{"users":[{"name":"a","size":1,"note":"x"},{"name":"a","size":2,"note":"y"},{"name":"b","size":5}]}"#;
    let after = |edited: &str, expected: &str| {
        respelled(USERS, KEYED, &[("v1", first), ("v2", edited)], [expected, edited]);
    };
    after(
        r#"{"users":{"a":{"size":2},"b":{"size":6}}}"#,
        r#"{"users":[{"name":"a","size":1,"note":"x"},{"name":"a","size":2,"note":"y"},{"name":"b","size":6}]}"#,
    );
    after(
        r#"{"users":{"a":{"size":3},"b":{"size":5}}}"#,
        r#"{"users":[{"name":"a","size":1,"note":"x"},{"name":"a","size":3,"note":"y"},{"name":"b","size":5}]}"#,
    );
}

#[test]
fn a_field_of_free_values_that_is_named_like_the_key_stays() {
    const FREE: [&str; 2] = [
        r#""users":{"type":"object","additionalProperties":{"type":"object",
            "x-kubernetes-preserve-unknown-fields":true,"properties":{"size":{"type":"integer"}}}}"#,
        r#""users":{"type":"array","items":{"type":"object","properties":{
            "name":{"type":"string"},"size":{"type":"integer"}}}}"#,
    ];
    let edited = r#"{"users":[{"name":"a","size":2}]}"#;
    for name in [r#""Alice""#, "null"] {
        let free = |size: usize| format!(r#"{{"users":{{"a":{{"size":{size},"name":{name}}}}}}}"#);
        respelled(FREE, KEYED, &[("v1", &free(1)), ("v2", edited)], [&free(2), edited]);
    }
}

#[test]
fn an_object_in_one_that_keeps_unknown_fields_shows_what_it_declares() {
    const OPEN: [&str; 2] = [
        r#""disk":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{
            "spec":{"type":"object","properties":{"size":{"type":"integer"}}}}}"#,
        r#""disks":{"type":"array","items":{"type":"object","properties":{
            "spec":{"type":"object","properties":{"size":{"type":"integer"},"label":{"type":"string"}}}}}}"#,
    ];
    let after = |writes: &[(&str, &str)], expected| respelled(OPEN, ONE_ITEM, writes, expected);
    let first = ("v2", r#"{"disks":[{"spec":{"size":1,"label":"boot"}}]}"#);
    after(&[first], [r#"{"disk":{"spec":{"size":1}}}"#, first.1]);
    let edited = r#"{"disk":{"spec":{"size":2},"free":true}}"#;
    after(&[first, ("v1", edited)], [edited, r#"{"disks":[{"spec":{"size":2,"label":"boot"}}]}"#]);
}

#[test]
fn null_that_a_spelling_cannot_say_is_nothing_there_and_stays_null_elsewhere() {
    const MODEL: [&str; 2] = [
        r#""disk":{"type":"object","properties":{"path":{"type":"string"},"model":{"type":"string"}}}"#,
        r#""disks":{"type":"array","items":{"type":"object","properties":{
            "path":{"type":"string"},"model":{"type":"string","nullable":true}}}}"#,
    ];
    let after = |writes: &[(&str, &str)], expected| respelled(MODEL, ONE_ITEM, writes, expected);
    let first = ("v2", r#"{"disks":[{"path":"a","model":null}]}"#);
    after(&[first], [r#"{"disk":{"path":"a"}}"#, first.1]);
    let edited = r#"{"disk":{"path":"b"}}"#;
    after(&[first, ("v1", edited)], [edited, r#"{"disks":[{"path":"b","model":null}]}"#]);
    let said = r#"{"disk":{"path":"a","model":"m"}}"#;
    after(&[first, ("v1", said)], [said, r#"{"disks":[{"path":"a","model":"m"}]}"#]);
}

#[test]
fn a_key_of_a_null_that_the_list_cannot_say_keeps_it() {
    const VALUES: [&str; 2] = [
        r#""users":{"type":"object","additionalProperties":{"type":"string","nullable":true}}"#,
        r#""users":{"type":"array","items":{"type":"object","properties":{
            "name":{"type":"string"},"value":{"type":"string"}}}}"#,
    ];
    let changes = r#"{"v2":{"reshaped":[{"from":"users","to":"users","key":"name","value":"value"}]}}"#;
    let first = ("v1", r#"{"users":{"a":null,"b":"1"}}"#);
    respelled(VALUES, changes, &[first], [first.1, r#"{"users":[{"name":"a"},{"name":"b","value":"1"}]}"#]);
    let edited = r#"{"users":[{"name":"a"},{"name":"b","value":"2"}]}"#;
    respelled(VALUES, changes, &[first, ("v2", edited)], [r#"{"users":{"b":"2","a":null}}"#, edited]);
    let removed = r#"{"users":[{"name":"b","value":"1"}]}"#;
    respelled(VALUES, changes, &[first, ("v2", removed)], [r#"{"users":{"b":"1"}}"#, removed]);
}
