//! What each caller has of the places that there are: nobody can have all of them.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    net::{IpAddr, Ipv6Addr},
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use wheelwright_repository::Name;

use crate::budget::CallerMemory;

/// What one caller has at this moment.
#[derive(Debug, Default)]
pub(crate) struct Shares {
    requests: AtomicUsize,
    bodies: AtomicUsize,
    watches: AtomicUsize,
    pub(crate) memory: CallerMemory,
    pub(crate) long_reads: LongReads,
    reads: Turns<FREE_READS>,
    turns: Turns<2>,
    /// When the last request began while the workers were late, in milliseconds since some moment.
    pub(crate) last_request: AtomicU64,
}

/// The reads of a caller, or the watches, that may be under way before others wait for a turn: many that wait for the store
/// at once would hold up those of other callers there.
const FREE_READS: usize = 16;

/// Turns that so many requests of a caller have at a time.
#[derive(Debug)]
struct Turns<const COUNT: usize>(Arc<Semaphore>);

impl<const COUNT: usize> Default for Turns<COUNT> {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(COUNT)))
    }
}

/// Turns of a caller in reading long records: of two requests for one record, the second waits for the first.
#[derive(Debug, Default)]
pub(crate) struct LongReads {
    hasher: RandomState,
    turns: [tokio::sync::Mutex<()>; 4],
}

impl LongReads {
    /// The turn for a document, and for others that happen to share it.
    pub(crate) async fn turn(&self, name: &Name) -> tokio::sync::MutexGuard<'_, ()> {
        let number = self.hasher.hash_one(name.as_str()) as usize % self.turns.len();
        self.turns[number].lock().await
    }
}

/// What there are places for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    Request,
    Body,
    Watch,
}

/// A place that a caller has until this is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    of: Arc<Shares>,
    place: Place,
}

impl Shares {
    /// One more place of those that there are for all; none if the caller has half of them.
    pub(crate) fn take(self: &Arc<Self>, place: Place, all: usize) -> Option<Share> {
        let before = self.count(place).fetch_add(1, Ordering::Relaxed);
        let share = Share { of: self.clone(), place };
        (before < all.div_ceil(2)).then_some(share)
    }

    /// Whether the caller has more than a sixteenth of all places: then the last quarter is for others.
    pub(crate) fn has_many(&self, place: Place, all: usize) -> bool {
        self.count(place).load(Ordering::Relaxed) > all / 16
    }

    /// Whether the caller has so many reads, or watches, that others wait for a [turn](Self::read_turn).
    pub(crate) fn has_many_reads(&self, place: Place) -> bool {
        self.count(place).load(Ordering::Relaxed) > FREE_READS
    }

    /// Waits for a turn to read or to begin a watch.
    pub(crate) async fn read_turn(&self) -> Option<OwnedSemaphorePermit> {
        self.reads.0.clone().acquire_owned().await.ok()
    }

    /// Waits for a turn in being worked on.
    pub(crate) async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        self.turns.0.acquire().await.ok()
    }

    fn count(&self, place: Place) -> &AtomicUsize {
        match place {
            Place::Request => &self.requests,
            Place::Body => &self.bodies,
            Place::Watch => &self.watches,
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.of.count(self.place).fetch_sub(1, Ordering::Relaxed);
    }
}

/// What those have who are known by their address alone, for as long as somebody is connected from there.
#[derive(Debug)]
pub(crate) struct ByAddress {
    known: Mutex<HashMap<IpAddr, Weak<Shares>>>,
    /// So many can be connected at once.
    connections: usize,
}

impl ByAddress {
    pub(crate) fn new(connections: usize) -> Self {
        Self { known: Mutex::default(), connections }
    }

    /// What those at an address have.
    pub(crate) fn of(&self, address: IpAddr) -> Arc<Shares> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() > 2 * self.connections {
            known.retain(|_, shares| shares.strong_count() > 0);
        }
        let entry = known.entry(network(address)).or_default();
        entry.upgrade().unwrap_or_else(|| {
            let shares = Arc::default();
            *entry = Arc::downgrade(&shares);
            shares
        })
    }
}

/// What somebody has who has an address: of IPv6, whole networks.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_has_more_than_half_and_what_is_given_back_can_be_had_again() {
        let shares = Arc::new(Shares::default());
        let held: Vec<Share> = (0..2).map(|_| shares.take(Place::Watch, 4).unwrap()).collect();
        assert!(shares.take(Place::Watch, 4).is_none());
        assert!(shares.take(Place::Watch, 5).is_some(), "what was refused is not counted");
        assert!(shares.take(Place::Request, 1).is_some(), "watches are no requests, and one place is for everybody");
        drop(held);
        assert!(shares.take(Place::Watch, 4).is_some());
    }

    #[test]
    fn a_caller_has_many_places_beyond_a_sixteenth() {
        let shares = Arc::new(Shares::default());
        let mut held: Vec<Share> = (0..4).map(|_| shares.take(Place::Watch, 64).unwrap()).collect();
        assert!(!shares.has_many(Place::Watch, 64));
        held.extend(shares.take(Place::Watch, 64));
        assert!(shares.has_many(Place::Watch, 64) && !shares.has_many(Place::Request, 64));
        held.pop();
        assert!(!shares.has_many(Place::Watch, 64));
    }

    #[test]
    fn addresses_are_told_apart_and_forgotten() {
        let all = ByAddress::new(2);
        let of = |text: &str| all.of(text.parse().unwrap());
        let first = of("192.0.2.1");
        assert!(Arc::ptr_eq(&first, &of("::ffff:192.0.2.1")) && !Arc::ptr_eq(&first, &of("192.0.2.2")));
        let sixth = of("2001:db8::1");
        assert!(Arc::ptr_eq(&sixth, &of("2001:db8::2")) && !Arc::ptr_eq(&sixth, &of("2001:db8:0:1::1")));
        for last in 0..100 {
            of(&format!("198.51.100.{last}"));
        }
        assert!(all.known.lock().unwrap().len() < 10);
        assert!(Arc::ptr_eq(&first, &of("192.0.2.1")));
    }
}
