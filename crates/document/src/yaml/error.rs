//! What can be wrong with a YAML stream, and where.

use std::{error::Error, fmt};

use crate::Span;

/// A YAML stream that could not be decoded.
#[derive(Clone, Debug)]
pub struct YamlError {
    kind: YamlErrorKind,
    span: Span,
}

/// What is wrong with the YAML. Displayed, it says so without the place, for those who show that in another way.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum YamlErrorKind {
    /// Longer than [`Decode::max_bytes`](crate::Decode::max_bytes).
    TooLarge {
        /// The limit in force.
        limit: usize,
        /// The length of the stream.
        actual: usize,
    },
    /// Nested deeper than [`Decode::max_depth`](crate::Decode::max_depth), aliases included, or than the parser goes.
    TooDeep {
        /// The limit in force.
        limit: u32,
    },
    /// Aliases and merges repeat so much that the document would have more values than its size justifies; long texts
    /// count as several.
    TooManyNodes {
        /// The limit in force.
        limit: usize,
    },
    /// Not UTF-8.
    InvalidUtf8,
    /// A character that YAML forbids outside of escapes.
    ControlCharacter {
        /// The character.
        character: char,
    },
    /// Not YAML.
    Syntax {
        /// What the parser says.
        message: String,
    },
    /// The same key twice in one mapping.
    DuplicateKey {
        /// The key.
        key: String,
        /// Where it was written first.
        first: Span,
    },
    /// A key that no JSON object can have.
    UnsupportedKey {
        /// What the key is, in JSON's words.
        found: &'static str,
    },
    /// A tag that has no meaning in JSON.
    UnsupportedTag {
        /// The tag, as people write it.
        tag: String,
    },
    /// A scalar that is not what its tag says.
    MismatchedTag {
        /// The tag, as people write it.
        tag: String,
        /// The scalar.
        text: String,
    },
    /// An infinity or not-a-number.
    NotFinite {
        /// The scalar.
        text: String,
    },
    /// An alias of an anchor that its document has not finished before it.
    UnknownAnchor,
    /// A merge key whose value is neither a mapping nor a list of mappings.
    InvalidMerge,
}

impl YamlError {
    #[cold]
    pub(super) fn new(kind: YamlErrorKind, span: Span) -> Self {
        Self { kind, span }
    }

    /// What is wrong.
    pub fn kind(&self) -> &YamlErrorKind {
        &self.kind
    }

    /// Where; of two places that contradict each other, the later one.
    pub fn span(&self) -> Span {
        self.span
    }
}

impl fmt::Display for YamlErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { limit, actual } => {
                write!(f, "the YAML has {actual} bytes, more than the limit of {limit}")
            }
            Self::TooDeep { limit } => write!(f, "nested deeper than the limit of {limit}"),
            Self::TooManyNodes { limit } => {
                write!(f, "aliases and merges expand this document to more than {limit} values; repeat less")
            }
            Self::InvalidUtf8 => f.write_str("not UTF-8"),
            Self::ControlCharacter { character } => {
                write!(f, "the character U+{:04X} is not allowed; escape it in double quotes", u32::from(*character))
            }
            Self::Syntax { message } => write!(f, "not YAML: {message}"),
            Self::DuplicateKey { key, first } => {
                let key = shortened(key);
                write!(f, "the key {key:?} of line {}, column {} occurs again", first.line, first.column)
            }
            Self::UnsupportedKey { found } => {
                write!(f, "the key of a field must be a string, not {found}; quote it if it is meant as text")
            }
            Self::UnsupportedTag { tag } => {
                write!(f, "the tag {} has no meaning in JSON; remove it", shortened(tag))
            }
            Self::MismatchedTag { tag, text } => write!(f, "{:?} is not a {tag}", shortened(text)),
            Self::NotFinite { text } => write!(f, "JSON has no number {text}; quote it if it is meant as text"),
            Self::UnknownAnchor => f.write_str("the alias has no complete anchor before it in its document"),
            Self::InvalidMerge => f.write_str("a merge key takes a mapping or a list of mappings"),
        }
    }
}

impl fmt::Display for YamlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)?;
        // The whole stream is too large, not a place in it.
        if matches!(self.kind, YamlErrorKind::TooLarge { .. }) {
            return Ok(());
        }
        write!(f, " at line {}, column {}", self.span.line, self.span.column)
    }
}

impl Error for YamlError {}

/// A key or scalar may be as long as the document; a message should not be.
fn shortened(text: &str) -> &str {
    &text[..text.floor_char_boundary(120)]
}
