//! The commands, one a file. Each is a function from inputs to a [`Console`](crate::Console) that touches nothing else.

mod check;
mod completions;
mod default;
mod documents;
mod explain;
mod prune;
mod schema_eval;
mod validate;

pub use check::{CheckOptions, Versions, VersionsError, check};
pub use completions::completions;
pub use default::default;
pub use documents::DocumentOptions;
pub use explain::explain;
pub use prune::prune;
pub use schema_eval::schema_eval;
pub use validate::{ValidateOptions, validate};
