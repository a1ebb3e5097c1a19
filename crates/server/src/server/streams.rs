//! Answers that are sent piece by piece, and end early: with the server, or because their caller may not have the rest.

use std::sync::Arc;

use bytes::Bytes;

use super::Service;
use crate::{
    access::{Access, Verb},
    audit::Trail,
    auth::Credential,
    peer::Peer,
    refusal::Refusal,
    tls::ClientCertificate,
};

/// A watch or a long list that is being sent.
pub(super) struct Stream {
    pub(super) access: Access,
    /// None where callers are not asked who they are.
    pub(super) credential: Option<Credential>,
    pub(super) peer: Arc<Peer>,
    /// The name of the caller, for the log.
    pub(super) caller: Option<Box<str>>,
    pub(super) trail: Trail,
}

impl Service {
    /// Waits until a stream has to end; returns what its client is sent last.
    pub(super) async fn until_cut(self: Arc<Self>, stream: Stream) -> Bytes {
        let Stream { access, credential, peer, caller, trail } = &stream;
        let is_watch = access.verb == Verb::Watch;
        let mut ending = self.ending.subscribe();
        let refusal = tokio::select! {
            // Lists are sent to their end.
            _ = ending.wait_for(|is_ending| *is_ending), if is_watch => return Bytes::new(),
            refusal = self.until_revoked(credential.as_ref(), access) => refusal,
            () = peer.until_distrusted() => Refusal::Unknown("the client certificate is no longer accepted".into()),
        };
        let (verb, kind, scope) = (access.verb.name(), access.kind.as_deref(), access.scope.as_granted());
        let (client, reason) = (peer.address, refusal.message());
        tracing::info!(%client, caller, verb, kind, scope, reason, "a stream was ended since its caller lost access");
        trail.revoked(&reason);
        match is_watch {
            true => self.kubernetes.watch_error(&refusal),
            false => Bytes::new(),
        }
    }

    /// Waits until the certificate of a client is no longer accepted, and ends its streams.
    pub(super) async fn until_distrusted(&self, peer: &Peer, certificate: Option<ClientCertificate>) {
        let Some((tls, certificate)) = self.tls.as_ref().zip(certificate) else { return std::future::pending().await };
        let error = certificate.until_refused(tls).await;
        let (client, certificate) = (peer.address, peer.certificate.as_deref());
        tracing::warn!(%client, certificate, %error, "a connection was ended since its certificate is no longer accepted");
        peer.distrusted.send_replace(true);
    }

    async fn until_revoked(&self, credential: Option<&Credential>, access: &Access) -> Refusal {
        match self.guard.as_ref().zip(credential) {
            Some((guard, credential)) => guard.until_revoked(credential, access).await,
            None => std::future::pending().await,
        }
    }
}
