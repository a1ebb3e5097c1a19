//! Denied requests in the log: the first of a caller at once, then how many more, so that no client can fill the log.

use http::StatusCode;

use crate::throttle::{INTERVAL, Throttle};

/// The callers that are not counted each for itself.
const OTHERS: &str = "others";

/// The denials that were logged a short time ago, by what was answered, and to whom.
#[derive(Debug, Default)]
pub(crate) struct Denials(Throttle<(StatusCode, Box<str>)>);

impl Denials {
    /// How many denials were not logged before this one, if this one is logged: it is the first of its caller, which is a
    /// name or an address, in a while.
    pub(crate) fn admit(&self, status: StatusCode, from: &str) -> Option<u64> {
        self.0.admit_among((status, from.into()), (status, OTHERS.into()))
    }

    /// Logs how many more there were, once that is due.
    pub(crate) fn report(&self) {
        for ((status, from), count) in self.0.due() {
            let (status, seconds) = (status.as_u16(), INTERVAL.as_secs());
            tracing::warn!(status, %from, count, seconds, "more requests were denied");
        }
    }
}
