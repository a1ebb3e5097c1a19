//! Repair: damaged records, and good copies from the store's log or a backup.
//!
//! A record is damaged if it is not a record any more or its checksum does not match. A record that only another catalog or
//! a newer release can open is not damaged, and is never replaced.

use jiff::Timestamp;
use wheelwright_document::Arena;
use wheelwright_store::{ErrorKind, Key, Revision, Store, StoreError, Stored};

use crate::{Collection, OpenError, Problems, RecordError, RepositoryError, record::Place};

/// The damaged records of a kind.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct DamageReport {
    /// How many records the kind has.
    pub total: u64,
    /// The damaged ones, in the order of their keys.
    pub damaged: Vec<Damaged>,
    /// Records that are not damaged and cannot be opened: they need another catalog or a newer release.
    pub unopened: Problems,
}

/// A damaged record, and its good copies.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Damaged {
    /// The name of the document.
    pub name: Box<str>,
    /// The key of the record.
    pub key: Key,
    /// The revision that is damaged.
    pub revision: Revision,
    /// Why the record is damaged.
    pub why: Box<str>,
    /// The last known revision may be intact, and a newer one may be lost.
    pub is_uncertain: bool,
    /// Good copies of the record, the best one first.
    pub copies: Vec<GoodCopy>,
}

/// A good copy of a damaged record.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct GoodCopy {
    /// Where it is.
    pub source: CopySource,
    /// The revision of the copy. A copy of the damaged revision itself loses nothing.
    pub revision: Revision,
    /// When a client last changed the document in it, if it has that.
    pub modified_at: Option<Timestamp>,
}

/// Where a good copy is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CopySource {
    /// An earlier revision in the store's own log.
    Log,
    /// A copy from a backup, stored under the same key.
    Backup,
}

/// A record that was repaired.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Repaired {
    /// The copy that is stored now.
    pub copy: GoodCopy,
    /// The new revision of the record.
    pub revision: Revision,
}

impl Collection {
    /// Lists the damaged records of the kind, each with its good copies. Nothing is written.
    ///
    /// A backup with the damaged revision itself is the best copy, then the newest good revision in the log, then any other
    /// in the backup.
    ///
    /// # Errors
    /// The store or the backup fails.
    pub async fn find_damage(&self, backup: Option<&dyn Store>) -> Result<DamageReport, RepositoryError> {
        let mut report = DamageReport { total: 0, damaged: Vec::new(), unopened: Problems::default() };
        self.walk(|key, stored| {
            report.total += 1;
            let arena = Arena::for_input(stored.value.len());
            match self.kind.open(&stored.value, Place::of(key), &arena) {
                Ok(_) => {}
                Err(OpenError::Record(error)) if error.is_damage() => report.damaged.push(Damaged {
                    name: self.called(key).into(),
                    key: key.clone(),
                    revision: stored.revision.clone(),
                    why: summary(&error).into(),
                    is_uncertain: matches!(error, RecordError::Uncertain),
                    copies: Vec::new(),
                }),
                Err(error) => report.unopened.add(self.called(key), error),
            }
        })
        .await?;
        for damaged in &mut report.damaged {
            let copies = self.good_copies(&damaged.key, &damaged.revision, backup).await?;
            damaged.copies = copies.into_iter().map(|(copy, _)| copy).collect();
        }
        Ok(report)
    }

    /// Stores the best good copy of a damaged record in its place, as a new revision; none if there is no copy.
    ///
    /// The damaged bytes are lost once the store's history has passed: save them first, with
    /// [`get_unverified_record`](Self::get_unverified_record).
    ///
    /// # Errors
    /// The store or the backup fails: with [`Conflict`](ErrorKind::Conflict) or [`Missing`](ErrorKind::Missing) if the record
    /// was written or removed since it was found damaged.
    pub async fn repair(
        &self,
        damaged: &Damaged,
        backup: Option<&dyn Store>,
    ) -> Result<Option<Repaired>, RepositoryError> {
        let copies = self.good_copies(&damaged.key, &damaged.revision, backup).await?;
        let Some((copy, value)) = copies.into_iter().next() else { return Ok(None) };
        let revision = self.store().replace(&damaged.key, &damaged.revision, value).await?;
        Ok(Some(Repaired { copy, revision }))
    }

    /// The good copies of a damaged revision, the best one first.
    async fn good_copies(
        &self,
        key: &Key,
        damaged: &Revision,
        backup: Option<&dyn Store>,
    ) -> Result<Vec<(GoodCopy, Vec<u8>)>, StoreError> {
        let mut copies = Vec::new();
        copies.extend(self.copy_in_log(key, damaged).await?);
        if let Some(backup) = backup
            && let Some(stored) = backup.get(key).await?
            && let Some(copy) = self.good_copy(key, CopySource::Backup, stored)
        {
            let place = if copy.0.revision == *damaged { 0 } else { copies.len() };
            copies.insert(place, copy);
        }
        Ok(copies)
    }

    /// The newest good revision in the log.
    async fn copy_in_log(&self, key: &Key, damaged: &Revision) -> Result<Option<(GoodCopy, Vec<u8>)>, StoreError> {
        let mut revision = damaged.clone();
        loop {
            let stored = match self.store().before(key, &revision).await {
                Ok(Some(stored)) => stored,
                Ok(None) => return Ok(None),
                // A log with a damaged structure cannot be searched.
                Err(error) if matches!(error.kind(), ErrorKind::TooOld | ErrorKind::Corrupt) => return Ok(None),
                Err(error) => return Err(error),
            };
            revision = stored.revision.clone();
            if let Some(copy) = self.good_copy(key, CopySource::Log, stored) {
                return Ok(Some(copy));
            }
        }
    }

    fn good_copy(&self, key: &Key, source: CopySource, stored: Stored) -> Option<(GoodCopy, Vec<u8>)> {
        let Stored { revision, value } = stored;
        let arena = Arena::for_input(value.len());
        let modified_at = self.kind.open(&value, Place::of(key), &arena).ok()?.envelope.metadata.modified_at;
        Some((GoodCopy { source, revision, modified_at }, value))
    }
}

/// Describes the damage of a record, without the advice to look for a copy.
fn summary(error: &RecordError) -> String {
    match error {
        RecordError::Checksum => "its checksum does not match".to_owned(),
        RecordError::Lost => "the store cannot read it".to_owned(),
        RecordError::Uncertain => "a newer revision may be lost".to_owned(),
        other => other.to_string(),
    }
}
