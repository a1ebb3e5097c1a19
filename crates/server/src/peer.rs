//! Who is at the other end of a connection.

use std::{net::SocketAddr, sync::Arc};

use tokio::sync::watch;

use crate::share::Shares;

/// Who is at the other end of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    pub(crate) address: SocketAddr,
    /// The name in a certificate that was verified.
    pub(crate) certificate: Option<Box<str>>,
    /// What all have who come from there.
    pub(crate) shares: Arc<Shares>,
    /// Whether the certificate is no longer accepted.
    pub(crate) distrusted: watch::Sender<bool>,
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
    pub(crate) fn local() -> Self {
        Self {
            address: ([127, 0, 0, 1], 0).into(),
            certificate: None,
            shares: Arc::default(),
            distrusted: watch::Sender::new(false),
        }
    }
}
