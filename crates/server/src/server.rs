//! The server: it accepts connections, and leads every request through the same steps to its dialect and back.

use std::{
    convert::Infallible,
    error::Error,
    fmt, io,
    net::SocketAddr,
    path::Path,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Uri, header};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
    task::JoinSet,
};
use tokio_rustls::TlsAcceptor;
use wheelwright_repository::Repository;

use crate::{
    AccessError, Limits, TlsError, TlsFiles,
    access::{Access, Verb},
    answer::{Answer, AnswerBody},
    arm::{self, Arm},
    auth::Guard,
    body::{self, RequestBody},
    caller::Caller,
    connections::{Busy, Connection, Connections},
    held::{Decrease, Held, Permit},
    hints::hints,
    kubernetes::{self, Kubernetes},
    log::Line,
    metrics::Metrics,
    own::{self, Readiness},
    path::Segments,
    peer::Peer,
    query::Query,
    refusal::Refusal,
    request::{Head, Reached, Request},
    share::{ByAddress, Place, Share, Shares},
    shelf::Shelf,
    stall::Stalling,
    tls::{Tls, common_name, is_refused_certificate},
};

/// How long a connection that has to leave has to come to the end of a head that it has begun.
const PARTING: Duration = Duration::from_secs(1);

/// A server that is yet to be bound to an address.
#[derive(Debug)]
pub struct Server {
    repository: Repository,
    limits: Limits,
    tls: Option<Tls>,
    guard: Option<Guard>,
    public_url: Option<Box<str>>,
}

/// A server that is bound to an address.
#[derive(Debug)]
pub struct Serving {
    listener: TcpListener,
    address: SocketAddr,
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
        Self { repository, limits: Limits::default(), tls: None, guard: None, public_url: None }
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

    /// Binds the server to an address.
    ///
    /// # Errors
    /// Somebody else has the address, or it is not ours to have.
    pub async fn bind(self, address: SocketAddr) -> Result<Serving, BindError> {
        let failed = |error| BindError { address, error };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Serving { listener, address, service: Arc::new(self.service(address)) })
    }

    pub(crate) fn service(self, address: SocketAddr) -> Service {
        let Self { repository, limits, tls, guard, public_url } = self;
        let scheme = if tls.is_some() { "https" } else { "http" };
        let shelf = Arc::new(Shelf::new(limits.kept_bytes));
        Service {
            reached: Arc::new(Reached { scheme, address: address.to_string().into(), public_url }),
            tls,
            guard,
            anonymous: Arc::new(Caller::anonymous()),
            arm: Arm::new(&repository, &limits, shelf.clone()),
            kubernetes: Kubernetes::new(repository.clone(), &shelf),
            repository,
            bodies: Semaphore::new(limits.requests),
            requests: Arc::new(Semaphore::new(limits.requests)),
            readiness: Readiness::default(),
            is_leaving: AtomicBool::new(false),
            watches: Arc::new(Semaphore::new(limits.watches)),
            connections: Connections::new(&limits),
            by_address: ByAddress::new(limits.connections),
            metrics: Metrics::new(),
            ending: watch::Sender::new(false),
            limits,
        }
    }
}

impl Serving {
    /// The address, with the port that was free.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How clients reach the server: `http://127.0.0.1:8080`.
    pub fn url(&self) -> String {
        format!("{}://{}", self.service.reached.scheme, self.address)
    }

    /// What there is to try, a line each.
    pub fn hints(&self) -> Vec<String> {
        hints(&self.service.repository, &self.url())
    }

    /// Serves until a future is done, and for as long after it as the limits say; then requests that are open are answered,
    /// for as long as the limits let them.
    pub async fn run(self, until: impl Future<Output = ()>) {
        let Self { listener, service, .. } = self;
        let mut open = JoinSet::new();
        let mut until = pin!(async {
            until.await;
            service.leave().await;
        });
        let mut watching = pin!(service.watch_over());
        loop {
            let accepted = tokio::select! {
                () = &mut until => break,
                () = &mut watching => break,
                Some(_) = open.join_next() => continue,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, address)) => match service.connections.enter() {
                    Some(connection) => {
                        // Answers are written as a whole; waiting for more helps nobody.
                        let _ = stream.set_nodelay(true);
                        open.spawn(service.clone().secure(stream, address, connection));
                    }
                    None => service.metrics.count_refused("connections"),
                },
                // Out of file descriptors, mostly: an idle connection gives one back.
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    service.connections.dismiss_one();
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            }
        }
        tracing::info!(grace = service.limits.grace.as_secs(), "about to end: what is open is answered first");
        drop(listener);
        service.ending.send_replace(true);
        let done = async { while open.join_next().await.is_some() {} };
        if tokio::time::timeout(service.limits.grace, done).await.is_err() {
            tracing::warn!(open = open.len(), "some requests were not done in time");
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
    reached: Arc<Reached>,
    tls: Option<Tls>,
    guard: Option<Guard>,
    anonymous: Arc<Caller>,
    /// Places for bodies that are being read.
    bodies: Semaphore,
    requests: Arc<Semaphore>,
    watches: Arc<Semaphore>,
    readiness: Readiness,
    /// It was asked to end.
    is_leaving: AtomicBool,
    pub(crate) connections: Arc<Connections>,
    by_address: ByAddress,
    metrics: Metrics,
    ending: watch::Sender<bool>,
}

/// Whose words a request is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Dialect {
    Arm,
    Kubernetes,
}

/// What a request is about, in its dialect.
enum Route<'k> {
    Arm(arm::Route<'k>),
    Kubernetes(kubernetes::Route),
}

impl Service {
    /// Does what is to be done now and then, for ever.
    async fn watch_over(&self) {
        const EVERY: Duration = Duration::from_secs(1);
        tokio::join!(
            async {
                // A store may have to write something before it can say whether something was written.
                self.repository.mark();
                self.readiness.is_ready(&self.repository).await;
            },
            self.connections.dismiss_late(),
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
            tracing::info!(delay = delay.as_secs(), "asked to end: until then all is served, and /readyz tells of it");
            tokio::time::sleep(delay).await;
        }
    }

    /// Serves one connection, with TLS if that is wanted.
    async fn secure(self: Arc<Self>, stream: TcpStream, address: SocketAddr, connection: Arc<Connection>) {
        let shares = self.by_address.of(address.ip());
        let peer = |certificate| Arc::new(Peer { address, certificate, shares });
        let Some(tls) = &self.tls else { return self.serve(stream, peer(None), connection).await };
        let accepted = TlsAcceptor::from(tls.config()).accept(stream);
        let accepted = tokio::select! {
            accepted = tokio::time::timeout(self.limits.head_time, accepted) => accepted.ok(),
            () = connection.dismissed() => None,
        };
        match accepted {
            Some(Ok(stream)) => {
                let certificates = stream.get_ref().1.peer_certificates();
                let certificate = certificates.and_then(<[_]>::first).and_then(common_name);
                self.serve(stream, peer(certificate), connection).await;
            }
            Some(Err(error)) => {
                if is_refused_certificate(&error) {
                    tracing::warn!(client = %address, %error, "the certificate of a client was refused");
                } else {
                    tracing::debug!(client = %address, %error, "a connection could not be secured");
                }
                self.metrics.count_refused("tls");
            }
            None => {
                tracing::debug!(client = %address, "a connection was not secured in time");
                self.metrics.count_refused("tls");
            }
        }
    }

    /// Serves one connection.
    async fn serve<S>(self: Arc<Self>, stream: S, peer: Arc<Peer>, connection: Arc<Connection>)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let _open = Decrease::of(&self.metrics.connections);
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
            // What a client does not take is not held for it.
            .max_send_buf_size(64 << 10)
            .max_header_list_size(u32::try_from(self.limits.head_bytes).unwrap_or(u32::MAX))
            .keep_alive_interval(Duration::from_secs(30));
        let respond = service_fn(|request: http::Request<Incoming>| {
            let busy = connection.busy(request.version() == http::Version::HTTP_2);
            let (service, peer) = (self.clone(), peer.clone());
            async move { Ok::<_, Infallible>(service.respond(request, &peer, busy).await) }
        });
        let heard = {
            let connection = connection.clone();
            move || connection.heard()
        };
        let stream = TokioIo::new(Stalling::new(stream, self.limits.stall_time, heard));
        let mut serving = pin!(builder.serve_connection(stream, respond));
        let mut ending = self.ending.subscribe();
        tokio::select! {
            _ = serving.as_mut() => return,
            () = connection.dismissed() => {}
            _ = ending.wait_for(|is_ending| *is_ending) => {}
        }
        serving.as_mut().graceful_shutdown();
        // Ends at once if it is idle, and with its last answer if it is not. Half a head is no request that is owed one.
        if tokio::time::timeout(PARTING, serving.as_mut()).await.is_err() && connection.is_busy() {
            let _ = tokio::time::timeout(self.limits.grace, serving).await;
        }
    }

    /// Answers a request, and counts it.
    pub(crate) async fn respond<B: RequestBody>(
        self: Arc<Self>,
        request: http::Request<B>,
        peer: &Peer,
        busy: Busy,
    ) -> http::Response<Held> {
        let began = Instant::now();
        let (head, body) = request.into_parts();
        let is_multiplexed = head.version == http::Version::HTTP_2;
        let (dialect, path) = (Dialect::of(head.uri.path()), head.uri.clone());
        let is_head = head.method == http::Method::HEAD;
        let ids = dialect.ids(&head.headers);
        let mut permit = None;
        let is_ending = self.is_leaving.load(Ordering::Relaxed);
        let is_probe = own::is_probe(head.uri.path());
        let head = self.head(head, peer.certificate.as_deref(), is_probe);
        let caller = head.as_ref().ok().map(|head| head.caller.clone());
        let (access, answer) = match head {
            Ok(head) => match own::answer(&head, &self.repository, (&self.metrics, &self.readiness), is_ending).await {
                Some(answer) => (None, answer),
                None => self.routed(dialect, head, body, peer, &mut permit).await,
            },
            Err(refusal) => (None, self.refuse(dialect, &refusal)),
        };
        let answer = match (dialect, access.as_ref().and_then(|access| access.version.as_deref())) {
            (Dialect::Arm, Some(version)) => arm::served(answer, version),
            _ => answer,
        };
        let took = began.elapsed();
        // Whoever only looks after the server asks for nothing, and what is wrong is said where it is found.
        if !is_probe {
            self.metrics.count(dialect.name(), access.as_ref(), answer.status, took);
        }
        let line = Line {
            dialect: dialect.name(),
            path: path.path(),
            access: access.as_ref(),
            caller: caller.as_deref(),
            peer,
            ids: &ids,
            status: answer.status,
            took,
        };
        line.write(is_probe);
        let answer = answer.with_all(ids);
        let is_watch = access.is_some_and(|access| access.verb == Verb::Watch);
        let busy = if is_watch { busy.for_long() } else { busy };
        answer.into_response().map(|body| {
            let body = if is_head { AnswerBody::Whole(None) } else { body };
            Held::new(body, is_watch.then(|| self.ending.subscribe()), permit, busy, is_multiplexed)
        })
    }

    fn head(&self, head: http::request::Parts, certificate: Option<&str>, is_probe: bool) -> Result<Head, Refusal> {
        let caller = match &self.guard {
            Some(guard) if !is_probe => guard.caller(&head.headers, certificate)?,
            _ => self.anonymous.clone(),
        };
        if !names_its_host(&head) {
            return Err(Refusal::Host);
        }
        let path = Segments::of(head.uri.path()).map_err(Refusal::Path)?;
        Ok(Head {
            path,
            query: Query::of(head.uri.query()),
            uri: head.uri,
            method: head.method,
            headers: head.headers,
            server: self.reached.clone(),
            caller,
        })
    }

    /// Leads a request to its dialect, if its sender may make it and there is room.
    async fn routed<B: RequestBody>(
        &self,
        dialect: Dialect,
        head: Head,
        body: B,
        peer: &Peer,
        permit: &mut Option<Permit>,
    ) -> (Option<Access>, Answer) {
        let route = match dialect {
            Dialect::Arm => self.arm.route(&head).map(Route::Arm),
            Dialect::Kubernetes => self.kubernetes.route(&head).map(Route::Kubernetes),
        };
        let route = match route {
            Ok(route) => route,
            Err(answer) => return (None, *answer),
        };
        let access = route.access().clone();
        let answered = async {
            head.caller.check(&access)?;
            let shares = head.caller.shares.as_ref().unwrap_or(&peer.shares).clone();
            let body = self.body(body, &shares, &head.headers).await?;
            let (room, gauge, place, all) = match access.verb {
                Verb::Watch => (&self.watches, &self.metrics.watches, Place::Watch, self.limits.watches),
                _ => (&self.requests, &self.metrics.in_flight, Place::Request, self.limits.requests),
            };
            let share = self.share(&shares, place, all)?;
            let Ok(place) = room.clone().try_acquire_owned() else {
                self.metrics.count_refused("requests");
                return Err(Refusal::TooMany(Duration::from_secs(1)));
            };
            *permit = Some(Permit::new(place, share, gauge));
            let request = Request { head, body };
            let answer = async {
                match route {
                    Route::Arm(route) => self.arm.answer(route, request).await,
                    Route::Kubernetes(route) => self.kubernetes.answer(route, request).await,
                }
            };
            tokio::time::timeout(self.limits.request_time, answer).await.map_err(|_| Refusal::OutOfTime)
        };
        let answer = answered.await.unwrap_or_else(|refusal| self.refuse(dialect, &refusal));
        (Some(access), answer)
    }

    /// The body of a request, if it is not too long and does not take too long.
    async fn body(&self, body: impl RequestBody, shares: &Arc<Shares>, headers: &HeaderMap) -> Result<Bytes, Refusal> {
        if body.is_end_stream() {
            return Ok(Bytes::new());
        }
        let _share = self.share(shares, Place::Body, self.limits.requests)?;
        // Whoever sends slowly keeps only others from sending.
        let Ok(_place) = self.bodies.try_acquire() else {
            self.metrics.count_refused("bodies");
            return Err(Refusal::TooMany(Duration::from_secs(1)));
        };
        let _open = Decrease::of(&self.metrics.bodies);
        // Read in any case: a client that is still sending would not see the answer.
        let body = body::read(body, &self.limits, headers.contains_key(header::EXPECT)).await?;
        let is_plain = |encoding: &HeaderValue| encoding.as_bytes().eq_ignore_ascii_case(b"identity");
        match headers.get_all(header::CONTENT_ENCODING).iter().all(is_plain) {
            true => Ok(body),
            false => Err(Refusal::Packed),
        }
    }

    /// A place for a caller, unless they have half of all.
    fn share(&self, shares: &Arc<Shares>, place: Place, all: usize) -> Result<Share, Refusal> {
        shares.take(place, all).ok_or_else(|| {
            self.metrics.count_refused("caller");
            Refusal::TooManyOfOne(Duration::from_secs(1))
        })
    }

    fn refuse(&self, dialect: Dialect, refusal: &Refusal) -> Answer {
        let answer = match dialect {
            Dialect::Arm => self.arm.refuse(refusal),
            Dialect::Kubernetes => self.kubernetes.refuse(refusal),
        };
        let answer = match refusal {
            // What is left of the body is not read.
            Refusal::TooLarge(_) | Refusal::TooSlow(_) | Refusal::CutShort => {
                answer.with(header::CONNECTION, HeaderValue::from_static("close"))
            }
            _ => answer,
        };
        let answer = match refusal {
            Refusal::Unknown(_) => answer.with(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")),
            _ => answer,
        };
        match refusal.retry_after() {
            Some(after) => answer.with(header::RETRY_AFTER, after.as_secs().max(1)),
            None => answer,
        }
    }
}

/// Whether a request of HTTP/1.1 names the one host that it is for, as it must: links are made of it, and somebody before us
/// may go by another one.
fn names_its_host(head: &http::request::Parts) -> bool {
    let mut hosts = head.headers.get_all(header::HOST).iter();
    match (hosts.next(), hosts.next()) {
        (None, _) => head.version != http::Version::HTTP_11,
        (Some(_), Some(_)) => false,
        (Some(host), None) => {
            let is_host = |host: &str| host.parse::<http::uri::Authority>().is_ok() && !host.contains('@');
            host.to_str().is_ok_and(|host| host.is_empty() || is_host(host))
        }
    }
}

impl Dialect {
    fn of(path: &str) -> Self {
        let first = path.split('/').find(|segment| !segment.is_empty()).unwrap_or_default();
        match ["subscriptions", "providers"].iter().any(|own| first.eq_ignore_ascii_case(own)) {
            true => Self::Arm,
            false => Self::Kubernetes,
        }
    }

    /// The ids of a request, for its answer and the log.
    fn ids(self, request: &HeaderMap) -> HeaderMap {
        match self {
            Self::Arm => arm::ids(request),
            Self::Kubernetes => kubernetes::ids(request),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Arm => "arm",
            Self::Kubernetes => "kubernetes",
        }
    }
}

impl Route<'_> {
    fn access(&self) -> &Access {
        match self {
            Self::Arm(route) => route.access(),
            Self::Kubernetes(route) => route.access(),
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
