//! Damage to the write-ahead log: no acknowledged write disappears silently.
//!
//! A store is copied with its log while it is open, and the copy of the log is damaged at random. SQLite takes the first frame
//! whose checksum does not match for the end of the log. If an untouched commit and another untouched frame follow the damage,
//! then the store must be refused for writing, and every key must have its last value, or be an error. Damage that reaches into
//! the last commit cannot be distinguished from a crash.
//!
//! `WHEELWRIGHT_DAMAGED_LOGS` is the number of logs (60).

use std::{collections::BTreeMap, env, fs};

use wheelwright_store::{ErrorKind, Key, PageRequest, Prefix, Sqlite, SqliteOptions, Store};

use crate::{folder, key, kind, open};

const HEADER: usize = 32;
const FRAME: usize = 24 + 4096;

/// Numbers that look random, and are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// A store that was copied while it was open.
struct Copied {
    file: Vec<u8>,
    log: Vec<u8>,
    values: BTreeMap<Key, Vec<u8>>,
    /// The key of the last commit.
    last: Key,
}

async fn copied() -> Copied {
    let (folder, mut random) = (folder(), Random(1));
    let store = open(folder.path());
    let (mut values, mut revisions, mut last) = (BTreeMap::new(), BTreeMap::new(), key("a/00"));
    for number in 0..150 {
        let key = key(&format!("a/{:02}", random.below(50)));
        let value = vec![number as u8; if random.below(5) == 0 { 6000 } else { random.below(600) + 1 }];
        let revision = match revisions.get(&key) {
            Some(revision) => store.replace(&key, revision, value.clone()).await,
            None => store.create(&key, value.clone()).await,
        };
        revisions.insert(key.clone(), revision.expect("a write"));
        values.insert(key.clone(), value);
        last = key;
    }
    let [file, log] = ["store", "store-wal"].map(|name| fs::read(folder.path().join(name)).expect("a file"));
    assert!(log.len() > 100 * FRAME);
    Copied { file, log, values, last }
}

/// Whether a commit was acknowledged that comes after the first damage, as far as the rest of the log proves.
fn is_proven(before: &[u8], after: &[u8]) -> bool {
    let frames = (before.len() - HEADER) / FRAME;
    let is_same = |from: usize, to: usize| before[from..to] == after[from..to];
    let start = |frame: usize| HEADER + frame * FRAME;
    let is_whole = |frame: usize| is_same(start(frame), start(frame + 1));
    let first = if is_same(0, HEADER) { (0..frames).find(|frame| !is_whole(*frame)) } else { Some(0) };
    first.is_some_and(|first| {
        (first..frames - 1).any(|frame| {
            let is_commit = before[start(frame) + 4..start(frame) + 8] != [0; 4];
            is_commit && is_same(start(frame), start(frame) + 24) && is_whole(frame + 1)
        })
    })
}

/// Whether the last commit was touched.
fn is_last_commit_touched(before: &[u8], after: &[u8]) -> bool {
    let frames = (before.len() - HEADER) / FRAME;
    let is_commit = |frame: &usize| before[HEADER + frame * FRAME + 4..][..4] != [0; 4];
    let first = (0..frames - 1).rev().find(is_commit).expect("a commit") + 1;
    before[HEADER + first * FRAME..] != after[HEADER + first * FRAME..]
}

fn strike(log: &mut [u8], random: &mut Random) {
    match random.below(4) {
        0 => {
            for _ in 0..=random.below(4) {
                let bit = random.below(log.len() * 8);
                log[bit / 8] ^= 1 << (bit % 8);
            }
        }
        1 => {
            let start = random.below(log.len() / 4096) * 4096;
            log[start..start + 4096].fill(0);
        }
        2 => {
            let start = random.below(log.len() / 512) * 512;
            log[start..start + 512].iter_mut().for_each(|byte| *byte = random.below(256) as u8);
        }
        _ => {
            let bit = random.below(HEADER * 8);
            log[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

#[tokio::test]
async fn no_acknowledged_write_disappears_with_a_damaged_log() {
    let copied = copied().await;
    let count = env::var("WHEELWRIGHT_DAMAGED_LOGS").map_or(60, |count| count.parse().unwrap());
    let (mut proven, mut served, mut refused) = (0, 0, 0);
    for seed in 0..count {
        let folder = folder();
        let [path, log_path] = ["store", "store-wal"].map(|name| folder.path().join(name));
        let mut log = copied.log.clone();
        strike(&mut log, &mut Random(seed + 2));
        fs::write(&path, &copied.file).unwrap();
        fs::write(&log_path, &log).unwrap();
        if !is_proven(&copied.log, &log) {
            // What is left is an earlier state, or all.
            drop(Sqlite::open(&path, SqliteOptions::default()));
            continue;
        }
        proven += 1;
        let store = open(folder.path());
        let error = store.health().await.unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Corrupt, "{seed}: {error}");
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert!(cause.contains("store-wal is damaged"), "{seed}: {cause}");
        assert_eq!(kind(store.create(&key("b"), vec![1]).await), Err(ErrorKind::Corrupt));
        for (key, value) in &copied.values {
            match store.get(key).await {
                Ok(Some(stored)) if stored.value == *value => served += 1,
                Ok(Some(stored)) if stored.value.is_empty() => refused += 1,
                _ if *key == copied.last && is_last_commit_touched(&copied.log, &log) => {}
                Ok(stored) => panic!("{seed}: {key} has an earlier value: {}", stored.is_some()),
                Err(_) => refused += 1,
            }
        }
        if let Ok(page) = store.list(&Prefix::all(), PageRequest::default()).await {
            assert_eq!(page.items.len(), copied.values.len(), "{seed}");
        }
        drop(store);
        assert!(
            fs::read(&path).unwrap() == copied.file && fs::read(&log_path).unwrap() == log,
            "{seed}: it was written"
        );
    }
    assert!(proven * 2 > count && served > 20 * refused, "{proven} {served} {refused}");
}

#[tokio::test]
async fn a_log_that_ends_within_a_commit_is_as_after_a_crash() {
    let copied = copied().await;
    let frames = (copied.log.len() - HEADER) / FRAME;
    for cut in [1, FRAME / 2, FRAME, 5 * FRAME + 7, frames / 2 * FRAME] {
        let folder = folder();
        fs::write(folder.path().join("store"), &copied.file).unwrap();
        fs::write(folder.path().join("store-wal"), &copied.log[..copied.log.len() - cut]).unwrap();
        let store = open(folder.path());
        store.health().await.unwrap();
        store.create(&key("b"), vec![1]).await.unwrap();
    }
}
