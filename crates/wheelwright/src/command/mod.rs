//! The commands, one a file. Each is a function from inputs to a [`Console`](crate::Console) that touches nothing else.

mod check;
mod completions;
mod convert;
mod default;
mod diff;
mod documents;
mod explain;
mod explained;
mod init;
mod laws;
mod lock;
mod migrate;
mod prune;
mod retire;
mod schema_eval;
mod serve;
mod store;
mod stored;
mod test;
mod troubles;
mod validate;

pub use check::{CheckOptions, Versions, VersionsError, check};
pub use completions::completions;
pub use convert::{ConvertOptions, LineOptions, Way, convert, convert_lines};
pub use default::default;
pub use diff::{DiffOptions, diff};
pub use documents::DocumentOptions;
pub use explain::explain;
pub use init::{InitOptions, init};
pub use laws::{LawsOptions, laws};
pub use lock::{LockOptions, lock};
pub use migrate::{Migrate, MigrateOptions, migrate, migrate_interrupted};
pub use prune::prune;
pub use retire::retire;
pub use schema_eval::schema_eval;
pub use serve::{ServeOptions, serve, serve_interrupted};
pub use store::{
    StoreOptions, ToStore, documents_to_store, store_delete, store_get, store_get_raw, store_list, store_put,
};
pub use test::{TestOptions, test};
pub use validate::{ValidateOptions, validate};
