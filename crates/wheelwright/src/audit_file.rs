//! Where the audit log is written: not to a file that has another use.

use std::path::Path;

use wheelwright::{
    server::{AuditLog, AuditLoss},
    store,
};

use crate::same_file::is_same;

/// Opens the audit log: a file, or standard output for `-`.
///
/// # Errors
/// The file cannot be opened, or has another use.
pub(crate) fn open(file: &Path, is_strict: bool, store: &str) -> Result<AuditLog, String> {
    let loss = if is_strict { AuditLoss::Refused } else { AuditLoss::Counted };
    if file == Path::new("-") {
        return AuditLog::standard_output(loss).map_err(|error| error.to_string());
    }
    if store::files_of(store).iter().any(|used| is_same(used, file)) {
        return Err(format!("{} is a file of the store ({store}); name another one", file.display()));
    }
    AuditLog::open(file, loss).map_err(|error| error.to_string())
}
