//! Catalogs: the files of a user on disk and in git, and the kinds that they declare.
//!
//! [`Catalog::load`] takes a `wheelwright.yaml`, bare CustomResourceDefinitions or OpenAPI documents, and gives a
//! [`Declaration`](wheelwright_evolve::Declaration) for every kind, with findings about whatever is wrong in the files. A
//! [`Source`] is where they are read from: [`OnDisk`], or a [`Revision`] in git. [`read_lock`] and [`write_lock`] keep the
//! lock.
//!
//! `wheelwright-schema` does no IO and is given a [`Tree`](wheelwright_schema::Tree); [`Disk`] is the one that reads
//! files.

mod arm;
mod bare;
mod catalog;
mod chosen;
pub mod declared;
mod disk;
mod documents;
pub mod files;
mod gate;
mod git;
mod input;
pub mod json_text;
mod load;
mod lock;
mod name_rule;
mod operations;
mod overlay;
mod parse;
mod policy;
mod reads;
mod replace;
mod resources;
mod service;
mod source;
mod stored;
mod survey;
mod table;
mod verify;

pub use arm::{ARM_FIELDS, ArmEntry};
pub use catalog::{Catalog, Kind};
pub use disk::{Disk, LEADS_OUT};
pub use gate::Gate;
pub use git::{GitError, Revision};
pub use input::{Form, Input, MAX_BYTES, Origin, Unreadable};
pub use lock::{LOCK_FILE, read_lock, write_lock};
pub use name_rule::NameRule;
pub use operations::{ListedBy, LongRunning, Operations};
pub use parse::{CatalogFile, KindEntry, Schemas, parse_catalog};
pub use policy::{NullPolicy, PolicySet, Scoped};
pub use reads::reads_by_name;
pub use replace::{remove_leftovers, replace_file};
pub use service::{ComputedField, Deprecation};
pub use source::{OnDisk, Source};
pub use stored::{Adopt, External, Missing};
pub use survey::{Survey, Surveyed, SurveyedKind, survey};
pub use wheelwright_schema::{Column, KubernetesResource, KubernetesVersion, Scale};
