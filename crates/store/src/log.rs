//! What all stores do alike that keep one log of everything: numbers as revisions, tokens, and which writes are done.
//!
//! A log has a row for every change, numbered in the order in which they happened. The newest row of a key says what the key
//! has; older ones serve lists of earlier moments and watches, until they are compacted.

use crate::{Change, Continuation, Cursor, ErrorKind, Key, Prefix, Revision, StoreError};

/// The most values of a page if nobody says, and in any case.
pub(crate) const PAGE_LIMIT: usize = 500;

/// The head of a store that is new. It is not 0, because clients of Kubernetes take a resourceVersion of 0 for any moment, and
/// could not watch from a list of an empty store.
pub(crate) const FIRST_HEAD: u64 = 1;

/// A write that somebody asked for.
#[derive(Clone, Debug)]
pub(crate) enum Write {
    Create(Vec<u8>),
    Replace { expected: Revision, value: Vec<u8> },
    Delete { expected: Revision },
}

/// What a row says happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Action {
    Created = 0,
    Replaced = 1,
    Deleted = 2,
}

/// The newest row of a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Newest {
    pub(crate) revision: u64,
    pub(crate) action: Action,
}

impl Write {
    /// What the write does to a key, or why it does nothing.
    pub(crate) fn decide(&self, key: &Key, newest: Option<Newest>) -> Result<Action, StoreError> {
        let current = newest.filter(|newest| newest.action != Action::Deleted).map(|newest| newest.revision);
        let (expected, action) = match self {
            Self::Create(_) if current.is_some() => return Err(StoreError::exists(key)),
            Self::Create(_) => return Ok(Action::Created),
            Self::Replace { expected, .. } => (expected, Action::Replaced),
            Self::Delete { expected } => (expected, Action::Deleted),
        };
        match current {
            None => Err(StoreError::missing(key)),
            Some(current) if number(expected.as_str()) == Some(current) => Ok(action),
            Some(current) => Err(StoreError::conflict(key, expected, revision(current))),
        }
    }
}

impl Action {
    /// The action that is stored as a number.
    #[cfg_attr(
        not(any(feature = "sqlite", feature = "postgres")),
        expect(dead_code, reason = "for drivers that have a database")
    )]
    pub(crate) fn from_number(number: i64) -> Option<Self> {
        [Self::Created, Self::Replaced, Self::Deleted].into_iter().find(|action| *action as i64 == number)
    }

    /// The change that a row with a value tells of.
    pub(crate) fn change(self, value: Vec<u8>) -> Change {
        match self {
            Self::Created => Change::Created(value),
            Self::Replaced => Change::Replaced(value),
            Self::Deleted => Change::Deleted(value),
        }
    }
}

/// A revision that is a number.
pub(crate) fn revision(number: u64) -> Revision {
    Revision::new(number.to_string())
}

/// The position after a row.
pub(crate) fn cursor(number: u64) -> Cursor {
    Cursor::new(number.to_string())
}

/// How many rows are looked through to find out whether something has happened to some keys.
pub(crate) const MOST_LOOKED_THROUGH: u64 = 10_000;

/// The row of a moment, if all that happened since is in the log and is little enough to look through.
pub(crate) fn recent(moment: &Cursor, head: u64, compacted: u64) -> Option<u64> {
    let number = row_of(moment)?;
    (compacted..=head).contains(&number).then_some(number).filter(|number| head - number <= MOST_LOOKED_THROUGH)
}

/// The row that a cursor is after.
pub(crate) fn row_of(cursor: &Cursor) -> Option<u64> {
    number(cursor.as_str())
}

/// The row that a watch begins after.
pub(crate) fn cursor_number(cursor: &Cursor, head: u64, compacted: u64) -> Result<u64, StoreError> {
    match number(cursor.as_str()) {
        Some(number) if number > head => {
            let message = format!("cursor {number} is ahead of the store, which is at {head}; list again");
            Err(StoreError::new(ErrorKind::BadToken, message))
        }
        Some(number) if number < compacted => Err(too_old(number, compacted)),
        Some(number) => Ok(number),
        None => Err(StoreError::new(ErrorKind::BadToken, "a cursor that this store never gave; list again")),
    }
}

/// That what is wanted is not in the log any more.
pub(crate) fn too_old(wanted: u64, compacted: u64) -> StoreError {
    let message = format!("the history after {wanted} is forgotten, up to {compacted}; list again");
    StoreError::new(ErrorKind::TooOld, message)
}

/// Where a list of a moment goes on.
pub(crate) fn continuation(moment: u64, last: &Key) -> Continuation {
    Continuation::new(format!("{moment}/{last}"))
}

/// Where a list of the moment of a cursor goes on after a key.
pub(crate) fn continuation_at(moment: &Cursor, after: &Key) -> Continuation {
    Continuation::new(format!("{moment}/{after}"))
}

/// Where a list of an earlier moment goes on after a key, or begins.
pub(crate) fn continuation_of(moment: &Cursor, prefix: &Prefix, after: Option<&Key>) -> Continuation {
    Continuation::new(format!("{moment}/{}", after.map_or(prefix.as_str(), Key::as_str)))
}

/// The number of a revision, to look for what was before it.
pub(crate) fn revision_number(revision: &Revision, compacted: u64) -> Result<u64, StoreError> {
    match number(revision.as_str()) {
        Some(number) if number <= compacted => Err(too_old(number, compacted)),
        Some(number) => Ok(number),
        None => Err(StoreError::new(ErrorKind::BadToken, "a revision that this store never gave")),
    }
}

/// The moment that a list shows, and the key that it goes on after.
pub(crate) fn continuation_parts<'c>(
    continuation: &'c Continuation,
    prefix: &Prefix,
    head: u64,
    compacted: u64,
) -> Result<(u64, &'c str), StoreError> {
    let parts = continuation.as_str().split_once('/').and_then(|(moment, last)| Some((number(moment)?, last)));
    match parts {
        Some((moment, last)) if moment <= head && last.starts_with(prefix.as_str()) => {
            if moment < compacted {
                Err(too_old(moment, compacted))
            } else {
                Ok((moment, last))
            }
        }
        _ => {
            let message = "a continuation that this store did not give for this list; begin it anew";
            Err(StoreError::new(ErrorKind::BadToken, message))
        }
    }
}

/// Only what we would write ourselves: `+1` and `01` are no numbers.
fn number(text: &str) -> Option<u64> {
    let is_plain = text == "0" || !text.starts_with(['0', '+']);
    // Databases have signed numbers.
    text.parse().ok().filter(|number| is_plain && *number <= i64::MAX as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_is_done_only_if_the_key_has_what_the_writer_believes() {
        let key = Key::new("k").unwrap();
        let (create, seven) = (Write::Create(vec![]), revision(7));
        let replace = Write::Replace { expected: seven.clone(), value: vec![] };
        let delete = Write::Delete { expected: seven.clone() };
        let at = |revision, action| Some(Newest { revision, action });
        let cases = [
            (&create, None, Ok(Action::Created)),
            (&create, at(7, Action::Deleted), Ok(Action::Created)),
            (&create, at(7, Action::Replaced), Err(ErrorKind::Exists)),
            (&replace, at(7, Action::Created), Ok(Action::Replaced)),
            (&replace, at(8, Action::Replaced), Err(ErrorKind::Conflict(revision(8)))),
            (&replace, at(7, Action::Deleted), Err(ErrorKind::Missing)),
            (&replace, None, Err(ErrorKind::Missing)),
            (&delete, at(7, Action::Replaced), Ok(Action::Deleted)),
            (&delete, at(9, Action::Replaced), Err(ErrorKind::Conflict(revision(9)))),
        ];
        for (write, newest, expected) in cases {
            let decided = write.decide(&key, newest).map_err(|error| error.kind().clone());
            assert_eq!(decided, expected, "{write:?} {newest:?}");
        }
    }

    #[test]
    fn tokens_of_others_are_refused() {
        let kind = |text: &str| cursor_number(&Cursor::new(text), 9, 3).map_err(|error| error.kind().clone());
        assert_eq!(kind("9"), Ok(9));
        assert_eq!(kind("3"), Ok(3));
        assert_eq!(kind("2"), Err(ErrorKind::TooOld));
        for text in ["10", "", "+4", "04", "-1", "4.0", "99999999999999999999"] {
            assert_eq!(kind(text), Err(ErrorKind::BadToken), "{text}");
        }
        let prefix = Prefix::new("a").unwrap();
        let parts = |text: &str| {
            let token = Continuation::new(text);
            let parts = continuation_parts(&token, &prefix, 9, 3).map(|(moment, last)| (moment, last.to_owned()));
            parts.map_err(|error| error.kind().clone())
        };
        assert_eq!(parts("5/a/b"), Ok((5, "a/b".to_owned())));
        assert_eq!(parts("2/a/b"), Err(ErrorKind::TooOld));
        for text in ["5/b/a", "10/a/b", "5", "/a/b", "x/a/b"] {
            assert_eq!(parts(text), Err(ErrorKind::BadToken), "{text}");
        }
    }
}
