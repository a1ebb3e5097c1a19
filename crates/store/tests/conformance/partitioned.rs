//! A store as the ones that are spread over partitions: no order across keys, lists that take their time, ETags for
//! revisions, and now and then too much is asked of it. It fits the trait, and passes.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
    ops::Bound,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use wheelwright_store::{
    Answer, Change, Continuation, Cursor, ErrorKind, Event, Guarantees, Health, Key, Page, PageRequest, Prefix,
    Revision, Store, StoreError, Stored, Upcoming, Watch, conformance::Subject, conformance_tests,
};

const PARTITIONS: usize = 3;

#[derive(Clone, Debug, Default)]
struct Partitioned(Arc<Mutex<[Partition; PARTITIONS]>>, Arc<Mutex<u64>>);

#[derive(Debug, Default)]
struct Partition {
    current: BTreeMap<Key, Stored>,
    /// What happened here, in order.
    feed: Vec<(Key, Revision, Change)>,
    forgotten: usize,
}

/// A position in the feed of each partition.
type Positions = [usize; PARTITIONS];

impl Partitioned {
    fn partitions(&self) -> MutexGuard<'_, [Partition; PARTITIONS]> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Every so often there is no time for a call.
    fn admit(&self) -> Result<(), StoreError> {
        let mut calls = self.1.lock().unwrap_or_else(PoisonError::into_inner);
        *calls += 1;
        match *calls % 5 {
            0 => Err(StoreError::new(ErrorKind::Throttled(Duration::from_micros(300)), "too many requests")),
            _ => Ok(()),
        }
    }

    fn write(
        &self,
        key: &Key,
        change: impl FnOnce(Option<&Stored>) -> Result<Change, StoreError>,
    ) -> Result<Revision, StoreError> {
        self.admit()?;
        let mut partitions = self.partitions();
        let partition = &mut partitions[partition_of(key)];
        let change = change(partition.current.get(key))?;
        let revision = Revision::new(format!("\"{:04x}\"", partition.feed.len()));
        match &change {
            Change::Created(value) | Change::Replaced(value) => {
                let stored = Stored { revision: revision.clone(), value: value.clone() };
                partition.current.insert(key.clone(), stored);
            }
            Change::Deleted(_) => drop(partition.current.remove(key)),
        }
        partition.feed.push((key.clone(), revision.clone(), change));
        Ok(revision)
    }

    fn positions(&self) -> Positions {
        self.partitions().each_ref().map(|partition| partition.feed.len())
    }

    fn parse(&self, text: &str) -> Option<Positions> {
        let numbers: Vec<usize> = text.split(',').map(|number| number.parse().ok()).collect::<Option<_>>()?;
        let positions = Positions::try_from(numbers).ok()?;
        let is_known = positions.iter().zip(self.positions()).all(|(position, head)| *position <= head);
        (is_known && text == cursor(&positions).as_str()).then_some(positions)
    }
}

fn partition_of(key: &Key) -> usize {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish() as usize % PARTITIONS
}

fn cursor(positions: &Positions) -> Cursor {
    Cursor::new(positions.map(|position| position.to_string()).join(","))
}

fn expect<'s>(key: &Key, current: Option<&'s Stored>, expected: &Revision) -> Result<&'s Stored, StoreError> {
    match current {
        None => Err(StoreError::missing(key)),
        Some(stored) if stored.revision == *expected => Ok(stored),
        Some(stored) => Err(StoreError::conflict(key, expected, stored.revision.clone())),
    }
}

impl Store for Partitioned {
    fn get<'a>(&'a self, key: &'a Key) -> Answer<'a, Option<Stored>> {
        Box::pin(async move {
            self.admit()?;
            Ok(self.partitions()[partition_of(key)].current.get(key).cloned())
        })
    }

    fn list<'a>(&'a self, prefix: &'a Prefix, page: PageRequest) -> Answer<'a, Page> {
        Box::pin(async move {
            self.admit()?;
            let parts = page.after.as_ref().map(|after| {
                let (began, last) = after.as_str().split_once(';')?;
                Some((self.parse(began)?, last)).filter(|(_, last)| last.starts_with(prefix.as_str()))
            });
            let (began, begin) = match parts {
                None => (self.positions(), Bound::Included(prefix.as_str())),
                Some(Some((began, last))) => (began, Bound::Excluded(last)),
                Some(None) => return Err(StoreError::new(ErrorKind::BadToken, "no continuation of this list")),
            };
            let mut items = BTreeMap::new();
            for partition in self.partitions().iter() {
                let there = partition.current.range::<str, _>((begin, Bound::Unbounded));
                let there = there.filter(|(key, _)| prefix.is_of(key));
                items.extend(there.map(|(key, stored)| (key.clone(), stored.clone())));
            }
            // Fewer than wanted, as such stores do.
            let limit = page.limit.unwrap_or(100).clamp(1, 100).div_ceil(2);
            let mut items = items.into_iter();
            let page: Vec<(Key, Stored)> = items.by_ref().take(limit).collect();
            let last = page.last().filter(|_| items.next().is_some());
            let next = last.map(|(key, _)| Continuation::new(format!("{};{key}", cursor(&began))));
            Ok(Page { items: page, next, cursor: cursor(&began) })
        })
    }

    fn create<'a>(&'a self, key: &'a Key, value: Vec<u8>) -> Answer<'a, Revision> {
        Box::pin(async move {
            self.write(key, |current| match current {
                Some(_) => Err(StoreError::exists(key)),
                None => Ok(Change::Created(value)),
            })
        })
    }

    fn replace<'a>(&'a self, key: &'a Key, expected: &'a Revision, value: Vec<u8>) -> Answer<'a, Revision> {
        Box::pin(
            async move { self.write(key, |current| expect(key, current, expected).map(|_| Change::Replaced(value))) },
        )
    }

    fn delete<'a>(&'a self, key: &'a Key, expected: &'a Revision) -> Answer<'a, ()> {
        Box::pin(async move {
            let removed = self.write(key, |current| {
                expect(key, current, expected).map(|stored| Change::Deleted(stored.value.clone()))
            });
            removed.map(drop)
        })
    }

    fn watch<'a>(&'a self, prefix: &'a Prefix, from: &'a Cursor) -> Answer<'a, Box<dyn Watch>> {
        Box::pin(async move {
            self.admit()?;
            let Some(positions) = self.parse(from.as_str()) else {
                return Err(StoreError::new(ErrorKind::BadToken, "no cursor of this store"));
            };
            let watch = PartitionedWatch { store: self.clone(), prefix: prefix.clone(), positions, turn: 0 };
            watch.remembers()?;
            Ok(Box::new(watch) as Box<dyn Watch>)
        })
    }

    fn now(&self) -> Answer<'_, Cursor> {
        Box::pin(async move {
            self.admit()?;
            Ok(cursor(&self.positions()))
        })
    }

    fn health(&self) -> Answer<'_, Health> {
        Box::pin(async move {
            self.admit()?;
            Ok(Health { took: Duration::from_micros(1) })
        })
    }

    fn guarantees(&self) -> Guarantees {
        Guarantees::PARTITIONED
    }
}

#[derive(Debug)]
struct PartitionedWatch {
    store: Partitioned,
    prefix: Prefix,
    positions: Positions,
    turn: usize,
}

impl PartitionedWatch {
    fn remembers(&self) -> Result<(), StoreError> {
        let partitions = self.store.partitions();
        match partitions.iter().zip(self.positions).any(|(partition, position)| position < partition.forgotten) {
            true => Err(StoreError::new(ErrorKind::TooOld, "this was forgotten; list again")),
            false => Ok(()),
        }
    }

    /// The next change of the partition whose turn it is. The last partition comes first, so that nothing is in the order
    /// in which it happened.
    fn find(&mut self) -> Option<Event> {
        self.turn += 1;
        let index = PARTITIONS - 1 - self.turn / 4 % PARTITIONS;
        let partitions = self.store.partitions();
        while let Some((key, revision, change)) = partitions[index].feed.get(self.positions[index]).cloned() {
            self.positions[index] += 1;
            if self.prefix.is_of(&key) {
                return Some(Event { key, revision, change, cursor: cursor(&self.positions) });
            }
        }
        None
    }
}

impl Watch for PartitionedWatch {
    fn peek(&mut self) -> Answer<'_, Upcoming> {
        Box::pin(async move {
            let (positions, turn) = (self.positions, self.turn);
            let event = self.next().await?;
            // It is found again.
            (self.positions, self.turn) = (positions, turn);
            Ok(event.outline())
        })
    }

    fn next(&mut self) -> Answer<'_, Event> {
        Box::pin(async move {
            self.store.admit()?;
            loop {
                self.remembers()?;
                for _ in 0..4 * PARTITIONS {
                    if let Some(event) = self.find() {
                        return Ok(event);
                    }
                }
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        })
    }

    fn cursor(&self) -> Cursor {
        cursor(&self.positions)
    }
}

impl Subject for Partitioned {
    fn open(&self) -> Answer<'_, Arc<dyn Store>> {
        Box::pin(async { Ok(Arc::new(self.clone()) as Arc<dyn Store>) })
    }

    fn compact(&self) -> Answer<'_, bool> {
        Box::pin(async {
            for partition in self.partitions().iter_mut() {
                partition.forgotten = partition.feed.len();
            }
            Ok(true)
        })
    }
}

conformance_tests!(async || Partitioned::default());
