//! What a sweep would do.

use std::collections::BTreeMap;

use wheelwright_evolve::VersionName;

use super::{problems::Problems, rewrite::Standing};
use crate::{Collection, RepositoryError, record::Place};

/// What a sweep would do.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct SweepPlan {
    /// The hub that records would be brought to.
    pub hub: VersionName,
    /// How many records there are.
    pub total: u64,
    /// How many need nothing.
    pub at_hub: u64,
    /// How many lack nothing but a checksum.
    pub unchecked: u64,
    /// How many are stored in the shape of other versions, by version.
    pub at_others: Vec<(VersionName, u64)>,
    /// How many are documents without a record, by version.
    pub adopted: Vec<(VersionName, u64)>,
    /// What cannot be converted.
    pub problems: Problems,
}

impl Collection {
    /// What a sweep would do. Nothing is written.
    ///
    /// # Errors
    /// The store fails.
    pub async fn sweep_plan(&self) -> Result<SweepPlan, RepositoryError> {
        let kind = &self.kind;
        let (mut total, mut at_hub, mut unchecked, mut problems) = (0, 0, 0, Problems::default());
        let (mut at_others, mut adopted) = (BTreeMap::new(), BTreeMap::new());
        self.walk(|key, stored| {
            total += 1;
            match kind.standing(&stored.value, Place::of(key)) {
                Ok(Standing::AtHub) => at_hub += 1,
                Ok(Standing::Unchecked) => unchecked += 1,
                Ok(Standing::At(version)) => *at_others.entry(version).or_default() += 1,
                Ok(Standing::Adopted(version)) => *adopted.entry(version).or_default() += 1,
                Err(error) => problems.add(self.called(key), error),
            }
        })
        .await?;
        let (at_others, adopted) = (self.in_order(at_others), self.in_order(adopted));
        let hub = kind.version_name(kind.kind().lenses().hub()).clone();
        Ok(SweepPlan { hub, total, at_hub, unchecked, at_others, adopted, problems })
    }

    /// By version, the oldest first.
    fn in_order(&self, counts: BTreeMap<VersionName, u64>) -> Vec<(VersionName, u64)> {
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(version, _)| self.kind.kind().version(version.as_str()));
        counts
    }
}
