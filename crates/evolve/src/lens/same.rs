//! Equality of documents as lenses see them. The order of keys never counts. The text of numbers does in what is stored and
//! shown, and does not where it is asked which item is which, or whether a fact has changed: clients spell numbers as
//! their languages do.

use std::hash::{BuildHasher, Hasher};

use foldhash::fast::FixedState;
use wheelwright_document::{Entry, Number, Value, canonical};

/// Whether two values are the same but for the order of keys.
pub(crate) fn same(a: Value<'_>, b: Value<'_>) -> bool {
    same_by(a, b, |a, b| a == b)
}

/// Whether two values mean the same: `1` and `1.0` do.
pub(crate) fn equal(a: Value<'_>, b: Value<'_>) -> bool {
    same_by(a, b, |a, b| a == b || a.compare(b).is_eq())
}

/// Whether two fields mean the same, or are both absent.
pub(crate) fn equal_option(a: Option<Value<'_>>, b: Option<Value<'_>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => equal(a, b),
        (a, b) => a.is_none() && b.is_none(),
    }
}

fn same_by(a: Value<'_>, b: Value<'_>, numbers: fn(Number<'_>, Number<'_>) -> bool) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => {
            is_same_slice(a, b) || a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_by(*a, *b, numbers))
        }
        (Value::Object(a), Value::Object(b)) => is_same_slice(a, b) || same_entries(a, b, numbers),
        (Value::Number(a), Value::Number(b)) => numbers(a, b),
        (a, b) => a == b,
    }
}

/// Whether two fields have the same value, or are both absent.
pub(crate) fn same_option(a: Option<Value<'_>>, b: Option<Value<'_>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => same(a, b),
        (a, b) => a.is_none() && b.is_none(),
    }
}

fn same_entries(a: &[Entry<'_>], b: &[Entry<'_>], numbers: fn(Number<'_>, Number<'_>) -> bool) -> bool {
    if a.len() != b.len() {
        return false;
    }
    // Keys mostly come in one order.
    let in_order = a.iter().zip(b).take_while(|(a, b)| a.key == b.key).count();
    let is_same = |(a, b): (&Entry<'_>, &Entry<'_>)| a.key == b.key && same_by(a.value, b.value, numbers);
    if !a[..in_order].iter().zip(b).all(is_same) {
        return false;
    }
    if in_order == a.len() {
        return true;
    }
    let (a, b) = (by_key(&a[in_order..]), by_key(&b[in_order..]));
    a.into_iter().zip(b).all(is_same)
}

/// Entries in the order of their keys, to be found quickly.
pub(crate) fn by_key<'e, 'a>(entries: &'e [Entry<'a>]) -> Vec<&'e Entry<'a>> {
    let mut sorted: Vec<_> = entries.iter().collect();
    sorted.sort_unstable_by_key(|entry| entry.key);
    sorted
}

/// The value of a key.
pub(crate) fn find<'a>(sorted: &[&Entry<'a>], key: &str) -> Option<Value<'a>> {
    sorted.binary_search_by_key(&key, |entry| entry.key).ok().map(|position| sorted[position].value)
}

fn is_same_slice<T>(a: &[T], b: &[T]) -> bool {
    a.len() == b.len() && std::ptr::eq(a.as_ptr(), b.as_ptr())
}

/// A hash under which values that are [`equal`] are equal. It is written into annotations, and therefore never changes.
pub(crate) fn hash(value: Value<'_>) -> u64 {
    hash_by(value, bytes)
}

/// As [`hash`], several times as fast, for what is not kept.
pub(crate) fn quick_hash(value: Value<'_>) -> u64 {
    hash_by(value, words)
}

fn hash_by(value: Value<'_>, text: impl Fn(u64, &[u8]) -> u64 + Copy) -> u64 {
    match value {
        Value::Null => 1,
        Value::Bool(value) => 2 + u64::from(value),
        Value::Number(number) if is_canonical(number.as_str()) => text(5, number.as_str().as_bytes()),
        Value::Number(_) => text(5, &canonical(value)),
        Value::String(string) => text(7, string.as_str().as_bytes()),
        Value::Array(items) => items.iter().fold(11, |sum, item| mix(sum ^ hash_by(*item, text))),
        // Adding up makes the order of keys not count.
        Value::Object(entries) => entries.iter().fold(13_u64, |sum, entry| {
            sum.wrapping_add(mix(text(17, entry.key.as_bytes()) ^ hash_by(entry.value, text).rotate_left(32)))
        }),
    }
}

/// Whether a number is written as all equal ones are for a hash: most are short integers.
fn is_canonical(number: &str) -> bool {
    number.len() < 20 && number.bytes().all(|byte| byte.is_ascii_digit())
}

fn bytes(seed: u64, text: &[u8]) -> u64 {
    let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    // The seed is spread first: next to a first byte, that of a number and that of a string would undo each other.
    mix(text.iter().fold(mix(seed) ^ 0xcbf2_9ce4_8422_2325, step))
}

fn words(seed: u64, text: &[u8]) -> u64 {
    let mut hasher = FixedState::with_seed(seed).build_hasher();
    hasher.write(text);
    hasher.finish()
}

fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits ^ (bits >> 29)
}

#[cfg(test)]
mod tests {
    use wheelwright_document::{Arena, decode};

    use super::*;

    #[test]
    fn the_order_of_keys_does_not_count_and_the_text_of_numbers_does() {
        let arena = Arena::new();
        let value = |text: &'static str| decode(text.as_bytes(), &arena).unwrap();
        let pairs = [
            (r#"{"a":1,"b":[{"c":null,"d":""}]}"#, r#"{"b":[{"d":"","c":null}],"a":1}"#, true),
            (r#"{"a":1}"#, r#"{"a":1.0}"#, false),
            (r#"{"a":1,"b":2}"#, r#"{"a":1,"c":2}"#, false),
            (r#"{"a":{}}"#, r#"{"a":[]}"#, false),
            (r#"[1,2]"#, r#"[2,1]"#, false),
            (r#"{"a":7}"#, r#"{"a":"5"}"#, false),
        ];
        for (a, b, expected) in pairs {
            assert_eq!(same(value(a), value(b)), expected, "{a} {b}");
            for hash in [hash, quick_hash] {
                assert_eq!(hash(value(a)) == hash(value(b)), equal(value(a), value(b)), "{a} {b}");
            }
        }
    }

    #[test]
    fn numbers_mean_what_they_are_worth() {
        let arena = Arena::new();
        let value = |text: &'static str| decode(text.as_bytes(), &arena).unwrap();
        for (a, b) in [
            ("1", "1.0"),
            ("1e3", "1000"),
            ("-0", "0"),
            ("1e-7", "1e-07"),
            ("1e30", "1000000000000000000000000000000"),
            ("-5", "-5.0"),
            (r#"[{"a":1.50}]"#, r#"[{"a":1.5}]"#),
        ] {
            assert!(equal(value(a), value(b)) && hash(value(a)) == hash(value(b)), "{a} {b}");
            assert_eq!(quick_hash(value(a)), quick_hash(value(b)), "{a} {b}");
            assert!(!same(value(a), value(b)), "{a} {b}");
        }
        let large = [("9007199254740993", "9007199254740992"), ("1700000000000000001", "1700000000000000000")];
        for (a, b) in [("1", "2"), ("-1", "1"), ("1", r#""1""#)].into_iter().chain(large) {
            assert!(!equal(value(a), value(b)) && hash(value(a)) != hash(value(b)), "{a} {b}");
        }
    }
}
