//! The probe thread: probes and metrics are answered although all other threads are busy.
//!
//! The thread accepts all connections. It looks at the first bytes of those without TLS, serves those that begin with a
//! probe's request line itself, and hands over all others. With an address of their own (`--probe-listen`), probes are
//! served there, too.

use std::{
    future::pending,
    io,
    net::{self, SocketAddr},
    pin::pin,
    sync::Arc,
    thread,
    time::Duration,
};

use http::{HeaderValue, header};
use hyper::body::Incoming;
use tokio::{
    net::{TcpListener, TcpStream},
    runtime::{Builder, Handle},
    sync::{mpsc, oneshot},
    task::JoinSet,
};

use super::{Service, listener::Listener};
use crate::{
    Limits,
    browsers::Browsers,
    connections::{Busy, Connection, Connections},
    held::{Decrease, Held},
    own,
    peer::Peer,
    throttle::Throttle,
};

/// The most connections to the address of probes.
const PROBES: usize = 64;
/// As many bytes as it takes to recognize the request line of a probe.
const FIRST_BYTES: usize = 16;

/// Where a connection is served.
#[derive(Clone, Debug)]
pub(super) enum Lane {
    Workers,
    /// By the probe thread. Requests that are not probes are answered by the workers of this runtime.
    ProbeThread(Handle),
    /// At the address of probes, which has rules for browsers of its own.
    ProbeAddress(Arc<Browsers>),
}

/// The probe thread as the server sees it.
#[derive(Debug)]
pub(super) struct ProbeThread {
    /// The connections that are not probes.
    pub(super) accepted: mpsc::UnboundedReceiver<Accepted>,
    /// Closed when the thread has ended.
    ended: oneshot::Receiver<()>,
}

/// A connection for the server.
#[derive(Debug)]
pub(super) struct Accepted {
    pub(super) stream: net::TcpStream,
    pub(super) address: SocketAddr,
    pub(super) connection: Arc<Connection>,
}

/// The address of probes.
#[derive(Debug)]
struct OwnAddress {
    connections: Arc<Connections>,
    browsers: Arc<Browsers>,
}

impl ProbeThread {
    /// Starts the thread. It ends with the service, or when this is dropped.
    pub(super) fn start(service: Arc<Service>, listener: Listener, own: Option<Listener>) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let listener = listener.listener.into_std()?;
        let own = own.map(|own| own.listener.into_std().map(|listener| (listener, own.address))).transpose()?;
        let (sender, accepted) = mpsc::unbounded_channel();
        let workers = Handle::current();
        let (has_ended, ended) = oneshot::channel();
        thread::Builder::new().name("probes".to_owned()).spawn(move || {
            let running = async {
                let listener = TcpListener::from_std(listener)?;
                let (own, address) = own.unzip();
                let own_listener = own.map(TcpListener::from_std).transpose()?;
                let own = address.map(|address| OwnAddress::new(&service, address));
                run(service, (listener, own_listener), own, (sender, workers)).await;
                Ok::<_, io::Error>(())
            };
            if let Err(error) = runtime.block_on(running) {
                tracing::error!(%error, "cannot accept connections");
            }
            drop(has_ended);
        })?;
        Ok(Self { accepted, ended })
    }

    /// Waits until the thread has ended, and with it the connections that it serves.
    pub(super) async fn ended(self) {
        let _ = self.ended.await;
    }
}

impl OwnAddress {
    fn new(service: &Service, address: SocketAddr) -> Self {
        let limits = Limits { connections: PROBES, ..service.limits.clone() };
        let browsers = Arc::new(service.browsers.at("http", address.ip()));
        Self { connections: Connections::new(&limits), browsers }
    }
}

/// Accepts connections until the server ends, and serves probes until their clients have the answers.
async fn run(
    service: Arc<Service>,
    (listener, own_listener): (TcpListener, Option<TcpListener>),
    own: Option<OwnAddress>,
    (sender, workers): (mpsc::UnboundedSender<Accepted>, Handle),
) {
    let mut ending = service.ending.subscribe();
    let mut open = JoinSet::new();
    let mut dismissing = pin!(async {
        match &own {
            Some(own) => own.connections.dismiss_late().await,
            None => pending().await,
        }
    });
    let failures = Throttle::default();
    loop {
        let own_accept = async {
            match &own_listener {
                Some(listener) => listener.accept().await,
                None => pending().await,
            }
        };
        let accepted = tokio::select! {
            _ = ending.wait_for(|is_ending| *is_ending) => break,
            () = sender.closed() => break,
            () = &mut dismissing => break,
            Some(_) = open.join_next() => continue,
            accepted = listener.accept() => accepted.map(|(stream, address)| (stream, address, None)),
            accepted = own_accept => accepted.map(|(stream, address)| (stream, address, own.as_ref())),
        };
        match accepted {
            Ok((stream, address, own)) => {
                let connections = own.map_or(&service.connections, |own| &own.connections);
                let Some(connection) = connections.enter() else {
                    service.metrics.count_refused("connections");
                    continue;
                };
                // Answers are written as a whole; waiting for more helps nobody.
                let _ = stream.set_nodelay(true);
                let service = service.clone();
                match own {
                    Some(own) => {
                        let lane = Lane::ProbeAddress(own.browsers.clone());
                        open.spawn(service.begin(stream, address, connection, lane));
                    }
                    None => {
                        open.spawn(service.sorted(stream, address, connection, (sender.clone(), workers.clone())));
                    }
                }
            }
            // Out of file descriptors, mostly: an idle connection gives one back.
            Err(error) => {
                if let Some(more) = failures.admit(()) {
                    tracing::warn!(%error, more, "cannot accept a connection");
                }
                service.connections.dismiss_one();
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
    drop((listener, own_listener));
    while open.join_next().await.is_some() {}
}

impl Service {
    /// Answers a connection that begins with a probe, and hands over any other.
    async fn sorted(
        self: Arc<Self>,
        stream: TcpStream,
        address: SocketAddr,
        connection: Arc<Connection>,
        (sender, workers): (mpsc::UnboundedSender<Accepted>, Handle),
    ) {
        let open = Decrease::of(&self.metrics.connections);
        if self.tls.is_none() {
            let mut first = [0; FIRST_BYTES];
            let mut ending = self.ending.subscribe();
            let peeked = tokio::select! {
                peeked = stream.peek(&mut first) => peeked,
                () = connection.dismissed() => return,
                _ = ending.wait_for(|is_ending| *is_ending) => return,
            };
            match peeked {
                Ok(0) | Err(_) => return,
                Ok(length) if own::begins_probe(&first[..length]) => {
                    drop(open);
                    return self.begin(stream, address, connection, Lane::ProbeThread(workers)).await;
                }
                Ok(_) => {}
            }
        }
        match stream.into_std() {
            Ok(stream) => drop(sender.send(Accepted { stream, address, connection })),
            Err(error) => tracing::warn!(%error, "cannot hand over a connection"),
        }
    }

    /// Answers a request that came to the probe thread.
    pub(super) async fn respond_beside_probes(
        self: Arc<Self>,
        mut request: http::Request<Incoming>,
        peer: Arc<Peer>,
        busy: Busy,
        lane: Lane,
    ) -> http::Response<Held> {
        let is_own = own::is_own(request.uri().path());
        let workers = match lane {
            Lane::ProbeAddress(_) if !is_own => return own::not_served(busy),
            Lane::ProbeAddress(browsers) => {
                request.extensions_mut().insert(browsers);
                None
            }
            Lane::ProbeThread(workers) => Some(workers).filter(|_| !is_own),
            Lane::Workers => None,
        };
        let Some(workers) = workers else { return self.respond(request, peer, busy).await };
        let client = self.work.client(&peer.allowance.shares);
        let task = client.task(Box::pin(self.clone().respond(request, peer, busy)));
        // Ends with the connection.
        let mut answering = JoinSet::new();
        answering.spawn_on(task, &workers);
        match answering.join_next().await {
            Some(Ok(mut response)) => {
                // The next request is for the workers, too.
                response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
                response
            }
            Some(Err(error)) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            // The server has ended.
            Some(Err(_)) | None => pending().await,
        }
    }
}
