//! The connections that there are, so that idle ones make room for others.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{sync::Notify, time::Instant};

use crate::{Limits, progress::Progress};

/// All connections of a server.
#[derive(Debug)]
pub(crate) struct Connections {
    /// The idle ones, by when they have been so for too long. Who comes first there goes first if there is no room.
    idle: Mutex<BTreeMap<(Instant, usize), Arc<Notify>>>,
    /// The requests that they are busy with.
    open: Mutex<HashMap<usize, Open>>,
    count: AtomicUsize,
    next: AtomicUsize,
    most: usize,
    head_time: Duration,
    idle_time: Duration,
    answer_time: Duration,
    stall_time: Duration,
}

/// A request that is being answered. Whoever takes too long over the answer, or takes none of it for too long, has to leave.
#[derive(Debug)]
struct Open {
    leave: Arc<Notify>,
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
    state: Mutex<State>,
    leave: Arc<Notify>,
}

#[derive(Debug)]
struct State {
    /// How many requests it has open.
    busy: usize,
    /// Where it is among the idle ones.
    idle_until: Option<Instant>,
}

/// A request that a connection is busy with.
#[derive(Debug)]
pub(crate) struct Busy {
    connection: Arc<Connection>,
    /// Which one it is among all that are open.
    number: usize,
    progress: Arc<Progress>,
}

impl Connections {
    pub(crate) fn new(limits: &Limits) -> Arc<Self> {
        Arc::new(Self {
            idle: Mutex::default(),
            open: Mutex::default(),
            count: AtomicUsize::new(0),
            next: AtomicUsize::new(0),
            most: limits.connections,
            head_time: limits.head_time,
            idle_time: limits.idle_time,
            answer_time: limits.answer_time,
            stall_time: limits.stall_time,
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
        let state = Mutex::new(State { busy: 0, idle_until: None });
        let connection = Arc::new(Connection { all: self.clone(), number, state, leave: Arc::default() });
        // Whoever says nothing at all has less time than whoever has said something.
        connection.become_idle(&mut locked(&connection.state), self.head_time);
        Some(connection)
    }

    /// Asks the idle connection whose time is up first to leave.
    pub(crate) fn dismiss_one(&self) -> bool {
        locked(&self.idle).pop_first().map(|(_, leave)| leave.notify_one()).is_some()
    }

    /// Asks those to leave that have been idle for too long, again and again.
    pub(crate) async fn dismiss_idle(&self) {
        loop {
            tokio::time::sleep(Duration::from_millis(500)).await;
            let now = Instant::now();
            let mut idle = locked(&self.idle);
            while let Some(first) = idle.first_entry().filter(|first| first.key().0 <= now) {
                first.remove().notify_one();
            }
            drop(idle);
            for open in locked(&self.open).values_mut() {
                if open.is_late(now, self.stall_time) {
                    open.leave.notify_one();
                }
            }
        }
    }
}

impl Connection {
    /// Once it is asked to leave.
    pub(crate) async fn dismissed(&self) {
        self.leave.notified().await;
    }

    /// It is busy until what this gives is dropped.
    pub(crate) fn busy(self: &Arc<Self>) -> Busy {
        let mut state = locked(&self.state);
        state.busy += 1;
        if let Some(until) = state.idle_until.take() {
            locked(&self.all.idle).remove(&(until, self.number));
        }
        let (number, now) = (self.all.next.fetch_add(1, Ordering::Relaxed), Instant::now());
        let progress = Arc::new(Progress::default());
        let until = Some(now + self.all.answer_time);
        let open = Open { leave: self.leave.clone(), progress: progress.clone(), until, seen: (None, now) };
        locked(&self.all.open).insert(number, open);
        Busy { connection: self.clone(), number, progress }
    }

    fn become_idle(&self, state: &mut State, time: Duration) {
        let until = Instant::now() + time;
        state.idle_until = Some(until);
        locked(&self.all.idle).insert((until, self.number), self.leave.clone());
    }
}

impl Busy {
    /// It may take as long as it likes, as watches do.
    pub(crate) fn for_long(self) -> Self {
        if let Some(open) = locked(&self.connection.all.open).get_mut(&self.number) {
            open.until = None;
        }
        self
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
        locked(&self.connection.all.open).remove(&self.number);
        let connection = &self.connection;
        let mut state = locked(&connection.state);
        state.busy -= 1;
        if state.busy == 0 {
            connection.become_idle(&mut state, connection.all.idle_time);
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.all.count.fetch_sub(1, Ordering::Relaxed);
        if let Some(until) = locked(&self.state).idle_until {
            locked(&self.all.idle).remove(&(until, self.number));
        }
    }
}

/// What is under a lock is whole at all times, also if somebody panicked with it.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connections(most: usize) -> Arc<Connections> {
        Connections::new(&Limits { connections: most, ..Limits::default() })
    }

    async fn is_dismissed(connection: &Connection) -> bool {
        tokio::time::timeout(Duration::from_millis(1), connection.dismissed()).await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn an_idle_connection_makes_room_and_a_busy_one_does_not() {
        let all = connections(2);
        let (one, two) = (all.enter().unwrap(), all.enter().unwrap());
        let (busy_one, busy_two) = (one.busy(), two.busy());
        assert!(all.enter().is_none(), "all are busy");
        drop(busy_two);
        let three = all.enter().unwrap();
        assert!(is_dismissed(&two).await);
        assert!(!is_dismissed(&one).await && !is_dismissed(&three).await);
        drop((busy_one, one, two, three));
        assert_eq!((all.count(), locked(&all.idle).len()), (0, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn who_never_said_anything_goes_before_who_did() {
        let all = connections(2);
        let (used, fresh) = (all.enter().unwrap(), all.enter().unwrap());
        drop(used.busy());
        let _new = all.enter().unwrap();
        assert!(is_dismissed(&fresh).await && !is_dismissed(&used).await);
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_takes_an_answer_drop_by_drop_has_to_leave_and_whoever_watches_has_not() {
        let all = connections(9);
        let (slow, watching) = (all.enter().unwrap(), all.enter().unwrap());
        let (_slow, _watching) = (slow.busy(), watching.busy().for_long());
        let sweeper = tokio::spawn({
            let all = all.clone();
            async move { all.dismiss_idle().await }
        });
        tokio::time::sleep(Duration::from_secs(200)).await;
        assert!(!is_dismissed(&slow).await);
        tokio::time::sleep(Duration::from_secs(200)).await;
        assert!(is_dismissed(&slow).await && !is_dismissed(&watching).await);
        sweeper.abort();
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_takes_nothing_of_an_answer_has_to_leave_and_whoever_waits_for_us_has_not() {
        let all = connections(9);
        let connected: Vec<_> = (0..3).map(|_| all.enter().unwrap()).collect();
        let busy: Vec<_> = connected.iter().map(|connection| connection.busy().for_long()).collect();
        let [deaf, slow, ours] = &busy[..] else { unreachable!() };
        deaf.progress().offer();
        let sweeper = tokio::spawn({
            let all = all.clone();
            async move { all.dismiss_idle().await }
        });
        for _ in 0..5 {
            slow.progress().offer();
            tokio::time::sleep(Duration::from_secs(20)).await;
            slow.progress().take();
            slow.progress().offer();
        }
        assert!(is_dismissed(&connected[0]).await);
        assert!(!is_dismissed(&connected[1]).await && !is_dismissed(&connected[2]).await);
        assert_eq!(ours.progress().offered_step(), None);
        sweeper.abort();
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_is_idle_for_too_long_has_to_leave() {
        let all = connections(9);
        let (used, fresh) = (all.enter().unwrap(), all.enter().unwrap());
        drop(used.busy());
        let sweeper = tokio::spawn({
            let all = all.clone();
            async move { all.dismiss_idle().await }
        });
        tokio::time::sleep(Duration::from_secs(12)).await;
        assert!(is_dismissed(&fresh).await && !is_dismissed(&used).await);
        tokio::time::sleep(Duration::from_secs(200)).await;
        assert!(is_dismissed(&used).await);
        sweeper.abort();
    }
}
