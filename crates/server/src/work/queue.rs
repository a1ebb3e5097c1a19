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
#[derive(Default)]
pub(super) struct Queue {
    waiting: HashMap<usize, BTreeMap<u64, Arc<dyn Job>>>,
    /// The callers with waiting tasks, in the order of their turns.
    turns: VecDeque<usize>,
    next: u64,
    is_closed: bool,
    /// The number of waiting tasks.
    count: Gauge,
}

impl Queue {
    pub(super) fn new(count: Gauge) -> Self {
        Self { count, ..Self::default() }
    }

    pub(super) fn push(&mut self, caller: usize, job: Arc<dyn Job>) -> Place {
        let number = self.next;
        self.next += 1;
        let jobs = self.waiting.entry(caller).or_default();
        if jobs.is_empty() {
            self.turns.push_back(caller);
        }
        jobs.insert(number, job);
        self.count.inc();
        Place { caller, number }
    }

    /// The next task of the caller whose turn it is.
    pub(super) fn pop(&mut self) -> Option<Arc<dyn Job>> {
        let caller = self.turns.pop_front()?;
        let jobs = self.waiting.get_mut(&caller)?;
        let (_, job) = jobs.pop_first()?;
        self.count.dec();
        match jobs.is_empty() {
            true => drop(self.waiting.remove(&caller)),
            false => self.turns.push_back(caller),
        }
        Some(job)
    }

    /// Removes a task, if it still has its place.
    pub(super) fn remove(&mut self, place: Place) -> Option<Arc<dyn Job>> {
        let jobs = self.waiting.get_mut(&place.caller)?;
        let job = jobs.remove(&place.number);
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
