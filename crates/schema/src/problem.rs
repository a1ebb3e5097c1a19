//! What is wrong with a schema or another file: a rule that is broken, where, and how to mend it.

use std::ops::Range;

use wheelwright_document::{FieldPath, Path, Span};
use wheelwright_findings::{Rule, rules};

use crate::{ErrorType, error::TextLimit};

/// A rule that a schema breaks.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Problem {
    /// The rule.
    pub rule: &'static Rule,
    /// The error that Kubernetes answers with; none for what only we find.
    pub kind: Option<ErrorType>,
    /// The keyword, as Kubernetes writes it: `properties[spec].items.type`.
    pub path: FieldPath,
    /// Where it was written.
    pub span: Span,
    /// What part of the text that was written there it is about, of an expression: the text and the bytes of it.
    pub part: Option<(Box<str>, Range<u32>)>,
    /// Other places that have to do with it.
    pub related: Vec<(Span, String)>,
    /// What is wrong here.
    pub message: String,
    /// What to write instead.
    pub mend: Option<String>,
    /// Kubernetes forgives it in an update of a definition that had a problem of the same sort before.
    pub ratchets: bool,
    /// It keeps the schema from being structural, which is one sort of problem to Kubernetes.
    pub(crate) structural: bool,
}

impl Problem {
    pub(crate) fn new(
        rule: &'static Rule,
        kind: ErrorType,
        path: &Path<'_>,
        span: Span,
        message: impl Into<String>,
    ) -> Self {
        Self { kind: Some(kind), ..Self::ours(rule, path, span, message) }
    }

    /// A problem that Kubernetes does not report.
    pub fn ours(rule: &'static Rule, path: &Path<'_>, span: Span, message: impl Into<String>) -> Self {
        Self {
            rule,
            kind: None,
            path: path.to_field_path(),
            span,
            part: None,
            related: Vec::new(),
            message: message.into(),
            mend: None,
            ratchets: false,
            structural: false,
        }
    }

    /// Says what to write instead.
    #[must_use]
    pub fn mend(mut self, mend: impl Into<String>) -> Self {
        self.mend = Some(mend.into());
        self
    }

    /// Points at another place that has to do with it.
    #[must_use]
    pub fn related(mut self, span: Span, label: impl Into<String>) -> Self {
        self.related.push((span, label.into()));
        self
    }
}

/// Problems, as many as somebody can read: the path of one can be as long as the schema, so whoever looks for more asks
/// first whether there is room.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    list: Vec<Problem>,
    limit: TextLimit,
}

impl Problems {
    /// Whether enough is written down; there is no point in looking on.
    pub(crate) fn is_full(&self) -> bool {
        self.limit.is_reached()
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Writes a problem down and gives it back for details.
    pub(crate) fn push(&mut self, problem: Problem) -> &mut Problem {
        self.limit.count(problem.path.as_str());
        self.limit.count(&problem.message);
        self.limit.count(problem.mend.as_deref().unwrap_or_default());
        let position = self.list.len();
        self.list.push(problem);
        &mut self.list[position]
    }

    /// What was found, and that there is more if there may be.
    pub(crate) fn into_list(self) -> Vec<Problem> {
        let is_full = self.is_full();
        let mut list = self.list;
        if is_full {
            let message = "more is wrong with this schema than can be written down: mend what is shown first";
            list.push(Problem::ours(&rules::MALFORMED_SCHEMA, &Path::Root, Span::default(), message));
        }
        list
    }
}
