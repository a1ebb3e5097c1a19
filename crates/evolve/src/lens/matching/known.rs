//! Matching where a JSON patch named positions.

use wheelwright_document::Value;

use super::{Alignment, Lists, Values, match_by_keys};

/// For every written item, the position of the stored item it continues, given the provenance that a patch reports.
///
/// Without keys the provenance alone decides. With keys, it decides for items whose key stayed, which matters where several
/// items share one; the others match by key, as in every write. `None` if the provenance is not about these lists.
pub fn match_known(
    new: &[Value<'_>],
    old: &[Value<'_>],
    keys: &[Box<str>],
    origins: &[Option<usize>],
) -> Option<Vec<Option<usize>>> {
    if origins.len() != new.len() || !are_distinct(origins, old.len()) {
        return None;
    }
    if keys.is_empty() {
        return Some(origins.to_vec());
    }
    let mut lists = Values { new, old, keys, hidden: |_| 0 };
    let classes = lists.classes();
    let has_its_key = |(item, origin): (usize, &Option<usize>)| origin.filter(|stored| classes.is_equal(item, *stored));
    let mut matched: Alignment = origins.iter().enumerate().map(has_its_key).collect();
    match_by_keys(&mut lists, &classes, &mut matched);
    Some(matched)
}

/// Whether all origins are positions of a list, and none occurs twice.
fn are_distinct(origins: &[Option<usize>], count: usize) -> bool {
    let mut is_taken = vec![false; count];
    origins
        .iter()
        .flatten()
        .all(|stored| is_taken.get_mut(*stored).is_some_and(|taken| !std::mem::replace(taken, true)))
}

#[cfg(test)]
mod tests {
    use wheelwright_document::{Arena, decode};

    use super::*;

    fn known(new: &str, old: &str, keys: &[&str], origins: &[Option<usize>]) -> Option<Alignment> {
        let arena = Arena::new();
        let [new, old] =
            [new, old].map(|text| decode(arena.text(text).as_bytes(), &arena).unwrap().as_array().unwrap());
        let keys: Vec<Box<str>> = keys.iter().map(|key| (*key).into()).collect();
        match_known(new, old, &keys, origins)
    }

    #[test]
    fn without_keys_the_provenance_decides() {
        assert_eq!(known("[{},{}]", "[{},{},{}]", &[], &[Some(2), None]), Some(vec![Some(2), None]));
    }

    #[test]
    fn provenance_of_other_lists_is_not_used() {
        for origins in [&[Some(0)][..], &[Some(0), Some(3)], &[Some(1), Some(1)]] {
            assert_eq!(known("[{},{}]", "[{},{},{}]", &[], origins), None);
        }
    }

    #[test]
    fn with_keys_the_provenance_decides_where_the_key_stayed() {
        let old = r#"[{"k":1},{"k":1},{"k":2}]"#;
        let with_key = |new, origins: &[Option<usize>]| known(new, old, &["k"], origins).unwrap();
        assert_eq!(with_key(r#"[{"k":1},{"k":2}]"#, &[Some(1), Some(2)]), [Some(1), Some(2)]);
        assert_eq!(with_key(r#"[{"k":2},{"k":1}]"#, &[Some(0), Some(2)]), [Some(2), Some(0)], "keys were exchanged");
        let renamed = with_key(r#"[{"k":1},{"k":1},{"k":3}]"#, &[Some(0), Some(1), Some(2)]);
        assert_eq!(renamed, [Some(0), Some(1), None], "another key is another item");
        assert_eq!(with_key(r#"[{"k":1},{"k":2}]"#, &[None, Some(1)]), [Some(0), Some(2)], "added again");
    }
}
