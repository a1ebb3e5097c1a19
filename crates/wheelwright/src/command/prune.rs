//! `prune`: documents without the fields that their schemas do not know.

use std::io;

use wheelwright_schema::Stages;

use super::documents::{DocumentOptions, transform};
use crate::{Console, Exit, Input, Schemas, Unreadable};

/// Writes every document without the fields that its schema does not know, and warns of each of them. Nothing else
/// about a document changes.
///
/// # Errors
/// The console cannot be written to.
pub fn prune(
    documents: impl IntoIterator<Item = Result<Input, Unreadable>>,
    schemas: &Schemas,
    options: &DocumentOptions,
    console: &mut Console<'_>,
) -> io::Result<Exit> {
    transform(documents, schemas, Stages::PRUNE, options, console)
}
