//! What the fuzzer reaches: the reader of damaged files.

use std::{io, path::Path};

use super::{damage::Damage, rows::Row};
use crate::{Key, PageRequest, Prefix};

/// Reads a file as a damaged one, without SQLite: lists it, and reads each key. Returns how many keys have a newest row.
///
/// # Errors
/// The file cannot be read.
pub fn read_damaged(path: &Path) -> io::Result<usize> {
    let damage = Damage::of(path, String::new(), true)?;
    let mut request = PageRequest::default();
    while let Some(page) = damage.page(&Prefix::all(), &request) {
        for (key, stored) in page.items {
            assert_eq!(damage.get(&key), Some(Some(stored)), "{key}");
        }
        let Some(next) = page.next else { break };
        request.after = Some(next);
    }
    for (key, newest) in damage.newest() {
        let value = newest.row.as_ref().filter(|_| newest.is_certain);
        let is_removal = value.is_some_and(Row::is_removal);
        assert_eq!(damage.get(key).map(|stored| stored.is_none()), Some(is_removal), "{key}");
        damage.get_unverified(key);
    }
    if let Ok(key) = Key::new("no/such/key") {
        damage.get(&key);
    }
    Ok(damage.newest().len())
}
