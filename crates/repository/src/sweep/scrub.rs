//! Looking for damaged records, slowly, while everything else goes on.

use std::time::{Duration, Instant};

use tokio::time::sleep;
use wheelwright_document::Arena;
use wheelwright_store::Key;

use super::{problems::Problem, walk::Walk};
use crate::{
    Collection, RecordError, RepositoryError,
    record::{Place, Record},
};

/// A page that took very long, because the store was away, is not followed by an even longer rest.
const LONGEST_REST: Duration = Duration::from_secs(60);

/// Records that were read at once.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Scrubbed {
    /// How many.
    pub records: u64,
    /// Those that are damaged.
    pub damaged: Vec<Problem>,
}

impl Collection {
    /// Reads every record and verifies its checksum, page by page, and rests after each page for `rest` times as long as it
    /// took. Records that only a newer release can read are not damaged.
    ///
    /// # Errors
    /// The store fails and does not recover within half a minute.
    pub async fn scrub(&self, rest: u32, mut seen: impl FnMut(Scrubbed) + Send) -> Result<(), RepositoryError> {
        let walk = Walk::new(self.store(), self.kind.prefix());
        let mut after: Option<Key> = None;
        loop {
            let began = Instant::now();
            let page = walk.page(after.as_ref()).await?;
            self.repository.step(page.items.iter().map(|(_, stored)| stored.value.len()).sum()).await;
            let damaged = page.items.iter().filter_map(|(key, stored)| {
                let why = damage(&stored.value, Place::of(key))?.to_string().into();
                Some(Problem { name: self.called(key).into(), why })
            });
            seen(Scrubbed { records: page.items.len() as u64, damaged: damaged.collect() });
            match (page.items.into_iter().next_back(), page.next) {
                (Some((last, _)), Some(_)) => after = Some(last),
                _ => return Ok(()),
            }
            sleep(began.elapsed().saturating_mul(rest).min(LONGEST_REST)).await;
        }
    }
}

/// Returns the error of a damaged record.
fn damage(bytes: &[u8], place: Place) -> Option<RecordError> {
    let arena = Arena::for_input(bytes.len());
    match Record::read(bytes, place, &arena) {
        Ok(_) => None,
        Err(error) => Some(error).filter(RecordError::is_damage),
    }
}
