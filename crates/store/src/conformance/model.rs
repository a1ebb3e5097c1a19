//! Random calls against a model that is too simple to be wrong.

use std::collections::BTreeMap;

use super::{
    client::{Client, Context, Told, Watcher, assert_items, assert_told, key, prefix},
    random::Random,
};
use crate::{Change, Continuation, Cursor, ErrorKind, Key, PageRequest, Prefix, Revision, Stored};

const RUNS: u64 = 12;
const CALLS: usize = 80;

/// Few enough that calls meet.
const KEYS: [&str; 8] = ["a", "a/b", "a/b/c", "a/b/d", "a/b0", "a/c", "b/a", "b/\u{e9}"];

pub(super) async fn random_calls_do_what_a_simple_model_does(context: Context) {
    let mut model = Model::new(vec![context.client().await, context.client().await]);
    for seed in 0..RUNS {
        model.random = Random::new(seed);
        // A failure is told with what led to it.
        for _ in 0..CALLS {
            model.call().await;
        }
        model.watch_all().await;
    }
}

type Items = Vec<(Key, Stored)>;

struct Model {
    random: Random,
    clients: Vec<Client>,
    current: BTreeMap<Key, Stored>,
    happened: Vec<Told>,
    /// Every revision that was ever given.
    revisions: Vec<Revision>,
    /// Positions, each with the number of changes before it.
    cursors: Vec<(Cursor, usize)>,
    /// Watches under way, each with what it was not asked for yet.
    watches: Vec<(Watcher, Prefix, usize)>,
    /// Lists under way, each with what they are still to show.
    lists: Vec<(Prefix, Continuation, Items)>,
    /// The last calls, for people.
    calls: Vec<String>,
}

impl Model {
    fn new(clients: Vec<Client>) -> Self {
        Self {
            random: Random::new(0),
            clients,
            current: BTreeMap::new(),
            happened: Vec::new(),
            revisions: vec![Revision::new("0")],
            cursors: Vec::new(),
            watches: Vec::new(),
            lists: Vec::new(),
            calls: Vec::new(),
        }
    }

    async fn call(&mut self) {
        let key = key(*self.random.pick(&KEYS));
        match self.random.within(0..12) {
            0..3 => self.create(&key).await,
            3..6 => self.replace(&key).await,
            6 => self.delete(&key).await,
            7 => self.get(&key).await,
            8 => self.begin_list().await,
            9 => self.go_on_with_list().await,
            10 => self.begin_watch().await,
            _ => self.go_on_with_watch().await,
        }
    }

    fn client(&mut self) -> Client {
        self.random.pick(&self.clients).clone()
    }

    fn value(&mut self) -> Vec<u8> {
        let length = *self.random.pick(&[0, 1, 10, 10, 5000]);
        self.random.bytes(length)
    }

    /// Mostly the one that is there.
    fn revision(&mut self, key: &Key) -> Revision {
        match self.current.get(key) {
            Some(stored) if self.random.within(0..3) > 0 => stored.revision.clone(),
            _ => self.random.pick(&self.revisions).clone(),
        }
    }

    fn prefix(&mut self) -> Prefix {
        let prefixes = [Prefix::all(), prefix("a"), prefix("a/b"), prefix("b"), prefix("nothing")];
        self.random.pick(&prefixes).clone()
    }

    /// Why a write on a condition fails, if it does.
    fn refused(&self, key: &Key, expected: &Revision) -> Option<ErrorKind> {
        match self.current.get(key) {
            None => Some(ErrorKind::Missing),
            Some(stored) if stored.revision == *expected => None,
            Some(stored) => Some(ErrorKind::Conflict(stored.revision.clone())),
        }
    }

    async fn create(&mut self, key: &Key) {
        let (client, value) = (self.client(), self.value());
        self.say(format!("create {key} with {} bytes", value.len()));
        let created = client.create(key, &value).await;
        let refused = self.current.contains_key(key).then_some(ErrorKind::Exists);
        self.written(key, created.map(|revision| Some((revision, Change::Created(value)))), refused);
    }

    async fn replace(&mut self, key: &Key) {
        let (client, value, expected) = (self.client(), self.value(), self.revision(key));
        self.say(format!("replace {key} at {expected} with {} bytes", value.len()));
        let replaced = client.replace(key, &expected, &value).await;
        let refused = self.refused(key, &expected);
        self.written(key, replaced.map(|revision| Some((revision, Change::Replaced(value)))), refused);
    }

    async fn delete(&mut self, key: &Key) {
        let (client, expected) = (self.client(), self.revision(key));
        self.say(format!("delete {key} at {expected}"));
        let deleted = client.delete(key, &expected).await;
        let refused = self.refused(key, &expected);
        self.written(key, deleted.map(|()| None), refused);
    }

    fn written(
        &mut self,
        key: &Key,
        written: Result<Option<(Revision, Change)>, ErrorKind>,
        refused: Option<ErrorKind>,
    ) {
        assert_eq!(written.as_ref().err(), refused.as_ref(), "{}", self.story());
        let (change, revision) = match written {
            Err(_) => return,
            Ok(None) => {
                let last = self.current.remove(key).map(|stored| stored.value).unwrap_or_default();
                (Change::Deleted(last), None)
            }
            Ok(Some((revision, change))) => {
                let (Change::Created(value) | Change::Replaced(value) | Change::Deleted(value)) = &change;
                self.current.insert(key.clone(), Stored { revision: revision.clone(), value: value.clone() });
                self.revisions.push(revision.clone());
                (change, Some(revision))
            }
        };
        self.happened.push(Told { key: key.clone(), change, revision });
    }

    async fn get(&mut self, key: &Key) {
        let client = self.client();
        self.say(format!("get {key}"));
        assert_eq!(client.get(key).await.as_ref(), self.current.get(key), "{}", self.story());
    }

    async fn begin_list(&mut self) {
        let (client, prefix, limit) = (self.client(), self.prefix(), self.random.within(1..5) as usize);
        self.say(format!("list \"{prefix}\", {limit} a page"));
        let page = client.first_page(&prefix, limit).await;
        let there = self.current.iter().filter(|(key, _)| prefix.is_of(key));
        let expected = there.map(|(key, stored)| (key.clone(), stored.clone())).collect();
        self.cursors.push((page.cursor, self.happened.len()));
        self.listed(prefix, page.items, page.next, expected);
    }

    async fn go_on_with_list(&mut self) {
        let Some((prefix, after, expected)) = self.lists.pop() else { return };
        let (client, limit) = (self.client(), self.random.within(1..5) as usize);
        self.say(format!("list \"{prefix}\" after {after}, {limit} a page"));
        let page = client.page(&prefix, &PageRequest { limit: Some(limit), after: Some(after) }).await;
        let page = page.unwrap_or_else(|kind| panic!("{kind:?}; {}", self.story()));
        self.listed(prefix, page.items, page.next, expected);
    }

    fn listed(&mut self, prefix: Prefix, items: Items, next: Option<Continuation>, mut expected: Items) {
        if !self.clients[0].guarantees().consistent_lists {
            return;
        }
        let rest = expected.split_off(items.len().min(expected.len()));
        assert_items(&items, &expected, &self.story());
        match next {
            Some(next) => self.lists.push((prefix, next, rest)),
            None => assert_items(&[], &rest, &self.story()),
        }
    }

    async fn begin_watch(&mut self) {
        let (client, prefix) = (self.client(), self.prefix());
        let from_before = !self.cursors.is_empty() && self.random.within(0..2) == 0;
        let (cursor, passed) = match from_before {
            true => self.random.pick(&self.cursors).clone(),
            false => (client.now().await, self.happened.len()),
        };
        self.say(format!("watch \"{prefix}\" from {cursor}, after {passed} changes"));
        let watcher = client.watch(&prefix, &cursor).await;
        self.cursors.push((cursor, passed));
        self.watches.push((watcher, prefix, passed));
        if self.watches.len() > 6 {
            self.watches.remove(0);
        }
    }

    async fn go_on_with_watch(&mut self) {
        let Some((mut watcher, prefix, passed)) = self.watches.pop() else { return };
        let expected: Vec<(usize, &Told)> =
            self.happened.iter().enumerate().skip(passed).filter(|(_, told)| prefix.is_of(&told.key)).collect();
        // Without a total order, only all of it can be compared.
        let some = self.random.within(0..8) as usize;
        let is_total = self.clients[0].guarantees().order == crate::Order::Total;
        let count = if is_total { some.min(expected.len()) } else { expected.len() };
        let passed = match count {
            0 => passed,
            count => expected[count - 1].0 + 1,
        };
        let expected: Vec<Told> = expected[..count].iter().map(|(_, told)| (*told).clone()).collect();
        self.say(format!("watch \"{prefix}\" for {count} more changes"));
        let events = watcher.take(count).await;
        if let (Some(last), true) = (events.last(), is_total) {
            self.cursors.push((last.cursor.clone(), passed));
        }
        let told = events.into_iter().map(Told::from).collect();
        assert_told(self.clients[0].guarantees().order, told, expected, &self.story());
        self.watches.insert(0, (watcher, prefix, passed));
    }

    /// Everything once more, from every position that was kept.
    async fn watch_all(&mut self) {
        self.watches.clear();
        self.lists.clear();
        let client = self.client();
        for (cursor, passed) in std::mem::take(&mut self.cursors) {
            let expected = self.happened[passed..].to_vec();
            let events = client.watch(&Prefix::all(), &cursor).await.take(expected.len()).await;
            let told = events.into_iter().map(Told::from).collect();
            let when = format!("a watch from {cursor}, after {passed} changes");
            assert_told(client.guarantees().order, told, expected, &when);
        }
    }

    fn say(&mut self, call: String) {
        self.calls.push(call);
    }

    fn story(&self) -> String {
        let begin = self.calls.len().saturating_sub(20);
        format!("the last calls:\n  {}", self.calls[begin..].join("\n  "))
    }
}
