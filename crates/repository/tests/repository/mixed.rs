//! Older and newer programs on the same records: whatever the order of their reads and writes, nothing is lost.

use std::{fs, path::Path, sync::Arc};

use serde_json::{Value as Json, json};
use wheelwright_evolve::laws::Random;
use wheelwright_repository::{Collection, OpenError, Repository, RepositoryError, View, Write, WriteError};
use wheelwright_store::{Memory, Store};

use crate::{
    support::{name, served_from},
    unchecked::without_checksum,
};

/// Three releases of a program on one store.
struct Programs {
    store: Memory,
    /// Knows v1 and v2, and stores v2.
    old: Collection,
    /// Knows v3 as well, and stores v2.
    new: Collection,
    /// The same, and stores v3.
    moved: Collection,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Who {
    Old,
    New,
    Moved,
}

/// A client reads a document as a version, changes one or all of the facts that it can see, and writes it back.
#[derive(Clone, Copy, Debug)]
struct Step {
    who: Who,
    version: &'static str,
    changes: bool,
}

const VERSIONS: [&str; 3] = ["v1", "v2", "v3"];

/// What the tests write: in which versions, where, and a value for every turn. The last is in a list item.
const FACTS: [(&str, [Option<&str>; 3]); 6] = [
    ("everywhere", [Some("/spec/plainCount"); 3]),
    ("renamed", [Some("/spec/box/depth"), Some("/spec/depth"), Some("/spec/depth")]),
    ("only in the oldest", [Some("/spec/old"), None, None]),
    ("since the second", [None, Some("/spec/newCount"), Some("/spec/newCount")]),
    ("only in the newest", [None, None, Some("/spec/newest")]),
    ("in an item", [None, Some("/spec/lines/0/added"), Some("/spec/lines/0/added")]),
];

/// The value of every fact, by position; none if it was never written.
type Known = [Option<usize>; FACTS.len()];

fn value(fact: usize, turn: usize) -> Json {
    match FACTS[fact].0 {
        "only in the newest" | "in an item" => json!(format!("turn {turn}")),
        _ => json!(turn),
    }
}

fn programs() -> Programs {
    let store = Memory::new();
    let (old, new) = (program(&store, false, "v2"), program(&store, true, "v2"));
    let moved = program(&store, true, "v3");
    Programs { store, old, new, moved }
}

/// A release that knows v3 or not, with what its catalog says after `hub:`.
fn program(store: &Memory, has_newest: bool, hub: &str) -> Collection {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/catalogs/things");
    let read = |file: &str| fs::read_to_string(from.join(file)).unwrap();
    let upto = |text: String, mark: &str| match text.find(mark) {
        Some(end) if !has_newest => text[..end].to_owned(),
        _ => text,
    };
    let catalog = read("wheelwright.yaml").replace("hub: v2", &format!("hub: {hub}"));
    let (crd, changes) = (upto(read("crd.yaml"), "  - name: v3"), upto(read("changes.yaml"), "v3:"));
    let files = [("wheelwright.yaml", &*catalog), ("crd.yaml", &crd), ("changes.yaml", &changes)];
    Repository::new(Arc::new(store.clone()), served_from(&files)).kinds().next().unwrap()
}

/// A record in the middle of what happens to it.
#[derive(Clone)]
struct State {
    bytes: Vec<u8>,
    known: Known,
    turn: usize,
}

impl Programs {
    fn of(&self, who: Who) -> &Collection {
        match who {
            Who::Old => &self.old,
            Who::New => &self.new,
            Who::Moved => &self.moved,
        }
    }

    /// A document that a program has created through a version.
    async fn created(&self, who: Who, version: &'static str) -> State {
        let at = name(&format!("created/{who:?}/{version}"));
        let mut document = json!({"apiVersion": format!("test.example.com/{version}"), "kind": "Thing",
            "metadata": {"name": "thing"}, "spec": {"lines": [{"sku": "a"}]}});
        let mut known = Known::default();
        write_facts(&mut document, version, 1, &mut known);
        let body = document.to_string();
        self.of(who).create(&at, Write::document(version, body.as_bytes())).await.unwrap();
        State { bytes: self.bytes(&at).await, known, turn: 1 }
    }

    async fn bytes(&self, at: &wheelwright_repository::Name) -> Vec<u8> {
        let key = self.old.kind().key(at).unwrap();
        without_checksum(self.store.get(&key).await.unwrap().unwrap().value)
    }

    /// The record after a step, and whether the program could do it.
    async fn after(&self, state: &State, step: Step, number: usize) -> (State, bool) {
        let at = name(&format!("state/{number}"));
        let key = self.old.kind().key(&at).unwrap();
        let revision = self.store.create(&key, state.bytes.clone()).await.unwrap();
        let program = self.of(step.who);
        let is_unreadable = step.who == Who::Old && hub_of(&state.bytes) == "v3";
        let read = match program.get(&at, View::Version(step.version)).await {
            Ok(read) => read.unwrap(),
            Err(error) => {
                assert!(is_unreadable, "{error}");
                assert!(matches!(error, RepositoryError::Record(_, OpenError::UnknownHub(_))), "{error}");
                assert!(error.to_string().contains("stored in the shape of v3"), "{error}");
                let blind = Write::merge_patch(step.version, br#"{"spec":{"plainCount":0}}"#);
                assert!(matches!(program.update(&at, &revision, blind).await, Err(RepositoryError::Record(..))));
                assert_eq!(self.bytes(&at).await, state.bytes, "what is refused changes nothing");
                return (state.clone(), false);
            }
        };
        assert!(!is_unreadable);
        let mut document: Json = serde_json::from_slice(&read.json).unwrap();
        let mut next = State { turn: state.turn + 1, ..state.clone() };
        if step.changes {
            write_facts(&mut document, step.version, next.turn, &mut next.known);
        }
        let body = document.to_string();
        let written =
            program.update(&at, &read.revision, Write::document(step.version, body.as_bytes())).await.unwrap();
        assert_eq!(written.is_changed, step.changes, "{step:?}");
        next.bytes = self.bytes(&at).await;
        self.everybody_reads(&at, &next).await;
        (next, true)
    }

    /// Every program that can open the record shows every fact in every version that it knows.
    async fn everybody_reads(&self, at: &wheelwright_repository::Name, state: &State) {
        for who in [Who::Old, Who::New, Who::Moved] {
            if who == Who::Old && hub_of(&state.bytes) == "v3" {
                continue;
            }
            let versions = if who == Who::Old { &VERSIONS[..2] } else { &VERSIONS };
            for (position, version) in versions.iter().enumerate() {
                let read = self.of(who).get(at, View::Version(version)).await.unwrap().unwrap();
                let document: Json = serde_json::from_slice(&read.json).unwrap();
                for (fact, (told, places)) in FACTS.iter().enumerate() {
                    let (Some(place), Some(turn)) = (places[position], state.known[fact]) else { continue };
                    assert_eq!(document.pointer(place), Some(&value(fact, turn)), "{told}: {who:?} reads {version}");
                }
            }
        }
    }
}

fn hub_of(bytes: &[u8]) -> String {
    serde_json::from_slice::<Json>(bytes).unwrap()["hub"].as_str().unwrap().to_owned()
}

fn write_facts(document: &mut Json, version: &str, turn: usize, known: &mut Known) {
    let position = VERSIONS.iter().position(|known| *known == version).unwrap();
    for (fact, (_, places)) in FACTS.iter().enumerate() {
        let Some(place) = places[position] else { continue };
        let (parent, last) = place.rsplit_once('/').unwrap();
        if document.pointer(parent).is_none() {
            assert_eq!(parent, "/spec/box");
            document["spec"]["box"] = json!({});
        }
        document.pointer_mut(parent).unwrap()[last] = value(fact, turn);
        known[fact] = Some(turn);
    }
}

/// What programs can do: read, change and write, and read and write back, through every version that they know.
fn steps(programs: &[Who]) -> Vec<Step> {
    let mut steps = Vec::new();
    for who in programs.iter().copied() {
        let versions = if who == Who::Old { &VERSIONS[..2] } else { &VERSIONS };
        steps.extend(versions.iter().map(|version| Step { who, version, changes: true }));
        steps.push(Step { who, version: "v1", changes: false });
    }
    steps
}

/// The states that a record can be in at first.
async fn beginnings(programs: &Programs) -> Vec<State> {
    let mut beginnings = Vec::new();
    for (who, version) in [(Who::Old, "v1"), (Who::Old, "v2"), (Who::New, "v1"), (Who::New, "v2"), (Who::New, "v3")] {
        beginnings.push(programs.created(who, version).await);
    }
    beginnings
}

/// Takes all sequences of steps up to a length; how many steps were taken, and how many of them refused.
async fn take_all(programs: &Programs, steps: &[Step], length: usize) -> (usize, usize) {
    let (mut taken, mut refused) = (0, 0);
    let mut states = beginnings(programs).await;
    for _ in 0..length {
        let mut next = Vec::new();
        for state in &states {
            for step in steps {
                taken += 1;
                let (state, is_done) = programs.after(state, *step, taken).await;
                if is_done { next.push(state) } else { refused += 1 }
            }
        }
        states = next;
    }
    (taken, refused)
}

#[tokio::test]
async fn an_older_and_a_newer_program_in_every_order_lose_nothing() {
    let (taken, refused) = take_all(&programs(), &steps(&[Who::Old, Who::New]), 3).await;
    assert_eq!((taken, refused), (5 * (7 + 49 + 343), 0));
}

#[tokio::test]
async fn once_the_hub_has_moved_an_older_program_is_refused_with_the_reason() {
    let (taken, refused) = take_all(&programs(), &steps(&[Who::Old, Who::New, Who::Moved]), 2).await;
    // Whoever writes the shape of v3 is followed by the three steps of the old program.
    assert_eq!((taken, refused), (5 * (11 + 121), 5 * 3 * 3));
}

#[tokio::test]
async fn long_histories_of_all_three_lose_nothing() {
    let programs = programs();
    let steps = steps(&[Who::Old, Who::New, Who::Moved]);
    let mut random = Random::new(6);
    let mut number = 0;
    for beginning in beginnings(&programs).await {
        for _ in 0..4 {
            let mut state = beginning.clone();
            for _ in 0..25 {
                number += 1;
                let step = *random.pick(&steps).unwrap();
                state = programs.after(&state, step, number).await.0;
            }
        }
    }
}

#[tokio::test]
async fn a_record_that_an_older_program_must_not_write_is_read_and_not_written() {
    let programs = programs();
    let created = programs.created(Who::New, "v3").await;
    let mut record: Json = serde_json::from_slice(&created.bytes).unwrap();
    record["oldestWriter"] = json!("v3");
    let at = name("guarded");
    let key = programs.old.kind().key(&at).unwrap();
    let revision = programs.store.create(&key, record.to_string().into_bytes()).await.unwrap();
    let bytes = programs.bytes(&at).await;

    let state = State { bytes: bytes.clone(), ..created };
    programs.everybody_reads(&at, &state).await;
    let patch = Write::merge_patch("v2", br#"{"spec":{"plainCount":9}}"#);
    let refused = programs.old.update(&at, &revision, patch).await.unwrap_err();
    assert!(matches!(refused, RepositoryError::Write(WriteError::TooOld { .. })), "{refused}");
    assert!(refused.to_string().contains("version v3"), "{refused}");
    let refused = programs.old.update_metadata(&at, &revision, |metadata, _| metadata.generation = 7).await;
    assert!(matches!(refused, Err(RepositoryError::Write(WriteError::TooOld { .. }))));
    let refused = programs.old.delete(&at, &revision).await;
    assert!(matches!(refused, Err(RepositoryError::Write(WriteError::TooOld { .. }))));
    assert_eq!(programs.bytes(&at).await, bytes);

    programs.new.update(&at, &revision, patch).await.unwrap();
    let written: Json = serde_json::from_slice(&programs.bytes(&at).await).unwrap();
    assert_eq!(written["oldestWriter"], "v3", "who may write it does not forget who must not");
}

#[tokio::test]
async fn whoever_may_write_a_record_does_not_let_others_in_who_must_not() {
    let programs = programs();
    let guarding = program(&programs.store, true, "v2\n    oldestWriter: v3");
    let lenient = program(&programs.store, true, "v2\n    oldestWriter: v2");
    let at = name("guarded");
    let body = br#"{"apiVersion":"test.example.com/v3","kind":"Thing","spec":{"newest":"x"}}"#;
    let created = guarding.create(&at, Write::document("v3", body)).await.unwrap();
    let patch = |count: &'static str| Write::merge_patch("v2", count.as_bytes());
    let refused = programs.old.update(&at, &created.document.revision, patch(r#"{"spec":{"plainCount":1}}"#)).await;
    assert!(matches!(refused, Err(RepositoryError::Write(WriteError::TooOld { .. }))));
    let written = lenient.update(&at, &created.document.revision, patch(r#"{"spec":{"plainCount":2}}"#)).await.unwrap();
    let kept = lenient.update_metadata(&at, &written.document.revision, |metadata, _| metadata.generation = 9).await;
    let kept = kept.unwrap();
    let refused = programs.old.update(&at, &kept.revision, patch(r#"{"spec":{"plainCount":3}}"#)).await;
    assert!(matches!(refused, Err(RepositoryError::Write(WriteError::TooOld { .. }))));

    // The other way round, a record is guarded from the next write on.
    let at = name("open");
    let created = lenient.create(&at, Write::document("v3", body)).await.unwrap();
    let patched = patch(r#"{"spec":{"plainCount":1}}"#);
    let written = programs.old.update(&at, &created.document.revision, patched).await.unwrap();
    let kept = guarding.update_metadata(&at, &written.document.revision, |metadata, _| metadata.generation = 9).await;
    let kept = kept.unwrap();
    let refused = programs.old.update(&at, &kept.revision, patch(r#"{"spec":{"plainCount":3}}"#)).await;
    assert!(matches!(refused, Err(RepositoryError::Write(WriteError::TooOld { .. }))));
}
