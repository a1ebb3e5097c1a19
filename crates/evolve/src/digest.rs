//! Digests that are stored: releases of any age must compute the same ones.

use sha2::{Digest as _, Sha256};
use wheelwright_document::{Arena, Value, canonical};

/// The number of bytes of a digest that are stored: 128 bits.
const LENGTH: usize = 16;

/// A digest of a value as 32 hexadecimal digits: the first half of the SHA-256 of its canonical form.
///
/// Equivalent values have the same digest, whatever the order of their keys and the text of their numbers.
pub(crate) fn digest<'a>(value: Value<'_>, arena: &'a Arena) -> Value<'a> {
    let hash = Sha256::digest(canonical(value));
    let digits: String = hash.iter().take(LENGTH).map(|byte| format!("{byte:02x}")).collect();
    Value::string(arena.text(&digits))
}

/// A hash of 64 bits, for finding a value among others. It is no proof that two values are equal.
pub(crate) fn stable_hash(value: Value<'_>) -> u64 {
    let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let sum = canonical(value).iter().fold(0xcbf2_9ce4_8422_2325, step);
    // The last bytes have not reached all bits yet.
    let sum = (sum ^ (sum >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    sum ^ (sum >> 29)
}

#[cfg(test)]
mod tests {
    use wheelwright_document::decode;

    use super::*;

    #[test]
    fn digests_are_those_that_records_contain() {
        let arena = Arena::new();
        let digest = |text: &'static str| digest(decode(text.as_bytes(), &arena).unwrap(), &arena);
        // printf '{"a":1,"b":[]}' | sha256sum
        assert_eq!(digest(r#"{"b":[],"a":1.0}"#).as_str(), Some("f87e4099e9be5e75094e0a4f46d3dc18"));
        assert_eq!(digest(r#"{"a":1,"b":[]}"#), digest(r#"{"b":[],"a":1.0}"#));
        assert_ne!(digest(r#"{"a":1,"b":[]}"#), digest(r#"{"a":2,"b":[]}"#));
    }
}
