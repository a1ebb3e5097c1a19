//! Every version of a kind as a lawful view of one stored document.
//!
//! This crate does no IO.

mod change;
mod declaration;
pub mod laws;
mod selector;
mod version;

pub use change::{DeclaredUnion, FieldValue, Located, OlderWrite, Policies, Renamed, Steps, VersionStep, Writers};
pub use declaration::{Declaration, DeclaredVersion, Part};
pub use selector::{Selector, SelectorError, Step};
pub use version::{Maturity, VersionName};
