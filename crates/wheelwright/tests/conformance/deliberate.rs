//! Where we differ from Kubernetes on purpose. Every difference has its reason here; docs/differences.md tells users.

use crate::case::{Case, Mismatch};

/// Why a case differs in a field, if it does so deliberately.
pub(crate) fn reason(case: &Case, mismatch: &Mismatch) -> Option<&'static str> {
    match (&*case.id, mismatch.field) {
        // Kubernetes turns integers beyond 64 bits into floats and loses digits; ours keep their text.
        ("integer > int64", "pruned" | "defaulted") => Some("numbers keep their text"),
        _ => None,
    }
}
