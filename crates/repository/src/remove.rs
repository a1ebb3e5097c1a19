//! Removing documents: at once, or marked until everybody has agreed who must.

use wheelwright_evolve::Origin;
use wheelwright_store::{Revision, Stored};

use crate::{
    Collection, Document, Metadata, Name, RepositoryError, View, dress::Dress, external::Answers, keep::SizeCheck,
};

/// What became of a document that was to be removed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Removed {
    /// It is gone.
    Gone,
    /// Somebody has to agree first: it is marked, with this revision.
    Marked(Revision),
}

impl Removed {
    /// The revision of a document that was only marked.
    pub fn revision(&self) -> Option<&Revision> {
        match self {
            Self::Gone => None,
            Self::Marked(revision) => Some(revision),
        }
    }
}

/// How a document is removed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Removal<'r> {
    /// Who has to agree beside those who had to before.
    pub add: &'r [&'r str],
    /// Who need not agree any more.
    pub drop: &'r [&'r str],
    /// Everything is done but for the removal.
    pub is_dry_run: bool,
}

impl Collection {
    /// Removes a document with a revision. One with finalizers is marked, and is gone once they are.
    ///
    /// # Errors
    /// As for [`update`](Self::update).
    pub async fn delete(&self, name: &Name, expected: &Revision) -> Result<Removed, RepositoryError> {
        Ok(self.removed(name, expected, &Removal::default()).await?.0)
    }

    /// Removes a document with a revision, and shows it as it was or is.
    ///
    /// # Errors
    /// As for [`update`](Self::update).
    pub async fn remove(
        &self,
        name: &Name,
        expected: &Revision,
        removal: &Removal<'_>,
        view: View<'_>,
    ) -> Result<(Removed, Document), RepositoryError> {
        self.check_view(view)?;
        let (removed, stored) = self.removed(name, expected, removal).await?;
        let answers = match removed {
            Removed::Gone => Answers::new(),
            Removed::Marked(_) => self.answers(name).await?,
        };
        self.repository.step(stored.value.len()).await;
        Ok((removed, self.shown(name, stored, view, &answers)?))
    }

    async fn removed(
        &self,
        name: &Name,
        expected: &Revision,
        removal: &Removal<'_>,
    ) -> Result<(Removed, Stored), RepositoryError> {
        let key = self.kind.key(name)?;
        let stored = self.expected(&key, expected).await?;
        let stamp = self.repository.stamp();
        let mark = |metadata: &mut Metadata, _: &mut Origin| {
            metadata.finalizers.retain(|finalizer| !removal.drop.contains(&&**finalizer));
            for added in removal.add {
                if !metadata.finalizers.iter().any(|finalizer| **finalizer == **added) {
                    metadata.finalizers.push((*added).into());
                }
            }
            if metadata.deleted_at.is_none() {
                metadata.deleted_at = Some(stamp.now);
                // Kubernetes counts the wish to be gone as a part of what is wanted.
                if self.kind.dress == Dress::Kubernetes {
                    metadata.generation = metadata.generation.saturating_add(1);
                }
            }
        };
        self.repository.step(stored.value.len()).await;
        let sealed = self.kind.with_metadata(name, SizeCheck::No, &stored.value, mark, &stamp);
        let sealed = sealed.map_err(|error| self.write_error(name, error))?;
        if sealed.is_released {
            if !removal.is_dry_run {
                self.store().delete(&key, expected).await?;
            }
            return Ok((Removed::Gone, stored));
        }
        let revision = match removal.is_dry_run {
            true => expected.clone(),
            false => self.store_sealed(&key, expected, &sealed).await?,
        };
        Ok((Removed::Marked(revision.clone()), Stored { revision, value: sealed.bytes }))
    }
}
