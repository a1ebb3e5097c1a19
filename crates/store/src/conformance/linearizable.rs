//! Whether concurrent calls were answered as if they had been made one after the other.
//!
//! Every call takes effect at one moment between its beginning and its answer. So there must be one order of all calls to a
//! key that agrees with time (what was answered before another began comes first) and in which every answer is right. A
//! call whose answer nobody got may take effect at any time after its beginning, or never. The search tries the calls that
//! may come next, goes back where it finds no way on, and remembers what it has tried.
//!
//! ```
//! use wheelwright_store::{Key, Revision, conformance::linearizable::{Call, Operation, Outcome, check}};
//!
//! let key = Key::new("kind/one").unwrap();
//! let operation = |times: (u64, u64), call, outcome| Operation {
//!     key: key.clone(),
//!     began: times.0,
//!     ended: times.1,
//!     call,
//!     outcome,
//! };
//! let first = Revision::new("1");
//! let create = operation((0, 10), Call::Create { value: 100 }, Outcome::Written(first.clone()));
//! let early = operation((5, 7), Call::Get, Outcome::Found(None));
//! let late = operation((20, 25), Call::Get, Outcome::Found(None));
//!
//! assert!(check(&[create.clone(), early]).is_ok());
//! assert!(check(&[create, late]).is_err());
//! ```

use std::{
    collections::{BTreeMap, HashMap, HashSet, VecDeque},
    error::Error,
    fmt,
};

use crate::{Key, Revision};

/// A call, and what was answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operation {
    /// The key it was about.
    pub key: Key,
    /// When it began, by a clock that all callers share.
    pub began: u64,
    /// When the answer was there; of no meaning if the outcome is unknown.
    pub ended: u64,
    /// What was called.
    pub call: Call,
    /// What was answered.
    pub outcome: Outcome,
}

/// What was called. Every value that is written is told apart by a number from all others of its key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Call {
    /// A get.
    Get,
    /// A create.
    Create {
        /// Which value was written.
        value: u64,
    },
    /// A replace.
    Replace {
        /// The revision that the caller believed to be there.
        expected: Revision,
        /// Which value was written.
        value: u64,
    },
    /// A delete.
    Delete {
        /// The revision that the caller believed to be there.
        expected: Revision,
    },
}

/// What was answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// A get found this revision of this value, or nothing.
    Found(Option<(Revision, u64)>),
    /// A write was done, and made a revision.
    Written(Revision),
    /// A delete was done.
    Removed,
    /// A create failed since there is a value.
    Exists,
    /// A write failed since there is no value.
    Missing,
    /// A write failed since there is another value, with this revision.
    Conflict(Revision),
    /// Nobody got the answer.
    Unknown,
}

/// Calls that no order explains.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The key they were about.
    pub key: Key,
    /// What is wrong, in words.
    pub message: String,
}

/// Whether there is an order of the calls that explains all answers, for each key.
///
/// # Errors
/// There is a key for which no order does.
pub fn check(operations: &[Operation]) -> Result<(), Violation> {
    let mut by_key: BTreeMap<&Key, Vec<&Operation>> = BTreeMap::new();
    for operation in operations {
        by_key.entry(&operation.key).or_default().push(operation);
    }
    for (key, mut operations) in by_key {
        operations.sort_by_key(|operation| operation.began);
        let explained = values_of_revisions(&operations).and_then(|values| Search::new(&operations, &values).run());
        explained.map_err(|message| Violation { key: key.clone(), message })?;
    }
    Ok(())
}

/// Which value each revision is, as far as anybody saw both: by writing it, or by reading it.
fn values_of_revisions<'o>(operations: &[&'o Operation]) -> Result<HashMap<&'o Revision, u64>, String> {
    let mut values = HashMap::new();
    let mut revisions: HashMap<u64, &Revision> = HashMap::new();
    for operation in operations {
        let (revision, value) = match (&operation.outcome, &operation.call) {
            (Outcome::Found(Some((revision, value))), _) => (revision, *value),
            (Outcome::Written(revision), Call::Create { value } | Call::Replace { value, .. }) => (revision, *value),
            _ => continue,
        };
        if values.insert(revision, value).is_some_and(|other| other != value) {
            return Err(format!("revision {revision} stands for two values"));
        }
        if revisions.insert(value, revision).is_some_and(|other| other != revision) {
            return Err(format!("value {value}, written once, has two revisions"));
        }
    }
    Ok(values)
}

/// One of the values that were written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Value<'o> {
    Written(u64),
    /// Nobody saw which one has this revision: the answer to its write got lost, and nobody read it.
    Unseen(&'o Revision),
}

/// What a key has, if anything.
type State<'o> = Option<Value<'o>>;

/// An operation with revisions as the values that they are.
struct Step<'o> {
    began: u64,
    /// None if nobody got the answer.
    ended: Option<u64>,
    effect: Effect<'o>,
}

enum Effect<'o> {
    /// Right if this is the state, which stays.
    Sees(State<'o>),
    /// Right if there is any value.
    SeesSome,
    /// Right in this state, which becomes one of several others.
    Changes { from: State<'o>, to: Vec<State<'o>> },
}

impl<'o> Effect<'o> {
    /// The states that may be after it; none if the answer would be wrong in this state.
    fn after(&self, state: State<'o>) -> Vec<State<'o>> {
        match self {
            Self::Sees(seen) if state == *seen => vec![state],
            Self::SeesSome if state.is_some() => vec![state],
            Self::Changes { from, to } if state == *from => to.clone(),
            _ => vec![],
        }
    }
}

/// The steps in the order of their beginnings: those that were answered, and after them those that were not.
struct Search<'o> {
    operations: Vec<&'o Operation>,
    steps: Vec<Step<'o>>,
    answered: usize,
}

impl<'o> Search<'o> {
    fn new(operations: &[&'o Operation], values: &HashMap<&'o Revision, u64>) -> Self {
        let unseen: HashSet<&Revision> = operations
            .iter()
            .flat_map(|operation| revisions(operation))
            .filter(|name| !values.contains_key(name))
            .collect();
        let known: HashSet<u64> = values.values().copied().collect();
        let steps = operations.iter().filter_map(|operation| {
            let effect = effect(operation, values, &known, &unseen)?;
            let ended = (operation.outcome != Outcome::Unknown).then_some(operation.ended);
            Some((*operation, Step { began: operation.began, ended, effect }))
        });
        let (answered, mut unknown): (Vec<_>, Vec<_>) = steps.partition(|(_, step)| step.ended.is_some());
        if unseen.is_empty() && !answered.iter().any(|(_, step)| matches!(step.effect, Effect::SeesSome)) {
            // A value that nobody noticed in any way explains nothing.
            unknown.retain(|(operation, _)| match operation.call {
                Call::Create { value } | Call::Replace { value, .. } => known.contains(&value),
                Call::Get | Call::Delete { .. } => true,
            });
        }
        let count = answered.len();
        let (operations, steps) = answered.into_iter().chain(unknown).unzip();
        Self { operations, steps, answered: count }
    }

    /// Depth first, without recursion: histories are long.
    fn run(&self) -> Result<(), String> {
        let mut done = Done::new(self.answered, self.steps.len());
        let mut state: State<'o> = None;
        let mut tried: HashSet<(Done, State<'o>)> = HashSet::new();
        let mut path: Vec<(usize, State<'o>)> = Vec::new();
        let mut furthest = (0, None, 0);
        // Steps before this one were tried in this place.
        let mut from = 0;
        while done.first_open() < self.answered {
            let next = self.candidates(&done, from).into_iter().find_map(|index| {
                done.insert(index);
                let mut states = self.steps[index].effect.after(state).into_iter();
                let after = states.find(|after| tried.insert((done.clone(), *after)));
                if after.is_none() {
                    done.remove(index);
                }
                after.map(|after| (index, after))
            });
            if let Some((index, after)) = next {
                path.push((index, state));
                state = after;
                from = 0;
                if path.len() > furthest.0 {
                    furthest = (path.len(), state, done.first_open());
                }
            } else {
                let Some((index, before)) = path.pop() else {
                    let (_, state, stuck) = furthest;
                    let operation = self.operations[stuck];
                    let message = "no order explains the answers";
                    return Err(format!("{message}; with {state:?} there, nothing explains {operation:?}"));
                };
                done.remove(index);
                state = before;
                // Once more: it may lead to other states.
                from = index;
            }
        }
        Ok(())
    }

    /// The open steps from one on that may come next: those that began before any open step was answered.
    fn candidates(&self, done: &Done, from: usize) -> Vec<usize> {
        let mut deadline = u64::MAX;
        let mut candidates = Vec::new();
        for index in (done.first_open()..self.answered).filter(|index| !done.contains(*index)) {
            let step = &self.steps[index];
            if step.began > deadline {
                break;
            }
            deadline = deadline.min(step.ended.unwrap_or(u64::MAX));
            candidates.push(index);
        }
        let unknown = (self.answered..self.steps.len()).filter(|index| !done.contains(*index));
        candidates.extend(unknown.take_while(|index| self.steps[*index].began <= deadline));
        candidates.retain(|index| *index >= from);
        candidates
    }
}

/// The revisions that somebody had in hand.
fn revisions(operation: &Operation) -> impl Iterator<Item = &Revision> {
    let expected = match &operation.call {
        Call::Replace { expected, .. } | Call::Delete { expected } => Some(expected),
        Call::Get | Call::Create { .. } => None,
    };
    let found = match &operation.outcome {
        Outcome::Conflict(revision) => Some(revision),
        _ => None,
    };
    expected.into_iter().chain(found)
}

/// What an operation does; none if it says nothing.
fn effect<'o>(
    operation: &'o Operation,
    values: &HashMap<&'o Revision, u64>,
    known: &HashSet<u64>,
    unseen: &HashSet<&'o Revision>,
) -> Option<Effect<'o>> {
    let value_of = |revision: &'o Revision| {
        Some(values.get(revision).map_or(Value::Unseen(revision), |value| Value::Written(*value)))
    };
    let written = |value: u64| -> Vec<State<'o>> {
        let is_unseen = operation.outcome == Outcome::Unknown && !known.contains(&value);
        let others = unseen.iter().filter(|_| is_unseen).map(|revision| Some(Value::Unseen(revision)));
        [Some(Value::Written(value))].into_iter().chain(others).collect()
    };
    let effect = match (&operation.call, &operation.outcome) {
        (Call::Get, Outcome::Found(found)) => Effect::Sees(found.as_ref().map(|(_, value)| Value::Written(*value))),
        (_, Outcome::Missing) => Effect::Sees(None),
        (_, Outcome::Exists) => Effect::SeesSome,
        (_, Outcome::Conflict(revision)) => Effect::Sees(value_of(revision)),
        (Call::Create { value }, _) => Effect::Changes { from: None, to: written(*value) },
        (Call::Replace { expected, value }, _) => Effect::Changes { from: value_of(expected), to: written(*value) },
        (Call::Delete { expected }, _) => Effect::Changes { from: value_of(expected), to: vec![None] },
        (Call::Get, _) => return None,
    };
    Some(effect)
}

/// Which steps are done: all before the first open one, and some after it.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Done {
    first_open: usize,
    /// Those that were answered and are done, from the first open one on.
    answered: VecDeque<bool>,
    /// How many were answered.
    count: usize,
    unknown: Vec<bool>,
}

impl Done {
    fn new(answered: usize, all: usize) -> Self {
        Self { first_open: 0, answered: VecDeque::new(), count: answered, unknown: vec![false; all - answered] }
    }

    fn first_open(&self) -> usize {
        self.first_open
    }

    fn contains(&self, index: usize) -> bool {
        match index.checked_sub(self.count) {
            Some(index) => self.unknown[index],
            None => index < self.first_open || self.answered.get(index - self.first_open) == Some(&true),
        }
    }

    fn insert(&mut self, index: usize) {
        if let Some(index) = index.checked_sub(self.count) {
            self.unknown[index] = true;
            return;
        }
        let index = index - self.first_open;
        if self.answered.len() <= index {
            self.answered.resize(index + 1, false);
        }
        self.answered[index] = true;
        while self.answered.front() == Some(&true) {
            self.answered.pop_front();
            self.first_open += 1;
        }
    }

    fn remove(&mut self, index: usize) {
        if let Some(index) = index.checked_sub(self.count) {
            self.unknown[index] = false;
            return;
        }
        while index < self.first_open {
            self.first_open -= 1;
            self.answered.push_front(true);
        }
        self.answered[index - self.first_open] = false;
        // Equal sets are equal deques.
        while self.answered.back() == Some(&false) {
            self.answered.pop_back();
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.message)
    }
}

impl Error for Violation {}

#[cfg(test)]
mod tests {
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
            (
                "a conflict with what it expects",
                vec![create(0, 1, 1), get(0, 1, None), with(delete(2, 3, 1), conflict(2))],
            ),
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
        for seed in 0..300 {
            assert_eq!(check(&random_history(seed, 60, 50)), Ok(()), "seed {seed}");
        }
        assert_eq!(check(&random_history(0, 5000, 5)), Ok(()));
    }

    #[test]
    fn random_histories_with_a_stale_read_at_their_end_are_rejected() {
        let mut rejected = 0;
        for seed in 0..300 {
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
        assert!(rejected > 200);
    }
}
