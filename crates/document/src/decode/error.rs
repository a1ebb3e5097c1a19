//! What can be wrong with the bytes of a document, and where.

use std::{borrow::Cow, error::Error, fmt};

use crate::{FieldPath, Path};

/// A document that could not be decoded.
#[derive(Clone, Debug)]
pub struct DecodeError {
    kind: DecodeErrorKind,
    offset: usize,
    line: usize,
    column: usize,
    /// From the place of the error outwards.
    steps: Vec<Step>,
}

/// What is wrong with the bytes. Displayed, it says so without the place, for those who show that in another way.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// Longer than [`Decode::max_bytes`](crate::Decode::max_bytes).
    TooLarge {
        /// The limit in force.
        limit: usize,
        /// The length of the document.
        actual: usize,
    },
    /// Nested deeper than [`Decode::max_depth`](crate::Decode::max_depth).
    TooDeep {
        /// The limit in force.
        limit: u32,
    },
    /// Not UTF-8.
    InvalidUtf8,
    /// The same key twice in one object.
    DuplicateKey {
        /// The key.
        key: String,
    },
    /// Not JSON.
    Syntax {
        /// What would have been right here.
        expected: &'static str,
    },
}

impl DecodeError {
    #[cold]
    pub(super) fn at(kind: DecodeErrorKind, offset: usize) -> Box<Self> {
        Box::new(Self { kind, offset, line: 1, column: 1, steps: Vec::new() })
    }

    #[cold]
    pub(super) fn inside(mut self: Box<Self>, step: Step) -> Box<Self> {
        self.steps.push(step);
        self
    }

    pub(super) fn located(mut self, bytes: &[u8]) -> Self {
        let before = &bytes[..self.offset.min(bytes.len())];
        self.line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        self.column = before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
        self
    }

    /// What is wrong.
    pub fn kind(&self) -> &DecodeErrorKind {
        &self.kind
    }

    /// Where, in bytes from the start.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The line of the offset, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The byte of the offset in its line, from 1.
    pub fn column(&self) -> usize {
        self.column
    }

    /// The value that was being decoded.
    pub fn path(&self) -> FieldPath {
        written(&self.steps)
    }
}

impl fmt::Display for DecodeErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { limit, actual } => {
                write!(f, "the document has {actual} bytes, more than the limit of {limit}")
            }
            Self::TooDeep { limit } => write!(f, "nested deeper than the limit of {limit}"),
            Self::InvalidUtf8 => f.write_str("not UTF-8"),
            Self::DuplicateKey { key } => write!(f, "the key {:?} occurs twice", shortened(key)),
            Self::Syntax { expected } => write!(f, "expected {expected}"),
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)?;
        // The whole document is too large, not a place in it.
        if matches!(self.kind, DecodeErrorKind::TooLarge { .. }) {
            return Ok(());
        }
        write!(f, " at line {}, column {}", self.line, self.column)?;
        let path = self.path();
        if path.is_root() { Ok(()) } else { write!(f, ", in {}", shortened(path.as_str())) }
    }
}

impl Error for DecodeError {}

/// A path may be as long as the document; a message should not be.
pub(crate) fn shortened(path: &str) -> Cow<'_, str> {
    const ENDS: usize = 60;
    if path.len() <= 3 * ENDS {
        return path.into();
    }
    let (head, tail) = (path.floor_char_boundary(ENDS), path.ceil_char_boundary(path.len() - ENDS));
    format!("{}…{}", &path[..head], &path[tail..]).into()
}

/// One step of a path. Errors and duplicates collect theirs on the way out of the recursion, so that decoding a
/// document without either pays nothing for paths.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

/// The path that steps from the inside outwards lead along.
pub(super) fn written(steps: &[Step]) -> FieldPath {
    // Linked paths borrow from the step before; building one needs recursion or, as here, a continuation.
    fn extend(path: &Path<'_>, steps: &[Step]) -> FieldPath {
        match steps.split_last() {
            None => path.to_field_path(),
            Some((Step::Key(key), rest)) => extend(&Path::Child(path, key), rest),
            Some((Step::Index(index), rest)) => extend(&Path::Index(path, *index), rest),
        }
    }
    extend(&Path::Root, steps)
}
