//! The server: it accepts connections and looks after them.

mod probes;
mod respond;
mod streams;

use std::{
    error::Error,
    fmt, io,
    net::SocketAddr,
    path::Path,
    pin::pin,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::future::Either;
use http::Uri;
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpSocket, TcpStream},
    sync::{Semaphore, watch},
    task::JoinSet,
};
use tokio_rustls::TlsAcceptor;
use wheelwright_repository::{Repository, Store};

use crate::{
    AccessError, AuditLog, Limits, TlsError, TlsFiles,
    arm::Arm,
    audit,
    auth::Guard,
    browsers::{Authentication, Browsers, host_name},
    budget::{Allowance, Budget, Charge, Exceeded},
    caller::Caller,
    connections::{Connection, Connections, WINDOW},
    cut::{Reason, report},
    damaged_records::DamagedRecords,
    denials::Denials,
    held::Decrease,
    hints::hints,
    kubernetes::Kubernetes,
    meter::Metered,
    metrics::Metrics,
    own::Readiness,
    peer::Peer,
    request::Reached,
    scrub::Scrub,
    share::ByAddress,
    shelf::Shelf,
    stall::Stalling,
    tls::{ClientCertificate, Tls, is_refused_certificate},
    work::{InPool, WorkPool},
};

use self::probes::{Accepted, Lane, ProbeThread};

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
/// A silent connection takes less than a part of the memory per connection.
const SILENT_BYTES: usize = 32 << 10;

/// A server that is yet to be bound to an address.
#[derive(Debug)]
pub struct Server {
    repository: Repository,
    limits: Limits,
    tls: Option<Tls>,
    guard: Option<Guard>,
    public_url: Option<Box<str>>,
    allowed_hosts: Vec<Box<str>>,
    audit: Option<AuditLog>,
    scrub: Option<Duration>,
}

/// An address that is bound before the server of it is complete. Connections wait until it serves.
#[derive(Debug)]
pub struct Listener {
    listener: TcpListener,
    address: SocketAddr,
}

/// A server that is bound to an address.
#[derive(Debug)]
pub struct Serving {
    listener: Listener,
    probes: Option<Listener>,
    service: Arc<Service>,
}

/// An address that cannot be had.
#[derive(Debug)]
pub struct BindError {
    address: SocketAddr,
    error: io::Error,
}

impl Server {
    /// A server of the kinds of a repository.
    pub fn new(repository: Repository) -> Self {
        Self {
            repository,
            limits: Limits::default(),
            tls: None,
            guard: None,
            public_url: None,
            allowed_hosts: Vec::new(),
            audit: None,
            scrub: None,
        }
    }

    /// The same, with another store: one that is opened once everything else is known to be right.
    #[must_use]
    pub fn with_store(self, store: Arc<dyn Store>) -> Self {
        Self { repository: self.repository.with_store(store), ..self }
    }

    /// The same, with other limits.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// The same, with TLS.
    ///
    /// # Errors
    /// The files cannot be read, or do not belong together.
    pub fn with_tls(self, files: TlsFiles) -> Result<Self, TlsError> {
        Ok(Self { tls: Some(Tls::read(files)?), ..self })
    }

    /// The same, asking everybody who they are: the file says who there is, and what they may do.
    ///
    /// # Errors
    /// The file cannot be read, or is not as it must be.
    pub fn with_access(self, file: &Path) -> Result<Self, AccessError> {
        Ok(Self { guard: Some(Guard::read(file)?), ..self })
    }

    /// The same, with links that begin with this address: that of a proxy, where clients do not reach the server itself.
    ///
    /// # Errors
    /// What is no address of that sort.
    pub fn with_public_url(self, url: &str) -> Result<Self, String> {
        let is_fit = |uri: &Uri| matches!(uri.scheme_str(), Some("http" | "https")) && uri.authority().is_some();
        match url.parse::<Uri>().is_ok_and(|uri| is_fit(&uri)) && !url.contains(['?', '#']) {
            true => Ok(Self { public_url: Some(url.trim_end_matches('/').into()), ..self }),
            false => {
                Err(format!("{url}: expected https://HOST/PATH, without a query or fragment, for links to begin with"))
            }
        }
    }

    /// Lets requests name these hosts beside loopback names, the listening address and the host of the public URL.
    ///
    /// Hosts are checked where clients are not authenticated, so that no web page reaches the server by a name of its own.
    ///
    /// # Errors
    /// A text that is not a host name or an IP address.
    pub fn with_allowed_hosts(self, hosts: &[impl AsRef<str>]) -> Result<Self, String> {
        let hosts = hosts.iter().map(|host| host_name(host.as_ref())).collect::<Result<_, _>>()?;
        Ok(Self { allowed_hosts: hosts, ..self })
    }

    /// The same, with a line in an audit log for every write and every refusal.
    #[must_use]
    pub fn with_audit(self, log: AuditLog) -> Self {
        Self { audit: Some(log), ..self }
    }

    /// Scrubs the store: reads all records slowly to find damaged ones, and starts again `every` after the end of a scrub.
    #[must_use]
    pub fn with_scrub(self, every: Duration) -> Self {
        Self { scrub: Some(every), ..self }
    }

    /// Binds the server to an address.
    ///
    /// # Errors
    /// Somebody else has the address, or it is not ours to have.
    pub async fn bind(self, address: SocketAddr) -> Result<Serving, BindError> {
        Ok(self.listen(Listener::bind(address).await?))
    }

    /// Binds the server to an address that is bound already.
    pub fn listen(self, listener: Listener) -> Serving {
        let service = Arc::new(self.service(listener.address));
        Serving { listener, probes: None, service }
    }

    pub(crate) fn service(self, address: SocketAddr) -> Service {
        let Self { repository, mut limits, tls, guard, public_url, allowed_hosts, audit, scrub } = self;
        limits.connections = limits.connections.min(limits.memory_bytes / SILENT_BYTES).max(1);
        let scheme = if tls.is_some() { "https" } else { "http" };
        let authentication = match &guard {
            None => Authentication::None,
            Some(_) if tls.as_ref().is_some_and(Tls::has_client_authorities) => Authentication::Certificates,
            Some(_) => Authentication::Tokens,
        };
        let browsers = Browsers::new(authentication, (scheme, address.ip()), allowed_hosts, public_url.as_deref());
        let damaged = Arc::new(DamagedRecords::default());
        let repository = repository.with_scheduler(Arc::new(InPool)).with_damage_observer(damaged.clone());
        let shelf = Arc::new(Shelf::new(limits.kept_bytes.min(limits.memory_bytes / 16)));
        let budget = Budget::new(&limits);
        let scrub = scrub.map(|every| Arc::new(Scrub::new(every, damaged.clone())));
        let metrics = Metrics::new(repository.clone(), budget.clone(), audit.as_ref(), &damaged, scrub.as_deref());
        Service {
            reached: Arc::new(Reached { scheme, address: address.to_string().into(), public_url }),
            browsers,
            tls,
            guard,
            anonymous: Arc::new(Caller::anonymous()),
            arm: Arm::new(&repository, &limits, shelf.clone()),
            kubernetes: Kubernetes::new(repository.clone(), &shelf),
            work: WorkPool::new(budget.work(), metrics.queued.clone()),
            metrics,
            budget,
            audit,
            damaged,
            scrub,
            denials: Denials::default(),
            readiness: Arc::new(Readiness::new(repository.clone())),
            repository,
            bodies: Semaphore::new(limits.requests),
            requests: Arc::new(Semaphore::new(limits.requests)),
            is_leaving: AtomicBool::new(false),
            watches: Arc::new(Semaphore::new(limits.watches)),
            connections: Connections::new(&limits),
            by_address: ByAddress::new(limits.connections),
            ending: watch::Sender::new(false),
            limits,
        }
    }
}

impl Listener {
    /// Binds an address.
    ///
    /// # Errors
    /// Another program has the address, or this machine does not.
    pub async fn bind(address: SocketAddr) -> Result<Self, BindError> {
        let failed = |error| BindError { address, error };
        let listener = listen(address).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address })
    }
}

/// Listens at an address, with more room for connections that nobody has accepted yet than is usual: one that finds none
/// waits for a second.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    const BACKLOG: u32 = 4096;
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    if cfg!(unix) {
        socket.set_reuseaddr(true)?;
    }
    socket.bind(address)?;
    socket.listen(BACKLOG)
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

    /// What there is to try, a line each.
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
            audit.flush().await;
        }
    }
}

/// What all connections share.
#[derive(Debug)]
pub(crate) struct Service {
    repository: Repository,
    arm: Arm,
    kubernetes: Kubernetes,
    limits: Limits,
    pub(crate) budget: Arc<Budget>,
    reached: Arc<Reached>,
    browsers: Browsers,
    tls: Option<Tls>,
    guard: Option<Guard>,
    audit: Option<AuditLog>,
    damaged: Arc<DamagedRecords>,
    scrub: Option<Arc<Scrub>>,
    denials: Denials,
    anonymous: Arc<Caller>,
    /// Places for bodies that are being read.
    bodies: Semaphore,
    requests: Arc<Semaphore>,
    watches: Arc<Semaphore>,
    readiness: Arc<Readiness>,
    /// It was asked to end.
    is_leaving: AtomicBool,
    pub(crate) connections: Arc<Connections>,
    by_address: ByAddress,
    work: WorkPool,
    metrics: Metrics,
    ending: watch::Sender<bool>,
}

impl Service {
    /// Does what is to be done now and then, for ever.
    async fn watch_over(&self) {
        const EVERY: Duration = Duration::from_secs(1);
        tokio::join!(
            async {
                // A store may have to write something before it can say whether something was written.
                self.repository.mark();
                self.readiness.is_ready().await;
            },
            self.connections.dismiss_late(),
            self.denials.report(EVERY),
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

    /// Says that it is about to end, and waits until those who look have seen it.
    async fn leave(&self) {
        self.is_leaving.store(true, Ordering::Relaxed);
        let delay = self.limits.shutdown_delay;
        if !delay.is_zero() {
            tracing::info!(seconds = delay.as_secs(), "asked to end: all is served until then, and /readyz fails");
            tokio::time::sleep(delay).await;
        }
    }

    /// Serves one connection once something comes of it: one that is silent takes next to no memory.
    async fn begin(self: Arc<Self>, stream: TcpStream, address: SocketAddr, connection: Arc<Connection>, lane: Lane) {
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
            // What a client does not take is not held for it.
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
        let mut ending = self.ending.subscribe();
        tokio::select! {
            _ = serving.as_mut() => return,
            () = self.until_distrusted(&peer, certificate) => {}
            () = connection.dismissed() => {}
            _ = ending.wait_for(|is_ending| *is_ending) => {}
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

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot listen at {}: {}", self.address, self.error)
    }
}

impl Error for BindError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.error)
    }
}
