//! Requests of which it is not clear where they end: another one must not hide in them.

use tokio::io::AsyncWriteExt;

use crate::support::{Running, rest_of, short};

/// What hides behind a request, and must not be answered.
const HIDDEN: &str = "GET /apis HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

async fn answers_to(running: &Running, said: &str) -> String {
    let mut stream = running.connect().await;
    let _ = stream.write_all(said.as_bytes()).await;
    rest_of(&mut stream).await
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_with_two_ends_or_none_are_refused() {
    let running = Running::with_limits(short()).await;
    let begin = "POST /apis/shop.example.com/v1/namespaces/a/orders HTTP/1.1\r\nHost: localhost\r\n";
    let chunked = "Transfer-Encoding: chunked\r\n";
    for (what, said) in [
        ("both, chunked first", format!("{begin}{chunked}Content-Length: 5\r\n\r\n0\r\n\r\n{HIDDEN}")),
        ("both, length first", format!("{begin}Content-Length: 5\r\n{chunked}\r\n0\r\n\r\n{HIDDEN}")),
        ("two lengths", format!("{begin}Content-Length: 0\r\nContent-Length: 5\r\n\r\n{HIDDEN}")),
        ("two lengths in one", format!("{begin}Content-Length: 0, 5\r\n\r\n{HIDDEN}")),
        ("a negative length", format!("{begin}Content-Length: -1\r\n\r\n{HIDDEN}")),
        ("a length with a sign", format!("{begin}Content-Length: +0\r\n\r\n{HIDDEN}")),
        ("a length that is too large", format!("{begin}Content-Length: 99999999999999999999999\r\n\r\n{HIDDEN}")),
        ("not chunked at last", format!("{begin}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n{HIDDEN}")),
        ("an unknown encoding", format!("{begin}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n{HIDDEN}")),
        ("a chunk of no size", format!("{begin}{chunked}\r\nz\r\n\r\n{HIDDEN}")),
        ("a chunk of a negative size", format!("{begin}{chunked}\r\n-1\r\n\r\n{HIDDEN}")),
        ("a chunk beyond all bounds", format!("{begin}{chunked}\r\nfffffffffffffffff\r\n\r\n{HIDDEN}")),
        ("a chunk that is longer than it says", format!("{begin}{chunked}\r\n1\r\nabc\r\n0\r\n\r\n{HIDDEN}")),
        ("a space before the colon", format!("{begin}Content-Length : 5\r\n{chunked}\r\n0\r\n\r\n{HIDDEN}")),
        ("a folded header", format!("{begin}X-A: b\r\n Transfer-Encoding: chunked\r\n\r\n{HIDDEN}")),
        ("a chunk in an old version", format!("{}{chunked}\r\n0\r\n\r\n{HIDDEN}", begin.replace("1.1", "1.0"))),
    ] {
        let told = answers_to(&running, &said).await;
        assert!(!told.contains("APIGroupList"), "{what}: {told}");
        assert!(!told.contains("HTTP/1.1 5") && !told.contains("HTTP/1.1 2"), "{what}: {told}");
        running.assert_serves_on().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_in_a_body_is_no_request() {
    let running = Running::with_limits(short()).await;
    let length = HIDDEN.len();
    let begin = "POST /apis/shop.example.com/v1/namespaces/a/orders HTTP/1.1\r\nHost: localhost\r\n";
    let told = answers_to(&running, &format!("{begin}Content-Length: {length}\r\n\r\n{HIDDEN}")).await;
    assert!(!told.contains("APIGroupList"), "{told}");
    assert_eq!(told.matches("HTTP/1.1 ").count(), 1, "{told}");
    // A request that is refused unread: its body is not taken for the next one.
    let told =
        answers_to(&running, &format!("{}Content-Length: {length}\r\n\r\n{HIDDEN}", begin.replace("/a/", "//"))).await;
    assert!(!told.contains("APIGroupList"), "{told}");
    running.assert_serves_on().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_for_no_host_or_for_several_are_refused() {
    let running = Running::with_limits(short()).await;
    let path = "/apis/shop.example.com/v1/namespaces/a/orders";
    for (what, version, hosts, status) in [
        ("none", "1.1", "", 400),
        ("two", "1.1", "Host: a\r\nHost: b\r\n", 400),
        ("the same twice", "1.1", "Host: a\r\nHost: a\r\n", 400),
        ("a quote", "1.1", "Host: a\"b\r\n", 400),
        ("somebody at it", "1.1", "Host: a@b\r\n", 400),
        ("two in an old version", "1.0", "Host: a\r\nHost: b\r\n", 400),
        ("one", "1.1", "Host: localhost:80\r\n", 200),
        ("an address", "1.1", "Host: [::1]:80\r\n", 200),
        ("an empty one", "1.1", "Host:\r\n", 200),
        ("none in an old version", "1.0", "", 200),
    ] {
        let said = format!("GET {path} HTTP/{version}\r\n{hosts}Connection: close\r\n\r\n");
        let told = answers_to(&running, &said).await;
        let begins = told.split(' ').nth(1).map(str::to_owned);
        assert_eq!(begins, Some(status.to_string()), "{what}: {told}");
    }
}
