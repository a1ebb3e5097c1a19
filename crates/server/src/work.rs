//! The work pool: threads for long CPU-bound steps, so that the async workers stay free for all other requests.
//!
//! Every request runs as a [`Task`]. A task is polled by the async runtime until it reaches a step over many bytes
//! ([`step`]). Then it waits in a queue, in which callers take turns, until a thread of the pool polls it: the step and what
//! follows it run there, up to the next point where the task waits. Tasks that are dropped or time out leave the queue at
//! once.

mod queue;
mod task;

use std::{
    cell::Cell,
    future::poll_fn,
    num::NonZeroUsize,
    pin::Pin,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    thread,
    time::{Duration, Instant},
};

use prometheus_client::metrics::gauge::Gauge;
use tokio::{runtime::Handle, task::JoinHandle};
use wheelwright_repository::{LIGHT_BYTES, Scheduler};

use self::queue::{Place, Queue};
pub(crate) use self::task::Task;
use crate::{budget, share::Shares};

/// How long a task may go on from one step to the next while others wait.
const TURN: Duration = Duration::from_millis(20);

tokio::task_local! {
    /// The task that is being polled.
    static CURRENT: Arc<Current>;
}

thread_local! {
    /// On a thread of a pool: when it began to poll its task.
    static BEGAN: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// What a task and its steps share.
#[derive(Debug)]
struct Current {
    pool: Arc<Pool>,
    caller: Mutex<Arc<Shares>>,
    /// Whether the task has stopped at a step.
    is_at_step: AtomicBool,
    standing: Mutex<Standing>,
}

/// Where a task is.
#[derive(Debug)]
enum Standing {
    /// Polled, or waiting for something else than a thread.
    Outside,
    Queued(Place),
    /// No longer wanted: it is neither queued nor polled again.
    Dropped,
}

/// The work pool of a server. Its threads end when this is dropped.
#[derive(Debug)]
pub(crate) struct WorkPool(Arc<Pool>);

#[derive(Debug)]
struct Pool {
    queue: Mutex<Queue>,
    /// Notified when the queue is filled or closed.
    changed: Condvar,
    /// How many threads it may have.
    most_threads: usize,
    is_started: AtomicBool,
}

/// Runs the steps of a repository in the pool of the current task.
#[derive(Debug)]
pub(crate) struct InPool;

impl Scheduler for InPool {
    fn poll_step(&self, bytes: usize, _: &mut Context<'_>) -> Poll<()> {
        match budget::charge_record(bytes) {
            true => poll_step(),
            // The request is refused where its memory is.
            false => Poll::Pending,
        }
    }
}

/// Waits until a CPU-bound step over so many bytes may run on the current thread.
pub(crate) async fn step(bytes: usize) {
    if bytes >= LIGHT_BYTES {
        poll_fn(|_| poll_step()).await;
    }
}

/// Sets the caller that the current task works for.
pub(crate) fn set_caller(caller: &Arc<Shares>) {
    let _ = CURRENT.try_with(|current| {
        let current = &mut *locked(&current.caller);
        if !Arc::ptr_eq(current, caller) {
            *current = caller.clone();
        }
    });
}

/// Spawns a task for the caller of the current one.
pub(crate) fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    match CURRENT.try_with(|current| (current.pool.clone(), locked(&current.caller).clone())) {
        Ok((pool, caller)) => tokio::spawn(Task::new(pool, caller, Box::pin(future))),
        Err(_) => tokio::spawn(future),
    }
}

/// Ready if the current thread may run a step. If not, the task is queued, and polled again by a thread of the pool; no
/// waker is needed.
fn poll_step() -> Poll<()> {
    let is_ready = CURRENT.try_with(|current| {
        let queue = locked(&current.pool.queue);
        let is_in_turn = BEGAN.get().is_some_and(|began| queue.is_empty() || began.elapsed() < TURN);
        let is_ready = is_in_turn || queue.is_closed();
        current.is_at_step.store(!is_ready, Ordering::Relaxed);
        is_ready
    });
    if is_ready.unwrap_or(true) { Poll::Ready(()) } else { Poll::Pending }
}

impl WorkPool {
    /// A pool that starts its threads with the first step: one for each core, but no more than `most_threads`. The gauge
    /// counts the tasks that wait for it.
    pub(crate) fn new(most_threads: usize, queued: Gauge) -> Self {
        let queue = Mutex::new(Queue::new(queued));
        Self(Arc::new(Pool { queue, changed: Condvar::new(), most_threads, is_started: AtomicBool::new(false) }))
    }

    /// A task of a caller. The future comes in its box: most are large, and every move copies them.
    pub(crate) fn task<F: Future>(&self, caller: &Arc<Shares>, future: Pin<Box<F>>) -> Task<F> {
        Task::new(self.0.clone(), caller.clone(), future)
    }
}

impl Drop for WorkPool {
    fn drop(&mut self) {
        locked(&self.0.queue).close();
        self.0.changed.notify_all();
    }
}

impl Pool {
    /// Queues a task that has stopped at a step, unless it is queued already or was dropped.
    fn enqueue(self: &Arc<Self>, current: &Current, job: Arc<dyn queue::Job>) {
        let mut standing = locked(&current.standing);
        let Standing::Outside = *standing else { return };
        let caller = Arc::as_ptr(&*locked(&current.caller)).addr();
        *standing = Standing::Queued(locked(&self.queue).push(caller, job));
        self.changed.notify_one();
        if !self.is_started.swap(true, Ordering::Relaxed) {
            self.start();
        }
    }

    fn start(self: &Arc<Self>) {
        let runtime = Handle::current();
        let count = thread::available_parallelism().map_or(1, NonZeroUsize::get).min(self.most_threads);
        for number in 0..count {
            let (pool, runtime) = (self.clone(), runtime.clone());
            let spawned = thread::Builder::new().name(format!("work-{number}")).spawn(move || pool.work(&runtime));
            if let Err(error) = spawned {
                tracing::error!(%error, "cannot start a thread of the work pool");
                if number == 0 {
                    locked(&self.queue).close();
                }
                return;
            }
        }
    }

    /// Polls queued tasks until the pool is closed.
    fn work(&self, runtime: &Handle) {
        let _runtime = runtime.enter();
        lower_priority();
        loop {
            let mut queue = locked(&self.queue);
            let job = loop {
                if let Some(job) = queue.pop() {
                    break job;
                }
                if queue.is_closed() {
                    return;
                }
                queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
            };
            drop(queue);
            job.run();
        }
    }
}

/// Lets the async workers run first: they have little to do for each request, and are waited for by all.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(5) {
        tracing::debug!(%error, "the work pool runs at the priority of the async workers");
    }
}

/// The lock of data that is consistent at all times, even after a panic.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
