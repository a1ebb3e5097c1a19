//! Every version of a kind as a lawful view of one stored document.
//!
//! This crate does no IO.

mod carry;
mod change;
mod consistency;
mod declaration;
mod history;
mod identify;
mod kind;
mod lens;
mod omitempty;
mod origin;
mod problem;
mod selector;
mod structure;
#[cfg(test)]
mod testing;
mod version;

pub use carry::{
    ANNOTATION_LIMIT, CARRY_PREFIX, Carry, CarryFate, CarryNote, CarrySize, CarryTooLarge, Loaded, NoAnnotations,
    carry_size,
};
pub use change::{DeclaredUnion, FieldValue, Located, OlderWrite, Policies, Renamed, Steps, VersionStep, Writers};
pub use consistency::{Consistency, DefaultedBy, Disagreement};
pub use declaration::{Declaration, DeclaredVersion, Part};
pub use history::{FieldId, FieldRecord, History, VersionHistory, VersionIndex, overlaid_schema};
pub use kind::Kind;
pub use lens::{Envelope, Lenses, Provenance, Source, WouldReset};
pub use omitempty::{RefusedBecause, RefusedDefault, Restored, Zeros};
pub use origin::{NoActingVersion, Origin, OriginError, OutsideSpec};
pub use problem::ChangeProblem;
pub use selector::{Selector, SelectorError, Step};
pub use structure::{NodeIndex, Scalar, Shape, Structure, StructureNode, Union};
pub use version::{Maturity, VersionName};
