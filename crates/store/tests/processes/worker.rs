//! A process that calls or watches a store, and the end of it that the test has in hand.

use std::{
    collections::HashMap,
    env,
    io::{BufRead, BufReader, Write, stdout},
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError, channel},
    },
    thread,
    time::{Duration, Instant},
};

use rustix::time::{ClockId, clock_gettime};
use wheelwright_store::{
    Cursor, ErrorKind, Key, Mark, Postgres, PostgresOptions, Prefix, Revision, Sqlite, SqliteOptions, Store,
    StoreError, Stored,
    conformance::linearizable::{Call, Outcome},
};

use crate::protocol::{Line, Told, number, value};

/// How long a process may say nothing before it counts as hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// How many calls a process makes at the same time.
const TASKS: u64 = 4;

/// What a process does.
#[derive(Clone, Debug)]
pub(crate) enum Task {
    /// Calls at random, each task so many times, for keys `PREFIX/0` and so on.
    Call { prefix: String, keys: u64, calls: u64, seed: u64 },
    /// Watches everything from a cursor until a key is created.
    Watch { from: Cursor, until: Key },
}

/// A running process.
pub(crate) struct Worker {
    child: Child,
    lines: Receiver<Line>,
    /// What it said so far.
    pub(crate) said: Vec<Line>,
}

impl Worker {
    pub(crate) fn start(address: &str, task: &Task) -> Self {
        let task = match task {
            Task::Call { prefix, keys, calls, seed } => format!("call\t{prefix}\t{keys}\t{calls}\t{seed}"),
            Task::Watch { from, until } => format!("watch\t{from}\t{until}"),
        };
        let mut child = Command::new(env::current_exe().expect("the test is a program"))
            .args(["worker", "--exact", "--nocapture"])
            .env("WHEELWRIGHT_WORKER_STORE", address)
            .env("WHEELWRIGHT_WORKER_TASK", task)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the test can start itself");
        let mut output = BufReader::new(child.stdout.take().expect("the output is a pipe"));
        let (sender, lines) = channel();
        thread::spawn(move || {
            let mut text = String::new();
            // What a process that was killed could not end with a line break was not said.
            while output.read_line(&mut text).is_ok() && text.ends_with('\n') {
                let line = Line::from_text(text.trim_end());
                if line.is_some_and(|line| sender.send(line).is_err()) {
                    break;
                }
                text.clear();
            }
        });
        Self { child, lines, said: Vec::new() }
    }

    /// Waits until it says something; none at its end.
    pub(crate) fn hear(&mut self) -> Option<&Line> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(Line::Failed(message)) => panic!("a process failed: {message}"),
            Ok(line) => {
                self.said.push(line);
                self.said.last()
            }
            Err(RecvTimeoutError::Timeout) => panic!("a process hangs"),
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }

    /// Waits for so many more answers.
    pub(crate) fn hear_answers(&mut self, count: usize) {
        self.hear_some(count, |line| matches!(line, Line::End { .. }));
    }

    /// Waits until so many more writes are acknowledged.
    pub(crate) fn hear_acknowledged(&mut self, count: usize) {
        self.hear_some(count, |line| matches!(line, Line::End { outcome: Outcome::Written(_) | Outcome::Removed, .. }));
    }

    fn hear_some(&mut self, count: usize, is_wanted: impl Fn(&Line) -> bool) {
        let mut heard = 0;
        while heard < count {
            let line = self.hear().expect("a process ended too early");
            heard += usize::from(is_wanted(line));
        }
    }

    /// Takes what it has said, without waiting.
    pub(crate) fn overhear(&mut self) {
        while let Ok(line) = self.lines.try_recv() {
            assert!(!matches!(line, Line::Failed(_)), "a process failed: {line:?}");
            self.said.push(line);
        }
    }

    /// Ends it at once (`kill -9`), and takes what it still said.
    pub(crate) fn kill(mut self) -> Vec<Line> {
        self.child.kill().expect("a process can be killed");
        while self.hear().is_some() {}
        std::mem::take(&mut self.said)
    }

    /// Waits for its end.
    pub(crate) fn join(mut self) -> Vec<Line> {
        while self.hear().is_some() {}
        let status = self.child.wait().expect("a process ends");
        assert!(status.success(), "a process ended with {status}");
        std::mem::take(&mut self.said)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may have ended; a test that failed leaves no process behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A clock that all processes of the machine share.
fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn say(line: &Line) {
    // In one piece. Whoever cannot be heard any more has nothing left to do.
    if stdout().lock().write_all(line.to_text().as_bytes()).and_then(|()| stdout().flush()).is_err() {
        std::process::exit(1);
    }
}

/// What the process does that is started as a worker, and no other.
pub(crate) fn run_if_asked() {
    let Ok(address) = env::var("WHEELWRIGHT_WORKER_STORE") else { return };
    let task = env::var("WHEELWRIGHT_WORKER_TASK").expect("a worker is told what to do");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime can be started").block_on(async {
        let store: Arc<dyn Store> = match open(&address).await {
            Ok(store) => store,
            Err(error) => return say(&Line::Failed(format!("the store does not open: {error}"))),
        };
        say(&Line::Ready);
        match task.split('\t').collect::<Vec<_>>().as_slice() {
            ["call", prefix, keys, calls, seed] => {
                let parse = |text: &str| text.parse::<u64>().expect("a number");
                let (keys, calls, seed) = (parse(keys), parse(calls), parse(seed));
                let (next, kept) = (Arc::new(AtomicU64::new(0)), Arc::<Mutex<_>>::default());
                let tasks = (0..TASKS).map(|task| {
                    let caller = Caller {
                        store: store.clone(),
                        keys: (0..keys).map(|key| Key::new(format!("{prefix}/{key}")).expect("a key")).collect(),
                        believed: HashMap::new(),
                        random: seed * TASKS + task,
                        process: seed,
                        next: next.clone(),
                        kept: kept.clone(),
                    };
                    tokio::spawn(caller.run(calls))
                });
                for task in tasks.collect::<Vec<_>>() {
                    if let Err(error) = task.await {
                        say(&Line::Failed(error.to_string()));
                    }
                }
            }
            ["watch", from, until] => watch(&*store, Cursor::new(*from), until).await,
            _ => say(&Line::Failed(format!("no such task: {task}"))),
        }
    });
}

/// Opens a store that forgets nothing. A server that is being started again is waited for.
pub(crate) async fn open(address: &str) -> Result<Arc<dyn Store>, StoreError> {
    let (began, history) = (Instant::now(), Duration::from_secs(24 * 60 * 60));
    if let Some(path) = address.strip_prefix("sqlite:") {
        return Ok(Arc::new(Sqlite::open(path, SqliteOptions { history, ..SqliteOptions::default() })?));
    }
    loop {
        match Postgres::connect(address, PostgresOptions { history, ..PostgresOptions::default() }).await {
            Ok(store) => return Ok(Arc::new(store)),
            Err(error) if error.is_passing() && began.elapsed() < PATIENCE => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Err(error) => return Err(error),
        }
    }
}

/// What was read, and where the mark was before.
type Kept = (Mark, Option<Stored>);

struct Caller {
    store: Arc<dyn Store>,
    keys: Vec<Key>,
    /// What the last answer said about a key; others may have made it untrue.
    believed: HashMap<Key, Revision>,
    random: u64,
    process: u64,
    /// The number of the next call of this process.
    next: Arc<AtomicU64>,
    /// What was read in this process.
    kept: Arc<Mutex<HashMap<Key, Kept>>>,
}

impl Caller {
    async fn run(mut self, calls: u64) {
        for _ in 0..calls {
            let random = self.random();
            let key = self.keys[(random >> 32) as usize % self.keys.len()].clone();
            let count = self.next.fetch_add(1, Ordering::Relaxed);
            let value = self.process << 32 | count;
            let call = match (random % 8, self.believed.get(&key).cloned()) {
                (0 | 1, _) => Call::Get,
                (2, Some(expected)) => Call::Delete { expected },
                (_, Some(expected)) => Call::Replace { expected, value },
                (_, None) => Call::Create { value },
            };
            say(&Line::Begin { id: count, began: now(), key: key.clone(), call: call.clone() });
            match self.make(&key, &call).await {
                Ok(outcome) => {
                    say(&Line::End { id: count, ended: now(), outcome: outcome.clone() });
                    self.believe(key, outcome);
                }
                Err(error) if matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::Throttled(_)) => {
                    say(&Line::Nothing { id: count });
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                Err(error) if *error.kind() == ErrorKind::Unknown => {
                    say(&Line::End { id: count, ended: now(), outcome: Outcome::Unknown });
                    self.believed.remove(&key);
                }
                Err(error) => say(&Line::Failed(format!("{call:?} of {key}: {:?}: {error}", error.kind()))),
            }
        }
    }

    async fn make(&self, key: &Key, call: &Call) -> Result<Outcome, StoreError> {
        let written = match call {
            Call::Get => {
                let Some(stored) = self.get(key).await? else { return Ok(Outcome::Found(None)) };
                return match number(&stored.value) {
                    Ok(value) => Ok(Outcome::Found(Some((stored.revision, value)))),
                    Err(problem) => Err(StoreError::new(ErrorKind::Corrupt, problem)),
                };
            }
            Call::Create { value: written } => self.store.create(key, value(*written)).await.map(Outcome::Written),
            Call::Replace { expected, value: written } => {
                self.store.replace(key, expected, value(*written)).await.map(Outcome::Written)
            }
            Call::Delete { expected } => self.store.delete(key, expected).await.map(|()| Outcome::Removed),
        };
        written.or_else(|error| match error.kind() {
            ErrorKind::Exists => Ok(Outcome::Exists),
            ErrorKind::Missing => Ok(Outcome::Missing),
            ErrorKind::Conflict(revision) => Ok(Outcome::Conflict(revision.clone())),
            _ => Err(error),
        })
    }

    /// Reads as somebody does who keeps what was read until the mark has moved: nobody can tell the difference.
    async fn get(&self, key: &Key) -> Result<Option<Stored>, StoreError> {
        let mark = self.store.mark();
        let kept = self.kept.lock().expect("nobody panics").get(key).cloned();
        if let Some((_, stored)) = kept.filter(|(kept_at, _)| mark == Some(*kept_at)) {
            return Ok(stored);
        }
        let stored = self.store.get(key).await?;
        if let Some(mark) = mark {
            self.kept.lock().expect("nobody panics").insert(key.clone(), (mark, stored.clone()));
        }
        Ok(stored)
    }

    fn believe(&mut self, key: Key, outcome: Outcome) {
        match outcome {
            Outcome::Found(Some((revision, _))) | Outcome::Written(revision) | Outcome::Conflict(revision) => {
                self.believed.insert(key, revision);
            }
            Outcome::Exists => {}
            _ => drop(self.believed.remove(&key)),
        }
    }

    fn random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.random ^ (self.random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ (mixed >> 27)
    }
}

async fn watch(store: &dyn Store, from: Cursor, until: &str) {
    let mut cursor = from;
    loop {
        let Err(error) = tell(store, &mut cursor, until).await else { return };
        if !error.is_passing() {
            return say(&Line::Failed(format!("a watch: {error}")));
        }
    }
}

/// Tells what happens, until something is in the way; the cursor is after what was told.
async fn tell(store: &dyn Store, cursor: &mut Cursor, until: &str) -> Result<(), StoreError> {
    let mut watch = store.watch(&Prefix::all(), cursor).await?;
    loop {
        let event = watch.next().await?;
        *cursor = event.cursor.clone();
        match Told::new(&event) {
            Ok(_) if event.key.as_str() == until => return Ok(()),
            Ok(told) => say(&Line::Told(told)),
            Err(problem) => say(&Line::Failed(problem)),
        }
    }
}
