//! A store in a PostgreSQL database, for many processes.

mod address;
mod check;
mod connection;
mod damage;
mod facts;
mod failure;
mod forget;
mod known;
mod mend;
mod news;
mod parts;
mod password;
mod read;
mod rows;
mod scan;
mod structure;
mod tables;
mod tls;
mod trail;
mod watch;
mod writer;

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::{
    sync::{mpsc, oneshot},
    task::AbortHandle,
    time::timeout,
};
use tokio_postgres::types::Type;
use twox_hash::XxHash3_64;

use self::{
    connection::{Connector, Readers},
    news::News,
    structure::Structure,
    tables::Statements,
    watch::PostgresWatch,
    writer::{Order, Request, Writer},
};
use crate::{
    Answer, Continuation, Cursor, ErrorKind, Guarantees, Health, Key, KeyRange, Page, PageRequest, Prefix, Revision,
    Store, StoreError, Stored, Watch,
    log::{self, Write},
    room::{self, Room},
};

/// The room that there must be after a write that found none, before the store counts as ready again.
const PROBE_BYTES: u64 = 256 << 10;

/// A store in a PostgreSQL database. Clones are the same store.
///
/// It needs a [tokio](https://docs.rs/tokio) runtime with IO and time: all futures must be polled in one, and the one that
/// [`connect`](Self::connect) was polled in must live as long as the store, since a task in it does the writing.
///
/// A connection that is lost is made again. A read is tried once more over the new one; so is a write that was not sent as
/// a whole. A write whose answer got lost fails with [`Unknown`](crate::ErrorKind::Unknown). A watch waits until the
/// database is back and goes on where it was.
#[derive(Clone)]
pub struct Postgres(Arc<Inner>);

/// How a [`Postgres`] store works.
#[derive(Clone, Debug)]
pub struct PostgresOptions {
    /// The schema that has the tables: letters, digits, `_` and `-`. Default: `wheelwright`.
    pub schema: String,
    /// How long watches and lists may go back. Default: 5 minutes.
    pub history: Duration,
    /// Whether processes tell each other of writes with NOTIFY, so that watchers need not wait for the next poll. A
    /// database or a pooler that cannot do that does no harm. Default: yes.
    pub hints: bool,
    /// How often watchers look for writes of which nobody told them. Default: every second.
    pub poll_interval: Duration,
    /// The largest value. Default: 4 MiB.
    pub max_value_bytes: usize,
    /// The most bytes of values that wait to be written. Default: 64 MiB.
    pub waiting_bytes: usize,
    /// How many connections there are for reads, at most, and at least two: half of them for lists and long values. One more is
    /// for writes, and one to listen for hints. Default: 4.
    pub read_connections: usize,
    /// How long the database may take to answer before the connection counts as lost. Default: 10 seconds.
    pub patience: Duration,
    /// The structure of a table up to this size is checked when it is opened, that of a larger one in the background while the
    /// store is used. Default: 64 MiB.
    pub check_at_open_bytes: u64,
    /// Whether the tables are made where they are not there. Default: yes.
    pub create: bool,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self {
            schema: "wheelwright".to_owned(),
            history: Duration::from_secs(5 * 60),
            hints: true,
            poll_interval: Duration::from_secs(1),
            max_value_bytes: 4 << 20,
            waiting_bytes: room::BYTES,
            read_connections: 4,
            patience: Duration::from_secs(10),
            check_at_open_bytes: 64 << 20,
            create: true,
        }
    }
}

#[derive(Debug)]
struct Inner {
    shared: Arc<Shared>,
    /// The writer works off what is in it, and ends when this is dropped.
    queue: mpsc::UnboundedSender<Request>,
    room: Room,
    follower: AbortHandle,
}

/// What the store and its tasks have in common.
#[derive(Debug)]
struct Shared {
    options: PostgresOptions,
    connector: Connector,
    statements: Statements,
    readers: Readers,
    news: News,
    structure: Structure,
    /// The last write failed because there was no room.
    is_full: AtomicBool,
}

impl Shared {
    /// Fails if there was no room for the last write and still is none.
    async fn check_room(&self) -> Result<(), StoreError> {
        if !self.is_full.load(Ordering::Relaxed) {
            return Ok(());
        }
        let client = self.connector.connect().await?;
        let random = |number| XxHash3_64::oneshot_with_seed(number, b"").to_ne_bytes();
        // Compressed, the value would find room within a page.
        let value: Vec<u8> = (0..PROBE_BYTES / 8).flat_map(random).collect();
        let probe = async {
            client.batch_execute("BEGIN").await?;
            client.execute_typed(&self.statements.probe, &[(&value, Type::BYTEA)]).await?;
            client.batch_execute("ROLLBACK").await
        };
        let probed = timeout(self.connector.patience, probe).await.map_err(|_| failure::too_slow())?;
        probed.map_err(|error| failure::of_server(&error))?;
        self.is_full.store(false, Ordering::Relaxed);
        Ok(())
    }
}

impl Postgres {
    /// Opens the store at an address as in `postgres://user:password@host:5432/database`, and makes its tables if they are
    /// not there. The address may have the parameters `schema=…` and `hint=off` beside those that PostgreSQL knows, and
    /// they count more than the options. With `sslmode=require` and the feature `postgres-tls`, connections are encrypted
    /// and the server's certificate is checked, by the authorities in the file `sslrootcert=…` or by those of the system.
    ///
    /// # Errors
    /// The database cannot be reached, or refuses the user or what is needed; or a newer release made its tables.
    pub async fn connect(address: &str, mut options: PostgresOptions) -> Result<Self, StoreError> {
        let connector = address::parse(address, &mut options)?;
        let client = connector.connect().await?;
        let set_up = timeout(connector.patience, Statements::set_up(&client, &options));
        let statements = set_up.await.map_err(|_| failure::too_slow())??;
        let readers = Readers::new(connector.clone(), options.read_connections);
        let room = Room::new(options.waiting_bytes);
        let news = News::new();
        let structure = Structure::default();
        let shared = Arc::new(Shared {
            options,
            connector,
            statements,
            readers,
            news,
            structure,
            is_full: AtomicBool::new(false),
        });
        shared.check_at_open().await?;
        let (queue, requests) = mpsc::unbounded_channel();
        tokio::spawn(Writer::new(shared.clone(), client).run(requests));
        let follower = tokio::spawn(news::follow(shared.clone())).abort_handle();
        Ok(Self(Arc::new(Inner { shared, queue, room, follower })))
    }

    /// Forgets how things were before now.
    ///
    /// # Errors
    /// The database cannot be reached, or refuses.
    pub async fn compact(&self) -> Result<(), StoreError> {
        self.ask(Order::Forget).await.map(drop)
    }

    async fn write(&self, key: &Key, write: Write) -> Result<Revision, StoreError> {
        let most = self.0.shared.options.max_value_bytes;
        if let Write::Create(value) | Write::Replace { value, .. } = &write
            && value.len() > most
        {
            let message = format!("the value of {key} has {} bytes; this store takes up to {most}", value.len());
            return Err(StoreError::new(ErrorKind::TooLarge, message));
        }
        self.ask(Order::Write(key.clone(), write)).await.map(log::revision)
    }

    async fn ask(&self, order: Order) -> Result<u64, StoreError> {
        let place = self.0.room.place(order.bytes()).await;
        let (answer, answered) = oneshot::channel();
        let ended = "the runtime that the store was opened in has ended";
        let asked = tokio::time::Instant::now();
        if self.0.queue.send(Request { order, answer, place, asked }).is_err() {
            return Err(StoreError::new(ErrorKind::Unavailable, ended));
        }
        answered.await.unwrap_or_else(|_| Err(StoreError::new(ErrorKind::Unknown, ended)))
    }

    async fn now_number(&self) -> Result<u64, StoreError> {
        let shared = &self.0.shared;
        if let Some(damage) = shared.damage().await? {
            return Ok(damage.head.revision);
        }
        let rows = shared.readers.query(&shared.statements.head, &[]).await?;
        Ok(rows::head(&rows)?.revision)
    }
}

impl Store for Postgres {
    fn get<'a>(&'a self, key: &'a Key) -> Answer<'a, Option<Stored>> {
        Box::pin(async move {
            let shared = &self.0.shared;
            if let Some(damage) = shared.damage().await? {
                return damage.get(shared, key).await;
            }
            match read::get(shared, key).await {
                Err(error) => shared.examine(error).await?.get(shared, key).await,
                stored => stored,
            }
        })
    }

    fn get_unverified<'a>(&'a self, key: &'a Key) -> Answer<'a, Option<Stored>> {
        Box::pin(async move {
            let shared = &self.0.shared;
            let stored = match shared.damage().await? {
                Some(damage) => damage.get_unverified(shared, key).await,
                None => read::get_unverified(shared, key).await,
            };
            match stored {
                Err(error) if *error.kind() == ErrorKind::Corrupt => self.get(key).await,
                stored => stored,
            }
        })
    }

    fn has_revision<'a>(&'a self, key: &'a Key, revision: &'a Revision) -> Answer<'a, bool> {
        Box::pin(async move {
            let shared = &self.0.shared;
            if shared.structure.check_sound().is_ok()
                && let Ok(newest) = read::revision(shared, key).await
            {
                return Ok(newest.as_ref() == Some(revision));
            }
            Ok(self.get(key).await?.is_some_and(|stored| stored.revision == *revision))
        })
    }

    fn list<'a>(&'a self, prefix: &'a Prefix, page: PageRequest) -> Answer<'a, Page> {
        Box::pin(async move {
            let shared = &self.0.shared;
            if let Some(damage) = shared.damage().await? {
                return damage.page(shared, prefix, &page).await;
            }
            match read::page(shared, prefix, &page).await {
                Err(error) => shared.examine(error).await?.page(shared, prefix, &page).await,
                found => found,
            }
        })
    }

    fn list_after<'a>(&'a self, key: &'a Key) -> Answer<'a, Option<Continuation>> {
        Box::pin(async move { Ok(Some(log::continuation_at(&self.now().await?, key))) })
    }

    fn list_at<'a>(
        &'a self,
        moment: &'a Cursor,
        prefix: &'a Prefix,
        after: Option<&'a Key>,
    ) -> Answer<'a, Option<Continuation>> {
        Box::pin(async move { Ok(Some(log::continuation_of(moment, prefix, after))) })
    }

    fn before<'a>(&'a self, key: &'a Key, revision: &'a Revision) -> Answer<'a, Option<Stored>> {
        Box::pin(async move {
            self.0.shared.structure.check_sound()?;
            read::before(&self.0.shared, key, revision).await
        })
    }

    fn is_unchanged<'a>(&'a self, range: &'a KeyRange, since: &'a Cursor) -> Answer<'a, bool> {
        Box::pin(async move {
            self.0.shared.structure.check_sound()?;
            read::is_unchanged(&self.0.shared, range, since).await
        })
    }

    fn create<'a>(&'a self, key: &'a Key, value: Vec<u8>) -> Answer<'a, Revision> {
        Box::pin(self.write(key, Write::Create(value)))
    }

    fn replace<'a>(&'a self, key: &'a Key, expected: &'a Revision, value: Vec<u8>) -> Answer<'a, Revision> {
        Box::pin(self.write(key, Write::Replace { expected: expected.clone(), value }))
    }

    fn delete<'a>(&'a self, key: &'a Key, expected: &'a Revision) -> Answer<'a, ()> {
        Box::pin(async move { self.write(key, Write::Delete { expected: expected.clone() }).await.map(drop) })
    }

    fn watch<'a>(&'a self, prefix: &'a Prefix, from: &'a Cursor) -> Answer<'a, Box<dyn Watch>> {
        Box::pin(async move {
            self.0.shared.structure.check_sound()?;
            let watch = PostgresWatch::begin(self.0.clone(), prefix.clone(), from).await?;
            Ok(Box::new(watch) as Box<dyn Watch>)
        })
    }

    fn now(&self) -> Answer<'_, Cursor> {
        Box::pin(async move { self.now_number().await.map(log::cursor) })
    }

    fn health(&self) -> Answer<'_, Health> {
        Box::pin(async move {
            let began = Instant::now();
            self.0.shared.structure.check_sound()?;
            self.0.shared.check_room().await?;
            tokio::try_join!(self.now_number(), self.ask(Order::Check))?;
            Ok(Health { took: began.elapsed() })
        })
    }

    fn guarantees(&self) -> Guarantees {
        Guarantees::STRONG
    }

    fn find_damage(&self) -> Answer<'_, Option<StoreError>> {
        Box::pin(async move {
            let structure = &self.0.shared.structure;
            if structure.check_sound().is_ok() && !structure.is_sound() {
                self.0.shared.check(false).await?;
            }
            Ok(structure.check_sound().err())
        })
    }

    fn start_check(&self) -> Result<(), StoreError> {
        let shared = self.0.shared.clone();
        let runtime = tokio::runtime::Handle::try_current()
            .map_err(|error| StoreError::new(ErrorKind::Unavailable, "a check needs a tokio runtime").because(error))?;
        // If the database cannot be read now, the next read fails.
        runtime.spawn(async move { shared.check(true).await });
        Ok(())
    }
}

impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Postgres").field("options", &self.0.shared.options).finish_non_exhaustive()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.follower.abort();
    }
}
