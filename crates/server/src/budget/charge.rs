//! Charges: bytes that are counted while something holds them.

use std::sync::{Arc, atomic::Ordering};

use bytes::Bytes;

use super::{Exceeded, Part, Purpose};
use crate::share::Shares;

/// Bytes that are given back when this is dropped.
#[derive(Debug)]
pub(crate) struct Charge {
    part: Arc<Part>,
    shares: Arc<Shares>,
    purpose: Purpose,
    bytes: usize,
}

impl Charge {
    /// A charge of no bytes, which can grow.
    pub(super) fn nothing(part: &Arc<Part>, shares: &Arc<Shares>, purpose: Purpose) -> Self {
        Self { part: part.clone(), shares: shares.clone(), purpose, bytes: 0 }
    }

    /// How many bytes it is for.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Charges so many bytes in all, if there are more than before.
    pub(crate) fn try_grow(&mut self, bytes: usize) -> Result<(), Exceeded> {
        let more = bytes.saturating_sub(self.bytes);
        if more == 0 {
            return Ok(());
        }
        self.part.add(&self.shares, more)?;
        self.count(more);
        Ok(())
    }

    /// Charges so many bytes instead, even if there are more than there should be: they are there already.
    pub(crate) fn resize(&mut self, bytes: usize) {
        if bytes > self.bytes {
            self.part.force(&self.shares, bytes - self.bytes);
            self.count(bytes - self.bytes);
        } else {
            drop(self.split(self.bytes - bytes));
        }
    }

    /// Some of the bytes, as a charge of its own.
    pub(crate) fn split(&mut self, bytes: usize) -> Self {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        Self { part: self.part.clone(), shares: self.shares.clone(), purpose: self.purpose, bytes }
    }

    fn count(&mut self, more: usize) {
        self.bytes += more;
        self.part.by_purpose[self.purpose as usize].fetch_add(more, Ordering::Relaxed);
    }

    /// Bytes that are charged until the last part of them is dropped, wherever that is.
    pub(crate) fn attach(self, bytes: Bytes) -> Bytes {
        Bytes::from_owner(Charged { bytes, _charge: self })
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        if self.bytes == 0 {
            return;
        }
        self.part.by_purpose[self.purpose as usize].fetch_sub(self.bytes, Ordering::Relaxed);
        self.part.sub(&self.shares, self.bytes);
    }
}

struct Charged {
    bytes: Bytes,
    _charge: Charge,
}

impl AsRef<[u8]> for Charged {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}
