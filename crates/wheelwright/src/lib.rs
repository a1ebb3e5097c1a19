//! Every version of your API, one stored truth, nothing lost.
//!
//! This crate is the facade of the libraries and the `wheelwright` command; every command is a function here.

pub use wheelwright_document as document;
pub use wheelwright_findings as findings;
pub use wheelwright_schema as schema;

mod eval;

pub use eval::eval_line;
