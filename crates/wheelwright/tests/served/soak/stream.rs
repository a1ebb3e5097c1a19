//! Answers of any length: read whole, or line by line while they come.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use serde_json::Value;

/// An answer that is being read.
pub(super) struct Stream {
    reader: BufReader<TcpStream>,
    /// The length of what is left; none for an answer in chunks.
    left: Option<usize>,
    /// What has come of a line that has not.
    line: Vec<u8>,
}

impl Stream {
    /// Begins to read an answer. A status other than 200 is an error.
    pub(super) fn open(address: SocketAddr, path: &str, accept: &str) -> io::Result<Self> {
        let stream = TcpStream::connect_timeout(&address, Duration::from_secs(10))?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        let mut reader = BufReader::new(stream);
        let head = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: {accept}\r\nConnection: close\r\n\r\n");
        reader.get_mut().write_all(head.as_bytes())?;
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if line.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        assert!(line.contains(" 200 "), "{path}: {line}");
        let mut left = None;
        loop {
            line.clear();
            reader.read_line(&mut line)?;
            let text = line.trim_end().to_ascii_lowercase();
            if let Some(length) = text.strip_prefix("content-length: ") {
                left = length.parse().ok();
            }
            if text.is_empty() {
                return Ok(Self { reader, left, line: Vec::new() });
            }
        }
    }

    /// The next piece; none at the end.
    pub(super) fn piece(&mut self) -> io::Result<Option<Vec<u8>>> {
        if let Some(left) = self.left.take() {
            let mut bytes = vec![0; left];
            self.reader.read_exact(&mut bytes)?;
            self.left = Some(0);
            return Ok(Some(bytes).filter(|bytes| !bytes.is_empty()));
        }
        let mut head = String::new();
        self.reader.read_line(&mut head)?;
        let length = usize::from_str_radix(head.trim_end(), 16).map_err(io::Error::other)?;
        let mut bytes = vec![0; length + 2];
        self.reader.read_exact(&mut bytes)?;
        bytes.truncate(length);
        Ok(Some(bytes).filter(|bytes| !bytes.is_empty()))
    }

    /// The next line; none at the end.
    pub(super) fn line(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            if let Some(end) = self.line.iter().position(|byte| *byte == b'\n') {
                let rest = self.line.split_off(end + 1);
                return Ok(Some(std::mem::replace(&mut self.line, rest)));
            }
            match self.piece()? {
                Some(piece) => self.line.extend(piece),
                None => return Ok(None),
            }
        }
    }

    /// Reads a few bytes of what has come.
    pub(super) fn some(&mut self) -> io::Result<usize> {
        self.reader.get_mut().read(&mut [0; 512])
    }
}

/// All of an answer in JSON.
pub(super) fn get(address: SocketAddr, path: &str) -> io::Result<Value> {
    let mut stream = Stream::open(address, path, "application/json")?;
    let mut bytes = Vec::new();
    while let Some(piece) = stream.piece()? {
        bytes.extend(piece);
    }
    Ok(serde_json::from_slice(&bytes)?)
}
