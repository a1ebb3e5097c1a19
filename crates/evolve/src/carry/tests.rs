//! The laws of the carry, over documents that several versions wrote and clients of one of them edited.

use proptest::prelude::*;
use wheelwright_document::{Arena, Entry, Value};
use wheelwright_schema::{Root, Stages};

use super::*;
use crate::{
    Kind, NodeIndex, Part, Scalar, Shape, Structure, VersionIndex,
    lens::same,
    testing::{declaration, document},
};

/// Bytes that decide everything that is up to chance; when they are used up, the simplest is chosen.
struct Tape<'t> {
    bytes: std::slice::Iter<'t, u8>,
}

impl Tape<'_> {
    fn below(&mut self, bound: usize) -> usize {
        self.bytes.next().map_or(0, |byte| usize::from(*byte) % bound)
    }

    fn word(&mut self) -> &'static str {
        ["a", "b", "c"][self.below(3)]
    }

    /// A value of a node.
    fn value<'a>(&mut self, structure: &Structure, node: NodeIndex, arena: &'a Arena) -> Value<'a> {
        let at = structure.node(node);
        if at.nullable && self.below(5) == 1 {
            return Value::Null;
        }
        match at.shape {
            Shape::Object => {
                let mut entries = Vec::new();
                self.fields(structure, node, &mut entries, arena);
                Value::Object(arena.slice(&entries))
            }
            Shape::List => {
                let element = structure.element(node).unwrap();
                let items: Vec<_> = (0..self.below(4)).map(|_| self.value(structure, element, arena)).collect();
                Value::Array(arena.slice(&items))
            }
            Shape::Map => {
                let element = structure.element(node).unwrap();
                let keys = ["k", "$bag", "x.y"].into_iter().filter(|_| self.below(2) == 1).collect::<Vec<_>>();
                let entries: Vec<_> =
                    keys.iter().map(|key| Entry { key, value: self.value(structure, element, arena) }).collect();
                Value::Object(arena.slice(&entries))
            }
            Shape::Scalar(Scalar::Integer | Scalar::Number) => document(["0", "1", "2"][self.below(3)], arena),
            Shape::Scalar(Scalar::Boolean) => Value::Bool(self.below(2) == 1),
            Shape::Scalar(_) => Value::string(self.word()),
        }
    }

    fn fields<'a>(&mut self, structure: &Structure, node: NodeIndex, entries: &mut Vec<Entry<'a>>, arena: &'a Arena) {
        for child in structure.node(node).children.iter().filter(|_| self.below(3) > 0).collect::<Vec<_>>() {
            let value = self.value(structure, *child, arena);
            entries.push(Entry { key: arena.text(structure.node(*child).name().unwrap()), value });
        }
        if structure.node(node).keeps_unknown && self.below(2) == 1 {
            for key in ["u", "$bag", "$$bag"].into_iter().filter(|_| self.below(2) == 1).collect::<Vec<_>>() {
                if entries.iter().all(|entry| entry.key != key) {
                    entries.push(Entry { key, value: Value::string(self.word()) });
                }
            }
        }
    }

    /// A value as a client might have changed it.
    fn edited<'a>(&mut self, value: Value<'a>, structure: &Structure, node: NodeIndex, arena: &'a Arena) -> Value<'a> {
        match self.below(8) {
            0..4 => return value,
            4 => return self.value(structure, node, arena),
            _ => {}
        }
        match (structure.node(node).shape, value) {
            (Shape::Object, Value::Object(entries)) => {
                let mut kept: Vec<Entry<'a>> = Vec::new();
                for entry in entries.iter().filter(|_| self.below(6) != 1).collect::<Vec<_>>() {
                    let value = match structure.child(node, entry.key) {
                        Some(child) => self.edited(entry.value, structure, child, arena),
                        None => entry.value,
                    };
                    kept.push(Entry { key: entry.key, value });
                }
                let mut added = Vec::new();
                if self.below(3) == 1 {
                    self.fields(structure, node, &mut added, arena);
                }
                added.retain(|entry| entries.iter().all(|known| known.key != entry.key));
                kept.extend(added);
                Value::Object(arena.slice(&kept))
            }
            (Shape::List, Value::Array(items)) => {
                let element = structure.element(node).unwrap();
                let mut items = items.to_vec();
                match self.below(6) {
                    0 if !items.is_empty() => drop(items.remove(0)),
                    1 => items.reverse(),
                    2 if !items.is_empty() => items.rotate_left(1),
                    3 => items.insert(0, self.value(structure, element, arena)),
                    _ => {}
                }
                let items: Vec<_> =
                    items.into_iter().map(|item| self.edited(item, structure, element, arena)).collect();
                Value::Array(arena.slice(&items))
            }
            (Shape::Map, Value::Object(entries)) => {
                let element = structure.element(node).unwrap();
                let entries = entries.iter().filter(|_| self.below(4) != 1).collect::<Vec<_>>().into_iter();
                let entries = entries
                    .map(|entry| Entry { key: entry.key, value: self.edited(entry.value, structure, element, arena) });
                let entries: Vec<_> = entries.collect();
                Value::Object(arena.slice(&entries))
            }
            (_, _) => self.value(structure, node, arena),
        }
    }
}

/// What a kind is about, its versions with their fields, and its changes.
type Described = (&'static str, &'static [(&'static str, &'static str)], &'static str);

/// Kinds in which something of every sort is hidden. None has defaults: those make a document that
/// was read another than the one that was stored.
const KINDS: &[Described] = &[
    (
        "fields that come and go",
        &[
            ("v1", "spec: {type: object, properties: {a: {type: string}, b: {type: integer}}}"),
            (
                "v2",
                "spec: {type: object, properties: {a: {type: string}, o: {type: object, properties: {c: {type: boolean}, p: {type: object, properties: {d: {type: string}}}}}}}",
            ),
            (
                "v3",
                "spec: {type: object, properties: {b: {type: integer}}}, status: {type: object, properties: {s: {type: string}}}",
            ),
        ],
        "",
    ),
    (
        "moves",
        &[
            (
                "v1",
                "a: {type: object, properties: {b: {type: object, properties: {c: {type: string}, e: {type: string}}}, d: {type: string}}}",
            ),
            (
                "v2",
                "a: {type: object, properties: {c: {type: string}, b: {type: object, properties: {f: {type: string}}}}}, d: {type: string}",
            ),
            (
                "v3",
                "a: {type: object, properties: {b: {type: object, properties: {e: {type: string}}}}}, e: {type: string}",
            ),
        ],
        "v2: {renamed: {a.b.c: a.c, a.d: d}}",
    ),
    (
        "nulls",
        &[
            (
                "v1",
                "b: {type: object, nullable: true, properties: {c: {type: string}, q: {type: object, properties: {r: {type: string}, h: {type: string}}}}}, m: {type: object, additionalProperties: {type: string}}",
            ),
            (
                "v2",
                "b: {type: object, nullable: true, properties: {d: {type: string, nullable: true}}}, c: {type: string}, q: {type: object, properties: {r: {type: string}, i: {type: string}}}, m: {type: object, additionalProperties: {type: string, nullable: true}}",
            ),
            (
                "v3",
                "b: {type: object, properties: {d: {type: string}}}, m: {type: object, additionalProperties: {type: string}}",
            ),
        ],
        "v2: {renamed: {b.c: c, b.q: q}}",
    ),
    (
        "items without keys",
        &[
            (
                "v1",
                "l: {type: array, items: {type: object, properties: {n: {type: string}, k: {type: array, items: {type: object, properties: {x: {type: string}}}}}}}",
            ),
            (
                "v2",
                "l: {type: array, items: {type: object, properties: {n: {type: string}, secret: {type: string}, k: {type: array, items: {type: object, properties: {x: {type: string}, y: {type: string}}}}}}}",
            ),
        ],
        "",
    ),
    (
        "items with keys, and lists in lists",
        &[
            (
                "v1",
                "l: {type: array, items: {type: object, properties: {n: {type: string}, v: {type: string}}}}, ll: {type: array, items: {type: array, items: {type: object, properties: {n: {type: string}}}}}",
            ),
            (
                "v2",
                "l: {type: array, items: {type: object, properties: {n: {type: string}, p: {type: string}, secret: {type: string}}}}, ll: {type: array, items: {type: array, items: {type: object, properties: {n: {type: string}, s: {type: string}}}}}",
            ),
        ],
        "{v1: {keys: {l: [n]}}, v2: {keys: {l: [n, p]}}}",
    ),
    (
        "values of maps",
        &[
            ("v1", "m: {type: object, additionalProperties: {type: object, properties: {a: {type: string}}}}"),
            (
                "v2",
                "m: {type: object, additionalProperties: {type: object, properties: {a: {type: string}, b: {type: string}, l: {type: array, items: {type: object, properties: {c: {type: string}}}}}}}",
            ),
            (
                "v3",
                "m: {type: object, additionalProperties: {type: object, nullable: true, properties: {l: {type: array, items: {type: object, properties: {c: {type: string}, d: {type: string}}}}}}}",
            ),
        ],
        "",
    ),
    (
        "unknown fields",
        &[
            (
                "v1",
                "o: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}, p: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {q: {type: string}}}}}",
            ),
            ("v2", "o: {type: object, properties: {a: {type: string}, b: {type: string}}}"),
            (
                "v3",
                "o: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {b: {type: string}, $bag: {type: string}, u: {type: string}}}",
            ),
        ],
        "",
    ),
    (
        "unions",
        &[
            (
                "v1",
                "source: {type: object, properties: {git: {type: string}, http: {type: string}}, oneOf: [{required: [git]}, {required: [http]}]}",
            ),
            (
                "v2",
                "source: {type: object, properties: {git: {type: string}, http: {type: string}, oci: {type: object, properties: {x: {type: string}, y: {type: object, properties: {z: {type: string}}}}}}, oneOf: [{required: [git]}, {required: [http]}, {required: [oci]}]}",
            ),
        ],
        "",
    ),
];

fn resource(versions: &[(&str, &str)], changes: &str) -> Kind {
    let schemas: Vec<_> =
        versions.iter().map(|(name, fields)| (*name, format!("{{type: object, properties: {{{fields}}}}}"))).collect();
    let schemas: Vec<_> = schemas.iter().map(|(name, schema)| (*name, schema.as_str())).collect();
    let mut declaration = declaration(&schemas, changes);
    declaration.versions.iter_mut().for_each(|version| version.root = Root::Resource);
    let (kind, problems) = Kind::compile(&declaration, None);
    assert!(problems.is_empty(), "{problems:?}");
    kind.unwrap()
}

/// A kind with its lenses for every hub.
struct Case<'k> {
    kind: &'k Kind,
    lenses: &'k [Lenses],
    carries: Vec<Carry<'k>>,
    arena: &'k Arena,
}

impl<'a> Case<'a> {
    fn run(versions: &[(&str, &str)], changes: &str, check: impl FnOnce(&Case<'_>)) {
        let kind = resource(versions, changes);
        let lenses: Vec<_> = kind.history().indexes().map(|version| kind.lenses_for(version)).collect();
        let carries = lenses.iter().map(|lenses| Carry::new(lenses).unwrap()).collect();
        check(&Case { kind: &kind, lenses: &lenses, carries, arena: &Arena::new() });
    }

    /// What some version shows, as one of its clients might have changed it.
    fn edited(&'a self, tape: &mut Tape<'_>, version: VersionIndex, shown: Option<Value<'a>>) -> Value<'a> {
        let structure = &self.kind.history().version(version).structure;
        let name = Value::string(self.kind.history().version(version).name.as_str());
        let outside = [
            Entry { key: "apiVersion", value: name },
            Entry { key: "kind", value: Value::string("Test") },
            Entry { key: "metadata", value: document(r#"{"name":"t","annotations":{"mine":"x"}}"#, self.arena) },
        ];
        let inside = match shown {
            Some(shown) => {
                let outside = ["apiVersion", "kind", "metadata"];
                let inside: Vec<_> =
                    shown.as_object().unwrap().iter().filter(|entry| !outside.contains(&entry.key)).copied().collect();
                tape.edited(Value::Object(self.arena.slice(&inside)), structure, structure.root(), self.arena)
            }
            None => tape.value(structure, structure.root(), self.arena),
        };
        let entries: Vec<_> =
            outside.into_iter().chain(inside.as_object().unwrap_or_default().iter().copied()).collect();
        let written = Value::Object(self.arena.slice(&entries));
        match shown {
            Some(shown) => self.kind.normal_update(version, written, shown, self.arena).unwrap(),
            None => self.kind.normal(version, written, self.arena).unwrap(),
        }
    }

    /// A stored document that several versions wrote.
    fn stored(&'a self, tape: &mut Tape<'_>, hub: usize) -> Value<'a> {
        let lenses = &self.lenses[hub];
        let mut stored = None;
        for _ in 0..4 {
            let version = VersionIndex(tape.below(self.lenses.len()) as u32);
            let shown = stored.map(|stored| lenses.get(version, stored, self.arena));
            let document = self.edited(tape, version, shown);
            stored = Some(lenses.put(version, document, stored, Part::Whole, self.arena).unwrap());
        }
        stored.unwrap()
    }
}

/// A document with the annotations of another.
fn with_annotations_of<'a>(document: Value<'a>, other: Value<'a>, arena: &'a Arena) -> Value<'a> {
    let entries = document.as_object().unwrap();
    let theirs = annotations(other.as_object().unwrap());
    Value::Object(set_annotations(entries, Some(&theirs.to_vec()), arena))
}

fn tapes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..300)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_unloaded_loads_as_it_was_and_reads_as_its_version_shows_it(kind in 0..KINDS.len(), tape in tapes()) {
        let (name, versions, changes) = KINDS[kind];
        Case::run(versions, changes, |case| {
            let mut tape = Tape { bytes: tape.iter() };
            for (hub, carry) in case.carries.iter().enumerate() {
                let stored = case.stored(&mut tape, hub);
                let served = carry.unload(stored, case.arena).unwrap();
                let Loaded { stored: back, notes } = carry.load(served, case.arena);
                assert!(notes.is_empty(), "{name}: {notes:?} in {served:?}");
                assert!(same(back, stored), "{name}: {stored:?}\nserved as {served:?}\ncame back as {back:?}");
                let version = carry.lenses.hub();
                let shown = with_annotations_of(carry.lenses.get(version, stored, case.arena), served, case.arena);
                assert!(same(served, shown), "{name}: {stored:?}\nis served as {served:?}\nand read as {shown:?}");
                let pruned = case.kind.program(version).unwrap().run(served, case.arena, Stages::DEFAULT).unwrap();
                assert!(same(pruned.value, served), "{name}: {served:?} was pruned to {:?}", pruned.value);
            }
        });
    }

    #[test]
    fn every_way_from_one_version_to_another_and_back_is_the_identity(kind in 0..KINDS.len(), tape in tapes()) {
        let (name, versions, changes) = KINDS[kind];
        Case::run(versions, changes, |case| {
            let mut tape = Tape { bytes: tape.iter() };
            let stored = case.stored(&mut tape, 0);
            for (at, here) in case.carries.iter().enumerate() {
                let stored = case.lenses[0].rehub(stored, &case.lenses[at], case.arena);
                let served = here.unload(stored, case.arena).unwrap();
                for there in &case.carries {
                    let (other, _) = here.convert(served, there, case.arena).unwrap();
                    let (back, notes) = there.convert(other, here, case.arena).unwrap();
                    assert!(notes.is_empty(), "{name}: {notes:?} in {other:?}");
                    assert!(same(back, served), "{name}: {served:?}\nwas {other:?}\nand came back as {back:?}");
                }
            }
        });
    }

    #[test]
    fn an_edit_of_a_client_does_to_what_is_carried_what_it_does_to_what_is_stored(kind in 0..KINDS.len(), tape in tapes()) {
        let (name, versions, changes) = KINDS[kind];
        Case::run(versions, changes, |case| {
            let mut tape = Tape { bytes: tape.iter() };
            for (hub, carry) in case.carries.iter().enumerate() {
                let version = carry.lenses.hub();
                let stored = case.stored(&mut tape, hub);
                let served = carry.unload(stored, case.arena).unwrap();
                let shown = carry.lenses.get(version, stored, case.arena);
                let edited = case.edited(&mut tape, version, Some(shown));
                let expected = carry.lenses.put(version, edited, Some(stored), Part::Whole, case.arena).unwrap();
                let sent = with_annotations_of(edited, served, case.arena);
                let loaded = carry.load(sent, case.arena).stored;
                assert!(same(loaded, expected), "{name}: {stored:?}\nsent {sent:?}\nloads as {loaded:?}\nand not {expected:?}");
            }
        });
    }

    #[test]
    fn a_client_that_drops_an_annotation_loses_that_entry_alone(kind in 0..KINDS.len(), tape in tapes()) {
        let (name, versions, changes) = KINDS[kind];
        Case::run(versions, changes, |case| {
            let mut tape = Tape { bytes: tape.iter() };
            for (hub, carry) in case.carries.iter().enumerate() {
                let stored = case.stored(&mut tape, hub);
                let served = carry.unload(stored, case.arena).unwrap();
                let all = annotations(served.as_object().unwrap());
                for dropped in all {
                    let left: Vec<_> = all.iter().filter(|entry| entry.key != dropped.key).copied().collect();
                    let sent = Value::Object(set_annotations(served.as_object().unwrap(), Some(&left), case.arena));
                    let loaded = carry.load(sent, case.arena);
                    let again = carry.unload(loaded.stored, case.arena).unwrap();
                    let again = annotations(again.as_object().unwrap());
                    // What items looked like says nothing by itself.
                    let is_content = |entry: &&Entry<'_>| !entry.value.as_str().unwrap().contains(r#""items":"#);
                    let lost: Vec<_> = all.iter().filter(|entry| !again.contains(entry)).filter(is_content).collect();
                    assert!(lost.iter().all(|lost| lost.key == dropped.key), "{name}: {dropped:?} took {lost:?} along from {served:?}");
                }
            }
        });
    }
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

#[test]
fn what_an_item_hides_stays_with_it_whatever_else_happens_to_the_list() {
    let (_, versions, _) = KINDS[3];
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
    let (_, versions, _) = KINDS[0];
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
fn past_the_room_for_annotations_the_largest_entry_is_named() {
    let (_, versions, _) = KINDS[0];
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn annotations_that_someone_tampered_with_harm_nothing_that_is_visible(
        kind in 0..KINDS.len(), tape in tapes(), swaps in prop::collection::vec((any::<u16>(), 32..127_u8), 1..20)
    ) {
        let (name, versions, changes) = KINDS[kind];
        Case::run(versions, changes, |case| {
            let mut tape = Tape { bytes: tape.iter() };
            for (hub, carry) in case.carries.iter().enumerate() {
                let served = carry.unload(case.stored(&mut tape, hub), case.arena).unwrap();
                let mut tampered = annotations(served.as_object().unwrap()).to_vec();
                for (index, annotation) in tampered.iter_mut().enumerate() {
                    let mut text = annotation.value.as_str().unwrap().as_bytes().to_vec();
                    for (at, byte) in swaps.iter().skip(index % 3) {
                        let at = usize::from(*at) % text.len();
                        text[at] = *byte;
                    }
                    let text = case.arena.text(&String::from_utf8_lossy(&text));
                    annotation.value = Value::string(text);
                }
                let sent = Value::Object(set_annotations(served.as_object().unwrap(), Some(&tampered), case.arena));
                let loaded = carry.load(sent, case.arena).stored;
                let read = carry.lenses.get(carry.lenses.hub(), loaded, case.arena);
                let sent = with_annotations_of(sent, read, case.arena);
                assert!(same(read, sent), "{name}: {sent:?}\nreads as {read:?}");
            }
        });
    }
}
