//! The scrub: reading all records now and then, so that damaged ones are found before clients meet them.

use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use prometheus_client::{
    metrics::{counter::Counter, gauge::Gauge},
    registry::Registry,
};
use tokio::time::sleep;
use wheelwright_repository::{Repository, RepositoryError};

use crate::damaged_records::DamagedRecords;

/// The rest after a page is so many times as long as the page took: a tenth of a core is used.
const REST: u32 = 9;

/// The first scrub begins no later than so long after the start.
const FIRST: Duration = Duration::from_secs(60);

/// The scrub.
#[derive(Debug)]
pub(crate) struct Scrub {
    every: Duration,
    damaged: Arc<DamagedRecords>,
    records: Counter,
    finished: Gauge,
}

impl Scrub {
    /// A scrub that begins again so long after it is done.
    pub(crate) fn new(every: Duration, damaged: Arc<DamagedRecords>) -> Self {
        Self { every, damaged, records: Counter::default(), finished: Gauge::default() }
    }

    pub(crate) fn register(&self, registry: &mut Registry) {
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
        self.damaged.begin_scrub();
        for collection in repository.kinds().collect::<Vec<_>>() {
            let kind = collection.kind().kind().name();
            let seen = |scrubbed: wheelwright_repository::Scrubbed| {
                self.records.inc_by(scrubbed.records);
                for problem in scrubbed.damaged {
                    self.damaged.add(&format!("{kind} {}", problem.name), &problem.why);
                }
            };
            collection.scrub(REST, seen).await?;
        }
        self.damaged.end_scrub();
        repository.start_check()
    }
}
