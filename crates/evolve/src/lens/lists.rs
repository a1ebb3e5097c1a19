//! Which item of a list is which item of the old one.

use std::collections::{HashMap, VecDeque};

use wheelwright_document::Value;

use super::same::{equal, equal_option, hash, same, same_option};

/// For every item of a list that is written, the position of the old item that it replaces. Both lists are as the version
/// shows them.
///
/// Never by bare position: deleting the first item must not give its hidden data to the second.
pub fn match_items(new: &[Value<'_>], old: &[Value<'_>], keys: &[Box<str>]) -> Vec<Option<usize>> {
    if old.is_empty() {
        return vec![None; new.len()];
    }
    match keys {
        [] => {
            let mut matched = nth_to_nth(new, old, hash, same, equal);
            match_gaps(&mut matched, old.len());
            matched
        }
        keys => {
            let hash = |item: Value<'_>| hash_of_keys(item, keys);
            nth_to_nth(new, old, hash, |a, b| have(a, b, keys, same_option), |a, b| have(a, b, keys, equal_option))
        }
    }
}

/// How many different items under one hash are looked through: somebody could make a list of nothing else.
const MOST_ALIKE: usize = 16;

/// Matches the n-th of several equal items with the n-th of those; of several that differ in how their numbers are written,
/// with one that is written alike.
fn nth_to_nth(
    new: &[Value<'_>],
    old: &[Value<'_>],
    hash: impl Fn(Value<'_>) -> u64,
    same: impl Fn(Value<'_>, Value<'_>) -> bool,
    equal: impl Fn(Value<'_>, Value<'_>) -> bool,
) -> Vec<Option<usize>> {
    let mut waiting: HashMap<u64, VecDeque<usize>> = HashMap::with_capacity(old.len());
    for (position, item) in old.iter().enumerate() {
        waiting.entry(hash(*item)).or_default().push_back(position);
    }
    let take = |item: &Value<'_>| {
        let queue = waiting.get_mut(&hash(*item))?;
        // Different items under one hash are so rare that many of them may go unmatched.
        let mut alike = queue.iter().take(MOST_ALIKE).map(|position| old[*position]);
        let found =
            alike.clone().position(|old| same(*item, old)).or_else(|| alike.position(|old| equal(*item, old)))?;
        queue.remove(found)
    };
    new.iter().map(take).collect()
}

/// Matches what is left pairwise, where a gap between matched neighbours has the same length on both sides.
fn match_gaps(matched: &mut [Option<usize>], old: usize) {
    let mut is_taken = vec![false; old];
    for position in matched.iter().flatten() {
        is_taken[*position] = true;
    }
    let mut start = 0;
    while start < matched.len() {
        if matched[start].is_some() {
            start += 1;
            continue;
        }
        let end = matched[start..].iter().position(Option::is_some).map_or(matched.len(), |length| start + length);
        let after = if start == 0 { Some(0) } else { matched[start - 1].map(|position| position + 1) };
        let before = if end == matched.len() { Some(old) } else { matched[end] };
        if let (Some(after), Some(before)) = (after, before)
            && before.checked_sub(after) == Some(end - start)
            && !is_taken[after..before].contains(&true)
        {
            for (offset, slot) in matched[start..end].iter_mut().enumerate() {
                *slot = Some(after + offset);
            }
        }
        start = end;
    }
}

fn hash_of_keys(item: Value<'_>, keys: &[Box<str>]) -> u64 {
    keys.iter().fold(23, |sum: u64, key| sum.rotate_left(7) ^ item.get(key).map_or(29, hash))
}

/// Whether two items have keys that are alike.
fn have(
    a: Value<'_>,
    b: Value<'_>,
    keys: &[Box<str>],
    alike: fn(Option<Value<'_>>, Option<Value<'_>>) -> bool,
) -> bool {
    keys.iter().all(|key| alike(a.get(key), b.get(key)))
}

#[cfg(test)]
mod tests {
    use wheelwright_document::{Arena, decode};

    use super::*;

    fn matched(new: &str, old: &str, keys: &[&str]) -> Vec<Option<usize>> {
        let arena = Arena::new();
        let items = |text: &str| decode(arena.text(text).as_bytes(), &arena).unwrap().as_array().unwrap();
        let keys: Vec<Box<str>> = keys.iter().map(|key| (*key).into()).collect();
        match_items(items(new), items(old), &keys)
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
    fn without_keys_equal_items_match_first_and_gaps_of_one_length_pairwise() {
        assert_eq!(matched("[2,3]", "[1,2,3]", &[]), [Some(1), Some(2)]);
        assert_eq!(matched("[1,9,3]", "[1,2,3]", &[]), [Some(0), Some(1), Some(2)]);
        assert_eq!(matched("[9,2,3]", "[1,2,3]", &[]), [Some(0), Some(1), Some(2)]);
        assert_eq!(matched("[3,2,1]", "[1,2,3]", &[]), [Some(2), Some(1), Some(0)]);
        assert_eq!(matched("[8,9]", "[1,2,3]", &[]), [None, None]);
        assert_eq!(matched("[1,8,9,3]", "[1,2,3]", &[]), [Some(0), None, None, Some(2)]);
        assert_eq!(matched("[1,1]", "[1,1,1]", &[]), [Some(0), Some(1)]);
        assert_eq!(matched("[2,1]", "[1.0,2]", &[]), [Some(1), Some(0)], "however a client spells numbers");
        assert_eq!(matched("[1.0]", "[1,1.0]", &[]), [Some(1)], "and as it does, where there is one so");
        let times: Vec<String> = (0..60).map(|number| (1_700_000_000_000_000_000_u64 + number).to_string()).collect();
        let back: Vec<String> = times.iter().rev().cloned().collect();
        let found = matched(&format!("[{}]", back.join(",")), &format!("[{}]", times.join(",")), &[]);
        assert_eq!(found, (0..60).rev().map(Some).collect::<Vec<_>>());
    }
}
