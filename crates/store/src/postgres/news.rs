//! How watchers learn that the log went on: by asking, and sooner by being told.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::{Notify, mpsc, watch},
    time::{sleep, timeout},
};
use tokio_postgres::Client;

use super::{Shared, failure, rows};
use crate::StoreError;

/// How far the log goes, as far as this process knows.
#[derive(Debug)]
pub(super) struct News {
    head: watch::Sender<u64>,
    /// Somebody began to watch.
    watched: Notify,
    /// Something may have happened.
    hint: Arc<Notify>,
}

impl News {
    pub(super) fn new() -> Self {
        Self { head: watch::Sender::new(0), watched: Notify::new(), hint: Arc::new(Notify::new()) }
    }

    /// The log goes as far as this.
    pub(super) fn learn(&self, revision: u64) {
        self.head.send_if_modified(|head| {
            let is_news = revision > *head;
            *head = revision.max(*head);
            is_news
        });
    }

    /// Hears of it.
    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        let head = self.head.subscribe();
        self.watched.notify_one();
        head
    }
}

/// Looks for news as long as anybody watches. Only the reading of the head counts; all else makes it happen sooner.
pub(super) async fn follow(shared: Arc<Shared>) {
    let (news, options) = (&shared.news, &shared.options);
    let mut listener: Option<Client> = None;
    let mut is_listening = options.hints;
    loop {
        if news.head.receiver_count() == 0 {
            listener = None;
            news.watched.notified().await;
        }
        if is_listening && listener.as_ref().is_none_or(Client::is_closed) {
            listener = listen(&shared).await.unwrap_or_else(|Refused| {
                is_listening = false;
                None
            });
        }
        match head(&shared).await {
            Ok(revision) => news.learn(revision),
            // What keeps it away may have cut off the listener, too, without a word.
            Err(_) => listener = None,
        }
        tokio::select! {
            () = news.hint.notified() => {}
            () = sleep(options.poll_interval.max(Duration::from_millis(1))) => {}
        }
    }
}

/// Tells other processes of what this one wrote, as long as it writes.
///
/// Not over the connection of the writer, who goes on meanwhile: a database without notifications would refuse the
/// transaction that was begun there. Those for reads never have one open.
pub(super) async fn tell(shared: Arc<Shared>, mut untold: mpsc::Receiver<()>) {
    while untold.recv().await.is_some() {
        let told = shared.readers.query(&shared.statements.notify, &[]).await;
        if told.is_err_and(|error| !error.is_passing()) {
            return;
        }
    }
}

/// The database has no notifications.
struct Refused;

async fn listen(shared: &Shared) -> Result<Option<Client>, Refused> {
    let hint = shared.news.hint.clone();
    let Ok(client) = shared.connector.connect_and_hear(move || hint.notify_one()).await else {
        return Ok(None);
    };
    match timeout(shared.connector.patience, client.batch_execute(&shared.statements.listen)).await {
        Ok(Ok(())) => Ok(Some(client)),
        Ok(Err(error)) if !failure::is_lost(&error) => Err(Refused),
        _ => Ok(None),
    }
}

async fn head(shared: &Shared) -> Result<u64, StoreError> {
    let rows = shared.readers.query(&shared.statements.head, &[]).await?;
    Ok(rows::head(&rows)?.revision)
}
