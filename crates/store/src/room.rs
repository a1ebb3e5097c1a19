//! Room for what waits to be written: whoever asks faster than a store writes waits before it takes any.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The most bytes of values that wait, unless a store has less memory.
pub(crate) const BYTES: usize = 64 << 20;

/// The most writes that wait, however small they are.
const WRITES: usize = 1024;

/// The room of one store.
#[derive(Debug)]
pub(crate) struct Room {
    most: usize,
    free: Arc<Semaphore>,
}

/// A place in it, which is free again when this is dropped. It belongs to what waits, not to who waits for it: something
/// that nobody waits for any more takes up memory until the writer passes over it.
pub(crate) type Place = OwnedSemaphorePermit;

impl Room {
    /// Room for so many bytes of values.
    pub(crate) fn new(bytes: usize) -> Self {
        let most = bytes.clamp(WRITES, u32::MAX as usize);
        Self { most, free: Arc::new(Semaphore::new(most)) }
    }

    /// A place for a value of so many bytes, after all who asked before have theirs. What is larger than the room gets all
    /// of it.
    pub(crate) async fn place(&self, bytes: usize) -> Place {
        let bytes = bytes.clamp(self.most / WRITES, self.most) as u32;
        self.free.clone().acquire_many_owned(bytes).await.expect("nobody closes it")
    }

    #[cfg(test)]
    pub(crate) fn free_bytes(&self) -> usize {
        self.free.available_permits()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::{task::unconstrained, time::timeout};

    use super::*;

    async fn fill(bytes: usize) -> (Room, Vec<Place>) {
        let (room, mut places) = (Room::new(BYTES), Vec::new());
        // The runtime would make it wait now and then although there is room.
        while let Ok(place) = timeout(Duration::ZERO, unconstrained(room.place(bytes))).await {
            places.push(place);
        }
        (room, places)
    }

    #[tokio::test]
    async fn what_waits_is_bounded_in_number_and_in_bytes() {
        for (bytes, count) in [(0, WRITES), (1, WRITES), (4 << 20, BYTES / (4 << 20)), (BYTES, 1), (usize::MAX, 1)] {
            assert_eq!(fill(bytes).await.1.len(), count, "{bytes}");
        }
    }

    #[tokio::test]
    async fn a_place_is_free_again_when_it_or_the_wait_for_it_is_dropped() {
        let (room, mut places) = fill(4 << 20).await;
        drop(places.pop());
        timeout(Duration::ZERO, room.place(BYTES)).await.unwrap_err();
        assert_eq!(room.free_bytes(), 4 << 20);
        places.push(timeout(Duration::ZERO, room.place(4 << 20)).await.unwrap());
        assert_eq!(room.free_bytes(), 0);
    }
}
