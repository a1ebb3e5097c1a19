//! Whether records are as a sweep leaves them.

use wheelwright_document::Arena;
use wheelwright_evolve::VersionName;

use super::problems::Problems;
use crate::{Collection, RepositoryError, ServedKind, record::Place};

/// What was found out about the records of a kind.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Verified {
    /// The hub that they should be at.
    pub hub: VersionName,
    /// How many there are.
    pub total: u64,
    /// Those with something the matter.
    pub problems: Problems,
}

impl Collection {
    /// Holds every record against what a sweep promises: it can be opened, is stored in the shape of the hub, would be
    /// stored with the same bytes again, and going to any other hub and back is the same document, which shows every version
    /// what it showed. Nothing is written.
    ///
    /// # Errors
    /// The store fails.
    pub async fn verify(&self) -> Result<Verified, RepositoryError> {
        let (mut total, mut problems) = (0, Problems::default());
        self.walk(|key, stored| {
            total += 1;
            if let Err(why) = self.kind.verify(&stored.value, Place::of(key)) {
                problems.add(self.called(key), why);
            }
        })
        .await?;
        let hub = self.kind.version_name(self.kind.kind().lenses().hub()).clone();
        Ok(Verified { hub, total, problems })
    }
}

impl ServedKind {
    /// Whether a record is as a sweep leaves it; else, what is the matter.
    fn verify(&self, bytes: &[u8], place: Place) -> Result<(), String> {
        let arena = Arena::for_input(bytes.len());
        let opened = self.open(bytes, place, &arena).map_err(|error| error.to_string())?;
        let lenses = self.kind.lenses();
        if opened.is_adopted {
            return Err("it is a document without a record; sweep the store".to_owned());
        }
        if opened.hub != lenses.hub() {
            let (is, hub) = (&opened.envelope.hub, self.version_name(lenses.hub()));
            return Err(format!("it is stored in the shape of {is}, not of {hub}; sweep the store"));
        }
        if !opened.is_checked {
            return Err("it has no checksum; sweep the store".to_owned());
        }
        if opened.envelope.seal(opened.object, place).ok().as_deref() != Some(bytes) {
            return Err("it would be stored with other bytes; somebody else than this program wrote it".to_owned());
        }
        let history = self.kind.history();
        for version in history.indexes().filter(|version| *version != lenses.hub()) {
            let other = self.lenses(version);
            let moved = lenses.rehub(opened.object, other, &arena);
            let name = self.version_name(version);
            if other.rehub(moved, lenses, &arena) != opened.object {
                return Err(format!("it is another document after going to {name} and back"));
            }
            if other.get(version, moved, &arena) != lenses.get(version, opened.object, &arena) {
                return Err(format!("{name} would be shown another document with {name} as the hub"));
            }
        }
        Ok(())
    }
}
