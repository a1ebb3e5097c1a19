//! Changing what the service keeps of a document.

use wheelwright_document::Arena;
use wheelwright_evolve::Origin;

use crate::{
    Metadata, Name, ServedKind,
    error::WriteError,
    size::SizedRecord,
    write::{Notes, Sealed, Stamp},
};

/// Whether the size of a document is checked: it is not when it is deleted, since every document can be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SizeCheck {
    Yes,
    No,
}

impl ServedKind {
    /// The record with other metadata, and the same document.
    pub(crate) fn with_metadata(
        &self,
        name: &Name,
        size: SizeCheck,
        bytes: &[u8],
        change: impl FnOnce(&mut Metadata, &mut Origin),
        stamp: &Stamp,
    ) -> Result<Sealed, WriteError> {
        let arena = Arena::for_input(bytes.len());
        let place = self.place(name);
        let opened = self.open_to_write(bytes, place, &arena)?;
        let mut envelope = opened.envelope.clone();
        change(&mut envelope.metadata, &mut envelope.origin);
        let is_same = envelope == opened.envelope;
        let is_released = envelope.metadata.deleted_at.is_some() && envelope.metadata.finalizers.is_empty();
        envelope.metadata.uid.get_or_insert_with(|| stamp.uid.clone());
        envelope.hub = self.version_name(self.kind().lenses().hub()).clone();
        envelope.oldest_writer = self.oldest_writer_after(envelope.oldest_writer.take());
        let object = self.at_hub(&opened, &arena);
        let sealed = envelope.seal(object, place)?;
        if size == SizeCheck::Yes {
            let before = SizedRecord { metadata: &opened.envelope.metadata, object, bytes: bytes.len() };
            let after = SizedRecord { metadata: &envelope.metadata, object, bytes: sealed.len() };
            self.check_size(name, after, Some(before))?;
        }
        let advances_deletion = envelope.metadata.advances_deletion(&opened.envelope.metadata);
        Ok(Sealed { bytes: sealed, is_same, is_released, advances_deletion, notes: Notes::default() })
    }
}
