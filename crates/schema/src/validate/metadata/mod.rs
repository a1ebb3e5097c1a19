//! The metadata of a resource: brought into the form of Kubernetes' `ObjectMeta`, and checked.

mod coerce;
mod validate;

pub(crate) use coerce::{MetadataError, coerce_metadata, coerce_metadata_dropping, is_object_meta_field};
pub(crate) use validate::{validate_metadata, validate_type_meta};
pub use validate::{validate_resource_metadata, validate_resource_metadata_update};
