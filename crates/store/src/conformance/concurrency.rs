//! Many writers, readers and watchers at the same time.

use std::{
    collections::{BTreeMap, HashMap},
    time::Instant,
};

use tokio::task::JoinHandle;

use super::{
    client::{Client, Context, key, prefix},
    linearizable::{self, Call, Operation, Outcome},
    random::Random,
};
use crate::{Change, ErrorKind, Event, Key, Order, Prefix, Revision};

const WRITERS: u64 = 6;
const KEYS: u64 = 5;
const WRITES: u64 = 40;

/// A write that was acknowledged.
struct Acknowledged {
    key: Key,
    /// Which value it took the place of.
    expected: Option<Revision>,
    /// Which value it made; none if it removed one.
    made: Option<(Revision, Vec<u8>)>,
    began: Instant,
    ended: Instant,
}

/// Creates, replaces and deletes whatever is there.
async fn write(client: Client, writer: u64) -> Vec<Acknowledged> {
    let mut random = Random::new(writer);
    let mut acknowledged = Vec::new();
    for number in 0..WRITES {
        let key = key(format!("kind/{}", random.within(0..KEYS)));
        let value = format!("writer {writer}, write {number}").into_bytes();
        let expected = client.get(&key).await.map(|stored| stored.revision);
        let began = Instant::now();
        let written = match &expected {
            None => client.create(&key, &value).await.map(Some),
            Some(expected) if random.within(0..5) == 0 => client.delete(&key, expected).await.map(|()| None),
            Some(expected) => client.replace(&key, expected, &value).await.map(Some),
        };
        match written {
            Ok(revision) => {
                let made = revision.map(|revision| (revision, value));
                acknowledged.push(Acknowledged { key, expected, made, began, ended: Instant::now() });
            }
            Err(ErrorKind::Exists | ErrorKind::Missing | ErrorKind::Conflict(_)) => {}
            Err(kind) => panic!("a write under load: {kind:?}"),
        }
    }
    acknowledged
}

pub(super) async fn every_watcher_sees_the_chain_of_each_key(context: Context) {
    let clients = [context.client().await, context.client().await, context.client().await];
    let begin = clients[0].now().await;
    let mut watchers: Vec<JoinHandle<Vec<Event>>> = Vec::new();
    for client in &clients {
        for watched in [prefix("kind"), Prefix::all()] {
            let mut watcher = client.watch(&watched, &begin).await;
            watchers.push(tokio::spawn(async move { watcher.until(&key("kind/zzz")).await }));
        }
    }
    let writers: Vec<_> =
        (0..WRITERS).map(|writer| tokio::spawn(write(clients[writer as usize % 3].clone(), writer))).collect();
    let mut acknowledged = Vec::new();
    for writer in writers {
        acknowledged.extend(writer.await.expect("a writer comes to its end"));
    }
    clients[0].create(&key("kind/zzz"), b"").await.expect("a key without a value can be created");

    let mut told = Vec::new();
    for watcher in watchers {
        told.push(watcher.await.expect("a watcher comes to its end"));
    }
    for events in &told {
        assert_chains(events, &acknowledged);
        if clients[0].guarantees().order == Order::Total {
            assert_in_time(events, &acknowledged);
            let order = |events: &[Event]| -> Vec<(Key, Revision)> {
                events.iter().map(|event| (event.key.clone(), event.revision.clone())).collect()
            };
            assert_eq!(order(events), order(&told[0]), "all watchers are told the same, in the same order");
        }
    }
}

/// That each key's changes follow from one another, and are those that were acknowledged.
fn assert_chains(events: &[Event], acknowledged: &[Acknowledged]) {
    let mut current: BTreeMap<&Key, (&Revision, &Vec<u8>)> = BTreeMap::new();
    let mut changes: HashMap<(&Key, Option<&Revision>), &Event> = HashMap::new();
    for event in events {
        let before = current.get(&event.key).copied();
        match &event.change {
            Change::Created(value) => {
                assert!(before.is_none(), "{} was created although it was there", event.key);
                current.insert(&event.key, (&event.revision, value));
            }
            Change::Replaced(value) => {
                assert!(before.is_some(), "{} was replaced although it was not there", event.key);
                current.insert(&event.key, (&event.revision, value));
            }
            Change::Deleted(value) => {
                let last = before.map(|(_, value)| value);
                assert_eq!(last, Some(value), "{} was deleted, and this was the last value", event.key);
                current.remove(&event.key);
            }
        }
        // Only the first change of a key, and the one after a removal, take the place of nothing.
        if let Some((before, _)) = before {
            let twice = changes.insert((&event.key, Some(before)), event);
            assert!(twice.is_none(), "revision {before} of {} was followed by two changes", event.key);
        }
    }
    assert_eq!(events.len(), acknowledged.len(), "every acknowledged write is told, and nothing else");
    let created: HashMap<(&Key, &Revision), &Event> =
        events.iter().map(|event| ((&event.key, &event.revision), event)).collect();
    for write in acknowledged {
        let event = match (&write.expected, &write.made) {
            (Some(expected), _) => changes.get(&(&write.key, Some(expected))),
            (None, Some((revision, _))) => created.get(&(&write.key, revision)),
            (None, None) => None,
        };
        let event = event.unwrap_or_else(|| panic!("a write of {} was acknowledged and not told", write.key));
        match (&event.change, &write.made) {
            (Change::Deleted(_), None) => {}
            (Change::Created(told) | Change::Replaced(told), Some((revision, value))) => {
                assert_eq!((&event.revision, told), (revision, value), "what was written to {} is told", write.key);
            }
            (change, made) => panic!("{} was told as {change:?} and acknowledged as {made:?}", write.key),
        }
    }
}

/// That a write that was acknowledged before another began is told before it.
fn assert_in_time(events: &[Event], acknowledged: &[Acknowledged]) {
    let writes: HashMap<(&Key, &Revision), &Acknowledged> = acknowledged
        .iter()
        .filter_map(|write| write.made.as_ref().map(|(revision, _)| ((&write.key, revision), write)))
        .collect();
    let mut latest_beginning: Option<&Acknowledged> = None;
    for event in events {
        let Some(write) = writes.get(&(&event.key, &event.revision)) else { continue };
        if let Some(earlier) = latest_beginning {
            let is_in_time = write.ended >= earlier.began;
            assert!(is_in_time, "a write of {} was told after one that began when it was done", event.key);
        }
        if latest_beginning.is_none_or(|earlier| earlier.began < write.began) {
            latest_beginning = Some(write);
        }
    }
}

pub(super) async fn concurrent_calls_are_linearizable(context: Context) {
    let clients = [context.client().await, context.client().await];
    let start = Instant::now();
    let callers: Vec<_> =
        (0..WRITERS).map(|caller| tokio::spawn(call(clients[caller as usize % 2].clone(), caller, start))).collect();
    let mut operations = Vec::new();
    for caller in callers {
        operations.extend(caller.await.expect("a caller comes to its end"));
    }
    linearizable::check(&operations).unwrap_or_else(|violation| panic!("{violation}"));
}

/// Calls that believe what the last answer for the key said, which others may have made untrue.
async fn call(client: Client, caller: u64, start: Instant) -> Vec<Operation> {
    let mut random = Random::new(caller);
    let mut believed: HashMap<Key, Revision> = HashMap::new();
    let mut operations = Vec::new();
    for number in 0..WRITES {
        let key = key(format!("kind/{}", random.within(0..2)));
        let value = caller * WRITES + number;
        let call = match (random.within(0..5), believed.get(&key).cloned()) {
            (0, _) => Call::Get,
            (1, Some(expected)) => Call::Delete { expected },
            (_, Some(expected)) => Call::Replace { expected, value },
            (_, None) => Call::Create { value },
        };
        let began = start.elapsed().as_nanos() as u64;
        let outcome = outcome(&client, &key, &call).await;
        let ended = start.elapsed().as_nanos() as u64;
        match &outcome {
            Outcome::Found(Some((revision, _))) | Outcome::Written(revision) | Outcome::Conflict(revision) => {
                believed.insert(key.clone(), revision.clone());
            }
            Outcome::Exists => {}
            _ => drop(believed.remove(&key)),
        }
        operations.push(Operation { key, began, ended, call, outcome });
    }
    operations
}

async fn outcome(client: &Client, key: &Key, call: &Call) -> Outcome {
    let written = match call {
        Call::Get => {
            let found = client.get(key).await;
            return Outcome::Found(found.map(|stored| {
                let value = stored.value.try_into().expect("values have eight bytes");
                (stored.revision, u64::from_be_bytes(value))
            }));
        }
        Call::Create { value } => client.create(key, &value.to_be_bytes()).await.map(Outcome::Written),
        Call::Replace { expected, value } => {
            client.replace(key, expected, &value.to_be_bytes()).await.map(Outcome::Written)
        }
        Call::Delete { expected } => client.delete(key, expected).await.map(|()| Outcome::Removed),
    };
    written.unwrap_or_else(|kind| match kind {
        ErrorKind::Exists => Outcome::Exists,
        ErrorKind::Missing => Outcome::Missing,
        ErrorKind::Conflict(revision) => Outcome::Conflict(revision),
        kind => panic!("a call under load: {kind:?}"),
    })
}
