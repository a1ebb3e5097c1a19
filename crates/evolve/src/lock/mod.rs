//! The lock: every field ever published, in a file that people review and that only grows.
//!
//! A lock is a list of entries, each a version as the difference to the one it comes from; going through them gives the
//! history back. Whatever is locked later is an entry more, so that nothing that was locked can change.

mod fingerprint;
mod grow;
mod model;
mod parse;
mod replay;
mod text;

pub use fingerprint::Fingerprint;
pub use grow::HubMove;
pub use model::{Lock, LockedKind};
