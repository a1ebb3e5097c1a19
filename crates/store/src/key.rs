//! Keys, and the beginnings of keys.

use std::{borrow::Borrow, error::Error, fmt};

/// The most bytes that a key may have. Azure Cosmos DB allows 1,023 for an id, and PostgreSQL needs an index on it.
pub const MAX_KEY_BYTES: usize = 1000;

/// What a value is stored under: segments with `/` between them, as in `apps.example.com/widgets/team-a/one`.
///
/// The first segments say what is stored, the later ones whose it is and what it is called; so a store that wants its data
/// in partitions takes them from the front.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Key(Box<str>);

/// The first segments of keys; none of them for all keys there are.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Prefix(Box<str>);

/// Keys with a prefix: those after one of them, and up to another; without one, from the first and to the last.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct KeyRange {
    /// The beginning of all of them.
    pub prefix: Prefix,
    /// They are after this key.
    pub after: Option<Key>,
    /// They are not after this key.
    pub until: Option<Key>,
}

/// A text that is no key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum BadKey {
    /// It has no segments, or an empty one.
    EmptySegment,
    /// It has more than [`MAX_KEY_BYTES`].
    TooLong,
    /// It has a character that a store may not be able to say: a control character, `\`, `?` or `#`.
    Forbidden(char),
}

impl Key {
    /// A key of segments with `/` between them.
    ///
    /// # Errors
    /// A segment is empty, or the key is too long or has a control character, `\`, `?` or `#` in it.
    pub fn new(text: impl Into<Box<str>>) -> Result<Self, BadKey> {
        let text = text.into();
        check(&text)?;
        Ok(Self(text))
    }

    /// The key as a text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its segments.
    pub fn segments(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/')
    }
}

impl Prefix {
    /// The beginning of all keys.
    pub fn all() -> Self {
        Self::default()
    }

    /// The beginning of the keys that begin with these segments, with `/` between them. A key does not begin with all of
    /// itself: the prefix `a/b` is that of `a/b/c`, and neither that of `a/b` nor of `a/bc`.
    ///
    /// # Errors
    /// The text could not be the beginning of a [`Key`].
    pub fn new(text: &str) -> Result<Self, BadKey> {
        check(text)?;
        Ok(Self(format!("{text}/").into()))
    }

    /// The beginning as a text, which ends with `/` unless it is empty.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a key begins with it.
    pub fn is_of(&self, key: &Key) -> bool {
        key.0.starts_with(&*self.0)
    }

    /// The key with this beginning, and another one as its rest.
    ///
    /// # Errors
    /// The key would be too long.
    pub fn key(&self, rest: &Key) -> Result<Key, BadKey> {
        if self.0.len() + rest.0.len() > MAX_KEY_BYTES {
            return Err(BadKey::TooLong);
        }
        let mut text = String::with_capacity(self.0.len() + rest.0.len());
        text.push_str(&self.0);
        text.push_str(&rest.0);
        Ok(Key(text.into()))
    }

    /// The first text that is after all keys with this beginning; none if there is no such text. Keys are ordered by their
    /// bytes.
    pub fn end(&self) -> Option<String> {
        // `0` is the character after `/`, which is the last one of every prefix that is not empty.
        self.0.strip_suffix('/').map(|segments| format!("{segments}0"))
    }
}

impl KeyRange {
    /// Whether a key is in it.
    pub fn contains(&self, key: &Key) -> bool {
        self.prefix.is_of(key)
            && self.after.as_ref().is_none_or(|after| key > after)
            && self.until.as_ref().is_none_or(|until| key <= until)
    }
}

fn check(text: &str) -> Result<(), BadKey> {
    if text.len() > MAX_KEY_BYTES {
        return Err(BadKey::TooLong);
    }
    // Nearly all keys are all right, and are looked at with every request.
    let bytes = text.as_bytes();
    let has_empty_segment = bytes.first().is_none_or(|byte| *byte == b'/')
        || bytes.ends_with(b"/")
        || bytes.windows(2).any(|pair| pair == b"//");
    if has_empty_segment {
        return Err(BadKey::EmptySegment);
    }
    if bytes.iter().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'\\' | b'?' | b'#')) {
        return Ok(());
    }
    match text.chars().find(|character| character.is_control() || matches!(character, '\\' | '?' | '#')) {
        Some(character) => Err(BadKey::Forbidden(character)),
        None => Ok(()),
    }
}

impl Borrow<str> for Key {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for BadKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EmptySegment => f.write_str("a key must have segments with / between them, none of them empty"),
            Self::TooLong => write!(f, "a key has at most {MAX_KEY_BYTES} bytes"),
            Self::Forbidden(character) => write!(f, "a key must not have {character:?} in it"),
        }
    }
}

impl Error for BadKey {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_segments_that_every_store_can_say() {
        assert_eq!(Key::new("a/b").unwrap().segments().collect::<Vec<_>>(), ["a", "b"]);
        for (text, problem) in [
            ("", BadKey::EmptySegment),
            ("/a", BadKey::EmptySegment),
            ("a//b", BadKey::EmptySegment),
            ("a/", BadKey::EmptySegment),
            ("a#b", BadKey::Forbidden('#')),
            ("a\u{0}", BadKey::Forbidden('\u{0}')),
        ] {
            assert_eq!(Key::new(text), Err(problem), "{text}");
        }
        assert!(Key::new("a".repeat(MAX_KEY_BYTES)).is_ok());
        assert_eq!(Key::new("a".repeat(MAX_KEY_BYTES + 1)), Err(BadKey::TooLong));
    }

    #[test]
    fn a_prefix_is_of_the_keys_between_itself_and_its_end() {
        let prefix = Prefix::new("a/b").unwrap();
        for (text, expected) in
            [("a/b/c", true), ("a/b", false), ("a/bc", false), ("a/b0", false), ("a/b/\u{10ffff}", true)]
        {
            let key = Key::new(text).unwrap();
            assert_eq!(prefix.is_of(&key), expected, "{text}");
            let is_between = text >= prefix.as_str() && *text < *prefix.end().unwrap();
            assert_eq!(is_between, expected, "{text}");
        }
        assert!(Prefix::all().is_of(&Key::new("a").unwrap()));
        assert_eq!(Prefix::all().end(), None);
    }
}
