//! Structural schemas, exactly as Kubernetes treats them.
//!
//! A schema is *lowered* from a file to a [`Schema`], *checked*, and *compiled* to a [`Program`], which takes
//! documents through one walk: unknown fields are pruned, nulls freed, defaults filled in, values validated.
//!
//! ```
//! use wheelwright_document::{Arena, Decode, decode, decode_json_spanned, encode};
//! use wheelwright_schema::{Program, Root, lower_schema};
//!
//! let arena = Arena::new();
//! let source = br#"{"type": "object", "properties": {"replicas": {"type": "integer", "default": 3}}}"#;
//! let schema = lower_schema(&decode_json_spanned(source, &arena, &Decode::default())?).item;
//! let program = Program::compile(&schema, Root::Value);
//!
//! let admitted = program.admit(decode(br#"{"replicsa": 5}"#, &arena)?, &arena)?;
//! assert_eq!(encode(admitted.value), br#"{"replicas":3}"#);
//! assert_eq!(admitted.unknown[0].as_str(), "replicsa");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This crate does no IO.

mod admit;
pub mod check;
mod compile;
mod correlate;
mod error;
mod lower;
pub mod model;
mod patterns;
mod problem;
mod program;
mod rules;
mod update;
mod validate;

pub use admit::{AdmitError, AdmitErrorKind, Admitted, Stages};
pub use compile::Root;
pub use error::{ErrorType, ValidationError};
pub use lower::{
    Column, Definition, DefinitionVersion, Dialect, KubernetesResource, KubernetesVersion, Lowered, Named, NoTree,
    Refused, Scale, Specification, Tree, closest_of, is_convertible, is_definition, lower_definition, lower_schema,
};
pub use model::Schema;
pub use problem::Problem;
pub use program::Program;
pub use update::UpdateErrors;
pub use validate::{validate_resource_metadata, validate_resource_metadata_update};
