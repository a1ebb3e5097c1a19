//! Attacks on memory by callers who may make requests: bodies that do not end, and answers that are not read.

use std::{net::Ipv4Addr, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{sleep, timeout},
};

use crate::{
    client::Client,
    process::{ATTACKER, Process, plain, small},
    resets::{HEADERS, PREFACE, frame, get, no_window},
    support::{LONG, order, orders},
};

/// A note that makes an order about as long as it may be.
pub(crate) fn long_note() -> String {
    "n".repeat((3 << 20) - (16 << 10))
}

/// Orders that are about as long as they may be.
pub(crate) async fn create_long(process: &Process, count: usize) {
    let note = long_note();
    for number in 0..count {
        assert_eq!(process.create(&format!("o{number}"), &note).await, 201);
    }
}

fn post(path: &str, length: usize) -> String {
    let head = format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n");
    format!("{head}Content-Length: {length}\r\n\r\n")
}

/// Requests of clients that have next to no room for the answers and do not read them.
pub(crate) async fn deaf(process: &Process, count: usize, method: &str, path: &str, headers: &str) -> Vec<TcpStream> {
    let request = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n");
    let mut held = Vec::new();
    for _ in 0..count {
        held.push(process.connect_deaf(&request).await);
    }
    held
}

/// Sends for a while: a server that has heard enough does not listen.
async fn send(stream: &mut TcpStream, bytes: &[u8]) {
    let _ = timeout(Duration::from_secs(1), stream.write_all(bytes)).await;
}

#[test]
fn bodies_that_do_not_end() {
    let body = vec![b' '; (3 << 20) - 1];
    Process::withstands(
        plain,
        async |_| {},
        async |process| {
            let mut held = Vec::new();
            for _ in 0..512 {
                let mut stream = process.connect().await;
                send(&mut stream, post(&orders("a"), 3 << 20).as_bytes()).await;
                send(&mut stream, &body).await;
                held.push(stream);
            }
            held
        },
    );
}

#[test]
fn bodies_in_chunks_of_a_byte() {
    let head = format!(
        "POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
        orders("a")
    );
    let chunks = b"1\r\n \r\n".repeat(50_000);
    Process::withstands(
        plain,
        async |_| {},
        async |process| {
            let mut held = Vec::new();
            for _ in 0..200 {
                let mut stream = process.connect().await;
                send(&mut stream, head.as_bytes()).await;
                send(&mut stream, &chunks).await;
                held.push(stream);
            }
            held
        },
    );
}

#[test]
fn bodies_of_small_values_at_once() {
    // Each value takes many times its two bytes.
    let body = format!(r#"{{"spec":{{"note":"","more":[{}0]}}}}"#, "0,".repeat(700_000));
    Process::withstands(
        plain,
        async |_| {},
        async |process| {
            let mut held = Vec::new();
            for _ in 0..30 {
                let mut stream = process.connect().await;
                send(&mut stream, post(&orders("a"), body.len()).as_bytes()).await;
                send(&mut stream, body.as_bytes()).await;
                held.push(stream);
            }
            held
        },
    );
}

#[test]
fn objects_that_are_not_read() {
    Process::withstands(
        plain,
        async |process| create_long(process, 1).await,
        async |process| deaf(process, 300, "GET", &format!("{}/o0", orders("attacked")), "").await,
    );
}

#[test]
fn objects_on_streams_that_are_not_read() {
    let path = format!("{}/o0", orders("attacked"));
    Process::withstands(
        plain,
        async |process| create_long(process, 1).await,
        async |process| {
            let mut held = Vec::new();
            for _ in 0..20 {
                let mut stream = process.connect().await;
                let begin = [PREFACE, &no_window()].concat();
                send(&mut stream, &begin).await;
                for number in 0..50 {
                    send(&mut stream, &frame(HEADERS, 5, 1 + 2 * number, &get(&path))).await;
                }
                held.push(stream);
            }
            held
        },
    );
}

#[test]
fn patches_whose_outcome_is_not_read() {
    let patch = r#"{"spec":{"article":"a"}}"#;
    let path = format!("{}/o0", orders("attacked"));
    let head = format!("PATCH {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/merge-patch+json\r\n");
    let request = format!("{head}Content-Length: {}\r\n\r\n{patch}", patch.len());
    Process::withstands(
        plain,
        async |process| create_long(process, 1).await,
        async |process| {
            let mut held = Vec::new();
            for _ in 0..100 {
                held.push(process.connect_deaf(&request).await);
            }
            held
        },
    );
}

#[test]
fn different_objects_at_once() {
    Process::withstands(
        plain,
        // More than are kept.
        async |process| create_long(process, 30).await,
        async |process| {
            let mut held = Vec::new();
            for number in 0..240 {
                let path = format!("{}/o{}", orders("attacked"), number % 30);
                held.extend(deaf(process, 1, "GET", &path, "").await);
            }
            held
        },
    );
}

#[test]
fn watches_that_are_not_read() {
    Process::withstands(
        plain,
        async |_| {},
        async |process| {
            let held = deaf(process, 40, "GET", &format!("{}?watch=true", orders("attacked")), "").await;
            let note = long_note();
            for number in 0..10 {
                let status = process.create(&format!("o{number}"), &note).await;
                // Others have to read first, or the answer has no room.
                assert!([201, 429].contains(&status), "{status}");
            }
            held
        },
    );
}

#[test]
fn many_watches_that_are_not_read_while_long_objects_are_written() {
    Process::withstands(plain, async |_| {}, async |process| many_watches(process, 1_000).await);
}

/// Opens watches that are not read, and writes long objects that each of them has to tell of.
pub(crate) async fn many_watches(process: &Process, count: usize) -> Vec<TcpStream> {
    let mut held = Vec::new();
    for _ in 0..count {
        held.extend(deaf(process, 1, "GET", &format!("{}?watch=true", orders("attacked")), "").await);
        // A debug build takes long to open them.
        sleep(Duration::from_millis(4)).await;
    }
    let note = long_note();
    for number in 0..6 {
        let status = process.create(&format!("o{number}"), &note).await;
        // Others have to read first, or the answer has no room.
        assert!([201, 429].contains(&status), "{status}");
        sleep(Duration::from_millis(500)).await;
    }
    held
}

#[test]
fn watches_with_long_selectors() {
    let terms = ["a"; 31_000].join(",");
    let path = format!("{}?watch=true&labelSelector={terms}", orders("attacked"));
    let fields = ["metadata.name!=a"; 3_500].join(",");
    let by_fields = format!("{}?watch=true&fieldSelector={fields}", orders("attacked"));
    Process::withstands(
        plain,
        async |_| {},
        async |process| {
            let mut held = Vec::new();
            for _ in 0..300 {
                held.extend(deaf(process, 1, "GET", &path, "").await);
                held.extend(deaf(process, 1, "GET", &by_fields, "").await);
                // A debug build takes long to read them.
                sleep(Duration::from_millis(10)).await;
            }
            held
        },
    );
}

/// Opens watches with long selectors that last for a day and match nothing, and returns those that the server accepted.
async fn silent_watches(process: &Process, from: Ipv4Addr, count: usize) -> Vec<TcpStream> {
    let terms = ["a"; 29_000].join(",");
    let query = "watch=true&resourceVersion=1&timeoutSeconds=86400";
    let request =
        format!("GET {}?{query}&labelSelector={terms} HTTP/1.1\r\nHost: localhost\r\n\r\n", orders("attacked"));
    let mut held = Vec::new();
    for _ in 0..count {
        let mut stream = process.connect_from(from).await;
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut head = [0; 12];
        timeout(LONG, stream.read_exact(&mut head)).await.expect("there is an answer").unwrap();
        match &head {
            b"HTTP/1.1 200" => held.push(stream),
            _ => return held,
        }
    }
    panic!("{count} watches of one caller were accepted");
}

#[test]
fn silent_watches_of_two_callers_leave_room_for_a_third() {
    const SECOND: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 4);
    const THIRD: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 5);
    Process::withstands(
        plain,
        async |_| {},
        async |process| {
            let first = silent_watches(process, ATTACKER, 2_000).await;
            let second = silent_watches(process, SECOND, 2_000).await;
            assert!(first.len() > second.len() && second.len() > 20, "{} and {}", first.len(), second.len());
            let (port, path) = (process.address.port(), orders("bystander"));
            for _ in 0..50 {
                let mut client = Client::connect(THIRD, port).await.unwrap();
                assert_eq!(client.request("GET", &path, "").await.unwrap(), 200);
                let watch = format!("{path}?watch=true&resourceVersion=1");
                assert_eq!(client.request("GET", &watch, "").await.unwrap(), 200);
            }
            (first, second)
        },
    );
}

#[test]
fn lists_that_are_not_read() {
    Process::withstands(
        plain,
        async |process| create_long(process, 20).await,
        async |process| deaf(process, 60, "GET", &orders("attacked"), "").await,
    );
}

#[test]
fn lists_in_every_form_that_are_not_read() {
    let path = orders("attacked");
    let selected = format!("{path}?fieldSelector=metadata.name!%3Dnone");
    let table = "Accept: application/json;as=Table;v=v1;g=meta.k8s.io\r\n";
    let whole_rows = format!("{path}?includeObject=Object");
    let yaml = "Accept: application/yaml\r\n";
    Process::withstands(
        plain,
        async |process| create_long(process, 20).await,
        async |process| {
            let mut held = Vec::new();
            for (method, path, headers) in [
                ("GET", &*selected, ""),
                ("GET", &*whole_rows, table),
                ("GET", &*path, yaml),
                ("GET", &*format!("{path}?watch=true"), ""),
                ("GET", &*format!("{path}?limit=15"), ""),
                ("DELETE", &*format!("{path}?dryRun=All"), ""),
            ] {
                held.extend(deaf(process, 30, method, path, headers).await);
            }
            held
        },
    );
}

#[test]
fn pages_of_resources_that_are_not_read() {
    let carts = "/subscriptions/s/resourceGroups/g/providers/Example.Shop/carts";
    let body = format!(r#"{{"properties":{{"note":"{}"}}}}"#, long_note());
    Process::withstands(
        plain,
        async |process| {
            for number in 0..4 {
                let status = process.put(&format!("{carts}/c{number}?api-version=2025-01-01"), &body).await;
                assert_eq!(status, 201);
            }
        },
        async |process| deaf(process, 200, "GET", &format!("{carts}?api-version=2025-01-01"), "").await,
    );
}

#[test]
fn documents_of_the_api_that_are_not_read() {
    Process::withstands(
        plain,
        async |_| {},
        async |process| {
            let openapi = deaf(process, 200, "GET", "/openapi/v2", "").await;
            (openapi, deaf(process, 200, "GET", "/openapi/v3/apis/shop.example.com/v1", "").await)
        },
    );
}

#[test]
fn connections_that_are_kept_after_long_bodies() {
    let body = order("kept", &"n".repeat(1 << 20));
    Process::withstands(
        plain,
        async |_| {},
        async |process| {
            let mut held = Vec::new();
            for _ in 0..200 {
                let mut stream = process.connect().await;
                send(&mut stream, post(&orders("attacked"), body.len()).as_bytes()).await;
                send(&mut stream, body.as_bytes()).await;
                // It was created or is there already, and the answer is left unread but for its beginning.
                let _ = timeout(Duration::from_secs(5), stream.read(&mut [0; 12])).await;
                held.push(stream);
            }
            held
        },
    );
}

#[test]
fn bodies_lists_and_watches_of_two_callers_at_a_server_with_little_memory() {
    const SECOND: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 4);
    let numbers = format!(r#"{{"spec":{{"note":"","more":[{}0]}}}}"#, "0,".repeat(700_000));
    let post = [post(&orders("attacked"), numbers.len()).as_bytes(), numbers.as_bytes()].concat();
    let list = format!("GET {} HTTP/1.1\r\nHost: localhost\r\n\r\n", orders("attacked"));
    let watch = format!("GET {}?watch=true HTTP/1.1\r\nHost: localhost\r\n\r\n", orders("attacked"));
    let note = "n".repeat(1 << 20);
    Process::withstands(
        small,
        async |process| {
            for number in 0..20 {
                assert_eq!(process.create(&format!("o{number}"), &note).await, 201);
            }
        },
        async |process| {
            let mut held = Vec::new();
            for _ in 0..20 {
                for from in [ATTACKER, SECOND] {
                    for request in [list.as_bytes(), watch.as_bytes(), &post] {
                        let mut stream = process.connect_from(from).await;
                        send(&mut stream, request).await;
                        held.push(stream);
                    }
                }
            }
            held
        },
    );
}
