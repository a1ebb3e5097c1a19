//! Stores that are wrong in one way each. The suite finds every one of them.

use std::{
    collections::HashMap,
    mem,
    panic::catch_unwind,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use wheelwright_store::{
    Answer, Change, Continuation, Cursor, ErrorKind, Event, Guarantees, Health, Key, KeyRange, Mark, Memory, Page,
    PageRequest, Prefix, Revision, Store, StoreError, Stored, Upcoming, Watch,
    conformance::{self, Subject},
};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    /// For comparison.
    None,
    CreateOverwrites,
    ReplaceIgnoresTheRevision,
    ReplaceOfTheSameIsNothing,
    DeleteIgnoresTheRevision,
    DeleteOfNothingSucceeds,
    ConflictWithoutTheCurrentRevision,
    RevisionsFollowFromTheValue,
    ChecksBeforeItWrites,
    AcknowledgesWhatItDoesNot,
    GetsFromACache,
    CutsValuesAtZero,
    TrimsKeys,
    PrefixIsText,
    SortsLikeADictionary,
    IgnoresLimits,
    ForgetsTheLastOfAPage,
    PagesShowNow,
    ListCursorIsLate,
    TakesAnyContinuation,
    TakesAnyCursor,
    NowIsTheBeginning,
    SkipsRemovals,
    TellsReplacedAsCreated,
    TellsTwiceAfterTakingUp,
    SwapsEvents,
    LosesDroppedEvents,
    CursorStays,
    GoesOnAfterForgetting,
    WritesInTwoParts,
    HealthWrites,
    BeforeIsNow,
    EarlierMomentsAreNow,
    DeniesChanges,
    DeniesRemovals,
    MarkStays,
    MarkIsLate,
    MarkIsEarly,
    RevisionsNeverChange,
    PeekTakes,
}

impl Fault {
    /// Each with a property that it lacks.
    const ALL: [(Self, &str); 39] = [
        (Self::CreateOverwrites, "a_key_with_a_value_cannot_be_created"),
        (Self::ReplaceIgnoresTheRevision, "only_the_value_with_the_revision_is_replaced"),
        (Self::ReplaceOfTheSameIsNothing, "only_the_value_with_the_revision_is_replaced"),
        (Self::DeleteIgnoresTheRevision, "only_the_value_with_the_revision_is_deleted"),
        (Self::DeleteOfNothingSucceeds, "only_the_value_with_the_revision_is_deleted"),
        (Self::ConflictWithoutTheCurrentRevision, "only_the_value_with_the_revision_is_replaced"),
        (Self::RevisionsFollowFromTheValue, "a_revision_never_comes_back"),
        (Self::ChecksBeforeItWrites, "concurrent_calls_are_linearizable"),
        (Self::AcknowledgesWhatItDoesNot, "every_watcher_sees_the_chain_of_each_key"),
        (Self::GetsFromACache, "a_read_sees_what_was_acknowledged_before_it_began"),
        (Self::CutsValuesAtZero, "a_value_is_any_bytes"),
        (Self::TrimsKeys, "keys_that_look_alike_are_different"),
        (Self::PrefixIsText, "a_prefix_ends_with_a_whole_segment"),
        (Self::SortsLikeADictionary, "lists_are_in_the_order_of_the_bytes"),
        (Self::IgnoresLimits, "a_page_has_at_most_as_many_values_as_wanted"),
        (Self::ForgetsTheLastOfAPage, "a_list_has_every_value_once_whatever_the_limit"),
        (Self::PagesShowNow, "all_pages_show_the_moment_of_the_first"),
        (Self::ListCursorIsLate, "watching_from_a_list_has_no_gap"),
        (Self::TakesAnyContinuation, "a_continuation_of_somebody_else_is_refused"),
        (Self::TakesAnyCursor, "a_cursor_of_somebody_else_is_refused"),
        (Self::NowIsTheBeginning, "a_watch_from_now_on_tells_nothing_older"),
        (Self::SkipsRemovals, "a_watch_tells_every_change_in_order"),
        (Self::TellsReplacedAsCreated, "random_calls_do_what_a_simple_model_does"),
        (Self::TellsTwiceAfterTakingUp, "a_watch_can_be_taken_up_after_every_event"),
        (Self::SwapsEvents, "every_watcher_sees_the_chain_of_each_key"),
        (Self::LosesDroppedEvents, "dropping_next_loses_nothing"),
        (Self::CursorStays, "the_cursor_of_a_watch_moves_on_without_events"),
        (Self::GoesOnAfterForgetting, "what_is_forgotten_is_too_old"),
        (Self::WritesInTwoParts, "a_dropped_write_is_whole_or_nothing"),
        (Self::HealthWrites, "health_is_good_and_leaves_no_trace"),
        (Self::BeforeIsNow, "what_was_can_be_listed_and_looked_up_if_it_is_kept"),
        (Self::EarlierMomentsAreNow, "what_was_can_be_listed_and_looked_up_if_it_is_kept"),
        (Self::DeniesChanges, "a_change_is_never_denied"),
        (Self::DeniesRemovals, "a_change_is_never_denied"),
        (Self::MarkStays, "what_has_the_mark_of_now_is_the_value_of_now"),
        (Self::MarkIsLate, "a_mark_moves_with_every_write"),
        (Self::MarkIsEarly, "what_has_the_mark_of_now_is_the_value_of_now"),
        (Self::RevisionsNeverChange, "a_key_has_the_revision_of_its_value_and_no_other"),
        (Self::PeekTakes, "peeking_takes_nothing"),
    ];
}

#[derive(Clone, Debug)]
struct Mutant {
    inner: Memory,
    fault: Fault,
    /// Of this client only.
    cache: Arc<Mutex<HashMap<Key, Option<Stored>>>>,
    writes: Arc<AtomicU32>,
    marked: Arc<Mutex<Option<Mark>>>,
    /// Of all clients.
    begun: Arc<AtomicU32>,
}

impl Mutant {
    fn has(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    fn key(&self, key: &Key) -> Key {
        let text = if self.has(Fault::TrimsKeys) { key.as_str().trim() } else { key.as_str() };
        Key::new(text).unwrap()
    }

    fn value(&self, mut value: Vec<u8>) -> Vec<u8> {
        if self.has(Fault::CutsValuesAtZero) {
            value.truncate(value.iter().position(|byte| *byte == 0).unwrap_or(value.len()));
        }
        value
    }

    /// The revision that counts for a write: what the writer says, or what is there.
    async fn expected(&self, key: &Key, expected: &Revision, ignores: Fault) -> Revision {
        let current = self.inner.get(key).await.unwrap();
        let matches = |current: &Stored| match self.fault {
            Fault::RevisionsFollowFromTheValue => *expected != Revision::new("0") && current.value == b"same",
            Fault::ChecksBeforeItWrites => current.revision == *expected,
            fault => fault == ignores,
        };
        let current = current.filter(matches).map(|current| current.revision);
        if self.has(Fault::ChecksBeforeItWrites) && current.is_some() {
            tokio::task::yield_now().await;
            let now = self.inner.get(key).await.unwrap();
            return now.map_or_else(|| expected.clone(), |now| now.revision);
        }
        current.unwrap_or_else(|| expected.clone())
    }
}

impl Store for Mutant {
    fn get<'a>(&'a self, key: &'a Key) -> Answer<'a, Option<Stored>> {
        Box::pin(async move {
            let found = self.inner.get(&self.key(key)).await?;
            match self.has(Fault::GetsFromACache) {
                true => Ok(self.cache.lock().unwrap().entry(key.clone()).or_insert(found).clone()),
                false => Ok(found),
            }
        })
    }

    fn has_revision<'a>(&'a self, key: &'a Key, revision: &'a Revision) -> Answer<'a, bool> {
        match self.has(Fault::RevisionsNeverChange) {
            true => Box::pin(async { Ok(true) }),
            false => self.inner.has_revision(key, revision),
        }
    }

    fn list<'a>(&'a self, prefix: &'a Prefix, mut page: PageRequest) -> Answer<'a, Page> {
        Box::pin(async move {
            let now = self.inner.now().await?;
            match self.fault {
                Fault::IgnoresLimits => page.limit = None,
                Fault::TakesAnyContinuation => {
                    let answer = self.inner.list(prefix, page.clone()).await;
                    page.after = None;
                    return if answer.is_ok() { answer } else { self.inner.list(prefix, page).await };
                }
                Fault::PagesShowNow => {
                    let last = page.after.as_ref().and_then(|after| after.as_str().split_once('/'));
                    page.after = last.map(|(_, last)| Continuation::new(format!("{now}/{last}")));
                }
                Fault::PrefixIsText => {
                    let all = self.inner.list(&Prefix::all(), PageRequest::default()).await?;
                    let begin = prefix.as_str().trim_end_matches('/');
                    let items = all.items.into_iter().filter(|(key, _)| key.as_str().starts_with(begin)).collect();
                    return Ok(Page { items, next: None, cursor: all.cursor });
                }
                _ => {}
            }
            let mut answer = self.inner.list(prefix, page).await?;
            match self.fault {
                Fault::SortsLikeADictionary => {
                    answer.items.sort_by_key(|(key, _)| key.as_str().to_lowercase());
                }
                Fault::ForgetsTheLastOfAPage if answer.next.is_some() => drop(answer.items.pop()),
                Fault::ListCursorIsLate => {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    answer.cursor = self.inner.now().await?;
                }
                _ => {}
            }
            Ok(answer)
        })
    }

    fn list_at<'a>(
        &'a self,
        moment: &'a Cursor,
        prefix: &'a Prefix,
        after: Option<&'a Key>,
    ) -> Answer<'a, Option<Continuation>> {
        Box::pin(async move {
            match self.has(Fault::EarlierMomentsAreNow) {
                true => self.inner.list_at(&self.inner.now().await?, prefix, after).await,
                false => self.inner.list_at(moment, prefix, after).await,
            }
        })
    }

    fn is_unchanged<'a>(&'a self, range: &'a KeyRange, since: &'a Cursor) -> Answer<'a, bool> {
        Box::pin(async move {
            let is_unchanged = self.inner.is_unchanged(range, since).await?;
            // What was there then and is there no more does not show in what is there.
            let there = self.inner.list(&range.prefix, PageRequest::default()).await?.items;
            let is_newer =
                |stored: &Stored| stored.revision.as_str().parse::<u64>().unwrap() > since.as_str().parse().unwrap();
            let shows = there.iter().any(|(key, stored)| range.contains(key) && is_newer(stored));
            Ok(match self.fault {
                Fault::DeniesChanges => true,
                Fault::DeniesRemovals => !shows,
                _ => is_unchanged,
            })
        })
    }

    fn mark(&self) -> Option<Mark> {
        match self.fault {
            Fault::MarkStays => Some(Mark::from(0)),
            Fault::MarkIsEarly => Some(Mark::from(u64::from(self.begun.load(Ordering::SeqCst)))),
            Fault::MarkIsLate => mem::replace(&mut self.marked.lock().unwrap(), self.inner.mark()),
            _ => self.inner.mark(),
        }
    }

    fn before<'a>(&'a self, key: &'a Key, revision: &'a Revision) -> Answer<'a, Option<Stored>> {
        match self.has(Fault::BeforeIsNow) {
            true => self.inner.get(key),
            false => self.inner.before(key, revision),
        }
    }

    fn create<'a>(&'a self, key: &'a Key, value: Vec<u8>) -> Answer<'a, Revision> {
        Box::pin(async move {
            let (key, value) = (self.key(key), self.value(value));
            self.cache.lock().unwrap().remove(&key);
            match self.fault {
                Fault::CreateOverwrites => {
                    if let Some(stored) = self.inner.get(&key).await? {
                        return self.inner.replace(&key, &stored.revision, value).await;
                    }
                }
                Fault::WritesInTwoParts => {
                    let half = self.inner.create(&key, value[..value.len() / 2].to_vec()).await?;
                    tokio::task::yield_now().await;
                    return self.inner.replace(&key, &half, value).await;
                }
                _ => {}
            }
            self.inner.create(&key, value).await
        })
    }

    fn replace<'a>(&'a self, key: &'a Key, expected: &'a Revision, value: Vec<u8>) -> Answer<'a, Revision> {
        Box::pin(async move {
            let (key, value) = (self.key(key), self.value(value));
            self.cache.lock().unwrap().remove(&key);
            if self.has(Fault::ReplaceOfTheSameIsNothing) {
                let current = self.inner.get(&key).await?;
                if current.is_some_and(|current| current.revision == *expected && current.value == value) {
                    return Ok(expected.clone());
                }
            }
            if self.has(Fault::MarkIsEarly) {
                self.begun.fetch_add(1, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            if self.has(Fault::AcknowledgesWhatItDoesNot) && self.writes.fetch_add(1, Ordering::Relaxed) % 20 == 19 {
                return Ok(Revision::new("1000000"));
            }
            let expected = self.expected(&key, expected, Fault::ReplaceIgnoresTheRevision).await;
            let replaced = self.inner.replace(&key, &expected, value).await;
            match replaced {
                Err(error)
                    if self.has(Fault::ConflictWithoutTheCurrentRevision)
                        && matches!(error.kind(), ErrorKind::Conflict(_)) =>
                {
                    Err(StoreError::conflict(&key, &expected, expected.clone()))
                }
                replaced => replaced,
            }
        })
    }

    fn delete<'a>(&'a self, key: &'a Key, expected: &'a Revision) -> Answer<'a, ()> {
        Box::pin(async move {
            let key = self.key(key);
            self.cache.lock().unwrap().remove(&key);
            let expected = self.expected(&key, expected, Fault::DeleteIgnoresTheRevision).await;
            match self.inner.delete(&key, &expected).await {
                Err(error) if self.has(Fault::DeleteOfNothingSucceeds) && *error.kind() == ErrorKind::Missing => Ok(()),
                deleted => deleted,
            }
        })
    }

    fn watch<'a>(&'a self, prefix: &'a Prefix, from: &'a Cursor) -> Answer<'a, Box<dyn Watch>> {
        Box::pin(async move {
            let inner = match self.inner.watch(prefix, from).await {
                Err(error) => match (self.fault, error.kind()) {
                    (Fault::TakesAnyCursor, ErrorKind::BadToken)
                    | (Fault::GoesOnAfterForgetting, ErrorKind::TooOld) => {
                        self.inner.watch(prefix, &self.inner.now().await?).await?
                    }
                    _ => return Err(error),
                },
                Ok(watch) => watch,
            };
            let watch = MutantWatch { inner, fault: self.fault, last: from.clone(), held: None };
            Ok(Box::new(watch) as Box<dyn Watch>)
        })
    }

    fn now(&self) -> Answer<'_, Cursor> {
        match self.has(Fault::NowIsTheBeginning) {
            true => Box::pin(async { Ok(Cursor::new("0")) }),
            false => self.inner.now(),
        }
    }

    fn health(&self) -> Answer<'_, Health> {
        Box::pin(async {
            if self.has(Fault::HealthWrites) {
                // The second time it is there.
                let _ = self.inner.create(&Key::new("health").unwrap(), vec![]).await;
            }
            self.inner.health().await
        })
    }

    fn guarantees(&self) -> Guarantees {
        self.inner.guarantees()
    }
}

#[derive(Debug)]
struct MutantWatch {
    inner: Box<dyn Watch>,
    fault: Fault,
    /// The cursor of what was told last.
    last: Cursor,
    held: Option<Event>,
}

impl MutantWatch {
    async fn find(&mut self) -> Result<Event, StoreError> {
        if let Some(event) = self.held.take() {
            return Ok(event);
        }
        let mut event = self.inner.next().await?;
        match (self.fault, &event.change) {
            (Fault::SkipsRemovals, Change::Deleted(_)) => event = self.inner.next().await?,
            (Fault::TellsReplacedAsCreated, Change::Replaced(value)) => event.change = Change::Created(value.clone()),
            (Fault::TellsTwiceAfterTakingUp, _) => event.cursor = self.last.clone(),
            (Fault::LosesDroppedEvents, _) => tokio::time::sleep(Duration::from_micros(300)).await,
            (Fault::SwapsEvents, _) => {
                // Only where the next one is there already.
                let next = tokio::time::timeout(Duration::from_micros(500), self.inner.next()).await;
                if let Ok(next) = next {
                    self.held = Some(event);
                    event = next?;
                }
            }
            _ => {}
        }
        Ok(event)
    }
}

impl Watch for MutantWatch {
    fn peek(&mut self) -> Answer<'_, Upcoming> {
        match self.fault {
            Fault::PeekTakes => Box::pin(async move { Ok(self.inner.next().await?.outline()) }),
            _ => self.inner.peek(),
        }
    }

    fn next(&mut self) -> Answer<'_, Event> {
        Box::pin(async move {
            let event = self.find().await?;
            self.last = event.cursor.clone();
            Ok(event)
        })
    }

    fn cursor(&self) -> Cursor {
        match self.fault {
            Fault::CursorStays => self.last.clone(),
            _ => self.inner.cursor(),
        }
    }
}

struct MutantSubject(Memory, Fault, Arc<AtomicU32>);

impl Subject for MutantSubject {
    fn open(&self) -> Answer<'_, Arc<dyn Store>> {
        let mutant = Mutant {
            inner: self.0.clone(),
            fault: self.1,
            cache: Arc::default(),
            writes: Arc::default(),
            marked: Arc::default(),
            begun: self.2.clone(),
        };
        Box::pin(async { Ok(Arc::new(mutant) as Arc<dyn Store>) })
    }

    fn compact(&self) -> Answer<'_, bool> {
        Box::pin(async {
            self.0.compact();
            Ok(true)
        })
    }

    fn patience(&self) -> Duration {
        Duration::from_secs(2)
    }
}

#[test]
fn the_suite_finds_every_fault() {
    for (fault, property) in Fault::ALL {
        let check = |fault| conformance::check(property, async || MutantSubject(Memory::new(), fault, Arc::default()));
        check(Fault::None);
        assert!(catch_unwind(|| check(fault)).is_err(), "{property} does not find {fault:?}");
    }
}
