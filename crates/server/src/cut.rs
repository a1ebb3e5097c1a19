//! The log of connections and answers that are cut off: a line for each reason, at most every few seconds.

use std::sync::LazyLock;

use crate::throttle::Throttle;

/// Why a connection or an answer is cut off.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Reason {
    /// There is no memory for another connection, or for another request of one.
    Connection,
    /// There is no memory for the head of a request.
    Head,
    /// A client takes nothing of what it was sent.
    Stalled,
    /// A client takes too little of an answer, or takes too long.
    Slow,
    /// There is no memory for the next part of an answer.
    Answer,
}

static REPORTS: LazyLock<Throttle<Reason>> = LazyLock::new(Throttle::default);

/// Logs that something was cut off, unless that was logged a short time ago.
pub(crate) fn report(reason: Reason) {
    if let Some(more) = REPORTS.admit(reason) {
        reason.log(more);
    }
}

/// Logs how many more were cut off, once that is due.
pub(crate) fn report_more() {
    REPORTS.due().into_iter().for_each(|(reason, more)| reason.log(more));
}

impl Reason {
    fn log(self, more: u64) {
        let message = match self {
            Self::Connection => {
                "a connection or a request of HTTP/2 was refused: the memory for connections, or its address's half of it, \
                 is in use"
            }
            Self::Head => "a connection with an unfinished head was closed: the memory for connections is in use",
            Self::Stalled => "a connection was closed: its client does not read what it was sent",
            Self::Slow => "a connection was closed: its client reads an answer too slowly",
            Self::Answer => {
                "a list, a watch or a deletion was cut off: the memory for answers, or its caller's half of it, is in use"
            }
        };
        tracing::warn!(more, "{message}");
    }
}
