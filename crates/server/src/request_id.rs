//! Ids of requests: they tell requests apart in logs and are no secrets, so that the system need not be asked for chance with
//! every request.

use std::{
    hash::{BuildHasher, RandomState},
    sync::{
        LazyLock,
        atomic::{AtomicU64, Ordering},
    },
};

use http::HeaderValue;
use uuid::{Builder, Uuid};

/// The longest id that is taken from a client.
const LONGEST: usize = 64;

/// Whether an id of a client is taken for one: it stands in logs.
pub(crate) fn is_fit(id: &HeaderValue) -> bool {
    (1..=LONGEST).contains(&id.len()) && id.to_str().is_ok()
}

/// An id that no other request has.
pub(crate) fn new() -> Option<HeaderValue> {
    static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let halves = [KEYS.hash_one((count, 0_u8)), KEYS.hash_one((count, 1_u8))];
    let id = Builder::from_random_bytes(Uuid::from_u64_pair(halves[0], halves[1]).into_bytes()).into_uuid();
    HeaderValue::from_str(id.hyphenated().encode_lower(&mut Uuid::encode_buffer())).ok()
}
