//! The strategies that the nearest tool of our field has, each declared our way: they convert as it would, and whatever is
//! written through either version survives a client of the other, where that tool is lossy too. docs/strategies.md has
//! them in a table.

mod evolution;
mod fields;
mod lists;
mod metadata;
mod shapes;
#[path = "../support/mod.rs"]
mod support;
mod values;
mod vocabulary;
