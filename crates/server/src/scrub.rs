//! The scrub: reading all records now and then, so that damaged ones are found before clients meet them.

use std::{
    collections::BTreeSet,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use prometheus_client::{
    metrics::{counter::Counter, gauge::Gauge},
    registry::Registry,
};
use tokio::time::sleep;
use wheelwright_repository::{Repository, RepositoryError};

/// The rest after a page is so many times as long as the page took: a tenth of a core is used.
const REST: u32 = 9;

/// The first scrub begins no later than so long after the start.
const FIRST: Duration = Duration::from_secs(60);

/// The most damaged records that are counted.
const MOST_COUNTED: usize = 10_000;

/// The most damaged records that are named at once.
const MOST_NAMED: usize = 10;

/// The scrub, and the damaged records that it has found.
#[derive(Debug)]
pub(crate) struct Scrub {
    every: Duration,
    /// By kind and name.
    damaged: Mutex<BTreeSet<String>>,
    count: Gauge,
    records: Counter,
    finished: Gauge,
}

impl Scrub {
    /// A scrub that begins again so long after it is done.
    pub(crate) fn new(every: Duration) -> Self {
        Self {
            every,
            damaged: Mutex::default(),
            count: Gauge::default(),
            records: Counter::default(),
            finished: Gauge::default(),
        }
    }

    pub(crate) fn register(&self, registry: &mut Registry) {
        registry.register("damaged_records", "Damaged records that the scrub found", self.count.clone());
        registry.register("scrubbed_records", "Records that the scrub has read", self.records.clone());
        let help = "When the last scrub was finished, in seconds since 1970; 0 for none";
        registry.register("scrub_finished_timestamp_seconds", help, self.finished.clone());
    }

    /// Scrubs again and again.
    pub(crate) async fn run(&self, repository: &Repository) {
        sleep(self.every.min(FIRST)).await;
        loop {
            match self.scrub(repository).await {
                Ok(()) => {
                    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                    self.finished.set(now.as_secs() as i64);
                }
                Err(error) => tracing::warn!(%error, "the scrub could not be finished; it begins again later"),
            }
            sleep(self.every).await;
        }
    }

    async fn scrub(&self, repository: &Repository) -> Result<(), RepositoryError> {
        let mut found = BTreeSet::new();
        for collection in repository.kinds().collect::<Vec<_>>() {
            let kind = collection.kind().kind().name();
            let seen = |scrubbed: wheelwright_repository::Scrubbed| {
                self.records.inc_by(scrubbed.records);
                for problem in scrubbed.damaged {
                    let record = format!("{kind} {}", problem.name);
                    self.add(&record, &problem.why);
                    if found.len() < MOST_COUNTED {
                        found.insert(record);
                    }
                }
            };
            collection.scrub(REST, seen).await?;
        }
        // Others were removed or written again.
        let mut damaged = self.damaged();
        *damaged = found;
        self.count.set(damaged.len() as i64);
        drop(damaged);
        repository.start_check()
    }

    /// Logs a damaged record once.
    fn add(&self, record: &str, why: &str) {
        let mut damaged = self.damaged();
        if damaged.len() < MOST_COUNTED && damaged.insert(record.to_owned()) {
            self.count.set(damaged.len() as i64);
            tracing::error!(record, why, "a record is damaged");
        }
    }

    /// How many damaged records there are, and which, if they may be named; none without any.
    pub(crate) fn summary(&self, may_be_named: impl FnOnce() -> bool) -> Option<String> {
        let damaged = self.damaged();
        if damaged.is_empty() {
            return None;
        }
        let mut text = damaged.len().to_string();
        if may_be_named() {
            let mut names: Vec<&str> = damaged.iter().take(MOST_NAMED).map(String::as_str).collect();
            if damaged.len() > MOST_NAMED {
                names.push("...");
            }
            text.push_str(&format!(" ({})", names.join(", ")));
        }
        Some(text)
    }

    fn damaged(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.damaged.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
