//! Reads an expression from its source: the whole grammar of CEL as Kubernetes accepts it, optional syntax and names in
//! backticks included.

mod grammar;
mod lexer;
mod literal;
mod macros;

use std::{error, fmt, ops::Range};

pub use grammar::RESERVED_WORDS;

use crate::ast::Expr;

/// How many characters a source may have, as in Kubernetes.
pub const MAX_CHARACTERS: usize = 100_000;

/// How deep expressions and parentheses may be nested, and how high the tree may be that comes of it, so that whoever
/// walks it may do so by recursion. Chains of operators, selections and calls make high trees too, those of `&&` and
/// `||` excepted. Kubernetes has the same limit, but counts each kind of nesting by itself.
pub const MAX_DEPTH: u32 = 250;

/// Reads an expression, with the macros that Kubernetes knows.
pub fn parse(source: &str) -> Result<Expr, ParseError> {
    if let Some((at, _)) = source.char_indices().nth(MAX_CHARACTERS) {
        let end = u32::try_from(source.len()).unwrap_or(u32::MAX);
        return Err(ParseError::new(at as u32..end, format!("longer than {MAX_CHARACTERS} characters")));
    }
    grammar::Parser::new(source).parse()
}

/// Where names in backticks are in a source.
pub(crate) fn quoted_names(source: &str) -> impl Iterator<Item = Range<u32>> {
    // Almost no source has any.
    let tokens = if source.contains('`') { lexer::tokens(source).0 } else { Vec::new() };
    tokens.into_iter().filter(|token| token.kind == lexer::Kind::QuotedName).map(lexer::Token::at)
}

/// Why a source is no expression, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    at: Range<u32>,
    message: String,
}

impl ParseError {
    pub(crate) fn new(at: Range<u32>, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }

    /// The bytes of the source that are wrong; where something is missing at the end, the empty range there.
    pub fn at(&self) -> Range<u32> {
        self.at.clone()
    }

    /// What is wrong with them, as a fragment in lower case.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.message, self.at.start)
    }
}

impl error::Error for ParseError {}
