//! Requests that take much CPU time, again and again: probes and other callers are served meanwhile.

use std::time::Duration;

use tokio::{
    io::{AsyncWriteExt, copy, sink},
    net::TcpStream,
    task::JoinSet,
    time::sleep,
};

use crate::{
    process::{Process, Setup, plain, small},
    resets::{HEADERS, PREFACE, RESET, SETTINGS, frame, get},
    support::{order, orders},
};

/// Time between the answer to a client and its next request, as refusals ask for.
const PAUSE: Duration = Duration::from_secs(1);

pub(crate) const JSON: &str = "application/json";
pub(crate) const MERGE_PATCH: &str = "application/merge-patch+json";

/// A request on a connection of its own.
pub(crate) fn request(method: &str, path: &str, headers: &str, sort: &str, body: &str) -> String {
    let head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}");
    format!("{head}Content-Type: {sort}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// Clients of the attacker that make the same request until they are dropped, and read all answers.
pub(crate) fn repeat(clients: &mut JoinSet<()>, process: &Process, count: usize, pause: Duration, request: &str) {
    for _ in 0..count {
        let (address, request) = (process.address, request.to_owned());
        clients.spawn(async move {
            loop {
                if let Ok(mut stream) = TcpStream::connect(address).await {
                    // A refused request may not be read to its end.
                    let _ = stream.write_all(request.as_bytes()).await;
                    let _ = copy(&mut stream, &mut sink()).await;
                }
                sleep(pause).await;
            }
        });
    }
}

/// Attacks a server with clients that repeat one request each.
fn withstands(prepare: impl AsyncFn(&Process), requests: &[(usize, String)]) {
    withstands_at(plain, prepare, requests);
}

pub(crate) fn withstands_at(setup: fn() -> Setup, prepare: impl AsyncFn(&Process), requests: &[(usize, String)]) {
    Process::withstands(setup, prepare, async |process| {
        let mut clients = JoinSet::new();
        for (count, request) in requests {
            repeat(&mut clients, process, *count, PAUSE, request);
        }
        clients
    });
}

pub(crate) fn ledgers() -> String {
    orders("attacked").replace("orders", "ledgers")
}

pub(crate) fn ledger(name: &str, entries: usize) -> String {
    let entries = vec!["0"; entries].join(",");
    format!(
        r#"{{"apiVersion":"shop.example.com/v1","kind":"Ledger","metadata":{{"name":"{name}"}},"spec":{{"entries":[{entries}]}}}}"#
    )
}

pub(crate) async fn create_ledgers(process: &Process, count: usize, entries: usize) {
    for number in 0..count {
        assert_eq!(process.post(&ledgers(), &ledger(&format!("l{number}"), entries)).await, 201);
    }
}

/// Orders with a label.
pub(crate) async fn create_orders(process: &Process, count: usize) {
    for number in 0..count {
        let name = format!(r#"o{number}","labels":{{"a":"b"}},"generateName":""#);
        assert_eq!(process.post(&orders("attacked"), &order(&name, "")).await, 201);
    }
}

#[test]
fn json_patches_that_insert_at_the_head_of_a_long_list() {
    let insert = r#"{"op":"add","path":"/spec/entries/0","value":1}"#;
    let patch = format!("[{}]", [insert; 350].join(","));
    let path = format!("{}/l0", ledgers());
    let request = request("PATCH", &path, "", "application/json-patch+json", &patch);
    withstands(async |process| create_ledgers(process, 1, 400_000).await, &[(200, request)]);
}

#[test]
fn json_patches_that_double_a_short_object_again_and_again() {
    let copies = (0..60).map(|number| format!(r#"{{"op":"copy","from":"/spec","path":"/spec/a{number}"}}"#));
    let patch = format!("[{}]", copies.collect::<Vec<_>>().join(","));
    let path = format!("{}/o0", orders("attacked"));
    let request = request("PATCH", &path, "", "application/json-patch+json", &patch);
    withstands(async |process| create_orders(process, 1).await, &[(100, request)]);
}

#[test]
fn merge_patches_of_long_objects() {
    let path = format!("{}/l0", ledgers());
    let short = request("PATCH", &path, "", MERGE_PATCH, r#"{"metadata":{"labels":{"a":"b"}}}"#);
    // Nearly 3 MiB.
    let long = request("PATCH", &path, "", MERGE_PATCH, &ledger("l0", 1_500_000));
    withstands(async |process| create_ledgers(process, 1, 1_500_000).await, &[(180, short), (20, long)]);
}

#[test]
fn merge_patches_of_long_objects_at_a_server_with_little_memory() {
    let path = format!("{}/l0", ledgers());
    let short = request("PATCH", &path, "", MERGE_PATCH, r#"{"metadata":{"labels":{"a":"b"}}}"#);
    let long = request("PATCH", &path, "", MERGE_PATCH, &ledger("l0", 750_000));
    withstands_at(small, async |process| create_ledgers(process, 1, 750_000).await, &[(80, short), (20, long)]);
}

#[test]
fn pages_of_long_objects_as_tables_and_yaml() {
    let table = "Accept: application/json;as=Table;v=v1;g=meta.k8s.io\r\n";
    let tables = request("GET", &format!("{}?includeObject=Object", ledgers()), table, JSON, "");
    let yaml = request("GET", &ledgers(), "Accept: application/yaml\r\n", JSON, "");
    withstands(async |process| create_ledgers(process, 5, 400_000).await, &[(100, tables), (100, yaml)]);
}

#[test]
fn selectors_of_many_terms_over_many_objects() {
    let terms = ["a"; 31_000].join(",");
    let list = request("GET", &format!("{}?labelSelector={terms}", orders("attacked")), "", JSON, "");
    withstands(async |process| create_orders(process, 200).await, &[(200, list)]);
}

#[test]
fn deletions_of_collections_in_dry_run() {
    let short = request("DELETE", &format!("{}?dryRun=All", orders("attacked")), "", JSON, "");
    let long = request("DELETE", &format!("{}?dryRun=All", ledgers()), "", JSON, "");
    withstands(
        async |process| {
            create_orders(process, 200).await;
            create_ledgers(process, 5, 400_000).await;
        },
        &[(100, short), (100, long)],
    );
}

#[test]
fn short_documents_with_costly_rules() {
    let numbers = vec!["0"; 400].join(",");
    let body = format!(
        r#"{{"apiVersion":"shop.example.com/v1","kind":"Roster","metadata":{{"name":"r"}},"spec":{{"numbers":[{numbers}]}}}}"#
    );
    let path = orders("attacked").replace("orders", "rosters");
    let request = request("POST", &format!("{path}?dryRun=All"), "", JSON, &body);
    withstands(async |_| {}, &[(200, request)]);
}

#[test]
fn long_objects_without_their_bodies_and_without_a_pause() {
    let objects: Vec<String> =
        (0..20).map(|number| request("HEAD", &format!("{}/o{number}", orders("attacked")), "", JSON, "")).collect();
    let note = "n".repeat((3 << 20) - (16 << 10));
    Process::withstands(
        plain,
        async |process| {
            for number in 0..objects.len() {
                assert_eq!(process.create(&format!("o{number}"), &note).await, 201);
            }
        },
        async |process| {
            let mut clients = JoinSet::new();
            for object in &objects {
                repeat(&mut clients, process, 5, Duration::from_millis(20), object);
            }
            clients
        },
    );
}

#[test]
fn one_long_object_that_is_kept_without_its_body_and_without_a_pause() {
    let object = request("HEAD", &format!("{}/o0", orders("attacked")), "", JSON, "");
    let note = "n".repeat((3 << 20) - (16 << 10));
    Process::withstands(
        plain,
        async |process| assert_eq!(process.create("o0", &note).await, 201),
        async |process| {
            let mut clients = JoinSet::new();
            repeat(&mut clients, process, 100, Duration::from_millis(20), &object);
            clients
        },
    );
}

#[test]
fn long_patches_in_a_row_by_clients_that_hang_up() {
    let patch = r#"{"metadata":{"labels":{"a":"b"}}}"#;
    let one =
        request("PATCH", &format!("{}/l0", ledgers()), "", MERGE_PATCH, patch).replace("Connection: close\r\n", "");
    hang_up(one.repeat(300).into_bytes(), 100);
}

#[test]
fn long_reads_over_http_2_that_are_reset_at_once() {
    let path = format!("{}/l0", ledgers());
    let requests = (0..40).flat_map(|number| {
        let (stream, path) = (1 + 2 * number, if number % 2 == 0 { &path } else { path.trim_end_matches("/l0") });
        [frame(HEADERS, 5, stream, &get(path)), frame(RESET, 0, stream, &[0, 0, 0, 8])].concat()
    });
    hang_up([PREFACE, &frame(SETTINGS, 0, 0, &[]), &requests.collect::<Vec<_>>()].concat(), 20);
}

/// Attacks a server that has long objects with clients that send the same again and again, and hang up without reading.
fn hang_up(requests: Vec<u8>, count: usize) {
    Process::withstands(
        plain,
        async |process| create_ledgers(process, 2, 1_000_000).await,
        async |process| {
            let mut clients = JoinSet::new();
            for _ in 0..count {
                let (address, requests) = (process.address, requests.clone());
                clients.spawn(async move {
                    loop {
                        if let Ok(mut stream) = TcpStream::connect(address).await {
                            let _ = stream.write_all(&requests).await;
                            sleep(Duration::from_millis(50)).await;
                        }
                    }
                });
            }
            clients
        },
    );
}
