//! Schema files on disk: which tree they belong to, and the files in it that they refer to.
//!
//! `wheelwright-schema` does no IO and is given a [`Tree`](wheelwright_schema::Tree); [`Disk`] is the one that reads
//! files.

mod disk;

pub use disk::{Disk, LEADS_OUT};
