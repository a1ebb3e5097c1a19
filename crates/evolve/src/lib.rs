//! Every version of a kind as a lawful view of one stored document.
//!
//! This crate does no IO.

mod change;
mod declaration;
mod history;
mod identify;
mod lock;
mod problem;
mod selector;
mod structure;
#[cfg(test)]
mod testing;
mod version;

pub use change::{DeclaredUnion, FieldValue, Located, OlderWrite, Policies, Renamed, Steps, VersionStep, Writers};
pub use declaration::{Declaration, DeclaredVersion, Part};
pub use history::{FieldId, FieldRecord, History, VersionHistory, VersionIndex, overlaid_schema};
pub use lock::{Fingerprint, HubMove, Lock, LockedKind};
pub use problem::ChangeProblem;
pub use selector::{Selector, SelectorError, Step};
pub use structure::{NodeIndex, Scalar, Shape, Structure, StructureNode, Union};
pub use version::{Maturity, VersionName};
