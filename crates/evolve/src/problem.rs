//! Problems with changes and locks.

use wheelwright_document::{Path, Span};
use wheelwright_findings::Rule;
use wheelwright_schema::Problem;

/// A rule that changes or a lock break, and where; nowhere in particular if the span is the default.
pub(crate) fn problem_at(rule: &'static Rule, span: Span, message: impl Into<String>) -> Problem {
    Problem::ours(rule, &Path::Root, span, message)
}
