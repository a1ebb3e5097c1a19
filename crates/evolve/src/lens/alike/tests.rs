//! What is passed on is what slots would make of it, to the letter.

use wheelwright_document::{Arena, Value, encode};

use crate::{
    Lenses, Part, VersionIndex,
    lens::computed::{Length, Onward},
    testing::{document, kind},
};

/// The versions of a kind, its changes, and documents: the version that each is of, and its text.
type Case<'c> = (&'c [(&'c str, &'c str)], &'c str, &'c [(&'c str, &'c str)]);

/// Lenses that pass on nothing, and know no short ways.
fn slow(mut lenses: Lenses) -> Lenses {
    for scope in &mut lenses.scopes {
        scope.views.iter_mut().flatten().for_each(|view| view.alike = None);
        let computed = &mut scope.computed;
        let onward = computed.onward.iter_mut().flatten().filter_map(|onward| match onward {
            Onward::Link(way) => Some(way),
            Onward::Derive(_) => None,
        });
        let shown = computed.shown.iter_mut().flat_map(|needed| &mut needed.links);
        onward.chain(shown).chain(&mut computed.all.links).for_each(|way| way.length = Length::Full);
    }
    lenses
}

/// Creates every document in every hub, reads it as every version, writes it back with what another document says, and
/// converts it: with and without what is passed on.
fn agree((versions, changes, documents): Case<'_>) {
    let kind = kind(versions, changes, versions[0].0);
    let text = |value: Value<'_>| String::from_utf8(encode(value)).unwrap();
    for hub in kind.history().indexes() {
        let (fast, slow) = (leaked(kind.lenses_for(hub)), leaked(slow(kind.lenses_for(hub))));
        let arena = leaked(Arena::new());
        for (name, written) in documents {
            let version = kind.version(name).unwrap();
            let put = |lenses: &'static Lenses, version: VersionIndex, document, old| {
                lenses.put(version, document, old, Part::Whole, arena).unwrap()
            };
            let written = document(written, arena);
            let (stored, expected) = (put(fast, version, written, None), put(slow, version, written, None));
            assert_eq!(text(stored), text(expected), "{name} {} stored at {hub:?}", text(written));
            for index in kind.history().indexes() {
                let (shown, expected) = (fast.get(index, stored, arena), slow.get(index, stored, arena));
                assert_eq!(text(shown), text(expected), "{} at {index:?}, stored at {hub:?}", text(stored));
                let converted = fast.convert(version, index, written, arena).unwrap();
                let expected = slow.convert(version, index, written, arena).unwrap();
                assert_eq!(text(converted), text(expected), "{} to {index:?}, stored at {hub:?}", text(written));
                for (name, other) in documents {
                    let (version, other) = (kind.version(name).unwrap(), document(other, arena));
                    let now = put(fast, version, other, Some(stored));
                    assert_eq!(text(now), text(put(slow, version, other, Some(stored))), "{}", text(other));
                }
            }
        }
    }
}

/// Tests are short, and what they make need not be given back.
fn leaked<T>(made: T) -> &'static T {
    Box::leak(Box::new(made))
}

fn list_of(item: &str) -> String {
    format!("{{type: object, properties: {{l: {{type: array, items: {{type: object, {item}}}}}}}}}")
}

fn agree_on_items(items: &[(&str, &str)], changes: &str, documents: &[(&str, &str)]) {
    let schemas: Vec<(&str, String)> = items.iter().map(|(name, item)| (*name, list_of(item))).collect();
    let versions: Vec<(&str, &str)> = schemas.iter().map(|(name, schema)| (*name, schema.as_str())).collect();
    agree((&versions, changes, documents));
}

#[test]
fn items_are_passed_on_as_they_are() {
    let item = "properties: {a: {type: string}, o: {type: object, properties: {b: {type: string}}}}";
    let versions = [("v1", list_of(item)), ("v2", list_of(item))];
    let versions = versions.each_ref().map(|(name, schema)| (*name, schema.as_str()));
    let kind = kind(&versions, "", "v2");
    let (v1, arena) = (kind.version("v1").unwrap(), Arena::new());
    let written = document(r#"{"l":[{"a":"x","o":{"b":"y"}},{}]}"#, &arena);
    let stored = kind.put(v1, written, None, Part::Whole, &arena).unwrap();
    let shown = kind.get(v1, stored, &arena);
    let list = |value: Value<'_>| value.get("l").unwrap().as_array().unwrap().as_ptr() as usize;
    assert_eq!((list(stored), list(shown)), (list(written), list(written)));
}

#[test]
fn fields_in_another_order_are_put_into_that_of_the_version() {
    let documents =
        [("v1", r#"{"l":[{"a":"1","b":"2"},{"b":"2","a":"1"},{"b":"2"}]}"#), ("v2", r#"{"l":[{"b":"2","a":"1"}]}"#)];
    let fields = ["a: {type: string}, b: {type: string}", "b: {type: string}, a: {type: string}"];
    let [old, new] = fields.map(|fields| format!("properties: {{{fields}}}"));
    agree_on_items(&[("v1", &old), ("v2", &new)], "", &documents);
    let nested = |fields: &str| format!("properties: {{o: {{type: object, {fields}}}}}");
    let documents = [("v1", r#"{"l":[{"o":{"a":"1","b":"2"}},{"o":{"b":"2","a":"1"}}]}"#)];
    agree_on_items(&[("v1", &nested(&old)), ("v2", &nested(&new))], "", &documents);
}

#[test]
fn names_that_mean_something_else_are_not_passed_on() {
    // A field that is renamed, and another one that has its name since.
    let (v1, v2) = ("properties: {x: {type: string}}", "properties: {y: {type: string}, x: {type: string}}");
    let documents = [("v1", r#"{"l":[{"x":"1"}]}"#), ("v2", r#"{"l":[{"x":"1"},{"y":"2"},{"x":"1","y":"2"}]}"#)];
    agree_on_items(&[("v1", v1), ("v2", v2)], "v2: {renamed: {'l[].x': 'l[].y'}}", &documents);
    // A field that went, and another one of that name that came later.
    let documents = [("v1", r#"{"l":[{"x":"1"}]}"#), ("v3", r#"{"l":[{"x":1}]}"#)];
    let items = [("v1", v1), ("v2", "properties: {}"), ("v3", "properties: {x: {type: integer}}")];
    agree_on_items(&items, "", &documents);
    // Names that could be taken for a bag.
    let items = [("v1", "properties: {$bag: {type: string}}"), ("v2", "properties: {$$bag: {type: string}}")];
    let documents = [("v1", r#"{"l":[{"$bag":"1"}]}"#), ("v2", r#"{"l":[{"$$bag":"1"}]}"#)];
    agree_on_items(&items, "v2: {renamed: {'l[].$bag': 'l[].$$bag'}}", &documents);
    agree_on_items(&items, "", &documents);
}

#[test]
fn what_is_hidden_filled_in_or_null_is_not_passed_on() {
    let (v1, v2) = (
        "properties: {a: {type: string}, o: {type: object, properties: {b: {type: string}}}}",
        "properties: {a: {type: string, nullable: true}, n: {type: string, default: x}, o: {type: object, properties: \
         {b: {type: string}, c: {type: string}}}}",
    );
    let documents = [
        ("v1", r#"{"l":[{"a":"1","o":{}},{"o":{"b":"2"}},{}]}"#),
        ("v2", r#"{"l":[{"a":null},{"a":"1","n":"2","o":{"b":"3","c":"4"}},{"o":{"c":"4"}},{"a":7,"o":"no object"}]}"#),
    ];
    agree_on_items(&[("v1", v1), ("v2", v2)], "", &documents);
    // A field that moved into an object, which is implied by it.
    let changes = "v2: {renamed: {'l[].a': 'l[].o.c'}}";
    let v2 = "properties: {o: {type: object, properties: {b: {type: string}, c: {type: string}}}}";
    agree_on_items(&[("v1", v1), ("v2", v2)], changes, &documents[..1]);
    // Fields that nobody declares, in one version or in both.
    let keeping = format!("x-kubernetes-preserve-unknown-fields: true, {v1}");
    let documents =
        [("v2", r#"{"l":[{"a":"1","z":1},{"$bag":{"x":1}},{"o":{"b":"1"}}]}"#), ("v1", r#"{"l":[{"a":"1"}]}"#)];
    agree_on_items(&[("v1", v1), ("v2", &keeping)], "", &documents);
    agree_on_items(&[("v1", &keeping), ("v2", &keeping)], "", &documents);
}

#[test]
fn lists_and_maps_in_items_are_looked_into() {
    let inner = |fields: &str| {
        format!(
            "properties: {{m: {{type: object, additionalProperties: {{type: object, properties: {{{fields}}}}}}}, \
             n: {{type: object, additionalProperties: {{type: string, nullable: true}}}}, s: {{type: string}}}}"
        )
    };
    let (v1, v2) = (inner("a: {type: string}, k: {type: string}"), inner("b: {type: string}, k: {type: string}"));
    let documents = [
        ("v1", r#"{"l":[{"m":{"x":{"a":"1"},"y":{"k":"2"}},"s":"3"},{"m":{}},{"n":{"x":null,"y":"1"}}]}"#),
        ("v2", r#"{"l":[{"m":{"x":{"b":"1"}}},{"m":{"x":{"k":"1"}},"n":{}}]}"#),
    ];
    agree_on_items(&[("v1", &v1), ("v2", &v2)], "v2: {renamed: {'l[].m{}.a': 'l[].m{}.b'}}", &documents);
    let plain = v1.replace(", nullable: true", "");
    agree_on_items(&[("v1", &v1), ("v2", &plain)], "", &documents[..1]);
}

#[test]
fn short_ways_lead_to_the_same() {
    let object = "{type: object, properties: {name: {type: string}, image: {type: string}}}";
    let reordered = "{type: object, properties: {image: {type: string}, name: {type: string}}}";
    let part = "{type: object, properties: {name: {type: string}, extra: {type: string}}}";
    let documents = [
        ("v1", r#"{"o":{"name":"a","image":"b"},"d":"90s"}"#),
        ("v1", r#"{"o":{"image":"b"}}"#),
        ("v1", r#"{"o":{},"d":"no duration"}"#),
        ("v1", r#"{"o":{"name":7}}"#),
        ("v2", r#"{"l":[{"image":"b","name":"a"}],"s":90}"#),
        ("v2", r#"{"l":[{"name":"a"},{"name":"b"}]}"#),
        ("v2", r#"{"l":[]}"#),
    ];
    for item in [object, reordered, part] {
        let v1 = format!("{{type: object, properties: {{o: {object}, d: {{type: string}}}}}}");
        let v2 = format!("{{type: object, properties: {{l: {{type: array, items: {item}}}, s: {{type: integer}}}}}}");
        let changes = "v2: {converted: {o: {to: l, with: oneItem}, d: {to: s, with: durationSeconds}}}";
        agree((&[("v1", &v1), ("v2", &v2)], changes, &documents));
    }
    let documents =
        [("v1", r#"{"m":{"x":{"image":"i"},"y":{}}}"#), ("v2", r#"{"l":[{"name":"x","image":"i"},{"name":"y"}]}"#)];
    for item in [object, reordered] {
        let v1 = "{type: object, properties: {m: {type: object, additionalProperties: {type: object, properties: \
                  {image: {type: string}}}}}}";
        let v2 = format!("{{type: object, properties: {{l: {{type: array, items: {item}}}}}}}");
        agree((&[("v1", v1), ("v2", &v2)], "v2: {reshaped: [{from: m, to: l, key: name}]}", &documents));
    }
}
