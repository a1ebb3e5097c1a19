//! Changes to documents that are documents themselves.

mod fields;
mod json;
mod list;
mod merge;
mod origins;
mod pointer;
mod tree;

pub use json::{JsonPatch, PatchError, PatchErrorKind};
pub use merge::merge_patch;
pub use origins::ItemOrigins;
