//! What is known of the structure of the tables: whether it was checked, and what can be read of it if it is damaged.

use std::{
    sync::{
        Arc, Mutex as StdMutex, PoisonError, RwLock, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::Mutex,
    time::{Instant, sleep, timeout},
};

use super::{
    Shared,
    check::{self, Checked},
    damage::Damage,
    failure, rows,
};
use crate::{ErrorKind, StoreError};

/// How long after a check without a finding a read that fails does not begin another one.
const PAUSE: Duration = Duration::from_secs(60);

/// How long after a check that the database did not let end it is tried again; twice as long after each failure.
const FIRST_RETRY: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(super) struct Structure {
    damage: RwLock<Option<Arc<Damage>>>,
    /// One check at a time, and when the last one ended.
    checked: Mutex<Option<Instant>>,
    was_checked: AtomicBool,
    /// When a write last failed for damage.
    doubted: StdMutex<Option<Instant>>,
}

impl Structure {
    /// Fails if damage was found.
    pub(super) fn check_sound(&self) -> Result<(), StoreError> {
        self.found().map_or(Ok(()), |damage| Err(damage.refusal()))
    }

    /// Whether a check has ended without a finding.
    pub(super) fn is_sound(&self) -> bool {
        self.was_checked.load(Ordering::Relaxed) && self.found().is_none()
    }

    fn found(&self) -> Option<Arc<Damage>> {
        self.damage.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, damage: Option<Damage>) {
        *self.damage.write().unwrap_or_else(PoisonError::into_inner) = damage.map(Arc::new);
    }
}

impl Shared {
    /// What can be read of damaged tables; none if no damage is known. Another process may go on writing to them.
    pub(super) async fn damage(&self) -> Result<Option<Arc<Damage>>, StoreError> {
        let Some(damage) = self.structure.found() else { return Ok(None) };
        let head = match self.readers.query(&self.statements.head, &[]).await.and_then(|rows| rows::head(&rows)) {
            // No process can write without the head.
            Err(error) if *error.kind() == ErrorKind::Corrupt => None,
            head => Some(head?),
        };
        if damage.is_of(head) {
            return Ok(Some(damage));
        }
        // All who wait here see what one of them reads, unless more was written since they came.
        let _one = self.structure.checked.lock().await;
        match self.structure.found() {
            Some(damage) if !damage.is_of(head) && !damage.is_after(head) => {
                self.structure.set(Some(Damage::of(self, damage.what().to_owned()).await?));
            }
            _ => {}
        }
        Ok(self.structure.found())
    }

    /// Checks the tables when they are opened: at once if they are small, in the background otherwise.
    pub(super) async fn check_at_open(self: &Arc<Self>) -> Result<(), StoreError> {
        let size = self.readers.query(&self.statements.size, &[]).await;
        // A database that only speaks PostgreSQL's protocol may not know its size.
        let size = size.and_then(|rows| rows::revision(&rows[0], 0)).unwrap_or(u64::MAX);
        if size <= self.options.check_at_open_bytes
            && let Ok(checked) = timeout(self.connector.patience / 2, self.check(false)).await
        {
            return checked;
        }
        tokio::spawn(check_until_done(Arc::downgrade(self)));
        Ok(())
    }

    /// Checks the tables, and treats them as damaged from now on if damage is found.
    pub(super) async fn check(&self, is_paced: bool) -> Result<(), StoreError> {
        let mut checked = self.structure.checked.lock().await;
        let damage = match check::check(self, is_paced).await? {
            Checked::Sound => None,
            Checked::Damaged(what) => Some(Damage::of(self, what).await?),
        };
        self.structure.set(damage);
        self.structure.was_checked.store(true, Ordering::Relaxed);
        *checked = Some(Instant::now());
        Ok(())
    }

    /// Checks the tables after a write failed for damage, now and then.
    pub(super) async fn check_after_write(&self) {
        let is_due = {
            let mut doubted = self.structure.doubted.lock().unwrap_or_else(PoisonError::into_inner);
            let is_due = doubted.is_none_or(|doubted| doubted.elapsed() >= PAUSE);
            if is_due {
                *doubted = Some(Instant::now());
            }
            is_due
        };
        if is_due {
            // If the database cannot be read now, a later write or read fails again.
            let _ = self.check(false).await;
        }
    }

    /// Checks the tables after a read failed. Returns what can be read of them, or the failure if they are sound.
    pub(super) async fn examine(&self, error: StoreError) -> Result<Arc<Damage>, StoreError> {
        if *error.kind() != ErrorKind::Corrupt {
            return Err(error);
        }
        let was_checked = self.structure.checked.lock().await.is_some_and(|checked| checked.elapsed() < PAUSE);
        if self.structure.found().is_none() && !was_checked {
            let checking = timeout(self.connector.patience, self.check(false)).await;
            checking.map_err(|_| failure::too_slow())??;
        }
        self.structure.found().ok_or(error)
    }
}

/// Checks the tables, again and again until the database does not fail meanwhile.
async fn check_until_done(shared: Weak<Shared>) {
    let mut pause = FIRST_RETRY;
    while let Some(shared) = shared.upgrade() {
        if shared.check(true).await.is_ok() {
            return;
        }
        drop(shared);
        sleep(pause).await;
        pause = (2 * pause).min(PAUSE);
    }
}
