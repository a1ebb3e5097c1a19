//! Kinds that get another name: what was locked continues, and no name is ever that of two kinds.

use wheelwright_evolve::{Declaration, KindName, Lock};
use wheelwright_findings::rules;

use super::{declare, derived, grown, located, refused};

const OLD: &str = "{first: {type: string}, last: {type: string, default: x}}";
const NEW: &str = "{first: {type: string}, last: {type: string, default: x}, trade: {type: string}}";

fn person() -> Declaration {
    let mut person = Declaration::new("crm.example.com", "Person");
    declare(&mut person, "v1", OLD);
    declare(&mut person, "v2", NEW);
    person
}

/// The same kind under another name, with a version more.
fn party() -> Declaration {
    let mut party = Declaration::new("example.com", "Party");
    let old = KindName::new("crm.example.com", "Person");
    party.versions = person().versions.into_iter().map(|version| version.published_as(old.clone())).collect();
    party.was.push(located(old));
    declare(&mut party, "v3", NEW);
    party
}

fn without_sum(lock: &Lock) -> String {
    lock.to_string().trim_end().rsplit_once('\n').expect("the sum is its last line").0.to_owned()
}

#[test]
fn a_kind_that_was_locked_continues_under_another_name() {
    let before = grown(&Lock::default(), &person());
    let after = grown(&before, &party());
    let (text, earlier) = (without_sum(&after), without_sum(&before));
    let news = text.strip_prefix(&earlier).expect("a lock grows by lines alone");
    assert!(news.starts_with("\n  version v3 from v2 kind Party group example.com fingerprint "), "{news}");
    assert_eq!(news.trim_start().lines().count(), 1, "{news}");

    let [locked] = after.kinds() else { panic!("one kind") };
    let names: Vec<_> = locked.names().iter().map(ToString::to_string).collect();
    assert_eq!(names, ["Person.crm.example.com", "Party.example.com"]);
    assert_eq!(locked.name().to_string(), "Party.example.com");
    let published_as: Vec<_> =
        locked.history().versions.iter().map(|version| version.published_as.as_slice()).collect();
    let [old, new] = locked.names() else { panic!("two names") };
    assert_eq!(published_as, [[old.clone()], [old.clone()], [new.clone()]]);
    assert_eq!(locked.history().fields, before.kinds()[0].history().fields, "ids and frozen defaults stay");

    let (read, problems) = Lock::parse(&after.to_string());
    assert!(read == after && problems.is_empty(), "{problems:?}");
    for (group, kind) in [("crm.example.com", "Person"), ("example.com", "Party")] {
        assert_eq!(after.kind(group, kind), Some(locked));
    }
    assert!(after.kind("example.com", "Person").is_none());
}

#[test]
fn what_a_lock_knows_need_not_be_declared_any_more() {
    let lock = grown(&grown(&Lock::default(), &person()), &party());
    let mut party = party();
    assert_eq!(grown(&lock, &party), lock);
    party.versions.retain(|version| version.kind.is_none());
    assert_eq!(grown(&lock, &party), lock);
    party.was.clear();
    assert_eq!(grown(&lock, &party), lock);
}

#[test]
fn a_version_may_take_the_new_name_and_is_known_by_both() {
    let lock = grown(&Lock::default(), &person());
    let mut party = person();
    party.was.push(located(party.name()));
    party.kind = "Party".into();
    let renamed = grown(&lock, &party);
    let text = without_sum(&renamed);
    let news = text.strip_prefix(&without_sum(&lock)).expect("a lock grows by lines alone");
    assert_eq!(news.matches("\n  amend v").count(), 2, "{news}");
    assert_eq!(news.matches(" kind Party group crm.example.com fingerprint ").count(), 2, "{news}");
    let (history, _) = derived(&lock, &party);
    let names: Vec<_> = history.versions[0].published_as.iter().map(|name| &*name.kind).collect();
    assert_eq!(names, ["Person", "Party"]);
    // Whoever undoes it says so, too, and nothing is forgotten.
    let mut back = person();
    assert_eq!(refused(&renamed, &back)[0].rule.id, rules::KIND_NAME_TAKEN.id);
    back.was.push(located(party.name()));
    assert_eq!(grown(&renamed, &back).kinds()[0].name().to_string(), "Person.crm.example.com");
}

#[test]
fn no_name_is_that_of_two_kinds() {
    let renamed = grown(&Lock::default(), &party());
    let problems = refused(&renamed, &person());
    assert_eq!(problems[0].rule.id, rules::KIND_NAME_TAKEN.id);
    assert_eq!(problems[0].message, "Person.crm.example.com is locked as a name that Party.example.com had");

    let mut alone = party();
    alone.was.clear();
    alone.versions.retain(|version| version.kind.is_none());
    let both = grown(&grown(&Lock::default(), &alone), &person());
    let problems = refused(&both, &party());
    assert_eq!(problems[0].rule.id, rules::KIND_NAME_TAKEN.id);
    let expected = "Person.crm.example.com is locked as a kind of its own, and cannot become Party.example.com";
    assert_eq!(problems[0].message, expected);
}

#[test]
fn a_lock_that_has_one_name_for_two_kinds_is_inconsistent() {
    let (renamed, alone) = (grown(&Lock::default(), &party()), grown(&Lock::default(), &person()));
    let text = alone.to_string();
    let section = &text[text.find("kind Person").unwrap()..];
    for merged in
        [format!("{renamed}\n{section}"), text.replacen("kind Person", &format!("{}kind Person", of(&renamed)), 1)]
    {
        let (_, problems) = Lock::parse(&merged);
        assert_eq!(problems[0].rule.id, rules::LOCK_INCONSISTENT.id, "{merged}");
    }
}

/// The lines of the only kind of a lock.
fn of(lock: &Lock) -> String {
    let text = lock.to_string();
    format!("{}\n", &text[text.find("kind ").expect("it has a kind")..])
}
