//! Requests that a browser sends on behalf of a web page: by a foreign host name, from a foreign origin. Real browsers try the
//! same in `crates/wheelwright/tests/served/browsers`.

use http_body_util::{BodyExt, Empty};
use hyper::{body::Bytes, client::conn::http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use wheelwright_server::Limits;

use crate::{
    support::{Answer, Running, order, orders, rest_of, short},
    tls::{Authority, connect, files},
};

/// A request with a few headers, and its answer.
async fn ask(running: &Running, method: &str, path: &str, headers: &str, body: &str) -> Answer {
    let length = body.len();
    let head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n{headers}");
    let kind = "Content-Type: application/json\r\n";
    Answer::of(&running.say(format!("{head}{kind}Content-Length: {length}\r\n\r\n{body}")).await)
}

/// One path of each sort that the server knows, and one that it does not.
fn paths() -> Vec<String> {
    let fixed =
        ["/livez", "/healthz", "/readyz", "/metrics", "/", "/version", "/apis", "/openapi/v2", "/api/v1", "/none"];
    let arm = "/subscriptions/s/resourceGroups/g/providers/Example.Shop/carts/c?api-version=v1".to_owned();
    fixed.map(str::to_owned).into_iter().chain([orders("a"), format!("{}/o", orders("a")), arm]).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_host_reaches_nothing_and_nothing_is_written() {
    let running = Running::with_limits(short()).await;
    let own = format!("Host: {}\r\n", running.address);
    assert_eq!(ask(&running, "POST", &orders("a"), &own, &order("o", "")).await.status, 201);
    for host in ["evil.example", "evil.example:8080", "localhost.evil.example", "192.0.2.1", "0.0.0.0", "[::2]:80"] {
        let headers = format!("Host: {host}\r\n");
        for path in paths() {
            let answer = ask(&running, "GET", &path, &headers, "").await;
            assert_eq!(answer.status, 403, "{host} {path}: {answer:?}");
            assert!(answer.body.contains("--allow-host NAME"), "{answer:?}");
        }
        for method in ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
            let answer = ask(&running, method, &format!("{}/o", orders("a")), &headers, &order("o", "evil")).await;
            assert_eq!(answer.status, 403, "{host} {method}: {answer:?}");
        }
    }
    for host in ["localhost", "LOCALHOST:1", "127.0.0.1", "[::1]:8080", &running.address.to_string()] {
        let answer = ask(&running, "GET", &format!("{}/o", orders("a")), &format!("Host: {host}\r\n"), "").await;
        assert_eq!(answer.status, 200, "{host}: {answer:?}");
        assert!(!answer.body.contains("evil"), "{answer:?}");
    }
    let refused = running.metric("wheelwright_refused_total{reason=\"host\"}").await;
    assert_eq!(refused, 6 * (paths().len() as i64 + 5));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_without_a_host_is_served_in_http_1_0_alone_and_an_unreadable_host_never() {
    let running = Running::with_limits(short()).await;
    for (version, host, status) in [
        ("1.0", &b""[..], 200),
        ("1.0", b"Host: \r\n", 200),
        ("1.0", b"Host: evil.example\r\n", 403),
        ("1.0", b"Host: evil.exampl\xe9\r\n", 400),
        ("1.1", b"Host: evil.exampl\xe9\r\n", 400),
        ("1.1", b"", 400),
    ] {
        let request =
            [format!("GET /livez HTTP/{version}\r\n").as_bytes(), host, b"Connection: close\r\n\r\n"].concat();
        let answer = Answer::of(&running.say(request).await);
        assert_eq!(answer.status, status, "{version} {host:?}: {answer:?}");
    }
    // A page is recognized by its other headers, too.
    let page = "GET /livez HTTP/1.0\r\nSec-Fetch-Site: cross-site\r\n\r\n";
    assert_eq!(Answer::of(&running.say(page.to_owned()).await).status, 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn allowed_hosts_and_that_of_the_public_url_are_served() {
    let running = Running::changed(|server| {
        let server = server.with_allowed_hosts(&["api.example.com", "192.0.2.1"]).unwrap();
        server.with_public_url("https://front.example.com/fleet").unwrap()
    })
    .await;
    for (host, status) in [
        ("api.example.com", 200),
        ("API.EXAMPLE.COM:8443", 200),
        ("192.0.2.1", 200),
        ("front.example.com", 200),
        ("localhost", 200),
        ("example.com", 403),
        ("192.0.2.2", 403),
    ] {
        let answer = ask(&running, "GET", "/apis", &format!("Host: {host}\r\n"), "").await;
        assert_eq!(answer.status, status, "{host}: {answer:?}");
    }
    let own = "Host: front.example.com\r\nSec-Fetch-Site: same-origin\r\n";
    for (origin, status) in [
        ("https://front.example.com", 201),
        ("http://front.example.com", 201),
        ("https://front.example.com:8443", 403),
        ("https://api.example.com", 403),
    ] {
        let headers = format!("{own}Origin: {origin}\r\n");
        let answer = ask(&running, "POST", &orders("a"), &headers, &order(&format!("o{}", origin.len()), "")).await;
        assert_eq!(answer.status, status, "{origin}: {answer:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_a_foreign_origin_reaches_nothing_and_nothing_is_written() {
    let running = Running::with_limits(short()).await;
    let address = running.address;
    assert_eq!(ask(&running, "POST", &orders("a"), "Host: localhost\r\n", &order("o", "")).await.status, 201);
    let others = address.port().wrapping_add(1);
    let foreign = [
        "Origin: http://evil.example".to_owned(),
        "Origin: null".to_owned(),
        "Origin: ".to_owned(),
        format!("Origin: http://127.0.0.1:{others}"),
        format!("Origin: https://{address}"),
        format!("Origin: http://localhost:{}", address.port()),
        format!("Origin: http://{address}\r\nOrigin: http://evil.example"),
        format!("Origin: http://{address}, http://evil.example"),
        "Sec-Fetch-Site: cross-site".to_owned(),
        "Sec-Fetch-Site: same-site".to_owned(),
        "Sec-Fetch-Site: anything-new".to_owned(),
        format!("Origin: http://{address}\r\nSec-Fetch-Site: cross-site"),
    ];
    for from in &foreign {
        let headers = format!("Host: {address}\r\n{from}\r\n");
        for path in paths() {
            let answer = ask(&running, "GET", &path, &headers, "").await;
            assert_eq!(answer.status, 403, "{from} {path}: {answer:?}");
            assert!(!answer.head.contains("access-control"), "{answer:?}");
        }
        for method in ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
            for path in [orders("a"), format!("{}/o", orders("a"))] {
                let answer = ask(&running, method, &path, &headers, &order("o", "evil")).await;
                assert_eq!(answer.status, 403, "{from} {method}: {answer:?}");
            }
        }
    }
    let own = format!("Host: {address}\r\nOrigin: http://{address}\r\nSec-Fetch-Site: same-origin\r\n");
    let entered = format!("Host: {address}\r\nSec-Fetch-Site: none\r\n");
    for headers in [&own, &entered] {
        let answer = ask(&running, "GET", &orders("a"), headers, "").await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(answer.body.contains(r#""name":"o""#) && !answer.body.contains("evil"), "{answer:?}");
    }
    assert_eq!(ask(&running, "POST", &orders("a"), &own, &order("p", "")).await.status, 201);
    let refused = running.metric("wheelwright_refused_total{reason=\"origin\"}").await;
    assert_eq!(refused, foreign.len() as i64 * (paths().len() as i64 + 10));
}

#[tokio::test(flavor = "multi_thread")]
async fn http_2_has_the_same_rules() {
    let running = Running::with_limits(Limits::default()).await;
    let stream = TokioIo::new(running.connect().await);
    let (mut sender, connection) = http2::handshake(TokioExecutor::new(), stream).await.unwrap();
    let connection = tokio::spawn(connection);
    for (authority, header, status) in [
        ("localhost", None, 200),
        ("127.0.0.1:8080", None, 200),
        ("evil.example", None, 403),
        ("evil.example", Some(("host", "localhost")), 403),
        ("localhost", Some(("host", "evil.example")), 403),
        ("localhost:8080", Some(("origin", "http://localhost:8080")), 200),
        ("localhost:8080", Some(("origin", "http://localhost:9090")), 403),
        ("localhost", Some(("sec-fetch-site", "cross-site")), 403),
    ] {
        let request = http::Request::get(format!("http://{authority}/apis"));
        let request = header.into_iter().fold(request, |request, (name, value)| request.header(name, value));
        let answer = sender.send_request(request.body(Empty::<Bytes>::new()).unwrap()).await.unwrap();
        assert_eq!(answer.status(), status, "{authority} {header:?}");
        answer.into_body().collect().await.unwrap();
    }
    connection.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_for_an_absolute_address_is_for_that_host() {
    let running = Running::with_limits(short()).await;
    for (target, host, status) in [
        ("http://localhost/apis", "localhost", 200),
        ("http://evil.example/apis", "localhost", 403),
        ("http://localhost/apis", "evil.example", 403),
    ] {
        let answer = ask(&running, "GET", target, &format!("Host: {host}\r\n"), "").await;
        assert_eq!(answer.status, status, "{target} {host}: {answer:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_request_of_a_connection_is_checked() {
    let running = Running::with_limits(short()).await;
    let mut requests = String::new();
    for (target, headers) in [
        ("/apis", "Host: localhost\r\n"),
        ("/apis", "Host: evil.example\r\n"),
        ("/apis", "Host: localhost\r\nHost: localhost\r\n"),
        ("/apis", ""),
        ("http://evil.example/apis", "Host: localhost\r\n"),
        ("/apis", "Host: localhost\r\nOrigin: http://evil.example\r\n"),
        ("/apis", "Host: localhost\r\nConnection: close\r\n"),
    ] {
        requests.push_str(&format!("GET {target} HTTP/1.1\r\n{headers}\r\n"));
    }
    let answers = running.say(requests).await;
    let statuses: Vec<&str> = answers.split("HTTP/1.1 ").skip(1).map(|answer| &answer[..3]).collect();
    assert_eq!(statuses, ["200", "403", "400", "400", "403", "403", "200"], "{answers}");
}

const ACCESS: &str = "roles: {all: [{verbs: [\"*\"], kinds: [\"*\"]}]}\n\
    users:\n- {name: ann, certificate: ann.example.com, grants: [{role: all, scopes: [\"*\"]}]}\n\
    - {name: bob, tokens: [\"sha256:2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b\"], \
       grants: [{role: all, scopes: [\"*\"]}]}\n";

#[tokio::test(flavor = "multi_thread")]
async fn with_tokens_alone_hosts_and_origins_do_not_matter() {
    let running = Running::with_access(ACCESS).await;
    for (token, status) in [("Authorization: Bearer secret\r\n", 200), ("", 401)] {
        let headers =
            format!("Host: api.example.com\r\nOrigin: https://ui.example.com\r\nSec-Fetch-Site: cross-site\r\n{token}");
        let answer = ask(&running, "GET", &orders("a"), &headers, "").await;
        assert_eq!(answer.status, status, "{answer:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_does_not_lend_its_certificate_to_a_foreign_page() {
    let (servers, clients) = (Authority::new("servers"), Authority::new("clients"));
    let running = Running::start(short(), Some(ACCESS), Some(files(&servers.server(), &clients))).await;
    let ann = clients.client("ann.example.com");
    for (from, status) in [
        ("", 200),
        ("Origin: https://api.example.com\r\nSec-Fetch-Site: same-origin\r\n", 200),
        ("Origin: http://api.example.com\r\n", 403),
        ("Origin: https://evil.example\r\n", 403),
        ("Origin: null\r\n", 403),
        ("Sec-Fetch-Site: cross-site\r\n", 403),
        ("Sec-Fetch-Site: same-site\r\n", 403),
    ] {
        let mut stream = connect(&running, &servers, Some(&ann)).await.unwrap();
        let head = format!("GET {} HTTP/1.1\r\nHost: api.example.com\r\nConnection: close\r\n{from}\r\n", orders("a"));
        tokio::io::AsyncWriteExt::write_all(&mut stream, head.as_bytes()).await.unwrap();
        let answer = Answer::of(&rest_of(&mut stream).await);
        assert_eq!(answer.status, status, "{from}: {answer:?}");
    }
}
