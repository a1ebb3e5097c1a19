//! Changing what the service keeps of a document.

use wheelwright_document::Arena;
use wheelwright_evolve::Origin;

use crate::{
    Metadata, ServedKind,
    error::WriteError,
    write::{Notes, Sealed, Stamp},
};

impl ServedKind {
    /// The record with other metadata, its document as it is.
    pub(crate) fn rekept(
        &self,
        bytes: &[u8],
        change: impl FnOnce(&mut Metadata, &mut Origin),
        stamp: &Stamp,
    ) -> Result<Sealed, WriteError> {
        let arena = Arena::for_input(bytes.len());
        let opened = self.open_to_write(bytes, &arena)?;
        let mut envelope = opened.envelope.clone();
        change(&mut envelope.metadata, &mut envelope.origin);
        let is_same = envelope == opened.envelope;
        let is_released = envelope.metadata.deleted_at.is_some() && envelope.metadata.finalizers.is_empty();
        envelope.metadata.uid.get_or_insert_with(|| stamp.uid.clone());
        envelope.hub = self.version_name(self.kind().lenses().hub()).clone();
        envelope.oldest_writer = self.oldest_writer_after(envelope.oldest_writer.take());
        let bytes = envelope.seal(self.at_hub(&opened, &arena))?;
        Ok(Sealed { bytes, is_same, is_released, notes: Notes::default() })
    }
}
