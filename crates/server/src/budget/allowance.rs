//! How a caller gets memory.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use tokio::time::timeout;

use super::{Budget, Charge, Exceeded, Freed, Part, Purpose};
use crate::share::Shares;

/// The part of the memory that one caller may have: half of each part.
#[derive(Clone, Debug)]
pub(crate) struct Allowance {
    pub(crate) budget: Arc<Budget>,
    pub(crate) shares: Arc<Shares>,
}

impl Allowance {
    /// Charges bytes that clients may be slow to take or send.
    pub(crate) fn try_hold(&self, purpose: Purpose, bytes: usize) -> Result<Charge, Exceeded> {
        self.try_take(&self.budget.held, purpose, bytes)
    }

    /// Charges bytes that are in use already, even if there is no memory for them.
    pub(crate) fn hold(&self, purpose: Purpose, bytes: usize) -> Charge {
        let mut charge = self.nothing(purpose);
        charge.resize(bytes);
        charge
    }

    /// Whether the caller may hold more bytes, at least one.
    pub(crate) fn has_room(&self) -> Result<(), Exceeded> {
        self.try_hold(Purpose::Requests, 1).map(drop)
    }

    /// Charges a watch and its selector, for as long as it is open.
    pub(crate) fn watch(&self, bytes: usize) -> Result<Charge, Exceeded> {
        self.try_take(&self.budget.watches, Purpose::Watches, bytes)
    }

    /// Charges bytes that clients may be slow to take, as soon as they are free, or says after some time why they are not: first
    /// come, first served among the uses of a caller for one purpose.
    /// More than a quarter of all is charged as a quarter: it would hardly ever be free.
    pub(crate) async fn hold_within(
        &self,
        patience: Duration,
        purpose: Purpose,
        bytes: usize,
    ) -> Result<Charge, Exceeded> {
        let part = &self.budget.held;
        let bytes = bytes.min(part.most / 4);
        let in_turn = async {
            let _turn = self.shares.memory.turns[purpose as usize].lock().await;
            self.take(part, purpose, bytes).await
        };
        if !patience.is_zero()
            && let Ok(charge) = timeout(patience, in_turn).await
        {
            return Ok(charge);
        }
        self.try_take(part, purpose, bytes)
    }

    /// Charges a connection or a request of HTTP/2; none if there is no memory for it.
    ///
    /// If memory is exceeded, an idle connection can make room: any, or one of the caller if it has half of the memory. A
    /// little more than all is used until that connection has closed. Callers with very little need no such connection, so
    /// that others who are busy with all of the memory do not lock them out.
    pub(crate) fn connect(&self, bytes: usize, makes_room: impl FnOnce(Exceeded) -> bool) -> Option<Charge> {
        let part = &self.budget.connections;
        let exceeded = match self.try_take(part, Purpose::Connections, bytes) {
            Ok(charge) => return Some(charge),
            Err(exceeded) => exceeded,
        };
        let (own, used) = (self.shares.memory.connections.load(Ordering::SeqCst), part.used.load(Ordering::SeqCst));
        let is_small = own + bytes <= part.most / 64;
        let most = if is_small { part.most / 8 * 9 } else { part.most / 16 * 17 };
        let has_overdraft = own < part.most / 16 * 9 && used < most;
        (has_overdraft && (makes_room(exceeded) || is_small)).then(|| {
            let mut charge = Charge::nothing(part, &self.shares, Purpose::Connections);
            charge.resize(bytes);
            charge
        })
    }

    /// A charge of no bytes, which can grow.
    pub(crate) fn nothing(&self, purpose: Purpose) -> Charge {
        Charge::nothing(&self.budget.held, &self.shares, purpose)
    }

    /// Charges bytes for the processing of a request, once they are free: first come, first served among the requests of a
    /// caller, and among the first requests of all callers.
    pub(crate) async fn process(&self, bytes: usize) -> Charge {
        let part = &self.budget.processing;
        let _own_turn = self.shares.memory.turns[Purpose::Processing as usize].lock().await;
        // A caller that has to wait for itself does not hold up others.
        self.once(part, || part.has_room_of_own(&self.shares, bytes).then_some(())).await;
        let _turn = self.budget.turn.lock().await;
        self.take(part, Purpose::Processing, bytes).await
    }

    fn try_take(&self, part: &Arc<Part>, purpose: Purpose, bytes: usize) -> Result<Charge, Exceeded> {
        let mut charge = Charge::nothing(part, &self.shares, purpose);
        charge.try_grow(bytes)?;
        Ok(charge)
    }

    async fn take(&self, part: &Arc<Part>, purpose: Purpose, bytes: usize) -> Charge {
        self.once(part, || self.try_take(part, purpose, bytes).ok()).await
    }

    /// Attempts something until it succeeds, each time that bytes of a part or of the caller are given back.
    async fn once<T>(&self, part: &Part, mut attempt: impl FnMut() -> Option<T>) -> T {
        if let Some(done) = attempt() {
            return done;
        }
        let (all, own) = (Waiting::new(&part.freed), Waiting::new(&self.shares.memory.freed));
        loop {
            let (mut in_all, mut of_own) = (Box::pin(all.0.notify.notified()), Box::pin(own.0.notify.notified()));
            // Memory that is released between the attempt and the wait must wake this request.
            in_all.as_mut().enable();
            of_own.as_mut().enable();
            if let Some(done) = attempt() {
                return done;
            }
            tokio::select! {
                () = in_all => {}
                () = of_own => {}
            }
        }
    }
}

/// A task that waits, counted.
struct Waiting<'f>(&'f Freed);

impl<'f> Waiting<'f> {
    fn new(freed: &'f Freed) -> Self {
        freed.waiting.fetch_add(1, Ordering::SeqCst);
        Self(freed)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}
