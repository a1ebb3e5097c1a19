//! What a sweep makes of one record.

use wheelwright_document::Arena;
use wheelwright_evolve::VersionName;

use crate::{ServedKind, error::WriteError, open::Opened, record::Place};

/// How a record stands to the hub of today.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Standing {
    /// It is as it would be stored today.
    AtHub,
    /// It is as it would be stored today, but for its checksum, which it does not have.
    Unchecked,
    /// It is stored in the shape of another version.
    At(VersionName),
    /// It is a document of this version, without a record.
    Adopted(VersionName),
}

impl ServedKind {
    /// A record as it would be stored today; none if it is so already. Its document, its origin and its metadata stay as
    /// they are.
    ///
    /// # Errors
    /// It cannot be opened, or this program must not write it.
    pub(super) fn swept(&self, bytes: &[u8], place: Place) -> Result<Option<Vec<u8>>, WriteError> {
        let arena = Arena::for_input(bytes.len());
        let opened = self.open(bytes, place, &arena).map_err(WriteError::Open)?;
        if self.standing_of(&opened) == Standing::AtHub {
            return Ok(None);
        }
        self.check_writer(&opened)?;
        let mut envelope = opened.envelope.clone();
        envelope.hub = self.version_name(self.kind.lenses().hub()).clone();
        envelope.oldest_writer = self.oldest_writer_after(envelope.oldest_writer.take());
        envelope.seal(self.at_hub(&opened, &arena), place).map(Some)
    }

    /// How a record stands to the hub of today.
    ///
    /// # Errors
    /// As for [`swept`](Self::swept).
    pub(super) fn standing(&self, bytes: &[u8], place: Place) -> Result<Standing, WriteError> {
        let arena = Arena::for_input(bytes.len());
        let opened = self.open(bytes, place, &arena).map_err(WriteError::Open)?;
        let standing = self.standing_of(&opened);
        if standing != Standing::AtHub {
            self.check_writer(&opened)?;
        }
        Ok(standing)
    }

    fn standing_of(&self, opened: &Opened<'_>) -> Standing {
        match opened.is_adopted {
            true => Standing::Adopted(opened.envelope.hub.clone()),
            false if opened.hub != self.kind.lenses().hub() => Standing::At(opened.envelope.hub.clone()),
            false if opened.is_checked => Standing::AtHub,
            false => Standing::Unchecked,
        }
    }
}
