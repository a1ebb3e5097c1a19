//! The connections that there are, so that idle ones make room for others.

mod callers;
#[cfg(test)]
mod tests;

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{sync::Notify, time::Instant};

use crate::{
    Limits,
    budget::Charge,
    cut::{Reason, report},
    progress::Progress,
    share::Shares,
};

use self::callers::IdleByCaller;

/// How long nobody is looked for to make room after none was found.
const FULL: Duration = Duration::from_millis(20);

/// Bytes of a head that every connection has room for.
const BUFFER: usize = 8 << 10;

/// Bytes of memory that a byte of an unfinished head of HTTP/2 may take, divided by two: it can stand for a field, which is
/// in the decoded head and in the room that this grows by.
const DECODED: usize = 64;

/// Bytes of a body that a client may send before the server reads it, for each request of HTTP/2.
pub(crate) const WINDOW: u32 = 64 << 10;

/// All connections of a server.
///
/// Each keeps its own state, so that requests of different connections have nothing to wait for; whoever wants to know of all
/// of them goes from one to the next.
#[derive(Debug)]
pub(crate) struct Connections {
    known: Mutex<HashMap<usize, Arc<Member>>>,
    queue: Mutex<Queue>,
    count: AtomicUsize,
    next: AtomicUsize,
    times: Times,
    most: usize,
    /// Those of callers that have half of the memory for connections.
    idle_by_caller: Mutex<IdleByCaller>,
    /// The most bytes of a connection that are read and not processed.
    most_buffered: usize,
}

/// How long a connection may take over what.
#[derive(Debug)]
struct Times {
    head: Duration,
    idle: Duration,
    answer: Duration,
    stall: Duration,
}

/// The connections that may have to make room, with until when they may be idle.
#[derive(Debug, Default)]
struct Queue {
    /// Those that have not made a request yet.
    fresh: BTreeMap<(Instant, usize), Arc<Member>>,
    /// Those that were idle when all were last looked through. Whose time is up first comes last.
    idle: Vec<(Instant, Arc<Member>)>,
    /// When nobody was idle.
    was_full: Option<Instant>,
    /// Those with unfinished heads when all were last looked through, the longest last.
    heads: Vec<(usize, Arc<Member>)>,
    /// When they were.
    heads_seen: Option<Instant>,
}

/// A connection as the others know it.
#[derive(Debug)]
struct Member {
    state: Mutex<State>,
    leave: Notify,
    /// The caller that its memory is charged to, once it is.
    caller: OnceLock<Arc<Shares>>,
}

#[derive(Debug, Default)]
struct State {
    /// The requests that it is busy with.
    open: Vec<Open>,
    /// How many there were.
    requests: usize,
    /// Whether it has several at a time: then not all that comes is of a request.
    is_multiplexed: bool,
    /// When it will have been idle for too long. None while it is busy, and once it was asked to leave.
    idle_until: Option<Instant>,
    /// Where it is among those that have not made a request yet.
    fresh_until: Option<Instant>,
    /// It was asked to leave.
    is_leaving: bool,
    /// A client took too long over an answer.
    is_late: bool,
    /// Bytes of an unfinished head: of HTTP/1, what was read since the last request began and is not of its body.
    head: usize,
    /// The most bytes that came at once: buffers grow with them.
    most_at_once: usize,
}

/// A request that is being answered. Whoever takes too long over the answer, or takes none of it for too long, has to leave.
#[derive(Debug)]
struct Open {
    number: usize,
    progress: Arc<Progress>,
    /// None if it may take as long as it likes.
    until: Option<Instant>,
    /// Which step was the client's to take when it was last seen to get on, and when that was.
    seen: (Option<usize>, Instant),
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Connection {
    all: Arc<Connections>,
    number: usize,
    member: Arc<Member>,
}

/// A request that a connection is busy with.
#[derive(Debug)]
pub(crate) struct Busy {
    connection: Arc<Connection>,
    /// Which one it is among those of the connection.
    number: usize,
    began: Instant,
    progress: Arc<Progress>,
    _charge: Option<Charge>,
}

impl Connections {
    pub(crate) fn new(limits: &Limits) -> Arc<Self> {
        let times = Times {
            head: limits.head_time,
            idle: limits.idle_time,
            answer: limits.answer_time,
            stall: limits.stall_time,
        };
        Arc::new(Self {
            known: Mutex::default(),
            queue: Mutex::default(),
            count: AtomicUsize::new(0),
            next: AtomicUsize::new(0),
            times,
            most: limits.connections,
            idle_by_caller: Mutex::default(),
            most_buffered: limits.head_bytes + WINDOW as usize,
        })
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// A new connection, for which an idle one may have to leave; none if all are busy.
    pub(crate) fn enter(self: &Arc<Self>) -> Option<Arc<Connection>> {
        if self.count() >= self.most && !self.dismiss_one() {
            return None;
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        // Whoever says nothing at all has less time than whoever has said something.
        let until = Instant::now() + self.times.head;
        let state = State { idle_until: Some(until), fresh_until: Some(until), ..State::default() };
        let member = Arc::new(Member { state: Mutex::new(state), leave: Notify::new(), caller: OnceLock::new() });
        locked(&self.queue).fresh.insert((until, number), member.clone());
        locked(&self.known).insert(number, member.clone());
        Some(Arc::new(Connection { all: self.clone(), number, member }))
    }

    /// Asks an idle connection to leave.
    pub(crate) fn dismiss_one(&self) -> bool {
        let queue = &mut *locked(&self.queue);
        if queue.was_full.is_some_and(|then| then.elapsed() < FULL) {
            return false;
        }
        let many = self.most / 8;
        if queue.idle.is_empty() && queue.fresh.len() <= many {
            queue.idle = self.idle();
        }
        let is_found = queue.dismiss_one(many) || {
            queue.idle = self.idle();
            queue.dismiss_one(many)
        };
        queue.was_full = (!is_found).then(Instant::now);
        is_found
    }

    /// The idle ones that have made a request, and last whose time is up first.
    fn idle(&self) -> Vec<(Instant, Arc<Member>)> {
        let known = locked(&self.known);
        let idle = |member: &Arc<Member>| {
            let state = locked(&member.state);
            state.idle_until.filter(|_| state.fresh_until.is_none()).map(|until| (until, member.clone()))
        };
        let mut idle: Vec<_> = known.values().filter_map(idle).collect();
        idle.sort_unstable_by_key(|(until, _)| Reverse(*until));
        idle
    }

    fn buffered(&self, state: &State) -> usize {
        // A buffer may be twice as long as what is in it.
        let bytes = 2 * state.head.max(state.most_at_once).min(self.most_buffered);
        bytes.saturating_sub(2 * BUFFER)
    }

    /// Asks the connection with the longest unfinished head to leave.
    fn dismiss_longest_head(&self) {
        let queue = &mut *locked(&self.queue);
        if queue.heads.is_empty() && queue.heads_seen.is_none_or(|seen| seen.elapsed() >= FULL) {
            queue.heads_seen = Some(Instant::now());
            let known = locked(&self.known);
            let length = |member: &Arc<Member>| locked(&member.state).unfinished_head();
            queue.heads = known.values().filter_map(|member| Some((length(member)?, member.clone()))).collect();
            queue.heads.sort_unstable_by_key(|(length, _)| *length);
        }
        while let Some((_, member)) = queue.heads.pop() {
            if member.dismiss_unfinished() {
                report(Reason::Head);
                return;
            }
        }
    }

    /// It has made a request, or is gone.
    fn no_longer_fresh(&self, number: usize, until: Instant) {
        locked(&self.queue).fresh.remove(&(until, number));
    }

    /// Asks those to leave that have been idle or taken an answer for too long, again and again.
    pub(crate) async fn dismiss_late(&self) {
        loop {
            tokio::time::sleep(Duration::from_millis(500)).await;
            let now = Instant::now();
            let members: Vec<Arc<Member>> = locked(&self.known).values().cloned().collect();
            for member in members {
                member.dismiss(now);
                let mut state = locked(&member.state);
                let is_late = state.open.iter_mut().any(|open| open.is_late(now, self.times.stall));
                if is_late {
                    member.leave.notify_one();
                }
                state.is_late |= is_late;
                if is_late && !state.is_leaving {
                    state.is_leaving = true;
                    report(Reason::Slow);
                }
            }
        }
    }
}

impl Queue {
    /// Asks one to leave: of those that have not made a request yet if there are many, and else of those that have, always the
    /// one whose time is up first. So a crowd that says nothing pushes out itself, and whoever is about to speak is let.
    fn dismiss_one(&mut self, many: usize) -> bool {
        loop {
            let is_crowd = self.fresh.len() > many || self.idle.is_empty();
            let next = match is_crowd.then(|| self.fresh.pop_first()).flatten() {
                Some(((until, _), member)) => Some((until, member)),
                None => self.idle.pop(),
            };
            let Some((until, member)) = next else { return false };
            // Whoever was busy since it was looked at may be idle for longer now.
            if member.dismiss(until) {
                return true;
            }
        }
    }
}

impl State {
    /// The length of a head that has begun and is long enough to matter.
    fn unfinished_head(&self) -> Option<usize> {
        (self.head > BUFFER && self.open.is_empty() && !self.is_leaving).then_some(self.head)
    }
}

impl Member {
    /// Asks it to leave if it has an unfinished head.
    fn dismiss_unfinished(&self) -> bool {
        let mut state = locked(&self.state);
        let is_meant = state.unfinished_head().is_some();
        if is_meant {
            state.is_leaving = true;
            state.idle_until = None;
            self.leave.notify_one();
        }
        is_meant
    }

    /// Asks it to leave if it may be idle no longer than until then.
    fn dismiss(&self, until: Instant) -> bool {
        let mut state = locked(&self.state);
        let is_meant = state.idle_until.take_if(|own| *own <= until).is_some();
        if is_meant {
            state.is_leaving = true;
            self.leave.notify_one();
        }
        is_meant
    }
}

impl Connection {
    /// Once it is asked to leave.
    pub(crate) async fn dismissed(&self) {
        self.member.leave.notified().await;
    }

    /// Whether it was asked to leave because a client took too long over an answer.
    pub(crate) fn is_late(&self) -> bool {
        locked(&self.member.state).is_late
    }

    /// Sets the caller that its memory is charged to.
    pub(crate) fn set_caller(&self, shares: &Arc<Shares>) {
        let _ = self.member.caller.set(shares.clone());
    }

    /// Counts bytes that were read; of HTTP/2, with the length of the unfinished head at their end. Returns how much memory
    /// the buffers of the connection take for what it has read, beyond what every connection has.
    ///
    /// There is little time for the rest of a head that they begin. Bytes of HTTP/1 that are read while the connection is
    /// busy may belong to the body of the request before.
    pub(crate) fn has_read(&self, bytes: usize, multiplexed_head: Option<usize>) -> usize {
        let state = &mut *locked(&self.member.state);
        state.most_at_once = state.most_at_once.max(bytes);
        match multiplexed_head {
            Some(head) => state.head = head.saturating_mul(DECODED),
            None if state.open.is_empty() => state.head += bytes,
            None => {}
        }
        if let Some(until) = state.idle_until.as_mut().filter(|_| !state.is_multiplexed) {
            *until = (*until).min(Instant::now() + self.all.times.head);
        }
        self.all.buffered(state)
    }

    /// How much memory its buffers take for what it has read, beyond what every connection has.
    pub(crate) fn buffered(&self) -> usize {
        self.all.buffered(&locked(&self.member.state))
    }

    /// Asks the connection with the longest unfinished head to leave, which may be this one.
    pub(crate) fn dismiss_longest_head(&self) {
        self.all.dismiss_longest_head();
    }

    /// Whether a request of it is being answered.
    pub(crate) fn is_busy(&self) -> bool {
        !locked(&self.member.state).open.is_empty()
    }

    /// It is busy until what this gives is dropped, with a request that may be one of several, each charged by itself.
    pub(crate) fn busy(self: &Arc<Self>, is_multiplexed: bool, charge: Option<Charge>) -> Busy {
        let (now, progress) = (Instant::now(), Arc::new(Progress::default()));
        let until = Some(now + self.all.times.answer);
        let mut state = locked(&self.member.state);
        state.idle_until = None;
        let was_fresh = state.fresh_until.take();
        state.is_multiplexed = is_multiplexed;
        state.requests += 1;
        state.head = 0;
        let number = state.requests;
        state.open.push(Open { number, progress: progress.clone(), until, seen: (None, now) });
        drop(state);
        if let Some(until) = was_fresh {
            self.all.no_longer_fresh(self.number, until);
        }
        Busy { connection: self.clone(), number, began: now, progress, _charge: charge }
    }
}

impl Busy {
    /// It may take as long as it likes, as watches do.
    pub(crate) fn for_long(self) -> Self {
        let mut state = locked(&self.connection.member.state);
        if let Some(open) = state.open.iter_mut().find(|open| open.number == self.number) {
            open.until = None;
        }
        drop(state);
        self
    }

    /// When the request was there.
    pub(crate) fn began(&self) -> Instant {
        self.began
    }

    /// How far the client is with the answer.
    pub(crate) fn progress(&self) -> &Progress {
        &self.progress
    }
}

impl Open {
    /// Whether it has taken too long, or nothing of it was taken for too long.
    fn is_late(&mut self, now: Instant, stall_time: Duration) -> bool {
        let step = self.progress.offered_step();
        if step.is_none() || step != self.seen.0 {
            self.seen = (step, now);
        }
        self.until.is_some_and(|until| until <= now) || now - self.seen.1 >= stall_time
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let connection = &self.connection;
        let state = &mut *locked(&connection.member.state);
        state.open.retain(|open| open.number != self.number);
        if state.open.is_empty() && !state.is_leaving {
            state.idle_until = Some(Instant::now() + connection.all.times.idle);
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.all.count.fetch_sub(1, Ordering::Relaxed);
        locked(&self.all.known).remove(&self.number);
        let mut state = locked(&self.member.state);
        // Nobody need look for it to make room.
        state.idle_until = None;
        let was_fresh = state.fresh_until.take();
        drop(state);
        if let Some(until) = was_fresh {
            self.all.no_longer_fresh(self.number, until);
        }
    }
}

/// What is under a lock is whole at all times, also if somebody panicked with it.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
