//! What several processes do to one store, and what is done to them.

use std::{collections::BTreeSet, time::Duration};

use wheelwright_store::Key;

use crate::{
    histories::{Histories, LAST, assert_watched},
    protocol::{Line, number},
    worker::{self, Task, Worker},
};

/// That what several processes were answered and told at the same time is one story.
pub(crate) async fn agree(address: &str) {
    let store = worker::open(address).await.expect("the store opens");
    let begin = store.now().await.expect("the store can be read");
    let watch = Task::Watch { from: begin.clone(), until: Key::new(LAST).expect("a key") };
    let mut watchers: Vec<Worker> = (0..2).map(|_| Worker::start(address, &watch)).collect();
    for watcher in &mut watchers {
        assert_eq!(watcher.hear(), Some(&Line::Ready));
    }
    let callers: Vec<Worker> = (1..4)
        .map(|seed| Worker::start(address, &Task::Call { prefix: "kind".to_owned(), keys: 5, calls: 60, seed }))
        .collect();
    // One that begins in the midst of it is told the same.
    watchers.push(Worker::start(address, &watch));
    let mut histories = Histories::default();
    callers.into_iter().for_each(|caller| histories.add(caller.join()));
    assert!(histories.acknowledged() > 100, "something was written: {}", histories.acknowledged());
    assert_eq!(histories.nothing, 0, "a store that nothing happens to is never unavailable");

    let log = histories.check(&*store, &begin).await;
    watchers.into_iter().for_each(|watcher| assert_watched(watcher.join(), &log));
}

/// That nothing is lost or left half done when processes are killed while they write, and that others do not mind.
pub(crate) async fn survive_kills(address: &str, kills: usize) {
    let store = worker::open(address).await.expect("the store opens");
    let begin = store.now().await.expect("the store can be read");
    let watcher = Worker::start(address, &Task::Watch { from: begin.clone(), until: Key::new(LAST).expect("a key") });
    let mut steady = Worker::start(address, &endless("steady", 40, 1));
    // Two at a time write to the same keys. The older one is killed.
    let start = |round: usize| Worker::start(address, &endless(&format!("kind/{}", round / 8), 4, round as u64 + 10));
    let mut victim = start(0);
    let mut histories = Histories::default();
    for round in 0..kills {
        let next = start(round + 1);
        // At different moments: what a process does between two answers takes several steps.
        victim.hear_answers(1 + round % 13);
        tokio::time::sleep(Duration::from_micros(round as u64 * 137 % 1500)).await;
        let said = victim.kill();
        let opened = worker::open(address).await.expect("the store opens again");
        for key in keys(&said) {
            let stored = opened.get(&key).await.expect("the store can be read");
            let value = stored.map(|stored| number(&stored.value));
            assert!(!matches!(value, Some(Err(_))), "{key} has {value:?} after kill {round}");
        }
        histories.add(said);
        steady.overhear();
        steady.hear_answers(1);
        victim = next;
    }
    for worker in [victim, steady] {
        histories.add(worker.kill());
    }
    assert_eq!(histories.nothing, 0, "the end of one process is no reason for another to wait");
    assert!(histories.acknowledged() >= kills, "something was written: {}", histories.acknowledged());
    let log = histories.check(&*store, &begin).await;
    assert_watched(watcher.join(), &log);
}

/// That nothing is lost or left half done when something happens to the store time and again, and that all who write or
/// watch go on afterwards. The store is checked at an address that nothing happens to in the end.
pub(crate) async fn survive_trouble(address: &str, safe: &str, times: usize, mut trouble: impl FnMut()) {
    let store = worker::open(safe).await.expect("the store opens");
    let begin = store.now().await.expect("the store can be read");
    drop(store);
    let watch = Task::Watch { from: begin.clone(), until: Key::new(LAST).expect("a key") };
    let watcher = Worker::start(address, &watch);
    let start = |seed| Worker::start(address, &endless("kind", 100, seed));
    let mut callers: Vec<Worker> = (1..3).map(start).collect();
    for time in 0..times {
        callers.iter_mut().for_each(|caller| caller.hear_acknowledged(1 + time % 7));
        trouble();
        callers.iter_mut().for_each(Worker::overhear);
    }
    callers.iter_mut().for_each(|caller| caller.hear_acknowledged(10));
    let mut histories = Histories::default();
    callers.into_iter().for_each(|caller| histories.add(caller.kill()));
    let store = worker::open(safe).await.expect("the store opens");
    let log = histories.check(&*store, &begin).await;
    assert_watched(watcher.join(), &log);
}

fn endless(prefix: &str, keys: u64, seed: u64) -> Task {
    Task::Call { prefix: prefix.to_owned(), keys, calls: u64::MAX, seed }
}

/// The keys that a process called about.
fn keys(said: &[Line]) -> BTreeSet<Key> {
    let keys = said.iter().filter_map(|line| match line {
        Line::Begin { key, .. } => Some(key.clone()),
        _ => None,
    });
    keys.collect()
}
