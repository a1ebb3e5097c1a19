//! A client from one of the loopback addresses, with or without TLS.

use std::{
    io,
    net::{IpAddr, Ipv4Addr},
};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    time::timeout,
};
use tokio_rustls::TlsConnector;

use crate::{process::ATTACKER, support::LONG};

/// A client with a connection that is kept.
pub(crate) struct Client {
    stream: Box<dyn Stream>,
    bytes: Vec<u8>,
}

/// A connection with or without TLS.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

impl Client {
    pub(crate) async fn connect(from: Ipv4Addr, port: u16) -> io::Result<Self> {
        Ok(Self { stream: Box::new(connect(from, port, None).await?), bytes: Vec::new() })
    }

    /// A connection with TLS.
    pub(crate) async fn secure(from: Ipv4Addr, port: u16, tls: &TlsConnector) -> io::Result<Self> {
        let stream = connect(from, port, None).await?;
        let stream = timeout(LONG, tls.connect("localhost".try_into().unwrap(), stream)).await;
        let stream = stream.map_err(|_| io::ErrorKind::TimedOut)??;
        Ok(Self { stream: Box::new(stream), bytes: Vec::new() })
    }

    /// Makes a request, and returns the status once all of the answer has come.
    pub(crate) async fn request(&mut self, method: &str, path: &str, body: &str) -> io::Result<u16> {
        timeout(LONG, self.answered(method, path, body)).await.map_err(|_| io::ErrorKind::TimedOut)?
    }

    async fn answered(&mut self, method: &str, path: &str, body: &str) -> io::Result<u16> {
        // The token counts where a server asks for one.
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer token-a\r\nContent-Type: application/json\r\n"
        );
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

/// A connection from a loopback address, with so much room for what is not read.
pub(crate) async fn connect(from: Ipv4Addr, port: u16, room: Option<u32>) -> io::Result<TcpStream> {
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
