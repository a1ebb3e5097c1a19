use std::pin::pin;

use std::{sync::Arc, time::Duration};

use tokio::time::timeout;

use super::*;

/// A budget of which 6,000 bytes can be held and 4,000 are for watches, and some callers.
fn callers<const N: usize>() -> (Arc<Budget>, [Arc<Allowance>; N]) {
    let budget = Budget::new(&Limits { memory_bytes: 32_000, ..Limits::default() });
    let allowances = std::array::from_fn(|_| Arc::new(Allowance { budget: budget.clone(), shares: Arc::default() }));
    (budget, allowances)
}

#[test]
fn connections_of_a_caller_with_half_make_room_for_its_others() {
    let (budget, [one, two]) = connecting();
    let most = budget.connections.most;
    let _half = one.connect(most / 2, |_| false).unwrap();
    assert!(one.connect(100, |_| false).is_none(), "all of its connections are busy");
    let more = one.connect(100, |exceeded| exceeded == Exceeded::Caller).expect("an idle one makes room");
    assert!(two.connect(most / 4, |_| false).is_some());
    drop(more);
    let _overdraft = one.connect(most / 16, |_| true).unwrap();
    assert!(one.connect(100, |_| true).is_none(), "one that makes room has yet to close");
}

#[test]
fn callers_who_are_busy_with_all_connections_do_not_lock_out_small_ones() {
    let (budget, [one, two, three]) = connecting();
    let most = budget.connections.most;
    let _busy = [&one, &two].map(|busy| busy.connect(most / 2, |_| false).unwrap());
    let _small = three.connect(most / 128, |_| false).expect("a small caller");
    let _overdraft = [&one, &two].map(|busy| busy.connect(most / 16, |_| true));
    assert!(three.connect(most / 128, |_| false).is_some(), "others leave the rest of the overdraft");
    assert!(three.connect(most / 32, |_| false).is_none(), "it is not small any more");
}

/// A budget with whole numbers of bytes for connections, and some callers.
fn connecting<const N: usize>() -> (Arc<Budget>, [Arc<Allowance>; N]) {
    let budget = Budget::new(&Limits { memory_bytes: 5 << 20, ..Limits::default() });
    let allowances = std::array::from_fn(|_| Arc::new(Allowance { budget: budget.clone(), shares: Arc::default() }));
    (budget, allowances)
}

fn held(budget: &Budget) -> usize {
    budget.used().map(|(_, bytes)| bytes).sum()
}

#[test]
fn a_caller_has_half_and_all_callers_have_all() {
    let (budget, [one, two, three]) = callers();
    let mut first = one.try_hold(Purpose::Requests, 2_500).unwrap();
    assert_eq!(one.try_hold(Purpose::Answers, 501).unwrap_err(), Exceeded::Caller);
    first.try_grow(3_000).unwrap();
    assert_eq!(first.try_grow(3_001).unwrap_err(), Exceeded::Caller);
    let second = two.try_hold(Purpose::Requests, 3_000).unwrap();
    assert_eq!(three.try_hold(Purpose::Requests, 1).unwrap_err(), Exceeded::All);
    assert_eq!(held(&budget), 6_000);
    drop(first);
    let third = three.try_hold(Purpose::Requests, 3_000).unwrap();
    drop((second, third));
    assert_eq!(held(&budget), 0);
    assert_eq!(one.try_hold(Purpose::Requests, 9_000).unwrap().bytes(), 9_000, "it is alone");
}

/// All charges of 100 bytes that there is memory for.
fn all_of(take: impl Fn(usize) -> Result<Charge, Exceeded>) -> Vec<Charge> {
    std::iter::repeat_with(|| take(100)).map_while(Result::ok).collect()
}

#[test]
fn the_last_quarter_is_for_callers_with_less_than_a_sixteenth() {
    let (budget, [one, two, three, four]) = callers();
    let hold = |caller: &Allowance, bytes| caller.try_hold(Purpose::Requests, bytes);
    let first = all_of(|bytes| hold(&one, bytes));
    let second = all_of(|bytes| hold(&two, bytes));
    assert_eq!((first.len(), second.len()), (30, 15));
    assert_eq!(hold(&two, 1).unwrap_err(), Exceeded::All);
    let third = all_of(|bytes| hold(&three, bytes));
    assert_eq!(third.len(), 4, "it has less than 375 bytes before the last one");
    let fourth = hold(&four, 1_100).unwrap();
    assert_eq!(held(&budget), 6_000);
    drop((first, second, third, fourth));
}

#[test]
fn two_callers_with_many_watches_leave_memory_for_watches_and_lists_of_others() {
    let (budget, [one, two, three]) = callers();
    let watches = [&one, &two].map(|caller| all_of(|bytes| caller.watch(bytes)));
    assert_eq!(watches.each_ref().map(Vec::len), [20, 10]);
    let watch = three.watch(1_000).unwrap();
    let list = three.try_hold(Purpose::Lists, 3_000).unwrap();
    assert_eq!(held(&budget), 7_000);
    drop((watches, watch, list));
    assert_eq!(held(&budget), 0);
}

#[tokio::test]
async fn a_charge_lasts_as_long_as_the_last_part_of_its_bytes() {
    let (budget, [one]) = callers();
    let mut bytes = one.try_hold(Purpose::Answers, 1_000).unwrap().attach(vec![1; 1_000].into());
    let part = bytes.split_to(10);
    drop(bytes);
    assert_eq!((held(&budget), &part[..]), (1_000, &[1; 10][..]));
    drop(part);
    assert_eq!(held(&budget), 0);
}

#[tokio::test]
async fn a_request_stops_at_a_record_for_which_there_is_no_memory() {
    let (budget, [one]) = callers();
    let read = async |lengths: &'static [usize]| {
        let reading = pin!(async {
            for bytes in lengths {
                if !charge_record(*bytes) {
                    std::future::pending::<()>().await;
                }
            }
            lengths.len()
        });
        one.reading(2, reading).await
    };
    assert_eq!(read(&[100, 1_000, 500]).await, Ok(3), "the longest counts");
    let held = one.try_hold(Purpose::Answers, 2_700).unwrap();
    assert_eq!(read(&[600, 50]).await, Err(Exceeded::Caller));
    assert_eq!(read(&[50, 600]).await, Ok(2), "a later record may be the outcome of a write");
    drop(held);
    assert_eq!(budget.used().map(|(_, bytes)| bytes).sum::<usize>(), 0);
}

#[test]
fn memory_bounds_the_threads_of_the_work_pool() {
    let work = |mib: usize| Budget::new(&Limits { memory_bytes: mib << 20, ..Limits::default() }).work();
    assert_eq!([128, 256, 511, 512, 4_096].map(|mib| work(mib).threads), [1, 1, 1, 2, 16]);
    assert_eq!(work(512).bytes, 3 << 20);
}

#[tokio::test]
async fn processing_waits_for_memory_that_the_same_or_another_caller_gives_back() {
    let (_, [one, two, three]) = callers();
    let first = one.process(3_000).await;
    let waiting = tokio::spawn({
        let one = one.clone();
        async move { one.process(3_000).await }
    });
    let second = two.process(3_000).await;
    assert!(timeout(Duration::from_millis(20), three.process(100)).await.is_err(), "all is in use");
    drop(first);
    let third = waiting.await.unwrap();
    drop(second);
    drop(timeout(Duration::from_secs(10), three.process(100)).await.unwrap());
    drop(third);
}

/// Requests of a caller that follow each other without a pause, ten at a time.
fn stream(caller: &Allowance, bytes: usize) -> Vec<tokio::task::JoinHandle<()>> {
    let request = || {
        let caller = caller.clone();
        tokio::spawn(async move {
            loop {
                let charge = caller.process(bytes).await;
                tokio::time::sleep(Duration::from_millis(2)).await;
                drop(charge);
            }
        })
    };
    std::iter::repeat_with(request).take(10).collect()
}

#[tokio::test]
async fn large_requests_are_processed_although_small_ones_never_end() {
    let (_, [one, two, three]) = callers();
    let streams = [stream(&one, 600), stream(&two, 700)];
    tokio::time::sleep(Duration::from_millis(50)).await;
    for caller in [&one, &two, &three] {
        drop(timeout(Duration::from_secs(30), caller.process(3_000)).await.expect("it has its turn"));
    }
    streams.iter().flatten().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test]
async fn a_caller_that_waits_for_its_own_requests_does_not_hold_up_others() {
    let (_, [one, two]) = callers();
    let first = one.process(2_000).await;
    let own = one.process(2_000);
    assert!(timeout(Duration::from_millis(50), own).await.is_err(), "it has more than half");
    let mut waiting = Box::pin(one.process(2_000));
    assert!(timeout(Duration::from_millis(20), &mut waiting).await.is_err());
    drop(timeout(Duration::from_secs(30), two.process(2_000)).await.expect("there is room"));
    drop(first);
    drop(timeout(Duration::from_secs(30), waiting).await.expect("it is its turn"));
}
