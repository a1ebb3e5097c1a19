//! Every version of every kind of a repository, over HTTP.
//!
//! Two dialects speak of the same documents: that of Azure's resource manager, by the paths that begin with
//! `/subscriptions`, and that of a Kubernetes API server, by `/apis`. Whatever they write or read, the repository decides
//! what it means.
//!
//! A request is routed first ([`access`]), so that nobody reaches a document without having been asked who they are and
//! counted; then its body is read, and the dialect answers.

mod access;
mod answer;
mod arm;
mod audit;
mod auth;
mod body;
mod browsers;
mod budget;
mod caller;
mod changes;
mod connections;
mod cut;
mod damaged_records;
mod denials;
mod frames;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod held;
mod hints;
mod http_source;
mod kubernetes;
mod limits;
mod log;
mod meter;
mod metrics;
mod own;
mod page;
mod path;
mod peer;
mod pieces;
mod progress;
mod query;
mod refusal;
mod request;
mod request_id;
mod scrub;
mod server;
mod share;
mod shelf;
mod stall;
mod throttle;
mod tls;
mod trouble;
mod work;

pub use audit::{AuditError, AuditLog, AuditLoss};
pub use auth::AccessError;
pub use http_source::HttpSource;
pub use limits::Limits;
pub use server::{BindError, Listener, Server, Serving};
pub use tls::{TlsError, TlsFiles};
