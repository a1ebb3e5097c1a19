//! What happens to documents.

use wheelwright_store::{Change, Cursor, Event, Stored, Watch};

use crate::{Collection, Document, Name, RepositoryError, View};

/// What happens to the documents of a kind.
#[derive(Debug)]
pub struct DocumentWatch {
    collection: Collection,
    watch: Box<dyn Watch>,
    /// A change that is not told yet, and the position before it: other systems are asked for their fields.
    pending: Option<(Event, Cursor)>,
}

/// A change of a document.
#[derive(Debug)]
#[non_exhaustive]
pub struct DocumentEvent {
    /// What happened.
    pub change: DocumentChange,
    /// The document, as it is or last was; or why it cannot be opened, which does not end the watch.
    pub document: Result<Document, RepositoryError>,
    /// The position after it.
    pub cursor: Cursor,
}

/// What happened to a document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DocumentChange {
    /// It is new.
    Created,
    /// It was written.
    Changed,
    /// It is gone.
    Deleted,
}

impl DocumentWatch {
    pub(crate) fn new(collection: Collection, watch: Box<dyn Watch>) -> Self {
        Self { collection, watch, pending: None }
    }

    /// The next change, shown as a version. May be dropped before it is done without losing one. What was removed is told
    /// as it was last stored, without asking other systems for it.
    ///
    /// # Errors
    /// The store fails: a new watch from [`cursor`](Self::cursor) goes on. Or an external source does: the next call tries
    /// the same change again.
    pub async fn next(&mut self, view: View<'_>) -> Result<DocumentEvent, RepositoryError> {
        loop {
            let name = self.read_pending().await?;
            let Some((event, _)) = &self.pending else { continue };
            let answers = match event.change {
                Change::Deleted(_) => Vec::new(),
                Change::Created(_) | Change::Replaced(_) => self.collection.answers(&name).await?,
            };
            self.collection.repository().step(event.change.value().len()).await;
            let Some((event, before)) = self.pending.take() else { continue };
            let (change, value) = match &event.change {
                Change::Created(value) => (DocumentChange::Created, value),
                Change::Replaced(value) => (DocumentChange::Changed, value),
                Change::Deleted(value) => (DocumentChange::Deleted, value),
            };
            let stored = Stored { revision: event.revision.clone(), value: value.clone() };
            match self.collection.shown(&name, stored, view, &answers) {
                // The same change is told once the other system makes sense again.
                Err(error @ RepositoryError::Source(_)) => {
                    self.pending = Some((event, before));
                    return Err(error);
                }
                document => return Ok(DocumentEvent { change, document, cursor: event.cursor }),
            }
        }
    }

    /// Waits for the next change, and returns the length of its record, which is not read yet if it is long: how much memory
    /// [`next`](Self::next) takes is known before it is called. May be dropped before it is done without losing a change.
    ///
    /// # Errors
    /// The store fails, as for [`next`](Self::next).
    pub async fn peek(&mut self) -> Result<usize, RepositoryError> {
        if let Some((event, _)) = &self.pending {
            return Ok(event.change.value().len());
        }
        loop {
            let upcoming = self.watch.peek().await?;
            // A key without a valid name does not belong to this kind.
            if self.collection.kind().name(&upcoming.key).is_some() {
                return Ok(upcoming.bytes);
            }
            self.watch.next().await?;
        }
    }

    /// Reads the next change, unless it is pending, and returns the name of its document.
    async fn read_pending(&mut self) -> Result<Name, RepositoryError> {
        loop {
            if self.pending.is_none() {
                let bytes = self.peek().await?;
                self.collection.repository().step(bytes).await;
                let before = self.watch.cursor();
                self.pending = Some((self.watch.next().await?, before));
            }
            match self.pending.as_ref().and_then(|(event, _)| self.collection.kind().name(&event.key)) {
                Some(name) => break Ok(name),
                None => self.pending = None,
            }
        }
    }

    /// The position after what was told so far.
    pub fn cursor(&self) -> Cursor {
        match &self.pending {
            Some((_, before)) => before.clone(),
            None => self.watch.cursor(),
        }
    }
}
