//! More requests, watches and connections than there is room for.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use crate::{
    support::{Answer, LONG, Running, order, orders, rest_of, short},
    tenants::access_file,
};

/// A request that holds its place until its body is sent.
async fn open_request(running: &Running, path: &str) -> TcpStream {
    let mut stream = running.connect().await;
    let head = format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
    let length = order("held", "").len();
    let text = format!("{head}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n");
    stream.write_all(text.as_bytes()).await.unwrap();
    stream
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_comes_when_there_is_no_room_is_told_when_to_come_again() {
    let mut limits = short();
    limits.requests = 0;
    let running = Running::with_limits(limits).await;
    let kubernetes = running.get(&orders("a")).await;
    let arm = running.get("/subscriptions/s/providers/Example.Shop/carts?api-version=2025-01-01").await;
    for answer in [kubernetes, arm] {
        assert_eq!((answer.status, answer.header("retry-after")), (429, Some("1")), "{answer:?}");
    }
    // Those who look after the server are always let in.
    assert_eq!(running.get("/livez").await.status, 200);
    assert_eq!(running.get("/readyz").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_sends_slowly_keeps_only_others_from_sending() {
    let mut limits = short();
    limits.requests = 4;
    limits.body_time = LONG;
    let running = Running::with_limits(limits).await;
    let mut held = open_request(&running, &orders("a")).await;
    let other = open_request(&running, &orders("b")).await;
    running.until_metric("wheelwright_bodies_in_flight", |open| open == 2).await;
    let mut third = open_request(&running, &orders("c")).await;
    let third = Answer::of(&rest_of(&mut third).await);
    assert_eq!((third.status, third.header("retry-after")), (429, Some("1")), "{third:?}");
    assert_eq!(running.get(&orders("a")).await.status, 200, "whoever reads is served on");
    held.write_all(order("held", "").as_bytes()).await.unwrap();
    assert_eq!(Answer::of(&rest_of(&mut held).await).status, 201);
    running.until_metric("wheelwright_bodies_in_flight", |open| open == 1).await;
    drop(other);
    running.until_metric("wheelwright_bodies_in_flight", |open| open == 0).await;
}

/// A watch that is open.
async fn watch(running: &Running, namespace: &str, token: &str) -> TcpStream {
    let mut stream = running.connect().await;
    let authorization = format!("Authorization: Bearer {token}\r\n");
    let path = orders(namespace);
    let text = format!("GET {path}?watch=true HTTP/1.1\r\nHost: localhost\r\n{authorization}\r\n");
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut head = [0; 12];
    stream.read_exact(&mut head).await.unwrap();
    assert_eq!(&head, b"HTTP/1.1 200");
    stream
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_has_more_than_half_of_the_places_and_others_have_the_rest() {
    let mut limits = short();
    limits.watches = 4;
    let running = Running::start(limits, Some(&access_file()), None).await;
    let of_ann = [watch(&running, "a", "token-a").await, watch(&running, "a", "token-a").await];
    let path = |namespace: &str| format!("{}?watch=true", orders(namespace));
    let third = running.request("GET", &path("a"), "token-a", "").await;
    assert_eq!((third.status, third.header("retry-after")), (429, Some("1")), "{third:?}");
    assert!(third.body.contains("half of all"), "{third:?}");
    assert_eq!(running.request("GET", &orders("a"), "token-a", "").await.status, 200, "a list is no watch");
    // From the same address, and yet somebody else.
    let of_bob = [watch(&running, "b", "token-b").await, watch(&running, "b", "token-b").await];
    drop(of_ann);
    let mut again = running.request("GET", &path("b"), "token-b", "").await;
    assert_eq!(again.status, 429, "{again:?}");
    drop(of_bob);
    for _ in 0..500 {
        again = running.request("GET", &format!("{}&timeoutSeconds=1", path("b")), "token-b", "").await;
        if again.status == 200 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(again.status, 200, "what is given back can be had again: {again:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn watches_have_places_of_their_own() {
    let mut limits = short();
    (limits.watches, limits.requests) = (4, 4);
    let running = Running::with_limits(limits).await;
    let watch = format!("GET {}?watch=true HTTP/1.1\r\nHost: localhost\r\n\r\n", orders("a"));
    let mut watching = Vec::new();
    for _ in 0..2 {
        let mut stream = running.connect().await;
        stream.write_all(watch.as_bytes()).await.unwrap();
        let mut byte = [0];
        stream.read_exact(&mut byte).await.unwrap();
        watching.push(stream);
    }
    let third = running.get(&format!("{}?watch=true", orders("a"))).await;
    assert_eq!((third.status, third.header("retry-after")), (429, Some("1")), "{third:?}");
    assert_eq!(running.get(&orders("a")).await.status, 200);
    drop(watching.pop());
    running.until_metric("wheelwright_watches", |open| open == 1).await;
    let mut stream = running.connect().await;
    stream.write_all(watch.as_bytes()).await.unwrap();
    let mut head = [0; 12];
    stream.read_exact(&mut head).await.unwrap();
    assert_eq!(&head, b"HTTP/1.1 200");
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_connections_make_room_for_whoever_wants_something() {
    let mut limits = short();
    limits.connections = 50;
    limits.head_time = LONG;
    let running = Running::with_limits(limits).await;
    let mut idle = Vec::new();
    for _ in 0..500 {
        idle.push(running.connect().await);
        if idle.len() % 50 == 0 {
            running.assert_serves_on().await;
        }
    }
    let open = running.metric("wheelwright_connections").await;
    assert!(open <= 60, "{open}");
    let mut first = idle.swap_remove(0);
    let gone = timeout(LONG, first.read(&mut [0])).await.expect("the first was asked to leave");
    assert!(matches!(gone, Ok(0) | Err(_)), "{gone:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_are_kept_may_ask_again_and_leave_when_they_are_idle_for_too_long() {
    let running = Running::with_limits(short()).await;
    let mut stream = running.connect().await;
    for _ in 0..3 {
        stream.write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
        let mut bytes = [0; 12];
        stream.read_exact(&mut bytes).await.unwrap();
        assert_eq!(&bytes, b"HTTP/1.1 200");
        let mut rest = vec![0; 1000];
        let _ = stream.read(&mut rest).await.unwrap();
    }
    assert_eq!(rest_of(&mut stream).await, "", "it is closed without another word");
}
