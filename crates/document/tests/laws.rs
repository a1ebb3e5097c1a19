//! What holds for every document.

#![expect(clippy::unwrap_used, reason = "a test that meets a surprise should stop right there")]

use std::collections::HashSet;

use proptest::{collection::vec, prelude::*, sample::Index};
use wheelwright_document::{
    Arena, Decode, DecodeErrorKind, DuplicateKeys, Entry, Extent, Number, Value, canonical, decode, encode,
};

/// Compact JSON, with any text in strings and keys, and numbers in all their spellings.
fn compact() -> impl Strategy<Value = String> {
    let quoted = |text: String| serde_json::to_string(&text).unwrap();
    let text = prop_oneof!["[a-c]{0,2}", any::<String>(), "[\\x00-\\x1f\"\\\\/\u{7f}\u{2028}]{0,4}"].prop_map(quoted);
    let number = "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,25})?([eE][+-]?[0-9]{1,25})?";
    let leaf = prop_oneof!["null|true|false", number, text.clone()];
    leaf.prop_recursive(5, 48, 6, move |inner| {
        let list = vec(inner.clone(), 0..6).prop_map(|items| format!("[{}]", items.join(",")));
        let fields = vec((text.clone(), inner), 0..6).prop_map(|fields| {
            let mut known = HashSet::new();
            let unique = fields.into_iter().filter(|(key, _)| known.insert(key.clone()));
            let written: Vec<_> = unique.map(|(key, value)| format!("{key}:{value}")).collect();
            format!("{{{}}}", written.join(","))
        });
        prop_oneof![list, fields]
    })
}

/// Documents of so few sorts that two of them are often equivalent.
fn small() -> impl Strategy<Value = String> {
    let leaf = "null|true|\"1\"|1|1\\.0|10e-1|2|0\\.2e1|-0|0";
    leaf.prop_recursive(2, 6, 2, |inner| {
        let list = vec(inner.clone(), 0..3).prop_map(|items| format!("[{}]", items.join(",")));
        let one = ("[ab]", inner.clone()).prop_map(|(key, value)| format!("{{\"{key}\":{value}}}"));
        let two = (any::<bool>(), inner.clone(), inner).prop_map(|(swapped, a, b)| match swapped {
            false => format!("{{\"a\":{a},\"b\":{b}}}"),
            true => format!("{{\"b\":{b},\"a\":{a}}}"),
        });
        prop_oneof![list, one, two]
    })
}

/// The same document with its keys the other way round and its numbers written in another way.
fn rewritten<'a>(value: Value<'a>, arena: &'a Arena) -> Value<'a> {
    match value {
        Value::Number(number) => {
            let text = number.as_str();
            let text = match text.contains(['e', 'E', '.']) {
                true => text.replace('e', "E"),
                false => format!("{text}.00e-000"),
            };
            Value::Number(Number::new(arena.text(&text)).unwrap())
        }
        Value::Array(items) => Value::Array(arena.slice_from(items.iter().map(|item| rewritten(*item, arena)))),
        Value::Object(entries) => {
            let entry = |entry: &Entry<'a>| Entry { key: entry.key, value: rewritten(entry.value, arena) };
            Value::Object(arena.slice_from(entries.iter().rev().map(entry)))
        }
        other => other,
    }
}

/// Valid JSON with a few bytes changed.
fn nearly_json() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        proptest::sample::select(b"{}[]:,\"\\ \n\t-+.eE0123456789truefalsn/ubDdC8\x00\x1f\x7f\x80\xc3\xed".to_vec()),
        any::<u8>(),
    ];
    (compact(), vec((0..4, any::<Index>(), byte), 0..4)).prop_map(|(text, changes)| {
        let mut bytes = text.into_bytes();
        for (change, index, byte) in changes {
            let at = index.index(bytes.len() + 1);
            match change {
                0 => bytes.insert(at, byte),
                1 => bytes.truncate(at),
                _ if at == bytes.len() => {}
                2 => bytes[at] = byte,
                _ => drop(bytes.remove(at)),
            }
        }
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn decoding_and_encoding_are_each_others_inverse(text in compact()) {
        let arena = Arena::new();
        let value = decode(text.as_bytes(), &arena).unwrap();
        let encoded = encode(value);
        prop_assert_eq!(Extent::of(value).bytes, encoded.len());
        prop_assert_eq!(std::str::from_utf8(&encoded).unwrap(), &text);
        let again = Arena::new();
        prop_assert_eq!(decode(&encoded, &again).unwrap(), value);
    }

    #[test]
    fn space_between_tokens_does_not_count(text in compact()) {
        let arena = Arena::new();
        let value = decode(text.as_bytes(), &arena).unwrap();
        let spaced = format!(" \r\n\t{text}\n ");
        prop_assert_eq!(decode(spaced.as_bytes(), &arena).unwrap(), value);
        if serde_json::from_str::<serde_json::Value>(&text).is_ok() {
            // Numbers lose their text here, so this shows only that the layout does not matter.
            let parsed: serde_json::Value = serde_json::from_str(&text).unwrap();
            let (flat, pretty) = (parsed.to_string(), format!("{parsed:#}"));
            prop_assert_eq!(decode(flat.as_bytes(), &arena).unwrap(), decode(pretty.as_bytes(), &arena).unwrap());
        }
    }

    #[test]
    fn the_canonical_form_is_equivalent_and_canonical(text in compact()) {
        let arena = Arena::new();
        let value = decode(text.as_bytes(), &arena).unwrap();
        let bytes = canonical(value);
        let again = decode(&bytes, &arena).unwrap();
        prop_assert!(again.equivalent(value));
        prop_assert_eq!(&canonical(again), &bytes);
        prop_assert_eq!(&encode(again), &bytes);
    }

    #[test]
    fn rewriting_changes_nothing_in_meaning(text in compact()) {
        let arena = Arena::new();
        let value = decode(text.as_bytes(), &arena).unwrap();
        let other = rewritten(value, &arena);
        prop_assert!(value.equivalent(other));
        prop_assert_eq!(canonical(value), canonical(other));
    }

    #[test]
    fn bytes_are_accepted_as_serde_json_accepts_them(bytes in nearly_json()) {
        let arena = Arena::new();
        let options = Decode { duplicate_keys: DuplicateKeys::KeepLast, ..Decode::default() };
        let ours = options.decode(&bytes, &arena);
        match (&ours, serde_json::from_slice::<serde_json::Value>(&bytes)) {
            (Ok(ours), Ok(theirs)) => {
                let ours: serde_json::Value = serde_json::from_slice(&encode(ours.value)).unwrap();
                prop_assert_eq!(ours, theirs);
            }
            (Err(_), Err(_)) => {}
            // We keep numbers that no double can hold.
            (Ok(_), Err(theirs)) => prop_assert!(theirs.to_string().contains("out of range"), "{}", theirs),
            (Err(ours), Ok(_)) => prop_assert!(false, "{ours}"),
        }
        if let Err(error) = ours {
            prop_assert!(error.offset() <= bytes.len());
            prop_assert!(!error.to_string().is_empty());
        }
    }

    #[test]
    fn any_bytes_are_harmless(bytes in vec(any::<u8>(), 0..64)) {
        let arena = Arena::new();
        if let Err(error) = decode(&bytes, &arena) {
            let is_utf8 = std::str::from_utf8(&bytes).is_ok();
            prop_assert_eq!(is_utf8, *error.kind() != DecodeErrorKind::InvalidUtf8);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn documents_are_equivalent_exactly_if_their_canonical_forms_are_the_same(a in small(), b in small()) {
        let arena = Arena::new();
        let (a, b) = (decode(a.as_bytes(), &arena).unwrap(), decode(b.as_bytes(), &arena).unwrap());
        prop_assert_eq!(a.equivalent(b), canonical(a) == canonical(b));
        prop_assert_eq!(a.equivalent(b), b.equivalent(a));
        prop_assert_eq!(a == b, encode(a) == encode(b));
    }
}
