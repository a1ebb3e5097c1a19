//! What is written, and on which conditions.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicU16, Ordering},
    },
};

use super::client::{Context, Diary, key};
use crate::{ErrorKind, Prefix, Revision, Stored};

pub(super) async fn a_key_without_a_value_can_be_created(context: Context) {
    let client = context.client().await;
    let key = key("kind/one");
    assert_eq!(client.get(&key).await, None, "a get of a key that was never created");
    let revision = client.create(&key, b"value").await.expect("a key without a value can be created");
    let stored = Stored { revision, value: b"value".to_vec() };
    assert_eq!(client.get(&key).await, Some(stored), "a get shows the value and the revision that create gave");
}

pub(super) async fn a_key_with_a_value_cannot_be_created(context: Context) {
    let client = context.client().await;
    let key = key("kind/one");
    let created = client.create(&key, b"first").await.expect("a key without a value can be created");
    assert_eq!(client.create(&key, b"second").await, Err(ErrorKind::Exists), "a create of a key that has a value");
    let same = client.create(&key, b"first").await;
    assert_eq!(same, Err(ErrorKind::Exists), "a create of a key that has this very value");
    let stored = Stored { revision: created, value: b"first".to_vec() };
    assert_eq!(client.get(&key).await, Some(stored), "a create that failed leaves the value alone");
}

pub(super) async fn only_the_value_with_the_revision_is_replaced(context: Context) {
    let client = context.client().await;
    let key = key("kind/one");
    let first = client.create(&key, b"first").await.expect("a key without a value can be created");
    let second = client.replace(&key, &first, b"second").await.expect("a replace with the current revision");
    assert_ne!(second, first, "another value has another revision");
    let stored = Stored { revision: second.clone(), value: b"second".to_vec() };
    assert_eq!(client.get(&key).await, Some(stored.clone()), "a get shows what replace wrote");

    let late = client.replace(&key, &first, b"third").await;
    assert_eq!(late, Err(ErrorKind::Conflict(second.clone())), "a replace with the revision before the current one");
    assert_eq!(client.get(&key).await, Some(stored), "a replace that failed leaves the value alone");

    let same = client.replace(&key, &second, b"second").await.expect("a replace with the same bytes");
    assert_ne!(same, second, "a replace with the same bytes makes a revision too");

    client.delete(&key, &same).await.expect("a delete with the current revision");
    let gone = client.replace(&key, &same, b"third").await;
    assert_eq!(gone, Err(ErrorKind::Missing), "a replace of a key that was deleted");
    let never = client.replace(&super::client::key("kind/two"), &same, b"third").await;
    assert_eq!(never, Err(ErrorKind::Missing), "a replace of a key that never had a value");
}

pub(super) async fn only_the_value_with_the_revision_is_deleted(context: Context) {
    let client = context.client().await;
    let key = key("kind/one");
    let first = client.create(&key, b"first").await.expect("a key without a value can be created");
    let second = client.replace(&key, &first, b"second").await.expect("a replace with the current revision");
    let late = client.delete(&key, &first).await;
    assert_eq!(late, Err(ErrorKind::Conflict(second.clone())), "a delete with the revision before the current one");
    assert!(client.get(&key).await.is_some(), "a delete that failed leaves the value alone");

    assert_eq!(client.delete(&key, &second).await, Ok(()), "a delete with the current revision");
    assert_eq!(client.get(&key).await, None, "a get of a key that was deleted");
    assert_eq!(client.delete(&key, &second).await, Err(ErrorKind::Missing), "a delete of a key that was deleted");
    let never = client.delete(&super::client::key("kind/two"), &second).await;
    assert_eq!(never, Err(ErrorKind::Missing), "a delete of a key that never had a value");
}

pub(super) async fn a_write_that_fails_changes_nothing(context: Context) {
    let client = context.client().await;
    let mut diary = Diary::new(client.clone());
    let (one, two, last) = (key("kind/one"), key("kind/two"), key("kind/zzz"));
    let old = diary.create(&one, b"first").await;
    diary.replace(&one, b"second").await;
    let (noted, begin) = (diary.told.len(), client.now().await);

    assert!(client.create(&one, b"third").await.is_err());
    assert!(client.replace(&one, &old, b"third").await.is_err());
    assert!(client.delete(&one, &old).await.is_err());
    assert!(client.replace(&two, &old, b"third").await.is_err());
    assert!(client.delete(&two, &old).await.is_err());

    assert_eq!(client.get(&one).await.as_ref(), diary.stored(&one), "after writes that failed");
    assert_eq!(client.get(&two).await, None, "after writes that failed");
    let mut watcher = client.watch(&Prefix::all(), &begin).await;
    client.create(&last, b"").await.expect("a key without a value can be created");
    diary.assert_told(watcher.until(&last).await, &Prefix::all(), noted, "after writes that failed");
}

pub(super) async fn a_revision_never_comes_back(context: Context) {
    let client = context.client().await;
    let key = key("kind/one");
    let mut seen: Vec<Revision> = Vec::new();
    for round in 0..4 {
        // The same bytes every time: a revision is not made of the value.
        let created = client.create(&key, b"same").await.expect("a key without a value can be created");
        for old in &seen {
            let replaced = client.replace(&key, old, b"other").await;
            let expected = Err(ErrorKind::Conflict(created.clone()));
            assert_eq!(replaced, expected, "a replace with a revision of before the key was deleted, round {round}");
            let deleted = client.delete(&key, old).await;
            let expected = Err(ErrorKind::Conflict(created.clone()));
            assert_eq!(deleted, expected, "a delete with a revision of before the key was deleted, round {round}");
        }
        let replaced = client.replace(&key, &created, b"same").await.expect("a replace with the current revision");
        client.delete(&key, &replaced).await.expect("a delete with the current revision");
        seen.extend([created, replaced]);
    }
    let different: HashSet<_> = seen.iter().collect();
    assert_eq!(different.len(), seen.len(), "every value of a key has a revision of its own: {seen:?}");
}

pub(super) async fn a_key_has_the_revision_of_its_value_and_no_other(context: Context) {
    let client = context.client().await;
    let (key, nowhere) = (key("kind/one"), key("kind/two"));
    let created = client.create(&key, &[1; 100_000]).await.expect("a key without a value can be created");
    assert!(client.has_revision(&key, &created).await, "the revision of a create");
    assert!(!client.has_revision(&nowhere, &created).await, "a key that never had a value");
    let replaced = client.replace(&key, &created, &[1; 100_000]).await.expect("a replace with the current revision");
    assert!(client.has_revision(&key, &replaced).await, "the revision of a replace");
    assert!(!client.has_revision(&key, &created).await, "the revision before a replace");
    assert!(!client.has_revision(&key, &Revision::new("")).await, "a revision that is none");
    client.delete(&key, &replaced).await.expect("a delete with the current revision");
    assert!(!client.has_revision(&key, &replaced).await, "the last revision of a key without a value");
}

pub(super) async fn a_revision_that_is_none_matches_nothing(context: Context) {
    let client = context.client().await;
    let (there, nowhere) = (key("kind/one"), key("kind/two"));
    let current = client.create(&there, b"value").await.expect("a key without a value can be created");
    let altered = [format!("{current}0"), format!("0{current}"), format!(" {current}"), format!("+{current}")];
    let never = ["", "0", "-1", "nonsense", "\u{0}", "' OR 1=1 --", "99999999999999999999", "null", "*", "é"];
    for text in never.into_iter().map(str::to_owned).chain(altered).chain(["x".repeat(100_000)]) {
        let none = Revision::new(text);
        let when = format!("with a revision that was never given: {:.40?}", none.as_str());
        let conflict = ErrorKind::Conflict(current.clone());
        assert_eq!(client.replace(&there, &none, b"other").await, Err(conflict.clone()), "a replace {when}");
        assert_eq!(client.delete(&there, &none).await, Err(conflict), "a delete {when}");
        let missing = client.replace(&nowhere, &none, b"other").await;
        assert_eq!(missing, Err(ErrorKind::Missing), "a replace of a key without a value, {when}");
        let missing = client.delete(&nowhere, &none).await;
        assert_eq!(missing, Err(ErrorKind::Missing), "a delete of a key without a value, {when}");
    }
}

pub(super) async fn of_many_writers_one_wins(context: Context) {
    let key = key("kind/one");
    let mut clients = vec![context.client().await, context.client().await];
    clients.extend_from_within(..);
    clients.extend_from_within(..);
    let mut current: Option<Revision> = None;
    for round in 0..6 {
        let writers = clients.iter().cloned().enumerate().map(|(number, client)| {
            let (key, current) = (key.clone(), current.clone());
            let value = format!("round {round}, writer {number}");
            tokio::spawn(async move {
                let written = match &current {
                    Some(current) => client.replace(&key, current, value.as_bytes()).await,
                    None => client.create(&key, value.as_bytes()).await,
                };
                (value, written)
            })
        });
        let mut winners = Vec::new();
        let mut losers = Vec::new();
        for writer in writers.collect::<Vec<_>>() {
            match writer.await.expect("a writer comes to its end") {
                (value, Ok(revision)) => winners.push(Stored { revision, value: value.into_bytes() }),
                (_, Err(kind)) => losers.push(kind),
            }
        }
        assert_eq!(winners.len(), 1, "of writers that expect the same revision, one succeeds: {winners:?}");
        let winner = winners.remove(0);
        for kind in losers {
            let expected = if round == 0 { ErrorKind::Exists } else { ErrorKind::Conflict(winner.revision.clone()) };
            assert_eq!(kind, expected, "the others are told what is there, round {round}");
        }
        current = Some(winner.revision.clone());
        assert_eq!(clients[0].get(&key).await, Some(winner), "what is there is of the writer that succeeded");
    }
}

pub(super) async fn a_read_sees_what_was_acknowledged_before_it_began(context: Context) {
    let (writer, reader) = (context.client().await, context.client().await);
    let mut diary = Diary::new(writer);
    let keys = ["kind/one", "kind/two", "kind/three"].map(key);
    for round in 0..20u8 {
        for key in &keys {
            match diary.stored(key) {
                None => drop(diary.create(key, &[round]).await),
                Some(_) if round % 5 == 4 => diary.delete(key).await,
                Some(_) => drop(diary.replace(key, &[round]).await),
            }
            let found = reader.get(key).await;
            assert_eq!(found.as_ref(), diary.stored(key), "a get right after another client's write, round {round}");
            let (items, _) = reader.list(&Prefix::all(), None).await;
            let expected = diary.current(&Prefix::all());
            assert_eq!(items, expected, "a list right after another client's write, round {round}");
        }
    }
}

pub(super) async fn a_mark_moves_with_every_write(context: Context) {
    let (writer, reader) = (context.client().await, context.client().await);
    let clients = [writer.clone(), reader];
    for client in &clients {
        client.may_mark().await;
    }
    let mut diary = Diary::new(writer);
    let mut earlier = Vec::new();
    for round in 0..60u8 {
        let key = key(format!("kind/{}", round % 4));
        match diary.stored(&key) {
            None => drop(diary.create(&key, &[round]).await),
            Some(_) if round % 5 == 4 => diary.delete(&key).await,
            Some(_) => drop(diary.replace(&key, &[round]).await),
        }
        for client in &clients {
            let mark = client.mark();
            assert!(mark.is_none() || !earlier.contains(&mark), "{mark:?} was there before the write of {key}");
        }
        // What was there for one is there for both.
        earlier.extend(clients.iter().map(|client| client.mark()));
        if round % 20 == 19 {
            context.compact().await;
        }
    }
}

/// Somebody who reads again only when the mark has moved never has less than was acknowledged when the mark was looked at.
pub(super) async fn what_has_the_mark_of_now_is_the_value_of_now(context: Context) {
    const WRITES: u16 = 200;
    let (writer, reader) = (context.client().await, context.client().await);
    reader.may_mark().await;
    let key = key("kind/one");
    let acknowledged = Arc::new(AtomicU16::new(0));
    let mut revision = writer.create(&key, &0u16.to_le_bytes()).await.expect("a key without a value can be created");
    // Known before the first write: all of them may be done before this task runs again.
    let mut known = (reader.mark(), 0);
    let writing = tokio::spawn({
        let (key, acknowledged) = (key.clone(), acknowledged.clone());
        async move {
            for number in 1..=WRITES {
                let written = writer.replace(&key, &revision, &number.to_le_bytes()).await;
                revision = written.expect("nobody else writes");
                acknowledged.store(number, Ordering::SeqCst);
            }
        }
    });
    loop {
        let least = acknowledged.load(Ordering::SeqCst);
        let mark = reader.mark();
        if mark.is_none() || mark != known.0 {
            let stored = reader.get(&key).await.expect("nobody deletes it");
            known = (mark, u16::from_le_bytes(stored.value.try_into().expect("it is a number")));
        }
        assert!(known.1 >= least, "{} has the mark of now, and write {least} was acknowledged before", known.1);
        if least == WRITES {
            break;
        }
        tokio::task::yield_now().await;
    }
    writing.await.expect("all is written");
}

pub(super) async fn everything_survives_closing(context: Context) {
    let mut diary = Diary::new(context.client().await);
    for number in 0..5u8 {
        diary.create(&key(format!("kind/{number}")), &[number]).await;
    }
    diary.replace(&key("kind/1"), b"replaced").await;
    diary.delete(&key("kind/2")).await;
    let expected = diary.current(&Prefix::all());
    let deleted = diary.told[2].revision.clone().expect("a creation has a revision");
    drop(diary);

    let client = context.client().await;
    let (items, _) = client.list(&Prefix::all(), None).await;
    assert_eq!(items, expected, "a list after the store was closed and opened again");
    let created = client.create(&key("kind/2"), b"again").await.expect("a key that was deleted can be created");
    assert_ne!(created, deleted, "a revision of before the store was closed does not come back");
    let replaced = client.replace(&key("kind/2"), &deleted, b"").await;
    assert_eq!(replaced, Err(ErrorKind::Conflict(created)), "an old revision does not match after closing either");
}

pub(super) async fn health_is_good_and_leaves_no_trace(context: Context) {
    let client = context.client().await;
    let begin = client.now().await;
    for _ in 0..3 {
        let health = client.health().await;
        assert!(health.took <= client.patience(), "a health check that took {:?}", health.took);
    }
    assert_eq!(client.list(&Prefix::all(), None).await.0, [], "a health check leaves nothing to list");
    let mut diary = Diary::new(client.clone());
    let mut watcher = client.watch(&Prefix::all(), &begin).await;
    let last = key("kind/zzz");
    diary.create(&last, b"").await;
    diary.assert_told(watcher.until(&last).await, &Prefix::all(), 1, "after health checks");
}
