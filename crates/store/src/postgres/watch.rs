//! A watch: the log, read by revision.

use std::{collections::VecDeque, sync::Arc};

use tokio::sync::watch;
use tokio_postgres::types::Type;

use super::{
    Inner, Shared,
    connection::{Backoff, Parameters},
    read::ANSWER_BYTES,
    rows,
};
use crate::{
    Answer, Cursor, Event, Prefix, StoreError, Watch,
    log::{self, PAGE_LIMIT},
};

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
    async fn read_on(&mut self) -> Result<(), StoreError> {
        let shared: &Shared = &self.store.shared;
        let (read, begin) = (self.read as i64, self.prefix.as_str().as_bytes());
        let end = self.prefix.end().map(String::into_bytes);
        let limit = PAGE_LIMIT as i64;
        let parameters: &Parameters<'_> = &[
            (&read, Type::INT8),
            (&begin, Type::BYTEA),
            (&end, Type::BYTEA),
            (&limit, Type::INT8),
            (&ANSWER_BYTES, Type::INT8),
        ];
        let rows = shared.readers.query(&shared.statements.changes, parameters).await?;
        let (head, rows) = rows::head_and_log(&rows)?;
        log::cursor_number(&log::cursor(self.read), head.revision, head.compacted)?;
        let mut is_all = rows.len() < PAGE_LIMIT;
        for row in rows {
            let Some(value) = row.value else {
                is_all = false;
                break;
            };
            let (revision, cursor) = (log::revision(row.revision), log::cursor(row.revision));
            let event = Event { key: row.key, revision, change: row.action.change(value), cursor };
            self.untold.push_back((row.revision, event));
            self.read = row.revision;
        }
        if is_all {
            self.read = head.revision;
        }
        Ok(())
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
                    Ok(()) if self.untold.is_empty() => {
                        self.backoff.reset();
                        let read = self.read;
                        // The sender lives as long as the store, which this watch has a share of.
                        let _ = self.head.wait_for(|head| *head > read).await;
                    }
                    Ok(()) => self.backoff.reset(),
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
