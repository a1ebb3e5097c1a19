//! Files on disk and in git: what they declare, which tree they belong to, and the files in it that they refer to.
//!
//! `wheelwright-schema` does no IO and is given a [`Tree`](wheelwright_schema::Tree); [`Disk`] is the one that reads
//! files.

pub mod declared;
mod disk;
pub mod files;
mod input;
pub mod json_text;

pub use disk::{Disk, LEADS_OUT};
pub use input::{Form, Input, MAX_BYTES, Origin, Unreadable};
