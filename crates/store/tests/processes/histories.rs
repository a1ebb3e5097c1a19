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

#[cfg(test)]
mod tests {
    use super::*;
    use wheelwright_store::Memory;

    /// A store that one process wrote to, and what that process said, with a last call of one's own.
    async fn history(call: Call, outcome: Outcome) -> (Memory, Histories) {
        let (store, key) = (Memory::new(), Key::new("kind/one").unwrap());
        let first = store.create(&key, value(1)).await.unwrap();
        let created = Line::Begin { id: 1, began: 1, key: key.clone(), call: Call::Create { value: 1 } };
        let mut histories = Histories::default();
        histories.add(vec![
            created,
            Line::End { id: 1, ended: 2, outcome: Outcome::Written(first) },
            Line::Begin { id: 2, began: 3, key, call },
            Line::End { id: 2, ended: 4, outcome },
        ]);
        (store, histories)
    }

    fn first() -> Revision {
        Revision::new("2")
    }

    #[tokio::test]
    async fn what_was_answered_and_is_there_agrees() {
        let (store, histories) = history(Call::Get, Outcome::Found(Some((first(), 1)))).await;
        let log = histories.check(&store, &Cursor::new("1")).await;
        assert_eq!((log.len(), histories.acknowledged()), (1, 1));
    }

    #[tokio::test]
    #[should_panic(expected = "was acknowledged, and is in the log")]
    async fn a_lost_write_is_found() {
        let replace = Call::Replace { expected: first(), value: 2 };
        let (store, histories) = history(replace, Outcome::Written(Revision::new("3"))).await;
        histories.check(&store, &Cursor::new("1")).await;
    }

    #[tokio::test]
    #[should_panic(expected = "was removed, and is so in the log")]
    async fn a_lost_removal_is_found() {
        let (store, histories) = history(Call::Delete { expected: first() }, Outcome::Removed).await;
        histories.check(&store, &Cursor::new("1")).await;
    }

    #[tokio::test]
    #[should_panic(expected = "no order explains")]
    async fn a_stale_read_is_found() {
        let (store, histories) = history(Call::Get, Outcome::Found(None)).await;
        histories.check(&store, &Cursor::new("1")).await;
    }

    #[tokio::test]
    #[should_panic(expected = "nobody wrote")]
    async fn a_write_of_nobody_is_found() {
        let (store, histories) = history(Call::Get, Outcome::Found(Some((first(), 1)))).await;
        store.create(&Key::new("kind/two").unwrap(), value(7)).await.unwrap();
        histories.check(&store, &Cursor::new("1")).await;
    }

    #[tokio::test]
    #[should_panic(expected = "half a value")]
    async fn half_a_value_is_found() {
        let (store, histories) = history(Call::Get, Outcome::Found(Some((first(), 1)))).await;
        store.create(&Key::new("kind/two").unwrap(), value(7)[..9].to_vec()).await.unwrap();
        histories.check(&store, &Cursor::new("1")).await;
    }

    #[test]
    #[should_panic(expected = "as a watcher was told")]
    fn a_watcher_that_missed_something_is_found() {
        let told = |value| Told { key: Key::new("kind/one").unwrap(), revision: first(), kind: Kind::Created, value };
        assert_watched(vec![Line::Ready, Line::Told(told(1))], &[told(1), told(2)]);
    }
}
