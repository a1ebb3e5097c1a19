//! A watch: the log, read by revision.

use std::{collections::VecDeque, sync::Arc};

use tokio::sync::watch;
use tokio_postgres::types::Type;

use super::{
    Inner, Shared,
    connection::{Backoff, OwnedParameters, borrowed},
    read::{self, SHORT_BYTES},
    rows,
};
use crate::{Answer, Cursor, ErrorKind, Event, Prefix, StoreError, Upcoming, Watch, log};

/// The most rows that one statement looks at, of any keys.
const MOST_ROWS: u64 = 1000;

/// As much as a watch holds beside the next event.
const PORTION_BYTES: i64 = 256 << 10;

#[derive(Debug)]
pub(super) struct PostgresWatch {
    store: Arc<Inner>,
    prefix: Prefix,
    /// How far the log was read.
    read: u64,
    /// What was read and not told yet, with its revisions.
    untold: VecDeque<(u64, Event)>,
    /// The change after them, if its value is too long to be read before it is wanted.
    long: Option<Upcoming>,
    head: watch::Receiver<u64>,
    backoff: Backoff,
}

impl PostgresWatch {
    pub(super) async fn begin(store: Arc<Inner>, prefix: Prefix, from: &Cursor) -> Result<Self, StoreError> {
        let shared = &store.shared;
        let rows = shared.readers.query(&shared.statements.head, &[]).await?;
        let now = rows::head(&rows)?;
        let read = log::cursor_number(from, now.revision, now.compacted)?;
        let head = shared.news.subscribe();
        Ok(Self { store, prefix, read, untold: VecDeque::new(), long: None, head, backoff: Backoff::default() })
    }

    /// Reads on, without values that are longer than so many bytes. One statement sees the head and all rows up to it, so what
    /// it does not find before the head is not there. Returns whether it got there.
    async fn read_on(&mut self, longest: i32) -> Result<bool, StoreError> {
        let shared: &Shared = &self.store.shared;
        shared.structure.check_sound()?;
        let (read, begin) = (self.read as i64, self.prefix.as_str().as_bytes());
        let end = self.prefix.end().map(String::into_bytes);
        let parameters = |most_bytes: i64, longest: i32| -> OwnedParameters {
            vec![
                (Box::new(read), Type::INT8),
                (Box::new(MOST_ROWS as i64), Type::INT8),
                (Box::new(begin.to_vec()), Type::BYTEA),
                (Box::new(end.clone()), Type::BYTEA),
                (Box::new(most_bytes), Type::INT8),
                (Box::new(longest), Type::INT4),
            ]
        };
        let (readers, changes) = (&shared.readers, &shared.statements.changes);
        let wanted = parameters(PORTION_BYTES, longest);
        let rows = match longest {
            SHORT_BYTES => readers.query(changes, &borrowed(&wanted)).await,
            _ => readers.query_long(changes, wanted).await,
        };
        let first_bytes = rows.as_ref().ok().and_then(|rows| rows::column::<Option<i32>>(rows.first()?, 7).ok()?);
        let rows = rows.and_then(|rows| rows::head_and_log(&rows));
        let (head, rows) = match rows {
            // Without values, which are read one by one.
            Err(error) if *error.kind() == ErrorKind::Corrupt => {
                let rows = readers.query(changes, &borrowed(&parameters(0, 0))).await?;
                let (head, mut rows) = rows::head_and_log(&rows)?;
                read::read_values(shared, rows.iter_mut(), PORTION_BYTES).await?;
                (head, rows)
            }
            rows => rows?,
        };
        log::cursor_number(&log::cursor(self.read), head.revision, head.compacted)?;
        // Nothing of what is not forgotten is left out of the log, so this is the last row that was looked at.
        let last = head.revision.min(self.read + MOST_ROWS);
        self.long = None;
        for row in rows {
            let Some(value) = row.value else {
                if self.untold.is_empty() {
                    let bytes = usize::try_from(first_bytes.unwrap_or_default()).unwrap_or_default();
                    self.long = Some(Upcoming { key: row.key, revision: log::revision(row.revision), bytes });
                    self.read = row.revision - 1;
                }
                return Ok(false);
            };
            let (revision, cursor) = (log::revision(row.revision), log::cursor(row.revision));
            let event = Event { key: row.key, revision, change: row.action.change(value), cursor };
            self.untold.push_back((row.revision, event));
            self.read = row.revision;
        }
        self.read = last;
        Ok(last == head.revision)
    }

    /// Waits until the next change is known.
    async fn find(&mut self) -> Result<Upcoming, StoreError> {
        loop {
            if let Some((_, event)) = self.untold.front() {
                return Ok(event.outline());
            }
            if let Some(long) = &self.long {
                return Ok(long.clone());
            }
            let read = self.read_on(SHORT_BYTES).await;
            if self.waited(read).await? && self.untold.is_empty() {
                let read = self.read;
                // The sender lives as long as the store, which this watch has a share of.
                let _ = self.head.wait_for(|head| *head > read).await;
            }
        }
    }

    /// Passes on what a read came to, after a pause if it failed in a way that passes: a watch waits anyway, and goes on where
    /// it was when the database is back.
    async fn waited(&mut self, read: Result<bool, StoreError>) -> Result<bool, StoreError> {
        match read {
            Err(error) if error.is_passing() => {
                self.backoff.fail();
                self.backoff.wait().await;
                Ok(false)
            }
            read => {
                self.backoff.reset();
                read
            }
        }
    }
}

impl Watch for PostgresWatch {
    fn peek(&mut self) -> Answer<'_, Upcoming> {
        Box::pin(self.find())
    }

    fn next(&mut self) -> Answer<'_, Event> {
        Box::pin(async move {
            loop {
                self.find().await?;
                if let Some((_, event)) = self.untold.pop_front() {
                    return Ok(event);
                }
                let read = self.read_on(i32::MAX).await;
                self.waited(read).await?;
            }
        })
    }

    fn cursor(&self) -> Cursor {
        log::cursor(self.untold.front().map_or(self.read, |(revision, _)| revision - 1))
    }
}
