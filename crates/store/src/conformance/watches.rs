//! What a watch tells: each change once, none left out, in order.

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use super::{
    client::{Client, Context, Diary, assert_told, key, prefix},
    random::Random,
};
use crate::{Cursor, Key, Order, Prefix, Revision};

/// Every kind of change, for two kinds of keys, with one key that was deleted and created again.
async fn write(diary: &mut Diary, round: u8) -> Key {
    let [one, two, other] = ["kind/one", "kind/two", "other/one"].map(key);
    diary.create(&one, &[round, 1]).await;
    diary.create(&other, &[round, 2]).await;
    diary.create(&two, &[round, 3]).await;
    diary.replace(&one, &[round, 4]).await;
    diary.replace(&one, &[round, 4]).await;
    diary.delete(&one).await;
    diary.replace(&other, &[round, 5]).await;
    diary.create(&one, &[round, 1]).await;
    diary.delete(&two).await;
    diary.delete(&one).await;
    diary.delete(&other).await;
    let last = key(format!("kind/zzz-{round}"));
    diary.create(&last, &[round]).await;
    last
}

pub(super) async fn a_watch_tells_every_change_in_order(context: Context) {
    let client = context.client().await;
    let begin = client.now().await;
    let mut diary = Diary::new(client.clone());
    // One watch is there before anything happens, and one begins when all has happened.
    let mut early = client.watch(&Prefix::all(), &begin).await;
    write(&mut diary, 0).await;
    write(&mut diary, 1).await;
    let mut late = client.watch(&Prefix::all(), &begin).await;
    for (watcher, when) in [(&mut early, "a watch that was waiting"), (&mut late, "a watch of what has happened")] {
        let events = watcher.take(diary.told.len()).await;
        let revisions: HashSet<(&Key, &Revision)> = events.iter().map(|event| (&event.key, &event.revision)).collect();
        assert_eq!(revisions.len(), events.len(), "{when}: every change of a key has a revision of its own");
        diary.assert_told(events, &Prefix::all(), 0, when);
        assert_eq!(watcher.next_within(Duration::from_millis(100)).await, None, "{when}: nothing is told twice");
    }
}

pub(super) async fn a_watch_from_now_on_tells_nothing_older(context: Context) {
    let client = context.client().await;
    let mut diary = Diary::new(client.clone());
    for round in 0..5 {
        let (noted, now) = (diary.told.len(), client.now().await);
        let mut watcher = client.watch(&Prefix::all(), &now).await;
        assert_eq!(watcher.next_within(Duration::from_millis(5)).await, None, "nothing has happened since now");
        let last = write(&mut diary, round).await;
        let expected = diary.told[noted..].len() - 1;
        let events = watcher.until(&last).await;
        assert_eq!(events.len(), expected, "round {round}: what was acknowledged later, and nothing else");
        let told = events.into_iter().map(Into::into).collect();
        let expected = diary.told[noted..noted + expected].to_vec();
        assert_told(client.guarantees().order, told, expected, "a watch from now on");
    }
}

pub(super) async fn a_watch_tells_only_of_its_prefix(context: Context) {
    let client = context.client().await;
    let begin = client.now().await;
    let mut diary = Diary::new(client.clone());
    let last = write(&mut diary, 0).await;
    diary.told.pop();
    for prefix in [prefix("kind"), Prefix::all()] {
        let events = client.watch(&prefix, &begin).await.until(&last).await;
        diary.assert_told(events, &prefix, 0, &format!("a watch of \"{prefix}\""));
    }
    let mut nothing = client.watch(&prefix("nothing"), &begin).await;
    assert_eq!(
        nothing.next_within(Duration::from_millis(100)).await,
        None,
        "nothing happens to keys that are not there"
    );
}

pub(super) async fn a_watch_can_be_taken_up_after_every_event(context: Context) {
    let client = context.client().await;
    let begin = client.now().await;
    let mut diary = Diary::new(client.clone());
    write(&mut diary, 0).await;
    let all = diary.told.len();
    let mut watcher = client.watch(&Prefix::all(), &begin).await;
    let mut before = Vec::new();
    for told in 1..=all {
        let event = watcher.next().await;
        let positions: [(&str, Cursor); 2] = [("an event", event.cursor.clone()), ("a watch", watcher.cursor())];
        before.push(event);
        for (whose, cursor) in positions {
            let mut events = before.clone();
            events.extend(client.watch(&Prefix::all(), &cursor).await.take(all - told).await);
            let when = format!("{told} changes, and a watch from the cursor of {whose}");
            diary.assert_told(events, &Prefix::all(), 0, &when);
        }
    }
}

pub(super) async fn a_watch_tells_what_others_write(context: Context) {
    let (watching, writing) = (context.client().await, context.client().await);
    let begin = watching.now().await;
    let mut watcher = watching.watch(&Prefix::all(), &begin).await;
    let mut diary = Diary::new(writing);
    for round in 0..20u8 {
        let noted = diary.told.len();
        diary.create(&key(format!("kind/{round}")), &[round]).await;
        // One at a time: the watch is waiting when it happens.
        let event = watcher.next().await;
        diary.assert_told(vec![event], &Prefix::all(), noted, "a watch through another client than the writer's");
    }
}

pub(super) async fn watches_do_not_disturb_each_other(context: Context) {
    let client = context.client().await;
    let mut diary = Diary::new(client.clone());
    let mut watchers = Vec::new();
    for round in 0..8 {
        let (noted, now) = (diary.told.len(), client.now().await);
        let watched = if round % 2 == 0 { Prefix::all() } else { prefix("kind") };
        watchers.push((client.watch(&watched, &now).await, watched, noted));
        write(&mut diary, round).await;
        if round % 3 == 2 {
            // Some end without ever having been asked.
            watchers.remove(0);
        }
    }
    let tasks = watchers.into_iter().map(|(mut watcher, watched, noted)| {
        let count = diary.told[noted..].iter().filter(|told| watched.is_of(&told.key)).count();
        tokio::spawn(async move { (watcher.take(count).await, watched, noted) })
    });
    for task in tasks.collect::<Vec<_>>() {
        let (events, watched, noted) = task.await.expect("a watcher comes to its end");
        diary.assert_told(events, &watched, noted, "watches from different positions at the same time");
    }
}

pub(super) async fn peeking_takes_nothing(context: Context) {
    let client = context.client().await;
    let begin = client.now().await;
    let mut diary = Diary::new(client.clone());
    let mut random = Random::new(2);
    diary.create(&key("other/one"), &[1]).await;
    // A driver may leave long values for later.
    for (number, length) in [0, 10, 1 << 20, 70_000, 3, 1 << 19].into_iter().enumerate() {
        let (kept, deleted) = (key(format!("kind/{number}")), key(format!("kind/deleted-{number}")));
        diary.create(&kept, &random.bytes(length)).await;
        diary.create(&deleted, &random.bytes(length)).await;
        diary.delete(&deleted).await;
    }
    let watched = prefix("kind");
    let mut watcher = client.watch(&watched, &begin).await;
    let mut events = Vec::new();
    while events.len() < diary.told.iter().filter(|told| watched.is_of(&told.key)).count() {
        let peeked = watcher.peek().await;
        assert_eq!(watcher.peek().await, peeked, "a second look");
        let again = client.watch(&watched, &watcher.cursor()).await.peek().await;
        if client.guarantees().order == Order::Total {
            assert_eq!(again, peeked, "a watch from the cursor after a look");
        }
        let event = watcher.next().await;
        assert_eq!(event.outline(), peeked, "the change is the one that was announced");
        events.push(event);
    }
    diary.assert_told(events, &watched, 0, "a watch that is looked at before each change");
    let nothing = tokio::time::timeout(Duration::from_millis(50), watcher.peek()).await;
    assert!(nothing.is_err(), "nothing is announced that does not happen: {nothing:?}");
    let noted = diary.told.len();
    diary.create(&key("kind/last"), &random.bytes(1 << 20)).await;
    assert_eq!(watcher.peek().await.key, key("kind/last"), "a look that was given up takes nothing");
    diary.assert_told(vec![watcher.next().await], &watched, noted, "the last change");
}

pub(super) async fn the_cursor_of_a_watch_moves_on_without_events(context: Context) {
    let client = context.client().await;
    let mut diary = Diary::new(client.clone());
    let quiet = prefix("quiet");
    let mut watcher = client.watch(&quiet, &client.now().await).await;
    let begin = watcher.cursor();
    diary.create(&key("kind/one"), b"").await;
    wait_for_another_cursor(&client, &mut watcher, &begin).await;

    let moved = watcher.cursor();
    if context.compact().await {
        let gone = client.try_watch(&quiet, &begin).await.map(drop);
        assert_eq!(gone, Err(crate::ErrorKind::TooOld), "a watch from the cursor that it had at first");
    }
    let noted = diary.told.len();
    diary.create(&key("quiet/one"), b"").await;
    let mut again = client.watch(&quiet, &moved).await;
    for (watcher, when) in [(&mut watcher, "a watch that moved on"), (&mut again, "a watch from where it was")] {
        diary.assert_told(vec![watcher.next().await], &quiet, noted, when);
    }
    if client.guarantees().order == Order::Total {
        let both = [watcher.cursor(), again.cursor()];
        diary.create(&key("quiet/two"), b"").await;
        for cursor in both {
            let event = client.watch(&quiet, &cursor).await.next().await;
            assert_eq!(event.key, key("quiet/two"), "a watch goes on where the other ended");
        }
    }
}

async fn wait_for_another_cursor(client: &Client, watcher: &mut super::client::Watcher, begin: &Cursor) {
    let began = Instant::now();
    while watcher.cursor() == *begin {
        let event = watcher.next_within(Duration::from_millis(20)).await;
        assert_eq!(event, None, "nothing happened to the watched keys");
        let waited = began.elapsed();
        assert!(waited < client.patience(), "the cursor of a watch without events has not moved in {waited:?}");
    }
}
