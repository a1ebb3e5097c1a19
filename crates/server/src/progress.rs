//! How far a client is with an answer that is one of several on its connection: whether it takes any of it.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// How far a client is with an answer.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// How often it came for more.
    steps: AtomicUsize,
    /// Something is there for it.
    is_offered: AtomicBool,
}

impl Progress {
    /// Something is there for the client to take.
    pub(crate) fn offer(&self) {
        self.is_offered.store(true, Ordering::Relaxed);
    }

    /// The client has taken what was there.
    pub(crate) fn take(&self) {
        self.steps.fetch_add(1, Ordering::Relaxed);
        self.is_offered.store(false, Ordering::Relaxed);
    }

    /// Which step is the client's to take; none if nothing is there for it.
    pub(crate) fn offered_step(&self) -> Option<usize> {
        self.is_offered.load(Ordering::Relaxed).then(|| self.steps.load(Ordering::Relaxed))
    }
}
