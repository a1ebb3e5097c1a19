//! Attacks on memory before anyone is asked who they are: heads and handshakes that do not end.

use std::time::Duration;

use tokio::{io::AsyncWriteExt, net::TcpStream, time::timeout};

use crate::{
    process::{Process, Setup, most_connections, plain},
    resets::{CONTINUATION, HEADERS, PREFACE, SETTINGS, frame, get, no_window},
    tls::{Authority, connector, files},
};

/// A server with TLS that authenticates nobody.
fn secured() -> Setup {
    let servers = Authority::new("servers");
    let (folder, _) = files(&servers.server(), &Authority::new("clients"));
    Setup { folder, tls: Some(connector(&servers, None)) }
}

/// Opens connections, as many as there may be, and sends something on each.
async fn flood(process: &Process, count: usize, bytes: &[u8]) -> Vec<TcpStream> {
    let mut held = Vec::new();
    for _ in 0..count.min(most_connections()) {
        // A server that has heard enough does not listen.
        let Ok(mut stream) = process.try_connect().await else { continue };
        let _ = timeout(Duration::from_millis(20), stream.write_all(bytes)).await;
        held.push(stream);
    }
    held
}

#[test]
fn heads_that_do_not_end() {
    let head = format!("GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Long: {}", "x".repeat(60_000));
    Process::withstands(plain, async |_| {}, async |process| flood(process, 16_384, head.as_bytes()).await);
}

#[test]
fn heads_of_a_byte() {
    Process::withstands(plain, async |_| {}, async |process| flood(process, 16_384, b"G").await);
}

#[test]
fn connections_that_are_kept_after_long_heads() {
    let head = format!("GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Long: {}\r\n\r\n", "x".repeat(60_000));
    Process::withstands(plain, async |_| {}, async |process| flood(process, 8_000, head.as_bytes()).await);
}

#[test]
fn heads_of_many_frames_that_do_not_end() {
    let settings = frame(SETTINGS, 0, 0, &[]);
    // A header without indexing whose value does not end, and more of it.
    let begin = [&[0, 1, b'x', 0x7f, 0x80, 0xff, 0x03][..], &[b'x'; 16_000]].concat();
    let more = frame(CONTINUATION, 0, 1, &[b'x'; 16_000]);
    let bytes = [PREFACE, &settings, &frame(HEADERS, 0, 1, &begin), &more, &more, &more].concat();
    Process::withstands(plain, async |_| {}, async |process| flood(process, 4_000, &bytes).await);
}

#[test]
fn requests_of_http_2_whose_refusals_are_not_read() {
    let refused = get("/nothing");
    let requests = (0..64).flat_map(|number| frame(HEADERS, 5, 1 + 2 * number, &refused));
    let bytes: Vec<u8> = PREFACE.iter().copied().chain(no_window()).chain(requests).collect();
    Process::withstands(plain, async |_| {}, async |process| flood(process, 4_000, &bytes).await);
}

#[test]
fn heads_of_many_fields_that_do_not_end() {
    // Each byte stands for a field of the table that every connection begins with.
    let fields = frame(HEADERS, 0, 1, &[0x90; 1_500]);
    let bytes = [PREFACE, &frame(SETTINGS, 0, 0, &[]), &fields].concat();
    Process::withstands(plain, async |_| {}, async |process| flood(process, 4_000, &bytes).await);
}

#[test]
fn handshakes_that_do_not_end() {
    // A record of a handshake with the beginning of a message that is as long as one may be.
    let message = [&[1, 0, 0xff, 0xff][..], &[3; 16_000]].concat();
    let record = |bytes: &[u8]| [&[22, 3, 1][..], &u16::try_from(bytes.len()).unwrap().to_be_bytes(), bytes].concat();
    let bytes = [record(&message), record(&[3; 16_000]), record(&[3; 16_000])].concat();
    Process::withstands(secured, async |_| {}, async |process| flood(process, 4_000, &bytes).await);
}
