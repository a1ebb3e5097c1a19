//! What Go and Kubernetes make of texts.
//!
//! Schema validation and the expression language ask the same questions of the same texts, so the answers are here:
//! does it match a [`Pattern`], is it of a [`Format`], is it one of the [`names`] that Kubernetes allows, which time is
//! it?
//!
//! ```
//! use wheelwright_text::{Format, Pattern, names};
//!
//! assert!(Pattern::from_go(r"^\d+$")?.is_match("42"));
//! assert!(Format::for_string("date").is_some_and(|format| format.accepts("2024-02-29")));
//! assert!(names::is_dns1123_label("my-name"));
//! # Ok::<(), wheelwright_text::PatternError>(())
//! ```
//!
//! This crate does no IO, and reads any text in linear time.

mod format;
pub mod names;
mod pattern;
mod quantity;

pub use format::{Format, Timestamp};
pub use pattern::{Pattern, PatternError, Translated};
pub use quantity::Quantity;
