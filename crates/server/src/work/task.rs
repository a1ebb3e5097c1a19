//! Futures whose long steps run in the pool.

use std::{
    mem,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError, TryLockError,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Waker},
    thread,
};

use super::{CURRENT, Client, Current, Standing, locked, queue::Job};

/// A future whose long steps run in the pool.
///
/// Parts of it that are polled together have to be polled every time, as `select!`, `join!` and `timeout` do.
pub(crate) struct Task<F: Future> {
    current: Arc<Current>,
    state: State<F>,
}

/// The owner of a task's future.
enum State<F: Future> {
    /// The task alone: most requests never reach a long step.
    Own(Pin<Box<F>>),
    /// The task and a thread of the pool.
    Shared(Arc<Shared<F>>),
    Ended,
}

/// A future that a thread of the pool may poll.
struct Shared<F: Future> {
    /// Locked by the thread that polls the future.
    progress: Mutex<Progress<F>>,
    waker: Mutex<Waker>,
    current: Arc<Current>,
}

enum Progress<F: Future> {
    Underway(Pin<Box<F>>),
    Ended(thread::Result<F::Output>),
    Taken,
}

impl<F: Future> Task<F> {
    pub(super) fn new(client: Client, future: Pin<Box<F>>) -> Self {
        let standing = Mutex::new(Standing::Outside);
        let current = Current {
            client,
            caller: Mutex::default(),
            turn: Mutex::default(),
            at_step: AtomicUsize::new(0),
            standing,
        };
        Self { current: Arc::new(current), state: State::Own(future) }
    }
}

impl<F> Future for Task<F>
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Self { current, state } = &mut *self;
        if let State::Own(future) = state {
            let polled = CURRENT.sync_scope(current.clone(), || future.as_mut().poll(context));
            let bytes = current.at_step.load(Ordering::Relaxed);
            if polled.is_ready() || bytes == 0 {
                return polled;
            }
            current.at_step.store(0, Ordering::Relaxed);
            if let State::Own(future) = mem::replace(state, State::Ended) {
                let shared = Arc::new(Shared {
                    progress: Mutex::new(Progress::Underway(future)),
                    waker: Mutex::new(context.waker().clone()),
                    current: current.clone(),
                });
                current.client.pool.enqueue(current, shared.clone(), bytes);
                *state = State::Shared(shared);
            }
            return Poll::Pending;
        }
        let State::Shared(shared) = state else { return Poll::Pending };
        locked(&shared.waker).clone_from(context.waker());
        let mut progress = match shared.progress.try_lock() {
            Ok(progress) => progress,
            Err(TryLockError::Poisoned(poisoned)) => PoisonError::into_inner(poisoned),
            // A thread of the pool polls it, and wakes this task afterwards.
            Err(TryLockError::WouldBlock) => return Poll::Pending,
        };
        let polled = shared.poll(&mut progress, context);
        drop(progress);
        match polled {
            Poll::Ready(Ok(output)) => Poll::Ready(output),
            Poll::Ready(Err(panic)) => resume_unwind(panic),
            Poll::Pending => {
                shared.queue_if_at_step();
                Poll::Pending
            }
        }
    }
}

impl<F: Future> Drop for Task<F> {
    fn drop(&mut self) {
        let State::Shared(shared) = &self.state else { return };
        let standing = mem::replace(&mut *locked(&shared.current.standing), Standing::Dropped);
        if let Standing::Queued(place) = standing {
            let removed = locked(&shared.current.client.pool.queue).remove(place);
            drop(removed);
        }
    }
}

impl<F: Future> Shared<F> {
    /// Polls the future, or takes its outcome if it has ended.
    fn poll(&self, progress: &mut Progress<F>, context: &mut Context<'_>) -> Poll<thread::Result<F::Output>> {
        let Progress::Underway(future) = progress else {
            return match mem::replace(progress, Progress::Taken) {
                Progress::Ended(outcome) => Poll::Ready(outcome),
                _ => Poll::Pending,
            };
        };
        let poll = || CURRENT.sync_scope(self.current.clone(), || future.as_mut().poll(context));
        let outcome = match catch_unwind(AssertUnwindSafe(poll)) {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(output)) => Ok(output),
            Err(panic) => Err(panic),
        };
        *progress = Progress::Taken;
        Poll::Ready(outcome)
    }
}

impl<F> Shared<F>
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    fn queue_if_at_step(self: &Arc<Self>) {
        let bytes = self.current.at_step.swap(0, Ordering::Relaxed);
        if bytes > 0 {
            self.current.client.pool.enqueue(&self.current, self.clone(), bytes);
        }
    }
}

impl<F> Job for Shared<F>
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    fn run(self: Arc<Self>) {
        {
            let mut standing = locked(&self.current.standing);
            if let Standing::Dropped = *standing {
                return;
            }
            *standing = Standing::Outside;
        }
        let waker = locked(&self.waker).clone();
        let mut progress = locked(&self.progress);
        if let Poll::Ready(outcome) = self.poll(&mut progress, &mut Context::from_waker(&waker)) {
            *progress = Progress::Ended(outcome);
        }
        drop(progress);
        self.queue_if_at_step();
        // Whatever woke the task meanwhile found it being polled.
        locked(&self.waker).wake_by_ref();
    }
}
