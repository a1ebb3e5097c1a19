//! The damaged records that are known: those that the scrub found, and those that requests met since.

use std::{
    collections::BTreeSet,
    sync::{Mutex, MutexGuard, PoisonError},
};

use prometheus_client::{metrics::gauge::Gauge, registry::Registry};
use wheelwright_repository::{DamageObserver, Name, RecordError};

/// The most damaged records that are counted.
const MOST_COUNTED: usize = 10_000;

/// The most damaged records that are named at once.
const MOST_NAMED: usize = 10;

/// Damaged records, by kind and name.
#[derive(Debug, Default)]
pub(crate) struct DamagedRecords {
    known: Mutex<Known>,
    count: Gauge,
}

#[derive(Debug, Default)]
struct Known {
    all: BTreeSet<String>,
    /// Those that were added since the last scrub began.
    recent: BTreeSet<String>,
}

impl DamagedRecords {
    pub(crate) fn register(&self, registry: &mut Registry) {
        let help = "Damaged records that the last scrub found or that requests met since";
        registry.register("damaged_records", help, self.count.clone());
    }

    /// Adds a damaged record, and logs it if it was not known.
    pub(crate) fn add(&self, record: &str, why: &str) {
        let mut known = self.known();
        if known.recent.len() >= MOST_COUNTED || !known.recent.insert(record.to_owned()) {
            return;
        }
        if known.all.len() < MOST_COUNTED && known.all.insert(record.to_owned()) {
            self.count.set(known.all.len() as i64);
            tracing::error!(record, why, "a record is damaged");
        }
    }

    /// A scrub begins: records that are not found again are dropped when it ends.
    pub(crate) fn begin_scrub(&self) {
        self.known().recent.clear();
    }

    /// A scrub has read all records: others that were known were removed or written again.
    pub(crate) fn end_scrub(&self) {
        let mut known = self.known();
        known.all = known.recent.clone();
        self.count.set(known.all.len() as i64);
    }

    /// How many damaged records there are, and which, if they may be named; none without any.
    pub(crate) fn summary(&self, may_be_named: impl FnOnce() -> bool) -> Option<String> {
        let known = self.known();
        if known.all.is_empty() {
            return None;
        }
        let mut text = known.all.len().to_string();
        if may_be_named() {
            let mut names: Vec<&str> = known.all.iter().take(MOST_NAMED).map(String::as_str).collect();
            if known.all.len() > MOST_NAMED {
                names.push("...");
            }
            text.push_str(&format!(" ({})", names.join(", ")));
        }
        Some(text)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DamageObserver for DamagedRecords {
    fn observe(&self, kind: &str, name: &Name, why: &RecordError) {
        self.add(&format!("{kind} {name}"), &why.to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(records: &DamagedRecords) -> Option<String> {
        records.summary(|| true)
    }

    #[test]
    fn a_scrub_drops_records_that_neither_it_nor_a_request_finds_again() {
        let records = DamagedRecords::default();
        records.add("Order shop/books", "");
        records.add("Order shop/pens", "");
        records.begin_scrub();
        records.add("Order shop/pens", "");
        records.add("Order shop/maps", "");
        assert_eq!(shown(&records).as_deref(), Some("3 (Order shop/books, Order shop/maps, Order shop/pens)"));
        records.end_scrub();
        assert_eq!(shown(&records).as_deref(), Some("2 (Order shop/maps, Order shop/pens)"));
        assert_eq!(records.count.get(), 2);
        records.begin_scrub();
        records.end_scrub();
        assert_eq!((shown(&records), records.count.get()), (None, 0));
    }

    #[test]
    fn records_are_counted_and_named_up_to_a_limit() {
        let records = DamagedRecords::default();
        (0..MOST_COUNTED + 5).for_each(|number| records.add(&format!("Order {number:05}"), ""));
        let text = shown(&records).unwrap_or_default();
        assert!(text.starts_with("10000 (Order 00000, ") && text.ends_with("Order 00009, ...)"), "{text}");
        assert_eq!(records.summary(|| false).as_deref(), Some("10000"));
    }
}
