//! The checksum of a row.
//!
//! It binds a value to its key, revision and action, so that a row that was changed, or has the value of another revision of its
//! key, is not taken for what was written. Rows of earlier releases, and of such as write to the same file now, have none.

use twox_hash::XxHash3_64;

use crate::log::Action;

/// The checksum of a row in a SQLite file: half of it without the value, half of it with the value.
#[cfg(feature = "sqlite")]
pub(crate) fn of(revision: u64, key: &str, action: Action, value: &[u8]) -> i64 {
    let place = place(revision, key, action);
    let value = XxHash3_64::oneshot_with_seed(place, value);
    (place & !HALF | value & HALF) as i64
}

/// Whether the row with a checksum is that of a revision of a key, whatever it did to it.
pub(crate) fn is_of(sum: i64, revision: u64, key: &str) -> bool {
    let actions = [Action::Created, Action::Replaced, Action::Deleted];
    actions.into_iter().any(|action| place(revision, key, action) & !HALF == sum as u64 & !HALF)
}

/// Whether a checksum is that of a revision of a key with an action, whatever the value is.
#[cfg(feature = "sqlite")]
pub(crate) fn is_at(sum: i64, revision: u64, key: &str, action: Action) -> bool {
    place(revision, key, action) & !HALF == sum as u64 & !HALF
}

/// The checksum of a row in PostgreSQL. The half of the value is that of the value alone, so that the database can copy it with
/// the value.
#[cfg(feature = "postgres")]
pub(crate) fn of_parts(revision: u64, key: &str, action: Action, value: Option<&[u8]>) -> i64 {
    let value = value.map_or(0, XxHash3_64::oneshot);
    (place(revision, key, action) & !HALF | value & HALF) as i64
}

/// Whether a row of PostgreSQL has no checksum, or one that matches. A value that was not read is not verified.
#[cfg(feature = "postgres")]
pub(crate) fn matches_parts(sum: Option<i64>, revision: u64, key: &str, action: Action, value: Option<&[u8]>) -> bool {
    let compared = if value.is_some() { u64::MAX } else { !HALF };
    sum.is_none_or(|sum| (sum ^ of_parts(revision, key, action, value)) as u64 & compared == 0)
}

/// Whether the row with a checksum, found at a revision of a key, was written at another one, up to the last.
#[cfg(feature = "sqlite")]
pub(crate) fn is_moved(sum: i64, revision: u64, key: &str, last: u64) -> bool {
    // A damaged revision may be any number.
    let first = last.saturating_sub(MOST_TRIED);
    !is_of(sum, revision, key) && (first..=last).any(|other| is_of(sum, other, key))
}

#[cfg(feature = "sqlite")]
const MOST_TRIED: u64 = 100_000;

/// The part of a row in the digest of a set of rows, which is the XOR of all their parts.
#[cfg(feature = "postgres")]
pub(crate) fn digest(revision: i64, key: &[u8]) -> i64 {
    XxHash3_64::oneshot_with_seed(revision as u64, key) as i64
}

fn place(revision: u64, key: &str, action: Action) -> u64 {
    XxHash3_64::oneshot_with_seed(revision ^ (action as u64) << 56, key.as_bytes())
}

const HALF: u64 = 0xffff_ffff;

/// Whether a row of a SQLite file has no checksum, or one that matches.
#[cfg(feature = "sqlite")]
pub(crate) fn matches(sum: Option<i64>, revision: u64, key: &str, action: Action, value: &[u8]) -> bool {
    sum.is_none_or(|sum| sum == of(revision, key, action, value))
}

/// What is read of a row whose checksum does not match: no reader takes it for a document.
pub(crate) const UNREADABLE: Vec<u8> = Vec::new();
