//! Bounds of clamped numbers: those that the schemas had when the version was locked.

use wheelwright_document::{Arena, decode, encode};
use wheelwright_evolve::{Clamped, Conversion, Declaration, Kind, Lock, Part, Respelled};

use crate::{declare, derived, grown, located, path, step};

/// A kind whose integer has other bounds in v2.
fn scaled(bounds: &str) -> Declaration {
    let mut kind = Declaration::new("example.com", "Scaled");
    declare(&mut kind, "v1", "{size: {type: integer}}");
    declare(&mut kind, "v2", &format!("{{size: {{type: integer, {bounds}}}}}"));
    let mut into_v2 = step("v2");
    let (from, to) = (vec![path("spec.size")], vec![path("spec.size")]);
    into_v2.respelled.push(Respelled { from, to, with: located(Conversion::Clamped(Clamped::ALONE)) });
    kind.steps.push(into_v2);
    kind
}

/// What v2 shows of a number that is written through v1.
fn shown(declaration: &Declaration, lock: &Lock) -> String {
    let locked = lock.kind("example.com", "Scaled").map(|kind| (kind.history(), kind.hub()));
    let (kind, problems) = Kind::compile(declaration, locked);
    assert!(problems.is_empty(), "{problems:?}");
    let (kind, arena) = (kind.expect("there are versions"), Arena::new());
    let (v1, v2) = (kind.version("v1").expect("declared"), kind.version("v2").expect("declared"));
    let written = decode(br#"{"spec":{"size":1000}}"#, &arena).expect("it is JSON");
    let stored = kind.put(v1, written, None, Part::Whole, &arena).expect("no policy refuses");
    String::from_utf8(encode(kind.get(v2, stored, &arena))).expect("JSON is text")
}

#[test]
fn a_schema_that_is_edited_later_changes_nothing_that_is_shown() {
    let declared = scaled("minimum: 0, maximum: 100");
    let unlocked = Lock::default();
    assert_eq!(shown(&declared, &unlocked), r#"{"spec":{"size":100}}"#);
    let lock = grown(&unlocked, &declared);
    let text = lock.to_string();
    assert!(text.contains("    converted spec.size -> spec.size clamped to 0..100\n"), "{text}");
    for bounds in ["maximum: 50", "maximum: 500", "format: int64"] {
        let edited = scaled(bounds);
        assert_eq!(shown(&edited, &lock), r#"{"spec":{"size":100}}"#, "{bounds}");
        let amended = grown(&lock, &edited).to_string();
        assert!(amended.contains("    converted spec.size -> spec.size clamped to 0..100\n"), "{amended}");
        let (read, problems) = Lock::parse(&amended);
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!(shown(&edited, &read), r#"{"spec":{"size":100}}"#, "{bounds}");
    }
}

#[test]
fn a_locked_conversion_is_neither_clamped_nor_unclamped() {
    let declared = scaled("maximum: 100");
    let lock = grown(&Lock::default(), &declared);
    let mut other = scaled("maximum: 100");
    other.steps[0].respelled[0].with = located(Conversion::Clamped(Clamped::new(Some(Conversion::Scale("1".into())))));
    let (history, problems) = derived(&lock, &other);
    assert_eq!(problems.iter().map(|problem| problem.rule.id).collect::<Vec<_>>(), ["WW138"]);
    assert_eq!(
        history.versions[1].respelled,
        lock.history("example.com", "Scaled").expect("locked").versions[1].respelled
    );
}
