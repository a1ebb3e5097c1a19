//! A server process, and a client that needs nothing but a socket.

use std::{
    fs,
    io::{self, BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

/// A server that is killed when it is dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
}

/// A connection that is kept.
pub(crate) struct Client(BufReader<TcpStream>);

impl Server {
    /// Serves the web applications of the examples from a SQLite file.
    pub(crate) fn start(store: &Path, options: &[&str]) -> Self {
        Self::serving(&webapps(), store, options)
    }

    /// Serves a catalog from a SQLite file.
    pub(crate) fn serving(catalog: &Path, store: &Path, options: &[&str]) -> Self {
        Self::run(Command::new(env!("CARGO_BIN_EXE_wheelwright")), catalog, store, options)
    }

    /// Serves the web applications under a umask.
    pub(crate) fn with_umask(umask: &str, store: &Path) -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", &format!(r#"umask {umask}; exec "$0" "$@""#), env!("CARGO_BIN_EXE_wheelwright")]);
        Self::run(command, &webapps(), store, &[])
    }

    /// Serves the web applications, and writes the log to a file.
    pub(crate) fn logging_to(log: &Path, store: &Path, options: &[&str]) -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", r#"exec "$0" "$@" 2>"$LOG""#, env!("CARGO_BIN_EXE_wheelwright")]).env("LOG", log);
        Self::run(command, &webapps(), store, options)
    }

    fn run(mut command: Command, catalog: &Path, store: &Path, options: &[&str]) -> Self {
        let level = if options.contains(&"--log") { &[][..] } else { &["--log", "error"] };
        let mut child = command
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(level)
            .arg("--store")
            .arg(format!("sqlite:{}", store.display()))
            .arg("--catalog")
            .arg(catalog)
            .args(options)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.split("http://").nth(1).and_then(|rest| rest.split('"').next());
        let address =
            address.unwrap_or_else(|| panic!("the server does not say where it is: {line:?}")).parse().unwrap();
        Self { child, address }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends it as nothing else does: at once.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: &str) {
        let sent = Command::new("kill").arg(format!("-{signal}")).arg(self.child.id().to_string()).status();
        assert!(sent.unwrap().success());
    }

    /// Waits until it has ended; gives its exit code.
    pub(crate) fn ended(&mut self) -> Option<i32> {
        for _ in 0..1_500 {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            thread::sleep(Duration::from_millis(20));
        }
        panic!("it does not end");
    }

    pub(crate) fn connect(&self) -> io::Result<Client> {
        connect(self.address)
    }

    /// How many files and sockets it has open.
    pub(crate) fn descriptors(&self) -> Option<usize> {
        Some(fs::read_dir(format!("/proc/{}/fd", self.child.id())).ok()?.count())
    }

    /// A number in what the system says of the process.
    pub(crate) fn of_process(&self, file: &str, key: &str) -> Option<usize> {
        let text = fs::read_to_string(format!("/proc/{}/{file}", self.child.id())).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix(key))?;
        line.split_whitespace().next()?.parse().ok()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn connect(address: SocketAddr) -> io::Result<Client> {
    let stream = TcpStream::connect_timeout(&address, Duration::from_secs(10))?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    stream.set_nodelay(true)?;
    Ok(Client(BufReader::new(stream)))
}

/// What the head of an answer says of it.
pub(crate) struct Head {
    pub(crate) status: u16,
    length: usize,
    is_chunked: bool,
}

impl Client {
    /// Makes a request; gives the status and the body, once all of it has come.
    pub(crate) fn request(&mut self, method: &str, path: &str, body: &str) -> io::Result<(u16, String)> {
        let sort = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        let head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {sort}\r\n");
        self.send(&format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()))?;
        self.answer()
    }

    /// The status and the body of the next answer.
    pub(crate) fn answer(&mut self) -> io::Result<(u16, String)> {
        let Head { status, length, mut is_chunked } = self.head()?;
        let mut bytes = vec![0; length];
        self.0.read_exact(&mut bytes)?;
        while is_chunked {
            let mut line = String::new();
            self.0.read_line(&mut line)?;
            let length = usize::from_str_radix(line.trim_end(), 16).map_err(io::Error::other)?;
            let mut chunk = vec![0; length + 2];
            self.0.read_exact(&mut chunk)?;
            bytes.extend_from_slice(&chunk[..length]);
            is_chunked = length > 0;
        }
        Ok((status, String::from_utf8(bytes).map_err(io::Error::other)?))
    }

    /// The head of the next answer. Its body, which may have no end, is left to be read.
    pub(crate) fn head(&mut self) -> io::Result<Head> {
        let (mut status, mut length, mut is_chunked) = (None, 0, false);
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let line = line.trim_end().to_ascii_lowercase();
            match line.split_once(": ") {
                _ if line.is_empty() => break,
                Some(("content-length", value)) => length = value.parse().map_err(io::Error::other)?,
                Some(("transfer-encoding", "chunked")) => is_chunked = true,
                _ if status.is_none() => status = line.get(9..12).and_then(|code| code.parse().ok()),
                _ => {}
            }
        }
        let status = status.ok_or_else(|| io::Error::other("no status"))?;
        Ok(Head { status, length, is_chunked })
    }

    pub(crate) fn send(&mut self, text: &str) -> io::Result<()> {
        self.0.get_mut().write_all(text.as_bytes())
    }
}

/// The catalog of web applications.
pub(crate) fn webapps() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/webapp/crd.yaml")
}

pub(crate) fn apps() -> &'static str {
    "/apis/apps.example.com/v1/namespaces/shop/webapps"
}

pub(crate) fn app(name: &str, note: &str) -> String {
    format!(
        r#"{{"apiVersion":"apps.example.com/v1","kind":"WebApp","metadata":{{"name":"{name}"}},"spec":{{"image":"{note}"}}}}"#
    )
}
