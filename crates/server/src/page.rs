//! Pages of lists, read from the store once there is memory for them.

use std::time::Duration;

use wheelwright_repository::{Collection, Name, PageRequest, RepositoryError, Unopened};

use crate::budget::{Allowance, Charge, Exceeded, Purpose};

/// Memory that reading a page and writing it takes, for each byte that is stored.
const FACTOR: usize = 4;

/// Memory for a page of which nothing is known yet: stores end a page soon after 1 MiB.
const ROOM: usize = FACTOR << 20;

/// Why a page of a list is not read.
pub(crate) enum ReadError {
    Repository(RepositoryError),
    OutOfMemory(Exceeded),
}

/// A page of a list, with a charge for reading and writing it. A page for which there is too little memory is read again
/// once there is enough.
pub(crate) async fn read_page(
    collection: &Collection,
    scope: Option<&Name>,
    page: PageRequest,
    (allowance, patience): (&Allowance, Duration),
) -> Result<(Unopened, Charge), ReadError> {
    let mut room = ROOM;
    loop {
        let charge = allowance.hold_within(patience, Purpose::Lists, room).await;
        let mut charge = charge.map_err(ReadError::OutOfMemory)?;
        let unopened = collection.list_unopened(scope, page.clone()).await.map_err(ReadError::Repository)?;
        let needed = unopened.bytes() * FACTOR;
        // What is more than a caller can have is not waited for twice.
        if needed <= room || charge.try_grow(needed).is_ok() || room > ROOM {
            charge.resize(needed);
            return Ok((unopened, charge));
        }
        room = needed;
    }
}
