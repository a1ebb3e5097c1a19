//! Parts of lists, with their documents opened or not yet.

use wheelwright_document::Arena;
use wheelwright_evolve::Origin;
use wheelwright_store::{Continuation, Cursor, Stored};

use crate::{Collection, Document, Name, RepositoryError, View, external::Answers};

/// A part of a list.
#[derive(Debug)]
#[non_exhaustive]
pub struct Listed {
    /// The documents; those that cannot be opened, with the reason.
    pub items: Vec<Result<Document, RepositoryError>>,
    /// Where the list goes on; none at its end.
    pub next: Option<Continuation>,
    /// The moment that the list shows, to watch from.
    pub cursor: Cursor,
}

/// A part of a list of names.
#[derive(Debug)]
#[non_exhaustive]
pub struct ListedOrigins {
    /// The names, each with the versions that its document was written with; those that cannot be opened, with the reason.
    pub items: Vec<Result<(Name, Origin), RepositoryError>>,
    /// Where the list goes on; none at its end.
    pub next: Option<Continuation>,
}

/// A part of a list of which nothing is opened yet.
#[derive(Debug)]
#[non_exhaustive]
pub struct Unopened {
    pub(crate) collection: Collection,
    pub(crate) names: Vec<Name>,
    pub(crate) stored: Vec<Stored>,
    pub(crate) answers: Vec<Answers>,
    /// Where the list goes on; none at its end.
    pub next: Option<Continuation>,
    /// The moment that the list shows, to watch from.
    pub cursor: Cursor,
}

impl Unopened {
    /// The documents as a view shows them; those that cannot be opened, with the reason.
    pub fn open(self, view: View<'_>) -> Vec<Result<Document, RepositoryError>> {
        let Self { collection, names, stored, answers, .. } = self;
        let documents = names.iter().zip(stored).zip(&answers);
        documents.map(|((name, stored), answers)| collection.shown(name, stored, view, answers)).collect()
    }

    /// Appends the documents as a view shows them to JSON, with commas between them: as [`open`](Self::open), for whoever
    /// wants no more of them than their bytes.
    ///
    /// # Errors
    /// One of them cannot be opened.
    pub fn write(&self, view: View<'_>, json: &mut Vec<u8>) -> Result<(), RepositoryError> {
        let Collection { kind, repository } = &self.collection;
        json.reserve(self.bytes());
        let mut arena = Arena::new();
        for (position, ((name, stored), answers)) in self.names.iter().zip(&self.stored).zip(&self.answers).enumerate()
        {
            if position > 0 {
                json.push(b',');
            }
            arena.reset();
            let called = (name, &stored.revision);
            let shown = kind.show_into(json, &stored.value, called, view, answers, &arena);
            match shown.map_err(|error| self.collection.view_error(name, error)) {
                Ok(shown) => repository.sources.count(&shown.divergence),
                Err(error) => {
                    if let RepositoryError::Source(error) = &error {
                        repository.sources.count_failed(error);
                    }
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// The length of the records together.
    pub fn bytes(&self) -> usize {
        self.stored.iter().map(|stored| stored.value.len()).sum()
    }

    /// The last of the documents; none if there is none.
    pub fn last(&self) -> Option<&Name> {
        self.names.last()
    }
}
