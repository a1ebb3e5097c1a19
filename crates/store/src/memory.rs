//! A store that is gone with its process, for tests and for trying things out.

use std::{
    collections::BTreeMap,
    ops::Bound,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use tokio::sync::watch;

use crate::{
    Answer, Continuation, Cursor, Event, Guarantees, Health, Key, KeyRange, Mark, Page, PageRequest, Prefix, Revision,
    Store, StoreError, Stored, Upcoming, Watch,
    log::{self, Action, Newest, PAGE_LIMIT, Write},
};

/// A store in memory. Clones are the same store.
#[derive(Clone, Debug)]
pub struct Memory {
    log: Arc<Mutex<Log>>,
    head: Arc<watch::Sender<u64>>,
}

#[derive(Debug)]
struct Log {
    /// The first one is that after [`log::FIRST_HEAD`].
    rows: Vec<Row>,
    /// The rows of a key, by their positions.
    keys: BTreeMap<Key, Vec<usize>>,
    /// Nothing up to here can be watched or listed any more.
    compacted: u64,
}

#[derive(Debug)]
struct Row {
    key: Key,
    action: Action,
    value: Arc<[u8]>,
}

impl Log {
    fn head(&self) -> u64 {
        log::FIRST_HEAD + self.rows.len() as u64
    }

    /// The rows after a moment that is not compacted.
    fn after(&self, moment: u64) -> &[Row] {
        &self.rows[(moment - log::FIRST_HEAD) as usize..]
    }

    /// The newest row of a key up to a moment.
    fn newest(&self, rows: &[usize], moment: u64) -> Option<(u64, &Row)> {
        let number = |row: usize| log::FIRST_HEAD + row as u64 + 1;
        let upto = rows.partition_point(|row| number(*row) <= moment);
        rows[..upto].last().map(|row| (number(*row), &self.rows[*row]))
    }

    /// What a key has at a moment.
    fn stored(&self, rows: &[usize], moment: u64) -> Option<Stored> {
        let (number, row) = self.newest(rows, moment)?;
        let is_there = row.action != Action::Deleted;
        is_there.then(|| Stored { revision: log::revision(number), value: row.value.to_vec() })
    }
}

impl Default for Memory {
    fn default() -> Self {
        let log = Log { rows: Vec::new(), keys: BTreeMap::new(), compacted: log::FIRST_HEAD };
        Self { log: Arc::new(Mutex::new(log)), head: Arc::new(watch::Sender::new(log::FIRST_HEAD)) }
    }
}

impl Memory {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets how things were before now.
    pub fn compact(&self) {
        let mut log = self.log();
        log.compacted = log.head();
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        // Nothing that can panic is done between two changes that belong together.
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, key: &Key, write: Write) -> Result<Revision, StoreError> {
        let mut log = self.log();
        let newest = log.keys.get(key).and_then(|rows| log.newest(rows, log.head()));
        let newest_row = newest.map(|(revision, row)| Newest { revision, action: row.action });
        let action = write.decide(key, newest_row)?;
        let value = match write {
            Write::Create(value) | Write::Replace { value, .. } => value.into(),
            Write::Delete { .. } => newest.map(|(_, row)| row.value.clone()).unwrap_or_default(),
        };
        let position = log.rows.len();
        log.rows.push(Row { key: key.clone(), action, value });
        log.keys.entry(key.clone()).or_default().push(position);
        self.head.send_replace(log.head());
        Ok(log::revision(log.head()))
    }

    fn page(&self, prefix: &Prefix, page: &PageRequest) -> Result<Page, StoreError> {
        let log = self.log();
        let limit = page.limit.unwrap_or(PAGE_LIMIT).clamp(1, PAGE_LIMIT);
        let (moment, begin) = match &page.after {
            Some(after) => {
                let (moment, last) = log::continuation_parts(after, prefix, log.head(), log.compacted)?;
                (moment, Bound::Excluded(last))
            }
            None => (log.head(), Bound::Included(prefix.as_str())),
        };
        let keys = log.keys.range::<str, _>((begin, Bound::Unbounded));
        let there = keys.take_while(|(key, _)| prefix.is_of(key));
        let mut there = there.filter_map(|(key, rows)| Some((key.clone(), log.stored(rows, moment)?)));
        let items: Vec<(Key, Stored)> = there.by_ref().take(limit).collect();
        let last = items.last().filter(|_| there.next().is_some());
        let next = last.map(|(key, _)| log::continuation(moment, key));
        Ok(Page { items, next, cursor: log::cursor(moment) })
    }
}

impl Store for Memory {
    fn get<'a>(&'a self, key: &'a Key) -> Answer<'a, Option<Stored>> {
        Box::pin(async move {
            let log = self.log();
            Ok(log.keys.get(key).and_then(|rows| log.stored(rows, log.head())))
        })
    }

    fn list<'a>(&'a self, prefix: &'a Prefix, page: PageRequest) -> Answer<'a, Page> {
        Box::pin(async move { self.page(prefix, &page) })
    }

    fn list_after<'a>(&'a self, key: &'a Key) -> Answer<'a, Option<Continuation>> {
        Box::pin(async move { Ok(Some(log::continuation_at(&self.now().await?, key))) })
    }

    fn list_at<'a>(
        &'a self,
        moment: &'a Cursor,
        prefix: &'a Prefix,
        after: Option<&'a Key>,
    ) -> Answer<'a, Option<Continuation>> {
        Box::pin(async move { Ok(Some(log::continuation_of(moment, prefix, after))) })
    }

    fn before<'a>(&'a self, key: &'a Key, revision: &'a Revision) -> Answer<'a, Option<Stored>> {
        Box::pin(async move {
            let log = self.log();
            let number = log::revision_number(revision, log.compacted)?;
            Ok(log.keys.get(key).and_then(|rows| log.stored(rows, number - 1)))
        })
    }

    fn is_unchanged<'a>(&'a self, range: &'a KeyRange, since: &'a Cursor) -> Answer<'a, bool> {
        Box::pin(async move {
            let log = self.log();
            let Some(since) = log::recent(since, log.head(), log.compacted) else { return Ok(false) };
            Ok(!log.after(since).iter().any(|row| range.contains(&row.key)))
        })
    }

    fn mark(&self) -> Option<Mark> {
        Some(self.log().head().into())
    }

    fn create<'a>(&'a self, key: &'a Key, value: Vec<u8>) -> Answer<'a, Revision> {
        Box::pin(async move { self.write(key, Write::Create(value)) })
    }

    fn replace<'a>(&'a self, key: &'a Key, expected: &'a Revision, value: Vec<u8>) -> Answer<'a, Revision> {
        Box::pin(async move { self.write(key, Write::Replace { expected: expected.clone(), value }) })
    }

    fn delete<'a>(&'a self, key: &'a Key, expected: &'a Revision) -> Answer<'a, ()> {
        Box::pin(async move { self.write(key, Write::Delete { expected: expected.clone() }).map(drop) })
    }

    fn watch<'a>(&'a self, prefix: &'a Prefix, from: &'a Cursor) -> Answer<'a, Box<dyn Watch>> {
        Box::pin(async move {
            let log = self.log();
            let told = log::cursor_number(from, log.head(), log.compacted)?;
            let head = self.head.subscribe();
            Ok(Box::new(MemoryWatch { store: self.clone(), prefix: prefix.clone(), told, head }) as Box<dyn Watch>)
        })
    }

    fn now(&self) -> Answer<'_, Cursor> {
        Box::pin(async move { Ok(log::cursor(self.log().head())) })
    }

    fn health(&self) -> Answer<'_, Health> {
        Box::pin(async move {
            let began = Instant::now();
            drop(self.log());
            Ok(Health { took: began.elapsed() })
        })
    }

    fn guarantees(&self) -> Guarantees {
        Guarantees::STRONG
    }
}

#[derive(Debug)]
struct MemoryWatch {
    store: Memory,
    prefix: Prefix,
    /// The row that was told or passed over last.
    told: u64,
    head: watch::Receiver<u64>,
}

impl MemoryWatch {
    fn find(&mut self) -> Result<Option<Event>, StoreError> {
        let log = self.store.log();
        if self.told < log.compacted {
            return Err(log::too_old(self.told, log.compacted));
        }
        let mut rows = log.after(self.told).iter();
        let row = rows.find(|row| {
            self.told += 1;
            self.prefix.is_of(&row.key)
        });
        Ok(row.map(|row| Event {
            key: row.key.clone(),
            revision: log::revision(self.told),
            change: row.action.change(row.value.to_vec()),
            cursor: log::cursor(self.told),
        }))
    }
}

impl Watch for MemoryWatch {
    fn peek(&mut self) -> Answer<'_, Upcoming> {
        Box::pin(async move {
            let event = self.next().await?;
            // It is returned again.
            self.told -= 1;
            Ok(event.outline())
        })
    }

    fn next(&mut self) -> Answer<'_, Event> {
        Box::pin(async move {
            loop {
                self.head.mark_unchanged();
                if let Some(event) = self.find()? {
                    return Ok(event);
                }
                // The sender lives as long as the store, of which this watch has a clone.
                let _ = self.head.changed().await;
            }
        })
    }

    fn cursor(&self) -> Cursor {
        log::cursor(self.told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[tokio::test]
    async fn a_list_can_be_begun_after_a_key_when_its_moment_is_forgotten() {
        let store = Memory::new();
        for name in ["a", "b", "c", "d"] {
            store.create(&Key::new(format!("k/{name}")).unwrap(), vec![]).await.unwrap();
        }
        let prefix = Prefix::new("k").unwrap();
        let first = store.list(&prefix, PageRequest::first(2)).await.unwrap();
        store.create(&Key::new("k/e").unwrap(), vec![]).await.unwrap();
        store.compact();
        let forgotten = store.list(&prefix, PageRequest { limit: None, after: first.next }).await;
        assert_eq!(forgotten.unwrap_err().kind(), &ErrorKind::TooOld);
        let after = store.list_after(&first.items[1].0).await.unwrap();
        let rest = store.list(&prefix, PageRequest { limit: None, after }).await.unwrap();
        let keys: Vec<&str> = rest.items.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["k/c", "k/d", "k/e"]);
    }
}
