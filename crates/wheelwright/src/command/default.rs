//! `default`: documents as Kubernetes would store them, were they valid.

use std::io;

use wheelwright_schema::Stages;

use super::documents::{DocumentOptions, transform};
use crate::{Console, Exit, Input, Schemas, Unreadable};

/// Writes every document pruned, free of nulls that mean nothing, and with its defaults filled in, and warns of unknown
/// fields. A document whose metadata has the wrong type is not written, and is a finding.
///
/// # Errors
/// The console cannot be written to.
pub fn default(
    documents: impl IntoIterator<Item = Result<Input, Unreadable>>,
    schemas: &Schemas,
    options: &DocumentOptions,
    console: &mut Console<'_>,
) -> io::Result<Exit> {
    transform(documents, schemas, Stages::DEFAULT, options, console)
}
