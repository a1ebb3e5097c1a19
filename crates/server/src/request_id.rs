//! Ids of requests: they tell requests apart in logs and are no secrets, so that the system need not be asked for chance with
//! every request.

use std::{
    hash::{BuildHasher, RandomState},
    sync::{
        LazyLock,
        atomic::{AtomicU64, Ordering},
    },
};

use http::{HeaderName, HeaderValue};
use uuid::{Builder, Uuid};

/// The longest id that is taken from a client.
const LONGEST: usize = 64;

/// The ids of a request, and what else the headers of its answer have whatever it is: a few, each once.
#[derive(Debug, Default)]
pub(crate) struct Ids(pub(crate) Vec<(HeaderName, HeaderValue)>);

impl Ids {
    pub(crate) fn get(&self, name: &HeaderName) -> Option<&HeaderValue> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, id)| id)
    }
}

/// Whether an id of a client is taken for one: it stands in logs.
pub(crate) fn is_fit(id: &HeaderValue) -> bool {
    (1..=LONGEST).contains(&id.len()) && id.to_str().is_ok()
}

/// An id that no other request has.
pub(crate) fn new() -> Option<HeaderValue> {
    static KEYS: LazyLock<[u64; 2]> = LazyLock::new(|| {
        let chance = RandomState::new();
        [0, 1].map(|half| chance.hash_one(half))
    });
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let [first, second] = KEYS.map(|key| scattered(key.wrapping_add(count)));
    let id = Builder::from_random_bytes(Uuid::from_u64_pair(first, second).into_bytes()).into_uuid();
    HeaderValue::from_str(id.hyphenated().encode_lower(&mut Uuid::encode_buffer())).ok()
}

/// Makes a number that looks like chance of one that follows another, and never the same of two (SplitMix64).
fn scattered(number: u64) -> u64 {
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}
