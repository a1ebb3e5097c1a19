//! A server with default limits in a process of its own, so that its memory can be measured, and an attack on it while a
//! probe and another caller look on.

use std::{
    env, fs,
    io::{self, BufRead, BufReader, Read, Write},
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    runtime,
    time::{MissedTickBehavior, timeout},
};
use wheelwright_repository::Repository;
use wheelwright_server::{Limits, Server, TlsFiles};

use crate::support::{LONG, kinds, order, orders};

/// Where the folder with the store, and the files for TLS and access if there are any, is named to the server process.
const FOLDER: &str = "WHEELWRIGHT_ABUSE_FOLDER";

/// The most resident memory that a server may ever have.
pub(crate) const MOST_MEMORY: usize = 512 << 20;
/// The longest that `/livez` may take.
const MOST_LIVE_TIME: Duration = Duration::from_secs(1);
/// How long rates are measured before an attack, and after it has begun.
const MEASURED: Duration = Duration::from_secs(2);
/// Time between two requests of the caller who looks on.
const PACE: Duration = Duration::from_millis(5);

/// Loopback addresses of different callers.
pub(crate) const ATTACKER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 1);
pub(crate) const BYSTANDER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
pub(crate) const PROBE: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 3);

/// One attack at a time has the machine.
static MACHINE: Mutex<()> = Mutex::new(());

/// A server process, which is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    pub(crate) address: SocketAddr,
    _folder: TempDir,
}

/// What the server process runs: it serves until its standard input ends.
#[test]
#[ignore = "the attack tests start it as their server process; by itself it tests nothing"]
fn server_process() {
    let Some(folder) = env::var_os(FOLDER) else { return };
    raise_open_files();
    runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(serve(Path::new(&folder)));
}

async fn serve(folder: &Path) {
    tracing_subscriber::fmt().with_max_level(tracing::Level::WARN).with_writer(io::stderr).init();
    let store = wheelwright_store::open(&format!("sqlite:{}", folder.join("store.db").display())).await.unwrap();
    let mut server = Server::new(Repository::new(store.into(), kinds())).with_limits(Limits::default());
    let access = folder.join("access.yaml");
    if access.exists() {
        server = server.with_access(&access).unwrap();
    }
    let [certificate, key, authorities] = ["server.crt", "server.key", "clients.crt"].map(|name| folder.join(name));
    if certificate.exists() {
        server = server
            .with_tls(TlsFiles { certificate, key, client_authorities: Some(authorities), client_revocations: None })
            .unwrap();
    }
    let serving = server.bind((Ipv4Addr::UNSPECIFIED, 0).into()).await.unwrap();
    let mut out = io::stdout();
    writeln!(out, "\nlistening {}", serving.address().port()).unwrap();
    let ended = tokio::task::spawn_blocking(|| io::stdin().read(&mut [0]));
    serving.run(async { drop(ended.await) }).await;
}

impl Process {
    /// Starts a server in a folder, with whatever files there are in it.
    pub(crate) fn start(folder: TempDir) -> Self {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--ignored", "--exact", "process::server_process", "--nocapture"])
            .env(FOLDER, folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let port = lines.find_map(|line| line.strip_prefix("listening ")?.parse().ok()).expect("the server starts");
        // It is read on, so that the process can write.
        thread::spawn(move || lines.for_each(drop));
        Self { child, address: (ATTACKER, port).into(), _folder: folder }
    }

    /// The most resident memory that there ever was, in bytes.
    fn peak_memory(&self) -> usize {
        let text = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("Linux reports memory");
        line.split_whitespace().next().and_then(|kilobytes| kilobytes.parse::<usize>().ok()).unwrap() << 10
    }

    /// A connection of the attacker.
    pub(crate) async fn connect(&self) -> TcpStream {
        self.try_connect().await.unwrap()
    }

    /// A connection of the attacker, if the server accepts it.
    pub(crate) async fn try_connect(&self) -> io::Result<TcpStream> {
        connect(ATTACKER, self.address.port(), None).await
    }

    /// A connection of the attacker that has next to no room for what it does not read, after a request on it.
    pub(crate) async fn connect_deaf(&self, request: &str) -> TcpStream {
        let mut stream = connect(ATTACKER, self.address.port(), Some(4 << 10)).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        stream
    }

    /// Creates an order of the attacker with a note, and returns the status.
    pub(crate) async fn create(&self, name: &str, note: &str) -> u16 {
        self.post(&orders("attacked"), &order(name, note)).await
    }

    /// Creates something as the attacker, and returns the status.
    pub(crate) async fn post(&self, path: &str, body: &str) -> u16 {
        let mut client = Client::connect(ATTACKER, self.address.port()).await.unwrap();
        client.request("POST", path, body).await.unwrap()
    }

    /// Writes something as the attacker, and returns the status.
    pub(crate) async fn put(&self, path: &str, body: &str) -> u16 {
        let mut client = Client::connect(ATTACKER, self.address.port()).await.unwrap();
        client.request("PUT", path, body).await.unwrap()
    }

    /// A connection from one of the loopback addresses.
    pub(crate) async fn connect_from(&self, from: Ipv4Addr) -> TcpStream {
        connect(from, self.address.port(), None).await.unwrap()
    }

    /// Attacks a server, and checks only that its memory stays within bounds.
    pub(crate) fn holds_memory<T>(folder: TempDir, attack: impl AsyncFn(&Self) -> T) {
        let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
        raise_open_files();
        let process = Self::start(folder);
        let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let held = runtime.block_on(attack(&process));
        thread::sleep(MEASURED);
        let mib = process.peak_memory() >> 20;
        drop(held);
        let mut out = io::stderr();
        writeln!(out, "{mib} MiB").unwrap();
        assert!(mib < MOST_MEMORY >> 20, "{mib} MiB");
    }

    /// Attacks a server, and checks that its memory stays within bounds, that probes are answered, and that another caller is
    /// served at half of their rate or better. The future has what is to be held on to until all of it is measured.
    ///
    /// Times are those of the machine, too, which may have other work: an attack that seems to slow others down is tried
    /// again.
    pub(crate) fn withstands<T>(
        folder: impl Fn() -> TempDir,
        prepare: impl AsyncFn(&Self),
        attack: impl AsyncFn(&Self) -> T,
    ) {
        const ATTEMPTS: usize = 3;
        let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
        raise_open_files();
        let mut seen = Vec::new();
        for _ in 0..ATTEMPTS {
            let (peak, live_time, [before, during]) = Self::start(folder()).attacked(&prepare, &attack);
            let mib = peak >> 20;
            let mut out = io::stderr();
            writeln!(out, "{mib} MiB, /livez {live_time:?}, {before}/s before and {during}/s meanwhile").unwrap();
            assert!(peak < MOST_MEMORY, "{mib} MiB");
            if live_time < MOST_LIVE_TIME && during * 2 >= before {
                return;
            }
            seen.push((live_time, before, during));
        }
        panic!("others were kept from being served: {seen:?}");
    }

    /// The most memory, the longest that a probe took, and the rates of another caller before an attack and meanwhile.
    fn attacked<T>(
        self,
        prepare: impl AsyncFn(&Self),
        attack: impl AsyncFn(&Self) -> T,
    ) -> (usize, Duration, [usize; 2]) {
        let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(prepare(&self));
        let port = self.address.port();
        let (probe, bystander) = (Onlooker::probe(port), Onlooker::bystander(port));
        thread::sleep(MEASURED);
        let began = Instant::now();
        let held = runtime.block_on(async {
            let held = attack(&self).await;
            tokio::time::sleep(MEASURED).await;
            held
        });
        let (probe, bystander) = (probe.end(), bystander.end());
        let peak = self.peak_memory();
        drop(held);
        (peak, probe.longest(), [bystander.rate_before(began), bystander.rate_since(began)])
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Someone who makes one request after the other for as long as an attack lasts.
struct Onlooker {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Seen>,
}

/// When requests that succeeded were answered, and how long each took.
struct Seen(Vec<(Instant, Duration)>);

impl Onlooker {
    /// Asks whether the server lives, each time on a connection of its own.
    fn probe(port: u16) -> Self {
        Self::start(async move |_: Option<Client>, _| {
            let mut client = Client::connect(PROBE, port).await?;
            client.request("GET", "/livez", "").await?;
            Ok(client)
        })
    }

    /// Reads an object again and again, and writes it now and then.
    fn bystander(port: u16) -> Self {
        Self::start(async move |client: Option<Client>, number: usize| {
            let mut client = match client {
                Some(client) => client,
                None => Client::connect(BYSTANDER, port).await?,
            };
            let path = orders("bystander");
            let status = match number % 16 {
                0 => client.request("POST", &path, &order(&format!("o{number}"), "mine")).await?,
                _ => client.request("GET", &format!("{path}/o0"), "").await?,
            };
            match status {
                200 | 201 => Ok(client),
                _ => Err(io::Error::other(format!("{status}"))),
            }
        })
    }

    fn start(mut act: impl AsyncFnMut(Option<Client>, usize) -> io::Result<Client> + Send + 'static) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let over = is_over.clone();
        let thread = thread::spawn(move || {
            runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async move {
                let mut pace = tokio::time::interval(PACE);
                pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
                let (mut seen, mut client, mut number) = (Vec::new(), None, 0);
                while !over.load(Ordering::Relaxed) {
                    pace.tick().await;
                    let began = Instant::now();
                    client = act(client.take(), number).await.ok();
                    let took = began.elapsed();
                    if client.is_some() {
                        number += 1;
                        seen.push((Instant::now(), took));
                    } else {
                        // Nothing was served in this time.
                        seen.push((began, took));
                    }
                }
                Seen(seen)
            })
        });
        Self { is_over, thread }
    }

    fn end(self) -> Seen {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

impl Seen {
    fn longest(&self) -> Duration {
        self.0.iter().map(|(_, took)| *took).max().expect("there were requests")
    }

    fn rate_before(&self, moment: Instant) -> usize {
        Self::rate(self.0.iter().filter(|(at, _)| *at < moment))
    }

    fn rate_since(&self, moment: Instant) -> usize {
        Self::rate(self.0.iter().filter(|(at, _)| *at >= moment))
    }

    /// Requests a second: the median of the quarters of a second.
    fn rate<'s>(seen: impl Iterator<Item = &'s (Instant, Duration)>) -> usize {
        const WINDOW: Duration = Duration::from_millis(250);
        let mut counts: Vec<usize> = Vec::new();
        let mut first = None;
        for (at, _) in seen {
            let window = (*at - *first.get_or_insert(*at)).as_millis() / WINDOW.as_millis();
            counts.resize(counts.len().max(window as usize + 1), 0);
            counts[window as usize] += 1;
        }
        counts.sort_unstable();
        counts.get(counts.len() / 2).copied().unwrap_or_default() * 4
    }
}

/// A client with a connection that is kept.
pub(crate) struct Client {
    stream: TcpStream,
    bytes: Vec<u8>,
}

impl Client {
    pub(crate) async fn connect(from: Ipv4Addr, port: u16) -> io::Result<Self> {
        Ok(Self { stream: connect(from, port, None).await?, bytes: Vec::new() })
    }

    /// Makes a request, and returns the status once all of the answer has come.
    pub(crate) async fn request(&mut self, method: &str, path: &str, body: &str) -> io::Result<u16> {
        timeout(LONG, self.answered(method, path, body)).await.map_err(|_| io::ErrorKind::TimedOut)?
    }

    async fn answered(&mut self, method: &str, path: &str, body: &str) -> io::Result<u16> {
        let head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n");
        let request = format!("{head}Content-Length: {}\r\n\r\n{body}", body.len());
        self.stream.write_all(request.as_bytes()).await?;
        self.bytes.clear();
        let end = loop {
            if let Some(end) = self.bytes.windows(4).position(|four| four == b"\r\n\r\n") {
                break end + 4;
            }
            self.read().await?;
        };
        let head = String::from_utf8_lossy(&self.bytes[..end]).to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
        while self.bytes.len() < end + length {
            self.read().await?;
        }
        head.get(9..12).and_then(|code| code.parse().ok()).ok_or_else(|| io::Error::other("no status"))
    }

    async fn read(&mut self) -> io::Result<()> {
        match self.stream.read_buf(&mut self.bytes).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

async fn connect(from: Ipv4Addr, port: u16, room: Option<u32>) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    if let Some(room) = room {
        socket.set_recv_buffer_size(room)?;
    }
    if from != ATTACKER {
        socket.bind((IpAddr::V4(from), 0).into())?;
    }
    let stream = socket.connect((ATTACKER, port).into()).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// How many connections this process may have open, and the server too.
pub(crate) fn most_connections() -> usize {
    use rustix::process::{Resource, getrlimit};
    let most = getrlimit(Resource::Nofile).current.and_then(|most| usize::try_from(most).ok());
    most.unwrap_or(usize::MAX).saturating_sub(256)
}

/// Raises how many connections this process may have open, as the command does.
fn raise_open_files() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    let _ = setrlimit(Resource::Nofile, limit);
}

/// A folder for a server without TLS that asks nobody who they are.
pub(crate) fn plain() -> TempDir {
    tempfile::tempdir().unwrap()
}
