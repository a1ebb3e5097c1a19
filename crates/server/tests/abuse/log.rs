//! What the log tells of requests and of connections that come to nothing.

use std::{
    io::{self, Write},
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::Value as Json;
use tokio::io::AsyncWriteExt;
use tracing_subscriber::fmt::MakeWriter;

use crate::{
    support::{Answer, LONG, Running, orders, rest_of, short},
    tenants::access_file,
    tls::{Authority, connect, files},
};

/// A log that can be read.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// All that is logged by this thread, on which the server must be too.
    fn begin() -> (Self, tracing::subscriber::DefaultGuard) {
        let log = Self::default();
        let lines = tracing_subscriber::fmt().json().with_max_level(tracing::Level::DEBUG).with_writer(log.clone());
        (log.clone(), tracing::subscriber::set_default(lines.finish()))
    }

    /// Waits for a line with something in a field.
    async fn line(&self, field: &str, text: &str) -> Json {
        let waiting = async {
            loop {
                let logged = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
                let lines = logged.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
                let has = |line: &Json| line["fields"][field].as_str().is_some_and(|found| found.contains(text));
                if let Some(line) = lines.into_iter().find(has) {
                    return line;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(LONG, waiting).await.unwrap_or_else(|_| panic!("nothing is logged with {field}: {text}"))
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'w> MakeWriter<'w> for Log {
    type Writer = Self;

    fn make_writer(&'w self) -> Self {
        self.clone()
    }
}

/// Makes a request with more headers; gives the answer, and from where it was made.
async fn ask(running: &Running, path: &str, headers: &str) -> (Answer, String) {
    let mut stream = running.connect().await;
    let client = stream.local_addr().unwrap().to_string();
    let text = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n");
    stream.write_all(text.as_bytes()).await.unwrap();
    (Answer::of(&rest_of(&mut stream).await), client)
}

#[tokio::test]
async fn every_request_is_told_with_its_caller_its_client_and_the_id_that_is_answered() {
    let (log, _logging) = Log::begin();
    let running = Running::with_access(&access_file()).await;
    let ann = "Authorization: Bearer token-a\r\n";
    let in_group = "/subscriptions/a/resourceGroups/g/providers/Example.Shop/carts?api-version=2025-01-01";
    for (path, headers, id_header, caller, status) in [
        (&*orders("a"), ann.to_owned(), "audit-id", "ann", 200),
        (&orders("b"), format!("{ann}Audit-ID: of-the-client\r\n"), "audit-id", "ann", 403),
        (in_group, format!("{ann}x-ms-correlation-request-id: larger\r\n"), "x-ms-request-id", "ann", 200),
        ("/apis/shop.example.com/v1/orders", String::new(), "audit-id", "unknown", 401),
        // In this form it is not recognized by the thread of probes, which logs elsewhere.
        ("http://localhost/livez", String::new(), "audit-id", "anonymous", 200),
    ] {
        let (answer, client) = ask(&running, path, &headers).await;
        let id = answer.header(id_header).unwrap_or_else(|| panic!("{path}: {answer:?}"));
        let line = log.line("request", id).await;
        let fields = &line["fields"];
        let told = (fields["caller"].as_str(), fields["client"].as_str(), fields["status"].as_u64());
        assert_eq!(told, (Some(caller), Some(&*client), Some(status)), "{line}");
        assert!(!line.to_string().contains("token-a"), "{line}");
        if headers.contains("of-the-client") {
            assert_eq!(id, "of-the-client");
        }
        if headers.contains("larger") {
            assert_eq!(fields["correlation"], "larger");
        }
    }
}

#[tokio::test]
async fn denied_requests_are_warnings_and_no_client_can_fill_the_log_with_them() {
    let (log, _logging) = Log::begin();
    let running = Running::with_access(&access_file()).await;
    for (token, status, caller, reason) in [
        ("wrong", 401, "unknown", "no user has this token"),
        ("token-a", 403, "ann", "ann may not list Order.shop.example.com in namespace b"),
    ] {
        let authorization = format!("Authorization: Bearer {token}\r\n");
        for _ in 0..5 {
            let answer = ask(&running, &orders("b"), &authorization).await.0;
            assert_eq!(answer.status, status);
            log.line("request", answer.header("audit-id").unwrap()).await;
        }
        let logged = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
        let lines = logged.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
        let denied: Vec<Json> =
            lines.filter(|line| line["level"] == "WARN" && line["fields"]["status"] == status).collect();
        let [denied] = &denied[..] else { panic!("{denied:?}") };
        let fields = &denied["fields"];
        assert_eq!((&fields["message"], &fields["caller"]), (&"a request was denied".into(), &caller.into()));
        assert_eq!(fields["reason"], reason);
    }
}

#[tokio::test]
async fn grants_on_kinds_that_nobody_serves_are_told() {
    let (log, _logging) = Log::begin();
    let kinds = "kinds: [order.shop.example.com/status, Namespace, Example.Shop/carts, Odrer.shop.example.com]";
    let _running = Running::with_access(&access_file().replace(r#"kinds: ["*"]"#, kinds)).await;
    let line = log.line("message", "not served").await;
    assert_eq!((&line["level"], &line["fields"]["kind"]), (&"WARN".into(), &"Odrer.shop.example.com".into()), "{line}");
    let logged = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert_eq!(logged.matches("not served").count(), 1, "{logged}");
}

#[tokio::test]
async fn connections_that_cannot_be_secured_are_told_with_where_they_come_from() {
    let (log, _logging) = Log::begin();
    let (servers, clients, strangers) =
        (Authority::new("servers"), Authority::new("clients"), Authority::new("strangers"));
    let running = Running::start(short(), None, Some(files(&servers.server(), &clients))).await;
    // With TLS 1.3 a client learns of it only once it reads.
    let refused = connect(&running, &servers, Some(&strangers.client("eve"))).await;
    let line = log.line("message", "the certificate of a client was refused").await;
    assert_eq!(line["level"], "WARN");
    assert!(line["fields"]["client"].as_str().unwrap().starts_with("127.0.0.1:"), "{line}");
    drop(refused);
    running.say("GET /livez HTTP/1.1\r\n\r\n").await;
    let line = log.line("message", "a connection could not be secured").await;
    // Anybody can make as many of them as they like.
    assert_eq!(line["level"], "DEBUG");
    assert!(line["fields"]["client"].as_str().unwrap().starts_with("127.0.0.1:"), "{line}");
    let silent = running.connect().await;
    log.line("message", "a connection was not secured in time").await;
    drop(silent);
}
