//! Asking a store again that is busy now.

use std::{sync::Mutex, sync::PoisonError, time::Duration};

use tokio::time::{Instant, sleep, sleep_until};
use wheelwright_store::{ErrorKind, StoreError};

const TRIES: u32 = 10;
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Asks until the store answers, for about half a minute. A write whose answer got lost is asked for again, too: if it was
/// done, the store says that something else is there now.
pub(super) async fn patiently<T, F>(mut ask: impl FnMut() -> F) -> Result<T, StoreError>
where
    F: Future<Output = Result<T, StoreError>>,
{
    let mut pause = FIRST_PAUSE;
    for _ in 1..TRIES {
        match ask().await {
            Err(error) if error.is_passing() => match error.kind() {
                ErrorKind::Throttled(wanted) => sleep(*wanted).await,
                _ => {
                    sleep(pause).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
            },
            answer => return answer,
        }
    }
    ask().await
}

/// Lets no more than so many pass in a second.
#[derive(Debug)]
pub(super) struct Pace {
    between: Duration,
    next: Mutex<Instant>,
}

impl Pace {
    pub(super) fn new(per_second: u32) -> Self {
        Self { between: Duration::from_secs(1) / per_second.max(1), next: Mutex::new(Instant::now()) }
    }

    /// Waits for one's turn.
    pub(super) async fn turn(&self) {
        let turn = {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            let turn = (*next).max(Instant::now());
            *next = turn + self.between;
            turn
        };
        sleep_until(turn).await;
    }
}
