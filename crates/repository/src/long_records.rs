//! Which records were long when they were last read, so that reading one again is a long step, too.

use std::{
    fmt,
    hash::{BuildHasher, RandomState},
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};

use wheelwright_store::Key;

use crate::LIGHT_BYTES;

/// How many lengths are kept. A record that has the place of another replaces it.
const PLACES: usize = 4096;
/// A place has a length in its last 24 bits, and part of the hash of a key in the others.
const LENGTH: u64 = (1 << 24) - 1;

/// Lengths of long records, by key.
pub(crate) struct LongRecords {
    hasher: RandomState,
    places: Box<[AtomicU64]>,
    has_any: AtomicBool,
}

impl Default for LongRecords {
    fn default() -> Self {
        let places = (0..PLACES).map(|_| AtomicU64::new(0)).collect();
        Self { hasher: RandomState::new(), places, has_any: AtomicBool::new(false) }
    }
}

impl LongRecords {
    /// The length of the record of a key when it was last read, if it was long; else 0.
    pub(crate) fn length(&self, key: &Key) -> usize {
        if !self.has_any.load(Ordering::Relaxed) {
            return 0;
        }
        let (place, tag) = self.place(key);
        let known = place.load(Ordering::Relaxed);
        if known & !LENGTH == tag { (known & LENGTH) as usize } else { 0 }
    }

    /// Keeps the length of a record that was read.
    pub(crate) fn keep(&self, key: &Key, bytes: usize) {
        if bytes >= LIGHT_BYTES {
            let (place, tag) = self.place(key);
            place.store(tag | (bytes as u64).min(LENGTH), Ordering::Relaxed);
            self.has_any.store(true, Ordering::Relaxed);
        } else if self.length(key) > 0 {
            self.place(key).0.store(0, Ordering::Relaxed);
        }
    }

    fn place(&self, key: &Key) -> (&AtomicU64, u64) {
        let hash = self.hasher.hash_one(key.as_str());
        (&self.places[(hash & LENGTH) as usize % PLACES], hash & !LENGTH)
    }
}

impl fmt::Debug for LongRecords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LongRecords").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_long_records_are_kept_until_they_are_short() {
        let (records, key) = (LongRecords::default(), |text: &str| Key::new(text).unwrap());
        records.keep(&key("k/a"), LIGHT_BYTES - 1);
        assert_eq!(records.length(&key("k/a")), 0);
        records.keep(&key("k/a"), 3 << 20);
        assert_eq!((records.length(&key("k/a")), records.length(&key("k/b"))), (3 << 20, 0));
        records.keep(&key("k/b"), usize::MAX);
        assert_eq!(records.length(&key("k/b")), (1 << 24) - 1);
        records.keep(&key("k/a"), 10);
        assert_eq!(records.length(&key("k/a")), 0);
    }
}
