//! What can be wrong with a document, in Kubernetes' words.

use std::{error::Error, fmt};

use wheelwright_document::FieldPath;

/// The sort of an error, as Kubernetes' API names it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum ErrorType {
    /// A field must be there and is not.
    Required,
    /// A value is not allowed.
    Invalid,
    /// A value has the wrong type.
    TypeInvalid,
    /// A value is not one of those that are listed.
    NotSupported,
    /// A field must not be there and is.
    Forbidden,
    /// A value must be unique and is not.
    Duplicate,
    /// A value is too long.
    TooLong,
    /// A list or an object has too many members.
    TooMany,
}

impl ErrorType {
    /// The name that Kubernetes gives it in the causes of a `Status`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Required => "FieldValueRequired",
            Self::Invalid => "FieldValueInvalid",
            Self::TypeInvalid => "FieldValueTypeInvalid",
            Self::NotSupported => "FieldValueNotSupported",
            Self::Forbidden => "FieldValueForbidden",
            Self::Duplicate => "FieldValueDuplicate",
            Self::TooLong => "FieldValueTooLong",
            Self::TooMany => "FieldValueTooMany",
        }
    }
}

impl fmt::Display for ErrorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One thing that is wrong with a document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ValidationError {
    pub(crate) kind: ErrorType,
    pub(crate) path: FieldPath,
    pub(crate) message: String,
    pub(crate) source: Source,
}

/// Which part of Kubernetes would have found an error; it decides where the error is reported and what hides it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    /// The schema validator.
    Schema,
    /// The schema validator, which loses the path of ranges and junctors and reports them at the root.
    SchemaAtRoot,
    /// The uniqueness of sets and maps.
    List,
    /// The metadata of embedded resources.
    Metadata,
    /// The rules of `x-kubernetes-validations`.
    Rule,
    /// The same, which were not evaluated because of other errors.
    SkippedRules,
    /// A rule that no document can satisfy, because it cannot be evaluated.
    BrokenRule,
}

impl ValidationError {
    /// The sort of the error.
    pub fn kind(&self) -> ErrorType {
        self.kind
    }

    /// The field that is wrong.
    pub fn path(&self) -> &FieldPath {
        &self.path
    }

    /// The field that Kubernetes reports. It loses the path of failed ranges and junctors and reports the root.
    pub fn kubernetes_path(&self) -> FieldPath {
        match self.source {
            Source::SchemaAtRoot => FieldPath::root(),
            _ => self.path.clone(),
        }
    }

    /// Whether a rule of `x-kubernetes-validations` says so.
    pub fn is_from_rule(&self) -> bool {
        matches!(self.source, Source::Rule | Source::SkippedRules | Source::BrokenRule)
    }

    /// Whether this only says that other errors kept rules from being evaluated, which Kubernetes reports as an error.
    pub fn is_about_skipped_rules(&self) -> bool {
        self.source == Source::SkippedRules
    }

    /// Whether a rule of the schema is to blame, which cannot be evaluated whatever the document says.
    pub fn is_about_broken_rule(&self) -> bool {
        self.source == Source::BrokenRule
    }

    /// What is wrong with it.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for ValidationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

impl Error for ValidationError {}

/// How much text about one document or schema is written down: a path can be as long as the document, and so can the
/// list of errors, but their product must not be written.
#[derive(Debug, Default)]
pub(crate) struct TextLimit {
    bytes: usize,
}

impl TextLimit {
    const MOST: usize = 4 << 20;

    /// Whether nothing more is written down; there is no point in looking on.
    #[inline]
    pub(crate) fn is_reached(&self) -> bool {
        self.bytes > Self::MOST
    }

    pub(crate) fn count(&mut self, text: &str) {
        self.bytes += text.len();
    }
}

/// The errors of a document, up to a limit.
#[derive(Debug, Default)]
pub(crate) struct ErrorLog {
    pub(crate) errors: Vec<ValidationError>,
    limit: TextLimit,
}

impl ErrorLog {
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.limit.is_reached()
    }

    pub(crate) fn push(&mut self, error: impl FnOnce() -> ValidationError) {
        if !self.is_full() {
            let error = error();
            self.limit.count(error.path.as_str());
            self.limit.count(&error.message);
            self.errors.push(error);
        }
    }
}
