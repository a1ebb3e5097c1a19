//! Bytes as text in base64.

/// The standard alphabet with padding.
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let index = (bits >> (18 - 6 * place) & 63) as usize;
            text.push(if place <= group.len() { char::from(STANDARD[index]) } else { '=' });
        }
    }
    text
}

/// What CEL's `base64.decode` accepts: the standard alphabet, with all of its padding or none. As in Go, line ends do
/// not count, and the bits that are left over may be set.
pub fn decode(text: &[u8]) -> Option<Vec<u8>> {
    decode_with(text, STANDARD, true)
}

/// What Kubernetes makes of a field of format `byte` in rules: the alphabet for URLs, with padding.
pub fn decode_field(text: &[u8]) -> Option<Vec<u8>> {
    decode_with(text, URL, false)
}

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

fn decode_with(text: &[u8], alphabet: &[u8; 64], may_lack_padding: bool) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    let (mut bits, mut digits, mut padding) = (0_u32, 0_usize, 0);
    for byte in text.iter().filter(|byte| !matches!(byte, b'\r' | b'\n')) {
        if *byte == b'=' {
            padding += 1;
            continue;
        }
        let value = value_of(*byte, alphabet).filter(|_| padding == 0)?;
        bits = bits << 6 | value;
        digits += 1;
        if digits.is_multiple_of(4) {
            bytes.extend_from_slice(&bits.to_be_bytes()[1..]);
            bits = 0;
        }
    }
    let missing = match digits % 4 {
        0 => 0,
        1 => return None,
        rest => 4 - rest,
    };
    if missing > 0 {
        bits <<= 6 * missing;
        bytes.extend_from_slice(&bits.to_be_bytes()[1..4 - missing]);
    }
    (padding == missing || may_lack_padding && padding == 0).then_some(bytes)
}

fn value_of(byte: u8, alphabet: &[u8; 64]) -> Option<u32> {
    Some(match byte {
        b'A'..=b'Z' => u32::from(byte - b'A'),
        b'a'..=b'z' => u32::from(byte - b'a') + 26,
        b'0'..=b'9' => u32::from(byte - b'0') + 52,
        _ if byte == alphabet[62] => 62,
        _ if byte == alphabet[63] => 63,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways() {
        let cases: [(&[u8], &str); 6] = [
            (b"", ""),
            (b"h", "aA=="),
            (b"he", "aGU="),
            (b"hel", "aGVs"),
            (b"hello", "aGVsbG8="),
            (b"\xff\xef\xbe", "/+++"),
        ];
        for (bytes, text) in cases {
            assert_eq!(encode(bytes), text);
            assert_eq!(decode(text.as_bytes()).as_deref(), Some(bytes), "{text}");
        }
    }

    #[test]
    fn padding_is_all_or_nothing() {
        let good = ["aGVsbG8", "aA", "aB==", "aG\r\nVs", "aA=\n="];
        let bad = ["a", "aA=", "aGVs=", "aGVs====", "=", "a===", "aA==aA==", "aG Vs", "-_-_", "é"];
        good.iter().for_each(|text| assert!(decode(text.as_bytes()).is_some(), "{text}"));
        bad.iter().for_each(|text| assert_eq!(decode(text.as_bytes()), None, "{text}"));
    }

    #[test]
    fn fields_have_the_alphabet_of_urls() {
        assert_eq!(decode_field(b"-_-_").as_deref(), Some(&b"\xfb\xff\xbf"[..]));
        assert_eq!(decode_field(b"+/+/"), None);
        assert_eq!(decode_field(b"aGVsbG8=").as_deref(), Some(&b"hello"[..]));
        assert_eq!(decode_field(b"aGVsbG8"), None);
    }
}
