//! Answers that are sent in pieces, made no faster than their clients take them.
//!
//! Every piece is charged until the last byte of it is written to the connection. A sender that is not [`ready`] makes
//! nothing, so a client that does not read costs what it was sent last.
//!
//! [`ready`]: PieceSender::ready

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use tokio::sync::{Notify, mpsc};

use crate::{
    budget::{Allowance, Charge, Exceeded, Purpose},
    cut::{Reason, report},
};

/// How long a watch waits for memory before it is cut off: longer than a client may take nothing of an answer, so that those
/// are cut off first.
const EVENT_PATIENCE: Duration = Duration::from_secs(45);

/// The sending side of an answer in pieces.
#[derive(Debug)]
pub(crate) struct PieceSender {
    // It is not bounded itself: the window is.
    sender: mpsc::UnboundedSender<Bytes>,
    unsent: Arc<Unsent>,
    window: usize,
    allowance: Allowance,
    purpose: Purpose,
}

/// Why an answer ends before it is complete.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SendError {
    /// The client has left.
    ClientLeft,
    /// There was no memory for the next piece for too long.
    OutOfMemory,
}

/// Bytes of pieces that are not written to the connection yet.
#[derive(Debug, Default)]
struct Unsent {
    bytes: AtomicUsize,
    sent: Notify,
}

/// A piece, counted as unsent until it is dropped.
struct Piece {
    bytes: Bytes,
    unsent: Arc<Unsent>,
    _charge: Charge,
}

/// An answer in pieces of which so many bytes may be unsent before it waits for the client.
pub(crate) fn pieces(
    allowance: &Allowance,
    purpose: Purpose,
    window: usize,
) -> (PieceSender, mpsc::UnboundedReceiver<Bytes>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let (unsent, allowance) = (Arc::default(), allowance.clone());
    (PieceSender { sender, unsent, window, allowance, purpose }, receiver)
}

impl PieceSender {
    /// Waits until the client has taken enough of the pieces before.
    pub(crate) async fn ready(&self) -> Result<(), SendError> {
        loop {
            let sent = self.unsent.sent.notified();
            if self.sender.is_closed() {
                return Err(SendError::ClientLeft);
            }
            if self.unsent.bytes.load(Ordering::SeqCst) < self.window {
                return Ok(());
            }
            tokio::select! {
                () = sent => {}
                () = self.sender.closed() => return Err(SendError::ClientLeft),
            }
        }
    }

    /// Memory for a piece, as soon as there is some.
    pub(crate) async fn room(&self, bytes: usize) -> Result<Charge, SendError> {
        tokio::select! {
            charge = self.allowance.hold_within(EVENT_PATIENCE, self.purpose, bytes) => charge.map_err(|_| SendError::OutOfMemory),
            () = self.sender.closed() => Err(SendError::ClientLeft),
        }
    }

    /// Memory for a piece, if there is some.
    pub(crate) fn try_room(&self, bytes: usize) -> Result<Charge, Exceeded> {
        self.allowance.try_hold(self.purpose, bytes)
    }

    /// The charge of a piece that is too short to matter.
    pub(crate) fn nothing(&self) -> Charge {
        self.allowance.nothing(self.purpose)
    }

    /// Sends a piece, without waiting.
    pub(crate) fn send(&self, bytes: impl Into<Bytes>, charge: Charge) -> Result<(), SendError> {
        let bytes = bytes.into();
        self.unsent.bytes.fetch_add(bytes.len(), Ordering::SeqCst);
        let piece = Piece { bytes, unsent: self.unsent.clone(), _charge: charge };
        self.sender.send(Bytes::from_owner(piece)).map_err(|_| SendError::ClientLeft)
    }

    /// Once the client has left.
    pub(crate) async fn closed(&self) {
        self.sender.closed().await;
    }
}

impl SendError {
    /// Logs that an answer was cut off, unless its client has left.
    pub(crate) fn report(self) {
        if self == Self::OutOfMemory {
            report(Reason::Answer);
        }
    }
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.unsent.bytes.fetch_sub(self.bytes.len(), Ordering::SeqCst);
        self.unsent.sent.notify_one();
    }
}
