//! A watch: the log, read by revision.

use std::{collections::VecDeque, sync::Arc};

use tokio::sync::watch;
use tokio_postgres::types::Type;

use super::{
    Inner, Shared,
    connection::{Backoff, Parameters},
    read, rows,
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
        let most_rows = MOST_ROWS as i64;
        let parameters: &Parameters<'_> = &[
            (&read, Type::INT8),
            (&most_rows, Type::INT8),
            (&begin, Type::BYTEA),
            (&end, Type::BYTEA),
            (&PORTION_BYTES, Type::INT8),
        ];
        let (head, rows) = match shared.readers.query(&shared.statements.changes, parameters).await {
            // Without values, which are read one by one.
            Err(error) if *error.kind() == ErrorKind::Corrupt => {
                let parameters = [&parameters[..4], &[(&0_i64, Type::INT8)]].concat();
                let rows = shared.readers.query(&shared.statements.changes, &parameters).await?;
                let (head, mut rows) = rows::head_and_log(&rows)?;
                read::read_values(shared, rows.iter_mut(), PORTION_BYTES).await?;
                (head, rows)
            }
            rows => rows::head_and_log(&rows?)?,
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
