//! A store full of records, a sweep whose processes are killed, clients who write, and what must hold after it.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use wheelwright_repository::{Collection, Name, View, Write};
use wheelwright_store::{Change, Cursor, Key, Store};

use crate::instance::{Instance, orders_at};

const KILLS: usize = 5;
/// One in so many is damaged, one is a document without a record, one is written to by clients.
const DAMAGED: usize = 500;
const ADOPTED: usize = 100;
const WRITTEN: usize = 50;
/// The memory that may be used more for ten times the records, in kilobytes: what allocators keep, and no more.
const ALLOWANCE: usize = 24 << 10;

/// What a trial took.
struct Figures {
    planted: Duration,
    swept: Duration,
    peak_kilobytes: usize,
}

/// Sweeps a store with some records and one with a tenth of them, and holds the memory of both against each other.
pub(crate) fn memory_is_flat(driver: &str, address: impl Fn(&str) -> String, records: usize) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let few = runtime.block_on(trial(&address("few"), records / 10, 0));
    let many = runtime.block_on(trial(&address("many"), records, KILLS));
    eprintln!(
        "{driver}: {records} records planted in {:.1} s and swept in {:.1} s, {KILLS} kills of two processes included; \
         peak memory {} kB, {} kB for a tenth",
        many.planted.as_secs_f64(),
        many.swept.as_secs_f64(),
        many.peak_kilobytes,
        few.peak_kilobytes,
    );
    assert!(
        many.peak_kilobytes <= few.peak_kilobytes + ALLOWANCE,
        "{} kB for {records} records, {} kB for a tenth of them",
        many.peak_kilobytes,
        few.peak_kilobytes
    );
}

async fn trial(address: &str, records: usize, kills: usize) -> Figures {
    let began = Instant::now();
    let old = orders_at(address, "v1").await;
    plant(&old, records).await;
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
    let (peak_kilobytes, written, history) =
        tokio::join!(sweeping, write(&new, records, &stop), follow(&new, &from, &conversions, &stop));
    let swept = began.elapsed();
    check(&new, records, &written, &history).await;
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

fn document(number: usize) -> String {
    format!(
        r#"{{"apiVersion":"shop.example.com/v1","kind":"Order","metadata":{{"name":"o{number:06}","namespace":"shop"}},
        "spec":{{"city":"Ulm","street":"Main street {number}","coupon":"C{number}","qty":{number},
        "lines":[{{"sku":"B-{number}","gift":true}},{{"sku":"A-{number}","gift":false}}]}}}}"#
    )
}

fn store_of(orders: &Collection) -> &std::sync::Arc<dyn Store> {
    orders.repository().store()
}

/// Fills a store as an older release, and programs from before, left it.
async fn plant(old: &Collection, records: usize) {
    let store = store_of(old);
    for chunk in (0..records).collect::<Vec<_>>().chunks(256) {
        let planted = chunk.iter().map(|number| async move {
            let (number, document) = (*number, document(*number));
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

/// Patches documents as their clients do, all the time; the last quantity of each.
async fn write(new: &Collection, records: usize, stop: &AtomicBool) -> BTreeMap<usize, u64> {
    let mut written = BTreeMap::new();
    let numbers: Vec<usize> = (0..records).filter(|number| is_written(*number) && !is_damaged(*number)).collect();
    for (turn, number) in numbers.iter().cycle().enumerate() {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let quantity = turn as u64 + 1_000_000;
        let patch = format!(r#"{{"spec":{{"quantity":{quantity}}}}}"#);
        new.patch(&called(*number), Write::merge_patch("v3", patch.as_bytes())).await.unwrap();
        written.insert(*number, quantity);
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    written
}

/// What happened to a record.
#[derive(Default)]
struct History {
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
    records: usize,
    written: &BTreeMap<usize, u64>,
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
        assert_eq!((history.conversions, history.regressions), (1, 0), "{key}");
        let document = new.get(&called(number), View::Version("v1")).await.unwrap().unwrap();
        let json: serde_json::Value = serde_json::from_slice(&document.json).unwrap();
        let expected: serde_json::Value = serde_json::from_str(&self::document(number)).unwrap();
        let mut spec = expected["spec"].clone();
        match written.get(&number) {
            Some(quantity) => {
                spec["qty"] = (*quantity).into();
                assert_eq!(document.origin.written_with.as_str(), "v3");
            }
            None => {
                assert_eq!(document.origin.written_with.as_str(), "v1", "{key}");
                let generation = if is_adopted(number) { 0 } else { 1 };
                assert_eq!(document.metadata.generation, generation, "{key}");
            }
        }
        assert_eq!(json["spec"], spec, "{key}");
        assert!(document.metadata.uid.is_some());
    }
    assert_eq!(new.verify().await.unwrap().problems.count, damaged as u64);
}
