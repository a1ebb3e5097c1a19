//! A server with default limits in a process of its own, so that its memory can be measured, and an attack on it while a
//! probe and another caller look on.

use std::{
    env, fmt, fs,
    io::{self, BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;
use tokio::{io::AsyncWriteExt, net::TcpStream, runtime};
use tokio_rustls::TlsConnector;
use wheelwright_repository::Repository;
use wheelwright_server::{AuditLog, AuditLoss, Limits, Server, TlsFiles};
use wheelwright_store::testing::PostgresServer;

use crate::{
    client::{Client, connect},
    onlooker::{Onlooker, Target},
    support::{kinds, order, orders},
};

/// Where the folder with the store, and the files for TLS and access if there are any, is named to the server process.
const FOLDER: &str = "WHEELWRIGHT_ABUSE_FOLDER";

/// The longest that `/livez` may take.
const MOST_LIVE_TIME: Duration = Duration::from_secs(1);
/// How long rates are measured before an attack, and after it has begun.
const MEASURED: Duration = Duration::from_secs(2);
/// The file with the memory that a server may use, in bytes, and the one with the address of its store, in its folder.
const MEMORY: &str = "memory";
const STORE: &str = "store";

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
    /// The most resident memory that it may ever have.
    memory: usize,
    _folder: TempDir,
}

/// A server that is attacked.
pub(crate) struct Setup {
    pub(crate) folder: TempDir,
    /// How clients that look on connect, if the server has a certificate.
    pub(crate) tls: Option<TlsConnector>,
}

/// The measurements of an attack.
#[derive(Debug)]
struct Outcome {
    peak_mib: usize,
    live_time: Duration,
    /// Requests a second of another caller, before the attack.
    before: usize,
    /// Requests in each second of the attack: to the attacked server, and to a second server that is not attacked.
    during: Vec<[usize; 2]>,
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
    let limits = Limits::for_memory(memory(folder));
    let sqlite = || format!("sqlite:{}", folder.join("store.db").display());
    let address = fs::read_to_string(folder.join(STORE)).unwrap_or_else(|_| sqlite());
    let store = wheelwright_store::open_to_serve(&address, limits.memory_bytes).await.unwrap();
    let mut server = Server::new(Repository::new(store.into(), kinds())).with_limits(limits);
    let access = folder.join("access.yaml");
    if access.exists() {
        // A server that asks who callers are records what they did.
        let audit = AuditLog::open(&folder.join("audit.log"), AuditLoss::Counted).unwrap();
        server = server.with_access(&access).unwrap().with_audit(audit);
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
        Self { child, address: (ATTACKER, port).into(), memory: memory(folder.path()), _folder: folder }
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

    /// Attacks a server, and checks that its memory stays within bounds, that probes are answered, and that another caller is
    /// served at half of its rate or better in every second. The future has what is to be held on to until all of it is
    /// measured.
    ///
    /// The machine may have other work: the rate of a second server, which is not attacked, is what can be expected at the
    /// time, and an attack that seems to slow others down is tried again.
    pub(crate) fn withstands<T>(
        setup: impl Fn() -> Setup,
        prepare: impl AsyncFn(&Self),
        attack: impl AsyncFn(&Self) -> T,
    ) {
        const ATTEMPTS: usize = 5;
        let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
        raise_open_files();
        let mut failed = Vec::new();
        for _ in 0..ATTEMPTS {
            let Setup { folder, tls } = setup();
            let process = Self::start(folder);
            let most = process.memory >> 20;
            let outcome = process.attacked(tls, &prepare, &attack);
            let mut out = io::stderr();
            writeln!(out, "{outcome}").unwrap();
            assert!(outcome.peak_mib < most, "{outcome}");
            if outcome.is_contained() {
                return;
            }
            failed.push(outcome.to_string());
        }
        panic!("others were kept from being served: {failed:#?}");
    }

    fn attacked<T>(
        self,
        tls: Option<TlsConnector>,
        prepare: &impl AsyncFn(&Self),
        attack: &impl AsyncFn(&Self) -> T,
    ) -> Outcome {
        let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(prepare(&self));
        let control = Self::start(tempfile::tempdir().unwrap());
        let target = Target { port: self.address.port(), tls };
        let (probe, bystander) = (Onlooker::probe(&target), Onlooker::bystander(&target));
        let control_bystander = Onlooker::bystander(&Target { port: control.address.port(), tls: None });
        // The first requests take longer.
        thread::sleep(Duration::from_millis(300));
        let first = Instant::now();
        thread::sleep(MEASURED);
        let began = Instant::now();
        let held = runtime.block_on(async {
            let held = attack(&self).await;
            tokio::time::sleep(MEASURED).await;
            held
        });
        let ended = Instant::now();
        let (probe, bystander, control) = (probe.end(), bystander.end(), control_bystander.end());
        let peak_mib = self.peak_memory() >> 20;
        drop(held);
        let before = bystander.rates(first, began);
        let during = bystander.rates(began, ended).into_iter().zip(control.rates(began, ended));
        Outcome {
            peak_mib,
            live_time: probe.longest(),
            before: before.iter().sum::<usize>() / before.len(),
            during: during.map(<[usize; 2]>::from).collect(),
        }
    }
}

impl Outcome {
    fn is_contained(&self) -> bool {
        let is_half = |[rate, control]: &[usize; 2]| rate * 2 >= self.before.min(*control);
        self.live_time < MOST_LIVE_TIME && self.during.iter().all(is_half)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { peak_mib, live_time, before, during } = self;
        let least = during.iter().map(|[rate, _]| rate).min().unwrap_or(before);
        let mean = during.iter().map(|[rate, _]| rate).sum::<usize>() / during.len().max(1);
        let live = live_time.as_millis();
        write!(
            f,
            "{peak_mib} MiB, /livez {live} ms, {before}/s before, {mean}/s meanwhile, {least}/s in the worst second"
        )?;
        // Second by second where it was slow, beside the server that is not attacked.
        if during.iter().any(|[rate, _]| rate * 2 < *before) {
            during.iter().try_for_each(|[rate, control]| write!(f, " {rate}|{control}"))?;
        }
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
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

/// A server with default limits, without TLS and authentication.
pub(crate) fn plain() -> Setup {
    Setup { folder: tempfile::tempdir().unwrap(), tls: None }
}

/// The same, with as little memory as a server can have.
pub(crate) fn small() -> Setup {
    let setup = plain();
    fs::write(setup.folder.path().join(MEMORY), Limits::LEAST_MEMORY.to_string()).unwrap();
    setup
}

/// The same as [`plain`], with a PostgreSQL store of its own.
pub(crate) fn postgres() -> Setup {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let setup = plain();
    let schema = format!("abuse_{}", COUNT.fetch_add(1, Ordering::Relaxed));
    fs::write(setup.folder.path().join(STORE), PostgresServer::shared().address(&schema)).unwrap();
    setup
}

/// The memory of a server in a folder: by its file, else by the environment, else the default.
fn memory(folder: &Path) -> usize {
    let text = fs::read_to_string(folder.join(MEMORY)).ok().or_else(|| env::var("WHEELWRIGHT_ABUSE_MEMORY").ok());
    text.map_or(Limits::default().memory_bytes, |text| text.parse().unwrap())
}
