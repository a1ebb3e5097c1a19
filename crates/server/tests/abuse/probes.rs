//! Probes and metrics are answered by a thread of their own, whatever the workers do.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    sync::mpsc,
    thread,
};

use tokio::{io::AsyncWriteExt, runtime};
use wheelwright_server::Limits;

use crate::{
    support::{Answer, LONG, Running, order, orders, rest_of, short},
    tenants::access_file,
};

const WORKERS: usize = 2;

/// Sends text from a thread without a runtime, and reads until the server closes the connection.
fn say(address: SocketAddr, text: &str) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    Answer::of(&answer)
}

fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
}

#[test]
fn they_are_answered_while_all_workers_are_blocked() {
    let runtime = runtime::Builder::new_multi_thread().worker_threads(WORKERS).enable_all().build().unwrap();
    let server = runtime.block_on(Running::with_limits(Limits::default()));
    assert_eq!(say(server.address, &get("/readyz")).status, 200);
    let blocked: Vec<mpsc::Sender<()>> = (0..WORKERS)
        .map(|_| {
            let (release, released) = mpsc::channel();
            let (begin, begun) = mpsc::channel();
            runtime.spawn(async move {
                begin.send(()).unwrap();
                let _ = released.recv();
            });
            begun.recv_timeout(LONG).expect("a free worker");
            release
        })
        .collect();
    for address in [server.address, server.probes] {
        for path in ["/readyz", "/livez", "/healthz", "/metrics"] {
            assert_eq!(say(address, &get(path)).status, 200, "{path}");
        }
    }
    let (kinds, answered) = mpsc::channel();
    let address = server.address;
    let client = thread::spawn(move || kinds.send(say(address, &get("/apis")).status));
    assert_eq!(say(address, &get("/livez")).body, "ok");
    assert!(answered.try_recv().is_err(), "other requests wait for a worker");
    drop(blocked);
    assert_eq!(answered.recv_timeout(LONG).unwrap(), 200);
    client.join().unwrap().unwrap();
    runtime.block_on(server.end());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_begins_with_a_probe_serves_all_else_too() {
    let server = Running::with_limits(short()).await;
    let kept = |path: &str| get(path).replace("close", "keep-alive");
    let probes = server.say(format!("{}{}{}", kept("/livez"), kept("/readyz"), get("/healthz"))).await;
    assert_eq!(probes.matches("HTTP/1.1 200 OK").count(), 3, "{probes}");
    let others = server.say(format!("{}{}{}", kept("/livez"), kept("/apis"), kept("/apis"))).await;
    assert_eq!(others.matches("HTTP/1.1 200 OK").count(), 2, "the next connection is for the workers: {others}");
    assert!(others.to_ascii_lowercase().contains("connection: close"), "{others}");
    let body = order("a", "one");
    let create = format!(
        "POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        orders("a"),
        body.len()
    );
    let created = server.say(format!("{}{create}", kept("/livez"))).await;
    assert!(created.contains("HTTP/1.1 201 Created"), "{created}");
    let head = server.say("HEAD /healthz?verbose HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await;
    assert!(head.starts_with("HTTP/1.1 200 OK") && head.ends_with("\r\n\r\n"), "{head}");
    assert!(server.say("GET /livez HTTP/1.0\r\n\r\n").await.starts_with("HTTP/1.0 200 OK"));
    for path in ["/livezz", "/livez/", "/metricss"] {
        assert_eq!(server.get(path).await.status, 404, "{path}");
    }
    // A request line that does not come at once is one as any other.
    let mut slow = server.connect().await;
    slow.write_all(b"GE").await.unwrap();
    server.assert_serves_on().await;
    slow.write_all(get("/livez").trim_start_matches("GE").as_bytes()).await.unwrap();
    assert!(rest_of(&mut slow).await.starts_with("HTTP/1.1 200 OK"));
    // Neither a head that does not end nor silence keeps its connection.
    let mut unfinished = Vec::new();
    for text in ["", "GET /livez HTTP/1.1\r\n", "GET /metrics HTTP/1.1\r\nHost: "] {
        let mut stream = server.connect().await;
        stream.write_all(text.as_bytes()).await.unwrap();
        unfinished.push(stream);
    }
    for mut stream in unfinished {
        assert_eq!(rest_of(&mut stream).await, "");
    }
    server.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_address_of_probes_serves_nothing_else() {
    let server = Running::with_access(&access_file()).await;
    let ask = async |text: String| {
        let address = server.probes;
        tokio::task::spawn_blocking(move || say(address, &text)).await.unwrap()
    };
    for path in ["/livez", "/healthz", "/readyz"] {
        assert_eq!(ask(get(path)).await.status, 200, "{path}");
    }
    for path in ["/", "/apis", "/openapi/v2", "/subscriptions/a"] {
        let answer = ask(get(path)).await;
        assert_eq!(answer.status, 404, "{path}");
        assert!(answer.body.contains("/readyz"), "{answer:?}");
    }
    assert_eq!(ask(get("/metrics")).await.status, 401);
    assert_eq!(ask(get("/metrics").replace("Host", "Authorization: Bearer token-a\r\nHost")).await.status, 403);
    assert_eq!(ask(get("/livez").replace("GET", "DELETE")).await.status, 405);
    let silent: Vec<TcpStream> = (0..100).map(|_| TcpStream::connect(server.probes).unwrap()).collect();
    assert_eq!(ask(get("/livez")).await.status, 200, "silent connections make room");
    drop(silent);
    server.end().await;
}
