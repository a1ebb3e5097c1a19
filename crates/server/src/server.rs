//! The server before it is bound to an address, and what its connections share.

mod connection;
mod dialect;
mod listener;
mod probes;
mod respond;
mod serving;
mod streams;

use std::{
    net::SocketAddr,
    path::Path,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use http::Uri;
use tokio::sync::watch;
use wheelwright_repository::{Repository, Store};

use crate::{
    AccessError, AuditLog, Limits, TlsError, TlsFiles,
    arm::Arm,
    auth::Guard,
    browsers::{Authentication, Browsers, host_name},
    budget::Budget,
    caller::Caller,
    connections::Connections,
    damaged_records::DamagedRecords,
    denials::Denials,
    kubernetes::Kubernetes,
    metrics::Metrics,
    own::Readiness,
    request::Reached,
    scrub::Scrub,
    share::ByAddress,
    shelf::Shelf,
    tls::Tls,
    work::{InPool, WorkPool},
};

pub use self::{
    listener::{BindError, Listener},
    serving::Serving,
};

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
            is_leaving: AtomicBool::new(false),
            connections: Connections::new(&limits),
            by_address: ByAddress::new(limits.connections),
            ending: watch::Sender::new(false),
            limits,
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
    readiness: Arc<Readiness>,
    /// It was asked to end.
    is_leaving: AtomicBool,
    pub(crate) connections: Arc<Connections>,
    by_address: ByAddress,
    work: WorkPool,
    metrics: Metrics,
    ending: watch::Sender<bool>,
}
