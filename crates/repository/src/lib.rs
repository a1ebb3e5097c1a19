//! The one door to stored documents.
//!
//! Front ends that serve versions, back ends that reconcile and programs that migrate all read and write through a
//! [`Repository`], and nobody else opens a record. So they all see the same: the same defaults, the same conversion, and
//! nothing that a version cannot say is lost.
//!
//! - [`ServedKind`]: a kind of a catalog, compiled.
//! - [`Repository::kind`] gives the [`Collection`] of its documents: get, list, create, update, patch, delete, watch; each as
//!   a version, as the hub or as the version that the owner speaks ([`View`]).
//! - [`Collection::sweep`] brings all records to the hub of today, and [`Collection::needs`] says what a version is needed for.
//! - [`Collection::find_damage`] lists damaged records, and [`Collection::repair`] puts good copies in their places.
//! - Every write is conditional, and what changes nothing is not stored.

mod absence;
mod access;
mod collection;
mod computed;
mod damage_observer;
mod dress;
mod error;
mod external;
mod fields;
mod hidden;
mod keep;
mod list;
mod long_records;
mod metadata;
mod name;
mod nulls;
mod open;
mod record;
mod remove;
mod repair;
mod repository;
mod request;
mod scheduler;
mod scopes;
mod served;
mod size;
mod sweep;
mod watch;
mod write;

pub use collection::{Collection, Reread, Written};
pub use damage_observer::DamageObserver;
pub use error::{FieldError, FieldProblem, RepositoryError, WriteError};
pub use external::{Divergence, ExternalSource, SourceAnswer, SourceCounts, SourceError, SourceProblem};
pub use list::{Listed, ListedOrigins, Unopened};
pub use name::Name;
pub use open::{Document, OpenError, View};
pub use record::{EPOCH, Metadata, Operation, RecordError, is_record};
pub use remove::{Removal, Removed};
pub use repair::{CopySource, DamageReport, Damaged, GoodCopy, Repaired};
pub use repository::Repository;
pub use request::{Body, Judge, Keeping, UnknownFields, Write, Writer};
pub use scheduler::{LIGHT_BYTES, Scheduler};
pub use served::{ArmResource, ArmVersion, ServedKind};
pub use sweep::{
    Accepted, Loss, Needs, Problem, Problems, Scrubbed, SweepCounts, SweepError, SweepOptions, SweepPlan,
    SweepProgress, SweepStatus, Verified,
};
pub use watch::{DocumentChange, DocumentEvent, DocumentWatch};
pub use wheelwright_evolve::Part;
pub use wheelwright_store::{
    Continuation, Cursor, DiskSpace, ErrorKind, Health, Mark, PageRequest, Revision, Store, StoreError, Unreadable,
};
pub use write::Notes;
