//! What is forgotten, and what is not.

use std::collections::HashMap;

use super::client::{Context, Diary, Told, assert_told, key, prefix};
use crate::{ErrorKind, Key, Order, PageRequest, Prefix};

pub(super) async fn what_is_forgotten_is_too_old(context: Context) {
    let client = context.client().await;
    let mut diary = Diary::new(client.clone());
    let kind = prefix("kind");
    for name in ["kind/1", "kind/2", "kind/3", "other/1"] {
        diary.create(&key(name), b"").await;
    }
    let old = client.now().await;
    let page = client.first_page(&kind, 1).await;
    for name in ["kind/1", "kind/2", "other/1"] {
        diary.replace(&key(name), b"again").await;
    }
    diary.delete(&key("kind/3")).await;
    if !context.compact().await {
        return;
    }
    for prefix in [&kind, &Prefix::all(), &prefix("nothing")] {
        let answer = client.try_watch(prefix, &old).await.map(drop);
        assert_eq!(answer, Err(ErrorKind::TooOld), "a watch of \"{prefix}\" from a cursor of before the compaction");
    }
    if client.guarantees().consistent_lists {
        let answer = client.try_watch(&kind, &page.cursor).await.map(drop);
        assert_eq!(answer, Err(ErrorKind::TooOld), "a watch from a list of before the compaction");
        let request = PageRequest { limit: None, after: page.next };
        let answer = client.page(&kind, &request).await.map(drop);
        assert_eq!(answer, Err(ErrorKind::TooOld), "the rest of a list of before the compaction");
    }

    // As it is said: list again, and go on from there.
    let (items, cursor) = client.list(&kind, Some(1)).await;
    assert_eq!(items, diary.current(&kind), "a list after the compaction");
    let noted = diary.told.len();
    let mut watcher = client.watch(&kind, &cursor).await;
    diary.create(&key("kind/3"), b"again").await;
    diary.assert_told(vec![watcher.next().await], &kind, noted, "a watch from a list after the compaction");
}

pub(super) async fn a_watch_that_falls_behind_says_so_or_tells_all(context: Context) {
    let client = context.client().await;
    let mut diary = Diary::new(client.clone());
    let mut watcher = client.watch(&Prefix::all(), &client.now().await).await;
    for number in 0..40u8 {
        diary.create(&key(format!("kind/{number}")), &[number]).await;
        diary.delete(&key(format!("kind/{number}"))).await;
        if number % 7 == 0 {
            diary.create(&key(format!("there/{number}")), &[number]).await;
        }
    }
    // The watch may have some of it at hand already, and no more than the beginning.
    let mut told: Vec<Told> = vec![watcher.next().await.into()];
    if !context.compact().await {
        return;
    }
    while told.len() < diary.told.len() {
        match watcher.try_next().await {
            Ok(event) => told.push(event.into()),
            Err(kind) => {
                assert_eq!(kind, ErrorKind::TooOld, "a watch that fell behind what is remembered");
                break;
            }
        }
    }
    let order = client.guarantees().order;
    let expected = match order {
        Order::Total => diary.told[..told.len()].to_vec(),
        Order::PerKey => {
            let mut counts: HashMap<Key, usize> = HashMap::new();
            told.iter().for_each(|told| *counts.entry(told.key.clone()).or_default() += 1);
            let mut is_due = |told: &&Told| counts.get_mut(&told.key).is_some_and(take_one);
            diary.told.iter().filter(|told| is_due(told)).cloned().collect()
        }
    };
    assert_told(order, told, expected, "up to where a watch fell behind");
}

fn take_one(left: &mut usize) -> bool {
    let is_left = *left > 0;
    *left -= usize::from(is_left);
    is_left
}

pub(super) async fn what_is_there_outlives_the_history(context: Context) {
    let (client, other) = (context.client().await, context.client().await);
    let mut diary = Diary::new(client.clone());
    for round in 0..3u8 {
        for number in 0..6u8 {
            let key = key(format!("kind/{number}"));
            match diary.stored(&key) {
                None => drop(diary.create(&key, &[round, number]).await),
                Some(_) if number % 2 == 0 => diary.delete(&key).await,
                Some(_) => drop(diary.replace(&key, &[round, number]).await),
            }
        }
        let now = client.now().await;
        context.compact().await;
        for client in [&client, &other] {
            let (items, _) = client.list(&Prefix::all(), Some(2)).await;
            assert_eq!(items, diary.current(&Prefix::all()), "a list after a compaction, round {round}");
            client.watch(&Prefix::all(), &now).await;
        }
        for (number, told) in diary.told.iter().enumerate() {
            let Some(old) = &told.revision else { continue };
            let current = diary.stored(&told.key).map(|stored| stored.revision.clone());
            if current.as_ref() == Some(old) {
                continue;
            }
            let expected = current.map_or(ErrorKind::Missing, ErrorKind::Conflict);
            let answer = client.replace(&told.key, old, b"").await;
            assert_eq!(answer, Err(expected), "an old revision (change {number}) after a compaction, round {round}");
        }
    }
    let deleted = client.create(&key("kind/0"), b"").await;
    let revision = match diary.stored(&key("kind/0")) {
        Some(_) => return assert_eq!(deleted, Err(ErrorKind::Exists), "a create after a compaction"),
        None => deleted.expect("a key whose removal is forgotten can be created"),
    };
    let seen = diary.told.iter().any(|told| told.key == key("kind/0") && told.revision.as_ref() == Some(&revision));
    assert!(!seen, "a revision of before the compaction does not come back");
}
