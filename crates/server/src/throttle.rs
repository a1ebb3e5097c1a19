//! Events that may happen often, logged at most once in a while.

use std::time::Duration;

use tokio::time::Instant;

/// The time between two events of the same sort in the log.
pub(crate) const INTERVAL: Duration = Duration::from_secs(10);

/// Holds back events that follow one another too soon, and counts them.
#[derive(Debug, Default)]
pub(crate) struct Throttle {
    last: Option<Instant>,
    held_back: u64,
}

impl Throttle {
    /// How many events were held back before this one, if this one is to be logged.
    pub(crate) fn admit(&mut self) -> Option<u64> {
        let now = Instant::now();
        if self.last.is_some_and(|last| now - last < INTERVAL) {
            self.held_back += 1;
            return None;
        }
        self.last = Some(now);
        Some(std::mem::take(&mut self.held_back))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_first_event_is_logged_at_once_and_the_rest_are_counted() {
        let mut throttle = Throttle::default();
        assert_eq!((throttle.admit(), throttle.admit(), throttle.admit()), (Some(0), None, None));
        tokio::time::advance(INTERVAL).await;
        assert_eq!((throttle.admit(), throttle.admit()), (Some(2), None));
    }
}
