//! What every store does.

use std::{fmt, pin::Pin, time::Duration};

use crate::{Continuation, Cursor, Key, KeyRange, Mark, Prefix, Revision, StoreError};

/// What a store answers, in its own time.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Opaque bytes by key.
///
/// Reads see every write that was acknowledged before they began, whoever wrote it, in this process or another. A write
/// that was acknowledged survives the end of every process and of the machine. A write that was not acknowledged, because
/// its future was dropped or the answer got lost, has either happened as a whole or not at all.
pub trait Store: fmt::Debug + Send + Sync {
    /// The value of a key; none if there is none.
    fn get<'a>(&'a self, key: &'a Key) -> Answer<'a, Option<Stored>>;

    /// The value of a key as [`get`](Self::get) returns it or, of one that is [`Unreadable`](crate::Unreadable), the bytes that are
    /// stored. For saving damaged bytes: no other reader may use them. Empty if there are none.
    fn get_unverified<'a>(&'a self, key: &'a Key) -> Answer<'a, Option<Stored>> {
        self.get(key)
    }

    /// Whether the value of a key still has a revision. A store that keeps revisions beside values answers without reading the
    /// value, which may be long.
    fn has_revision<'a>(&'a self, key: &'a Key, revision: &'a Revision) -> Answer<'a, bool> {
        Box::pin(async move { Ok(self.get(key).await?.is_some_and(|stored| stored.revision == *revision)) })
    }

    /// The values of all keys with a prefix, in the order of the keys' bytes, page by page. All pages of one list show one
    /// moment, if the store [can do that](Guarantees::consistent_lists).
    ///
    /// Fails with [`TooOld`](crate::ErrorKind::TooOld) if that moment is forgotten, and with
    /// [`BadToken`](crate::ErrorKind::BadToken) for a continuation that is none of this prefix.
    fn list<'a>(&'a self, prefix: &'a Prefix, page: PageRequest) -> Answer<'a, Page>;

    /// Where a new list, of now, goes on after a key: for those who walk through all keys for longer than a moment is
    /// remembered, and want to go on tomorrow where they were today. None if the store can begin lists only at their
    /// beginning.
    fn list_after<'a>(&'a self, key: &'a Key) -> Answer<'a, Option<Continuation>> {
        let _ = key;
        Box::pin(async { Ok(None) })
    }

    /// Where a list of an earlier moment goes on after a key, or begins without one. None if the store can list only what is
    /// there now.
    ///
    /// The list fails as any other does if the moment is forgotten, or has not come yet.
    fn list_at<'a>(
        &'a self,
        moment: &'a Cursor,
        prefix: &'a Prefix,
        after: Option<&'a Key>,
    ) -> Answer<'a, Option<Continuation>> {
        let _ = (moment, prefix, after);
        Box::pin(async { Ok(None) })
    }

    /// The value that a key had right before a revision of it; none if it had none.
    ///
    /// Fails with [`TooOld`](crate::ErrorKind::TooOld) if that is forgotten, as it always is in stores that do not keep
    /// what was.
    fn before<'a>(&'a self, key: &'a Key, revision: &'a Revision) -> Answer<'a, Option<Stored>> {
        let _ = (key, revision);
        let message = "this store does not keep what was there before";
        Box::pin(async move { Err(StoreError::new(crate::ErrorKind::TooOld, message)) })
    }

    /// Whether nothing has happened to the keys of a range since a moment: then whoever has what they had may keep it.
    /// False if something has happened, or if the store cannot tell at little cost, as when too much has happened since.
    fn is_unchanged<'a>(&'a self, range: &'a KeyRange, since: &'a Cursor) -> Answer<'a, bool> {
        let _ = (range, since);
        Box::pin(async { Ok(false) })
    }

    /// Where the mark is that every write moves, whoever writes: what was read after one mark is what would be read after an
    /// equal one. So a write moves it no later than it is acknowledged, and no sooner than all who read see it. It may
    /// move when nothing is written.
    ///
    /// None if the store cannot tell, or not yet, for less than a get costs. It is told at once, on the thread that asks; a
    /// store may have to write something, as [`health`](Self::health) does, before it can.
    fn mark(&self) -> Option<Mark> {
        None
    }

    /// Stores the first value of a key.
    ///
    /// Fails with [`Exists`](crate::ErrorKind::Exists) if the key has one.
    fn create<'a>(&'a self, key: &'a Key, value: Vec<u8>) -> Answer<'a, Revision>;

    /// Stores another value in the place of the one with a revision.
    ///
    /// Fails with [`Conflict`](crate::ErrorKind::Conflict) if the key has another value, and with
    /// [`Missing`](crate::ErrorKind::Missing) if it has none.
    fn replace<'a>(&'a self, key: &'a Key, expected: &'a Revision, value: Vec<u8>) -> Answer<'a, Revision>;

    /// Stores another value for a key that is being deleted: a mark, or one reason less to keep it. A store that keeps room
    /// back for deletes uses it for these writes, too, so the value should be hardly larger than the one before.
    ///
    /// Fails as [`replace`](Self::replace) does.
    fn replace_to_delete<'a>(&'a self, key: &'a Key, expected: &'a Revision, value: Vec<u8>) -> Answer<'a, Revision> {
        self.replace(key, expected, value)
    }

    /// Removes the value with a revision.
    ///
    /// Fails as [`replace`](Self::replace) does.
    fn delete<'a>(&'a self, key: &'a Key, expected: &'a Revision) -> Answer<'a, ()>;

    /// What happens to the keys with a prefix, from a cursor on: each change once, none left out, and in the
    /// [order](Guarantees::order) that the store can give.
    ///
    /// Fails with [`TooOld`](crate::ErrorKind::TooOld) if what happened since is forgotten, and with
    /// [`BadToken`](crate::ErrorKind::BadToken) for a cursor that this store never gave.
    fn watch<'a>(&'a self, prefix: &'a Prefix, from: &'a Cursor) -> Answer<'a, Box<dyn Watch>>;

    /// The position of now: a watch from it on tells what is acknowledged later.
    fn now(&self) -> Answer<'_, Cursor>;

    /// Whether the store can be read and written, by trying it.
    fn health(&self) -> Answer<'_, Health>;

    /// What this store can promise.
    fn guarantees(&self) -> Guarantees;

    /// The room that is left for the store on its disk. None if it cannot tell, as with a database on another machine.
    fn disk(&self) -> Option<DiskSpace> {
        None
    }

    /// Begins to check the structure of what it is stored in, in the background, where damage is not noticed by reading. If
    /// it finds damage, then [`health`](Self::health) fails from then on.
    ///
    /// # Errors
    /// The check cannot begin.
    fn start_check(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// The damage of the structure of what it is stored in, as the error of requests that cannot be answered because of it; none if
    /// it is sound. A structure that was not checked yet is checked first.
    fn find_damage(&self) -> Answer<'_, Option<StoreError>> {
        Box::pin(async { Ok(None) })
    }
}

/// What happens to the keys with a prefix.
pub trait Watch: fmt::Debug + Send {
    /// Waits for the next change, which [`next`](Self::next) then returns, without reading its value if that is long. May be
    /// dropped before it is done.
    fn peek(&mut self) -> Answer<'_, Upcoming>;

    /// The next change, as soon as there is one. May be dropped before it is done without losing one.
    ///
    /// After an error, a new watch from [`cursor`](Self::cursor) goes on where this one ended.
    fn next(&mut self) -> Answer<'_, Event>;

    /// The position after what was told so far. It also moves on while nothing happens to the watched keys, so that it
    /// does not become too old.
    fn cursor(&self) -> Cursor;
}

/// A value, and which one it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stored {
    /// Which value it is.
    pub revision: Revision,
    /// The value.
    pub value: Vec<u8>,
}

/// Which part of a list is wanted.
#[derive(Clone, Debug, Default)]
pub struct PageRequest {
    /// The most values of a page; a page may have fewer although there are more. None: as many as the store likes.
    pub limit: Option<usize>,
    /// Where the page before ended.
    pub after: Option<Continuation>,
}

/// A part of a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Page {
    /// Keys with their values, in order.
    pub items: Vec<(Key, Stored)>,
    /// Where the list goes on; none at its end.
    pub next: Option<Continuation>,
    /// The moment that the list shows. A watch from it on tells all that happened since.
    pub cursor: Cursor,
}

/// A change of one key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// The key.
    pub key: Key,
    /// Which value the change made; for a removal, a revision of its own.
    pub revision: Revision,
    /// What happened.
    pub change: Change,
    /// The position right after this change.
    pub cursor: Cursor,
}

/// The next change of a watch, without its value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Upcoming {
    /// The key.
    pub key: Key,
    /// The revision of the change.
    pub revision: Revision,
    /// The length of the value that the change contains.
    pub bytes: usize,
}

/// What happened to a key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Change {
    /// It had no value, and has this one.
    Created(Vec<u8>),
    /// It has this value instead of another.
    Replaced(Vec<u8>),
    /// It has no value any more; this was the last.
    Deleted(Vec<u8>),
}

/// That a store is in good health, and how long it took to find out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Health {
    /// How long a read and a write took.
    pub took: Duration,
}

/// The room that is left for a store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DiskSpace {
    /// The bytes by which files can grow: on the disk, or to the file size limit of the process.
    pub free_bytes: u64,
    /// The bytes that are kept back for deletes, beside those.
    pub reserve_bytes: u64,
    /// Changes that this process forgot before they were as old as the history, to make room: watches from before them have
    /// to list again.
    pub forgotten_early: u64,
}

/// What a store can promise beyond what all can.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Guarantees {
    /// In which order a watch tells.
    pub order: Order,
    /// All pages of a list show one moment. Where they do not, they show at least what was there when the list began, and a
    /// watch from its cursor tells the rest, some of it again.
    pub consistent_lists: bool,
}

/// The order of what a watch tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// In the order in which it happened, and the same for everybody.
    Total,
    /// The changes of one key are in order; different keys may be told in any.
    PerKey,
}

impl Event {
    /// The change without its value.
    pub fn outline(&self) -> Upcoming {
        Upcoming { key: self.key.clone(), revision: self.revision.clone(), bytes: self.change.value().len() }
    }
}

impl Change {
    /// The value that the key has, or had last.
    pub fn value(&self) -> &[u8] {
        let (Self::Created(value) | Self::Replaced(value) | Self::Deleted(value)) = self;
        value
    }
}

impl Guarantees {
    /// One order for everybody, and lists of one moment.
    pub const STRONG: Self = Self { order: Order::Total, consistent_lists: true };

    /// Order within keys only, and lists that take their time, as in stores that are spread over partitions.
    pub const PARTITIONED: Self = Self { order: Order::PerKey, consistent_lists: false };
}

impl PageRequest {
    /// The first page, of at most so many values.
    pub fn first(limit: usize) -> Self {
        Self { limit: Some(limit), after: None }
    }
}
