//! Who is at the other end of a connection.

use std::{
    net::SocketAddr,
    sync::{Arc, OnceLock},
};

use tokio::sync::watch;

use crate::budget::Allowance;
#[cfg(feature = "fuzzing")]
use crate::budget::Budget;

/// Who is at the other end of a connection.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) address: SocketAddr,
    /// The name in a certificate that was verified.
    pub(crate) certificate: Option<Box<str>>,
    /// The memory of all clients at the address, and what else they share.
    pub(crate) allowance: Arc<Allowance>,
    /// Whether the certificate is no longer accepted.
    pub(crate) distrusted: watch::Sender<bool>,
    /// A value of `Host` that was checked: most connections have one for all of their requests.
    pub(crate) host: OnceLock<Box<[u8]>>,
}

impl Peer {
    /// Waits until the certificate is no longer accepted.
    pub(crate) async fn until_distrusted(&self) {
        // There is a sender for as long as there is a peer.
        let _ = self.distrusted.subscribe().wait_for(|is_distrusted| *is_distrusted).await;
    }
}

#[cfg(feature = "fuzzing")]
impl Peer {
    /// Somebody who needs no connection.
    pub(crate) fn local(budget: &Arc<Budget>) -> Self {
        Self {
            address: ([127, 0, 0, 1], 0).into(),
            certificate: None,
            allowance: Arc::new(Allowance { budget: budget.clone(), shares: Arc::default() }),
            distrusted: watch::Sender::new(false),
            host: OnceLock::new(),
        }
    }
}
