//! Events that may happen often, in the log: the first at once, and later how many more there were.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// The time between two events of the same sort in the log.
pub(crate) const INTERVAL: Duration = Duration::from_secs(10);

/// The most sorts of events that are counted each for itself.
pub(crate) const MOST_SORTS: usize = 1024;

/// Holds back events that follow another one of their sort too soon, and counts them.
#[derive(Debug)]
pub(crate) struct Throttle<S>(Mutex<HashMap<S, Logged>>);

/// A sort of event that was logged a short time ago.
#[derive(Debug)]
struct Logged {
    since: Instant,
    held_back: u64,
}

impl<S> Default for Throttle<S> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<S: Clone + Eq + Hash> Throttle<S> {
    /// How many events of this sort were held back before this one, if this one is to be logged.
    pub(crate) fn admit(&self, sort: S) -> Option<u64> {
        self.admit_among(sort.clone(), sort)
    }

    /// The same. If there are too many sorts already, the event is one of the others.
    pub(crate) fn admit_among(&self, sort: S, others: S) -> Option<u64> {
        let mut logged = self.logged();
        let sort = if logged.len() < MOST_SORTS || logged.contains_key(&sort) { sort } else { others };
        let now = Instant::now();
        let Some(last) = logged.get_mut(&sort) else {
            logged.insert(sort, Logged { since: now, held_back: 0 });
            return Some(0);
        };
        if now - last.since < INTERVAL {
            last.held_back += 1;
            return None;
        }
        last.since = now;
        Some(std::mem::take(&mut last.held_back))
    }

    /// The sorts whose interval is over, with how many events of each were held back in it; only those with some.
    pub(crate) fn due(&self) -> Vec<(S, u64)> {
        let mut due = Vec::new();
        self.logged().retain(|sort, last| {
            if last.since.elapsed() < INTERVAL {
                return true;
            }
            let held_back = std::mem::take(&mut last.held_back);
            if held_back > 0 {
                due.push((sort.clone(), held_back));
                last.since = Instant::now();
            }
            held_back > 0
        });
        due
    }

    fn logged(&self) -> MutexGuard<'_, HashMap<S, Logged>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_first_of_a_sort_is_logged_at_once_and_the_rest_are_counted() {
        let throttle = Throttle::default();
        assert_eq!(["a", "a", "b"].map(|sort| throttle.admit(sort)), [Some(0), None, Some(0)]);
        assert!(throttle.due().is_empty());
        tokio::time::advance(INTERVAL).await;
        assert_eq!(throttle.due(), [("a", 1)]);
        assert_eq!(["a", "b"].map(|sort| throttle.admit(sort)), [None, Some(0)]);
        tokio::time::advance(INTERVAL).await;
        assert_eq!(throttle.due(), [("a", 1)]);
        tokio::time::advance(INTERVAL).await;
        assert!(throttle.due().is_empty() && throttle.logged().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_not_reported_in_time_is_counted_with_the_next_event() {
        let throttle = Throttle::default();
        assert_eq!([(); 3].map(|()| throttle.admit(())), [Some(0), None, None]);
        tokio::time::advance(INTERVAL).await;
        assert_eq!([(); 2].map(|()| throttle.admit(())), [Some(2), None]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_crowd_is_counted_together() {
        let throttle = Throttle::default();
        let firsts = (1..=3 * MOST_SORTS).filter(|sort| throttle.admit_among(*sort, 0).is_some());
        assert_eq!(firsts.count(), MOST_SORTS + 1);
        tokio::time::advance(INTERVAL).await;
        assert_eq!(throttle.due(), [(0, 2 * MOST_SORTS as u64 - 1)]);
    }
}
