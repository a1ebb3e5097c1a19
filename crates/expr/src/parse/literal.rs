//! What the literals mean.

use std::{fmt, ops::Range};

use super::{ParseError, lexer::Kind};
use crate::ast::Literal;

/// The literal that a token is; `source` is its text, with the minus before a number if there is one.
pub(super) fn literal(kind: Kind, source: &str, at: Range<u32>) -> Result<Literal, ParseError> {
    match kind {
        Kind::Int => int(source).ok_or_else(|| out_of_range(at, source, "an int")).map(Literal::Int),
        Kind::Uint => uint(source).ok_or_else(|| out_of_range(at, source, "a uint")).map(Literal::Uint),
        Kind::Double => double(source).ok_or_else(|| out_of_range(at, source, "a double")).map(Literal::Double),
        _ => quoted(source, at.start),
    }
}

fn out_of_range(at: Range<u32>, source: &str, kind: &str) -> ParseError {
    ParseError::new(at, format!("`{source}` is out of the range of {kind}"))
}

fn int(source: &str) -> Option<i64> {
    let magnitude = magnitude(source.trim_start_matches('-'))?;
    if source.starts_with('-') { 0_i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
}

fn uint(source: &str) -> Option<u64> {
    magnitude(source.trim_end_matches(['u', 'U']))
}

fn magnitude(digits: &str) -> Option<u64> {
    match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => digits.parse().ok(),
    }
}

fn double(source: &str) -> Option<f64> {
    source.parse().ok().filter(|number: &f64| number.is_finite())
}

/// How a text is quoted.
pub(super) struct Quotes {
    pub(super) is_bytes: bool,
    pub(super) is_raw: bool,
    /// How many letters are before the quotes.
    pub(super) prefix: usize,
    quote: u8,
    /// One, or three for a text of many lines.
    pub(super) count: usize,
}

impl Quotes {
    /// The quotes that the source starts with: `b` may come before them, then `r`, in this order.
    pub(super) fn read(source: &[u8]) -> Option<Self> {
        let is_bytes = matches!(source, [b'b' | b'B', ..]);
        let is_raw = matches!(&source[usize::from(is_bytes)..], [b'r' | b'R', ..]);
        let prefix = usize::from(is_bytes) + usize::from(is_raw);
        let quote = *source.get(prefix).filter(|byte| matches!(byte, b'"' | b'\''))?;
        let count = if source[prefix..].starts_with(&[quote; 3]) { 3 } else { 1 };
        Some(Self { is_bytes, is_raw, prefix, quote, count })
    }

    /// Whether the source starts with the closing quotes.
    pub(super) fn close(&self, source: &[u8]) -> bool {
        source.len() >= self.count && source[..self.count].iter().all(|byte| *byte == self.quote)
    }
}

impl fmt::Display for Quotes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", char::from(self.quote).to_string().repeat(self.count))
    }
}

fn quoted(source: &str, start: u32) -> Result<Literal, ParseError> {
    let Some(quotes) = Quotes::read(source.as_bytes()) else {
        return Err(ParseError::new(start..start + source.len() as u32, "expected a literal"));
    };
    let open = quotes.prefix + quotes.count;
    let content = &source[open..source.len() - quotes.count];
    let start = start + open as u32;
    if quotes.is_bytes {
        let mut bytes = Vec::with_capacity(content.len());
        decode(content, start, &quotes, |part| match part {
            Part::Text(text) => bytes.extend_from_slice(text.as_bytes()),
            // Escape sequences in bytes are octets, so that this loses nothing.
            Part::Code(code) => bytes.push(code as u32 as u8),
        })?;
        Ok(Literal::Bytes(bytes.into()))
    } else {
        let mut string = String::with_capacity(content.len());
        decode(content, start, &quotes, |part| match part {
            Part::Text(text) => string.push_str(text),
            Part::Code(code) => string.push(code),
        })?;
        Ok(Literal::String(string.into()))
    }
}

enum Part<'s> {
    /// Text that stands for itself.
    Text(&'s str),
    /// What an escape sequence stands for.
    Code(char),
}

/// Every end of a line is read as `\n`, in raw texts and in bytes too.
fn decode<'s>(content: &'s str, start: u32, quotes: &Quotes, mut push: impl FnMut(Part<'s>)) -> Result<(), ParseError> {
    let mut rest = content;
    while let Some(at) = rest.bytes().position(|byte| byte == b'\r' || (byte == b'\\' && !quotes.is_raw)) {
        let (text, special) = rest.split_at(at);
        push(Part::Text(text));
        rest = if let Some(after) = special.strip_prefix('\r') {
            push(Part::Code('\n'));
            after.strip_prefix('\n').unwrap_or(after)
        } else {
            let (code, length) = escape(special, quotes.is_bytes).map_err(|(length, message)| {
                let start = start + (content.len() - special.len()) as u32;
                ParseError::new(start..start + length as u32, message)
            })?;
            push(Part::Code(code));
            &special[length..]
        };
    }
    push(Part::Text(rest));
    Ok(())
}

/// What the escape sequence at the front stands for, and how long it is; if it is none, how long the wrong part is.
fn escape(source: &str, is_bytes: bool) -> Result<(char, usize), (usize, String)> {
    let letter = source[1..].chars().next().unwrap_or_default();
    let code = match letter {
        'a' => '\x07',
        'b' => '\x08',
        'f' => '\x0c',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0b',
        '\\' | '"' | '\'' | '`' | '?' => letter,
        'u' | 'U' if is_bytes => {
            return Err((2, format!("`\\{letter}` is for texts; bytes have `\\x` and two digits")));
        }
        'x' | 'X' => return digits(source, 2, 2, 16),
        'u' => return digits(source, 2, 4, 16),
        'U' => return digits(source, 2, 8, 16),
        '0'..='3' => return digits(source, 1, 3, 8),
        _ => {
            let message = format!("`\\{}` is no escape sequence; a backslash is `\\\\`", letter.escape_debug());
            return Err((1 + letter.len_utf8(), message));
        }
    };
    Ok((code, 2))
}

fn digits(source: &str, from: usize, count: usize, radix: u32) -> Result<(char, usize), (usize, String)> {
    let digits = &source[from..];
    let found = digits.bytes().take(count).take_while(|byte| char::from(*byte).is_digit(radix)).count();
    if found < count {
        let base = if radix == 8 { "octal" } else { "hexadecimal" };
        let message = format!("expected {count} {base} digits after `{}`, found {found}", &source[..from]);
        return Err((from + found, message));
    }
    let length = from + count;
    let code = u32::from_str_radix(&digits[..count], radix).ok().and_then(char::from_u32);
    code.map(|code| (code, length)).ok_or_else(|| (length, format!("`{}` is no character", &source[..length])))
}
