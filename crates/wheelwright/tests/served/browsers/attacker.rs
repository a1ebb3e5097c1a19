//! The servers of an attacker: pages that attack, and where they report to.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        mpsc::{self, Receiver},
    },
    thread,
    time::Duration,
};

use serde_json::Value;

use crate::server::connect;

const PAGE: &str = "<!doctype html><body></body>";

/// A request that a browser sent.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) path: String,
    body: Vec<u8>,
}

/// A server that answers each request with a function of it. It lives until the process ends.
fn serve(answer: impl Fn(Seen) -> String + Send + Sync + 'static) -> SocketAddr {
    accept(move |stream| {
        let Ok(seen) = Seen::read(&mut BufReader::new(&stream)) else { return };
        let _ = (&stream).write_all(answer(seen).as_bytes());
    })
}

fn accept(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let serve = Arc::new(serve);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let serve = serve.clone();
            thread::spawn(move || serve(stream));
        }
    });
    address
}

fn answer(kind: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}")
}

fn page(script: &str) -> String {
    answer("text/html", &format!("{PAGE}<script>{script}</script><script>{}</script>", include_str!("attack.js")))
}

/// Takes the reports of pages.
pub(crate) fn reports() -> (SocketAddr, Receiver<Value>) {
    let (sender, reports) = mpsc::channel();
    let address = serve(move |seen| {
        let _ = sender.send(serde_json::from_slice(&seen.body).unwrap_or(Value::Null));
        answer("text/plain", "")
    });
    (address, reports)
}

/// A page that attacks servers of other origins, and redirects that do it for the page.
pub(crate) fn foreign_page(targets: &[String], report: &str) -> SocketAddr {
    let script = format!("const TARGETS = {targets:?}, REPORT = {report:?};");
    serve(move |seen| match seen.path.strip_prefix("/redirect?") {
        Some(url) => {
            format!("HTTP/1.1 307 Elsewhere\r\nLocation: {url}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        }
        None => page(&script),
    })
}

/// A page that attacks its own origin: whoever connects for anything but the page is connected to the victim. To the browser
/// and to the victim this is a name that was rebound.
pub(crate) fn rebound_page(report: &str, victim: SocketAddr) -> SocketAddr {
    let script = format!("const TARGETS = [location.origin], REPORT = {report:?};");
    accept(move |stream| {
        let mut begin = [0; 16];
        let count = stream.peek(&mut begin).unwrap_or(0);
        if begin[..count].starts_with(b"GET /page ") {
            let _ = Seen::read(&mut BufReader::new(&stream));
            let _ = (&stream).write_all(page(&script).as_bytes());
            return;
        }
        let Ok(to_victim) = TcpStream::connect(victim) else { return };
        let pump = |from: &TcpStream, to: &TcpStream| {
            let _ = io::copy(&mut &*from, &mut &*to);
            let _ = to.shutdown(Shutdown::Write);
        };
        thread::scope(|scope| {
            scope.spawn(|| pump(&stream, &to_victim));
            pump(&to_victim, &stream);
        });
    })
}

/// A door without the rules for browsers: what comes is recorded and given to the server as if a program had sent JSON.
pub(crate) fn unprotected(server: SocketAddr) -> (SocketAddr, Arc<Mutex<Vec<Seen>>>) {
    let all: Arc<Mutex<Vec<Seen>>> = Arc::default();
    let seen_by = all.clone();
    let address = serve(move |seen| {
        seen_by.lock().unwrap().push(seen.clone());
        // A preflight request is answered as the server does: with nothing that allows the request.
        let body = String::from_utf8_lossy(&seen.body).into_owned();
        let sent = connect(server).and_then(|mut client| client.request(&seen.method, &seen.path, body.trim_end()));
        answer("application/json", &sent.map(|(_, body)| body).unwrap_or_default())
    });
    (address, all)
}

impl Seen {
    fn read(stream: &mut BufReader<&TcpStream>) -> io::Result<Self> {
        stream.get_ref().set_read_timeout(Some(Duration::from_secs(20)))?;
        let mut line = String::new();
        stream.read_line(&mut line)?;
        let mut words = line.split(' ').map(str::to_owned);
        let (Some(method), Some(path)) = (words.next(), words.next()) else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        let mut length = 0;
        loop {
            let mut line = String::new();
            stream.read_line(&mut line)?;
            match line.trim_end().to_ascii_lowercase().split_once(": ") {
                Some(("content-length", value)) => length = value.parse().map_err(io::Error::other)?,
                Some(_) => {}
                None => break,
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body)?;
        Ok(Self { method, path, body })
    }
}
