//! The metadata of a resource: brought into the form of Kubernetes' `ObjectMeta`, and checked.

mod coerce;
mod validate;

pub(crate) use coerce::{MetadataError, coerce_metadata, coerce_metadata_dropping};
pub(crate) use validate::{validate_metadata, validate_type_meta};
