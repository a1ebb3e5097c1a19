//! A stand-in for the system that decides which channel a node pool follows and where its machines are.
//!
//! `cargo run --example node-pools-cluster-service -- 127.0.0.1:9000`. It knows pools whose name ends in `zoned`, and has an
//! empty text where it has no value, as programs in Go do.

use std::{
    env, io,
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    thread,
};

fn main() -> io::Result<()> {
    let address = env::args().nth(1).unwrap_or_else(|| "127.0.0.1:9000".to_owned());
    let listener = TcpListener::bind(address)?;
    writeln!(io::stdout(), "{{\"listening\": \"http://{}\"}}", listener.local_addr()?)?;
    for stream in listener.incoming() {
        let stream = stream?;
        // Whoever goes away early has changed their mind.
        thread::spawn(move || drop(answer(&stream)));
    }
    Ok(())
}

/// Answers the requests of a connection, one after the other.
fn answer(mut stream: &TcpStream) -> io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    while let Some(request) = lines.next().transpose()? {
        while lines.next().transpose()?.is_some_and(|header| !header.is_empty()) {}
        let name = request.split(' ').nth(1).unwrap_or_default();
        let zone = if name.ends_with("zoned") { "2" } else { "" };
        let body = format!(
            r#"{{"properties":{{"version":{{"channelGroup":""}},"platform":{{"availabilityZone":"{zone}"}}}}}}"#
        );
        write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len())?;
    }
    Ok(())
}
