//! Memory, budgeted in bytes: how much there is for which use, and how much of it each caller has.
//!
//! Whatever a client can make the server hold is charged before it is held, or as it arrives. A [`Charge`] is given back when
//! it is dropped, so it lives beside the bytes that it is for.

use std::{
    cell::{Cell, RefCell},
    future::poll_fn,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::Poll,
    time::Duration,
};

use bytes::Bytes;
use tokio::{sync::Notify, time::timeout};

use crate::{Limits, share::Shares, work::Capacity};

/// How long a request waits for memory before it is refused, or cut off.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// Bytes of memory that processing a byte of a body may take: values of two bytes of JSON, in several versions.
pub(crate) const PROCESSING_FACTOR: usize = 16;

/// Memory for a thread of the work pool.
const STEP_BYTES: usize = PROCESSING_FACTOR * (3 << 20);

/// All memory that clients can make the server use.
#[derive(Debug)]
pub(crate) struct Budget {
    most: usize,
    /// Bytes that wait for clients: bodies, answers, lists and events of watches.
    pub(crate) held: Arc<Pool>,
    /// Bytes of open watches and their selectors, which may stay for a day.
    watches: Arc<Pool>,
    /// Bytes that requests need while they are processed. Nothing in it waits for a client, so that it always gets free.
    pub(crate) processing: Arc<Pool>,
    /// Bytes of connections, and of heads of requests.
    connections: Arc<Pool>,
    /// The turn of the first caller that waits for memory for processing.
    turn: tokio::sync::Mutex<()>,
}

/// The bytes that running steps of the work pool may be over together, and the most that a body may have: 3 of 512 MiB. A write of
/// values of two bytes each takes some 60 times its length while its step runs, in several versions.
pub(crate) fn step_bytes(memory_bytes: usize) -> usize {
    memory_bytes / 512 * 3
}

/// Memory for one use.
#[derive(Debug)]
pub(crate) struct Pool {
    sort: Sort,
    most: usize,
    used: AtomicUsize,
    by_purpose: [AtomicUsize; Purpose::ALL.len()],
    freed: Freed,
}

/// Which of the pools one is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sort {
    Held,
    Watches,
    Processing,
    Connections,
}

/// Use of memory, as metrics name it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    Requests,
    Processing,
    Answers,
    Lists,
    Watches,
    Connections,
}

/// What one caller has of the pools.
#[derive(Debug, Default)]
pub(crate) struct Held {
    held: AtomicUsize,
    watches: AtomicUsize,
    processing: AtomicUsize,
    connections: AtomicUsize,
    freed: Freed,
    /// The turn of the first request that waits to be processed.
    turn: tokio::sync::Mutex<()>,
}

/// The part of the memory that one caller may have: half of each pool.
#[derive(Clone, Debug)]
pub(crate) struct Allowance {
    pub(crate) budget: Arc<Budget>,
    pub(crate) shares: Arc<Shares>,
}

/// Bytes that are given back when this is dropped.
#[derive(Debug)]
pub(crate) struct Charge {
    pool: Arc<Pool>,
    shares: Arc<Shares>,
    purpose: Purpose,
    bytes: usize,
}

tokio::task_local! {
    static RECORDS: Records;
}

/// The charge of a request for the records that it reads: how long they are is known only once they are there.
#[derive(Debug)]
struct Records {
    factor: usize,
    allowance: Arc<Allowance>,
    /// None before the first record.
    charge: RefCell<Option<Charge>>,
    refused: Cell<Option<Exceeded>>,
}

/// Charges the current request for a record of so many bytes, if it has read none that is longer; false if there is no
/// memory for it, and the request must stop. Only the first record is refused: a later one may be the outcome of a write
/// that has been committed.
pub(crate) fn charge_record(bytes: usize) -> bool {
    let charged = RECORDS.try_with(|records| {
        let Records { factor, allowance, charge, refused } = records;
        // Small budgets keep no long record from being read.
        let bytes = (bytes * factor).min(allowance.budget.held.most / 4);
        let charge = &mut *charge.borrow_mut();
        match charge {
            Some(charge) => charge.resize(charge.bytes.max(bytes)),
            None => {
                let first = allowance.try_hold(Purpose::Requests, bytes);
                refused.set(first.as_ref().err().copied());
                *charge = first.ok();
            }
        }
        charge.is_some()
    });
    charged.unwrap_or(true)
}

/// Why there is no memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exceeded {
    /// The caller has half of it.
    Caller,
    /// All of it is in use, or all but the part that is kept for callers with little.
    All,
}

/// Wakes tasks that wait for memory.
#[derive(Debug, Default)]
struct Freed {
    notify: Notify,
    waiting: AtomicUsize,
}

impl Budget {
    pub(crate) fn new(limits: &Limits) -> Arc<Self> {
        let most = limits.memory_bytes;
        // The rest is for what is kept, for the store, and for what cannot be counted exactly.
        let held = Arc::new(Pool::new(Sort::Held, most / 16 * 3));
        let watches = Arc::new(Pool::new(Sort::Watches, most / 8));
        let processing = Arc::new(Pool::new(Sort::Processing, most / 16 * 3));
        let connections = Arc::new(Pool::new(Sort::Connections, most / 5));
        Arc::new(Self { most, held, watches, processing, connections, turn: Default::default() })
    }

    /// The most memory that the process may use.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// What the work pool may do at once, so that its steps do not need more memory than is left.
    pub(crate) fn work(&self) -> Capacity {
        Capacity { threads: (self.processing.most / STEP_BYTES).max(1), bytes: step_bytes(self.most) }
    }

    /// The bytes that are in use for each purpose.
    pub(crate) fn used(&self) -> impl Iterator<Item = (&'static str, usize)> {
        let pools = [&self.held, &self.watches, &self.processing, &self.connections];
        Purpose::ALL.iter().map(move |purpose| {
            let bytes = pools.iter().map(|pool| pool.by_purpose[*purpose as usize].load(Ordering::Relaxed));
            (purpose.name(), bytes.sum())
        })
    }
}

impl Purpose {
    const ALL: [Self; 6] =
        [Self::Requests, Self::Processing, Self::Answers, Self::Lists, Self::Watches, Self::Connections];

    fn name(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Processing => "processing",
            Self::Answers => "answers",
            Self::Lists => "lists",
            Self::Watches => "watches",
            Self::Connections => "connections",
        }
    }
}

impl Pool {
    fn new(sort: Sort, most: usize) -> Self {
        Self { sort, most, used: AtomicUsize::new(0), by_purpose: Default::default(), freed: Freed::default() }
    }

    /// Adds bytes to what is used. The last quarter is kept for callers that have less than a sixteenth, so that a few callers
    /// with their halves do not lock out the others. One use that is larger than all that there is has it alone, so that small
    /// budgets keep nothing from being done.
    fn add(&self, shares: &Shares, bytes: usize) -> Result<(), Exceeded> {
        let own = shares.memory.of(self.sort);
        let before = add(own, bytes, self.most.div_ceil(2)).map_err(|()| Exceeded::Caller)?;
        let reserve = match self.sort {
            Sort::Connections => 0,
            _ if before < self.most / 16 => 0,
            _ => self.most / 4,
        };
        add(&self.used, bytes, self.most - reserve).map(drop).map_err(|()| {
            own.fetch_sub(bytes, Ordering::SeqCst);
            Exceeded::All
        })
    }

    /// Whether bytes fit the half of a caller, or it has nothing else.
    fn has_room_of_own(&self, shares: &Shares, bytes: usize) -> bool {
        let own = shares.memory.of(self.sort).load(Ordering::SeqCst);
        own == 0 || own + bytes <= self.most.div_ceil(2)
    }

    /// Adds bytes that are there already.
    fn force(&self, shares: &Shares, bytes: usize) {
        shares.memory.of(self.sort).fetch_add(bytes, Ordering::SeqCst);
        self.used.fetch_add(bytes, Ordering::SeqCst);
    }

    fn sub(&self, shares: &Shares, bytes: usize) {
        shares.memory.of(self.sort).fetch_sub(bytes, Ordering::SeqCst);
        self.used.fetch_sub(bytes, Ordering::SeqCst);
        self.freed.wake();
        shares.memory.freed.wake();
    }
}

/// Adds bytes, up to a limit, and returns how many there were before.
fn add(used: &AtomicUsize, bytes: usize, most: usize) -> Result<usize, ()> {
    let add = |used: usize| {
        let sum = used.checked_add(bytes)?;
        (sum <= most || used == 0).then_some(sum)
    };
    used.fetch_update(Ordering::SeqCst, Ordering::SeqCst, add).map_err(drop)
}

impl Held {
    fn of(&self, sort: Sort) -> &AtomicUsize {
        match sort {
            Sort::Held => &self.held,
            Sort::Watches => &self.watches,
            Sort::Processing => &self.processing,
            Sort::Connections => &self.connections,
        }
    }
}

impl Freed {
    fn wake(&self) {
        if self.waiting.load(Ordering::SeqCst) > 0 {
            self.notify.notify_waiters();
        }
    }
}

impl Allowance {
    /// Charges bytes that clients may be slow to take or send.
    pub(crate) fn try_hold(&self, purpose: Purpose, bytes: usize) -> Result<Charge, Exceeded> {
        self.try_take(&self.budget.held, purpose, bytes)
    }

    /// Charges bytes that are in use already, even if there is no memory for them.
    pub(crate) fn hold(&self, purpose: Purpose, bytes: usize) -> Charge {
        let mut charge = self.nothing(purpose);
        charge.resize(bytes);
        charge
    }

    /// Whether the caller may hold more bytes, at least one.
    pub(crate) fn has_room(&self) -> Result<(), Exceeded> {
        self.try_hold(Purpose::Requests, 1).map(drop)
    }

    /// Charges a watch and its selector, for as long as it is open.
    pub(crate) fn watch(&self, bytes: usize) -> Result<Charge, Exceeded> {
        self.try_take(&self.budget.watches, Purpose::Watches, bytes)
    }

    /// Charges bytes that clients may be slow to take, as soon as they are free, or says after some time why they are not.
    /// More than a quarter of all is charged as a quarter: it would hardly ever be free.
    pub(crate) async fn hold_within(
        &self,
        patience: Duration,
        purpose: Purpose,
        bytes: usize,
    ) -> Result<Charge, Exceeded> {
        let pool = &self.budget.held;
        let bytes = bytes.min(pool.most / 4);
        match self.try_take(pool, purpose, bytes) {
            Err(exceeded) if patience.is_zero() => Err(exceeded),
            Err(exceeded) => timeout(patience, self.take(pool, purpose, bytes)).await.map_err(|_| exceeded),
            charge => charge,
        }
    }

    /// Charges a connection or a request of HTTP/2; none if there is no memory for it.
    ///
    /// If memory is exceeded, an idle connection can make room: any, or one of the caller if it has half of the memory. A
    /// little more than all is used until that connection has closed. Callers with very little need no such connection, so
    /// that others who are busy with all of the memory do not lock them out.
    pub(crate) fn connect(&self, bytes: usize, makes_room: impl FnOnce(Exceeded) -> bool) -> Option<Charge> {
        let pool = &self.budget.connections;
        let exceeded = match self.try_take(pool, Purpose::Connections, bytes) {
            Ok(charge) => return Some(charge),
            Err(exceeded) => exceeded,
        };
        let (own, used) = (self.shares.memory.connections.load(Ordering::SeqCst), pool.used.load(Ordering::SeqCst));
        let is_small = own + bytes <= pool.most / 64;
        let most = if is_small { pool.most / 8 * 9 } else { pool.most / 16 * 17 };
        let has_overdraft = own < pool.most / 16 * 9 && used < most;
        (has_overdraft && (makes_room(exceeded) || is_small)).then(|| {
            let (pool, shares) = (pool.clone(), self.shares.clone());
            let mut charge = Charge { pool, shares, purpose: Purpose::Connections, bytes: 0 };
            charge.resize(bytes);
            charge
        })
    }

    /// A charge of no bytes, which can grow.
    pub(crate) fn nothing(&self, purpose: Purpose) -> Charge {
        Charge { pool: self.budget.held.clone(), shares: self.shares.clone(), purpose, bytes: 0 }
    }

    /// Charges bytes for the processing of a request, once they are free: first come, first served among the requests of a
    /// caller, and among the first requests of all callers.
    pub(crate) async fn process(&self, bytes: usize) -> Charge {
        let pool = &self.budget.processing;
        let _own_turn = self.shares.memory.turn.lock().await;
        // A caller that has to wait for itself does not hold up others.
        self.once(pool, || pool.has_room_of_own(&self.shares, bytes).then_some(())).await;
        let _turn = self.budget.turn.lock().await;
        self.take(pool, Purpose::Processing, bytes).await
    }

    /// Does something with charges for the records that it reads, each of them for so many times its length; or stops as
    /// soon as there is no memory for the first one.
    pub(crate) async fn reading<T>(
        self: &Arc<Self>,
        factor: usize,
        mut future: Pin<&mut impl Future<Output = T>>,
    ) -> Result<T, Exceeded> {
        let records = Records { factor, allowance: self.clone(), charge: RefCell::default(), refused: Cell::default() };
        let reading = poll_fn(|context| match future.as_mut().poll(context) {
            Poll::Ready(outcome) => Poll::Ready(Ok(outcome)),
            Poll::Pending => match RECORDS.with(|records| records.refused.get()) {
                Some(exceeded) => Poll::Ready(Err(exceeded)),
                None => Poll::Pending,
            },
        });
        RECORDS.scope(records, reading).await
    }

    fn try_take(&self, pool: &Arc<Pool>, purpose: Purpose, bytes: usize) -> Result<Charge, Exceeded> {
        let mut charge = Charge { pool: pool.clone(), shares: self.shares.clone(), purpose, bytes: 0 };
        charge.try_grow(bytes)?;
        Ok(charge)
    }

    async fn take(&self, pool: &Arc<Pool>, purpose: Purpose, bytes: usize) -> Charge {
        self.once(pool, || self.try_take(pool, purpose, bytes).ok()).await
    }

    /// Attempts something until it succeeds, each time that bytes of a pool or of the caller are given back.
    async fn once<T>(&self, pool: &Pool, mut attempt: impl FnMut() -> Option<T>) -> T {
        if let Some(done) = attempt() {
            return done;
        }
        let (all, own) = (Waiting::new(&pool.freed), Waiting::new(&self.shares.memory.freed));
        loop {
            let (mut in_all, mut of_own) = (Box::pin(all.0.notify.notified()), Box::pin(own.0.notify.notified()));
            // What is given back between the attempt and the wait must wake it.
            in_all.as_mut().enable();
            of_own.as_mut().enable();
            if let Some(done) = attempt() {
                return done;
            }
            tokio::select! {
                () = in_all => {}
                () = of_own => {}
            }
        }
    }
}

/// A task that waits, counted.
struct Waiting<'f>(&'f Freed);

impl<'f> Waiting<'f> {
    fn new(freed: &'f Freed) -> Self {
        freed.waiting.fetch_add(1, Ordering::SeqCst);
        Self(freed)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Charge {
    /// How many bytes it is for.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Charges so many bytes in all, if there are more than before.
    pub(crate) fn try_grow(&mut self, bytes: usize) -> Result<(), Exceeded> {
        let more = bytes.saturating_sub(self.bytes);
        if more == 0 {
            return Ok(());
        }
        self.pool.add(&self.shares, more)?;
        self.count(more);
        Ok(())
    }

    /// Charges so many bytes instead, even if there are more than there should be: they are there already.
    pub(crate) fn resize(&mut self, bytes: usize) {
        if bytes > self.bytes {
            self.pool.force(&self.shares, bytes - self.bytes);
            self.count(bytes - self.bytes);
        } else {
            drop(self.split(self.bytes - bytes));
        }
    }

    /// Some of the bytes, as a charge of its own.
    pub(crate) fn split(&mut self, bytes: usize) -> Self {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        Self { pool: self.pool.clone(), shares: self.shares.clone(), purpose: self.purpose, bytes }
    }

    fn count(&mut self, more: usize) {
        self.bytes += more;
        self.pool.by_purpose[self.purpose as usize].fetch_add(more, Ordering::Relaxed);
    }

    /// Bytes that are charged until the last part of them is dropped, wherever that is.
    pub(crate) fn attach(self, bytes: Bytes) -> Bytes {
        Bytes::from_owner(Charged { bytes, _charge: self })
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        if self.bytes == 0 {
            return;
        }
        self.pool.by_purpose[self.purpose as usize].fetch_sub(self.bytes, Ordering::Relaxed);
        self.pool.sub(&self.shares, self.bytes);
    }
}

struct Charged {
    bytes: Bytes,
    _charge: Charge,
}

impl AsRef<[u8]> for Charged {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use super::*;

    /// A budget of which 6,000 bytes can be held and 4,000 are for watches, and some callers.
    fn callers<const N: usize>() -> (Arc<Budget>, [Arc<Allowance>; N]) {
        let budget = Budget::new(&Limits { memory_bytes: 32_000, ..Limits::default() });
        let allowances =
            std::array::from_fn(|_| Arc::new(Allowance { budget: budget.clone(), shares: Arc::default() }));
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
        let allowances =
            std::array::from_fn(|_| Arc::new(Allowance { budget: budget.clone(), shares: Arc::default() }));
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
        assert_eq!(one.try_hold(Purpose::Requests, 9_000).unwrap().bytes, 9_000, "it is alone");
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
}
