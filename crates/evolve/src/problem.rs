//! What is wrong with changes, or with a lock.

use std::fmt;

use wheelwright_document::Span;
use wheelwright_findings::Rule;

/// A rule that changes break, and where.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ChangeProblem {
    /// The rule.
    pub rule: &'static Rule,
    /// Where in the file with the changes; nowhere in particular if it is the default.
    pub span: Span,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub mend: Option<String>,
}

impl ChangeProblem {
    /// A problem at a place.
    pub fn new(rule: &'static Rule, span: Span, message: impl Into<String>) -> Self {
        Self { rule, span, message: message.into(), mend: None }
    }

    /// The same, with what to write instead.
    #[must_use]
    pub fn mend(self, mend: impl Into<String>) -> Self {
        Self { mend: Some(mend.into()), ..self }
    }
}

impl fmt::Display for ChangeProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule.id, self.message)
    }
}
