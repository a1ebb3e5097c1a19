//! The task that writes: what is asked for at once is decided together and committed once.
//!
//! Every transaction first locks the row of the head, and keeps that lock until it has committed. So a transaction reads the
//! head, and takes the numbers after it, only after all smaller numbers are committed: whoever sees a revision sees all
//! before it, there are no gaps, and a watcher that reads the log by number misses nothing although many processes write.

use std::{
    collections::HashMap,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, sleep_until, timeout, timeout_at},
};
use tokio_postgres::{
    Client, Error,
    types::{ToSql, Type},
};

use super::{
    Shared,
    connection::{Backoff, Parameters},
    failure, news,
    rows::{self, Head},
    tables,
    trail::{Step, Trace},
};
use crate::{
    ErrorKind, Key, StoreError,
    log::{Action, Newest, Write},
    room::Place,
    sum,
};

/// The most writes of a transaction, and the bytes of values after which it is full.
const BATCH_WRITES: usize = 512;
const BATCH_BYTES: usize = 8 << 20;
/// How often a transaction is tried that stands in the way of others.
const ATTEMPTS: usize = 10;

/// Something to do, and who waits for the revision that it makes.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) order: Order,
    pub(super) answer: oneshot::Sender<Answer>,
    #[expect(dead_code, reason = "it is there to be dropped with the rest")]
    pub(super) place: Place,
    /// When it was asked.
    pub(super) asked: Instant,
}

type Answer = Result<u64, StoreError>;

/// What to do.
#[derive(Debug)]
pub(super) enum Order {
    Write(Key, Write),
    /// Write nothing, but see whether that can be done.
    Check,
    /// Forget how things were before now.
    Forget,
}

#[derive(Debug)]
pub(super) struct Writer {
    pub(super) shared: Arc<Shared>,
    pub(super) client: Option<Arc<Client>>,
    backoff: Backoff,
    /// Has one thing in it while others have yet to be told of something new.
    untold: mpsc::Sender<()>,
}

/// Why a transaction did not do.
#[derive(Debug)]
pub(super) enum Trouble {
    /// It stood in the way of others, and was undone.
    Again(StoreError),
    /// The connection was lost before the end of the transaction was sent, which may be tried over another one.
    Lost(StoreError),
    /// The connection is of no use any more, and it is too late to try again.
    Ended(StoreError),
    /// The server refused it, and it was undone.
    Refused(StoreError),
}

/// What a transaction does.
struct Plan<'a> {
    head: Head,
    rows: Vec<NewRow<'a>>,
    answers: Vec<Answer>,
    is_check: bool,
}

struct NewRow<'a> {
    key: &'a Key,
    action: Action,
    value: Option<&'a [u8]>,
    /// Whose value it has if it brings none.
    earlier: Option<i64>,
}

/// What a key has while a transaction is planned.
#[derive(Clone, Copy)]
struct Current<'a> {
    newest: Newest,
    /// Known if it was written by the same transaction.
    value: Option<&'a [u8]>,
}

impl Writer {
    pub(super) fn new(shared: Arc<Shared>, client: Client) -> Self {
        let (untold, news) = mpsc::channel(1);
        if shared.options.hints {
            tokio::spawn(news::tell(shared.clone(), news));
        }
        Self { shared, client: Some(Arc::new(client)), backoff: Backoff::default(), untold }
    }

    /// Works until nobody can ask for anything any more.
    pub(super) async fn run(mut self, mut queue: mpsc::UnboundedReceiver<Request>) {
        let pause = (self.shared.options.history / 10).clamp(Duration::from_millis(100), Duration::from_secs(30));
        let mut next_cleaning = Instant::now() + pause;
        loop {
            let request = tokio::select! {
                request = queue.recv() => request,
                () = sleep_until(next_cleaning) => {
                    let is_more = self.forget_old().await.unwrap_or_else(|error| {
                        self.examine(&error);
                        false
                    });
                    next_cleaning = Instant::now() + if is_more { Duration::ZERO } else { pause };
                    continue;
                }
            };
            let Some(request) = request else { return };
            let (batch, forgets) = gather(request, &mut queue);
            if !batch.is_empty() {
                self.write(batch).await;
            }
            for answer in forgets {
                let outcome = self.forget_all().await;
                drop(answer.send(outcome.map(|()| 0)));
            }
        }
    }

    async fn write(&mut self, batch: Vec<Request>) {
        let outcome = match self.shared.structure.check_sound() {
            Ok(()) => self.transact(&batch).await,
            damaged => damaged.map(|()| Vec::new()),
        };
        if let Err(error) = &outcome
            && *error.kind() == ErrorKind::Full
        {
            self.shared.is_full.store(true, Ordering::Relaxed);
        }
        if let Err(error) = &outcome {
            self.examine(error);
        }
        // Whoever asked may be gone.
        match outcome {
            Ok(answers) => {
                batch.into_iter().zip(answers).for_each(|(request, answer)| drop(request.answer.send(answer)));
            }
            Err(error) => batch.into_iter().for_each(|request| drop(request.answer.send(Err(copy(&error))))),
        }
    }

    /// Checks the tables in the background after a failure that damage may explain.
    fn examine(&self, error: &StoreError) {
        let shared = self.shared.clone();
        if *error.kind() == ErrorKind::Corrupt && self.shared.structure.check_sound().is_ok() {
            tokio::spawn(async move { shared.check_after_write().await });
        }
    }

    /// Commits what a batch asks for, and gives the answers.
    async fn transact(&mut self, batch: &[Request]) -> Result<Vec<Answer>, StoreError> {
        let patience = self.shared.connector.patience;
        let asked = batch.iter().map(|request| request.asked).min().unwrap_or_else(Instant::now);
        // A connection that does not answer costs no more than the patience, from when the first of them asked. The last quarter
        // is for finding out what became of a commit, and none of the parts has less than that.
        let part = |end: Duration| move || (asked + end).max(Instant::now() + patience / 4);
        let (work_end, end) = (part(patience / 4 * 3), part(patience));
        let mut is_second_connection = false;
        let mut attempt = 1;
        loop {
            let client = timeout_at(work_end(), self.client()).await.map_err(|_| failure::too_slow())??;
            let trouble = match self.attempt(&client, batch, &work_end).await {
                Ok(answers) => {
                    self.backoff.reset();
                    return Ok(answers);
                }
                Err(trouble) => trouble,
            };
            match trouble {
                Trouble::Again(_) if attempt < ATTEMPTS => {
                    self.undo(&client).await;
                    self.backoff.fail();
                    self.backoff.wait().await;
                    attempt += 1;
                }
                Trouble::Lost(_) if !is_second_connection => {
                    self.client = None;
                    is_second_connection = true;
                }
                Trouble::Lost(error) | Trouble::Ended(error) => {
                    self.client = None;
                    if *error.kind() == ErrorKind::Unknown {
                        // Nobody should have to wait for ever for a server that does not come back, or whose commit waits for
                        // another server.
                        if timeout_at(end(), self.settle()).await.is_err() {
                            // It may wait for the lock still. Without a client, it ends as soon as it has that.
                            self.client = None;
                        }
                    }
                    return Err(error);
                }
                Trouble::Again(error) | Trouble::Refused(error) => {
                    self.undo(&client).await;
                    return Err(error);
                }
            }
        }
    }

    /// Waits until a transaction whose end is not known has ended: whoever reads after this sees what became of it.
    ///
    /// The server may be committing it still, or be about to find it in its log after a crash, while a read sees how things
    /// were before. It has the lock of the head until it has ended, so whoever gets that lock comes after it.
    async fn settle(&mut self) {
        loop {
            // Waits by itself, longer after each failure.
            let Ok(client) = self.client().await else { continue };
            let (begun, locked) = tokio::join!(
                biased;
                client.batch_execute(tables::BEGIN),
                client.query_typed(&self.shared.statements.lock_head, &[]),
            );
            self.undo(&client).await;
            // Also a lock that the server's patience ended with is one that somebody has.
            match begun.and(locked) {
                Ok(_) => return,
                Err(error) if failure::is_lost(&error) => self.client = None,
                Err(_) => {
                    self.backoff.fail();
                    self.backoff.wait().await;
                }
            }
        }
    }

    async fn attempt(
        &self,
        client: &Client,
        batch: &[Request],
        end: impl Fn() -> Instant,
    ) -> Result<Vec<Answer>, Trouble> {
        let plan = timeout_at(end(), self.plan(client, batch)).await;
        let plan = plan.map_err(|_| Trouble::Ended(failure::too_slow()))??;
        if plan.rows.is_empty() && !plan.is_check {
            // The answers were right while the head was locked, whatever becomes of the connection.
            let _ = timeout_at(end(), client.batch_execute("ROLLBACK")).await;
            return Ok(plan.answers);
        }
        let done = timeout_at(end(), self.carry_out(client, &plan)).await;
        done.map_err(|_| Trouble::Ended(unknown("the database did not answer in time")))??;
        if !plan.rows.is_empty() {
            self.shared.is_full.store(false, Ordering::Relaxed);
            self.shared.news.learn(plan.head.revision + plan.rows.len() as u64);
            // If it is full, then what is about to be told is told of this too; if it is closed, nobody is told.
            let _ = self.untold.try_send(());
        }
        Ok(plan.answers)
    }

    /// Locks the head and decides what is written. All questions are sent at once.
    async fn plan<'b>(&self, client: &Client, batch: &'b [Request]) -> Result<Plan<'b>, Trouble> {
        let mut keys: Vec<&[u8]> =
            batch.iter().filter_map(|request| Some(request.order.key()?.as_str().as_bytes())).collect();
        keys.sort_unstable();
        keys.dedup();
        let statements = &self.shared.statements;
        let newest: &Parameters<'_> = &[(&keys, Type::BYTEA_ARRAY)];
        let (begun, head, newest) = tokio::join!(
            biased;
            client.batch_execute(tables::BEGIN),
            client.query_typed(&statements.lock_head, &[]),
            client.query_typed(&statements.newest, newest),
        );
        begun.map_err(before_commit)?;
        let (head, newest) = (head.map_err(before_commit)?, newest.map_err(before_commit)?);
        tables::check_lock(&head).map_err(Trouble::Refused)?;
        let head = rows::head(&head).map_err(Trouble::Refused)?;
        let mut current = HashMap::with_capacity(newest.len());
        for row in &newest {
            let key: Vec<u8> = row.try_get(0).map_err(of_answer)?;
            let revision = rows::revision(row, 1).map_err(Trouble::Refused)?;
            let action = rows::action(row, 2).map_err(Trouble::Refused)?;
            current.insert(key, Current { newest: Newest { revision, action }, value: None });
        }
        Ok(decide(batch, head, current))
    }

    /// Appends the rows and commits. All of it is sent at once: if one of the statements fails, the commit undoes the rest.
    async fn carry_out(&self, client: &Client, plan: &Plan<'_>) -> Result<(), Trouble> {
        let first = plan.head.revision + 1;
        let revisions: Vec<i64> = (first..).zip(&plan.rows).map(|(revision, _)| revision as i64).collect();
        let keys: Vec<&[u8]> = plan.rows.iter().map(|row| row.key.as_str().as_bytes()).collect();
        let actions: Vec<i16> = plan.rows.iter().map(|row| row.action as i16).collect();
        let values: Vec<Option<&[u8]>> = plan.rows.iter().map(|row| row.value).collect();
        let earlier: Vec<Option<i64>> = plan.rows.iter().map(|row| row.earlier).collect();
        let sums: Vec<i64> = (first..)
            .zip(&plan.rows)
            .map(|(revision, row)| sum::of_parts(revision, row.key.as_str(), row.action, row.value))
            .collect();
        let mut rows: Vec<(&(dyn ToSql + Sync), Type)> = vec![
            (&revisions, Type::INT8_ARRAY),
            (&keys, Type::BYTEA_ARRAY),
            (&actions, Type::INT2_ARRAY),
            (&values, Type::BYTEA_ARRAY),
            (&earlier, Type::INT8_ARRAY),
        ];
        if self.shared.statements.has_sums {
            rows.push((&sums, Type::INT8_ARRAY));
        }
        let traces = plan.rows.iter().map(|row| Trace::of(row.key, row.action));
        let step = Step::new(first, plan.head.compacted, traces);
        let (step_first, step_compacted, step_sum) = (step.first as i64, step.compacted as i64, step.sum());
        if self.shared.statements.has_buckets {
            rows.extend([
                (&step_first as &(dyn ToSql + Sync), Type::INT8),
                (&step_compacted, Type::INT8),
                (&step.traces, Type::BYTEA),
                (&step_sum, Type::INT8),
            ]);
        }
        let head = (plan.head.revision + plan.rows.len() as u64) as i64;
        let head: &Parameters<'_> = &[(&head, Type::INT8)];
        let statements = &self.shared.statements;
        let (appended, advanced, committed) = tokio::join!(
            biased;
            client.execute_typed(&statements.append, &rows),
            client.execute_typed(&statements.advance, head),
            client.batch_execute("COMMIT"),
        );
        appended.map_err(at_commit)?;
        advanced.map_err(at_commit)?;
        committed.map_err(at_commit)
    }

    pub(super) async fn client(&mut self) -> Result<Arc<Client>, StoreError> {
        if let Some(client) = self.client.as_ref().filter(|client| !client.is_closed()) {
            return Ok(client.clone());
        }
        self.client = None;
        self.backoff.wait().await;
        // Until something was done over the new connection, it may be lost as fast as the one before.
        self.backoff.fail();
        let client = Arc::new(self.shared.connector.connect().await?);
        Ok(self.client.insert(client).clone())
    }

    pub(super) async fn undo(&mut self, client: &Client) {
        let patience = self.shared.connector.patience / 4;
        if !matches!(timeout(patience, client.batch_execute("ROLLBACK")).await, Ok(Ok(()))) {
            self.client = None;
        }
    }
}

impl Order {
    fn key(&self) -> Option<&Key> {
        match self {
            Self::Write(key, _) => Some(key),
            Self::Check | Self::Forget => None,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Write(_, Write::Create(value) | Write::Replace { value, .. }) => value.len(),
            _ => 0,
        }
    }
}

/// What is asked for by now, up to a limit, and who asks for the past to be forgotten.
fn gather(
    first: Request,
    queue: &mut mpsc::UnboundedReceiver<Request>,
) -> (Vec<Request>, Vec<oneshot::Sender<Answer>>) {
    let (mut batch, mut forgets, mut bytes) = (Vec::new(), Vec::new(), 0);
    let mut next = Some(first);
    while let Some(request) = next {
        // Nobody waits any more for a write whose future was dropped before its turn came.
        if matches!(request.order, Order::Forget) {
            forgets.push(request.answer);
        } else if !request.answer.is_closed() {
            bytes += request.order.bytes();
            batch.push(request);
        }
        let is_full = batch.len() >= BATCH_WRITES || bytes >= BATCH_BYTES;
        next = if is_full { None } else { queue.try_recv().ok() };
    }
    (batch, forgets)
}

/// What becomes of each request, in their order: a later one of the same key sees what an earlier one did.
fn decide<'b>(batch: &'b [Request], head: Head, mut current: HashMap<Vec<u8>, Current<'b>>) -> Plan<'b> {
    let mut plan = Plan { head, rows: Vec::with_capacity(batch.len()), answers: Vec::new(), is_check: false };
    for request in batch {
        let Order::Write(key, write) = &request.order else {
            plan.is_check = true;
            plan.answers.push(Ok(head.revision));
            continue;
        };
        let before = current.get(key.as_str().as_bytes()).copied();
        let answer = write.decide(key, before.map(|before| before.newest)).map(|action| {
            let revision = head.revision + plan.rows.len() as u64 + 1;
            let value = match write {
                Write::Create(value) | Write::Replace { value, .. } => Some(value.as_slice()),
                Write::Delete { .. } => before.and_then(|before| before.value),
            };
            let earlier = before.map(|before| before.newest.revision as i64).filter(|_| value.is_none());
            plan.rows.push(NewRow { key, action, value, earlier });
            current.insert(key.as_str().into(), Current { newest: Newest { revision, action }, value });
            revision
        });
        plan.answers.push(answer);
    }
    plan
}

pub(super) fn before_commit(error: Error) -> Trouble {
    let failure = failure::of_server(&error);
    if failure::is_lost(&error) {
        Trouble::Lost(failure)
    } else if failure::is_in_the_way(&error) {
        Trouble::Again(failure)
    } else {
        Trouble::Refused(failure)
    }
}

pub(super) fn at_commit(error: Error) -> Trouble {
    if failure::is_unknown(&error) {
        return Trouble::Ended(unknown(&failure::of_server(&error).to_string()));
    }
    before_commit(error)
}

fn unknown(what: &str) -> StoreError {
    let message = format!("whether this was written is not known: {what}: read it to find out");
    StoreError::new(ErrorKind::Unknown, message)
}

pub(super) fn of_answer(error: Error) -> Trouble {
    Trouble::Refused(failure::of_answer(&error))
}

/// The same failure for one more of those who wait.
fn copy(error: &StoreError) -> StoreError {
    let copy = StoreError::new(error.kind().clone(), error.to_string());
    match std::error::Error::source(error) {
        Some(cause) => copy.because(cause.to_string()),
        None => copy,
    }
}
