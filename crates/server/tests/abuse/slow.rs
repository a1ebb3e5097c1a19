//! Clients that take their time, or stop halfway.

use std::time::{Duration, Instant};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
};

use crate::support::{Answer, LONG, Running, order, orders, rest_of, short};

/// Sends a text a byte at a time, for as long as the other side takes it.
async fn dribble(stream: &mut TcpStream, text: &str) {
    for byte in text.bytes() {
        if stream.write_all(&[byte]).await.is_err() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(40)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn heads_that_dribble_are_cut_off() {
    let running = Running::with_limits(short()).await;
    let began = Instant::now();
    let mut clients = tokio::task::JoinSet::new();
    for number in 0..50 {
        let mut stream = running.connect().await;
        clients.spawn(async move {
            let head =
                format!("GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Number: {number}\r\n{}", "X-A: b\r\n".repeat(99));
            dribble(&mut stream, &head).await;
            rest_of(&mut stream).await
        });
    }
    running.assert_serves_on().await;
    while let Some(answer) = clients.join_next().await {
        let answer = answer.unwrap();
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408"), "{answer}");
    }
    assert!(began.elapsed() < Duration::from_secs(20), "all were cut off long before they were done");
    running.assert_serves_on().await;
    running.until_metric("wheelwright_connections", |open| open <= 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_later_head_must_come_to_its_end_and_whoever_says_nothing_may_stay() {
    let mut limits = short();
    limits.idle_time = LONG;
    let running = Running::with_limits(limits).await;
    let request = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let mut clients = [running.connect().await, running.connect().await];
    for client in &mut clients {
        client.write_all(request).await.unwrap();
        assert!(first_of(client).await.starts_with("HTTP/1.1 200"));
    }
    let [mut dribbling, mut quiet] = clients;
    let began = Instant::now();
    let head = format!("GET /livez HTTP/1.1\r\nHost: localhost\r\n{}", "X-A: b\r\n".repeat(99));
    dribble(&mut dribbling, &head).await;
    assert_eq!(rest_of(&mut dribbling).await, "");
    assert!(began.elapsed() < LONG / 2, "cut off long before it was done, and before the other's time was up");
    assert!(began.elapsed() >= Duration::from_secs(1), "the quiet one was so for longer than a head may take");
    quiet.write_all(request).await.unwrap();
    assert!(first_of(&mut quiet).await.starts_with("HTTP/1.1 200"));
}

/// What comes first.
async fn first_of(stream: &mut TcpStream) -> String {
    let mut bytes = vec![0; 4096];
    let length = stream.read(&mut bytes).await.expect("something comes");
    String::from_utf8_lossy(&bytes[..length]).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_that_dribble_are_cut_off_and_told() {
    let running = Running::with_limits(short()).await;
    let mut stream = running.connect().await;
    let path = orders("a");
    let head = format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n");
    stream.write_all(format!("{head}Content-Length: 5000\r\n\r\n").as_bytes()).await.unwrap();
    let (mut reading, mut writing) = stream.into_split();
    let dribbling = tokio::spawn(async move {
        for _ in 0..500 {
            if writing.write_all(b" ").await.is_err() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(40)).await;
        }
    });
    running.assert_serves_on().await;
    let answer = Answer::of(&rest_of(&mut reading).await);
    assert_eq!((answer.status, answer.header("connection")), (408, Some("close")), "{answer:?}");
    dribbling.abort();
    running.until_metric("wheelwright_requests_in_flight", |open| open == 0).await;
    running.assert_serves_on().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_closes_their_half_halfway_is_let_go() {
    let running = Running::with_limits(short()).await;
    let path = orders("a");
    for said in [
        String::new(),
        "GET /livez HT".to_owned(),
        "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned(),
        format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{{\"api"),
        format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{{\"ap"),
    ] {
        let mut stream = running.connect().await;
        stream.write_all(said.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        let answer = rest_of(&mut stream).await;
        assert!(answer.is_empty() || !answer.starts_with("HTTP/1.1 5"), "{said}: {answer}");
        running.assert_serves_on().await;
    }
    running.until_metric("wheelwright_connections", |open| open <= 1).await;
    running.until_metric("wheelwright_requests_in_flight", |open| open == 0).await;
}

/// A client with a short memory for what it does not read.
async fn deaf_client(running: &Running, request: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4 << 10).unwrap();
    let mut stream = socket.connect(running.address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_that_is_never_read_is_cut_off() {
    let running = Running::with_limits(short()).await;
    let path = orders("a");
    let watch = format!("GET {path}?watch=true HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let mut clients = Vec::new();
    for _ in 0..5 {
        clients.push(deaf_client(&running, &watch).await);
    }
    running.until_metric("wheelwright_watches", |open| open == 5).await;
    let note = "n".repeat(200_000);
    // More than all the buffers on the way can hold.
    for number in 0..60 {
        assert_eq!(running.create("a", &format!("o{number}"), "", &note).await.status, 201);
    }
    running.until_metric("wheelwright_watches", |open| open == 0).await;
    running.until_metric("wheelwright_connections", |open| open <= 1).await;
    running.assert_serves_on().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_is_never_read_is_cut_off() {
    let running = Running::with_limits(short()).await;
    let note = "n".repeat(200_000);
    for number in 0..80 {
        assert_eq!(running.create("a", &format!("o{number}"), "", &note).await.status, 201);
    }
    let list = format!("GET {} HTTP/1.1\r\nHost: localhost\r\n\r\n", orders("a"));
    let client = deaf_client(&running, &list).await;
    // The other one is that which asks for the metric.
    running.until_metric("wheelwright_connections", |open| open == 2).await;
    running.until_metric("wheelwright_connections", |open| open <= 1).await;
    running.until_metric("wheelwright_requests_in_flight", |open| open == 0).await;
    drop(client);
    running.assert_serves_on().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_ends_waits_for_nobody_who_dawdles() {
    let running = Running::with_limits(short()).await;
    let mut watching = running.connect().await;
    let watch = format!("GET {}?watch=true HTTP/1.1\r\nHost: localhost\r\n\r\n", orders("a"));
    watching.write_all(watch.as_bytes()).await.unwrap();
    let mut halfway = running.connect().await;
    halfway.write_all(b"GET /livez HT").await.unwrap();
    let _idle = running.connect().await;
    running.until_metric("wheelwright_watches", |open| open == 1).await;
    let began = Instant::now();
    running.end().await;
    assert!(began.elapsed() < LONG);
    let told = rest_of(&mut watching).await;
    assert!(told.ends_with("0\r\n\r\n"), "a watch ends as it should: {told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_ends_waits_for_no_half_a_head() {
    let mut limits = short();
    (limits.head_time, limits.idle_time, limits.grace) = (LONG, LONG, LONG);
    let running = Running::with_limits(limits).await;
    let mut halfway = [running.connect().await, running.connect().await];
    halfway[0].write_all(b"GET /livez HT").await.unwrap();
    halfway[1].write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\nGET /li").await.unwrap();
    assert!(first_of(&mut halfway[1]).await.starts_with("HTTP/1.1 200"));
    let began = Instant::now();
    running.end().await;
    assert!(began.elapsed() < LONG / 2);
}

/// Whoever has to make room in the middle of a head, and comes to its end, is answered as anybody else.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_owed_an_answer_gets_it_although_its_connection_has_to_leave() {
    let mut limits = short();
    (limits.connections, limits.head_time, limits.body_time, limits.grace) = (1, LONG, LONG, LONG);
    let running = Running::with_limits(limits).await;
    let mut leaving = running.connect().await;
    let path = orders("a");
    leaving.write_all(format!("POST {path} HTTP/1.1\r\nHost: localhost\r\n").as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    let _other = running.connect().await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    let body = order("one", "late");
    let head = format!("Content-Type: application/json\r\nContent-Length: {}\r\n\r\n", body.len());
    leaving.write_all(head.as_bytes()).await.unwrap();
    // Longer than a connection has that owes nothing.
    tokio::time::sleep(Duration::from_millis(1500)).await;
    leaving.write_all(body.as_bytes()).await.unwrap();
    let answer = Answer::of(&rest_of(&mut leaving).await);
    assert_eq!(answer.status, 201, "{answer:?}");
}
