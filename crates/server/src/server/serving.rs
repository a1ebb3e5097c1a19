//! A server that serves, until it is asked to end.

use std::{
    net::SocketAddr,
    pin::pin,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use tokio::{net::TcpStream, task::JoinSet};

use super::{
    Service,
    listener::Listener,
    probes::{Accepted, Lane, ProbeThread},
};
use crate::{AuditLog, cut, hints::hints, throttle};

/// A server that is bound to an address.
#[derive(Debug)]
pub struct Serving {
    pub(super) listener: Listener,
    pub(super) probes: Option<Listener>,
    pub(super) service: Arc<Service>,
}

impl Serving {
    /// The address, with the port that was free.
    pub fn address(&self) -> SocketAddr {
        self.listener.address
    }

    /// The same, with an address of their own for probes and metrics, without TLS.
    #[must_use]
    pub fn with_probes(self, listener: Listener) -> Self {
        Self { probes: Some(listener), ..self }
    }

    /// The address of probes, with the port that was free.
    pub fn probe_address(&self) -> Option<SocketAddr> {
        self.probes.as_ref().map(|listener| listener.address)
    }

    /// How clients reach the server: `http://127.0.0.1:8080`.
    pub fn url(&self) -> String {
        format!("{}://{}", self.service.reached.scheme, self.address())
    }

    /// Commands and addresses to try with this server, a line each.
    pub fn hints(&self) -> Vec<String> {
        hints(&self.service.repository, &self.url())
    }

    /// Logs what is served, and where.
    pub fn log(&self) {
        tracing::info!(url = self.url(), kinds = self.service.repository.kinds().count(), "serving");
    }

    /// Serves until a future is done, and for as long after it as the limits say; then requests that are open are answered,
    /// for as long as the limits let them.
    pub async fn run(self, until: impl Future<Output = ()>) {
        let Self { listener, probes, service } = self;
        let mut thread = match ProbeThread::start(service.clone(), listener, probes) {
            Ok(thread) => thread,
            Err(error) => return tracing::error!(%error, "cannot start the thread that accepts connections"),
        };
        let mut open = JoinSet::new();
        let mut until = pin!(async {
            until.await;
            service.leave().await;
        });
        let mut watching = pin!(service.watch_over());
        let mut background = JoinSet::new();
        if let Some(scrub) = service.scrub.clone() {
            let repository = service.repository.clone();
            let scrubbing = async move { scrub.run(&repository).await };
            background.spawn(service.work.client(&Arc::default()).task(Box::pin(scrubbing)));
        }
        loop {
            let accepted = tokio::select! {
                () = &mut until => break,
                () = &mut watching => break,
                Some(_) = open.join_next() => continue,
                accepted = thread.accepted.recv() => accepted,
            };
            let Some(Accepted { stream, address, connection }) = accepted else { break };
            match TcpStream::from_std(stream) {
                Ok(stream) => drop(open.spawn(service.clone().begin(stream, address, connection, Lane::Workers))),
                Err(error) => tracing::warn!(%error, "cannot serve a connection"),
            }
        }
        tracing::info!(seconds = service.limits.grace.as_secs(), "about to end: what is open is answered first");
        service.ending.send_replace(true);
        background.shutdown().await;
        let done = async {
            while open.join_next().await.is_some() {}
            thread.ended().await;
        };
        if tokio::time::timeout(service.limits.grace, done).await.is_err() {
            tracing::warn!(open = open.len(), "some requests were not done in time");
        }
        // Requests that are cut off leave a line, too.
        drop(open);
        if let Some(audit) = &service.audit {
            audit.finish().await;
        }
    }
}

impl Service {
    /// Does what is to be done now and then, for ever.
    async fn watch_over(&self) {
        const EVERY: Duration = Duration::from_secs(1);
        tokio::join!(
            async {
                // A store may have to write something before it can say whether something was written.
                self.repository.mark();
                self.readiness.state().await;
            },
            self.connections.dismiss_late(),
            async {
                loop {
                    tokio::time::sleep(EVERY).await;
                    self.denials.report();
                    cut::report_more();
                    self.audit.iter().for_each(AuditLog::report_more);
                }
            },
            self.report_forgotten(),
            async {
                if let Some(tls) = &self.tls {
                    tls.keep_up(EVERY).await;
                }
            },
            async {
                if let Some(guard) = &self.guard {
                    guard.keep_up(EVERY, |kind| self.kubernetes.grants(kind) || self.arm.grants(kind)).await;
                }
            },
        );
    }

    /// Logs that the store forgot a part of its history early, because its disk is full.
    async fn report_forgotten(&self) {
        let mut known = 0;
        while let Some(disk) = self.repository.disk() {
            let changes = disk.forgotten_early - known;
            if changes > 0 {
                let free_bytes = disk.free_bytes;
                tracing::warn!(
                    changes,
                    free_bytes,
                    "the store is short of room: history was forgotten early, so watches from before it have to list again"
                );
            }
            known = disk.forgotten_early;
            tokio::time::sleep(throttle::INTERVAL).await;
        }
    }

    /// Says that it is about to end, and waits until those who look have seen it.
    async fn leave(&self) {
        self.is_leaving.store(true, Ordering::Relaxed);
        let delay = self.limits.shutdown_delay;
        if !delay.is_zero() {
            tracing::info!(seconds = delay.as_secs(), "asked to end: all is served until then, and /readyz fails");
            tokio::time::sleep(delay).await;
        }
    }
}
