//! A client that does as little as it can, so that what is measured is the server.

use std::{
    io::{self, ErrorKind},
    net::SocketAddr,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// A connection that is kept for one request after the other.
pub(crate) struct Connection {
    stream: TcpStream,
    read: Vec<u8>,
    /// How much of `read` is filled.
    filled: usize,
}

/// What came back.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// The body, if it was to be kept.
    pub(crate) body: Vec<u8>,
    /// How many bytes the body has.
    pub(crate) length: usize,
    /// In how many pieces it came.
    pub(crate) pieces: usize,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, read: vec![0; 256 << 10], filled: 0 })
    }

    /// Sends a request and reads the answer to its end.
    pub(crate) async fn exchange(&mut self, request: &[u8], keep: bool) -> io::Result<Answer> {
        self.stream.write_all(request).await?;
        let end = loop {
            if let Some(end) = find(&self.read[..self.filled], b"\r\n\r\n") {
                break end + 4;
            }
            self.fill().await?;
        };
        let head = std::str::from_utf8(&self.read[..end]).map_err(|_| broken())?;
        let status = head.get(9..12).and_then(|code| code.parse().ok()).ok_or_else(broken)?;
        let length = header(head, "content-length").map(|text| text.parse().map_err(|_| broken())).transpose()?;
        self.take(end);
        let mut answer = Answer { status, ..Answer::default() };
        match length {
            Some(length) => self.piece(length, keep, &mut answer).await?,
            None => loop {
                let line = loop {
                    if let Some(end) = find(&self.read[..self.filled], b"\r\n") {
                        break end;
                    }
                    self.fill().await?;
                };
                let size = std::str::from_utf8(&self.read[..line]).ok();
                let size = size.and_then(|text| usize::from_str_radix(text, 16).ok()).ok_or_else(broken)?;
                self.take(line + 2);
                if size > 0 {
                    self.piece(size, keep, &mut answer).await?;
                }
                while self.filled < 2 {
                    self.fill().await?;
                }
                self.take(2);
                if size == 0 {
                    break;
                }
            },
        }
        Ok(answer)
    }

    async fn piece(&mut self, length: usize, keep: bool, answer: &mut Answer) -> io::Result<()> {
        let mut left = length;
        loop {
            let here = left.min(self.filled);
            if keep {
                answer.body.extend_from_slice(&self.read[..here]);
            }
            self.take(here);
            left -= here;
            if left == 0 {
                break;
            }
            self.fill().await?;
        }
        answer.length += length;
        answer.pieces += 1;
        Ok(())
    }

    async fn fill(&mut self) -> io::Result<()> {
        match self.stream.read(&mut self.read[self.filled..]).await? {
            0 => Err(ErrorKind::UnexpectedEof.into()),
            count => {
                self.filled += count;
                Ok(())
            }
        }
    }

    fn take(&mut self, count: usize) {
        self.read.copy_within(count..self.filled, 0);
        self.filled -= count;
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

fn header<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    let lines = head.lines().filter_map(|line| line.split_once(": "));
    lines.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
}

fn broken() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "the answer is no HTTP that this client reads")
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[test]
    fn answers_are_read_to_their_end_and_no_further() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let mut connection = Connection::open(listener.local_addr().unwrap()).await.unwrap();
            let (mut stream, _) = listener.accept().await.unwrap();
            let answers: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc\
                HTTP/1.1 201 Created\r\ntransfer-encoding: chunked\r\n\r\n2\r\nde\r\nA\r\n0123456789\r\n0\r\n\r\n\
                HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n";
            for byte in answers.chunks(5) {
                stream.write_all(byte).await.unwrap();
            }
            for (status, body, pieces) in [(200, "abc", 1), (201, "de0123456789", 2), (404, "", 1)] {
                let answer = connection.exchange(b"GET", true).await.unwrap();
                assert_eq!((answer.status, answer.length, answer.pieces), (status, body.len(), pieces));
                assert_eq!(answer.body, body.as_bytes());
            }
        });
    }
}
