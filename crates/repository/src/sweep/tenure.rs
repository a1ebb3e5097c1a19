//! Whether a sweep is still the one that counts. A store has no writes that depend on two keys, so that nobody can write a
//! record only while the ledger says so; but whoever sweeps looks at the ledger just before it writes, if it has not for a
//! moment, and whoever takes over gives the other that moment.

use std::time::Duration;

use tokio::{
    sync::Mutex,
    time::{Instant, sleep},
};

use super::ledger::{Book, Ledger};
use crate::RepositoryError;

/// For so long a look at the ledger is good.
const MOMENT: Duration = Duration::from_millis(100);
/// How long is waited for those that were displaced: a look, and writes that were under way.
const GRACE: Duration = Duration::from_millis(500);

/// When the ledger was last looked at.
#[derive(Debug)]
pub(super) struct Tenure(Mutex<Instant>);

impl Tenure {
    /// Of somebody who has just looked.
    pub(super) fn begin() -> Self {
        Self(Mutex::new(Instant::now()))
    }

    /// Looks again, unless somebody has a moment ago; all others who are about to write wait for it.
    pub(super) async fn confirm(
        &self,
        book: &Book<'_>,
        is_current: impl FnOnce(&Ledger) -> Result<(), RepositoryError>,
    ) -> Result<(), RepositoryError> {
        let mut looked = self.0.lock().await;
        if looked.elapsed() < MOMENT {
            return Ok(());
        }
        let now = Instant::now();
        if let Some((Some(ledger), _)) = book.read().await? {
            is_current(&ledger)?;
        }
        *looked = now;
        Ok(())
    }
}

/// Waits until whoever was displaced has seen it.
pub(super) async fn wait_for_displaced() {
    sleep(GRACE).await;
}
