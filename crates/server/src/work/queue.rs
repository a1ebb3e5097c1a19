//! The queue of tasks that have stopped at a step: callers take turns, and the tasks of one caller run in their order.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    fmt,
    sync::Arc,
};

use prometheus_client::metrics::gauge::Gauge;

/// A task that a thread of the pool can poll.
pub(super) trait Job: Send + Sync {
    /// Polls the task once.
    fn run(self: Arc<Self>);
}

/// The place of a task in a queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    caller: usize,
    number: u64,
}

/// Tasks by caller.
pub(super) struct Queue {
    waiting: HashMap<usize, BTreeMap<u64, Waiting>>,
    /// The callers with waiting tasks, in the order of their turns.
    turns: VecDeque<usize>,
    next: u64,
    is_closed: bool,
    /// The number of waiting tasks.
    count: Gauge,
    /// The bytes that running steps may be over together, and those that are left of them.
    most_bytes: usize,
    free_bytes: usize,
}

/// A task with the bytes that its next step is over.
struct Waiting {
    job: Arc<dyn Job>,
    bytes: usize,
}

impl Queue {
    pub(super) fn new(most_bytes: usize, count: Gauge) -> Self {
        Self {
            waiting: HashMap::new(),
            turns: VecDeque::new(),
            next: 0,
            is_closed: false,
            count,
            most_bytes,
            free_bytes: most_bytes,
        }
    }

    pub(super) fn push(&mut self, caller: usize, job: Arc<dyn Job>, bytes: usize) -> Place {
        let number = self.next;
        self.next += 1;
        let jobs = self.waiting.entry(caller).or_default();
        if jobs.is_empty() {
            self.turns.push_back(caller);
        }
        jobs.insert(number, Waiting { job, bytes });
        self.count.inc();
        Place { caller, number }
    }

    /// The next task of the caller whose turn it is, and the bytes that are taken for its step; none if so many are not free.
    pub(super) fn pop(&mut self) -> Option<(Arc<dyn Job>, usize)> {
        let caller = *self.turns.front()?;
        let jobs = self.waiting.get_mut(&caller)?;
        let first = jobs.first_entry()?;
        let bytes = first.get().bytes.min(self.most_bytes);
        self.free_bytes = self.free_bytes.checked_sub(bytes)?;
        let job = first.remove().job;
        self.count.dec();
        self.turns.pop_front();
        match jobs.is_empty() {
            true => drop(self.waiting.remove(&caller)),
            false => self.turns.push_back(caller),
        }
        Some((job, bytes))
    }

    /// Takes bytes for the next step of a running task that has taken some; none if they are not free.
    pub(super) fn take(&mut self, taken: usize, bytes: usize) -> Option<usize> {
        let more = bytes.min(self.most_bytes).saturating_sub(taken);
        self.free_bytes = self.free_bytes.checked_sub(more)?;
        Some(taken + more)
    }

    /// Gives back the bytes that a task has taken.
    pub(super) fn give_back(&mut self, bytes: usize) {
        self.free_bytes += bytes;
    }

    /// Removes a task, if it still has its place.
    pub(super) fn remove(&mut self, place: Place) -> Option<Arc<dyn Job>> {
        let jobs = self.waiting.get_mut(&place.caller)?;
        let job = jobs.remove(&place.number).map(|waiting| waiting.job);
        if job.is_some() {
            self.count.dec();
        }
        if jobs.is_empty() {
            self.waiting.remove(&place.caller);
            self.turns.retain(|caller| *caller != place.caller);
        }
        job
    }

    pub(super) fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// Ends the threads of the pool once no task waits.
    pub(super) fn close(&mut self) {
        self.is_closed = true;
    }

    pub(super) fn is_closed(&self) -> bool {
        self.is_closed
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("turns", &self.turns).finish_non_exhaustive()
    }
}
