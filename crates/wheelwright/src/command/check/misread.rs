//! Mistakes behind which a part of a catalog, changes file or lock was not read: what follows from them is not shown.

use wheelwright_findings::{Finding, Level, rules};

/// The file and line of a finding.
pub(super) fn where_it_is(finding: &Finding) -> String {
    finding.place.as_ref().map_or(String::new(), |place| format!("{}:{}", place.file, place.span.line))
}

/// Whether a part of a catalog, changes file or lock was not read, so that what it declares is missing.
pub(super) fn leaves_something_unread(finding: &Finding) -> bool {
    let causes = [
        &rules::MALFORMED_CATALOG,
        &rules::UNKNOWN_CATALOG_KEY,
        &rules::MALFORMED_PATH,
        &rules::MALFORMED_CHANGE,
        &rules::UNKNOWN_VERSION,
        &rules::MISSING_FILE,
        &rules::DUPLICATE_VERSION,
        &rules::INCOMPLETE_ORDER,
        &rules::LOCK_UNREADABLE,
        &rules::LOCK_CONFLICT,
    ];
    finding.level == Level::Error && causes.iter().any(|rule| std::ptr::eq(*rule, finding.rule))
}

/// Whether a finding about versions may be there only because a declaration was not read.
pub(super) fn follows_from_changes(finding: &Finding) -> bool {
    let of_lock = [&rules::LOCKED_FACT_CHANGED, &rules::HUB_MOVED, &rules::NOT_LOCKED];
    finding.rule.id >= rules::REMOVAL_NOT_ASSESSED.id || of_lock.iter().any(|rule| std::ptr::eq(*rule, finding.rule))
}
