//! `store repair --to`: a new file with all that is certain of a damaged one.

use std::{io, path::Path};

use wheelwright_store::Salvaged;

use super::stored::records;
use crate::{Console, Exit};

/// Copies what is certain of a damaged SQLite store to a new file, and lists what is lost. There is a finding if something is.
///
/// # Errors
/// The console cannot be written to.
pub fn store_salvage(address: &str, to: &Path, console: &mut Console<'_>) -> io::Result<Exit> {
    let Salvaged { saved, lost, may_miss_others } = match wheelwright_store::salvage(address, to) {
        Ok(salvaged) => salvaged,
        Err(error) => {
            console.complain(format_args!("{error}"))?;
            return Ok(Exit::Usage);
        }
    };
    for (key, revision) in &lost {
        writeln!(console.data, "{key} is lost; the last revision that is known is {revision}")?;
    }
    if may_miss_others {
        writeln!(console.data, "other records may be lost, whose names are not known")?;
    }
    writeln!(console.data, "{} saved in {}, {} lost", records(saved), to.display(), lost.len())?;
    Ok(if lost.is_empty() && !may_miss_others { Exit::Clean } else { Exit::Findings })
}
