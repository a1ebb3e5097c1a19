//! How large the program of a pattern gets, told from its syntax before anything is built.

use regex_syntax::{
    Parser,
    hir::{Class, Hir, HirKind},
};

/// An estimate of how many states the program of a pattern has; `None` if the pattern nests too deeply to be parsed.
pub(super) fn of(rust: &str) -> Option<usize> {
    Some(size(&Parser::new().parse(rust).ok()?))
}

/// The parser limits how deep a pattern nests, and so this recursion.
fn size(hir: &Hir) -> usize {
    let sum = |parts: &[Hir]| parts.iter().map(size).fold(1, usize::saturating_add);
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len(),
        // A range of characters is a handful of ranges of bytes.
        HirKind::Class(Class::Unicode(class)) => 2 * class.ranges().len() + 1,
        HirKind::Class(Class::Bytes(class)) => class.ranges().len() + 1,
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min.max(1)) as usize;
            size(&repetition.sub).saturating_mul(times).saturating_add(1)
        }
        HirKind::Capture(capture) => size(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => sum(parts),
    }
}
