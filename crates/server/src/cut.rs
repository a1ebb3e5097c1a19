//! The log of connections and answers that are cut off: a line for each reason, at most every few seconds.

use std::sync::{LazyLock, Mutex, PoisonError};

use crate::throttle::Throttle;

/// Why a connection or an answer is cut off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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

/// Logs that something was cut off, with how often that was not logged since the last time.
pub(crate) fn report(reason: Reason) {
    static REPORTS: LazyLock<Mutex<[Throttle; 5]>> = LazyLock::new(Mutex::default);
    let mut reports = REPORTS.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(more) = reports[reason as usize].admit() else { return };
    let message = match reason {
        Reason::Connection => {
            "a connection or a request of HTTP/2 was refused: the memory for connections, or its address's half of it, is \
             in use"
        }
        Reason::Head => "a connection with an unfinished head was closed: the memory for connections is in use",
        Reason::Stalled => "a connection was closed: its client does not read what it was sent",
        Reason::Slow => "a connection was closed: its client reads an answer too slowly",
        Reason::Answer => {
            "a list, a watch or a deletion was cut off: the memory for answers, or its caller's half of it, is in use"
        }
    };
    tracing::warn!(more, "{message}");
}
