//! Requests written by hand: what clients send that no library would.

use std::{net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

/// What was answered.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// An answer that is still coming.
pub(crate) struct Coming {
    stream: TcpStream,
    bytes: Vec<u8>,
    is_ended: bool,
}

impl Answered {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub(crate) fn all(&self, name: &str) -> Vec<&str> {
        let found = self.headers.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str()).collect()
    }
}

/// Sends a request.
pub(crate) async fn begin(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(String, String)],
    body: Option<&[u8]>,
) -> Coming {
    let mut request = format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    if body.is_some() || matches!(method, "POST" | "PUT" | "PATCH") {
        request.push_str(&format!("Content-Length: {}\r\n", body.map_or(0, <[u8]>::len)));
    }
    request.push_str("\r\n");
    let mut stream = TcpStream::connect(address).await.expect("a server");
    let mut bytes = request.into_bytes();
    bytes.extend_from_slice(body.unwrap_or_default());
    // A server that refuses a body does not read all of it.
    let _ = stream.write_all(&bytes).await;
    Coming { stream, bytes: Vec::new(), is_ended: false }
}

impl Coming {
    /// Reads until nothing comes for some time, and says whether the answer has ended.
    pub(crate) async fn read_for(&mut self, quiet: Duration) -> bool {
        let mut buffer = vec![0; 1 << 16];
        while !self.is_ended {
            match timeout(quiet, self.stream.read(&mut buffer)).await {
                Err(_) => break,
                Ok(Ok(0) | Err(_)) => self.is_ended = true,
                Ok(Ok(count)) => self.bytes.extend_from_slice(&buffer[..count]),
            }
        }
        self.is_ended
    }

    /// Reads what is there, and no more.
    pub(crate) async fn read_some(&mut self) {
        let mut buffer = [0; 1 << 12];
        let count = self.stream.read(&mut buffer).await.expect("an answer");
        self.bytes.extend_from_slice(&buffer[..count]);
    }

    /// All of the answer.
    pub(crate) async fn whole(mut self) -> Answered {
        assert!(self.read_for(Duration::from_secs(20)).await, "the answer does not end");
        self.so_far()
    }

    /// What has come of the answer.
    pub(crate) fn so_far(&self) -> Answered {
        let end = self.bytes.windows(4).position(|window| window == b"\r\n\r\n").expect("a head");
        let head = String::from_utf8_lossy(&self.bytes[..end]).into_owned();
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).expect("a status");
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
            .collect();
        let rest = &self.bytes[end + 4..];
        let is_chunked =
            headers.iter().any(|(name, value)| name.eq_ignore_ascii_case("transfer-encoding") && value == "chunked");
        let body = if is_chunked { unchunked(rest) } else { rest.to_vec() };
        Answered { status, headers, body }
    }
}

fn unchunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = bytes.windows(2).position(|window| window == b"\r\n") {
        let size = std::str::from_utf8(&bytes[..end]).ok().and_then(|text| usize::from_str_radix(text, 16).ok());
        let (Some(size), rest) = (size, &bytes[end + 2..]) else { break };
        if size == 0 || rest.len() < size {
            break;
        }
        body.extend_from_slice(&rest[..size]);
        bytes = rest.get(size + 2..).unwrap_or_default();
    }
    body
}
