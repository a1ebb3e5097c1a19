//! The tokens by which lists go on: a moment and the name after which they do, in the form that Kubernetes has.

use wheelwright_document::{Arena, Value, decode, encode};

use super::{
    json::Json,
    status::{Status, number},
};

/// Where a list goes on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Token {
    /// The moment that the list shows; none for that of now, whatever it was.
    pub(super) moment: Option<u64>,
    /// The name that it goes on after, below the place that is listed.
    pub(super) after: String,
}

const VERSION: &str = "meta.k8s.io/v1";

impl Token {
    pub(super) fn text(&self) -> String {
        let arena = Arena::new();
        let slash = if self.moment.is_some() { "/" } else { "" };
        let moment = self.moment.map_or_else(|| "-1".to_owned(), |moment| moment.to_string());
        let fields = [
            ("v", Some(Value::string(VERSION))),
            ("rv", Some(number(moment, &arena))),
            // The first text after the name.
            ("start", Some(Value::string(arena.text(&format!("{slash}{}\u{0}", self.after))))),
        ];
        base64(&encode(Json(&arena).some(fields)))
    }

    pub(super) fn parse(text: &str) -> Result<Self, Status> {
        let wrong = |why: &str| Status::bad_request(format!("invalid continue token: {why}"));
        let bytes = unbase64(text).ok_or_else(|| wrong("it is not in base64; take it from the list before"))?;
        let arena = Arena::new();
        let token = decode(&bytes, &arena).map_err(|_| wrong("it is no JSON; take it from the list before"))?;
        let of = |key| token.get(key);
        if of("v").and_then(Value::as_str) != Some(VERSION) {
            return Err(wrong("it is of another version; begin the list anew"));
        }
        let moment = match of("rv").and_then(|rv| rv.as_number()?.as_i64()) {
            Some(-1) => None,
            Some(moment @ 1..) => u64::try_from(moment).ok(),
            _ => return Err(wrong("it has no resourceVersion; begin the list anew")),
        };
        let start = of("start").and_then(Value::as_str).unwrap_or_default();
        let start = start.strip_prefix('/').unwrap_or(start);
        let after = start.strip_suffix('\u{0}').unwrap_or(start);
        if after.is_empty() || after.split('/').any(|segment| matches!(segment, "" | "." | "..")) {
            return Err(wrong("it goes on after no name; begin the list anew"));
        }
        Ok(Self { moment, after: after.to_owned() })
    }
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Base64 for URLs, without padding.
fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let [a, b, c] = [0, 1, 2].map(|index| u32::from(chunk.get(index).copied().unwrap_or(0)));
        let bits = a << 16 | b << 8 | c;
        let digits = (0..=chunk.len()).map(|index| ALPHABET[(bits >> (18 - 6 * index) & 63) as usize]);
        text.extend(digits.map(char::from));
    }
    text
}

fn unbase64(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches('=').as_bytes();
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for chunk in text.chunks(4) {
        let digits: Option<Vec<u32>> =
            chunk.iter().map(|digit| Some(ALPHABET.iter().position(|known| known == digit)? as u32)).collect();
        let digits = digits.filter(|digits| digits.len() > 1)?;
        let bits = digits.iter().enumerate().fold(0, |bits, (index, digit)| bits | digit << (18 - 6 * index));
        bytes.extend([16, 8, 0].iter().take(digits.len() - 1).map(|shift| (bits >> shift) as u8));
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_as_it_was_written() {
        for (moment, after) in [(Some(330), "w2"), (None, "w2"), (Some(7), "space/name"), (Some(1), "é")] {
            let token = Token { moment, after: after.to_owned() };
            assert_eq!(Token::parse(&token.text()).unwrap(), token);
        }
    }

    #[test]
    fn base64_is_that_of_urls() {
        for (bytes, text) in [(&b""[..], ""), (b"f", "Zg"), (b"fo", "Zm8"), (b"foo", "Zm9v"), (&[0xfb, 0xff], "-_8")] {
            assert_eq!(base64(bytes), text);
            assert_eq!(unbase64(text).unwrap(), bytes);
        }
        assert_eq!(unbase64("a"), None);
        assert_eq!(unbase64("!!!!"), None);
    }

    #[test]
    fn what_is_no_token_is_refused() {
        let forged = |json: &str| base64(json.as_bytes());
        for text in [
            "!!!".to_owned(),
            "abc".to_owned(),
            String::new(),
            forged(r#"{"v":"meta.k8s.io/v9","rv":5,"start":"w2"}"#),
            forged(r#"{"v":"meta.k8s.io/v1","rv":0,"start":"w2"}"#),
            forged(r#"{"v":"meta.k8s.io/v1","rv":5,"start":"../x"}"#),
            forged(r#"{"v":"meta.k8s.io/v1","rv":5,"start":""}"#),
        ] {
            assert!(Token::parse(&text).is_err(), "{text}");
        }
    }
}
