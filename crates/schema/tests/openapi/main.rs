//! OpenAPI and JSON Schema documents, from their text to what becomes of documents held against them.

mod bad_input;
#[expect(dead_code, reason = "updates are not generated here")]
#[path = "../generate/mod.rs"]
mod generate;
mod keywords;
mod laws;
mod real;
mod support;
