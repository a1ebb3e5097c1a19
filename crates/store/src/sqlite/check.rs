//! The check of a file's structure in the background.
//!
//! It has a thread and a connection of its own and rests as long as it works. What is in the write-ahead log stays there while
//! it runs, because it reads the file as it was when it began.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use tokio::sync::watch;

use super::{failure::Problem, file::File};
use crate::StoreError;

/// How many steps of SQLite's are done before the time is looked at.
const STEPS: i32 = 1000;

/// How long it works before it rests.
const WORK: Duration = Duration::from_millis(10);

/// The thread, which ends when this is dropped.
#[derive(Debug)]
pub(super) struct Check {
    is_ending: Arc<AtomicBool>,
    outcome: watch::Receiver<Outcome>,
    thread: Option<JoinHandle<()>>,
}

/// What a check has found: the first thing that is wrong, if anything is. None until it is done, and if it could not be.
type Outcome = Option<Option<String>>;

impl Check {
    /// Starts it. If it finds damage, it reports that to the file, and then calls `report`.
    pub(super) fn start(file: &Arc<File>, report: impl FnOnce() + Send + 'static) -> Result<Self, StoreError> {
        let is_ending = Arc::new(AtomicBool::new(false));
        let (file, ended) = (file.clone(), is_ending.clone());
        let (found, outcome) = watch::channel(None);
        let thread = super::start_thread("store-check", move || {
            // If it cannot be read now, then whatever reads next says so.
            let Ok(what) = check(&file, ended) else { return };
            if let Some(what) = &what {
                file.report_damage(what.clone());
                report();
            }
            found.send_replace(Some(what));
        })?;
        Ok(Self { is_ending, outcome, thread: Some(thread) })
    }

    /// What is sent when the check is done.
    pub(super) fn outcome(&self) -> watch::Receiver<Outcome> {
        self.outcome.clone()
    }

    pub(super) fn is_done(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }
}

impl Drop for Check {
    fn drop(&mut self) {
        self.is_ending.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // What a thread panicked of was said when it did.
            let _ = thread.join();
        }
    }
}

/// The first thing that is wrong.
fn check(file: &File, is_ending: Arc<AtomicBool>) -> Result<Option<String>, Problem> {
    let mut connection = file.connect()?;
    let mut began = Instant::now();
    let pace = move || {
        let worked = began.elapsed();
        if worked >= WORK {
            thread::sleep(worked.min(10 * WORK));
            began = Instant::now();
        }
        is_ending.load(Ordering::Relaxed)
    };
    connection.progress_handler(STEPS, Some(pace))?;
    let found = file.find_damage(&connection)?;
    if found.is_none() {
        file.complete_digest(&file.connect_to_write()?);
    }
    Ok(found)
}
