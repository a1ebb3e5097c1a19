//! Turns of short requests while the async workers are late.
//!
//! The runtime polls tasks in the order in which they are woken: a caller with hundreds of clients is served hundreds of times as
//! often as one with a single client. While a task has to wait long for a worker, the requests of a caller wait for each
//! other instead, so that few of them are ever before those of other callers.

use std::{
    future::poll_fn,
    mem,
    pin::{Pin, pin},
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
    task::Poll,
    time::{Duration, Instant},
};

use tokio::{sync::SemaphorePermit, task::yield_now};

use super::CURRENT;
use crate::share::Shares;

/// One of so many requests measures how long it waits.
const MEASURED: u32 = 32;
/// The workers are late if a task waits for longer than this.
const LATE: Duration = Duration::from_millis(3);
/// How long they count as late after that.
const REMEMBERED: Duration = Duration::from_millis(500);

/// Whether the workers are late.
#[derive(Debug)]
pub(super) struct Lateness {
    began: Instant,
    requests: AtomicU32,
    /// Until when they count as late, in milliseconds since the beginning.
    until: AtomicU64,
}

impl Default for Lateness {
    fn default() -> Self {
        Self { began: Instant::now(), requests: AtomicU32::new(0), until: AtomicU64::new(0) }
    }
}

impl Lateness {
    /// Whether the current request is to measure how long it waits.
    fn is_to_measure(&self) -> bool {
        self.requests.fetch_add(1, Ordering::Relaxed).is_multiple_of(MEASURED)
    }

    /// Whether the workers have ever been late.
    fn was_late(&self) -> bool {
        self.until.load(Ordering::Relaxed) > 0
    }

    fn has_waited(&self, since: Instant) {
        if since.elapsed() >= LATE {
            self.until.store(self.milliseconds(since + REMEMBERED), Ordering::Relaxed);
        }
    }

    /// Whether the workers are late, and a caller had another request a moment ago: one with a single client that pauses has no
    /// others to wait for.
    fn is_late_for(&self, caller: &Shares) -> bool {
        let until = self.until.load(Ordering::Relaxed);
        if until == 0 {
            return false;
        }
        let now = self.milliseconds(Instant::now());
        now < until && now.saturating_sub(caller.last_request.swap(now, Ordering::Relaxed)) <= LATE.as_millis() as u64
    }

    fn milliseconds(&self, moment: Instant) -> u64 {
        u64::try_from(moment.duration_since(self.began).as_millis()).unwrap_or(u64::MAX)
    }
}

/// Runs a future of a caller, the beginning of it in a turn of that caller if the workers are late. The turn ends where the future
/// first waits.
pub(crate) async fn in_turn<F: Future>(caller: &Shares, mut future: Pin<&mut F>) -> F::Output {
    let measures = lateness(Lateness::is_to_measure);
    let mut turn = match measures || lateness(Lateness::was_late) {
        // In a box, so that the future of other requests is small.
        true => Box::pin(turn(caller, measures)).await,
        false => None,
    };
    poll_fn(move |context| {
        let polled = future.as_mut().poll(context);
        drop(turn.take());
        polled
    })
    .await
}

/// Waits for a future of a caller that other tasks may wait for as well, such as a change that thousands of watches see: each time
/// it is woken, it goes on in a turn of its caller.
pub(crate) async fn wait_in_turns<F: Future>(caller: &Shares, future: F) -> F::Output {
    let mut future = pin!(future);
    let mut turn = None;
    loop {
        let polled = poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await;
        drop(turn.take());
        if let Poll::Ready(output) = polled {
            return output;
        }
        woken().await;
        turn = caller.turn().await;
        yield_now().await;
    }
}

/// Waits until the task is woken.
async fn woken() {
    let mut is_woken = false;
    poll_fn(|_| match mem::replace(&mut is_woken, true) {
        true => Poll::Ready(()),
        // Something else wakes the task.
        false => Poll::Pending,
    })
    .await;
}

async fn turn(caller: &Shares, measures: bool) -> Option<SemaphorePermit<'_>> {
    if measures {
        let began = Instant::now();
        // The task is polled again after all that are ready now.
        yield_now().await;
        lateness(|lateness| {
            lateness.has_waited(began);
            true
        });
    }
    if !lateness(|lateness| lateness.is_late_for(caller)) {
        return None;
    }
    let turn = caller.turn().await;
    // Without this, a request that does not wait would end before another one of the caller can find it under way.
    yield_now().await;
    turn
}

/// What the pool of the current task knows; false outside of tasks.
fn lateness(ask: impl FnOnce(&Lateness) -> bool) -> bool {
    CURRENT.try_with(|current| ask(&current.client.pool.lateness)).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, thread};

    use tokio::task::JoinSet;

    use super::*;
    use crate::work::{Capacity, WorkPool};

    /// The requests of a caller with many clients that are done before the only one of another caller.
    fn done_before(is_late: bool) -> usize {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let pool = WorkPool::new(Capacity { threads: 1, bytes: 1 }, Default::default());
            if is_late {
                pool.0.lateness.until.store(u64::MAX, Ordering::Relaxed);
            }
            pool.0.lateness.requests.store(1, Ordering::Relaxed);
            let (many, one) = (Arc::new(Shares::default()), Arc::new(Shares::default()));
            // Its last request is longer ago.
            thread::sleep(2 * LATE);
            let mut tasks = JoinSet::new();
            for number in 0..21 {
                let caller = if number == 20 { &one } else { &many }.clone();
                let request = async move {
                    in_turn(&caller, pin!(async { thread::sleep(Duration::from_millis(1)) })).await;
                    number
                };
                tasks.spawn(pool.client(&many).task(Box::pin(request)));
            }
            let mut done = Vec::new();
            while let Some(number) = tasks.join_next().await {
                done.push(number.unwrap());
            }
            done.iter().position(|number| *number == 20).unwrap()
        })
    }

    #[test]
    fn few_requests_of_a_caller_are_before_those_of_others_while_workers_are_late() {
        assert_eq!(done_before(false), 20);
        assert!(done_before(true) <= 4, "{}", done_before(true));
    }
}
