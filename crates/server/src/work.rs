//! The work pool: threads for long CPU-bound steps, so that the async workers stay free for all other requests.
//!
//! Every request runs as a [`Task`]. A task is polled by the async runtime until it reaches a step over many bytes
//! ([`step`]). Then it waits in a queue, in which callers take turns, until a thread of the pool polls it: the step and what
//! follows it run there, up to the next point where the task waits. Tasks that are dropped or time out leave the queue at
//! once.

mod lateness;
mod queue;
mod task;

use std::{
    cell::Cell,
    future::poll_fn,
    num::NonZeroUsize,
    ops::Deref,
    pin::Pin,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    thread,
    time::{Duration, Instant},
};

use prometheus_client::metrics::gauge::Gauge;
use tokio::{runtime::Handle, sync::OwnedSemaphorePermit, task::JoinHandle};
use wheelwright_repository::{LIGHT_BYTES, Scheduler};

use self::{
    lateness::Lateness,
    queue::{Place, Queue},
};
pub(crate) use self::{
    lateness::{in_turn, wait_in_turns},
    task::Task,
};
use crate::{budget, share::Shares};

/// How long a task may go on from one step to the next while others wait.
const TURN_TIME: Duration = Duration::from_millis(20);

tokio::task_local! {
    /// The task that is being polled.
    static CURRENT: Arc<Current>;
}

thread_local! {
    /// On a thread of a pool: what it has for the task that it polls.
    static TURN: Cell<Option<Turn>> = const { Cell::new(None) };
}

/// The turn of a task on a thread of a pool.
#[derive(Clone, Copy, Debug)]
struct Turn {
    began: Instant,
    /// The bytes that are taken for its steps.
    bytes: usize,
}

/// Limits on the steps of a work pool that run at the same time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Capacity {
    /// The most threads: there is one for each core, but no more than these.
    pub(crate) threads: usize,
    /// The bytes that running steps may be over together; a step over more runs alone.
    pub(crate) bytes: usize,
}

/// What a task and its steps share.
#[derive(Debug)]
struct Current {
    client: Client,
    /// The caller that it works for, if that is not the client's.
    caller: Mutex<Option<Arc<Shares>>>,
    /// The turn of its caller that the task has, until it is queued.
    turn: Mutex<Option<OwnedSemaphorePermit>>,
    /// The bytes of the step that the task has stopped at; 0 if it has not.
    at_step: AtomicUsize,
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

/// A caller of a pool: one for all requests of a connection, because clones of it are what a request pays for.
#[derive(Clone, Debug)]
pub(crate) struct Client(Arc<ClientParts>);

#[derive(Debug)]
pub(crate) struct ClientParts {
    pool: Arc<Pool>,
    caller: Arc<Shares>,
}

/// The work pool of a server. Its threads end when this is dropped.
#[derive(Debug)]
pub(crate) struct WorkPool(Arc<Pool>);

#[derive(Debug)]
struct Pool {
    queue: Mutex<Queue>,
    /// Notified when the queue is filled or closed.
    changed: Condvar,
    most_threads: usize,
    is_started: AtomicBool,
    lateness: Lateness,
}

/// Runs the steps of a repository in the pool of the current task.
#[derive(Debug)]
pub(crate) struct InPool;

impl Scheduler for InPool {
    fn poll_step(&self, bytes: usize, _: &mut Context<'_>) -> Poll<()> {
        match budget::charge_record(bytes) {
            true => poll_step(bytes),
            // The request is refused where its memory is.
            false => Poll::Pending,
        }
    }
}

/// Waits until a CPU-bound step over so many bytes may run on the current thread.
pub(crate) async fn step(bytes: usize) {
    if bytes >= LIGHT_BYTES {
        poll_fn(|_| poll_step(bytes)).await;
    }
}

/// Sets the caller that the current task works for.
pub(crate) fn set_caller(caller: &Arc<Shares>) {
    let _ = CURRENT.try_with(|current| {
        let is_other = !Arc::ptr_eq(&current.client.caller, caller);
        *locked(&current.caller) = is_other.then(|| caller.clone());
    });
}

/// Gives the current task a turn of its caller. It is over when the task ends or is queued for a long step: there, callers take
/// turns anyway.
pub(crate) fn set_turn(turn: OwnedSemaphorePermit) {
    let _ = CURRENT.try_with(|current| *locked(&current.turn) = Some(turn));
}

/// Spawns a task for the caller of the current one.
pub(crate) fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    match CURRENT.try_with(|current| Client::new(&current.client.pool, &current.caller())) {
        Ok(client) => tokio::spawn(client.task(Box::pin(future))),
        Err(_) => tokio::spawn(future),
    }
}

/// Ready if the current thread may run a step over so many bytes. If not, the task is queued, and polled again by a thread of
/// the pool; no waker is needed.
fn poll_step(bytes: usize) -> Poll<()> {
    let is_ready = CURRENT.try_with(|current| {
        let mut queue = locked(&current.client.pool.queue);
        let turn = TURN.get().filter(|turn| queue.is_empty() || turn.began.elapsed() < TURN_TIME);
        let taken = turn.and_then(|turn| queue.take(turn.bytes, bytes).map(|bytes| Turn { bytes, ..turn }));
        if taken.is_some() {
            TURN.set(taken);
        }
        let is_ready = taken.is_some() || queue.is_closed();
        current.at_step.store(if is_ready { 0 } else { bytes.max(1) }, Ordering::Relaxed);
        is_ready
    });
    if is_ready.unwrap_or(true) { Poll::Ready(()) } else { Poll::Pending }
}

impl WorkPool {
    /// A pool that starts its threads with the first step. The gauge counts the tasks that wait for it.
    pub(crate) fn new(capacity: Capacity, queued: Gauge) -> Self {
        let queue = Mutex::new(Queue::new(capacity.bytes, queued));
        let (changed, is_started) = (Condvar::new(), AtomicBool::new(false));
        let lateness = Lateness::default();
        Self(Arc::new(Pool { queue, changed, most_threads: capacity.threads, is_started, lateness }))
    }

    pub(crate) fn client(&self, caller: &Arc<Shares>) -> Client {
        Client::new(&self.0, caller)
    }
}

impl Client {
    fn new(pool: &Arc<Pool>, caller: &Arc<Shares>) -> Self {
        Self(Arc::new(ClientParts { pool: pool.clone(), caller: caller.clone() }))
    }

    /// A task of the caller. The future comes in its box: most are large, and every move copies them.
    pub(crate) fn task<F: Future>(&self, future: Pin<Box<F>>) -> Task<F> {
        Task::new(self.clone(), future)
    }
}

impl Deref for Client {
    type Target = ClientParts;

    fn deref(&self) -> &ClientParts {
        &self.0
    }
}

impl Current {
    fn caller(&self) -> Arc<Shares> {
        locked(&self.caller).as_ref().unwrap_or(&self.client.caller).clone()
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
    fn enqueue(self: &Arc<Self>, current: &Current, job: Arc<dyn queue::Job>, bytes: usize) {
        let mut standing = locked(&current.standing);
        let Standing::Outside = *standing else { return };
        let caller = Arc::as_ptr(&current.caller()).addr();
        drop(locked(&current.turn).take());
        *standing = Standing::Queued(locked(&self.queue).push(caller, job, bytes));
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
        let mut queue = locked(&self.queue);
        loop {
            let (job, bytes) = loop {
                if let Some(next) = queue.pop() {
                    break next;
                }
                if queue.is_closed() {
                    return;
                }
                queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
            };
            drop(queue);
            TURN.set(Some(Turn { began: Instant::now(), bytes }));
            job.run();
            let taken = TURN.take().map_or(0, |turn| turn.bytes);
            queue = locked(&self.queue);
            queue.give_back(taken);
            // Another thread may have waited for these bytes.
            if !queue.is_empty() {
                self.changed.notify_one();
            }
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
