//! Every version of a kind as a lawful view of one stored document.
//!
//! This crate does no IO.

mod carry;
mod change;
pub mod check;
mod consistency;
mod convert;
mod declaration;
mod explain;
mod history;
mod identify;
mod kind;
pub mod laws;
mod lens;
mod lock;
mod omitempty;
mod origin;
mod problem;
mod reader;
mod selector;
mod structure;
#[cfg(test)]
mod testing;
mod version;

pub use carry::{
    ANNOTATION_LIMIT, CARRY_PREFIX, Carry, CarryFate, CarryNote, CarrySize, CarryTooLarge, Loaded, NoAnnotations,
    carry_size,
};
pub use change::{
    DeclaredUnion, FieldValue, Located, OLDER_WRITE, OlderWrite, Policies, Renamed, Steps, VersionStep, Writers,
    parse_changes,
};
pub use consistency::{Consistency, DefaultedBy, Disagreement};
pub use convert::ConvertError;
pub use declaration::{Declaration, DeclaredVersion, Part};
pub use explain::{Because, Explained};
pub use history::{FieldId, FieldRecord, History, VersionHistory, VersionIndex, overlaid_schema, unknown_policy_field};
pub use kind::Kind;
pub use lens::{Envelope, Lenses, Provenance, PutError, Source, Trail};
pub use lock::{Fingerprint, HubMove, Lock, LockedKind};
pub use omitempty::{RefusedBecause, RefusedDefault, Restored, Zeros};
pub use origin::{NoActingVersion, Origin, OriginError, OutsideSpec};
pub use reader::{Reader, quoted};
pub use selector::{Selector, SelectorError, Step};
pub use structure::{NodeIndex, Scalar, Shape, Structure, StructureNode, Union};
pub use version::{Maturity, VersionName};
