//! Splits a source into tokens.

use std::ops::Range;

use super::{ParseError, literal::Quotes};

/// A word, a number, a text or a symbol, and the bytes that it was read from.
#[derive(Clone, Copy)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: u32,
    pub(super) end: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Int,
    Uint,
    Double,
    String,
    Bytes,
    Name,
    /// A name in backticks.
    QuotedName,
    /// Punctuation and the words that are never names, as they are written.
    Symbol(&'static str),
    /// Nothing follows.
    End,
    /// What follows cannot be split.
    Invalid,
}

const WORDS: [&str; 4] = ["true", "false", "null", "in"];

impl Token {
    pub(super) fn at(self) -> Range<u32> {
        self.start..self.end
    }
}

/// All tokens; the last is `End`, or `Invalid` with the reason.
pub(super) fn tokens(source: &str) -> (Vec<Token>, Option<ParseError>) {
    let mut tokens = Vec::with_capacity(source.len() / 3 + 1);
    let mut position = 0;
    loop {
        position = skip_blank(source, position);
        let (kind, length, error) = match next(source, position) {
            Ok((kind, length)) => (kind, length, None),
            Err(error) => (Kind::Invalid, 0, Some(error)),
        };
        tokens.push(Token { kind, start: position as u32, end: (position + length) as u32 });
        if matches!(kind, Kind::End | Kind::Invalid) {
            return (tokens, error);
        }
        position += length;
    }
}

fn skip_blank(source: &str, mut position: usize) -> usize {
    let bytes = source.as_bytes();
    loop {
        position += count(&bytes[position..], |byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'\x0c'));
        if !bytes[position..].starts_with(b"//") {
            return position;
        }
        position += count(&bytes[position..], |byte| byte != b'\n');
    }
}

/// The kind and length of the token at the position.
fn next(source: &str, position: usize) -> Result<(Kind, usize), ParseError> {
    let rest = &source[position..];
    let bytes = rest.as_bytes();
    let Some(&first) = bytes.first() else { return Ok((Kind::End, 0)) };
    if let Some(quotes) = Quotes::read(bytes) {
        let kind = if quotes.is_bytes { Kind::Bytes } else { Kind::String };
        return Ok((kind, quoted_length(bytes, &quotes, position)?));
    }
    if is_letter(first) {
        let length = count(bytes, is_letter_or_digit);
        let word = WORDS.into_iter().find(|word| *word == &rest[..length]);
        return Ok((word.map_or(Kind::Name, Kind::Symbol), length));
    }
    if first.is_ascii_digit() || (first == b'.' && bytes.get(1).is_some_and(u8::is_ascii_digit)) {
        return Ok(number(bytes));
    }
    if first == b'`' {
        return Ok((Kind::QuotedName, quoted_name_length(rest, position)?));
    }
    if let Some(symbol) = symbol(bytes) {
        return Ok((Kind::Symbol(symbol), symbol.len()));
    }
    let found = rest.chars().next().unwrap_or_default();
    let hint = match found {
        '&' => "; \"and\" is `&&`",
        '|' => "; \"or\" is `||`",
        '=' => "; equality is `==`",
        _ => "",
    };
    let message = format!("expected an expression or an operator, found `{}`{hint}", found.escape_debug());
    Err(error(position, found.len_utf8(), message))
}

fn symbol(bytes: &[u8]) -> Option<&'static str> {
    Some(match bytes {
        [b'=', b'=', ..] => "==",
        [b'!', b'=', ..] => "!=",
        [b'<', b'=', ..] => "<=",
        [b'>', b'=', ..] => ">=",
        [b'&', b'&', ..] => "&&",
        [b'|', b'|', ..] => "||",
        [b'<', ..] => "<",
        [b'>', ..] => ">",
        [b'(', ..] => "(",
        [b')', ..] => ")",
        [b'[', ..] => "[",
        [b']', ..] => "]",
        [b'{', ..] => "{",
        [b'}', ..] => "}",
        [b'.', ..] => ".",
        [b',', ..] => ",",
        [b'-', ..] => "-",
        [b'!', ..] => "!",
        [b'?', ..] => "?",
        [b':', ..] => ":",
        [b'+', ..] => "+",
        [b'*', ..] => "*",
        [b'/', ..] => "/",
        [b'%', ..] => "%",
        _ => return None,
    })
}

/// A dot belongs to a number only if a digit follows it, and an exponent needs digits too.
fn number(bytes: &[u8]) -> (Kind, usize) {
    let digits = |from: usize| count(bytes.get(from..).unwrap_or_default(), |byte| byte.is_ascii_digit());
    let mut length = match bytes {
        [b'0', b'x', digit, ..] if digit.is_ascii_hexdigit() => 2 + count(&bytes[2..], |byte| byte.is_ascii_hexdigit()),
        _ => digits(0),
    };
    let is_decimal = !bytes.starts_with(b"0x") || length == 1;
    let mut kind = Kind::Int;
    if is_decimal && bytes.get(length) == Some(&b'.') && digits(length + 1) > 0 {
        length += 1 + digits(length + 1);
        kind = Kind::Double;
    }
    if is_decimal && matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        let exponent = digits(length + 1 + sign);
        if exponent > 0 {
            length += 1 + sign + exponent;
            kind = Kind::Double;
        }
    }
    if kind == Kind::Int && matches!(bytes.get(length), Some(b'u' | b'U')) {
        return (Kind::Uint, length + 1);
    }
    (kind, length)
}

fn quoted_length(bytes: &[u8], quotes: &Quotes, position: usize) -> Result<usize, ParseError> {
    let mut length = quotes.prefix + quotes.count;
    loop {
        match bytes.get(length) {
            None => return Err(error(position, length, format!("expected a closing {quotes}, found the end"))),
            Some(b'\n' | b'\r') if quotes.count == 1 => {
                return Err(error(position, length, format!("expected a closing {quotes}, found the end of the line")));
            }
            Some(b'\\') if !quotes.is_raw => {
                length += 1;
                length += usize::from(bytes.get(length).is_some_and(|byte| matches!(byte, b'\\' | b'"' | b'\'')));
            }
            Some(_) if quotes.close(&bytes[length..]) => return Ok(length + quotes.count),
            Some(_) => length += 1,
        }
    }
}

fn quoted_name_length(rest: &str, position: usize) -> Result<usize, ParseError> {
    let bytes = rest.as_bytes();
    let length = 1 + count(&bytes[1..], |byte| is_letter_or_digit(byte) || matches!(byte, b'.' | b'-' | b'/' | b' '));
    match rest[length..].chars().next() {
        Some('`') if length > 1 => Ok(length + 1),
        Some('`') => Err(error(position, 2, "expected a name between the backticks")),
        Some(found) => {
            let message = format!(
                "expected letters, digits, spaces, `_`, `.`, `-` or `/` between backticks, found `{}`",
                found.escape_debug()
            );
            Err(error(position + length, found.len_utf8(), message))
        }
        None => Err(error(position, length, "expected a closing backtick, found the end")),
    }
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

fn is_letter_or_digit(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// How many bytes at the front are of a kind.
fn count(bytes: &[u8], is_one: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|byte| !is_one(*byte)).unwrap_or(bytes.len())
}

fn error(start: usize, length: usize, message: impl Into<String>) -> ParseError {
    ParseError::new(start as u32..(start + length) as u32, message)
}
