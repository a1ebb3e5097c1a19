//! Keys and prefixes, byte by byte.

use std::collections::BTreeSet;

use super::client::{Context, Diary, key, prefix};
use crate::{Key, MAX_KEY_BYTES, Prefix};

/// Keys that a careless store takes for one another, or orders by letters instead of bytes.
const LOOKING_ALIKE: [&str; 34] = [
    "k/a",
    "k/A",
    "k/a ",
    "k/ a",
    "k/a.",
    "k/.",
    "k/..",
    "k/a-b",
    "k/a_b",
    "k/aXb",
    "k/a%b",
    "k/a*b",
    "k/a'b",
    "k/a\"b",
    "k/a;b",
    "k/a/b",
    "k/a0",
    "k/a00",
    "k/0",
    "k/00",
    "k/1",
    "k/01",
    "k/10",
    "k/9",
    // One letter with its accent, and a letter and an accent.
    "k/\u{e9}",
    "k/e\u{301}",
    "k/e",
    "k/\u{df}",
    "k/ss",
    // The kelvin sign, and the letter.
    "k/\u{212a}",
    "k/K",
    // In UTF-16 the last one comes before the one before it.
    "k/\u{ff46}",
    "k/\u{1f600}",
    "k/\u{a0}",
];

pub(super) async fn keys_that_look_alike_are_different(context: Context) {
    let client = context.client().await;
    let mut diary = Diary::new(client.clone());
    for text in LOOKING_ALIKE {
        let key = key(text);
        assert_eq!(client.get(&key).await, None, "{key} was not written yet, although others were");
        diary.create(&key, text.as_bytes()).await;
    }
    for text in LOOKING_ALIKE {
        let found = client.get(&key(text)).await.map(|stored| stored.value);
        assert_eq!(found.as_deref(), Some(text.as_bytes()), "the value of {text:?}");
    }
    diary.delete(&key("k/a")).await;
    let (items, _) = client.list(&Prefix::all(), None).await;
    let expected = diary.current(&Prefix::all());
    assert_eq!(items, expected, "only the key that was deleted is gone");
}

pub(super) async fn lists_are_in_the_order_of_the_bytes(context: Context) {
    let client = context.client().await;
    let mut diary = Diary::new(client.clone());
    let others = ["k0/a", "k-/a", "K/a", "\u{e9}/a", "j/\u{10ffff}", "l/a", "k/\u{10ffff}", "k/~", "k/!"];
    for text in others.into_iter().chain(LOOKING_ALIKE.into_iter().rev()) {
        diary.create(&key(text), b"").await;
    }
    for prefix in [Prefix::all(), prefix("k"), prefix("k/a")] {
        for limit in [None, Some(1), Some(7)] {
            let (items, _) = client.list(&prefix, limit).await;
            let names: Vec<&str> = items.iter().map(|(key, _)| key.as_str()).collect();
            let expected = diary.current(&prefix);
            let expected: Vec<&str> = expected.iter().map(|(key, _)| key.as_str()).collect();
            assert_eq!(names, expected, "the list of \"{prefix}\" with the limit {limit:?}");
        }
    }
}

pub(super) async fn a_prefix_ends_with_a_whole_segment(context: Context) {
    let client = context.client().await;
    let begin = client.now().await;
    let mut diary = Diary::new(client.clone());
    // `.` and `-` are before `/`, `0` is right after it.
    let texts = [
        "a",
        "a/b",
        "a/b/c",
        "a/b/c/d",
        "a/bc",
        "a/bc/d",
        "a/b0",
        "a/b0/c",
        "a/b-/c",
        "a/b.",
        "a/b./c",
        "a/B/c",
        "a/_/c",
        "a/%/c",
        "A/b/c",
        "b",
        "b/a/b/c",
        "a/b/\u{10ffff}",
        "a/b/!",
    ];
    for text in texts {
        diary.create(&key(text), text.as_bytes()).await;
    }
    let last = key("a/b/zzz");
    diary.create(&last, b"").await;
    for text in ["a", "a/b", "a/b/c", "a/bc", "a/b0", "a/_", "a/%", "b", "b/a", "A", "c", "a/c", "a/b/c/d"] {
        let prefix = prefix(text);
        let (items, _) = client.list(&prefix, Some(2)).await;
        assert_eq!(items, diary.current(&prefix), "the list of the prefix \"{prefix}\"");
        let told = diary.told.iter().filter(|told| prefix.is_of(&told.key)).count();
        let events = client.watch(&prefix, &begin).await.take(told).await;
        diary.assert_told(events, &prefix, 0, &format!("a watch of the prefix \"{prefix}\""));
    }
}

pub(super) async fn a_key_may_be_as_long_as_allowed(context: Context) {
    let client = context.client().await;
    let begin = client.now().await;
    let mut diary = Diary::new(client.clone());
    let one_segment = "s".repeat(MAX_KEY_BYTES);
    let many_segments = format!("{}m", "m/".repeat(MAX_KEY_BYTES / 2 - 1));
    let many_bytes_a_letter = format!("u/{}", "\u{1f600}".repeat((MAX_KEY_BYTES - 2) / 4));
    let differs_at_the_end = format!("{}t", &one_segment[1..]);
    let shorter = one_segment[1..].to_owned();
    let keys: BTreeSet<Key> =
        [one_segment, many_segments.clone(), many_bytes_a_letter, differs_at_the_end, shorter].map(key).into();
    for key in &keys {
        diary.create(key, key.as_str().as_bytes()).await;
        diary.replace(key, key.as_str().as_bytes()).await;
    }
    for key in &keys {
        assert_eq!(client.get(key).await.as_ref(), diary.stored(key), "a key of {} bytes", key.as_str().len());
    }
    let (items, _) = client.list(&Prefix::all(), Some(1)).await;
    assert_eq!(items, diary.current(&Prefix::all()), "a list of keys as long as allowed, one a page");
    let deep = prefix(many_segments.trim_end_matches("/m"));
    assert_eq!(client.list(&deep, None).await.0, diary.current(&deep), "a list of a prefix as long as allowed");
    let events = client.watch(&Prefix::all(), &begin).await.take(diary.told.len()).await;
    diary.assert_told(events, &Prefix::all(), 0, "a watch of keys as long as allowed");
    for key in &keys {
        diary.delete(key).await;
    }
}
