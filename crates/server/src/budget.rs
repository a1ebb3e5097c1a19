//! The memory budget: its parts, and the bytes that each caller uses of them.
//!
//! Memory that clients can make the server use is charged before it is allocated, or as bytes arrive. A [`Charge`] is given back
//! when it is dropped, so it is stored beside the bytes that it is for.

mod allowance;
mod charge;
mod records;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::sync::Notify;

pub(crate) use self::{allowance::Allowance, charge::Charge, records::charge_record};
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
    pub(crate) held: Arc<Part>,
    /// Bytes of open watches and their selectors, which may stay for a day.
    watches: Arc<Part>,
    /// Bytes that requests need while they are processed. Nothing in it waits for a client, so that it always gets free.
    pub(crate) processing: Arc<Part>,
    /// Bytes of connections, and of heads of requests.
    connections: Arc<Part>,
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
pub(crate) struct Part {
    name: PartName,
    most: usize,
    used: AtomicUsize,
    by_purpose: [AtomicUsize; Purpose::ALL.len()],
    freed: Freed,
}

/// The name of a part of the memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PartName {
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

/// The memory that one caller uses of each part.
#[derive(Debug, Default)]
pub(crate) struct CallerMemory {
    held: AtomicUsize,
    watches: AtomicUsize,
    processing: AtomicUsize,
    connections: AtomicUsize,
    freed: Freed,
    /// For each purpose, the turn of the first that waits for memory: the others are not woken when some is released.
    turns: [tokio::sync::Mutex<()>; Purpose::ALL.len()],
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
        let held = Arc::new(Part::new(PartName::Held, most / 16 * 3));
        let watches = Arc::new(Part::new(PartName::Watches, most / 8));
        let processing = Arc::new(Part::new(PartName::Processing, most / 16 * 3));
        let connections = Arc::new(Part::new(PartName::Connections, most / 5));
        Arc::new(Self { most, held, watches, processing, connections, turn: Default::default() })
    }

    /// The most memory that the process may use.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// The capacity of the work pool for which there is memory.
    pub(crate) fn work(&self) -> Capacity {
        Capacity { threads: (self.processing.most / STEP_BYTES).max(1), bytes: step_bytes(self.most) }
    }

    /// The bytes that are in use for each purpose.
    pub(crate) fn used(&self) -> impl Iterator<Item = (&'static str, usize)> {
        let parts = [&self.held, &self.watches, &self.processing, &self.connections];
        Purpose::ALL.iter().map(move |purpose| {
            let bytes = parts.iter().map(|part| part.by_purpose[*purpose as usize].load(Ordering::Relaxed));
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

impl Part {
    fn new(name: PartName, most: usize) -> Self {
        Self { name, most, used: AtomicUsize::new(0), by_purpose: Default::default(), freed: Freed::default() }
    }

    /// Adds bytes to what is used. The last quarter is kept for callers that have less than a sixteenth, so that a few callers
    /// with their halves do not lock out the others. One use that is larger than all that there is has it alone, so that small
    /// budgets keep nothing from being done.
    fn add(&self, shares: &Shares, bytes: usize) -> Result<(), Exceeded> {
        let own = shares.memory.of(self.name);
        let before = add(own, bytes, self.most.div_ceil(2)).map_err(|()| Exceeded::Caller)?;
        let reserve = match self.name {
            PartName::Connections => 0,
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
        let own = shares.memory.of(self.name).load(Ordering::SeqCst);
        own == 0 || own + bytes <= self.most.div_ceil(2)
    }

    /// Adds bytes that are there already.
    fn force(&self, shares: &Shares, bytes: usize) {
        shares.memory.of(self.name).fetch_add(bytes, Ordering::SeqCst);
        self.used.fetch_add(bytes, Ordering::SeqCst);
    }

    fn sub(&self, shares: &Shares, bytes: usize) {
        shares.memory.of(self.name).fetch_sub(bytes, Ordering::SeqCst);
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

impl CallerMemory {
    fn of(&self, name: PartName) -> &AtomicUsize {
        match name {
            PartName::Held => &self.held,
            PartName::Watches => &self.watches,
            PartName::Processing => &self.processing,
            PartName::Connections => &self.connections,
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

#[cfg(test)]
mod tests;
