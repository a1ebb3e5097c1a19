//! Denied requests in the log: the first of a caller at once, then how many more, so that no client can fill the log.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use http::StatusCode;
use tokio::time::Instant;

/// How long the denials of one caller are counted before they are logged.
const INTERVAL: Duration = Duration::from_secs(10);
/// The most callers that are counted each for itself.
const MOST_CALLERS: usize = 1024;
/// The rest of them.
const OTHERS: &str = "others";

/// The denials that were logged a short time ago.
#[derive(Debug, Default)]
pub(crate) struct Denials(Mutex<HashMap<(StatusCode, Box<str>), Denied>>);

#[derive(Debug)]
struct Denied {
    since: Instant,
    /// How many there were after the one that was logged.
    more: u64,
}

impl Denials {
    /// Whether a denial is logged by itself: it is the first of its caller, which is a name or an address, in a while.
    pub(crate) fn is_first(&self, status: StatusCode, from: &str) -> bool {
        let mut known = self.known();
        let key = (status, Box::from(from));
        let key = match known.len() < MOST_CALLERS || known.contains_key(&key) {
            true => key,
            false => (status, OTHERS.into()),
        };
        match known.get_mut(&key) {
            Some(denied) => denied.more += 1,
            None => return known.insert(key, Denied { since: Instant::now(), more: 0 }).is_none(),
        }
        false
    }

    /// Logs, again and again, how many more there were.
    pub(crate) async fn report(&self, every: Duration) {
        loop {
            tokio::time::sleep(every).await;
            for (status, from, count) in self.due() {
                let (status, seconds) = (status.as_u16(), INTERVAL.as_secs());
                tracing::warn!(status, %from, count, seconds, "more requests were denied");
            }
        }
    }

    /// The callers of which more were denied, once their interval is over.
    fn due(&self) -> Vec<(StatusCode, Box<str>, u64)> {
        let mut due = Vec::new();
        self.known().retain(|(status, from), denied| {
            if denied.since.elapsed() < INTERVAL {
                return true;
            }
            let more = std::mem::take(&mut denied.more);
            if more > 0 {
                due.push((*status, from.clone(), more));
                denied.since = Instant::now();
            }
            more > 0
        });
        due
    }

    fn known(&self) -> MutexGuard<'_, HashMap<(StatusCode, Box<str>), Denied>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_first_of_a_caller_is_logged_at_once_and_the_rest_are_counted() {
        let (denials, status) = (Denials::default(), StatusCode::FORBIDDEN);
        let is_first = |from: &str| denials.is_first(status, from);
        assert_eq!((is_first("ann"), is_first("ann"), is_first("bob")), (true, false, true));
        assert!(denials.is_first(StatusCode::UNAUTHORIZED, "ann") && denials.due().is_empty());
        tokio::time::advance(INTERVAL).await;
        assert_eq!(denials.due(), [(status, "ann".into(), 1)]);
        assert_eq!((is_first("ann"), is_first("bob")), (false, true));
        tokio::time::advance(INTERVAL).await;
        assert_eq!(denials.due(), [(status, "ann".into(), 1)]);
        tokio::time::advance(INTERVAL).await;
        assert!(denials.due().is_empty() && denials.known().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_crowd_is_counted_together() {
        let denials = Denials::default();
        let firsts = (0..3 * MOST_CALLERS).filter(|from| denials.is_first(StatusCode::FORBIDDEN, &from.to_string()));
        assert_eq!(firsts.count(), MOST_CALLERS + 1);
        tokio::time::advance(INTERVAL).await;
        let more = (StatusCode::FORBIDDEN, OTHERS.into(), 2 * MOST_CALLERS as u64 - 1);
        assert_eq!(denials.due(), [more]);
    }
}
