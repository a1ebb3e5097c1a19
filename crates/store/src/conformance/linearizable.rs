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
mod tests;
