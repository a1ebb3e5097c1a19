//! Sweeps: bringing every record to the hub of today, while everybody goes on reading and writing.
//!
//! - [`Collection::sweep_plan`] says what there is to do, and writes nothing.
//! - [`Collection::sweep`] does it. Any number of instances may: they take portions from one ledger, which is in the store,
//!   and so is what remains of a sweep whose process has ended.
//! - [`Collection::sweep_status`] reads the ledger.
//! - [`Collection::verify`] holds every record against what a sweep promises.
//! - [`Collection::scrub`] looks for damaged records, slowly.
//! - [`Collection::needs`] says which records need a version that is to be retired.

mod ledger;
mod patience;
mod plan;
mod problems;
mod retire;
mod rewrite;
mod run;
mod scrub;
mod tenure;
mod verify;
mod walk;

pub use ledger::{SweepCounts, SweepError, SweepStatus};
pub use plan::SweepPlan;
pub use problems::{Problem, Problems};
pub use retire::{Accepted, Loss, Needs};
pub use run::{SweepOptions, SweepProgress};
pub use scrub::Scrubbed;
pub use verify::Verified;

use crate::{Collection, Repository, RepositoryError};

impl Repository {
    /// Brings the records of all kinds to their hubs, one kind after the other; see [`Collection::sweep`].
    ///
    /// # Errors
    /// As for [`Collection::sweep`].
    pub async fn sweep(
        &self,
        options: &SweepOptions,
        mut told: impl FnMut(&Collection, SweepProgress) + Send,
    ) -> Result<Vec<SweepStatus>, RepositoryError> {
        let mut swept = Vec::new();
        for collection in self.kinds().collect::<Vec<_>>() {
            swept.push(collection.sweep(options, |progress| told(&collection, progress)).await?);
        }
        Ok(swept)
    }
}
