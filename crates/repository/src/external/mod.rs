//! Fields that another system owns: asking it, and what its answers make of a record.

mod error;
mod merge;
mod owned;
mod source;

pub use self::{
    error::{SourceError, SourceProblem},
    merge::Divergence,
    source::{ExternalSource, SourceAnswer, SourceCounts},
};
pub(crate) use self::{
    owned::{OwnedFields, field_path, leads_through_objects, names, value_at},
    source::{Answers, Sources},
};
