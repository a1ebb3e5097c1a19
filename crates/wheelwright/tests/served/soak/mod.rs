//! A server under mixed load for minutes, killed at times: it loses no write and no event, and stays as large as it was.

mod clients;
mod sample;
mod stream;

use std::{
    collections::HashMap,
    env,
    net::SocketAddr,
    sync::{
        Mutex, RwLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use self::{
    clients::{LAST, lists, read_slowly, watch, write},
    sample::{Samples, check_flat},
    stream::get,
};
use crate::server::{Server, apps};

/// How long it takes unless `WHEELWRIGHT_SOAK_MINUTES` says otherwise: the clients are tried, and nothing else.
const SHORT: Duration = Duration::from_secs(12);
const WRITERS: usize = 4;
const WATCHERS: usize = 4;
const LISTERS: usize = 2;
const SLOW_READERS: usize = 3;
/// How often the server is looked at.
const SAMPLE_TIME: Duration = Duration::from_millis(500);

/// What happened to an object: it was written with this number, or deleted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Happened {
    Written(u64),
    Deleted,
}

/// What happened to every object, in its order.
type Log = HashMap<String, Vec<Happened>>;

/// What the clients share.
struct Soak {
    /// Where the server is; another one after every kill.
    address: RwLock<SocketAddr>,
    /// What was acknowledged, or found to be done after the connection was lost.
    log: Mutex<Log>,
    writers_end: AtomicBool,
    all_end: AtomicBool,
    requests: AtomicUsize,
    /// Lists that were read to their ends.
    lists: AtomicUsize,
    reconnects: AtomicUsize,
}

impl Soak {
    fn address(&self) -> SocketAddr {
        *self.address.read().unwrap()
    }

    fn writers_end(&self) -> bool {
        self.writers_end.load(Ordering::Relaxed)
    }

    fn all_end(&self) -> bool {
        self.all_end.load(Ordering::Relaxed)
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "reports what was measured")]
fn a_server_under_load_loses_nothing_and_stays_as_large_as_it_was() {
    let minutes: Option<f64> = env::var("WHEELWRIGHT_SOAK_MINUTES").ok().and_then(|text| text.parse().ok());
    let time = minutes.map_or(SHORT, |minutes| Duration::from_secs_f64(minutes * 60.0));
    let life = (time / 5).min(Duration::from_secs(180));
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("soak.db");
    let mut server = Server::start(&store, &[]);
    let soak = Soak {
        address: RwLock::new(server.address),
        log: Mutex::default(),
        writers_end: AtomicBool::new(false),
        all_end: AtomicBool::new(false),
        requests: AtomicUsize::new(0),
        lists: AtomicUsize::new(0),
        reconnects: AtomicUsize::new(0),
    };
    let soak = &soak;
    let from = revision(soak);
    let mut lives: Vec<Samples> = Vec::new();
    thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS).map(|writer| scope.spawn(move || write(soak, writer))).collect();
        let watchers: Vec<_> = (0..WATCHERS)
            .map(|watcher| {
                scope.spawn({
                    let from = from.clone();
                    move || watch(soak, watcher, from)
                })
            })
            .collect();
        (0..LISTERS).for_each(|lister| drop(scope.spawn(move || lists(soak, lister))));
        (0..SLOW_READERS).for_each(|reader| drop(scope.spawn(move || read_slowly(soak, reader))));
        let began = Instant::now();
        while began.elapsed() < time {
            let mut samples = Samples::default();
            let born = Instant::now();
            while born.elapsed() < life && began.elapsed() < time {
                thread::sleep(SAMPLE_TIME);
                samples.take(&server, folder.path());
            }
            lives.push(samples);
            if began.elapsed() < time {
                server.kill();
                server = Server::start(&store, &[]);
                *soak.address.write().unwrap() = server.address;
            }
        }
        soak.writers_end.store(true, Ordering::Relaxed);
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        clients::write_last(soak);
        let seen: Vec<Log> = watchers.into_iter().map(|watcher| watcher.join().unwrap()).collect();
        soak.all_end.store(true, Ordering::Relaxed);
        let log = soak.log.lock().unwrap();
        for (watcher, seen) in seen.iter().enumerate() {
            assert_same(&log, seen, watcher);
        }
        assert_nothing_is_lost(&log, soak);
        let events: usize = log.values().map(Vec::len).sum();
        let lists = soak.lists.load(Ordering::Relaxed);
        assert!(events > 0 && lists > 0);
        println!(
            "{:.1} minutes, {} kills: {events} writes, {lists} lists, {} requests, {} reconnects of watchers",
            time.as_secs_f64() / 60.0,
            lives.len() - 1,
            soak.requests.load(Ordering::Relaxed),
            soak.reconnects.load(Ordering::Relaxed)
        );
    });
    lives.iter().enumerate().for_each(|(life, samples)| println!("life {life}: {samples}"));
    if minutes.is_some() {
        check_flat(&lives);
    }
}

/// The revision of now.
fn revision(soak: &Soak) -> String {
    let list = get(soak.address(), &format!("{}?limit=1", apps())).unwrap();
    list["metadata"]["resourceVersion"].as_str().unwrap().to_owned()
}

/// A watcher has seen everything that happened to every object, once, in its order.
fn assert_same(log: &Log, seen: &Log, watcher: usize) {
    for (name, happened) in log {
        let seen = seen.get(name).map(Vec::as_slice).unwrap_or_default();
        if seen != happened.as_slice() {
            let at = seen.iter().zip(happened).position(|(seen, happened)| seen != happened);
            let at = at.unwrap_or(seen.len().min(happened.len()));
            let around = |events: &[Happened]| events[at.saturating_sub(2)..events.len().min(at + 3)].to_vec();
            panic!(
                "watcher {watcher} has seen {} events of {name}, not {}: {:?}, not {:?}, at {at}",
                seen.len(),
                happened.len(),
                around(seen),
                around(happened)
            );
        }
    }
    let unknown: Vec<&String> = seen.keys().filter(|name| !log.contains_key(*name)).collect();
    assert!(unknown.is_empty(), "watcher {watcher} has seen {unknown:?}");
}

/// Every object is as its last write left it.
fn assert_nothing_is_lost(log: &Log, soak: &Soak) {
    let list = get(soak.address(), apps()).unwrap();
    let item = |item: &Value| {
        let number = clients::number_of(item);
        (item["metadata"]["name"].as_str().unwrap().to_owned(), Happened::Written(number))
    };
    let there: HashMap<String, Happened> = list["items"].as_array().unwrap().iter().map(item).collect();
    for (name, happened) in log {
        let last = happened.last().filter(|last| **last != Happened::Deleted);
        assert_eq!(there.get(name), last, "{name}");
    }
    assert!(there.contains_key(LAST) && there.keys().all(|name| log.contains_key(name)));
}
