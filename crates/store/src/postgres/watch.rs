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
use crate::{Answer, Cursor, ErrorKind, Event, Prefix, StoreError, Watch, log};

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
        Ok(Self { store, prefix, read, untold: VecDeque::new(), head, backoff: Backoff::default() })
    }

    /// Reads on. One statement sees the head and all rows up to it, so what it does not find before the head is not there.
    /// Says whether it got there.
    async fn read_on(&mut self) -> Result<bool, StoreError> {
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
        let short = parameters(PORTION_BYTES, SHORT_BYTES);
        let mut rows = readers.query(changes, &borrowed(&short)).await.and_then(|rows| rows::head_and_log(&rows));
        if rows.as_ref().is_ok_and(|(_, rows)| rows.first().is_some_and(|row| row.value.is_none())) {
            let long = parameters(PORTION_BYTES, i32::MAX);
            rows = readers.query_long(changes, long).await.and_then(|rows| rows::head_and_log(&rows));
        }
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
        for row in rows {
            let Some(value) = row.value else { return Ok(false) };
            let (revision, cursor) = (log::revision(row.revision), log::cursor(row.revision));
            let event = Event { key: row.key, revision, change: row.action.change(value), cursor };
            self.untold.push_back((row.revision, event));
            self.read = row.revision;
        }
        self.read = last;
        Ok(last == head.revision)
    }
}

impl Watch for PostgresWatch {
    fn next(&mut self) -> Answer<'_, Event> {
        Box::pin(async move {
            loop {
                if let Some((_, event)) = self.untold.pop_front() {
                    return Ok(event);
                }
                match self.read_on().await {
                    Ok(is_at_head) => {
                        self.backoff.reset();
                        if is_at_head && self.untold.is_empty() {
                            let read = self.read;
                            // The sender lives as long as the store, which this watch has a share of.
                            let _ = self.head.wait_for(|head| *head > read).await;
                        }
                    }
                    // A watch waits anyway; it goes on where it was when the database is back.
                    Err(error) if error.is_passing() => {
                        self.backoff.fail();
                        self.backoff.wait().await;
                    }
                    Err(error) => return Err(error),
                }
            }
        })
    }

    fn cursor(&self) -> Cursor {
        log::cursor(self.untold.front().map_or(self.read, |(revision, _)| revision - 1))
    }
}
