//! Watching: reading the log portion by portion.

use std::{collections::VecDeque, future, sync::Arc, task::Poll};

use tokio::sync::watch;

use super::{
    file::File,
    read::{self, Longest},
};
use crate::{Answer, Cursor, ErrorKind, Event, Prefix, StoreError, Upcoming, Watch, log};

/// A watch of the keys with a prefix.
#[derive(Debug)]
pub(super) struct SqliteWatch {
    file: Arc<File>,
    prefix: Prefix,
    /// What was read and is not told yet.
    events: VecDeque<(u64, Event)>,
    /// The change after them, if its value is too long to be read before it is wanted.
    long: Option<Upcoming>,
    /// The row that was told or passed over last.
    told: u64,
    /// The row that was read last.
    read: u64,
    head: watch::Receiver<u64>,
}

impl SqliteWatch {
    pub(super) fn new(file: Arc<File>, prefix: Prefix, told: u64, head: watch::Receiver<u64>) -> Self {
        Self { file, prefix, events: VecDeque::new(), long: None, told, read: told, head }
    }

    /// Waits until the next change is known.
    async fn find(&mut self) -> Result<Upcoming, StoreError> {
        loop {
            if let Some((_, event)) = self.events.front() {
                return Ok(event.outline());
            }
            if let Some(long) = &self.long {
                return Ok(long.clone());
            }
            self.head.mark_unchanged();
            let has_more = self.read_on(Longest::Portion)?;
            if !self.events.is_empty() || self.long.is_some() {
                continue;
            }
            self.told = self.read;
            if has_more {
                let_others_run().await;
            } else if self.head.changed().await.is_err() {
                return Err(StoreError::new(ErrorKind::Unavailable, "the store was closed; open it again"));
            }
        }
    }

    /// Reads the next portion, and returns whether there is more after it.
    fn read_on(&mut self, longest: Longest) -> Result<bool, StoreError> {
        let (file, prefix) = (&self.file, &self.prefix);
        let portion = file.read(|connection| read::portion(connection, prefix, self.read, longest, file.has_sums()))?;
        self.read = portion.until;
        self.events = portion.events.into();
        self.long = portion.long;
        Ok(portion.has_more)
    }
}

impl Watch for SqliteWatch {
    fn peek(&mut self) -> Answer<'_, Upcoming> {
        Box::pin(self.find())
    }

    fn next(&mut self) -> Answer<'_, Event> {
        Box::pin(async move {
            loop {
                self.find().await?;
                if self.events.is_empty() {
                    self.read_on(Longest::Any)?;
                }
                if let Some((revision, event)) = self.events.pop_front() {
                    self.told = if self.events.is_empty() { self.read } else { revision };
                    return Ok(event);
                }
            }
        })
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
