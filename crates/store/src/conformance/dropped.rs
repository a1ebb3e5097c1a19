//! Futures that are dropped before they are done.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
    time::Duration,
};

use tokio::time::timeout;

use super::{
    client::{Client, Context, Diary, Told, assert_told, key},
    random::Random,
};
use crate::{Change, ErrorKind, Key, PageRequest, Prefix, Revision, Stored};

pub(super) async fn dropping_next_loses_nothing(context: Context) {
    const CHANGES: u32 = 60;
    let (client, writing) = (context.client().await, context.client().await);
    let begin = client.now().await;
    let mut watcher = client.watch(&Prefix::all(), &begin).await;
    let writer = tokio::spawn(async move {
        let mut diary = Diary::new(writing);
        for change in 0..CHANGES {
            let key = key(format!("kind/{}", change % 5));
            match diary.stored(&key) {
                Some(_) => drop(diary.replace(&key, &change.to_be_bytes()).await),
                None => drop(diary.create(&key, &change.to_be_bytes()).await),
            }
            if change % 10 == 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        diary
    });
    let mut random = Random::new(2);
    let mut events = Vec::new();
    let began = std::time::Instant::now();
    while events.len() < CHANGES as usize {
        let time = Duration::from_micros(*random.pick(&[0, 1, 50, 200, 1000, 5000]));
        events.extend(watcher.next_within(time).await);
        let waited = began.elapsed();
        assert!(waited < client.patience(), "{} of {CHANGES} changes told within {waited:?}", events.len());
    }
    let diary = writer.await.expect("the writer comes to its end");
    diary.assert_told(events, &Prefix::all(), 0, "a watch whose futures were dropped time and again");
}

/// Begins a call, and drops it after a while that is different for each.
async fn drop_early<T>(random: &mut Random, call: impl Future<Output = T>) -> Option<T> {
    let mut call = pin!(call);
    let polled = poll_fn(|context| Poll::Ready(call.as_mut().poll(context))).await;
    match (polled, random.within(0..4)) {
        (Poll::Ready(answer), _) => Some(answer),
        (Poll::Pending, 0) => None,
        (Poll::Pending, _) => timeout(Duration::from_micros(random.within(0..2500)), call).await.ok(),
    }
}

pub(super) async fn a_dropped_write_is_whole_or_nothing(context: Context) {
    let client = context.client().await;
    let begin = client.now().await;
    let mut random = Random::new(3);
    let mut expected: Vec<Told> = Vec::new();
    for round in 0..40 {
        let value = random.bytes(if round % 4 == 0 { 300_000 } else { 300 });
        // A write on the same condition tells whether the dropped one has happened, and makes sure that it does not happen
        // any more: it may be under way for as long as it likes.
        let created = key(format!("created/{round}"));
        drop_early(&mut random, client.store().create(&created, value.clone())).await;
        let again = client.create(&created, b"sure").await;
        let stored = settled(&client, &created, again, &value).await;
        expected.push(told(&created, Change::Created(stored.value), Some(stored.revision)));

        let changed = key(format!("changed/{round}"));
        let first = client.create(&changed, b"first").await.expect("a key without a value can be created");
        expected.push(told(&changed, Change::Created(b"first".to_vec()), Some(first.clone())));
        drop_early(&mut random, client.store().replace(&changed, &first, value.clone())).await;
        let again = client.replace(&changed, &first, b"sure").await;
        let second = settled(&client, &changed, again, &value).await;
        expected.push(told(&changed, Change::Replaced(second.value.clone()), Some(second.revision.clone())));

        drop_early(&mut random, client.store().delete(&changed, &second.revision)).await;
        match client.delete(&changed, &second.revision).await {
            Ok(()) | Err(ErrorKind::Missing) => {}
            Err(kind) => panic!("a delete after a dropped delete of {changed}: {kind:?}"),
        }
        assert_eq!(
            client.get(&changed).await,
            None,
            "{changed} was deleted, whether the first delete was dropped or not"
        );
        expected.push(told(&changed, Change::Deleted(second.value), None));
    }
    let last = key("last");
    client.create(&last, b"").await.expect("a key without a value can be created");
    let events = client.watch(&Prefix::all(), &begin).await.until(&last).await;
    let events = events.into_iter().map(Told::from).collect();
    assert_told(client.guarantees().order, events, expected, "after writes that were dropped");
}

fn told(key: &Key, change: Change, revision: Option<Revision>) -> Told {
    Told { key: key.clone(), change, revision }
}

/// What is there after a dropped write and another one: one of the two, as a whole.
async fn settled(client: &Client, key: &Key, again: Result<Revision, ErrorKind>, dropped: &[u8]) -> Stored {
    let stored = client.get(key).await.unwrap_or_else(|| panic!("{key} has no value after two writes: {again:?}"));
    let expected = match again {
        Ok(revision) => Stored { revision, value: b"sure".to_vec() },
        Err(ErrorKind::Conflict(revision)) => Stored { revision, value: dropped.to_vec() },
        Err(ErrorKind::Exists) => Stored { revision: stored.revision.clone(), value: dropped.to_vec() },
        Err(kind) => panic!("a write of {key} after one that was dropped: {kind:?}"),
    };
    let (found, wanted) = ((&stored.revision, stored.value.len()), (&expected.revision, expected.value.len()));
    assert!(stored == expected, "{key} must have {wanted:?} (a revision, and so many bytes), and has {found:?}");
    stored
}

pub(super) async fn dropped_reads_hurt_nobody(context: Context) {
    let client = context.client().await;
    let mut diary = Diary::new(client.clone());
    let mut random = Random::new(4);
    for number in 0..20u8 {
        diary.create(&key(format!("kind/{number:02}")), &random.bytes(1000)).await;
    }
    for round in 0..60 {
        let store = client.store();
        let (one, all) = (key("kind/01"), Prefix::all());
        match round % 4 {
            0 => drop(drop_early(&mut random, store.get(&one)).await),
            1 => drop(drop_early(&mut random, store.list(&all, PageRequest::default())).await),
            2 => drop(drop_early(&mut random, store.now()).await),
            _ => drop(drop_early(&mut random, store.health()).await),
        }
    }
    let (items, _) = client.list(&Prefix::all(), None).await;
    assert!(items == diary.current(&Prefix::all()), "a list after reads that were dropped");
    diary.replace(&key("kind/01"), b"still written").await;
    assert!(client.health().await.took <= client.patience(), "a store is in good health after reads that were dropped");
}
