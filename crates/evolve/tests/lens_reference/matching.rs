//! Which item of a list continues which, as slowly as the rules say it.

use serde_json::Value as Json;

/// Which old item every new one continues: those of the same keys, n-th to n-th.
pub(crate) fn by_keys(items: &[Json], shown: &[Json], keys: &[String]) -> Vec<Option<usize>> {
    let key = |item: &Json| keys.iter().map(|key| item.get(key).cloned()).collect::<Vec<_>>();
    nth_to_nth(items, shown, |item, old| key(item) == key(old))
}

/// Which old item every new one continues: equal ones n-th to n-th, then the items between two that are neighbours of
/// gaps of the same length.
pub(crate) fn by_likeness(items: &[Json], shown: &[Json]) -> Vec<Option<usize>> {
    let mut matches = nth_to_nth(items, shown, |item, old| item == old);
    let anchors = matches.clone();
    let taken = |position: usize| anchors.contains(&Some(position));
    let mut start = 0;
    while start < items.len() {
        if anchors[start].is_some() {
            start += 1;
            continue;
        }
        let end = (start..items.len()).find(|at| anchors[*at].is_some()).unwrap_or(items.len());
        let old_start = if start == 0 { Some(0) } else { anchors[start - 1].map(|anchor| anchor + 1) };
        let old_end = if end == items.len() { Some(shown.len()) } else { anchors[end] };
        if let (Some(old_start), Some(old_end)) = (old_start, old_end)
            && old_start + (end - start) == old_end
            && (old_start..old_end).all(|position| !taken(position))
        {
            for (offset, matched) in matches[start..end].iter_mut().enumerate() {
                *matched = Some(old_start + offset);
            }
        }
        start = end;
    }
    matches
}

fn nth_to_nth(items: &[Json], shown: &[Json], same: impl Fn(&Json, &Json) -> bool) -> Vec<Option<usize>> {
    let mut taken = vec![false; shown.len()];
    let matches = items.iter().map(|item| {
        let found = (0..shown.len()).find(|position| !taken[*position] && same(item, &shown[*position]))?;
        taken[found] = true;
        Some(found)
    });
    matches.collect()
}
