//! Why an expression has no value.

use std::{borrow::Cow, error::Error, fmt};

use crate::value::Val;

/// Why an expression has no value for a document. Small, because every step of an evaluation may return one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure(Box<(FailureKind, String)>);

/// The sort of a failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum FailureKind {
    /// It cost too much; nothing more was evaluated.
    Budget,
    /// A function or operator got values that it is not made for.
    NoSuchOverload,
    /// A field, key or item of a document is not there. What is not in a list or map that the expression made is a failure as
    /// any other.
    Absent,
    /// Anything else: an overflow, a division by zero, a text that does not parse.
    Other,
}

impl Failure {
    pub(crate) fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self(Box::new((kind, message.into())))
    }

    #[cold]
    pub(crate) fn other(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Other, message)
    }

    #[cold]
    pub(crate) fn absent(what: impl fmt::Display) -> Self {
        Self::new(FailureKind::Absent, format!("no such key: {what}"))
    }

    /// A value has no part of a name or at a position.
    #[cold]
    pub(crate) fn lacking(container: Val<'_>, what: impl fmt::Display) -> Self {
        match container {
            Val::List(items) => Self::other(format!("index out of range: {what}, in a list of length {}", items.len())),
            Val::Map(_) => Self::other(format!("no such key: {what}")),
            _ => Self::absent(what),
        }
    }

    /// A text cannot be read as what it should be.
    #[cold]
    pub(crate) fn unreadable(text: &str, what: &str) -> Self {
        Self::other(format!("{:?} is no {what}", excerpt(text)))
    }

    #[cold]
    pub(crate) fn no_such_overload(function: &str) -> Self {
        Self::new(FailureKind::NoSuchOverload, format!("no such overload: {function}"))
    }

    #[cold]
    pub(crate) fn budget() -> Self {
        Self::new(FailureKind::Budget, "the expression costs more than it may")
    }

    /// The sort of the failure.
    pub fn kind(&self) -> FailureKind {
        self.0.0
    }

    /// What happened.
    pub fn message(&self) -> &str {
        &self.0.1
    }

    pub(crate) fn is_final(&self) -> bool {
        self.kind() == FailureKind::Budget
    }
}

/// As much of a text as a message has room for: failures are remembered and copied.
pub(crate) fn excerpt(text: &str) -> Cow<'_, str> {
    const CHARACTERS: usize = 100;
    match text.char_indices().nth(CHARACTERS) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl Error for Failure {}
