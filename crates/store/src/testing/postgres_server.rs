//! A PostgreSQL server of one's own.

use std::{
    env, fs,
    io::{Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    os::unix::{
        fs::{MetadataExt, PermissionsExt, chown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// How long a server may take to start or to stop.
const PATIENCE: Duration = Duration::from_secs(60);

/// A shell that keeps a server until its input ends, which it does with the process that has the other end of the pipe,
/// however that ends. Then it ends the server and deletes its folder, unless it is told to keep it.
const KEEPER: &str = r#"
folder=$1; shift
"$@" </dev/null >>"$folder/server.log" 2>&1 &
server=$!
read -r word
kill -QUIT "$server" 2>/dev/null
wait "$server"
[ "$word" = keep ] || rm -rf "$folder"
"#;

/// A private PostgreSQL server on a free port of the loopback address. It ends with its value, and with its process in any
/// case, even if that is killed.
///
/// It needs PostgreSQL's programs `initdb` and `postgres`: in the folder that `WHEELWRIGHT_POSTGRES_BIN` names, in the
/// path, or where Debian puts them. As PostgreSQL refuses to be root, root starts it as the user `postgres` or `nobody`.
#[derive(Debug)]
pub struct PostgresServer {
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
    settings: Vec<String>,
    keeper: Option<Child>,
}

impl PostgresServer {
    /// Starts a server with no data, and waits until it answers.
    ///
    /// # Errors
    /// PostgreSQL is not installed or does not start; in words for whoever runs the test.
    pub fn start() -> Result<Self, String> {
        Self::start_with(None, &env::temp_dir())
    }

    /// The same, with or without checksums of the pages of its files.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn start_with_checksums(has_checksums: bool) -> Result<Self, String> {
        Self::start_with(Some(has_checksums), &env::temp_dir())
    }

    /// The same as [`start`](Self::start), with its data in another place than that of temporary files.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn start_in(folder: &Path) -> Result<Self, String> {
        Self::start_with(None, folder)
    }

    fn start_with(has_checksums: Option<bool>, folder: &Path) -> Result<Self, String> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let programs = programs()?;
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = folder.join(format!("wheelwright-postgres-{}-{count}", std::process::id()));
        fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let mut server = Self { programs, folder, port: 0, settings: Vec::new(), keeper: None };
        server.initialize(has_checksums)?;
        server.resume()?;
        Ok(server)
    }

    /// The server that all tests of a process share. Each takes a schema of its own.
    ///
    /// # Panics
    /// There is none, because PostgreSQL is not installed or does not start.
    pub fn shared() -> &'static Self {
        static SERVER: OnceLock<PostgresServer> = OnceLock::new();
        SERVER.get_or_init(|| Self::start().unwrap_or_else(|error| panic!("{error}")))
    }

    /// The address of a schema, for a store.
    pub fn address(&self, schema: &str) -> String {
        format!("postgres://postgres@{}:{}/postgres?schema={schema}", Ipv4Addr::LOCALHOST, self.port)
    }

    /// The port that it listens on, or did when it was stopped.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Settings as in `max_connections=20`, from the next [`resume`](Self::resume) on.
    pub fn set(&mut self, settings: &[&str]) {
        self.settings = settings.iter().map(|setting| (*setting).to_owned()).collect();
    }

    /// Encrypts connections to those who want it, with a certificate and its key, from the next [`resume`](Self::resume)
    /// on.
    ///
    /// # Errors
    /// The files cannot be written.
    pub fn encrypt(&mut self, certificate: &str, key: &str) -> Result<(), String> {
        for (name, text) in [("server.crt", certificate), ("server.key", key)] {
            let file = self.data().join(name);
            let write = || -> std::io::Result<()> {
                fs::write(&file, text)?;
                fs::set_permissions(&file, fs::Permissions::from_mode(0o600))?;
                let owner = fs::metadata(self.data())?;
                chown(&file, Some(owner.uid()), Some(owner.gid()))
            };
            write().map_err(|error| format!("{}: {error}", file.display()))?;
        }
        self.settings.push("ssl=on".to_owned());
        Ok(())
    }

    /// Ends the server and all its processes without giving them a chance (`kill -9`).
    pub fn kill(&mut self) {
        if let Some(server) = self.server_process() {
            // A parent that stands still has no more children, of which one that is not known would stay, with the memory
            // that they share.
            signal("STOP", &[server]);
            let mut processes = children(server);
            // The parent first, or it would mend what was done to its children.
            processes.insert(0, server);
            signal("KILL", &processes);
            let began = Instant::now();
            while processes.iter().any(|process| is_running(*process)) && began.elapsed() < PATIENCE {
                thread::sleep(Duration::from_millis(5));
            }
            // Nobody is left to do it, and the next server shall not be taken for this one.
            let _ = fs::remove_file(self.process_file());
        }
        self.stop();
    }

    /// Ends the server. Its data stays until its value is dropped.
    pub fn stop(&mut self) {
        if let Some(mut keeper) = self.keeper.take() {
            if let Some(mut input) = keeper.stdin.take() {
                // If it is gone, so is the server.
                let _ = input.write_all(b"keep\n");
            }
            let _ = keeper.wait();
        }
    }

    /// Ends the server after it has written all data to its files.
    ///
    /// # Errors
    /// It does not end.
    pub fn shut_down(&mut self) -> Result<(), String> {
        if let Some(server) = self.server_process() {
            signal("INT", &[server]);
            let began = Instant::now();
            while is_running(server) {
                if began.elapsed() > PATIENCE {
                    return Err("PostgreSQL does not end".to_owned());
                }
                thread::sleep(Duration::from_millis(5));
            }
        }
        self.stop();
        Ok(())
    }

    /// Starts it again with the data that it had, on the port that it had unless somebody has taken that.
    ///
    /// # Errors
    /// It does not start.
    pub fn resume(&mut self) -> Result<(), String> {
        self.stop();
        let began = Instant::now();
        let mut port = Some(self.port).filter(|port| *port != 0);
        loop {
            self.port = match port.take() {
                Some(port) => port,
                None => free_port()?,
            };
            let keeper = self.keep()?;
            self.keeper = Some(keeper);
            if self.is_ready_before(began + PATIENCE) {
                return Ok(());
            }
            self.stop();
            if began.elapsed() > PATIENCE {
                let log = fs::read_to_string(self.folder.join("server.log")).unwrap_or_default();
                return Err(format!("PostgreSQL does not start:\n{log}"));
            }
        }
    }

    fn initialize(&self, has_checksums: Option<bool>) -> Result<(), String> {
        let program = self.programs.join("initdb");
        let mut command = Command::new(&program);
        match has_checksums {
            Some(true) => drop(command.arg("--data-checksums")),
            // Releases before 18 have no such option, and no checksums by default.
            Some(false) if has_option(&program, "--no-data-checksums") => drop(command.arg("--no-data-checksums")),
            _ => {}
        }
        command.args(["--username=postgres", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C", "-D"]);
        command.arg(self.data());
        let output = self.as_other_user(&mut command)?.output().map_err(|error| format!("initdb: {error}"))?;
        if output.status.success() {
            return Ok(());
        }
        Err(format!("initdb: {}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim()))
    }

    fn keep(&self) -> Result<Child, String> {
        let mut command = Command::new("sh");
        command.args(["-c", KEEPER, "sh"]).arg(&self.folder).arg(self.programs.join("postgres"));
        command.arg("-D").arg(self.data()).args(["-p", &self.port.to_string()]);
        let settings = ["listen_addresses=127.0.0.1", "unix_socket_directories="];
        for setting in settings.into_iter().chain(self.settings.iter().map(String::as_str)) {
            command.args(["-c", setting]);
        }
        // A key pressed at the terminal is for the test, which then ends the server.
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        self.as_other_user(&mut command)?.spawn().map_err(|error| format!("sh: {error}"))
    }

    fn as_other_user<'c>(&self, command: &'c mut Command) -> Result<&'c mut Command, String> {
        command.current_dir(&self.folder);
        let is_root = fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
        if is_root {
            let (user, group) = other_user().ok_or("root needs a user postgres or nobody to run PostgreSQL as")?;
            chown(&self.folder, Some(user), Some(group))
                .map_err(|error| format!("{}: {error}", self.folder.display()))?;
            command.uid(user).gid(group);
        }
        Ok(command)
    }

    /// The folder with its data, as in PostgreSQL's `PGDATA`.
    pub fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// Whether the server answers before a moment; not if it ends.
    fn is_ready_before(&self, end: Instant) -> bool {
        let began = Instant::now();
        while Instant::now() < end {
            // Another server may have taken the port first, and answer.
            if self.says_that_it_is_ready() && answers(self.port) {
                return true;
            }
            let has_ended = self.server_process().is_none_or(|server| !is_running(server));
            if has_ended && began.elapsed() > Duration::from_secs(5) {
                return false;
            }
            thread::sleep(Duration::from_millis(10));
        }
        false
    }

    fn server_process(&self) -> Option<u32> {
        fs::read_to_string(self.process_file()).ok()?.lines().next()?.trim().parse().ok()
    }

    fn says_that_it_is_ready(&self) -> bool {
        let text = fs::read_to_string(self.process_file()).unwrap_or_default();
        text.lines().nth(7).is_some_and(|state| state.trim() == "ready")
    }

    fn process_file(&self) -> PathBuf {
        self.data().join("postmaster.pid")
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        if let Some(mut keeper) = self.keeper.take() {
            drop(keeper.stdin.take());
            let _ = keeper.wait();
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Sends a signal to processes, of which some may have ended by themselves.
fn signal(signal: &str, processes: &[u32]) {
    let words: Vec<String> = processes.iter().map(u32::to_string).collect();
    let _ = Command::new("sh").arg("-c").arg(format!("kill -{signal} {} 2>/dev/null", words.join(" "))).status();
}

/// The folder with PostgreSQL's programs.
fn programs() -> Result<PathBuf, String> {
    let named = env::var_os("WHEELWRIGHT_POSTGRES_BIN").map(PathBuf::from);
    let path = env::var_os("PATH").unwrap_or_default();
    let in_path = env::split_paths(&path).collect::<Vec<_>>();
    let installed = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut installed: Vec<PathBuf> = installed.map(|version| version.path().join("bin")).collect();
    installed.sort();
    let folders = named.into_iter().chain(in_path).chain(installed.into_iter().rev());
    let mut usable = folders.filter(|folder| ["initdb", "postgres"].iter().all(|name| folder.join(name).is_file()));
    usable.next().ok_or_else(|| {
        "PostgreSQL is needed: install it (apt-get install postgresql), or name the folder with initdb and postgres \
         in WHEELWRIGHT_POSTGRES_BIN"
            .to_owned()
    })
}

fn has_option(program: &Path, option: &str) -> bool {
    let help = Command::new(program).arg("--help").output();
    help.is_ok_and(|help| String::from_utf8_lossy(&help.stdout).contains(option))
}

/// A user and a group that are not root.
fn other_user() -> Option<(u32, u32)> {
    let users = fs::read_to_string("/etc/passwd").ok()?;
    let find = |name: &str| {
        let fields: Vec<&str> =
            users.lines().map(|line| line.split(':').collect::<Vec<_>>()).find(|line| line[0] == name)?;
        Some((fields.get(2)?.parse().ok()?, fields.get(3)?.parse().ok()?))
    };
    find("postgres").or_else(|| find("nobody"))
}

fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
    listener.map(|address| address.port()).map_err(|error| format!("no free port: {error}"))
}

/// Whether a server takes a user in: it answers the startup message with a request for authentication, not with an error.
fn answers(port: u16) -> bool {
    let mut message = Vec::from(196_608_u32.to_be_bytes());
    message.extend(b"user\0postgres\0database\0postgres\0\0");
    let length = (message.len() as u32 + 4).to_be_bytes();
    let ask = || -> std::io::Result<u8> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        stream.write_all(&[&length, message.as_slice()].concat())?;
        let mut kind = [0];
        stream.read_exact(&mut kind)?;
        Ok(kind[0])
    };
    ask().is_ok_and(|kind| kind == b'R')
}

/// The processes that a process started.
fn children(parent: u32) -> Vec<u32> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    processes.filter(|process| parent_of(*process) == Some(parent)).collect()
}

fn parent_of(process: u32) -> Option<u32> {
    status_words(process)?.get(1)?.parse().ok()
}

/// A process that has ended is there until its parent asks for its end.
fn is_running(process: u32) -> bool {
    status_words(process).is_some_and(|words| words.first().is_some_and(|state| state != "Z"))
}

/// What is said about a process after its name, which may have spaces in it.
fn status_words(process: u32) -> Option<Vec<String>> {
    let status = fs::read_to_string(Path::new("/proc").join(process.to_string()).join("stat")).ok()?;
    let (_, words) = status.rsplit_once(") ")?;
    Some(words.split(' ').map(str::to_owned).collect())
}
