//! The thread that looks for what other processes wrote.
//!
//! It reads the head of the log, which is the truth, again and again. Notices of the file system only make it look sooner.

use std::{
    mem,
    sync::{
        Arc, OnceLock,
        mpsc::{self, Receiver, RecvTimeoutError, SyncSender},
    },
    thread::JoinHandle,
    time::Duration,
};

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::watch;

use super::{file::File, read};
use crate::StoreError;

/// A notice comes when SQLite begins to write its log, and others can read the commit only when the disk has it. So the
/// thread looks again after this time, and then after ever longer ones.
const SECOND_LOOK: Duration = Duration::from_micros(100);

/// The thread, as seen by others.
#[derive(Debug)]
pub(super) struct Tail {
    file: Arc<File>,
    head: Arc<watch::Sender<u64>>,
    wake: SyncSender<()>,
    /// There from the first watch on. Where there can be none, looking again and again does.
    notices: OnceLock<Option<RecommendedWatcher>>,
    thread: Option<JoinHandle<()>>,
}

impl Tail {
    pub(super) fn start(file: &Arc<File>) -> Result<Self, StoreError> {
        let head = Arc::new(watch::Sender::new(0));
        let (wake, woken) = mpsc::sync_channel(1);
        let (followed, published) = (file.clone(), head.clone());
        let thread = super::start_thread("store-tail", move || follow(&followed, &published, &woken))?;
        Ok(Self { file: file.clone(), head, wake, notices: OnceLock::new(), thread: Some(thread) })
    }

    /// Where it is published how far the log goes.
    pub(super) fn head(&self) -> &Arc<watch::Sender<u64>> {
        &self.head
    }

    /// Tells when the log has grown.
    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        let receiver = self.head.subscribe();
        if self.file.options.hints {
            self.notices.get_or_init(|| notices(&self.file, self.wake.clone()).ok());
        }
        // If it cannot be sent, then the thread has been woken already.
        let _ = self.wake.try_send(());
        receiver
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        // The thread ends when there is nobody left to wake it.
        self.notices.take();
        self.wake = mpsc::sync_channel(0).0;
        if let Some(thread) = self.thread.take() {
            // What a thread panicked of was said when it did.
            let _ = thread.join();
        }
    }
}

fn notices(file: &File, wake: SyncSender<()>) -> notify::Result<RecommendedWatcher> {
    let mut notices = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        // Opening the file is told of too. What is not known is taken for news.
        if event.map_or(true, |event| !event.kind.is_access()) {
            let _ = wake.try_send(());
        }
    })?;
    notices.watch(&file.log_path(), RecursiveMode::NonRecursive)?;
    Ok(notices)
}

fn follow(file: &File, published: &watch::Sender<u64>, woken: &Receiver<()>) {
    let mut pause = file.options.poll_interval;
    loop {
        let is_watched = published.receiver_count() > 0;
        let wake = if is_watched {
            woken.recv_timeout(pause)
        } else {
            woken.recv().map_err(|_| RecvTimeoutError::Disconnected)
        };
        pause = match wake {
            Ok(()) => SECOND_LOOK,
            Err(RecvTimeoutError::Timeout) => (pause * 2).min(file.options.poll_interval),
            Err(RecvTimeoutError::Disconnected) => return,
        };
        match file.read(read::head) {
            Ok(head) => {
                published.send_if_modified(|known| head.revision > mem::replace(known, head.revision.max(*known)));
            }
            // Every watch finds out for itself, and tells whoever it is for.
            Err(_) => published.send_modify(|_| ()),
        }
    }
}
