//! Charges for the records that a request reads.

use std::{
    cell::{Cell, RefCell},
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::Poll,
};

use super::{Allowance, Charge, Exceeded, Purpose};

tokio::task_local! {
    static RECORDS: Records;
}

/// The charge of a request for the records that it reads: how long they are is known only once they are there.
#[derive(Debug)]
struct Records {
    factor: usize,
    allowance: Arc<Allowance>,
    /// None before the first record.
    charge: RefCell<Option<Charge>>,
    refused: Cell<Option<Exceeded>>,
}

/// Charges the current request for a record of so many bytes, if it has read none that is longer; false if there is no
/// memory for it, and the request must stop. Only the first record is refused: a later one may be the outcome of a write
/// that has been committed.
pub(crate) fn charge_record(bytes: usize) -> bool {
    let charged = RECORDS.try_with(|records| {
        let Records { factor, allowance, charge, refused } = records;
        // Small budgets keep no long record from being read.
        let bytes = (bytes * factor).min(allowance.budget.held.most / 4);
        let charge = &mut *charge.borrow_mut();
        match charge {
            Some(charge) => charge.resize(charge.bytes().max(bytes)),
            None => {
                let first = allowance.try_hold(Purpose::Requests, bytes);
                refused.set(first.as_ref().err().copied());
                *charge = first.ok();
            }
        }
        charge.is_some()
    });
    charged.unwrap_or(true)
}

impl Allowance {
    /// Does something with charges for the records that it reads, each of them for so many times its length; or stops as
    /// soon as there is no memory for the first one.
    pub(crate) async fn reading<T>(
        self: &Arc<Self>,
        factor: usize,
        mut future: Pin<&mut impl Future<Output = T>>,
    ) -> Result<T, Exceeded> {
        let records = Records { factor, allowance: self.clone(), charge: RefCell::default(), refused: Cell::default() };
        let reading = poll_fn(|context| match future.as_mut().poll(context) {
            Poll::Ready(outcome) => Poll::Ready(Ok(outcome)),
            Poll::Pending => match RECORDS.with(|records| records.refused.get()) {
                Some(exceeded) => Poll::Ready(Err(exceeded)),
                None => Poll::Pending,
            },
        });
        RECORDS.scope(records, reading).await
    }
}
