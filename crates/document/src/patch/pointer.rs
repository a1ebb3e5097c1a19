//! JSON pointers (RFC 6901).

use std::borrow::Cow;

/// A place in a document, as a patch names it: `/spec/ports/0`.
#[derive(Clone, Debug)]
pub(super) struct Pointer<'a> {
    text: &'a str,
    tokens: Vec<Cow<'a, str>>,
}

impl<'a> Pointer<'a> {
    /// The pointer that `text` spells, or what would have been right.
    pub(super) fn parse(text: &'a str) -> Result<Self, &'static str> {
        let tokens = match text.strip_prefix('/') {
            Some(rest) => rest.split('/').map(unescaped).collect::<Option<_>>(),
            None if text.is_empty() => Some(Vec::new()),
            None => {
                return Err("a pointer starts with a slash, or is empty for the whole document");
            }
        };
        let tokens = tokens.ok_or("in a pointer, write ~0 for a tilde and ~1 for a slash")?;
        Ok(Self { text, tokens })
    }

    pub(super) fn as_str(&self) -> &'a str {
        self.text
    }

    pub(super) fn tokens(&self) -> &[Cow<'a, str>] {
        &self.tokens
    }

    /// The tokens that lead to the object or list around the place; none for the whole document.
    pub(super) fn parent(&self) -> Option<&[Cow<'a, str>]> {
        self.tokens.split_last().map(|(_, parents)| parents)
    }

    /// The pointer to the place that the first tokens lead to.
    pub(super) fn prefix(&self, tokens: usize) -> &'a str {
        let end = self.text.match_indices('/').nth(tokens).map_or(self.text.len(), |(at, _)| at);
        &self.text[..end]
    }

    pub(super) fn is_inside(&self, other: &Pointer<'_>) -> bool {
        self.tokens.len() > other.tokens.len() && self.tokens.starts_with(&other.tokens)
    }
}

fn unescaped(token: &str) -> Option<Cow<'_, str>> {
    let mut parts = token.split('~');
    let first = parts.next()?;
    if first.len() == token.len() {
        return Some(token.into());
    }
    let mut text = first.to_owned();
    for part in parts {
        text.push(match part.as_bytes().first()? {
            b'0' => '~',
            b'1' => '/',
            _ => return None,
        });
        text.push_str(&part[1..]);
    }
    Some(text.into())
}

/// The position that a token names in a list: digits without leading zeros.
pub(super) fn position(token: &str) -> Option<usize> {
    let digits = token.bytes().all(|byte| byte.is_ascii_digit()) && (token == "0" || !token.starts_with('0'));
    digits.then(|| token.parse().ok())?
}
