//! How reading and writing fail.

use std::{error::Error, fmt};

use wheelwright_document::{DecodeError, DecodeErrorKind, FieldPath, PatchError};
use wheelwright_evolve::{PutError, VersionName};
use wheelwright_schema::{AdmitError, AdmitErrorKind, ErrorType, ValidationError};
use wheelwright_store::{BadKey, ErrorKind, StoreError};

use crate::{Loss, Name, OpenError, SourceError, SourceProblem, SweepError, open::ViewError};

/// What the repository could not do.
#[derive(Debug)]
#[non_exhaustive]
pub enum RepositoryError {
    /// The store failed, or said that there is something else: see its [kind](StoreError::kind).
    Store(StoreError),
    /// The repository has no kind of this name.
    UnknownKind(Box<str>),
    /// Two kinds have keys that begin alike, so that each would take records of the other for its own.
    SharedKeys {
        /// The one.
        kind: Box<str>,
        /// The other one.
        other: Box<str>,
    },
    /// The kind has no version of this name, or none that can be written.
    UnknownVersion(VersionName),
    /// No version has a field of this name, and no sort of loss is called so.
    UnknownLoss {
        /// What was accepted.
        name: Box<str>,
        /// A field of a similar name.
        closest: Option<Box<str>>,
    },
    /// What is no name of a document.
    Name(BadKey),
    /// A record cannot be opened.
    Record(Name, OpenError),
    /// The write is refused.
    Write(WriteError),
    /// Another system owns fields of the document, and cannot tell them.
    Source(SourceError),
    /// A sweep cannot go on.
    Sweep(SweepError),
}

/// Why a write is refused.
#[derive(Debug)]
#[non_exhaustive]
pub enum WriteError {
    /// What is sent is no JSON, or beyond its limits.
    Decode(DecodeError),
    /// What is sent is no object, but what this says.
    NoObject(&'static str),
    /// There is nothing that could be patched.
    NothingToPatch,
    /// A whole document without the revision that it replaces.
    Unconditional,
    /// The patch cannot be applied.
    Patch(PatchError),
    /// The version cannot decode it.
    Admit(AdmitError),
    /// The document would be too large or too deep: in which form, and which field.
    TooLarge(String),
    /// A policy refuses it.
    Put(PutError),
    /// What the service fills in could not be computed: which field, and why not.
    NotComputed(String),
    /// The kind has no version of this name that can be written.
    UnknownVersion(VersionName),
    /// Fields are not as they must be.
    Fields(Vec<FieldError>),
    /// The record that is there cannot be opened.
    Open(OpenError),
    /// This program is too old to write the record: it does not know a version that writers of it must know.
    TooOld {
        /// The version that it must know.
        oldest_writer: VersionName,
    },
    /// Another system owns fields of the document, and cannot tell them.
    Source(SourceError),
    /// Whoever has a say in it beside the schema refuses it.
    Judged(Box<dyn Error + Send + Sync>),
}

/// A field that is not as it must be.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FieldError {
    /// The field, in the names of the version that was written.
    pub path: FieldPath,
    /// What is wrong with it.
    pub problem: FieldProblem,
}

/// What is wrong with a field.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum FieldProblem {
    /// Its value is not valid.
    Invalid(ValidationError),
    /// It cannot be written so, and why not.
    NotWritable(&'static str),
    /// It is set when the document is created, and never changed.
    Fixed,
    /// The version does not know it.
    Unknown,
    /// A policy refuses null.
    NullRefused,
    /// It cannot be cleared, since readers would fill it in again.
    WouldRefill,
    /// A protocol demands something else of it, and what: a sort of error, and words.
    Demanded(ErrorType, String),
}

impl FieldError {
    /// A field with what is wrong with it.
    pub fn new(path: FieldPath, problem: FieldProblem) -> Self {
        Self { path, problem }
    }
}

impl WriteError {
    /// The error for a body that cannot be decoded.
    pub(crate) fn decode(error: DecodeError) -> Self {
        match error.kind() {
            DecodeErrorKind::TooLarge { limit, actual } => {
                Self::TooLarge(format!("it has {actual} bytes, more than the {limit} allowed"))
            }
            _ => Self::Decode(error),
        }
    }

    /// The error for a document that its version cannot decode, or that its defaults make too large.
    pub(crate) fn admit(error: AdmitError) -> Self {
        match error.kind() {
            AdmitErrorKind::TooLarge => Self::TooLarge(error.to_string()),
            _ => Self::Admit(error),
        }
    }

    /// An error if there is something wrong with fields.
    pub(crate) fn fields(errors: Vec<FieldError>) -> Result<(), Self> {
        if errors.is_empty() { Ok(()) } else { Err(Self::Fields(errors)) }
    }
}

impl RepositoryError {
    /// What the store says, if it was the store.
    pub fn store(&self) -> Option<&ErrorKind> {
        match self {
            Self::Store(error) => Some(error.kind()),
            _ => None,
        }
    }

    /// The document that cannot be displayed, if the error is about one.
    pub fn document(&self) -> Option<&Name> {
        match self {
            Self::Record(name, _) => Some(name),
            Self::Source(error) => match error.problem() {
                SourceProblem::Malformed(name, _) => Some(name),
                _ => None,
            },
            _ => None,
        }
    }

    pub(crate) fn view(name: &Name) -> impl FnOnce(ViewError) -> Self + '_ {
        move |error| match error {
            ViewError::Open(error) => Self::Record(name.clone(), error),
            ViewError::UnknownVersion(version) => Self::UnknownVersion(version),
            ViewError::Source(error) => Self::Source(error),
        }
    }

    pub(crate) fn write(name: &Name) -> impl FnOnce(WriteError) -> Self + '_ {
        move |error| match error {
            WriteError::Open(error) => Self::Record(name.clone(), error),
            WriteError::UnknownVersion(version) => Self::UnknownVersion(version),
            WriteError::Source(error) => Self::Source(error),
            error => Self::Write(error),
        }
    }
}

impl From<StoreError> for RepositoryError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<SourceError> for RepositoryError {
    fn from(error: SourceError) -> Self {
        Self::Source(error)
    }
}

impl From<BadKey> for RepositoryError {
    fn from(error: BadKey) -> Self {
        Self::Name(error)
    }
}

impl fmt::Display for RepositoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => error.fmt(f),
            Self::UnknownKind(kind) => write!(f, "there is no kind {kind}"),
            Self::SharedKeys { kind, other } => write!(
                f,
                "the keys of {kind} and {other} begin alike, and each would take records of the other for its own; give one of \
                 them an adopt.prefix of its own"
            ),
            Self::UnknownVersion(version) => write!(f, "there is no version {version}"),
            Self::UnknownLoss { name, closest } => {
                write!(f, "no version has a field {name} whose loss could be accepted; ")?;
                match closest {
                    Some(closest) => write!(f, "did you mean {closest}?"),
                    None => {
                        let losses = Loss::ALL.map(Loss::name).join(", ");
                        write!(f, "name a field as the report does, or one of {losses}")
                    }
                }
            }
            Self::Name(error) => error.fmt(f),
            Self::Record(name, error) => write!(f, "{name}: {error}"),
            Self::Write(error) => error.fmt(f),
            Self::Source(error) => error.fmt(f),
            Self::Sweep(error) => error.fmt(f),
        }
    }
}

impl Error for RepositoryError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Store(error) => error.source(),
            Self::Source(error) => error.source(),
            _ => None,
        }
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Decode(error) => error.fmt(f),
            Self::NoObject(kind_name) => write!(f, "a document must be an object, not {kind_name}"),
            Self::NothingToPatch => f.write_str("there is nothing to patch; send the whole document to create it"),
            Self::Unconditional => f.write_str("a whole document is written in the place of a revision; say which"),
            Self::Patch(error) => error.fmt(f),
            Self::Admit(error) => error.fmt(f),
            Self::TooLarge(why) => write!(f, "the document is too large: {why}"),
            Self::Put(error) => error.fmt(f),
            Self::NotComputed(why) => f.write_str(why),
            Self::UnknownVersion(version) => write!(f, "there is no version {version} to write"),
            Self::Fields(errors) => {
                let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
                f.write_str(&texts.join("; "))
            }
            Self::Open(error) => error.fmt(f),
            Self::Source(error) => error.fmt(f),
            Self::Judged(error) => error.fmt(f),
            Self::TooOld { oldest_writer } => write!(
                f,
                "only programs that know version {oldest_writer} may write the record, and this one's catalog does not; \
                 bring its catalog and lock up to date"
            ),
        }
    }
}

impl Error for WriteError {}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, problem } = self;
        match problem {
            FieldProblem::Invalid(error) => write!(f, "{path}: {}", error.message()),
            FieldProblem::NotWritable(why) => write!(f, "{path}: {why}"),
            FieldProblem::Demanded(_, what) => write!(f, "{path}: {what}"),
            FieldProblem::Fixed => write!(f, "{path}: can be set only when the document is created"),
            FieldProblem::Unknown => write!(f, "{path}: the version has no such field"),
            FieldProblem::NullRefused => {
                write!(f, "{path}: null is refused here; leave the field out, or give it a value")
            }
            FieldProblem::WouldRefill => {
                write!(f, "{path}: cannot be cleared, since its default would be filled in again; give it a value")
            }
        }
    }
}
