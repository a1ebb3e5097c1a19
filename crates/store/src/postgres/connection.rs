//! Connections that are made again when they are lost.

use std::{
    fmt, future,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{Mutex, Semaphore},
    time::{sleep, timeout},
};
use tokio_postgres::{
    AsyncMessage, Client, Config, Connection, Error, NoTls, Row, Socket,
    tls::TlsStream,
    types::{ToSql, Type},
};

use super::{failure, tls::Tls};
use crate::StoreError;

/// Statements with long rows that are sent at once over one connection: while one is answered, the next one waits there.
const LONG_STATEMENTS: usize = 2;

/// What a statement is given, with the types that it expects.
///
/// Statements are never prepared: a pooler between us and the server may give every transaction another connection.
pub(super) type Parameters<'a> = [(&'a (dyn ToSql + Sync), Type)];

/// Where to connect to.
#[derive(Clone)]
pub(super) struct Connector {
    pub(super) config: Config,
    /// None if nothing is encrypted.
    pub(super) tls: Option<Tls>,
    /// How long the server may take to answer.
    pub(super) patience: Duration,
}

impl Connector {
    /// A connection.
    pub(super) async fn connect(&self) -> Result<Client, StoreError> {
        self.connect_and_hear(|| {}).await
    }

    /// A connection that calls back for every notification, and once when it is lost.
    pub(super) async fn connect_and_hear(&self, hear: impl Fn() + Send + 'static) -> Result<Client, StoreError> {
        let connecting = async {
            match &self.tls {
                Some(tls) => self.config.connect(Tls::clone(tls)).await.map(|connected| keep(connected, hear)),
                None => self.config.connect(NoTls).await.map(|connected| keep(connected, hear)),
            }
        };
        let connected = timeout(self.patience, connecting).await;
        connected.map_err(|_| failure::too_slow())?.map_err(|error| failure::of_server(&error))
    }
}

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connector").field("config", &self.config).finish_non_exhaustive()
    }
}

/// Keeps a connection going. Whoever uses the client learns of its end by it.
fn keep<S: TlsStream + Unpin + Send + 'static>(
    (client, mut connection): (Client, Connection<Socket, S>),
    hear: impl Fn() + Send + 'static,
) -> Client {
    tokio::spawn(async move {
        while let Some(Ok(message)) = future::poll_fn(|context| connection.poll_message(context)).await {
            if matches!(message, AsyncMessage::Notification(_)) {
                hear();
            }
        }
        hear();
    });
    client
}

/// The parameters of a statement that goes on without its caller.
pub(super) type OwnedParameters = Vec<(Box<dyn ToSql + Sync + Send>, Type)>;

/// The same parameters for a caller that waits.
pub(super) fn borrowed(parameters: &OwnedParameters) -> Vec<(&(dyn ToSql + Sync), Type)> {
    parameters.iter().map(|(value, of)| (&**value as &(dyn ToSql + Sync), of.clone())).collect()
}

/// Connections for reads. Statements whose rows may be long have connections of their own, so that short reads do not wait
/// behind megabytes.
#[derive(Debug)]
pub(super) struct Readers {
    short: Lane,
    long: Arc<Lane>,
    /// Statements with long rows that may be sent at once.
    turns: Arc<Semaphore>,
}

/// A few connections. Each is shared: what is asked over it at once is sent at once, and answered in order.
#[derive(Debug)]
struct Lane {
    connector: Connector,
    slots: Box<[Slot]>,
}

#[derive(Debug, Default)]
struct Slot {
    client: Mutex<Option<Arc<Client>>>,
    /// How many questions are under way.
    load: AtomicUsize,
}

impl Readers {
    /// Readers with so many connections, at least one for short rows and one for long ones.
    pub(super) fn new(connector: Connector, count: usize) -> Self {
        let long = Arc::new(Lane::new(connector.clone(), count / 2));
        let turns = Arc::new(Semaphore::new(long.slots.len() * LONG_STATEMENTS));
        Self { short: Lane::new(connector, count - count / 2), long, turns }
    }

    /// The rows of a statement that changes nothing. If the connection was lost, another one is tried; all of it takes no
    /// longer than the patience.
    pub(super) async fn query(&self, statement: &str, parameters: &Parameters<'_>) -> Result<Vec<Row>, StoreError> {
        self.short.query(statement, parameters).await
    }

    /// The same of a statement whose rows may be long. It waits for its turn, no longer than the patience. Once it has been
    /// sent it keeps its turn until all rows have come, even if its caller does not wait for them: the server sends them in
    /// any case.
    pub(super) async fn query_long(
        &self,
        statement: &str,
        parameters: OwnedParameters,
    ) -> Result<Vec<Row>, StoreError> {
        let turn = timeout(self.long.connector.patience, self.turns.clone().acquire_owned()).await;
        let Ok(Ok(turn)) = turn else { return Err(failure::too_slow()) };
        let (lane, statement) = (self.long.clone(), statement.to_owned());
        let query = tokio::spawn(async move {
            let rows = lane.query(&statement, &borrowed(&parameters)).await;
            drop(turn);
            rows
        });
        query.await.unwrap_or_else(|_| Err(failure::too_slow()))
    }
}

impl Lane {
    fn new(connector: Connector, count: usize) -> Self {
        Self { connector, slots: (0..count.max(1)).map(|_| Slot::default()).collect() }
    }

    async fn query(&self, statement: &str, parameters: &Parameters<'_>) -> Result<Vec<Row>, StoreError> {
        // The first of those that do least, so that no more connections are made than are needed.
        let slot = self.slots.iter().min_by_key(|slot| slot.load.load(Ordering::Relaxed));
        let slot = slot.unwrap_or(&self.slots[0]);
        let _loaded = Loaded::new(&slot.load);
        let answer = timeout(self.connector.patience, self.query_slot(slot, statement, parameters)).await;
        answer.unwrap_or_else(|_| Err(failure::too_slow()))
    }

    async fn query_slot(
        &self,
        slot: &Slot,
        statement: &str,
        parameters: &Parameters<'_>,
    ) -> Result<Vec<Row>, StoreError> {
        let first = self.query_once(slot, statement, parameters).await?;
        match first {
            Ok(rows) => Ok(rows),
            Err(error) if failure::is_lost(&error) || failure::is_in_the_way(&error) => {
                let second = self.query_once(slot, statement, parameters).await?;
                second.map_err(|error| failure::of_read(&error))
            }
            Err(error) => Err(failure::of_read(&error)),
        }
    }

    async fn query_once(
        &self,
        slot: &Slot,
        statement: &str,
        parameters: &Parameters<'_>,
    ) -> Result<Result<Vec<Row>, Error>, StoreError> {
        let client = self.client(slot).await?;
        // Less than the whole query may take, so that a connection which does not answer is given up.
        let answer = timeout(self.connector.patience / 4 * 3, client.query_typed(statement, parameters)).await;
        if !matches!(&answer, Ok(Ok(_))) {
            let is_useless = answer.as_ref().map_or(true, |answer| answer.as_ref().is_err_and(failure::is_lost));
            let mut kept = slot.client.lock().await;
            if is_useless && kept.as_ref().is_some_and(|kept| Arc::ptr_eq(kept, &client)) {
                *kept = None;
            }
        }
        answer.map_err(|_| failure::too_slow())
    }

    async fn client(&self, slot: &Slot) -> Result<Arc<Client>, StoreError> {
        let mut kept = slot.client.lock().await;
        if let Some(client) = kept.as_ref().filter(|client| !client.is_closed()) {
            return Ok(client.clone());
        }
        let client = Arc::new(self.connector.connect().await?);
        *kept = Some(client.clone());
        Ok(client)
    }
}

/// Counts as load until it is dropped.
struct Loaded<'a>(&'a AtomicUsize);

impl<'a> Loaded<'a> {
    fn new(load: &'a AtomicUsize) -> Self {
        load.fetch_add(1, Ordering::Relaxed);
        Self(load)
    }
}

impl Drop for Loaded<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// How long to wait before the next attempt: longer after each failure, up to a limit.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    failures: u32,
}

impl Backoff {
    const FIRST: Duration = Duration::from_millis(10);
    const LONGEST: Duration = Duration::from_secs(2);

    pub(super) fn reset(&mut self) {
        self.failures = 0;
    }

    pub(super) fn fail(&mut self) {
        self.failures += 1;
    }

    pub(super) async fn wait(&self) {
        if let Some(failures) = self.failures.checked_sub(1) {
            sleep((Self::FIRST * 2_u32.pow(failures.min(8))).min(Self::LONGEST)).await;
        }
    }
}
