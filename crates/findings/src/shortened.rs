//! Texts from outside, in messages: they may be of any length.

use std::borrow::Cow;

/// As much of a text as a message has room for.
pub fn shortened(text: &str) -> Cow<'_, str> {
    const CHARACTERS: usize = 60;
    match text.char_indices().nth(CHARACTERS) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_ends_early_and_says_so() {
        let (fits, long) = ("ä".repeat(60), "ä".repeat(61));
        assert_eq!(shortened(&fits), fits);
        assert_eq!(shortened(&long), format!("{fits}…"));
    }
}
