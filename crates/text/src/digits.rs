//! Where the digits at the start of a text end.

/// The digits, and what follows them.
pub(crate) fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}
