//! The laws of the carry, over documents that several versions wrote and clients of one of them edited.

mod case;
mod examples;
mod kinds;

use proptest::prelude::*;
use wheelwright_document::{Entry, Value};
use wheelwright_schema::Stages;

use self::{
    case::{Case, Tape, with_annotations_of},
    kinds::KINDS,
};
use super::*;
use crate::{Part, lens::same};

fn tapes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..300)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

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
                    // What items looked like, and what computed fields were, says nothing by itself.
                    let is_content = |entry: &&Entry<'_>| {
                        let text = entry.value.as_str().unwrap();
                        [r#""items":"#, r#""link":"#, r#""shown":"#].iter().all(|word| !text.contains(word))
                    };
                    let lost: Vec<_> = all.iter().filter(|entry| !again.contains(entry)).filter(is_content).collect();
                    assert!(lost.iter().all(|lost| lost.key == dropped.key), "{name}: {dropped:?} took {lost:?} along from {served:?}");
                }
            }
        });
    }

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
    #[test]
    fn annotations_that_someone_made_up_harm_nothing_that_is_visible(
        kind in 0..KINDS.len(), tape in tapes(), made_up in prop::collection::vec(any::<[u8; 3]>(), 1..6)
    ) {
        let (name, versions, changes) = KINDS[kind];
        Case::run(versions, changes, |case| {
            let mut tape = Tape { bytes: tape.iter() };
            for (hub, carry) in case.carries.iter().enumerate() {
                let served = carry.unload(case.stored(&mut tape, hub), case.arena).unwrap();
                let mut all = annotations(served.as_object().unwrap()).to_vec();
                for (position, made_up) in made_up.iter().enumerate() {
                    let [field, value, place] = made_up.map(usize::from);
                    let fields = &case.kind.history().fields;
                    let id = &fields[field % fields.len()].text;
                    let value = ["null", "{}", r#""x""#][value % 3];
                    let places = ["", r#","within":null"#, r#","alone":true"#, r#","behind":"a""#, r#","within":"a""#];
                    let text = format!(r#"{{"id":"{id}","value":{value}{}}}"#, places[place % places.len()]);
                    let key = case.arena.text(&format!("{CARRY_PREFIX}made-up-{position}"));
                    all.push(Entry { key, value: Value::string(case.arena.text(&text)) });
                }
                let sent = Value::Object(set_annotations(served.as_object().unwrap(), Some(&all), case.arena));
                let loaded = carry.load(sent, case.arena).stored;
                let read = carry.lenses.get(carry.lenses.hub(), loaded, case.arena);
                let sent = with_annotations_of(sent, read, case.arena);
                assert!(same(read, sent), "{name}: {sent:?}\nreads as {read:?} with {all:?}");
            }
        });
    }
}
