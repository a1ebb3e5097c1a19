//! What a failure of the server means to whoever asked for something.

use std::{error::Error as _, io};

use tokio_postgres::Error;

use crate::{ErrorKind, StoreError};

/// Whether the connection is of no use any more.
pub(super) fn is_lost(error: &Error) -> bool {
    match code(error) {
        // Connection exceptions; the server goes down, was ended, or does not take connections yet.
        Some(code) => code.starts_with("08") || matches!(code, "57P01" | "57P02" | "57P03" | "57P05" | "25P03"),
        None => true,
    }
}

/// Whether the same transaction may do if it is tried again: it stood in the way of others.
pub(super) fn is_in_the_way(error: &Error) -> bool {
    matches!(code(error), Some("40001" | "40P01"))
}

/// Whether the server does not know, after a commit, whether it has committed.
pub(super) fn is_unknown(error: &Error) -> bool {
    is_lost(error) || matches!(code(error), Some("40003"))
}

/// Whether a schema or table is there already, or was made meanwhile.
pub(super) fn is_made_by_another(error: &Error) -> bool {
    // A duplicate that was seen, one that only an index of the catalog found, and their like.
    matches!(code(error), Some("42P06" | "42P07" | "42710" | "23505" | "40001" | "40P01" | "XX000"))
}

/// Whether a table or its schema is not there.
pub(super) fn is_table_missing(error: &Error) -> bool {
    matches!(code(error), Some("42P01" | "3F000"))
}

/// Whether the server cannot read its data.
pub(super) fn is_damage(error: &Error) -> bool {
    let message = || error.as_db_error().map_or("", |server| server.message());
    match code(error) {
        // Damaged data or index, a page that the disk does not return, a file that is missing.
        Some("XX001" | "XX002" | "58030" | "58P01") => true,
        // Rows whose lengths or transactions cannot be, and pages of an index that do not fit the others.
        Some("XX000") => {
            ["invalid", "corrupt", "chunk", "MultiXactId", "unexpected", "could not", "of index", "in index"]
                .iter()
                .any(|part| message().contains(part))
        }
        _ => false,
    }
}

/// A failure of a statement that reads.
pub(super) fn of_read(error: &Error) -> StoreError {
    match error.as_db_error() {
        Some(server) if is_damage(error) => {
            let message = format!("the database cannot read its data: {}: restore it from a backup", server.message());
            StoreError::new(ErrorKind::Corrupt, message)
        }
        _ => of_server(error),
    }
}

/// Whether the database can only be read.
pub(super) fn is_read_only(error: &Error) -> bool {
    code(error) == Some("25006")
}

/// Whether the user lacks a right.
pub(super) fn is_right_missing(error: &Error) -> bool {
    code(error) == Some("42501")
}

/// Whether a table lacks a column.
pub(super) fn is_column_missing(error: &Error) -> bool {
    code(error) == Some("42703")
}

/// A failure of a statement that has changed nothing, or of a connection that was not made.
pub(super) fn of_server(error: &Error) -> StoreError {
    let Some(server) = error.as_db_error() else {
        return of_connection(error);
    };
    let message = server.message();
    let (kind, message) = match server.code().code() {
        "42501" => (ErrorKind::Setup, format!("the database user lacks a right: {message}: grant it")),
        "28000" | "28P01" => (ErrorKind::Setup, format!("{message}: check the user and the password in the address")),
        "3D000" => (ErrorKind::Setup, format!("{message}: create the database, or name another in the address")),
        "25006" => (ErrorKind::ReadOnly, format!("the database can only be read: {message}")),
        "53100" => (ErrorKind::Full, format!("the disk of the database is full: {message}")),
        "42P01" | "3F000" | "42703" | "23505" => {
            (ErrorKind::Corrupt, format!("the tables are gone or were changed: {message}: restore them from a backup"))
        }
        "XX001" | "XX002" => (ErrorKind::Corrupt, format!("the database is damaged: {message}")),
        "53300" => (ErrorKind::Unavailable, format!("the database has no connection left: {message}")),
        // Connections, conflicts with others, resources, locks, operators, the system, errors inside.
        code if ["08", "40", "53", "55", "57", "58", "XX"].iter().any(|class| code.starts_with(class)) => {
            (ErrorKind::Unavailable, format!("the database cannot do it now: {message}"))
        }
        code => (ErrorKind::Setup, format!("the database refuses a statement ({code}): {message}")),
    };
    StoreError::new(kind, message)
}

/// A failure to make the tables.
pub(super) fn of_setup(error: &Error, schema: &str) -> StoreError {
    match error.as_db_error() {
        Some(server) if server.code().code() == "42501" => {
            let message = format!(
                "the database user may not make the tables: {}: grant CREATE on the database, or create the schema \
                 {schema:?} and grant USAGE and CREATE on it",
                server.message()
            );
            StoreError::new(ErrorKind::Setup, message)
        }
        _ => of_server(error),
    }
}

/// An answer that is not what the tables of this format hold.
pub(super) fn of_answer(error: &Error) -> StoreError {
    StoreError::new(ErrorKind::Corrupt, format!("the tables hold what they should not: {}", chain(error)))
}

/// That the server did not answer in time.
pub(super) fn too_slow() -> StoreError {
    StoreError::new(ErrorKind::Unavailable, "the database did not answer in time")
}

fn of_connection(error: &Error) -> StoreError {
    // A certificate that is refused is an error of input and output too, of invalid data.
    let of_system = error.source().and_then(|source| source.downcast_ref::<io::Error>()).map(io::Error::kind);
    let is_outage = error.is_closed()
        || of_system.is_some_and(|kind| !matches!(kind, io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput));
    let (kind, what) = match is_outage {
        true => (ErrorKind::Unavailable, "the database cannot be reached, or the connection was cut"),
        false => (ErrorKind::Setup, "the database cannot be used with this address"),
    };
    StoreError::new(kind, format!("{what}: {}", chain(error)))
}

fn code(error: &Error) -> Option<&str> {
    error.code().map(|code| code.code())
}

/// An error's own text is only what was tried; why it failed is what it comes from.
fn chain(error: &Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
