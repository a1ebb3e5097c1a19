//! Lists, page by page, of one moment, and what is watched from there.

use std::{collections::BTreeMap, time::Duration};

use super::client::{Client, Context, Diary, assert_items, key, prefix};
use crate::{Change, ErrorKind, Key, KeyRange, PageRequest, Prefix, Stored};

pub(super) async fn a_list_of_nothing_is_empty(context: Context) {
    let client = context.client().await;
    for prefix in [Prefix::all(), prefix("nothing"), prefix("nothing/here")] {
        assert_eq!(client.list(&prefix, None).await.0, [], "the list of \"{prefix}\" in an empty store");
        assert_eq!(client.list(&prefix, Some(1)).await.0, [], "the list of \"{prefix}\" in an empty store");
    }
    // Clients of Kubernetes take the resourceVersion 0 for any moment.
    let cursor = client.first_page(&Prefix::all(), 1).await.cursor;
    assert_ne!(cursor.as_str(), "0", "the cursor of an empty store");
    let watcher = client.watch(&Prefix::all(), &cursor).await;
    let mut diary = Diary::new(client.clone());
    diary.create(&key("kind/one"), b"").await;
    diary.create(&key("other/one"), b"").await;
    diary.delete(&key("kind/one")).await;
    assert_eq!(client.list(&prefix("kind"), None).await.0, [], "a list of what was deleted");
    for mut watcher in [watcher, client.watch(&Prefix::all(), &cursor).await] {
        let events = watcher.take(diary.told.len()).await;
        diary.assert_told(events, &Prefix::all(), 0, "a watch from the list of an empty store");
    }
}

async fn filled(client: &Client, count: usize) -> Diary {
    let mut diary = Diary::new(client.clone());
    for number in 0..count {
        diary.create(&key(format!("kind/{number:03}")), format!("value {number}").as_bytes()).await;
    }
    diary.create(&key("before/one"), b"").await;
    diary.create(&key("later/one"), b"").await;
    diary
}

pub(super) async fn a_list_has_every_value_once_whatever_the_limit(context: Context) {
    let client = context.client().await;
    let mut diary = filled(&client, 23).await;
    // What was deleted, replaced or created again is no reason to end a page early, or twice.
    for number in [0, 5, 6, 7, 12, 22] {
        diary.delete(&key(format!("kind/{number:03}"))).await;
    }
    diary.create(&key("kind/006"), b"again").await;
    diary.replace(&key("kind/011"), b"replaced").await;
    for prefix in [prefix("kind"), Prefix::all()] {
        for limit in [Some(1), Some(2), Some(3), Some(17), Some(18), Some(19), Some(1000), Some(usize::MAX), None] {
            let (items, _) = client.list(&prefix, limit).await;
            assert_items(&items, &diary.current(&prefix), &format!("\"{prefix}\" with the limit {limit:?}"));
        }
    }
}

pub(super) async fn a_page_has_at_most_as_many_values_as_wanted(context: Context) {
    let client = context.client().await;
    let diary = filled(&client, 10).await;
    let kind = prefix("kind");
    for limit in 1..12 {
        let first = client.first_page(&kind, limit).await;
        let rest = client.pages_after(&kind, Some(limit), first.next.clone()).await;
        for page in [&first].into_iter().chain(&rest) {
            assert!(page.items.len() <= limit, "{} values in a page of at most {limit}", page.items.len());
        }
    }
    // The limit may change from page to page.
    let mut items = client.first_page(&kind, 1).await;
    let mut found = items.items;
    for limit in [3, 1, 4, 20] {
        let Some(after) = items.next.take() else { break };
        let request = PageRequest { limit: Some(limit), after: Some(after) };
        items = client.page(&kind, &request).await.expect("another page of another size");
        assert!(items.items.len() <= limit, "{} values in a page of at most {limit}", items.items.len());
        found.extend(items.items.clone());
    }
    found.extend(client.pages_after(&kind, None, items.next).await.into_iter().flat_map(|page| page.items));
    assert_items(&found, &diary.current(&kind), "pages of different sizes");
}

pub(super) async fn all_pages_show_the_moment_of_the_first(context: Context) {
    let (client, other) = (context.client().await, context.client().await);
    if !client.guarantees().consistent_lists {
        return;
    }
    let mut diary = filled(&client, 12).await;
    diary.client = other;
    let kind = prefix("kind");
    let expected = diary.current(&kind);
    let noted = diary.told.len();
    let first = client.first_page(&kind, 3).await;

    // Behind the first page and ahead of it: created, replaced, deleted, deleted and created again.
    for number in [1, 8] {
        diary.replace(&key(format!("kind/{number:03}")), b"replaced later").await;
        diary.delete(&key(format!("kind/{:03}", number + 1))).await;
        diary.delete(&key(format!("kind/{:03}", number + 2))).await;
        diary.create(&key(format!("kind/{:03}", number + 2)), b"created again").await;
        diary.create(&key(format!("kind/{number:03}-new")), b"created later").await;
    }
    let mut pages = vec![first];
    while let Some(after) = pages[pages.len() - 1].next.clone() {
        let request = PageRequest { limit: Some(2), after: Some(after) };
        let page = client.page(&kind, &request).await.expect("the next page, after writes");
        let again = client.page(&kind, &request).await.expect("the same page once more");
        assert_items(&again.items, &page.items, "a page that is asked for twice");
        diary.replace(&key("kind/011"), b"replaced between pages").await;
        pages.push(page);
    }
    let items: Vec<(Key, Stored)> = pages.iter().flat_map(|page| page.items.clone()).collect();
    assert_items(&items, &expected, "pages that were read while others wrote");

    let told = diary.told[noted..].len();
    for page in &pages {
        let events = client.watch(&kind, &page.cursor).await.take(told).await;
        diary.assert_told(events, &kind, noted, "a watch from the cursor of each page");
    }
    assert_items(&client.list(&kind, Some(2)).await.0, &diary.current(&kind), "a new list");
}

pub(super) async fn a_long_list_comes_in_pages_without_a_limit(context: Context) {
    const KEYS: usize = 620;
    let client = context.client().await;
    let writers = (0..KEYS).map(|number| {
        let client = client.clone();
        tokio::spawn(async move { client.create(&key(format!("kind/{number:05}")), b"value").await })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.expect("a writer comes to its end").expect("a key without a value can be created");
    }
    for limit in [None, Some(usize::MAX), Some(100)] {
        let (items, _) = client.list(&prefix("kind"), limit).await;
        let names: Vec<&str> = items.iter().map(|(key, _)| key.as_str()).collect();
        let expected: Vec<String> = (0..KEYS).map(|number| format!("kind/{number:05}")).collect();
        assert_eq!(names, expected, "a list of {KEYS} keys with the limit {limit:?}");
    }
}

pub(super) async fn watching_from_a_list_has_no_gap(context: Context) {
    const CHANGES: u32 = 120;
    let (client, writing) = (context.client().await, context.client().await);
    let (kind, last) = (prefix("kind"), key("kind/zzz"));
    let writer = tokio::spawn(async move {
        let mut diary = Diary::new(writing);
        for change in 0..CHANGES {
            let key = key(format!("kind/{}", change % 7));
            match diary.stored(&key) {
                None => drop(diary.create(&key, &change.to_be_bytes()).await),
                Some(_) if change % 5 == 0 => diary.delete(&key).await,
                Some(_) => drop(diary.replace(&key, &change.to_be_bytes()).await),
            }
            // A store that is fast must not be done before anybody has listed anything.
            if change % 8 == 0 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
        diary.create(&key("kind/zzz"), b"").await;
        diary
    });
    // Lists of moments in the midst of it, each with a watch from there on.
    let mut replicas = Vec::new();
    while !writer.is_finished() && replicas.len() < 12 {
        tokio::time::sleep(Duration::from_millis(2)).await;
        let (items, cursor) = client.list(&kind, Some(2)).await;
        replicas.push((items, client.watch(&kind, &cursor).await));
    }
    let diary = writer.await.expect("the writer comes to its end");
    let expected: BTreeMap<Key, Stored> = diary.current(&kind).into_iter().collect();
    for (items, mut watcher) in replicas {
        let mut replica: BTreeMap<Key, Stored> = items.into_iter().collect();
        let is_strict = client.guarantees().consistent_lists;
        let events = match (replica.contains_key(&last), is_strict) {
            (false, _) => watcher.until(&last).await,
            (true, true) => Vec::new(),
            (true, false) => watcher.drain().await,
        };
        for event in events {
            // A list of no one moment may show already what the watch tells.
            let follows = match event.change {
                Change::Created(value) => {
                    let new = Stored { revision: event.revision, value };
                    replica.insert(event.key.clone(), new).is_none()
                }
                Change::Replaced(value) => {
                    let new = Stored { revision: event.revision, value };
                    replica.insert(event.key.clone(), new).is_some()
                }
                Change::Deleted(value) => replica.remove(&event.key).is_some_and(|before| before.value == value),
            };
            assert!(follows || !is_strict, "a change of {} that does not follow from the list", event.key);
        }
        replica.extend(diary.stored(&last).map(|stored| (last.clone(), stored.clone())));
        assert_eq!(replica, expected, "a list, and every change since");
    }
}

pub(super) async fn what_was_can_be_listed_and_looked_up_if_it_is_kept(context: Context) {
    let client = context.client().await;
    let mut diary = Diary::new(client.clone());
    let kind = prefix("kind");
    let (one, two) = (key("kind/1"), key("kind/2"));
    let first = diary.create(&one, b"first").await;
    diary.create(&two, b"").await;
    let (then, was) = (client.now().await, diary.current(&kind));
    let second = diary.replace(&one, b"second").await;
    diary.delete(&two).await;
    diary.create(&key("kind/3"), b"").await;
    for (after, expected) in [(None, &was[..]), (Some(&one), &was[1..])] {
        let Some(after) = client.list_at(&then, &kind, after).await else { continue };
        let page = client.page(&kind, &PageRequest { limit: None, after: Some(after) }).await;
        let page = page.expect("a list of an earlier moment");
        assert_items(&page.items, expected, "a list of an earlier moment");
        assert_eq!(page.cursor, then, "the moment of such a list");
    }
    match client.before(&one, &second).await {
        // Not every store keeps it.
        Err(error) => assert_eq!(error, ErrorKind::TooOld, "what was before, in a store that does not keep it"),
        Ok(before) => {
            let before = before.expect("the key had a value before it was replaced");
            assert_eq!((&before.revision, &before.value[..]), (&first, &b"first"[..]), "what was before");
            assert_eq!(client.before(&one, &first).await, Ok(None), "what was before the first value");
            if context.compact().await {
                let forgotten = client.before(&one, &second).await;
                assert_eq!(forgotten, Err(ErrorKind::TooOld), "what was before, once it is forgotten");
            }
        }
    }
}

pub(super) async fn a_change_is_never_denied(context: Context) {
    let client = context.client().await;
    let mut diary = Diary::new(client.clone());
    for name in ["kind/1", "kind/2", "kind/3", "kinds/1", "other/2"] {
        diary.create(&key(name), b"").await;
    }
    let range = |after: Option<&str>, until: Option<&str>| KeyRange {
        prefix: prefix("kind"),
        after: after.map(key),
        until: until.map(key),
    };
    let ranges = [
        range(None, None),
        range(None, Some("kind/2")),
        range(Some("kind/1"), Some("kind/2")),
        range(Some("kind/2"), None),
        KeyRange { prefix: Prefix::all(), after: None, until: None },
    ];
    let beginning = client.now().await;
    // A store that answers at all, and tells of what is there, need not do it for what it would have to look for.
    let can_tell = client.is_unchanged(&ranges[0], &beginning).await;
    for (round, changed) in
        ["kind/1", "other/2", "kind/0", "kind/3", "kind/3", "kinds/1", "kind/9", "kind/2"].iter().enumerate()
    {
        let then = client.now().await;
        let changed = key(*changed);
        match (diary.stored(&changed).is_some(), round % 2) {
            (false, _) => drop(diary.create(&changed, b"new").await),
            (true, 0) => diary.delete(&changed).await,
            (true, _) => drop(diary.replace(&changed, b"changed").await),
        }
        for range in &ranges {
            let is_unchanged = client.is_unchanged(range, &then).await;
            match range.contains(&changed) {
                true => assert!(!is_unchanged, "{changed} was changed, and is in {range:?}"),
                false => assert_eq!(is_unchanged, can_tell, "only {changed} was changed, which is not in {range:?}"),
            }
        }
        assert!(!client.is_unchanged(&ranges[0], &beginning).await, "it was changed since the beginning");
    }
    if context.compact().await {
        assert!(!client.is_unchanged(&ranges[0], &beginning).await, "what happened is forgotten, not undone");
    }
}
