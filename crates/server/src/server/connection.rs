//! One connection, from its first byte to its last answer.

use std::{
    net::SocketAddr,
    pin::pin,
    sync::{Arc, OnceLock},
    time::Duration,
};

use futures_util::{StreamExt as _, future::Either, stream::FuturesUnordered};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    sync::watch,
};
use tokio_rustls::TlsAcceptor;

use super::{Service, probes::Lane};
use crate::{
    audit,
    budget::{Allowance, Charge, Exceeded},
    connections::{Connection, WINDOW},
    cut::{Reason, report},
    held::Decrease,
    meter::Metered,
    peer::Peer,
    stall::Stalling,
    tls::{ClientCertificate, is_refused_certificate},
};

/// How long a connection that has to leave has to come to the end of a head that it has begun.
const PARTING: Duration = Duration::from_secs(1);

/// Memory of a connection from its first byte on.
const CONNECTION_BYTES: usize = 24 << 10;
/// More memory while a connection is secured.
const HANDSHAKE_BYTES: usize = 64 << 10;
/// More memory once it is.
const TLS_BYTES: usize = 24 << 10;
/// Memory of a request of HTTP/2 until its answer is sent, with a short answer.
const STREAM_BYTES: usize = 16 << 10;

impl Service {
    /// Serves one connection once something comes of it: one that is silent takes next to no memory.
    pub(super) async fn begin(
        self: Arc<Self>,
        stream: TcpStream,
        address: SocketAddr,
        connection: Arc<Connection>,
        lane: Lane,
    ) {
        let _open = Decrease::of(&self.metrics.connections);
        let (mut ending, mut first) = (self.ending.subscribe(), [0]);
        tokio::select! {
            _ = stream.peek(&mut first) => {}
            () = connection.dismissed() => return self.not_secured_in_time(address),
            _ = ending.wait_for(|is_ending| *is_ending) => return,
        }
        let shares = self.by_address.of(address.ip());
        let allowance = Arc::new(Allowance { budget: self.budget.clone(), shares });
        let bytes = CONNECTION_BYTES + if self.tls.is_some() { HANDSHAKE_BYTES } else { 0 };
        let Some(charge) = self.charge_connection(&allowance, bytes) else { return };
        connection.set_caller(&allowance.shares);
        Box::pin(self.secure(stream, (address, allowance), connection, (charge, lane))).await;
    }

    /// Charges a connection or a request of HTTP/2, for which an idle connection may have to leave; none if there is no
    /// memory for it.
    fn charge_connection(&self, allowance: &Allowance, bytes: usize) -> Option<Charge> {
        let charge = allowance.connect(bytes, |exceeded| match exceeded {
            Exceeded::Caller => self.connections.dismiss_one_of(&allowance.shares),
            Exceeded::All => self.connections.dismiss_one(),
        });
        if charge.is_none() {
            self.metrics.count_refused("connections");
            report(Reason::Connection);
        }
        charge
    }

    /// Serves one connection, with TLS if that is wanted.
    async fn secure(
        self: Arc<Self>,
        stream: TcpStream,
        (address, allowance): (SocketAddr, Arc<Allowance>),
        connection: Arc<Connection>,
        (mut charge, lane): (Charge, Lane),
    ) {
        let distrusted = watch::Sender::new(false);
        let peer = |certificate| Arc::new(Peer { address, certificate, allowance, distrusted, host: OnceLock::new() });
        let tls = self.tls.as_ref().filter(|_| matches!(lane, Lane::Workers));
        let Some(tls) = tls else { return self.serve(stream, peer(None), None, connection, (charge, lane)).await };
        let reloads = tls.reloads();
        let accepted = TlsAcceptor::from(tls.config()).accept(stream);
        let accepted = tokio::select! {
            accepted = tokio::time::timeout(self.limits.head_time, accepted) => accepted.ok(),
            () = connection.dismissed() => None,
        };
        match accepted {
            Some(Ok(stream)) => {
                charge.resize(CONNECTION_BYTES + TLS_BYTES);
                let certificate = ClientCertificate::of(stream.get_ref().1, reloads);
                let name = certificate.as_ref().and_then(ClientCertificate::name);
                self.serve(stream, peer(name), certificate, connection, (charge, lane)).await;
            }
            Some(Err(error)) => {
                if is_refused_certificate(&error) {
                    tracing::warn!(client = %address, %error, "the certificate of a client was refused");
                    audit::refused_certificate(self.audit.as_ref(), address, &error);
                } else {
                    tracing::debug!(client = %address, %error, "a connection could not be secured");
                }
                self.metrics.count_refused("tls");
            }
            None => self.not_secured_in_time(address),
        }
    }

    fn not_secured_in_time(&self, address: SocketAddr) {
        if self.tls.is_some() {
            tracing::debug!(client = %address, "a connection was not secured in time");
            self.metrics.count_refused("tls");
        }
    }

    /// Serves one connection.
    async fn serve<S>(
        self: Arc<Self>,
        stream: S,
        peer: Arc<Peer>,
        certificate: Option<ClientCertificate>,
        connection: Arc<Connection>,
        (charge, lane): (Charge, Lane),
    ) where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let mut builder = auto::Builder::new(TokioExecutor::new());
        builder
            .http1()
            // Connections see to that, for less than a timer for each request, and let those be idle that say nothing.
            .header_read_timeout(None)
            .max_buf_size(self.limits.head_bytes.max(8 << 10))
            .half_close(false);
        builder
            .http2()
            .timer(TokioTimer::new())
            .max_concurrent_streams(64)
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(4 * WINDOW)
            // Limits what is buffered for a client that does not read.
            .max_send_buf_size(64 << 10)
            .max_header_list_size(u32::try_from(self.limits.head_bytes).unwrap_or(u32::MAX))
            .keep_alive_interval(Duration::from_secs(30));
        let client = self.work.client(&peer.allowance.shares);
        let respond = service_fn(|request: http::Request<Incoming>| {
            let is_multiplexed = request.version() == http::Version::HTTP_2;
            let charge = is_multiplexed.then(|| self.charge_connection(&peer.allowance, STREAM_BYTES));
            let busy = match charge {
                // The client knows that the request was not processed and can be sent again.
                Some(None) => Err(h2::Error::from(h2::Reason::REFUSED_STREAM)),
                charge => Ok(connection.busy(is_multiplexed, charge.flatten())),
            };
            let response = busy.map(|busy| match &lane {
                Lane::Workers => {
                    let task = Box::pin(self.clone().respond(request, peer.clone(), busy));
                    Either::Left(client.task(task))
                }
                lane => {
                    let (service, peer) = (self.clone(), peer.clone());
                    Either::Right(Box::pin(service.respond_beside_probes(request, peer, busy, lane.clone())))
                }
            });
            async move { Ok::<_, h2::Error>(response?.await) }
        });
        let stream = Metered::new(stream, connection.clone(), charge);
        let stream = TokioIo::new(Stalling::new(stream, self.limits.stall_time, || report(Reason::Stalled)));
        let mut serving = pin!(builder.serve_connection(stream, respond));
        let leaving = async {
            let mut ending = self.ending.subscribe();
            tokio::select! {
                () = self.until_distrusted(&peer, certificate) => {}
                () = connection.dismissed() => {}
                _ = ending.wait_for(|is_ending| *is_ending) => {}
            }
        };
        // Polled when it is woken, and not with every request.
        let mut leaving = FuturesUnordered::from_iter([leaving]);
        tokio::select! {
            biased;
            _ = serving.as_mut() => return,
            _ = leaving.next() => {}
        }
        serving.as_mut().graceful_shutdown();
        // Ends at once if it is idle, and with its last answer if it is not. Half a head is no request that is owed one, and
        // a client that was too slow has had its time.
        let has_ended = tokio::time::timeout(PARTING, serving.as_mut()).await.is_ok();
        if !has_ended && connection.is_busy() && !connection.is_late() {
            let _ = tokio::time::timeout(self.limits.grace, serving).await;
        }
    }
}
