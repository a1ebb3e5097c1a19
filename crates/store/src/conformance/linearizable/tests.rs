//! Histories that an order explains, and histories that none does.

use super::*;
use crate::conformance::random::Random;

fn revision(number: u64) -> Revision {
    Revision::new(format!("r{number}"))
}

fn operation(began: u64, ended: u64, call: Call, outcome: Outcome) -> Operation {
    Operation { key: Key::new("kind/one").unwrap(), began, ended, call, outcome }
}

fn create(began: u64, ended: u64, value: u64) -> Operation {
    operation(began, ended, Call::Create { value }, Outcome::Written(revision(value)))
}

fn replace(began: u64, ended: u64, expected: u64, value: u64) -> Operation {
    let call = Call::Replace { expected: revision(expected), value };
    operation(began, ended, call, Outcome::Written(revision(value)))
}

fn delete(began: u64, ended: u64, expected: u64) -> Operation {
    operation(began, ended, Call::Delete { expected: revision(expected) }, Outcome::Removed)
}

fn get(began: u64, ended: u64, value: Option<u64>) -> Operation {
    operation(began, ended, Call::Get, Outcome::Found(value.map(|value| (revision(value), value))))
}

fn with(mut operation: Operation, outcome: Outcome) -> Operation {
    operation.outcome = outcome;
    operation
}

#[test]
fn histories_that_an_order_explains_are_accepted() {
    let histories = [
        vec![],
        vec![get(0, 1, None), create(2, 3, 1), get(4, 5, Some(1)), replace(6, 7, 1, 2), delete(8, 9, 2)],
        // A get at the same time sees either.
        vec![create(0, 9, 1), get(1, 2, None), get(3, 4, Some(1)), get(5, 6, Some(1))],
        // Answered in another order than done.
        vec![create(0, 1, 1), replace(2, 20, 1, 2), replace(3, 10, 2, 3), get(11, 12, Some(3))],
        // Of two writers one wins, and the other is told who.
        vec![
            create(0, 1, 1),
            replace(2, 9, 1, 2),
            with(replace(2, 9, 1, 3), Outcome::Conflict(revision(2))),
            get(10, 11, Some(2)),
        ],
        // Nobody knows: it never happened, or happened later than the next get.
        vec![with(create(0, 1, 1), Outcome::Unknown), get(5, 6, None), create(7, 8, 2)],
        vec![with(create(0, 1, 1), Outcome::Unknown), get(5, 6, None), get(7, 8, Some(1)), get(9, 10, Some(1))],
        vec![create(0, 1, 1), with(delete(2, 3, 1), Outcome::Unknown), get(4, 5, Some(1)), get(6, 7, None)],
        vec![create(0, 1, 1), with(delete(2, 3, 1), Outcome::Unknown), create(4, 5, 2)],
        // What exists, or is in the way, is a value that nobody ever read.
        vec![with(create(0, 1, 1), Outcome::Unknown), with(create(2, 3, 2), Outcome::Exists)],
        vec![
            create(0, 1, 1),
            with(replace(2, 3, 1, 2), Outcome::Unknown),
            with(replace(4, 5, 1, 3), Outcome::Conflict(Revision::new("new"))),
        ],
        vec![create(0, 1, 1), delete(2, 3, 1), with(replace(4, 5, 1, 2), Outcome::Missing), create(6, 7, 3)],
    ];
    for (number, history) in histories.into_iter().enumerate() {
        assert_eq!(check(&history), Ok(()), "history {number}");
    }
}

#[test]
fn histories_that_no_order_explains_are_rejected() {
    let conflict = |value| Outcome::Conflict(revision(value));
    let histories = [
        ("a stale read", vec![create(0, 1, 1), replace(2, 3, 1, 2), get(4, 5, Some(1))]),
        ("a write that is not seen", vec![create(0, 1, 1), get(2, 3, None)]),
        ("a write seen, then unseen", vec![create(0, 20, 1), get(1, 2, Some(1)), get(3, 4, None)]),
        (
            "an unknown write seen, then unseen",
            vec![with(create(0, 1, 1), Outcome::Unknown), get(2, 3, Some(1)), get(4, 5, None)],
        ),
        ("a lost update", vec![create(0, 1, 1), replace(2, 9, 1, 2), replace(2, 9, 1, 3)]),
        ("created twice", vec![create(0, 9, 1), create(0, 9, 2)]),
        ("deleted twice", vec![create(0, 1, 1), delete(2, 9, 1), delete(2, 9, 1)]),
        ("a deleted value that is back", vec![create(0, 1, 1), delete(2, 3, 1), get(4, 5, Some(1))]),
        ("a replace of what was deleted", vec![create(0, 1, 1), delete(2, 3, 1), replace(4, 5, 1, 2)]),
        ("a value from nowhere", vec![get(0, 1, Some(7))]),
        ("read before it was written", vec![get(0, 1, Some(1)), create(2, 3, 1)]),
        (
            "a failed write that is seen",
            vec![create(0, 1, 1), with(replace(2, 3, 1, 2), conflict(1)), get(4, 5, Some(2))],
        ),
        ("a conflict with what it expects", vec![create(0, 1, 1), get(0, 1, None), with(delete(2, 3, 1), conflict(2))]),
        (
            "missing although there",
            vec![create(0, 1, 1), with(replace(2, 3, 1, 2), Outcome::Missing), get(4, 5, Some(1))],
        ),
        ("existing although not there", vec![with(create(0, 1, 1), Outcome::Exists)]),
        (
            "two readers that disagree about the order",
            vec![create(0, 1, 1), replace(2, 30, 1, 2), get(3, 4, Some(2)), get(5, 6, Some(1))],
        ),
        (
            "a revision that came back",
            vec![create(0, 1, 1), delete(2, 3, 1), with(create(4, 5, 2), Outcome::Written(revision(1)))],
        ),
        (
            "a value with two revisions",
            vec![create(0, 1, 1), operation(2, 3, Call::Get, Outcome::Found(Some((revision(9), 1))))],
        ),
    ];
    for (what, history) in histories {
        assert!(check(&history).is_err(), "{what}");
    }
}

/// Calls with random durations that take effect, in order, at random moments within them.
fn random_history(seed: u64, count: u64, lost: u64) -> Vec<Operation> {
    let mut random = Random::new(seed);
    let mut state: Option<u64> = None;
    let mut seen = vec![];
    let mut history = Vec::new();
    for number in 1..=count {
        let moment = number * 100;
        let (began, ended) = (moment - random.within(0..400).min(moment), moment + random.within(0..400));
        let expected = if seen.is_empty() || random.within(0..3) > 0 { state } else { Some(*random.pick(&seen)) };
        let current = state.map(|value| Outcome::Conflict(revision(value))).unwrap_or(Outcome::Missing);
        let (call, outcome) = match (random.within(0..4), expected) {
            (0, _) | (2.., None) => (Call::Get, Outcome::Found(state.map(|value| (revision(value), value)))),
            (1, _) if state.is_some() => (Call::Create { value: number }, Outcome::Exists),
            (1, _) => {
                state = Some(number);
                (Call::Create { value: number }, Outcome::Written(revision(number)))
            }
            (2, Some(expected)) => {
                let is_right = state == Some(expected);
                state = if is_right { Some(number) } else { state };
                let outcome = if is_right { Outcome::Written(revision(number)) } else { current };
                (Call::Replace { expected: revision(expected), value: number }, outcome)
            }
            (_, Some(expected)) => {
                let is_right = state == Some(expected);
                state = if is_right { None } else { state };
                (Call::Delete { expected: revision(expected) }, if is_right { Outcome::Removed } else { current })
            }
        };
        seen.extend(state);
        // Some answers get lost.
        let is_lost = call != Call::Get && random.within(0..1000) < lost;
        history.push(operation(began, ended, call, if is_lost { Outcome::Unknown } else { outcome }));
    }
    history
}

#[test]
fn random_histories_are_accepted_and_long_ones_take_no_time() {
    for seed in 0..100 {
        assert_eq!(check(&random_history(seed, 60, 50)), Ok(()), "seed {seed}");
    }
    assert_eq!(check(&random_history(0, 5000, 5)), Ok(()));
}

#[test]
fn random_histories_with_a_stale_read_at_their_end_are_rejected() {
    let mut rejected = 0;
    for seed in 0..100 {
        let mut history = random_history(seed, 60, 50);
        let revisions = history.iter().filter_map(|operation| match (&operation.call, &operation.outcome) {
            (Call::Create { value } | Call::Replace { value, .. }, Outcome::Written(_)) => Some(*value),
            _ => None,
        });
        let Some(first) = revisions.min() else { continue };
        let is_current = check(&[history.clone(), vec![get(100_000, 100_001, None)]].concat()).is_ok();
        let stale = if is_current { Some(first) } else { None };
        history.push(get(100_002, 100_003, stale));
        assert!(check(&history).is_err(), "seed {seed}");
        rejected += 1;
    }
    assert!(rejected > 60);
}
