//! The observer of damaged records that requests meet.

use std::fmt;

use crate::{Collection, Name, OpenError, RecordError, RepositoryError, WriteError, open::ViewError};

/// Learns of damaged records as requests meet them, so that they are reported without waiting for a scrub.
pub trait DamageObserver: fmt::Debug + Send + Sync {
    /// A record of a kind is damaged. Called each time that a request meets it, on the thread of the request.
    fn observe(&self, kind: &str, name: &Name, why: &RecordError);
}

impl Collection {
    /// The error for a document that cannot be displayed.
    pub(crate) fn view_error(&self, name: &Name, error: ViewError) -> RepositoryError {
        self.observed(RepositoryError::view(name)(error))
    }

    /// The error for a write that is refused.
    pub(crate) fn write_error(&self, name: &Name, error: WriteError) -> RepositoryError {
        self.observed(RepositoryError::write(name)(error))
    }

    fn observed(&self, error: RepositoryError) -> RepositoryError {
        if let RepositoryError::Record(name, OpenError::Record(why)) = &error
            && why.is_damage()
            && let Some(observer) = self.repository.damage_observer()
        {
            observer.observe(self.kind.kind.name(), name, why);
        }
        error
    }
}
