//! The repository: kinds and a store, and nothing between a client and its document but these.

use std::{
    fmt,
    future::poll_fn,
    sync::{Arc, OnceLock},
    time::SystemTime,
};

use jiff::Timestamp;
use wheelwright_store::{Cursor, DiskSpace, Health, Key, Mark, Store, StoreError, Stored};

use crate::{
    Collection, DamageObserver, ExternalSource, LIGHT_BYTES, RepositoryError, Scheduler, ServedKind, SourceCounts,
    SourceError, external::Sources, long_records::LongRecords, write::Stamp,
};

/// Kinds in a store. Clones are the same repository.
#[derive(Clone)]
pub struct Repository {
    kinds: Arc<[Arc<ServedKind>]>,
    pub(crate) store: Arc<dyn Store>,
    clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    pub(crate) sources: Sources,
    scheduler: Option<Arc<dyn Scheduler>>,
    shared: Arc<Shared>,
}

/// What is learned from reads, by all clones together.
#[derive(Default)]
struct Shared {
    long_records: LongRecords,
    damage_observer: OnceLock<Arc<dyn DamageObserver>>,
}

impl fmt::Debug for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Repository").field("store", &self.store).finish_non_exhaustive()
    }
}

impl Repository {
    /// Kinds in a store, none of which would take records of another for its own.
    ///
    /// # Errors
    /// Two of them have keys that begin alike.
    pub fn try_new(
        store: Arc<dyn Store>,
        kinds: impl IntoIterator<Item = ServedKind>,
    ) -> Result<Self, RepositoryError> {
        let repository = Self::new(store, kinds);
        ServedKind::check_keys(repository.kinds.iter().map(|kind| &**kind))?;
        Ok(repository)
    }

    /// Kinds in a store, of which no two have [keys that begin alike](ServedKind::check_keys): such kinds can be neither
    /// [had](Self::kind) nor swept.
    pub fn new(store: Arc<dyn Store>, kinds: impl IntoIterator<Item = ServedKind>) -> Self {
        let kinds = kinds.into_iter().map(Arc::new).collect();
        let (sources, shared) = (Sources::default(), Arc::default());
        Self { kinds, store, clock: Arc::new(now), sources, scheduler: None, shared }
    }

    /// Replaces the store, and keeps the kinds.
    #[must_use]
    pub fn with_store(self, store: Arc<dyn Store>) -> Self {
        Self { store, ..self }
    }

    /// The same, with another clock.
    #[must_use]
    pub fn with_clock(self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self { clock: Arc::new(clock), ..self }
    }

    /// The same, with the systems that own fields of its kinds, by the names that the catalog gives them. Without them,
    /// such documents can be swept but not read.
    ///
    /// # Errors
    /// One that the catalog names is missing, or the catalog does not name one.
    pub fn with_sources<'n>(
        self,
        sources: impl IntoIterator<Item = (&'n str, Arc<dyn ExternalSource>)>,
    ) -> Result<Self, SourceError> {
        let sources = Sources::new(sources.into_iter().map(|(name, source)| (name.into(), source)));
        sources.check(self.kinds.iter().map(|kind| &**kind))?;
        Ok(Self { sources, ..self })
    }

    /// Runs long CPU-bound steps where a scheduler puts them.
    #[must_use]
    pub fn with_scheduler(self, scheduler: Arc<dyn Scheduler>) -> Self {
        Self { scheduler: Some(scheduler), ..self }
    }

    /// Reports damaged records that requests meet, here or in a clone, to an observer: the first one that is set.
    #[must_use]
    pub fn with_damage_observer(self, observer: Arc<dyn DamageObserver>) -> Self {
        self.shared.damage_observer.get_or_init(|| observer);
        self
    }

    pub(crate) fn damage_observer(&self) -> Option<&dyn DamageObserver> {
        self.shared.damage_observer.get().map(|observer| &**observer)
    }

    /// Waits until a CPU-bound step over so many bytes may run on the current thread.
    pub async fn step(&self, bytes: usize) {
        if let Some(scheduler) = self.scheduler.as_ref().filter(|_| bytes >= LIGHT_BYTES) {
            poll_fn(|context| scheduler.poll_step(bytes, context)).await;
        }
    }

    /// Reads a record: a long one, as far as is known, as a long step.
    pub(crate) async fn read(&self, key: &Key) -> Result<Option<Stored>, StoreError> {
        self.step(self.shared.long_records.length(key)).await;
        let stored = self.store.get(key).await?;
        self.shared.long_records.keep(key, stored.as_ref().map_or(0, |stored| stored.value.len()));
        Ok(stored)
    }

    /// Whether the record of a key was long when it was last read or written.
    pub(crate) fn is_long(&self, key: &Key) -> bool {
        self.shared.long_records.length(key) > 0
    }

    /// Keeps the length of a record that was written.
    pub(crate) fn has_written(&self, key: &Key, bytes: usize) {
        self.shared.long_records.keep(key, bytes);
    }

    /// What happened with each external source so far.
    pub fn source_counts(&self) -> impl Iterator<Item = (&str, SourceCounts)> {
        self.sources.counts()
    }

    /// The documents of a kind, by a name that people call it by: with or without its group, also one that it had.
    ///
    /// # Errors
    /// There is no such kind, or another one has keys that begin alike.
    pub fn kind(&self, name: &str) -> Result<Collection, RepositoryError> {
        let is_meant = |kind: &&Arc<ServedKind>| kind.kind().names().iter().any(|own| own.is_meant_by(name));
        let kind = self.kinds.iter().find(is_meant).ok_or_else(|| RepositoryError::UnknownKind(name.into()))?;
        for other in self.kinds.iter().filter(|other| !Arc::ptr_eq(other, kind)) {
            ServedKind::check_keys([&**kind, other])?;
        }
        Ok(Collection { kind: kind.clone(), repository: self.clone() })
    }

    /// The documents of all kinds.
    pub fn kinds(&self) -> impl Iterator<Item = Collection> + '_ {
        self.kinds.iter().map(|kind| Collection { kind: kind.clone(), repository: self.clone() })
    }

    /// The store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Starts a check of the structure of the store in the background. If it finds damage, then [`health`](Self::health) fails
    /// from then on.
    ///
    /// # Errors
    /// The check cannot begin.
    pub fn start_check(&self) -> Result<(), RepositoryError> {
        Ok(self.store.start_check()?)
    }

    /// The damage of the structure of the store, as an error that says what to do; none if it is sound. Waits for a check of a
    /// structure that was not checked yet.
    ///
    /// # Errors
    /// The store cannot be checked.
    pub async fn find_structural_damage(&self) -> Result<Option<StoreError>, RepositoryError> {
        Ok(self.store.find_damage().await?)
    }

    /// Whether the store can be read and written, by trying it.
    ///
    /// # Errors
    /// It cannot.
    pub async fn health(&self) -> Result<Health, RepositoryError> {
        Ok(self.store.health().await?)
    }

    /// The room that is left for the store. None if it cannot tell.
    pub fn disk(&self) -> Option<DiskSpace> {
        self.store.disk()
    }

    /// The position of now: a watch from it on tells what is written later.
    ///
    /// # Errors
    /// The store fails.
    pub async fn cursor(&self) -> Result<Cursor, RepositoryError> {
        Ok(self.store.now().await?)
    }

    /// Where the [mark](Store::mark) is that every write to the store moves: what was read at the same mark holds. None if
    /// the store cannot tell. Of what other systems own it says nothing.
    pub fn mark(&self) -> Option<Mark> {
        self.store.mark()
    }

    /// What its clock says.
    pub fn now(&self) -> Timestamp {
        (self.clock)()
    }

    pub(crate) fn stamp(&self) -> Stamp {
        Stamp { now: self.now(), uid: uuid::Uuid::new_v4().to_string().into() }
    }
}

/// In whole milliseconds, as times are written.
fn now() -> Timestamp {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let milliseconds = i64::try_from(since_1970.as_millis()).ok();
    milliseconds.and_then(|milliseconds| Timestamp::from_millisecond(milliseconds).ok()).unwrap_or_default()
}
