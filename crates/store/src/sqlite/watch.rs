//! Watching: reading the log portion by portion.

use std::{collections::VecDeque, future, sync::Arc, task::Poll};

use tokio::sync::watch;

use super::{file::File, read};
use crate::{Answer, Cursor, ErrorKind, Event, Prefix, StoreError, Watch, log};

/// A watch of the keys with a prefix.
#[derive(Debug)]
pub(super) struct SqliteWatch {
    file: Arc<File>,
    prefix: Prefix,
    /// What was read and is not told yet.
    events: VecDeque<(u64, Event)>,
    /// The row that was told or passed over last.
    told: u64,
    /// The row that was read last.
    read: u64,
    head: watch::Receiver<u64>,
}

impl SqliteWatch {
    pub(super) fn new(file: Arc<File>, prefix: Prefix, told: u64, head: watch::Receiver<u64>) -> Self {
        Self { file, prefix, events: VecDeque::new(), told, read: told, head }
    }

    async fn find(&mut self) -> Result<Event, StoreError> {
        loop {
            if let Some((revision, event)) = self.events.pop_front() {
                self.told = if self.events.is_empty() { self.read } else { revision };
                return Ok(event);
            }
            self.head.mark_unchanged();
            let portion = self
                .file
                .read(|connection| read::portion(connection, &self.prefix, self.read, self.file.has_sums()))?;
            self.read = portion.until;
            self.events = portion.events.into();
            if !self.events.is_empty() {
                continue;
            }
            self.told = self.read;
            if portion.has_more {
                let_others_run().await;
            } else if self.head.changed().await.is_err() {
                return Err(StoreError::new(ErrorKind::Unavailable, "the store was closed; open it again"));
            }
        }
    }
}

impl Watch for SqliteWatch {
    fn next(&mut self) -> Answer<'_, Event> {
        Box::pin(self.find())
    }

    fn cursor(&self) -> Cursor {
        log::cursor(self.told)
    }
}

/// Gives the thread to others once, whatever the runtime.
async fn let_others_run() {
    let mut is_first = true;
    future::poll_fn(|context| {
        if !std::mem::take(&mut is_first) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
