//! What the tool has to say about a user's files.
//!
//! A [`Rule`] has a stable id, a reason and a remedy; all of them are in [`rules`]. A [`Finding`] is a rule broken at
//! a place. [`Findings`] are collected in any order and always shown in the same one, by [`render_text`] for people,
//! by [`render_json`] for programs, by [`render_sarif`] for code scanning and by [`render_github`] for GitHub's logs. What
//! a file allows, with a reason and perhaps until a day, [`suppress`] lets pass.
//!
//! ```
//! use wheelwright_document::{FieldPath, Span};
//! use wheelwright_findings::{Finding, Findings, Place, Sources, render_text, rules};
//!
//! let sources = Sources::from_iter([("crd.yaml", "openAPIV3Schema: {}\n")]);
//! let span = Span { start: 17, end: 19, line: 1, column: 18 };
//! let mut findings = Findings::new();
//! findings.push(
//!     Finding::new(&rules::TYPE_REQUIRED, "type is required", FieldPath::root())
//!         .at(Place::new("crd.yaml", span))
//!         .with_error_type("FieldValueRequired")
//!         .with_mend("add `type: object`"),
//! );
//! assert!(!findings.is_clean());
//! let mut out = Vec::new();
//! render_text(&findings, &sources, false, &mut out)?;
//! assert!(out.starts_with(b"error[WW005]: type is required\n --> crd.yaml:1:18\n"));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! This crate does no IO but to the writer it is given.

mod finding;
mod findings;
mod render;
mod rule;
pub mod rules;
mod shortened;
mod sources;
mod suppress;

pub use finding::{Finding, Place, Related};
pub use findings::Findings;
pub use render::{render_github, render_json, render_sarif, render_text};
pub use rule::{Level, Rule};
pub use shortened::shortened;
pub use sources::Sources;
pub use suppress::{ALLOWANCE_KEYWORD, Allowances, Date, Holds, Suppression, suppress};
