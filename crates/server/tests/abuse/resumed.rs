//! Watches whose clients read slowly: they wait, are cut off, and go on where they were.

use std::time::Duration;

use serde_json::Value as Json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    time::timeout,
};
use wheelwright_server::Limits;

use crate::support::{LONG, Running, orders, short};

/// A watch by HTTP/1.0, in which events come without anything around them, of a client with next to no room for them.
async fn watch(running: &Running, query: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4 << 10).unwrap();
    // Another caller than the one that writes.
    socket.bind(([127, 0, 0, 2], 0).into()).unwrap();
    let mut stream = socket.connect(running.address).await.unwrap();
    let path = orders("a");
    stream
        .write_all(format!("GET {path}?watch=true{query} HTTP/1.0\r\nHost: localhost\r\n\r\n").as_bytes())
        .await
        .unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(timeout(LONG, stream.read_u8()).await.expect("a head in time").unwrap());
    }
    assert!(head.starts_with(b"HTTP/1.0 200"), "{}", String::from_utf8_lossy(&head));
    stream
}

/// Names and resource versions of the events that come until there are so many, or the server closes the connection.
async fn events(stream: &mut TcpStream, count: usize) -> Vec<(String, String)> {
    let (mut bytes, mut found, mut part) = (Vec::new(), Vec::new(), vec![0; 64 << 10]);
    while found.len() < count {
        let Ok(length @ 1..) = timeout(LONG, stream.read(&mut part)).await.expect("events in time") else { break };
        bytes.extend_from_slice(&part[..length]);
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = bytes.drain(..=end).collect();
            let event: Json = serde_json::from_slice(&line).unwrap();
            assert!(event["type"] == "ADDED", "{}", event["type"]);
            let metadata = &event["object"]["metadata"];
            let text = |key: &str| metadata[key].as_str().unwrap().to_owned();
            found.push((text("name"), text("resourceVersion")));
        }
    }
    found
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("o{number:02}")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_that_is_cut_off_goes_on_by_its_resource_version() {
    const ORDERS: usize = 40;
    let running = Running::with_limits(short()).await;
    let mut slow = watch(&running, "").await;
    let note = "n".repeat(300_000);
    for name in names(ORDERS) {
        assert_eq!(running.create("a", &name, "", &note).await.status, 201);
    }
    running.until_metric("wheelwright_watches", |open| open == 0).await;
    // What was sent before can be read.
    let mut seen = events(&mut slow, ORDERS).await;
    assert!(seen.len() < ORDERS, "it was cut off");
    let from = seen.last().map_or("0", |(_, version)| version).to_owned();
    let mut again = watch(&running, &format!("&resourceVersion={from}")).await;
    seen.extend(events(&mut again, ORDERS - seen.len()).await);
    assert_eq!(seen.into_iter().map(|(name, _)| name).collect::<Vec<_>>(), names(ORDERS));
}

#[tokio::test(flavor = "multi_thread")]
async fn watches_that_wait_for_their_clients_and_for_memory_miss_and_repeat_nothing() {
    const ORDERS: usize = 30;
    const WATCHES: usize = 8;
    let mut limits = Limits::default();
    // Two megabytes of events for one caller, and a watch wants half a megabyte.
    limits.memory_bytes = 22 << 20;
    let running = Running::with_limits(limits).await;
    let mut watches = Vec::new();
    for _ in 0..WATCHES {
        watches.push(watch(&running, "").await);
    }
    let note = "n".repeat(500_000);
    for name in names(ORDERS) {
        while running.create("a", &name, "", &note).await.status == 429 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    let reading = watches.into_iter().map(|mut stream| tokio::spawn(async move { events(&mut stream, ORDERS).await }));
    for seen in reading.collect::<Vec<_>>() {
        let seen = seen.await.unwrap();
        assert_eq!(seen.into_iter().map(|(name, _)| name).collect::<Vec<_>>(), names(ORDERS));
    }
}
