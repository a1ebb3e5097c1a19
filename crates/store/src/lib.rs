//! Opaque bytes by key, with revisions and a watch.
//!
//! A [`Store`] knows nothing of what it stores. It gets and lists values, writes them only if they are what the writer
//! believes they are, and tells everybody who watches what was written, in order and without a gap. Whatever can do that
//! is a driver; a suite of tests (the feature `conformance`) says whether it does.
//!
//! - A [`Key`] is a path of segments; a [`Prefix`] is its beginning, in whole segments.
//! - A [`Revision`] is what one value is told apart by from all that were and will be under its key. It can be compared for
//!   equality and for nothing else: in some stores it is a number, in others an ETag.
//! - A [`Cursor`] is a position in what happened. Watching from the cursor of a list misses and repeats nothing.
//!
//! Futures need no particular runtime unless a driver says so.

#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod buckets;
#[cfg(feature = "conformance")]
pub mod conformance;
mod error;
mod key;
mod log;
mod memory;
mod open;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod room;
#[cfg(feature = "sqlite")]
mod sqlite;
mod store;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod sum;
#[cfg(feature = "conformance")]
pub mod testing;
mod token;
mod unreadable;

pub use error::{ErrorKind, StoreError};
pub use key::{BadKey, Key, KeyRange, MAX_KEY_BYTES, Prefix};
pub use memory::Memory;
#[cfg(feature = "sqlite")]
pub use open::{backup, salvage};
pub use open::{files_of, open, open_existing, open_to_repair, open_to_serve};
#[cfg(feature = "postgres")]
pub use postgres::{Postgres, PostgresOptions};
#[cfg(feature = "fuzzing")]
pub use sqlite::fuzzing;
#[cfg(feature = "sqlite")]
pub use sqlite::{Salvaged, Sqlite, SqliteOptions};
pub use store::{
    Answer, Change, DiskSpace, Event, Guarantees, Health, Order, Page, PageRequest, Store, Stored, Upcoming, Watch,
};
pub use token::{Continuation, Cursor, Mark, Revision};
pub use unreadable::Unreadable;

#[cfg(all(doctest, feature = "conformance"))]
#[doc = include_str!("../../../docs/drivers.md")]
struct Drivers;
