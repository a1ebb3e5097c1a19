//! Which characters of a URL are escaped, and how they come back.

/// A part of a URL, each with characters of its own that may stand as they are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Path,
    User,
    Host,
    Fragment,
    Query,
}

impl Part {
    /// Whether a byte stands as it is when Go writes this part.
    fn is_plain(self, byte: u8) -> bool {
        let others: &[u8] = match self {
            Self::Path => b"-_.~$&+,/:;=@",
            Self::User => b"-_.~$&+,;=",
            Self::Host => b"-_.~!$&'()*+,;=:[]<>\"",
            Self::Fragment => b"-_.~$&+,/:;=?@!()*",
            Self::Query => b"-_.~",
        };
        byte.is_ascii_alphanumeric() || others.contains(&byte)
    }
}

/// The text with everything escaped that Go escapes.
pub(super) fn escape(bytes: &[u8], part: Part) -> String {
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes {
        if part.is_plain(*byte) {
            text.push(char::from(*byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

/// The bytes that a text stands for; `None` if a `%` is not followed by two digits.
pub(super) fn unescape(text: &str, part: Part) -> Option<Vec<u8>> {
    let mut unescaped = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        unescaped.push(match byte {
            b'%' => escaped(&mut bytes)?,
            b'+' if part == Part::Query => b' ',
            _ => byte,
        });
    }
    Some(unescaped)
}

/// What was written, if all of it may stand as it was written, and else its normal form.
pub(super) fn as_written(text: &str, part: Part) -> Option<String> {
    let unescaped = unescape(text, part)?;
    let may_stand = |byte: u8| part.is_plain(byte) || b"!$&'()*+,;=:@[]%".contains(&byte);
    Some(if text.bytes().all(may_stand) { text.to_owned() } else { escape(&unescaped, part) })
}

/// The byte that the two digits after a `%` stand for.
pub(super) fn escaped(bytes: &mut impl Iterator<Item = u8>) -> Option<u8> {
    let mut digit = || char::from(bytes.next()?).to_digit(16);
    u8::try_from(digit()? * 16 + digit()?).ok()
}
