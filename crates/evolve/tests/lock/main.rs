//! Laws of the lock over generated histories, and what people see of it.

mod clamped;
mod generate;
mod names;

use std::{env, fs, path::Path};

use proptest::{prelude::*, strategy::ValueTree, test_runner::TestRunner};
use wheelwright_document::{Arena, Decode, Span, Yaml, decode_yaml};
use wheelwright_evolve::{
    Conversion, Declaration, DeclaredVersion, Derived, Direction, History, Located, Lock, Renamed, Respelled, Selector,
    VersionName, VersionStep, Writers,
};
use wheelwright_findings::rules;
use wheelwright_schema::{Problem, Root, Schema, lower_schema};

use self::generate::{Kind, stages};

fn schema(text: &str) -> Schema {
    let arena = Arena::new();
    let decode = Decode { yaml: Yaml::Core, ..Decode::default() };
    let documents = decode_yaml(text.as_bytes(), &arena, &decode).expect("schemas of tests are YAML");
    lower_schema(&documents[0]).item
}

fn located<T>(item: T) -> Located<T> {
    Located { item, span: Span::default() }
}

fn path(text: &str) -> Located<Selector> {
    located(Selector::parse(text).expect("a path"))
}

fn step(version: &str) -> VersionStep {
    VersionStep::new(located(VersionName::new(version)))
}

fn declare(declaration: &mut Declaration, version: &str, text: &str) {
    let text = format!("{{type: object, properties: {{spec: {{type: object, properties: {text}}}}}}}");
    let declared = DeclaredVersion::new(VersionName::new(version), schema(&text), Root::Resource, Span::default());
    declaration.versions.retain(|other| other.name != declared.name);
    declaration.versions.push(declared);
}

/// The history of a kind, continuing what is locked of it.
fn derived(lock: &Lock, declaration: &Declaration) -> (History, Vec<Problem>) {
    History::derive(declaration, lock.locked(declaration).map(|locked| locked.history()))
}

fn grown(lock: &Lock, declaration: &Declaration) -> Lock {
    let (history, problems) = derived(lock, declaration);
    assert!(problems.is_empty(), "{problems:?}");
    lock.grow(declaration, &history, None).expect("nothing is contradicted")
}

fn refused(lock: &Lock, declaration: &Declaration) -> Vec<Problem> {
    let (history, _) = derived(lock, declaration);
    lock.grow(declaration, &history, None).expect_err("something is contradicted")
}

/// A kind with four versions, one of which gained a field after the last was locked.
fn person() -> (Lock, Declaration) {
    let mut person = Declaration::new("example.com", "Person");
    declare(
        &mut person,
        "v1",
        "{alphaKey: {type: string}, old: {type: string}, ports: {type: array, x-kubernetes-list-type: map, \
         x-kubernetes-list-map-keys: [name], items: {type: object, properties: {name: {type: string}, \
         number: {type: integer}}}}, quantity: {type: integer}, replicas: {type: integer, default: 3}}",
    );
    let lock = grown(&Lock::default(), &person);
    declare(
        &mut person,
        "v2",
        "{endpoints: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: \
         {type: object, properties: {name: {type: string}, target: {type: object, properties: {number: \
         {type: integer}}}}}}, note: {type: string, nullable: true}, quantity: {type: string}, replicas: \
         {type: integer, default: 5}, sortKey: {type: string}}",
    );
    let mut into_v2 = step("v2");
    for (from, to) in [
        ("spec.alphaKey", "spec.sortKey"),
        ("spec.ports", "spec.endpoints"),
        ("spec.ports[].number", "spec.endpoints[].target.number"),
    ] {
        into_v2.renamed.push(Renamed { from: path(from), to: path(to) });
    }
    into_v2.removed.push(path("spec.old"));
    into_v2.writers = Some(located(Writers::Omitempty));
    let quantity = || vec![path("spec.quantity")];
    into_v2.respelled.push(Respelled { from: quantity(), to: quantity(), with: located(Conversion::Text) });
    let expression = located("'for ' + self.spec.alphaKey".into());
    into_v2.derived.push(Derived { direction: Direction::Up, at: path("spec.note"), expression });
    person.steps.push(into_v2);
    let lock = grown(&lock, &person);
    declare(
        &mut person,
        "v1beta1",
        "{alphaKey: {type: string}, source: {type: object, maxProperties: 1, properties: {git: {type: string}, \
         http: {type: string}}}, \"with space\": {type: object, additionalProperties: {type: string, nullable: true}}}",
    );
    let lock = grown(&lock, &person);
    declare(
        &mut person,
        "v3",
        "{old: {type: string}, note: {type: string}, replicas: {type: number, default: 5}, raw: {type: object, \
         x-kubernetes-preserve-unknown-fields: true}}",
    );
    declare(
        &mut person,
        "v1",
        "{alphaKey: {type: string, maxLength: 9}, extra: {type: boolean, default: true}, old: {type: string}, ports: \
         {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, \
         properties: {name: {type: string}, number: {type: integer}}}}, quantity: {type: integer}, \
         replicas: {type: integer, default: 3}}",
    );
    (grown(&lock, &person), person)
}

#[test]
fn a_lock_is_made_for_review() {
    let text = person().0.to_string();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/person.lock");
    if env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1") {
        fs::write(&file, &text).unwrap();
    }
    let expected = fs::read_to_string(&file).unwrap_or_default();
    assert!(expected == text, "person.lock differs; run with UPDATE_GOLDEN=1 to accept:\n{text}");
}

proptest! {
    #[test]
    fn a_lock_is_the_history_that_it_was_grown_from_and_grows_by_lines_alone(stages in stages()) {
        let mut kind = Kind::new();
        let mut lock = Lock::default();
        for stage in &stages {
            let next = kind.after(stage);
            let (history, problems) = derived(&lock, &next.declaration);
            if !problems.is_empty() {
                continue;
            }
            let larger = lock.grow(&next.declaration, &history, None).unwrap();
            prop_assert_eq!(larger.locked(&next.declaration).unwrap().history(), &remembered(history));
            let text = larger.to_string();
            let (read, problems) = Lock::parse(&text);
            prop_assert!(problems.is_empty(), "{:?}\n{}", problems, text);
            prop_assert_eq!(&read, &larger);
            let (history, _) = derived(&larger, &next.declaration);
            prop_assert_eq!(&larger.grow(&next.declaration, &history, None).unwrap(), &larger);
            if !lock.kinds().is_empty() {
                let before = lock.to_string();
                let (before, _sum) = before.trim_end().rsplit_once('\n').unwrap();
                prop_assert!(text.starts_with(before), "{}\n{}", before, text);
            }
            (kind, lock) = (next, larger);
        }
    }
}

/// A history without what the lock does not know: which versions are declared.
fn remembered(mut history: History) -> History {
    history.versions.iter_mut().for_each(|version| version.declared = false);
    history
}

#[test]
fn generated_histories_have_every_sort_of_line() {
    let mut runner = TestRunner::deterministic();
    let mut texts = String::new();
    for _ in 0..300 {
        let mut kind = Kind::new();
        let mut lock = Lock::default();
        for stage in stages().new_tree(&mut runner).unwrap().current() {
            let next = kind.after(&stage);
            let (history, problems) = derived(&lock, &next.declaration);
            if problems.is_empty() {
                lock = lock.grow(&next.declaration, &history, None).unwrap();
                kind = next;
            }
        }
        texts.push_str(&lock.to_string());
    }
    let count = |wanted: &dyn Fn(&str) -> bool| texts.lines().filter(|line| wanted(line.trim_start())).count();
    let starts = |sign: &'static str| move |line: &str| line.starts_with(sign);
    for sign in
        ["- ", "~ ", "= ", "order ", "writers ", "amend ", "= . ", "converted ", "reshaped ", "hook ", "derived "]
    {
        assert!(count(&starts(sign)) > 2, "{sign}");
    }
    for part in
        [" kind \"Generated too\" fingerprint ", " before ", " frozen ", "#2", " id ", " union ", "{}[]", " default \""]
    {
        assert!(count(&|line| line.contains(part)) > 2, "{part}");
    }
    assert!(count(&|line| line.starts_with("~ ") && line.contains("[]") && line.contains("->")) > 2);
}

#[test]
fn what_is_locked_is_refused_to_change() {
    let (lock, person) = person();
    let mut other = person.clone();
    other.hub = Some(located(VersionName::new("v3")));
    let problems = refused(&lock, &other);
    assert_eq!(problems[0].rule.id, rules::HUB_MOVED.id);
    assert_eq!(problems[0].message, "the hub of example.com/Person is v1, and pinned to v3");

    let mut other = person.clone();
    let mut into_v3 = step("v3");
    into_v3.from = Some(located(VersionName::new("v1")));
    other.steps.push(into_v3);
    let problems = refused(&lock, &other);
    assert_eq!(problems[0].rule.id, rules::LOCKED_FACT_CHANGED.id);
    assert_eq!(problems[0].message, "v3 is locked as coming from v2, not v1");

    let mut other = person.clone();
    other.order = Some(["v1", "v1beta1", "v2", "v3"].map(VersionName::new).to_vec());
    assert_eq!(refused(&lock, &other)[0].message, "the order of the versions is locked: v1beta1, v1, v2, v3");

    let (mut history, _) = History::derive(&person, lock.history("example.com", "Person").as_ref());
    history.fields.iter_mut().for_each(|field| field.frozen = None);
    let problems = lock.grow(&person, &history, None).unwrap_err();
    let messages: Vec<_> = problems.iter().map(|problem| &*problem.message).collect();
    assert_eq!(messages, ["spec.replicas", "spec.extra"].map(|id| format!("what {id} is filled in with is locked")));

    let mut other = person;
    declare(&mut other, "v3", "{old: {type: integer}}");
    assert_eq!(refused(&lock, &other)[0].rule.id, rules::LOCKED_VERSION_CHANGED.id);
}

#[test]
fn a_version_that_is_dropped_stays_locked() {
    let (lock, mut person) = person();
    person.versions.retain(|version| version.name.as_str() == "v3");
    assert_eq!(grown(&lock, &person), lock);
}

#[test]
fn a_locked_field_keeps_its_id_although_its_rename_is_declared_no_more() {
    let mut kind = Declaration::new("", "Kind");
    declare(&mut kind, "v1", "{b: {type: string}}");
    declare(&mut kind, "v2", "{c: {type: string}}");
    kind.steps.push(step("v2"));
    kind.steps[0].renamed.push(Renamed { from: path("spec.b"), to: path("spec.c") });
    let lock = grown(&Lock::default(), &kind);
    kind.steps.clear();
    declare(&mut kind, "v2", "{b: {type: string}, c: {type: string}}");
    let text = grown(&lock, &kind).to_string();
    assert!(text.contains("\n    + spec.b string id spec.b#2\n"), "{text}");
}

#[test]
fn a_hub_moves_only_when_asked_and_says_what_comes_first() {
    let (mut lock, person) = person();
    assert_eq!(lock.kind("example.com", "Person").unwrap().hub().as_str(), "v1");
    let (history, _) = History::derive(&person, lock.history("example.com", "Person").as_ref());
    let to = VersionName::new("v3");
    let asked = lock.grow(&person, &history, Some(&to)).unwrap();
    let moved = lock.move_hub("example.com", "Person", &to).unwrap();
    assert_eq!(asked, lock);
    assert!(moved.to_string().contains("1. deploy everywhere a release whose lock has v3, with the hub still at v1"));
    let problem = lock.move_hub("example.com", "Person", &VersionName::new("v9")).unwrap_err();
    assert_eq!(problem.mend.as_deref(), Some("name one of v1beta1, v1, v2, v3"));
    assert!(lock.move_hub("", "Person", &to).is_err());
    assert!(lock.grow(&person, &history, Some(&VersionName::new("v9"))).is_err());
}

#[test]
fn kinds_are_locked_side_by_side() {
    let (mut lock, _) = person();
    for (group, kind) in [("example.com", "Zebra"), ("", "Person"), ("example.com", "Ant")] {
        let mut declaration = Declaration::new(group, kind);
        declare(&mut declaration, "v1", "{a: {type: string}}");
        lock = grown(&lock, &declaration);
    }
    let names: Vec<_> = lock.kinds().iter().map(|kind| kind.name().to_string()).collect();
    assert_eq!(names, ["Person", "Ant.example.com", "Person.example.com", "Zebra.example.com"]);
    assert_eq!(Lock::parse(&lock.to_string()).0, lock);
    let version = VersionName::new("v1");
    let of = |kind| lock.kind("example.com", kind).unwrap().fingerprint(&version).unwrap();
    assert_eq!(of("Ant"), of("Zebra"));
    assert_ne!(of("Ant"), of("Person"));
}
