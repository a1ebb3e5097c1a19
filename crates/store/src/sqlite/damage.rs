//! Reading a damaged file.
//!
//! Once damage is found, SQLite does not read the file any more, and nothing is written to it. [`Facts`] has what is certain. A
//! key whose newest row is lost, damaged or not known has an [`Unreadable`] value. A list is refused where keys may be missing.

use std::{fs, io, ops::Bound, path::Path, time::SystemTime};

use super::{
    facts::{Facts, NewestRow},
    pages::{Pages, wal_path},
    rows::Row,
};
use crate::{
    Cursor, ErrorKind, Key, Page, PageRequest, Prefix, StoreError, Stored, Unreadable,
    log::{self, PAGE_LIMIT},
    sum,
};

/// A page of a list ends when its values have more than this.
const LIST_BYTES: usize = 4 << 20;

/// A damaged file.
#[derive(Debug)]
pub(super) struct Damage {
    /// The first thing that is wrong.
    what: String,
    facts: Facts,
    /// The file and its write-ahead log as they were read.
    versions: [Option<FileVersion>; 2],
}

/// What changes when a file is written.
type FileVersion = (u64, SystemTime);

impl Damage {
    /// Reads the whole file. Fails if it cannot be read, or has no row with a good checksum and is not known to be a store.
    pub(super) fn of(path: &Path, what: String, is_store: bool) -> io::Result<Self> {
        let versions = versions(path);
        let facts = Facts::of(Pages::open(path)?);
        match is_store || facts.has_proof {
            true => Ok(Self { what, facts, versions }),
            false => Err(io::Error::new(io::ErrorKind::InvalidData, what)),
        }
    }

    /// Fails if the file has been written since it was read: by another process, which has not noticed the damage.
    pub(super) fn check_unchanged(&self, path: &Path) -> Result<(), StoreError> {
        if versions(path) == self.versions {
            return Ok(());
        }
        let message = format!(
            "{} is damaged, and another process still writes to it: stop that process, and start this one again",
            path.display()
        );
        Err(StoreError::new(ErrorKind::Corrupt, message).because(self.what.clone()))
    }

    /// The error of requests that a damaged file cannot answer.
    pub(super) fn refusal(&self, path: &Path) -> StoreError {
        Self::refusal_for(path, &self.what)
    }

    /// The error of requests that a file cannot answer because something is wrong with it.
    pub(super) fn refusal_for(path: &Path, what: &str) -> StoreError {
        let message = format!(
            "{} is damaged: only documents that are certain to be current can be read, and nothing is written; restore a \
             backup, or save the rest with wheelwright store repair --to FILE",
            path.display()
        );
        StoreError::new(ErrorKind::Corrupt, message).because(what)
    }

    /// The position after the last revision that is known.
    pub(super) fn cursor(&self) -> Cursor {
        log::cursor(self.facts.last)
    }

    /// The newest row of each key.
    #[cfg(feature = "fuzzing")]
    pub(super) fn newest(&self) -> &std::collections::BTreeMap<Key, NewestRow> {
        &self.facts.newest
    }

    /// The value of a key: empty if it cannot be read. None if it is not known whether the key exists.
    pub(super) fn get(&self, key: &Key) -> Option<Option<Stored>> {
        match self.facts.newest.get(key) {
            Some(newest) => Some(self.stored(newest)),
            None => self.facts.has_not(key).then_some(None),
        }
    }

    /// The stored bytes of a key, whether or not they match their checksum or are the newest ones; empty if there are none. None if
    /// it is not known whether the key exists.
    pub(super) fn get_unverified(&self, key: &Key) -> Option<Option<Stored>> {
        let Some(newest) = self.facts.newest.get(key) else { return self.get(key) };
        let value = newest.row.as_ref().and_then(|row| row.unverified_value(&self.facts.pages)).unwrap_or_default();
        Some(self.stored(newest).map(|stored| Stored { value, ..stored }))
    }

    /// A page of a list of the current state; none if keys may be missing.
    pub(super) fn page(&self, prefix: &Prefix, request: &PageRequest) -> Option<Page> {
        let limit = request.limit.unwrap_or(PAGE_LIMIT).clamp(1, PAGE_LIMIT);
        let after = match &request.after {
            Some(after) => log::continuation_parts(after, prefix, u64::MAX, 0).ok()?.1,
            None => prefix.as_str(),
        };
        let (mut items, mut bytes, mut next) = (Vec::new(), 0, None);
        let keys = self.facts.newest.range::<str, _>((Bound::Excluded(after), Bound::Unbounded));
        let mut end = prefix.end();
        for (key, newest) in keys.take_while(|(key, _)| prefix.is_of(key)) {
            if items.len() == limit || bytes > LIST_BYTES {
                next = items.last().map(|(key, _): &(Key, Stored)| log::continuation(self.facts.last, key));
                end = Some(key.as_str().to_owned());
                break;
            }
            if let Some(stored) = self.stored(newest) {
                bytes += stored.value.len();
                items.push((key.clone(), stored));
            }
        }
        self.facts.has_all(after, end.as_deref()).then(|| Page { items, next, cursor: self.cursor() })
    }

    /// The value; none if the newest row of the key is a removal.
    fn stored(&self, newest: &NewestRow) -> Option<Stored> {
        let revision = log::revision(newest.revision);
        let row = newest.row.as_ref();
        if !newest.is_certain {
            return Some(Stored { revision, value: Unreadable::Uncertain.marker().to_vec() });
        }
        if row.is_some_and(Row::is_removal) {
            return None;
        }
        let value = row.and_then(|row| row.value(&self.facts.pages));
        Some(Stored { revision, value: value.unwrap_or(sum::UNREADABLE) })
    }
}

fn versions(path: &Path) -> [Option<FileVersion>; 2] {
    [path, &wal_path(path)].map(|path| {
        let metadata = fs::metadata(path).ok()?;
        Some((metadata.len(), metadata.modified().ok()?))
    })
}
