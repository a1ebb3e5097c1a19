//! Heads and bodies that are too large.

use tokio::io::AsyncWriteExt;
use wheelwright_server::Limits;

use crate::support::{Answer, Running, order, orders, rest_of, short};

#[tokio::test(flavor = "multi_thread")]
async fn huge_heads_are_refused() {
    let running = Running::with_limits(short()).await;
    let long = "x".repeat(100_000);
    for (request, expected) in [
        (format!("GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Long: {long}\r\n\r\n"), [431, 431]),
        (format!("GET /livez HTTP/1.1\r\nHost: localhost\r\n{}\r\n", "X-Many: y\r\n".repeat(5_000)), [431, 431]),
        (format!("GET /{long} HTTP/1.1\r\nHost: localhost\r\n\r\n"), [414, 431]),
        (format!("GET /livez?{long} HTTP/1.1\r\nHost: localhost\r\n\r\n"), [414, 431]),
    ] {
        let answer = Answer::of(&running.say(&request).await);
        assert!(expected.contains(&answer.status), "{}: {answer:?}", &request[..40]);
        running.assert_serves_on().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_without_end_costs_no_more_than_its_limit() {
    let running = Running::with_limits(short()).await;
    let mut stream = running.connect().await;
    stream.write_all(b"GET /livez HTTP/1.1\r\nX-Long: ").await.unwrap();
    let mut sent = 0;
    while sent < 50 << 20 && stream.write_all(&[b'x'; 64 << 10]).await.is_ok() {
        sent += 64 << 10;
    }
    assert!(sent < 50 << 20, "nobody takes fifty megabytes of a header");
    running.assert_serves_on().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn huge_bodies_are_refused_whether_or_not_they_say_so() {
    let mut limits = short();
    limits.body_bytes = 100_000;
    let running = Running::with_limits(limits).await;
    let path = orders("a");
    let head = format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n");
    // It says so, and sends nothing.
    let answer = Answer::of(&running.say(format!("{head}Content-Length: 99999999999\r\n\r\n")).await);
    assert_eq!((answer.status, answer.header("connection")), (413, Some("close")), "{answer:?}");
    // It does not say so, and sends on and on.
    let mut stream = running.connect().await;
    stream.write_all(format!("{head}Transfer-Encoding: chunked\r\n\r\n").as_bytes()).await.unwrap();
    let (mut reading, mut writing) = stream.into_split();
    let sending = tokio::spawn(async move {
        let chunk = [b"10000\r\n".to_vec(), vec![b' '; 65536], b"\r\n".to_vec()].concat();
        let mut sent = 0;
        while sent < 50 << 20 && writing.write_all(&chunk).await.is_ok() {
            sent += chunk.len();
        }
        sent
    });
    let answer = Answer::of(&rest_of(&mut reading).await);
    assert_eq!(answer.status, 413, "{answer:?}");
    assert!(sending.await.unwrap() < 50 << 20, "nobody takes fifty megabytes of a body");
    running.assert_serves_on().await;
    // As long as it may be.
    let note = "n".repeat(90_000);
    let created = running.request("POST", &path, "", &order("long", &note)).await;
    assert_eq!(created.status, 201, "{created:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_that_are_nested_deeply_are_refused() {
    let running = Running::with_limits(short()).await;
    let deep = format!(r#"{{"apiVersion":"shop.example.com/v1","kind":"Order","spec":{}"#, "[".repeat(1_000_000));
    for body in [deep, "{\"a\":".repeat(500_000), "[".repeat(3_000_000)] {
        let answer = running.request("POST", &orders("a"), "", &body).await;
        assert_eq!(answer.status, 400, "{answer:?}");
        let cart = "/subscriptions/s/resourceGroups/g/providers/Example.Shop/carts/c?api-version=2025-01-01";
        let answer = running.request("PUT", cart, "", &body).await;
        assert_eq!(answer.status, 400, "{answer:?}");
    }
    running.assert_serves_on().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_sends_all_of_a_body_that_is_too_large_before_they_read_is_told_so() {
    let running = Running::with_limits(Limits::default()).await;
    let most = Limits::default().body_bytes;
    let body = vec![b' '; most * 2 - 100_000];
    let head = format!("POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n", orders("a"));
    let told = format!("{head}Content-Length: {}\r\n\r\n", body.len());
    let chunk = format!("{head}Transfer-Encoding: chunked\r\n\r\n{:x}\r\n", body.len());
    for (head, end) in [(told, ""), (chunk, "\r\n0\r\n\r\n")] {
        let mut stream = running.connect().await;
        for part in [head.as_bytes(), &body, end.as_bytes()] {
            stream.write_all(part).await.unwrap();
        }
        let answer = Answer::of(&rest_of(&mut stream).await);
        assert_eq!((answer.status, answer.header("connection")), (413, Some("close")), "{answer:?}");
        assert!(answer.body.contains("RequestEntityTooLarge"), "{answer:?}");
    }
    // Whoever waits to be asked for it need not send it at all.
    let waiting = format!("{head}Expect: 100-continue\r\nContent-Length: {}\r\n\r\n", body.len());
    let answer = Answer::of(&running.say(waiting).await);
    assert_eq!(answer.status, 413, "{answer:?}");
}
