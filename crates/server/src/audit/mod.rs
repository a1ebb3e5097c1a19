//! The audit log: a JSON line for every write and every refusal.
//!
//! [`AuditLog`] is the file and the thread that writes it; [`Trail`] collects what one request does and makes its lines.
//! Tokens, bodies and queries are never part of a line, and everything that a client chose is escaped and cut.

mod line;
mod log;
mod trail;

pub(crate) use log::NotRecorded;
pub use log::{AuditError, AuditLog, AuditLoss};
pub(crate) use trail::{Origin, Removed, Trail, refused_certificate};
