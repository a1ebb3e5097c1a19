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

use super::{CURRENT, Current, Pool, Standing, locked, queue::Job};
use crate::share::Shares;

/// A future whose long steps run in the pool.
///
/// Parts of it that are polled together have to be polled every time, as `select!`, `join!` and `timeout` do.
pub(crate) struct Task<F: Future>(Arc<Shared<F>>);

/// What the task and the thread that polls it share.
struct Shared<F: Future> {
    /// Locked by the thread that polls the future.
    progress: Mutex<Progress<F>>,
    waker: Mutex<Option<Waker>>,
    current: Arc<Current>,
}

enum Progress<F: Future> {
    Underway(Pin<Box<F>>),
    Ended(thread::Result<F::Output>),
    Taken,
}

impl<F: Future> Task<F> {
    pub(super) fn new(pool: Arc<Pool>, caller: Arc<Shares>, future: Pin<Box<F>>) -> Self {
        let (caller, standing) = (Mutex::new(caller), Mutex::new(Standing::Outside));
        let current = Arc::new(Current { pool, caller, at_step: AtomicUsize::new(0), standing });
        let progress = Mutex::new(Progress::Underway(future));
        Self(Arc::new(Shared { progress, waker: Mutex::default(), current }))
    }
}

impl<F> Future for Task<F>
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let shared = &self.0;
        *locked(&shared.waker) = Some(context.waker().clone());
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
        let current = &self.0.current;
        let standing = mem::replace(&mut *locked(&current.standing), Standing::Dropped);
        if let Standing::Queued(place) = standing {
            let removed = locked(&current.pool.queue).remove(place);
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
            self.current.pool.enqueue(&self.current, self.clone(), bytes);
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
        let Some(waker) = locked(&self.waker).clone() else { return };
        let mut progress = locked(&self.progress);
        if let Poll::Ready(outcome) = self.poll(&mut progress, &mut Context::from_waker(&waker)) {
            *progress = Progress::Ended(outcome);
        }
        drop(progress);
        self.queue_if_at_step();
        // Whatever woke the task meanwhile found it being polled.
        if let Some(waker) = &*locked(&self.waker) {
            waker.wake_by_ref();
        }
    }
}
