//! What a version computes, once it is locked: what the lock says, whatever its changes say later.

use std::{collections::HashMap, hash::Hash};

use wheelwright_schema::Problem;

use super::{Derived, Direction, Respelled, VersionStep};
use crate::{Selector, VersionHistory, identify::contradiction};

/// What a version computes: as its step says, or as it is locked. What the step says no more is remembered; what it says for
/// the first time comes too late.
pub(crate) fn settled(
    before: Option<&VersionHistory>,
    step: &VersionStep,
    problems: &mut Vec<Problem>,
) -> (Vec<Respelled>, Vec<Derived>) {
    let Some(before) = before else { return (step.respelled.clone(), step.derived.clone()) };
    let version = &before.name;
    let respelled = settle(&before.respelled, &step.respelled, first_field, |respelled, is_there| {
        let change = respelled.with.item.word();
        let lock_says = says(&respelled.from[0].item, "converted", is_there);
        problems.push(contradiction(respelled.with.span, version, &lock_says, change));
    });
    let derived = settle(&before.derived, &step.derived, derived_field, |derived, is_there| {
        let lock_says = says(&derived.at.item, "derived", is_there);
        problems.push(contradiction(derived.at.span, version, &lock_says, "derived"));
    });
    (respelled, derived)
}

fn says(at: &Selector, computed: &str, is_there: bool) -> String {
    if is_there { format!("with {at} {computed} in another way") } else { format!("without {at} being {computed}") }
}

/// No two facts have it in common.
fn first_field(respelled: &Respelled) -> &Selector {
    &respelled.from[0].item
}

fn derived_field(derived: &Derived) -> (Direction, &Selector) {
    (derived.direction, &derived.at.item)
}

/// What is locked, in the order of the lock, with the places where it is said now; and what is said and was not locked, of
/// which is told whether something else was.
fn settle<'s, T: Clone + PartialEq, K: Eq + Hash>(
    locked: &'s [T],
    said: &'s [T],
    key: impl Fn(&'s T) -> K,
    mut contradicts: impl FnMut(&T, bool),
) -> Vec<T> {
    let by_key: HashMap<K, &T> = locked.iter().map(|fact| (key(fact), fact)).collect();
    for fact in said {
        match by_key.get(&key(fact)) {
            Some(locked) if *locked == fact => {}
            other => contradicts(fact, other.is_some()),
        }
    }
    let said: HashMap<K, &T> = said.iter().map(|fact| (key(fact), fact)).collect();
    let settled =
        locked.iter().map(|fact| said.get(&key(fact)).filter(|said| **said == fact).map_or(fact, |said| said));
    settled.cloned().collect()
}

#[cfg(test)]
mod tests {
    use crate::{History, testing::declaration};

    const V1: &str = "{type: object, properties: {a: {type: string}, b: {type: string}, c: {type: string}}}";
    const V2: &str =
        "{type: object, properties: {d: {type: integer}, e: {type: integer, default: 3}, f: {type: string}}}";

    /// What the changes of a version say, and what of it is locked.
    fn told(locked: &str, now: &str) -> (History, Vec<(&'static str, u32, String)>) {
        let versions = [("v1", V1), ("v2", V2)];
        let (locked, problems) = History::derive(&declaration(&versions, locked), None);
        assert!(problems.is_empty(), "{problems:?}");
        let (history, problems) = History::derive(&declaration(&versions, now), Some(&locked));
        assert_eq!(
            (&history.versions[1].respelled, &history.versions[1].derived),
            (&locked.versions[1].respelled, &locked.versions[1].derived),
            "what is locked holds"
        );
        let told = problems.iter().map(|problem| (problem.rule.id, problem.span.line, problem.message.clone()));
        (history, told.collect())
    }

    #[test]
    fn what_is_computed_may_be_said_again_in_any_order_or_not_at_all() {
        let both = "v2: {converted: {a: {to: d, with: text}, b: {to: e, with: text}}, derived: {up: {f: self.c}}}";
        for newer in [
            both,
            "v2: {derived: {up: {f: self.c}}, converted: {b: {to: e, with: text}, a: {to: d, with: text}}}",
            "v2: {converted: {a: {to: d, with: text}}}",
            "",
        ] {
            assert_eq!(told(both, newer).1, [], "{newer}");
        }
        let (history, _) = told(both, &format!("\n{both}"));
        assert_eq!(history.versions[1].respelled[1].with.span.line, 2, "where it is said now");
    }

    #[test]
    fn what_is_computed_for_the_first_time_or_otherwise_comes_too_late() {
        let locked = "v2: {converted: {a: {to: d, with: text}}, derived: {up: {f: self.c}}}";
        for (now, lock_says, change) in [
            ("v2:\n  converted: {a: {to: d, with: quantity}}", "with a converted in another way", "converted"),
            ("v2:\n  converted: {a: {to: e, with: text}}", "with a converted in another way", "converted"),
            ("v2:\n  converted: {b: {to: e, with: text}}", "without b being converted", "converted"),
            ("v2:\n  reshaped: [{from: [b, c], to: e}]", "without b being converted", "reshaped"),
            ("v2:\n  hook: [{name: x, from: b, to: e}]", "without b being converted", "hook"),
            ("v2:\n  derived: {up: {f: self.b}}", "with f derived in another way", "derived"),
            ("v2:\n  derived: {down: {c: self.f}}", "without c being derived", "derived"),
        ] {
            let message = format!("v2 is locked {lock_says}: `{change}` comes too late");
            assert_eq!(told(locked, now).1, [("WW138", 2, message)], "{now}");
        }
    }

    #[test]
    fn a_storage_default_of_a_converted_field_stays_as_it_is_locked() {
        let changes = "v2: {converted: {a: {to: d, with: text}}, storageDefault: {d: 7}}";
        assert_eq!(told(changes, changes).1, []);
    }
}
