//! Access that is taken back: revoked certificates, and watches whose caller may not watch any more.

use std::{fs, path::PathBuf, sync::Arc, time::Duration};

use serde_json::Value as Json;
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader},
    time::timeout,
};
use wheelwright_repository::Repository;
use wheelwright_server::{Server, TlsFiles};
use wheelwright_store::Memory;

use crate::{
    support::{LONG, Running, order, orders, request, short},
    tenants::access_file,
    tls::{Authority, Signed, access, connect, files},
};

/// Whether the server answers a client with a certificate.
async fn is_served(running: &Running, servers: &Authority, client: &Signed) -> bool {
    let Ok(mut stream) = connect(running, servers, Some(client)).await else { return false };
    let text = format!("GET {} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", orders("a"));
    let _ = stream.write_all(text.as_bytes()).await;
    let mut answer = Vec::new();
    let _ = timeout(LONG, stream.read_to_end(&mut answer)).await.expect("the server closes the connection");
    answer.starts_with(b"HTTP/1.1 200")
}

async fn until_served(running: &Running, servers: &Authority, client: &Signed, expected: bool) {
    let waiting = async {
        while is_served(running, servers, client).await != expected {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(LONG, waiting).await.expect("the new list applies");
}

fn with_list(servers: &Authority, clients: &Authority, list: &str) -> (TempDir, TlsFiles, PathBuf) {
    let (folder, files) = files(&servers.server(), clients);
    let file = folder.path().join("clients.crl");
    fs::write(&file, list).unwrap();
    (folder, TlsFiles { client_revocations: Some(file.clone()), ..files }, file)
}

/// Begins to watch orders; gives what comes after the head.
async fn watching<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    namespace: &str,
    token: &str,
) -> tokio::io::Lines<BufReader<S>> {
    let path = format!("{}?watch=true", orders(namespace));
    let authorization = if token.is_empty() { String::new() } else { format!("Authorization: Bearer {token}\r\n") };
    stream
        .write_all(format!("GET {path} HTTP/1.0\r\nHost: localhost\r\n{authorization}\r\n").as_bytes())
        .await
        .unwrap();
    let mut lines = BufReader::new(stream).lines();
    assert!(next(&mut lines).await.unwrap().contains("200"));
    while next(&mut lines).await.is_some_and(|line| !line.is_empty()) {}
    lines
}

async fn next<S: AsyncRead + Unpin>(lines: &mut tokio::io::Lines<BufReader<S>>) -> Option<String> {
    timeout(LONG, lines.next_line()).await.expect("a line in time").unwrap_or_default()
}

/// Reads the last event of a watch, which says why it ends.
async fn assert_ends<S: AsyncRead + Unpin>(mut lines: tokio::io::Lines<BufReader<S>>, code: u64) {
    let event: Json = serde_json::from_str(&next(&mut lines).await.expect("an event")).unwrap();
    assert_eq!((&event["type"], &event["object"]["code"]), (&"ERROR".into(), &code.into()), "{event}");
    assert_eq!(next(&mut lines).await, None, "the watch has ended");
}

#[tokio::test(flavor = "multi_thread")]
async fn revoked_certificates_are_refused_once_they_are_on_the_list() {
    let (servers, clients) = (Authority::new("servers"), Authority::new("clients"));
    let (ann, stolen) = (clients.client("ann.example.com"), clients.client("ann.example.com"));
    let (folder, files, list) = with_list(&servers, &clients, &clients.revoking(&[]));
    let running = Running::start(short(), Some(access()), Some((folder, files))).await;
    assert!(is_served(&running, &servers, &ann).await && is_served(&running, &servers, &stolen).await);
    let mut kept = connect(&running, &servers, Some(&stolen)).await.unwrap();
    let watch = watching(connect(&running, &servers, Some(&stolen)).await.unwrap(), "a", "").await;
    let mut other = watching(connect(&running, &servers, Some(&ann)).await.unwrap(), "a", "").await;
    kept.write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    assert!(kept.read(&mut [0; 1024]).await.unwrap() > 0);

    fs::write(&list, clients.revoking(&[&stolen])).unwrap();
    assert_ends(watch, 401).await;
    let read = timeout(LONG, kept.read(&mut [0; 1024])).await.expect("the connection is closed");
    assert!(matches!(read, Ok(0) | Err(_)), "{read:?}");
    assert!(!is_served(&running, &servers, &stolen).await && is_served(&running, &servers, &ann).await);

    // A list that cannot be read does not apply.
    fs::write(&list, "-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n").unwrap();
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    assert!(!is_served(&running, &servers, &stolen).await && is_served(&running, &servers, &ann).await);
    let ann_again = connect(&running, &servers, Some(&ann)).await.unwrap();
    let created = request(ann_again, "POST", &orders("a"), "", &order("o", "")).await;
    assert_eq!(created.status, 201);
    assert!(next(&mut other).await.unwrap().contains("ADDED"), "other watches go on");
    fs::write(&list, clients.revoking(&[])).unwrap();
    until_served(&running, &servers, &stolen, true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn certificates_without_a_current_list_are_refused() {
    let (servers, clients, others) = (Authority::new("servers"), Authority::new("clients"), Authority::new("others"));
    let ann = clients.client("ann.example.com");
    let (folder, files, list) = with_list(&servers, &clients, &others.revoking(&[]));
    let running = Running::start(short(), Some(access()), Some((folder, files))).await;
    assert!(!is_served(&running, &servers, &ann).await, "the list is of another authority");
    fs::write(&list, [others.revoking(&[]), clients.revoking(&[])].concat()).unwrap();
    until_served(&running, &servers, &ann, true).await;
    fs::write(&list, clients.revoking_until(&[], 2021)).unwrap();
    until_served(&running, &servers, &ann, false).await;
    let (_folder, files, _) = with_list(&servers, &clients, "");
    let server = Server::new(Repository::new(Arc::new(Memory::new()), []));
    let error = server.with_tls(files).unwrap_err().to_string();
    assert!(error.ends_with("clients.crl: it has no revocation list in it"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_ends_with_the_grant_or_the_token_of_its_caller() {
    let running = Running::with_access(&access_file()).await;
    let file = running.folder.path().join("access.yaml");
    for (changed, code) in [
        (access_file().replace("namespaces/a", "namespaces/z"), 403),
        (access_file().split("- name: ann").next().unwrap().replace("users:", "users: []"), 401),
        (access_file().replace("name: ann", "name: ann\n  certificate: ann"), 0),
    ] {
        assert_ne!(changed, access_file());
        fs::write(&file, access_file()).unwrap();
        let known = async {
            while running.request("GET", &orders("a"), "token-a", "").await.status != 200 {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        timeout(LONG, known).await.unwrap();
        let mut watch = watching(running.connect().await, "a", "token-a").await;
        fs::write(&file, changed).unwrap();
        if code > 0 {
            assert_ends(watch, code).await;
            continue;
        }
        tokio::time::sleep(Duration::from_millis(2_500)).await;
        assert_eq!(running.create("a", "still", "token-a", "").await.status, 201);
        assert!(next(&mut watch).await.unwrap().contains("still"), "what it needs is granted");
    }
}
