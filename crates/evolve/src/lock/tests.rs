//! Laws of the lock over generated histories, and what people see of it.

mod generate;

use std::{env, fs, path::Path};

use proptest::prelude::*;
use wheelwright_document::Span;
use wheelwright_findings::rules;
use wheelwright_schema::Root;

use self::generate::{Kind, stages};
use crate::{
    ChangeProblem, Declaration, DeclaredVersion, History, Located, Lock, Renamed, Selector, VersionName, VersionStep,
    Writers, testing::schema,
};

fn located<T>(item: T) -> Located<T> {
    Located { item, span: Span::default() }
}

fn path(text: &str) -> Located<Selector> {
    located(Selector::parse(text).unwrap())
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

fn grown(lock: &Lock, declaration: &Declaration) -> Lock {
    let locked = lock.history(&declaration.group, &declaration.kind);
    let (history, problems) = History::derive(declaration, locked.as_ref());
    assert!(problems.is_empty(), "{problems:?}");
    lock.grow(declaration, &history, None).unwrap()
}

fn refused(lock: &Lock, declaration: &Declaration) -> Vec<ChangeProblem> {
    let locked = lock.history(&declaration.group, &declaration.kind);
    let (history, _) = History::derive(declaration, locked.as_ref());
    lock.grow(declaration, &history, None).unwrap_err()
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
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_lock_is_the_history_that_it_was_grown_from_and_grows_by_lines_alone(stages in stages()) {
        let mut kind = Kind::new();
        let mut lock = Lock::default();
        for stage in &stages {
            let next = kind.after(stage);
            let locked = lock.history("", "Generated");
            let (history, problems) = History::derive(&next.declaration, locked.as_ref());
            if !problems.is_empty() {
                continue;
            }
            let larger = lock.grow(&next.declaration, &history, None).unwrap();
            prop_assert_eq!(&larger.history("", "Generated").unwrap(), &remembered(history));
            let text = larger.to_string();
            let (read, problems) = Lock::parse(&text);
            prop_assert!(problems.is_empty(), "{:?}\n{}", problems, text);
            prop_assert_eq!(&read, &larger);
            let again = larger.history("", "Generated");
            let (history, _) = History::derive(&next.declaration, again.as_ref());
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
