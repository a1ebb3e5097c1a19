//! Expressions: whatever is written ends well, and places are within the source and hold what they claim.

use std::ops::Range;

use wheelwright_expr::parse;

/// Reads an expression.
pub fn cel(input: &[u8]) {
    let Ok(source) = std::str::from_utf8(input) else { return };
    let text = |at: Range<u32>| source.get(at.start as usize..at.end as usize).expect("a place within the source");
    match parse(source) {
        Ok(expr) => {
            let again = parse(text(expr.at.clone())).expect("an expression by itself");
            assert_eq!(again.at, 0..expr.at.end - expr.at.start);
        }
        Err(error) => {
            text(error.at());
            assert!(!error.message().is_empty());
        }
    }
}
