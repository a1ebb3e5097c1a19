//! A store full of records, a sweep whose processes are killed, clients who write, and what must hold after it.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use wheelwright_repository::{Collection, Name, SweepOptions, View, Write};
use wheelwright_store::{Change, Cursor, Key, Store};

use crate::instance::{Instance, orders_at};

const KILLS: usize = 5;
/// One in so many is damaged, one is a document without a record, one is written to by clients, and one by clients of a
/// program that stores the old shape.
const DAMAGED: usize = 500;
const ADOPTED: usize = 100;
const WRITTEN: usize = 50;
const WRITTEN_BACK: usize = 50;
/// How many bytes the documents have together: who held them all would be seen.
const PADDING: usize = 120 << 20;
/// The memory that may be used more for five times the records, in kilobytes. A process has some pages of 8 MiB in flight,
/// in more than one copy, and the worst of twelve processes is held against the worst of two; holding the documents would
/// take twice as much as this.
const ALLOWANCE: usize = 48 << 10;
const FEWER: usize = 5;

/// What a trial took.
struct Figures {
    planted: Duration,
    swept: Duration,
    peak_kilobytes: usize,
}

/// Sweeps a store with some records and one with a part of them, and holds the memory of both against each other.
pub(crate) fn memory_is_flat(driver: &str, address: impl Fn(&str) -> String, records: usize) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let padding = PADDING / records;
    let few = runtime.block_on(trial(&address("few"), Orders { records: records / FEWER, padding }, 0));
    let many = runtime.block_on(trial(&address("many"), Orders { records, padding }, KILLS));
    eprintln!(
        "{driver}: {records} records planted in {:.1} s and swept in {:.1} s, {KILLS} kills of two processes included; \
         peak memory {} kB, {} kB for a part of them",
        many.planted.as_secs_f64(),
        many.swept.as_secs_f64(),
        many.peak_kilobytes,
        few.peak_kilobytes,
    );
    assert!(
        many.peak_kilobytes <= few.peak_kilobytes + ALLOWANCE,
        "{} kB for {records} records, {} kB for a part of them",
        many.peak_kilobytes,
        few.peak_kilobytes
    );
}

/// What is in a store.
#[derive(Clone, Copy)]
struct Orders {
    records: usize,
    /// How many bytes each of them has for nothing else.
    padding: usize,
}

async fn trial(address: &str, orders: Orders, kills: usize) -> Figures {
    let records = orders.records;
    let began = Instant::now();
    let old = orders_at(address, "v1").await;
    plant(&old, orders).await;
    let planted = began.elapsed();
    let new = orders_at(address, "v3").await;
    let from = new_cursor(&new).await;
    let began = Instant::now();
    let (stop, conversions) = (AtomicBool::new(false), AtomicUsize::new(0));
    let sweeping = async {
        let peak = sweep_and_kill(&new, address, records, kills, &conversions).await;
        stop.store(true, Ordering::Relaxed);
        peak
    };
    let forth = write(&new, ("v3", "quantity"), numbers(records, is_written), &stop);
    let back = write(&old, ("v1", "qty"), numbers(records, is_written_back), &stop);
    let (peak_kilobytes, forth, back, history) =
        tokio::join!(sweeping, forth, back, follow(&new, &from, &conversions, &stop));
    let swept = began.elapsed();
    check(&new, orders, (&forth, &back), &history).await;
    if kills > 0 {
        assert!(history.values().any(|history| history.regressions > 0), "going back would be seen");
    }
    Figures { planted, swept, peak_kilobytes }
}

fn called(number: usize) -> Name {
    Name::new(&format!("shop/o{number:06}")).unwrap()
}

fn is_damaged(number: usize) -> bool {
    number % DAMAGED == 7
}

fn is_adopted(number: usize) -> bool {
    number % ADOPTED == 9
}

fn is_written(number: usize) -> bool {
    number % WRITTEN == 3
}

fn is_written_back(number: usize) -> bool {
    number % WRITTEN_BACK == 4
}

fn numbers(records: usize, is_chosen: impl Fn(usize) -> bool) -> Vec<usize> {
    (0..records).filter(|number| is_chosen(*number)).collect()
}

fn document(number: usize, padding: usize) -> String {
    let padding = "x".repeat(padding);
    format!(
        r#"{{"apiVersion":"shop.example.com/v1","kind":"Order","metadata":{{"name":"o{number:06}","namespace":"shop"}},
        "spec":{{"city":"Ulm","street":"Main street {number} {padding}","coupon":"C{number}","qty":{number},
        "lines":[{{"sku":"B-{number}","gift":true}},{{"sku":"A-{number}","gift":false}}]}}}}"#
    )
}

fn store_of(orders: &Collection) -> &std::sync::Arc<dyn Store> {
    orders.repository().store()
}

/// Fills a store as an older release, and programs from before, left it.
async fn plant(old: &Collection, Orders { records, padding }: Orders) {
    let store = store_of(old);
    for chunk in (0..records).collect::<Vec<_>>().chunks(256) {
        let planted = chunk.iter().map(|number| async move {
            let (number, document) = (*number, document(*number, padding));
            let raw = match () {
                () if is_damaged(number) => Some(b"{".to_vec()),
                () if is_adopted(number) => Some(document.clone().into_bytes()),
                () => None,
            };
            match raw {
                Some(bytes) => drop(store.create(&old.kind().key(&called(number)).unwrap(), bytes).await.unwrap()),
                None => drop(old.create(&called(number), Write::document("v1", document.as_bytes())).await.unwrap()),
            }
        });
        futures_util::future::join_all(planted).await;
    }
}

async fn new_cursor(orders: &Collection) -> Cursor {
    store_of(orders).now().await.unwrap()
}

/// Runs two instances at once, kills both again and again, and lets two come to the end. Says how much memory one had.
async fn sweep_and_kill(
    new: &Collection,
    address: &str,
    records: usize,
    kills: usize,
    conversions: &AtomicUsize,
) -> usize {
    // Slow enough that they are met in the middle of it.
    let rate = (records < 50_000).then_some(records / 4);
    let mut peak = 0;
    for kill in 1..=kills {
        let instances = [Instance::start(address, rate), Instance::start(address, rate)];
        while conversions.load(Ordering::Relaxed) < records * kill / (kills + 2) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        for instance in instances {
            peak = peak.max(instance.kill());
        }
        let status = new.sweep_status().await.unwrap().unwrap();
        assert_eq!((status.run, status.finished_at), (1, None), "it was killed in the middle of it");
    }
    let (one, other) = (Instance::start(address, None), Instance::start(address, None));
    let (one, other) = tokio::join!(one.done(), other.done());
    peak.max(one).max(other)
}

/// Patches documents as clients of a version do, all the time; the last quantity of each.
async fn write(
    orders: &Collection,
    (version, quantity_field): (&str, &str),
    numbers: Vec<usize>,
    stop: &AtomicBool,
) -> BTreeMap<usize, u64> {
    let mut written = BTreeMap::new();
    for (turn, number) in numbers.iter().cycle().enumerate() {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let quantity = turn as u64 + 1_000_000;
        let patch = format!(r#"{{"spec":{{"{quantity_field}":{quantity}}}}}"#);
        orders.patch(&called(*number), Write::merge_patch(version, patch.as_bytes())).await.unwrap();
        written.insert(*number, quantity);
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    written
}

/// What happened to a record.
#[derive(Default)]
struct History {
    writes: usize,
    conversions: usize,
    regressions: usize,
    is_at_hub: bool,
}

/// Follows what happens to every record.
async fn follow(
    new: &Collection,
    from: &Cursor,
    conversions: &AtomicUsize,
    stop: &AtomicBool,
) -> BTreeMap<String, History> {
    let store = store_of(new);
    let mut watch = store.watch(new.kind().prefix(), from).await.unwrap();
    let mut histories: BTreeMap<String, History> = BTreeMap::new();
    let mut end = None;
    loop {
        let wait = tokio::time::timeout(Duration::from_millis(200), watch.next()).await;
        match wait {
            Ok(event) => {
                let event = event.unwrap();
                let Change::Replaced(value) = event.change else { panic!("{}: nobody does this", event.key) };
                let history = histories.entry(event.key.to_string()).or_default();
                history.writes += 1;
                let is_at_hub = value.starts_with(br#"{"$wheelwright":1,"hub":"v3","#);
                if is_at_hub && !history.is_at_hub {
                    history.conversions += 1;
                    conversions.fetch_add(1, Ordering::Relaxed);
                }
                history.regressions += usize::from(!is_at_hub && history.is_at_hub);
                history.is_at_hub = is_at_hub;
            }
            // Nothing came for a while after all was done.
            Err(_) if stop.load(Ordering::Relaxed) && end.is_some_and(|end: usize| end == histories.len()) => break,
            Err(_) => end = stop.load(Ordering::Relaxed).then_some(histories.len()),
        }
    }
    histories
}

async fn check(
    new: &Collection,
    Orders { records, padding }: Orders,
    (forth, back): (&BTreeMap<usize, u64>, &BTreeMap<usize, u64>),
    histories: &BTreeMap<String, History>,
) {
    let status = new.sweep_status().await.unwrap().unwrap();
    let damaged = (0..records).filter(|number| is_damaged(*number)).count();
    assert!(status.finished_at.is_some());
    assert_eq!((status.run, status.counts.done), (1, records as u64));
    assert_eq!(status.problems.count, damaged as u64, "each is reported once");
    for number in 0..records {
        let key: Key = new.kind().key(&called(number)).unwrap();
        let history = histories.get(key.as_str());
        if is_damaged(number) {
            assert!(history.is_none(), "{key}");
            continue;
        }
        let history = history.unwrap_or_else(|| panic!("{key} was never converted"));
        match () {
            // Who stores the old shape may do so after it was converted.
            () if is_written_back(number) => assert!(history.conversions > 0, "{key}"),
            () if is_written(number) => assert_eq!((history.conversions, history.regressions), (1, 0), "{key}"),
            () => assert_eq!((history.writes, history.conversions), (1, 1), "{key}"),
        }
        let document = new.get(&called(number), View::Version("v1")).await.unwrap().unwrap();
        let json: serde_json::Value = serde_json::from_slice(&document.json).unwrap();
        let expected: serde_json::Value = serde_json::from_str(&self::document(number, padding)).unwrap();
        let mut spec = expected["spec"].clone();
        let written = forth.get(&number).map(|quantity| (quantity, "v3"));
        match written.or(back.get(&number).map(|quantity| (quantity, "v1"))) {
            Some((quantity, version)) => {
                spec["qty"] = (*quantity).into();
                assert_eq!(document.origin.written_with.as_str(), version, "{key}");
            }
            None => {
                assert_eq!(document.origin.written_with.as_str(), "v1", "{key}");
                let generation = if is_adopted(number) { 0 } else { 1 };
                assert_eq!(document.metadata.generation, generation, "{key}");
            }
        }
        assert_eq!(json["spec"], spec, "{key}");
        let is_written = forth.contains_key(&number) || back.contains_key(&number);
        assert_eq!(document.metadata.uid.is_some(), is_written || !is_adopted(number), "{key}");
    }
    // What was stored in the old shape since waits for the next sweep.
    let at_old = histories.values().filter(|history| !history.is_at_hub).count() as u64;
    assert_eq!(new.verify().await.unwrap().problems.count, damaged as u64 + at_old);
    let again = new.sweep(&SweepOptions::default(), |_| ()).await.unwrap();
    assert_eq!((again.run, again.counts.converted), (2, at_old));
    assert_eq!(new.verify().await.unwrap().problems.count, damaged as u64);
}
