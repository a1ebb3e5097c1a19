//! CEL over documents.

#[expect(missing_docs, reason = "what the fields of a node are is shown by how it is written")]
pub mod ast;
mod parse;

pub use parse::{MAX_CHARACTERS, MAX_DEPTH, ParseError, parse};
