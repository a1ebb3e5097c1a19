//! Every version of a kind as a lawful view of one stored document.
//!
//! This crate does no IO.

mod change;
mod declaration;
mod reader;
mod selector;
mod version;

pub use change::{
    DeclaredUnion, FieldValue, Located, OLDER_WRITE, OlderWrite, Policies, Renamed, Steps, VersionStep, Writers,
    parse_changes,
};
pub use declaration::{Declaration, DeclaredVersion, Part};
pub use reader::{Reader, quoted};
pub use selector::{Selector, SelectorError, Step};
pub use version::{Maturity, VersionName};
