//! Who may do what: people and programs are known by a token or a certificate, and may do what they were granted. What is
//! not granted is denied.

mod file;
mod grant;
mod guard;

pub use file::AccessError;
pub(crate) use file::AccessFile;
pub(crate) use grant::{Grant, Kinds, Rule, Scopes};
pub(crate) use guard::{Credential, Guard};
