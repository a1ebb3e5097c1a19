//! What the properties call a store through: patient with one that is busy, and impatient with one that never answers.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::time::{sleep, timeout};

use super::Subject;
use crate::{
    Answer, Change, Continuation, Cursor, ErrorKind, Event, Guarantees, Health, Key, KeyRange, Mark, Order, Page,
    PageRequest, Prefix, Revision, Store, StoreError, Stored, Upcoming, Watch,
};

/// How long nothing has to be told by a store without a total order until we believe that nothing will.
const QUIET: Duration = Duration::from_millis(400);

/// What a property has: one store.
pub(super) struct Context {
    subject: Arc<dyn Subject>,
}

impl Context {
    pub(super) fn new(subject: Arc<dyn Subject>) -> Self {
        Self { subject }
    }

    /// Opens the store once more.
    pub(super) async fn client(&self) -> Client {
        let store = self.subject.open().await.unwrap_or_else(|error| panic!("the store does not open: {error}"));
        Client { store, patience: self.subject.patience() }
    }

    /// Whether the store has forgotten its history.
    pub(super) async fn compact(&self) -> bool {
        self.subject.compact().await.unwrap_or_else(|error| panic!("the store does not forget its history: {error}"))
    }

    pub(super) fn too_large(&self) -> Option<usize> {
        self.subject.too_large()
    }
}

/// An open store.
#[derive(Clone)]
pub(super) struct Client {
    store: Arc<dyn Store>,
    patience: Duration,
}

impl Client {
    pub(super) async fn get(&self, key: &Key) -> Option<Stored> {
        succeeded(&format!("get {key}"), self.patiently(|| self.store.get(key)).await)
    }

    pub(super) async fn has_revision(&self, key: &Key, revision: &Revision) -> bool {
        succeeded(
            &format!("compare the revision of {key}"),
            self.patiently(|| self.store.has_revision(key, revision)).await,
        )
    }

    pub(super) async fn create(&self, key: &Key, value: &[u8]) -> Result<Revision, ErrorKind> {
        self.patiently(|| self.store.create(key, value.to_vec())).await
    }

    pub(super) async fn replace(&self, key: &Key, expected: &Revision, value: &[u8]) -> Result<Revision, ErrorKind> {
        self.patiently(|| self.store.replace(key, expected, value.to_vec())).await
    }

    pub(super) async fn delete(&self, key: &Key, expected: &Revision) -> Result<(), ErrorKind> {
        self.patiently(|| self.store.delete(key, expected)).await
    }

    pub(super) async fn page(&self, prefix: &Prefix, page: &PageRequest) -> Result<Page, ErrorKind> {
        self.patiently(|| self.store.list(prefix, page.clone())).await
    }

    pub(super) async fn first_page(&self, prefix: &Prefix, limit: usize) -> Page {
        let page = self.page(prefix, &PageRequest::first(limit)).await;
        succeeded(&format!("list the first {limit} of \"{prefix}\""), page)
    }

    /// The rest of a list.
    pub(super) async fn pages_after(
        &self,
        prefix: &Prefix,
        limit: Option<usize>,
        mut after: Option<Continuation>,
    ) -> Vec<Page> {
        let began = Instant::now();
        let mut pages = Vec::new();
        while after.is_some() {
            let page = self.page(prefix, &PageRequest { limit, after: after.take() }).await;
            let page = succeeded(&format!("list another page of \"{prefix}\""), page);
            after = page.next.clone();
            pages.push(page);
            assert!(began.elapsed() < self.patience, "the list of \"{prefix}\" comes to no end");
        }
        pages
    }

    /// A whole list, and the position to watch from.
    pub(super) async fn list(&self, prefix: &Prefix, limit: Option<usize>) -> (Vec<(Key, Stored)>, Cursor) {
        let first = self.page(prefix, &PageRequest { limit, after: None }).await;
        let first = succeeded(&format!("list \"{prefix}\""), first);
        let rest = self.pages_after(prefix, limit, first.next).await;
        let items = first.items.into_iter().chain(rest.into_iter().flat_map(|page| page.items)).collect();
        (items, first.cursor)
    }

    pub(super) async fn list_at(&self, moment: &Cursor, prefix: &Prefix, after: Option<&Key>) -> Option<Continuation> {
        succeeded(
            "begin a list of an earlier moment",
            self.patiently(|| self.store.list_at(moment, prefix, after)).await,
        )
    }

    pub(super) async fn is_unchanged(&self, range: &KeyRange, since: &Cursor) -> bool {
        succeeded("ask whether something has happened", self.patiently(|| self.store.is_unchanged(range, since)).await)
    }

    pub(super) fn mark(&self) -> Option<Mark> {
        self.store.mark()
    }

    /// Lets the store have what it may need to tell marks.
    pub(super) async fn may_mark(&self) {
        self.mark();
        self.health().await;
    }

    pub(super) async fn before(&self, key: &Key, revision: &Revision) -> Result<Option<Stored>, ErrorKind> {
        self.patiently(|| self.store.before(key, revision)).await
    }

    pub(super) async fn now(&self) -> Cursor {
        succeeded("ask for the position of now", self.patiently(|| self.store.now()).await)
    }

    pub(super) async fn health(&self) -> Health {
        succeeded("ask for the health", self.patiently(|| self.store.health()).await)
    }

    pub(super) async fn try_watch(&self, prefix: &Prefix, from: &Cursor) -> Result<Watcher, ErrorKind> {
        let watch = self.patiently(|| self.store.watch(prefix, from)).await?;
        Ok(Watcher { client: self.clone(), prefix: prefix.clone(), watch })
    }

    pub(super) async fn watch(&self, prefix: &Prefix, from: &Cursor) -> Watcher {
        succeeded(&format!("watch \"{prefix}\" from {from}"), self.try_watch(prefix, from).await)
    }

    pub(super) fn guarantees(&self) -> Guarantees {
        self.store.guarantees()
    }

    pub(super) fn patience(&self) -> Duration {
        self.patience
    }

    /// The store itself, for calls that are not waited for.
    pub(super) fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// Makes a call until the store has the time for it.
    async fn patiently<'c, T>(&self, call: impl Fn() -> Answer<'c, T>) -> Result<T, ErrorKind> {
        let began = Instant::now();
        loop {
            let answer = timeout(self.patience, call()).await;
            let error = match answer.unwrap_or_else(|_| panic!("no answer within {:?}", self.patience)) {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let wait = match error.kind() {
                ErrorKind::Unavailable => Duration::from_millis(10),
                ErrorKind::Throttled(wait) => *wait,
                kind => return Err(described(&error, kind)),
            };
            assert!(began.elapsed() + wait < self.patience, "busy for more than {:?}: {error}", self.patience);
            sleep(wait).await;
        }
    }
}

/// An error reaches people: its text says something.
fn described(error: &StoreError, kind: &ErrorKind) -> ErrorKind {
    assert!(!error.to_string().is_empty(), "an error ({kind:?}) must say what happened");
    kind.clone()
}

fn succeeded<T>(what: &str, outcome: Result<T, ErrorKind>) -> T {
    outcome.unwrap_or_else(|kind| panic!("could not {what}: {kind:?}"))
}

/// A watch under way, which is taken up again after errors that pass.
pub(super) struct Watcher {
    client: Client,
    prefix: Prefix,
    watch: Box<dyn Watch>,
}

impl Watcher {
    pub(super) async fn try_next(&mut self) -> Result<Event, ErrorKind> {
        let (began, patience) = (Instant::now(), self.client.patience);
        loop {
            let next = timeout(patience, self.watch.next()).await;
            match next.unwrap_or_else(|_| panic!("nothing told within {patience:?} although something happened")) {
                Ok(event) => return Ok(event),
                Err(error) if error.is_passing() && began.elapsed() < patience => self.take_up_again().await,
                Err(error) => return Err(described(&error, error.kind())),
            }
        }
    }

    /// An outline of the next change.
    pub(super) async fn peek(&mut self) -> Upcoming {
        let began = Instant::now();
        loop {
            match timeout(self.client.patience, self.watch.peek()).await {
                Ok(Ok(upcoming)) => return upcoming,
                Ok(Err(error)) if error.is_passing() && began.elapsed() < self.client.patience => {
                    self.take_up_again().await;
                }
                Ok(Err(error)) => panic!("could not peek: {error}"),
                Err(_) => panic!("no outline within {:?} although something happened", self.client.patience),
            }
        }
    }

    pub(super) async fn next(&mut self) -> Event {
        succeeded("watch on", self.try_next().await)
    }

    /// The next change if there is one within a time; the future that waits for it is dropped otherwise.
    pub(super) async fn next_within(&mut self, time: Duration) -> Option<Event> {
        match timeout(time, self.watch.next()).await {
            Ok(Ok(event)) => return Some(event),
            Ok(Err(error)) if error.is_passing() => self.take_up_again().await,
            Ok(Err(error)) => panic!("could not watch on: {error}"),
            Err(_) => {}
        }
        None
    }

    async fn take_up_again(&mut self) {
        sleep(Duration::from_millis(10)).await;
        *self = self.client.watch(&self.prefix, &self.watch.cursor()).await;
    }

    pub(super) async fn take(&mut self, count: usize) -> Vec<Event> {
        let mut events = Vec::new();
        while events.len() < count {
            events.push(self.next().await);
        }
        events
    }

    /// What is told up to the creation of a key, and whatever may be told after it. Say it last: where there is no total
    /// order, this waits until nothing comes any more.
    pub(super) async fn until(&mut self, last: &Key) -> Vec<Event> {
        let mut events = Vec::new();
        loop {
            let event = self.next().await;
            if event.key == *last {
                break;
            }
            events.push(event);
        }
        if self.client.guarantees().order == Order::PerKey {
            events.extend(self.drain().await);
        }
        events
    }

    /// What is told until nothing more comes.
    pub(super) async fn drain(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        let mut quiet_since = Instant::now();
        while quiet_since.elapsed() < QUIET {
            if let Some(event) = self.next_within(QUIET).await {
                events.push(event);
                quiet_since = Instant::now();
            }
        }
        events
    }

    pub(super) fn cursor(&self) -> Cursor {
        self.watch.cursor()
    }
}

/// A change as it must be told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Told {
    pub(super) key: Key,
    pub(super) change: Change,
    /// None for a removal: nobody but a watch tells its revision.
    pub(super) revision: Option<Revision>,
}

impl From<Event> for Told {
    fn from(event: Event) -> Self {
        let is_removal = matches!(event.change, Change::Deleted(_));
        Self { key: event.key, change: event.change, revision: (!is_removal).then_some(event.revision) }
    }
}

/// A client whose writes succeed, with what a watch must tell of them.
pub(super) struct Diary {
    pub(super) client: Client,
    pub(super) told: Vec<Told>,
    current: BTreeMap<Key, Stored>,
}

impl Diary {
    pub(super) fn new(client: Client) -> Self {
        Self { client, told: Vec::new(), current: BTreeMap::new() }
    }

    pub(super) async fn create(&mut self, key: &Key, value: &[u8]) -> Revision {
        let revision = succeeded(&format!("create {key}"), self.client.create(key, value).await);
        self.note(key, value, revision.clone(), Change::Created(value.to_vec()));
        revision
    }

    pub(super) async fn replace(&mut self, key: &Key, value: &[u8]) -> Revision {
        let expected = self.current[key].revision.clone();
        let replaced = self.client.replace(key, &expected, value).await;
        let revision = succeeded(&format!("replace {key}"), replaced);
        self.note(key, value, revision.clone(), Change::Replaced(value.to_vec()));
        revision
    }

    pub(super) async fn delete(&mut self, key: &Key) {
        let Stored { revision, value } = self.current[key].clone();
        succeeded(&format!("delete {key}"), self.client.delete(key, &revision).await);
        self.current.remove(key);
        self.told.push(Told { key: key.clone(), change: Change::Deleted(value), revision: None });
    }

    /// What is there, in order.
    pub(super) fn current(&self, prefix: &Prefix) -> Vec<(Key, Stored)> {
        let there = self.current.iter().filter(|(key, _)| prefix.is_of(key));
        there.map(|(key, stored)| (key.clone(), stored.clone())).collect()
    }

    pub(super) fn stored(&self, key: &Key) -> Option<&Stored> {
        self.current.get(key)
    }

    /// That a watch of a prefix told what happened after so many changes.
    pub(super) fn assert_told(&self, events: Vec<Event>, prefix: &Prefix, after: usize, when: &str) {
        let expected = self.told[after..].iter().filter(|told| prefix.is_of(&told.key)).cloned().collect();
        assert_told(self.client.guarantees().order, events.into_iter().map(Told::from).collect(), expected, when);
    }

    fn note(&mut self, key: &Key, value: &[u8], revision: Revision, change: Change) {
        self.told.push(Told { key: key.clone(), change, revision: Some(revision.clone()) });
        self.current.insert(key.clone(), Stored { revision, value: value.to_vec() });
    }
}

/// That the same was told, in the order that the store promises.
pub(super) fn assert_told(order: Order, mut told: Vec<Told>, mut expected: Vec<Told>, when: &str) {
    if order == Order::PerKey {
        // Stable: the changes of one key stay in their order.
        told.sort_by(|one, other| one.key.cmp(&other.key));
        expected.sort_by(|one, other| one.key.cmp(&other.key));
    }
    let same = told.iter().zip(&expected).take_while(|(told, expected)| told == expected).count();
    if told.len() > same || expected.len() > same {
        let describe = |all: &[Told]| all.get(same).map_or("nothing more".to_owned(), |told| format!("{told:?}"));
        let (found, wanted) = (shortened(&describe(&told)), shortened(&describe(&expected)));
        panic!("{when}: the watch must tell, as change {}, {wanted}, and told {found}", same + 1);
    }
}

/// Large values do not help anybody.
fn shortened(text: &str) -> String {
    let end = text.char_indices().nth(600).map(|(end, _)| end);
    end.map_or_else(|| text.to_owned(), |end| format!("{}… ({} bytes)", &text[..end], text.len()))
}

/// That two lists are the same, told without their values.
pub(super) fn assert_items(found: &[(Key, Stored)], expected: &[(Key, Stored)], when: &str) {
    let names = |items: &[(Key, Stored)]| -> Vec<String> {
        items.iter().map(|(key, stored)| format!("{key} at {}", stored.revision)).collect()
    };
    assert_eq!(names(found), names(expected), "{when}: the list shows other values than are there");
    assert!(found == expected, "{when}: the list shows the right revisions with wrong values");
}

pub(super) fn key(text: impl Into<Box<str>>) -> Key {
    Key::new(text).expect("the suite uses keys that are allowed")
}

pub(super) fn prefix(text: &str) -> Prefix {
    Prefix::new(text).expect("the suite uses prefixes that are allowed")
}
