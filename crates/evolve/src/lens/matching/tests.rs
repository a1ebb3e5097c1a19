use wheelwright_document::{Arena, decode};

use super::*;

fn matched(new: &str, old: &str, keys: &[&str]) -> Alignment {
    matched_keeping(new, old, keys, &[])
}

/// `hidden` is how much each stored item hides.
fn matched_keeping(new: &str, old: &str, keys: &[&str], hidden: &[u32]) -> Alignment {
    let arena = Arena::new();
    let items = |text: &str| decode(arena.text(text).as_bytes(), &arena).unwrap().as_array().unwrap();
    let keys: Vec<Box<str>> = keys.iter().map(|key| (*key).into()).collect();
    match_items_keeping(items(new), items(old), (&keys, &[]), |stored| hidden.get(stored).copied().unwrap_or(0))
}

#[test]
fn keyed_items_match_by_key_and_the_nth_of_a_key_with_the_nth() {
    let old = r#"[{"k":1,"v":1},{"k":2,"v":2},{"k":1,"v":3}]"#;
    assert_eq!(
        matched(r#"[{"k":2,"v":9},{"k":1},{"k":1},{"k":1},{}]"#, old, &["k"]),
        [Some(1), Some(0), Some(2), None, None]
    );
}

#[test]
fn items_that_share_a_key_match_exactly_equal_ones_first() {
    let old = r#"[{"k":1,"v":1},{"k":1,"v":2},{"k":1,"v":3}]"#;
    assert_eq!(matched(r#"[{"k":1,"v":3},{"k":1,"v":9},{"k":1,"v":1}]"#, old, &["k"]), [Some(2), Some(1), Some(0)]);
    assert_eq!(matched(r#"[{"k":1,"v":2},{"k":1,"v":3}]"#, old, &["k"]), [Some(1), Some(2)]);
}

#[test]
fn equal_items_that_share_a_key_stay_in_their_places() {
    let old = r#"[{"k":1},{"k":2},{"k":1},{"k":1},{"k":1}]"#;
    let edited = r#"[{"k":1},{"k":2},{"k":1},{"k":1,"v":1},{"k":1}]"#;
    assert_eq!(matched(edited, old, &["k"]), [0, 1, 2, 3, 4].map(Some));
    let moved = r#"[{"k":1,"v":1},{"k":1},{"k":1},{"k":2},{"k":1},{"k":1}]"#;
    assert_eq!(matched(moved, old, &["k"]), [None, Some(0), Some(2), Some(1), Some(3), Some(4)]);
    let many: Vec<String> = (0..40).map(|number| format!(r#"{{"k":1,"v":{number}}}"#)).collect();
    let back: Vec<String> = many.iter().rev().cloned().collect();
    let found = matched(&format!("[{}]", back.join(",")), &format!("[{}]", many.join(",")), &["k"]);
    assert_eq!(found, (0..40).rev().map(Some).collect::<Vec<_>>());
}

#[test]
fn without_keys_equal_items_match_first_and_gaps_of_one_length_pairwise() {
    assert_eq!(matched("[2,3]", "[1,2,3]", &[]), [Some(1), Some(2)]);
    assert_eq!(matched("[1,9,3]", "[1,2,3]", &[]), [Some(0), Some(1), Some(2)]);
    assert_eq!(matched("[9,2,3]", "[1,2,3]", &[]), [Some(0), Some(1), Some(2)]);
    assert_eq!(matched("[3,2,1]", "[1,2,3]", &[]), [Some(2), Some(1), Some(0)]);
    assert_eq!(matched("[8,9]", "[1,2,3]", &[]), [None, None]);
    assert_eq!(matched("[1,8,9,3]", "[1,2,3]", &[]), [Some(0), None, None, Some(2)]);
    assert_eq!(matched("[1,1]", "[1,1,1]", &[]), [Some(0), Some(1)]);
    assert_eq!(matched("[2,1]", "[1.0,2]", &[]), [Some(1), Some(0)], "however a client writes numbers");
    assert_eq!(matched("[1.0]", "[1,1.0]", &[]), [Some(1)], "the one that is written alike, where there is one");
    let times: Vec<String> = (0..60).map(|number| (1_700_000_000_000_000_000_u64 + number).to_string()).collect();
    let back: Vec<String> = times.iter().rev().cloned().collect();
    let found = matched(&format!("[{}]", back.join(",")), &format!("[{}]", times.join(",")), &[]);
    assert_eq!(found, (0..60).rev().map(Some).collect::<Vec<_>>());
}

#[test]
fn an_edited_item_among_equal_ones_is_the_one_in_its_place() {
    for edited in 0..3 {
        let mut new = ["{}", "{}", "{}"];
        new[edited] = r#"{"a":1}"#;
        let found = matched(&format!("[{}]", new.join(",")), "[{},{},{}]", &[]);
        assert_eq!(found, [Some(0), Some(1), Some(2)], "item {edited}");
    }
    assert_eq!(matched("[9,1,8,1]", "[1,1,1,1]", &[]), [0, 1, 2, 3].map(Some));
    assert_eq!(matched("[1,1,7]", "[1,1]", &[]), [Some(0), Some(1), None]);
    assert_eq!(matched("[7,1,1]", "[1,1]", &[]), [None, Some(0), Some(1)]);
    assert_eq!(matched("[2,1,1]", "[1,1,2]", &[]), [Some(2), Some(0), Some(1)]);
}

#[test]
fn of_equal_items_those_that_hide_most_stay() {
    assert_eq!(matched_keeping("[1,1]", "[1,1,1]", &[], &[0, 5, 5]), [Some(1), Some(2)]);
    assert_eq!(matched_keeping("[1,1]", "[1,1,1]", &[], &[5, 0, 5]), [Some(0), Some(2)]);
    assert_eq!(matched_keeping("[2,1]", "[1,1,1,2]", &[], &[0, 5, 0, 0]), [Some(3), Some(1)]);
}

#[test]
fn edited_items_that_moved_are_recognized_by_what_identifies_them() {
    let old = r#"[{"image":"a","tag":"x"},{"image":"b","tag":"x"}]"#;
    let swapped = r#"[{"image":"b","tag":"x","n":1},{"image":"a","tag":"x","n":2}]"#;
    assert_eq!(matched(swapped, old, &[]), [Some(1), Some(0)]);
    assert_eq!(matched(r#"[{"image":"b","tag":"x"},{"image":"a","tag":"x","n":2}]"#, old, &[]), [Some(1), Some(0)]);
    assert_eq!(matched(r#"[{"image":"b","tag":"y"}]"#, old, &[]), [Some(1)], "edited while the other one was removed");
    assert_eq!(matched(r#"[{"image":"c","tag":"x"}]"#, old, &[]), [None], "both have this tag");
    assert_eq!(matched(r#"[{"image":"b","tag":"x"},{"image":"c","tag":"x"}]"#, old, &[]), [Some(1), None]);
    assert_eq!(
        matched(r#"[{"image":"a","tag":"x","n":1},{"image":"c"}]"#, r#"[{"image":"a","tag":"x"}]"#, &[]),
        [Some(0), None]
    );
}

#[test]
fn defaults_are_evidence_for_what_is_left_without_them() {
    let matched = |new: &str, old: &str| {
        let arena = Arena::new();
        let items = |text: &str| decode(arena.text(text).as_bytes(), &arena).unwrap().as_array().unwrap();
        let mut defaults: Vec<u32> = evidence::identifying(items(r#"[{"kind":"Gateway","to":{"port":1}}]"#)).concat();
        defaults.sort_unstable();
        match_items_keeping(items(new), items(old), (&[], &defaults), |_| 0)
    };
    let old = r#"[{"kind":"Gateway"},{}]"#;
    assert_eq!(matched(r#"[{"kind":"Other"},{"kind":"Gateway","name":"x"}]"#, old), [Some(0), Some(1)]);
    let old = r#"[{"kind":"Gateway"},{"kind":"Other"}]"#;
    let swapped = r#"[{"kind":"Other","name":"x"},{"kind":"Gateway","name":"y"}]"#;
    assert_eq!(matched(swapped, old), [Some(1), Some(0)], "the other one is recognized without them");
    let old = r#"[{"to":{"port":1}},{"to":{"port":2}},{}]"#;
    assert_eq!(matched(r#"[{"to":{"port":1},"name":"x"},{"name":"y"}]"#, old), [Some(0), None]);
}

/// A list of equal items, some of which are replaced.
fn equal_but(count: usize, others: &[(usize, &str)]) -> Vec<String> {
    let mut items = vec!["{}".to_owned(); count];
    others.iter().for_each(|(at, item)| items[*at] = (*item).to_owned());
    items
}

#[test]
fn long_lists_keep_equal_items_at_their_positions() {
    let new = equal_but(1000, &[(100, r#"{"a":1}"#), (900, r#"{"a":2}"#)]);
    let found = matched(&format!("[{}]", new.join(",")), &format!("[{}]", equal_but(1000, &[]).join(",")), &[]);
    assert_eq!(found, (0..1000).map(Some).collect::<Vec<_>>());
}

#[test]
fn in_long_lists_edited_items_stay_where_they_are_beside_a_removal() {
    let old = equal_but(20_000, &[(10_000, r#"{"m":1}"#)]);
    let mut new = equal_but(20_000, &[(5, r#"{"a":1}"#), (10_000, r#"{"m":1}"#), (19_000, r#"{"a":2}"#)]);
    new.remove(15_000);
    let found = matched(&format!("[{}]", new.join(",")), &format!("[{}]", old.join(",")), &[]);
    assert_eq!(found[..10_001], (0..10_001).map(Some).collect::<Vec<_>>());
    assert_eq!(found[18_999], Some(19_000), "the last edited item");
    assert_eq!(found[19_998], Some(19_999));
}

/// Long lists of many forms; of a hundred thousand items in a release build.
#[test]
fn items_of_long_lists_are_continued_once() {
    let of = |count: usize, item: &dyn Fn(usize) -> String| (0..count).map(item).collect::<Vec<_>>();
    let equal = |_: usize| "{}".to_owned();
    let distinct = |at: usize| format!(r#"{{"a":"x{at}"}}"#);
    let few = |at: usize| format!(r#"{{"a":{}}}"#, at.wrapping_mul(0x9e37_79b9) >> 7 & 3);
    for count in if cfg!(debug_assertions) { [100, 1_000] } else { [10_000, 100_000] } {
        let cases: [(&str, Vec<String>, Vec<String>); 8] = [
            ("one edited", of(count, &equal), of(count, &|at| if at == 7 { "1".to_owned() } else { "{}".to_owned() })),
            (
                "some edited, one removed",
                of(count, &equal),
                of(count - 1, &|at| if at % 999 == 7 { at.to_string() } else { "{}".to_owned() }),
            ),
            ("all edited", of(count, &equal), of(count, &distinct)),
            (
                "edited and reversed",
                of(count, &distinct),
                of(count, &|at| format!(r#"{{"a":"x{}","b":{at}}}"#, count - 1 - at)),
            ),
            ("reversed", of(count, &distinct), of(count, &|at| distinct(count - 1 - at))),
            ("few looks, shifted", of(count, &few), of(count, &|at| few(at + 1))),
            ("few looks, shuffled", of(count, &few), of(count, &|at| few(at.wrapping_mul(7919) % count))),
            ("half of them", of(count, &few), of(count / 2, &few)),
        ];
        for (name, old, new) in cases {
            let (old, new) = (format!("[{}]", old.join(",")), format!("[{}]", new.join(",")));
            for keys in [&[][..], &["k"]] {
                let found = matched(&new, &old, keys);
                let mut stored: Vec<usize> = found.iter().flatten().copied().collect();
                stored.sort_unstable();
                let is_once = stored.windows(2).all(|pair| pair[0] < pair[1]);
                assert!(is_once, "{count} items, {name}, keys {keys:?}: an item is continued twice");
            }
        }
    }
}
