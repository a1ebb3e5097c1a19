//! How another system fails us.

use std::{error::Error, fmt};

use crate::Name;

/// What another system could not tell.
#[derive(Debug)]
pub struct SourceError {
    source: Box<str>,
    problem: SourceProblem,
}

/// Why it could not.
#[derive(Debug)]
#[non_exhaustive]
pub enum SourceProblem {
    /// The catalog names it, and nobody has registered it.
    Unregistered,
    /// It is registered, and no kind names it.
    Undeclared,
    /// It cannot be asked, or does not answer.
    Unreachable(Box<dyn Error + Send + Sync>),
    /// What it answers for a document cannot be used, and why not.
    Malformed(Name, String),
    /// It was asked for so many documents, and answered for so many.
    Incomplete(usize, usize),
}

impl SourceError {
    pub(crate) fn new(source: &str, problem: SourceProblem) -> Self {
        Self { source: source.into(), problem }
    }

    /// What the system is called in the catalog.
    pub fn name(&self) -> &str {
        &self.source
    }

    /// Why it could not tell.
    pub fn problem(&self) -> &SourceProblem {
        &self.problem
    }
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, problem } = self;
        match problem {
            SourceProblem::Unregistered => {
                write!(f, "the catalog names the external source {source}, and nobody has said how it is asked")
            }
            SourceProblem::Undeclared => write!(f, "no kind of the catalog has an external source {source}"),
            SourceProblem::Unreachable(cause) => write!(f, "the external source {source} does not answer: {cause}"),
            SourceProblem::Malformed(name, why) => {
                write!(f, "the external source {source} gave no usable answer for {name}: {why}")
            }
            SourceProblem::Incomplete(asked, answered) => {
                write!(f, "the external source {source} was asked for {asked} documents and answered for {answered}")
            }
        }
    }
}

impl Error for SourceError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.problem {
            SourceProblem::Unreachable(cause) => Some(&**cause),
            _ => None,
        }
    }
}
