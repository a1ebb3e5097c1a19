//! What a sweep makes of one record.

use wheelwright_document::Arena;

use crate::{ServedKind, error::WriteError};

impl ServedKind {
    /// A record as it would be stored today; none if it is so already. Its document, its origin and when it was modified
    /// stay as they are. One that has no uid yet gets this one.
    ///
    /// # Errors
    /// It cannot be opened, or this program must not write it.
    #[expect(dead_code, reason = "for sweeps")]
    pub(crate) fn swept(&self, bytes: &[u8], uid: &str) -> Result<Option<Vec<u8>>, WriteError> {
        let arena = Arena::for_input(bytes.len());
        let opened = self.open_to_write(bytes, &arena)?;
        let today = self.kind.lenses().hub();
        if opened.hub == today && !opened.is_adopted {
            return Ok(None);
        }
        let mut envelope = opened.envelope.clone();
        envelope.hub = self.version_name(today).clone();
        envelope.oldest_writer = self.oldest_writer.clone().or(envelope.oldest_writer.take());
        envelope.metadata.uid.get_or_insert_with(|| uid.into());
        Ok(Some(envelope.seal(self.at_hub(&opened, &arena))))
    }
}
