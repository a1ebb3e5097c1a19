//! What processes said, put together: all of it must be explained by what is in the store.

use std::collections::{BTreeMap, HashMap, HashSet};

use wheelwright_store::{
    Cursor, Key, Prefix, Revision, Store,
    conformance::linearizable::{self, Call, Operation, Outcome},
};

use crate::protocol::{Kind, Line, Told, number, value};

/// The key whose creation says that nothing more will happen.
pub(crate) const LAST: &str = "zzz/last";

/// What several processes called and were answered.
#[derive(Default)]
pub(crate) struct Histories {
    operations: Vec<Operation>,
    /// How many calls were answered that nothing was done.
    pub(crate) nothing: usize,
}

impl Histories {
    /// Adds what one process said. Calls without an answer may have been done or not.
    pub(crate) fn add(&mut self, said: Vec<Line>) {
        let mut open: BTreeMap<u64, Operation> = BTreeMap::new();
        for line in said {
            match line {
                Line::Begin { id, began, key, call } => {
                    open.insert(id, Operation { key, began, ended: u64::MAX, call, outcome: Outcome::Unknown });
                }
                Line::End { id, ended, outcome } => {
                    let operation = open.remove(&id).expect("a call begins before it ends");
                    self.operations.push(Operation { ended, outcome, ..operation });
                }
                Line::Nothing { id } => {
                    open.remove(&id);
                    self.nothing += 1;
                }
                Line::Ready | Line::Told(_) | Line::Failed(_) => {}
            }
        }
        self.operations.extend(open.into_values());
    }

    /// How many writes were acknowledged.
    pub(crate) fn acknowledged(&self) -> usize {
        let is_done = |operation: &&Operation| matches!(operation.outcome, Outcome::Written(_) | Outcome::Removed);
        self.operations.iter().filter(is_done).count()
    }

    /// That everything agrees: the answers with one order, the log with the answers, and the store with the log. Gives the
    /// log, and ends it: watchers come to their end too.
    pub(crate) async fn check(&self, store: &dyn Store, begin: &Cursor) -> Vec<Told> {
        let log = read_log(store, begin).await;
        linearizable::check(&self.operations).unwrap_or_else(|violation| panic!("{violation}"));
        self.check_log(&log);
        let mut left: BTreeMap<&Key, (&Revision, u64)> = BTreeMap::new();
        for told in &log {
            match told.kind {
                Kind::Deleted => left.remove(&told.key),
                Kind::Created | Kind::Replaced => left.insert(&told.key, (&told.revision, told.value)),
            };
        }
        let keys: HashSet<&Key> = log.iter().map(|told| &told.key).collect();
        for key in keys {
            let stored = store.get(key).await.expect("the store can be read");
            let found = stored.map(|stored| (stored.revision, number(&stored.value).expect("no half records")));
            let found = found.as_ref().map(|(revision, value)| (revision, *value));
            assert_eq!(found.as_ref(), left.get(key), "what {key} has, and what was told last");
        }
        log
    }

    /// That every acknowledged write is in the log once, and that nobody wrote anything else.
    fn check_log(&self, log: &[Told]) {
        let mut current: HashMap<&Key, (&Revision, u64)> = HashMap::new();
        let mut made: HashMap<(&Key, &Revision), &Told> = HashMap::new();
        let mut removed: HashSet<(&Key, &Revision)> = HashSet::new();
        for told in log {
            let before = current.remove(&told.key);
            match (told.kind, before) {
                (Kind::Created, None) | (Kind::Replaced, Some(_)) => {
                    current.insert(&told.key, (&told.revision, told.value));
                    let twice = made.insert((&told.key, &told.revision), told);
                    assert!(twice.is_none(), "a revision was told twice: {told:?}");
                }
                (Kind::Deleted, Some((revision, value))) if value == told.value => {
                    removed.insert((&told.key, revision));
                }
                _ => panic!("{told:?} does not follow from {before:?}"),
            }
        }
        let mut written: HashSet<u64> = HashSet::new();
        for operation in &self.operations {
            let key = &operation.key;
            if let Call::Create { value } | Call::Replace { value, .. } = operation.call {
                written.insert(value);
                if let Outcome::Written(revision) = &operation.outcome {
                    let told = made.get(&(key, revision)).map(|told| told.value);
                    assert_eq!(told, Some(value), "{key} at {revision} was acknowledged, and is in the log");
                }
            }
            if let (Call::Delete { expected }, Outcome::Removed) = (&operation.call, &operation.outcome) {
                assert!(removed.contains(&(key, expected)), "{key} at {expected} was removed, and is so in the log");
            }
        }
        for told in log {
            assert!(written.contains(&told.value), "nobody wrote {told:?}");
        }
    }
}

/// All that happened from a cursor on.
async fn read_log(store: &dyn Store, begin: &Cursor) -> Vec<Told> {
    let last = Key::new(LAST).expect("a key");
    store.create(&last, value(0)).await.expect("the store can be written");
    let mut watch = store.watch(&Prefix::all(), begin).await.expect("the history is not forgotten");
    let mut log = Vec::new();
    loop {
        let event = watch.next().await.expect("the store can be watched");
        let told = Told::new(&event).unwrap_or_else(|problem| panic!("{problem}"));
        if told.key == last {
            return log;
        }
        log.push(told);
    }
}

/// That a process that watched was told what is in the log, all of it and in its order.
pub(crate) fn assert_watched(said: Vec<Line>, log: &[Told]) {
    let told = said.into_iter().filter_map(|line| match line {
        Line::Told(told) => Some(told),
        _ => None,
    });
    let told: Vec<Told> = told.collect();
    let place = told.iter().zip(log).take_while(|(told, log)| told == log).count();
    let (told, expected) = (told.get(place), log.get(place));
    assert_eq!(told, expected, "change {} of {}, as a watcher was told and as it is in the log", place + 1, log.len());
}
