//! Clients that look on during an attack, one request after the other, and how they were served.

use std::{
    io,
    net::Ipv4Addr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use tokio::{runtime, time::MissedTickBehavior};
use tokio_rustls::TlsConnector;

use crate::{
    client::Client,
    process::{BYSTANDER, PROBE},
    support::{order, orders},
};

/// Time between two requests.
const PACE: Duration = Duration::from_millis(5);
/// The part of an attack in which requests are counted.
const WINDOW: Duration = Duration::from_secs(1);

/// Names of the orders that bystanders create: a server may have several after each other.
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// Where a server is, and whether it is reached by TLS.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) port: u16,
    pub(crate) tls: Option<TlsConnector>,
}

/// A client that makes one request after the other until it is ended.
pub(crate) struct Onlooker {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Seen>,
}

/// When requests were answered as they should, and how long each request took.
pub(crate) struct Seen {
    answered: Vec<Instant>,
    longest: Duration,
}

impl Target {
    async fn connect(&self, from: Ipv4Addr) -> io::Result<Client> {
        match &self.tls {
            Some(tls) => Client::secure(from, self.port, tls).await,
            None => Client::connect(from, self.port).await,
        }
    }
}

impl Onlooker {
    /// Asks whether the server lives, each time on a connection of its own.
    pub(crate) fn probe(target: &Target) -> Self {
        let target = target.clone();
        Self::start(async move |_: Option<Client>| {
            let mut client = target.connect(PROBE).await?;
            match client.request("GET", "/livez", "").await? {
                200 => Ok(client),
                status => Err(io::Error::other(format!("{status}"))),
            }
        })
    }

    /// Reads an object again and again, and creates one now and then.
    pub(crate) fn bystander(target: &Target) -> Self {
        let (target, path) = (target.clone(), orders("bystander"));
        let mut count = 0;
        let mut own = None;
        Self::start(async move |client: Option<Client>| {
            let mut client = match client {
                Some(client) => client,
                None => target.connect(BYSTANDER).await?,
            };
            let status = match &own {
                Some(own) if count % 16 > 0 => client.request("GET", &format!("{path}/{own}"), "").await?,
                _ => {
                    let name = format!("o{}", NEXT.fetch_add(1, Ordering::Relaxed));
                    let status = client.request("POST", &path, &order(&name, "mine")).await?;
                    own = Some(name).filter(|_| status == 201).or(own.take());
                    status
                }
            };
            count += 1;
            match status {
                200 | 201 => Ok(client),
                _ => Err(io::Error::other(format!("{status}"))),
            }
        })
    }

    fn start(mut act: impl AsyncFnMut(Option<Client>) -> io::Result<Client> + Send + 'static) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let over = is_over.clone();
        let thread = thread::spawn(move || {
            runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async move {
                let mut pace = tokio::time::interval(PACE);
                pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
                let (mut answered, mut longest, mut client) = (Vec::new(), Duration::ZERO, None);
                while !over.load(Ordering::Relaxed) {
                    pace.tick().await;
                    let began = Instant::now();
                    client = act(client.take()).await.ok();
                    longest = longest.max(began.elapsed());
                    if client.is_some() {
                        answered.push(Instant::now());
                    }
                }
                Seen { answered, longest }
            })
        });
        Self { is_over, thread }
    }

    pub(crate) fn end(self) -> Seen {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

impl Seen {
    /// The longest that a request took.
    pub(crate) fn longest(&self) -> Duration {
        self.longest
    }

    /// Requests a second, in each second of some time.
    pub(crate) fn rates(&self, from: Instant, until: Instant) -> Vec<usize> {
        let count = (until - from).as_millis() / WINDOW.as_millis();
        let begins = (0..u32::try_from(count).unwrap()).map(|number| from + number * WINDOW);
        let within = |begin: Instant| self.answered.iter().filter(|at| (begin..begin + WINDOW).contains(*at)).count();
        begins.map(within).collect()
    }
}
