//! Requests that are short and cheap each, or refused, by many clients that hardly pause.

use std::{fs, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
    time::sleep,
};

use crate::{
    client::Client,
    process::{ATTACKER, Process, Setup, plain},
    resets::{PING, PREFACE, SETTINGS, frame},
    support::{LONG, order, orders},
    tls::{Authority, connector, files},
    work::{JSON, MERGE_PATCH, create_orders, repeat, request},
};

/// Time between the answer to a client and its next request.
const PAUSE: Duration = Duration::from_millis(20);

/// A server that asks who callers are, and writes an audit log. Others have a token, and the attacker has one for another
/// namespace.
fn guarded() -> Setup {
    let setup = plain();
    let user = |name: &str, hash: &str, scope: &str| {
        let grants = format!("  grants:\n  - {{role: all, scopes: [namespaces/{scope}]}}\n");
        format!("- name: {name}\n  tokens: [\"sha256:{hash}\"]\n{grants}")
    };
    let users = [
        // token-a, which every client sends that looks on, and token-b.
        user("ann", "a70bf50e531ce1a817561f2f5d5b6645d4e806becf58ccc5e8cf6b8045a090a8", "bystander"),
        user("bob", "49e2bb7eab54cf09b409ffafd3fa8a8a955a60eb972faacaefbed3dbd3207132", "b"),
    ];
    let access = format!("roles:\n  all:\n  - {{verbs: [\"*\"], kinds: [\"*\"]}}\nusers:\n{}", users.concat());
    fs::write(setup.folder.path().join("access.yaml"), access).unwrap();
    setup
}

/// Attacks a server with some clients for each of some requests.
fn flood(setup: fn() -> Setup, prepare: impl AsyncFn(&Process), requests: &[(usize, String)]) {
    Process::withstands(setup, prepare, async |process| {
        let mut clients = JoinSet::new();
        for (count, request) in requests {
            repeat(&mut clients, process, *count, PAUSE, request);
        }
        clients
    });
}

#[test]
fn wrong_tokens_and_requests_that_are_denied() {
    let with = |token: &str| format!("Authorization: Bearer {token}\r\n");
    let path = orders("attacked");
    let wrong = request("GET", &path, &with("no-such-token"), JSON, "");
    let denied = request("POST", &path, &with("token-b"), JSON, &order("o", ""));
    flood(guarded, async |_| {}, &[(50, wrong), (50, denied)]);
}

#[test]
fn requests_that_are_refused() {
    let path = orders("attacked");
    let packed = request("POST", &path, "Content-Encoding: gzip\r\n", JSON, &"x".repeat(1 << 20));
    let nested = request("POST", &path, "", "application/yaml", &"- ".repeat(200_000));
    let flow = request("POST", &path, "", "application/yaml", &"[".repeat(200_000));
    let parameters = request("GET", &format!("{path}?{}", "%61=%62&".repeat(7_000)), "", JSON, "");
    let fields = request("GET", &path, &"a: b\r\n".repeat(99), JSON, "");
    flood(plain, async |_| {}, &[(10, packed), (10, nested), (10, flow), (20, parameters), (50, fields)]);
}

#[test]
fn documents_with_aliases_of_aliases() {
    let mut yaml =
        "apiVersion: shop.example.com/v1\nkind: Order\nmetadata: {name: o}\nspec:\n  a0: &a0 [x, x]\n".to_owned();
    for number in 1..40 {
        let before = format!("*a{}", number - 1);
        yaml += &format!("  a{number}: &a{number} [{before}, {before}]\n");
    }
    let post = request("POST", &orders("attacked"), "", "application/yaml", &yaml);
    flood(plain, async |_| {}, &[(50, post)]);
}

#[test]
fn merge_patches_of_objects_with_many_fields() {
    let fields = |value: &str| {
        let fields = (0..100_000).map(|number| format!(r#""k{number}":{value}"#));
        fields.collect::<Vec<_>>().join(",")
    };
    let annotated = |value: &str| format!(r#"{{"metadata":{{"annotations":{{{}}}}}}}"#, fields(value));
    let path = format!("{}/o0", orders("attacked"));
    let written = request("PATCH", &path, "", MERGE_PATCH, &annotated(r#""other""#));
    let removed = request("PATCH", &format!("{path}?dryRun=All"), "", MERGE_PATCH, &annotated("null"));
    flood(plain, async |process| create_orders(process, 1).await, &[(10, written), (10, removed)]);
}

#[test]
fn pages_of_one_object_and_changes_of_long_ago() {
    let path = orders("attacked");
    let first = request("GET", &format!("{path}?limit=1"), "", JSON, "");
    let resumed = request("GET", &format!("{path}?watch=true&resourceVersion=1&timeoutSeconds=1"), "", JSON, "");
    flood(plain, async |process| create_orders(process, 300).await, &[(50, first), (20, resumed)]);
}

#[test]
fn watches_that_are_opened_and_closed() {
    let watch = format!("GET {}?watch=true HTTP/1.1\r\nHost: localhost\r\n\r\n", orders("attacked"));
    Process::withstands(
        plain,
        async |process| create_orders(process, 20).await,
        async |process| {
            let mut clients = JoinSet::new();
            for _ in 0..100 {
                let (address, watch) = (process.address, watch.clone());
                clients.spawn(async move {
                    loop {
                        if let Ok(mut stream) = TcpStream::connect(address).await {
                            let _ = stream.write_all(watch.as_bytes()).await;
                            let _ = tokio::time::timeout(LONG, stream.read(&mut [0])).await;
                        }
                        sleep(PAUSE).await;
                    }
                });
            }
            clients
        },
    );
}

#[test]
fn documents_of_the_api_and_metrics() {
    let get = |path: &str| request("GET", path, "", JSON, "");
    let paths = ["/openapi/v2", "/openapi/v3", "/openapi/v3/apis/shop.example.com/v1", "/apis", "/metrics"];
    flood(plain, async |_| {}, &paths.map(|path| (15, get(path))));
}

#[test]
fn objects_of_ever_other_names() {
    Process::withstands(
        plain,
        async |_| {},
        async |process| {
            let mut clients = JoinSet::new();
            for client in 0..50 {
                let port = process.address.port();
                clients.spawn(async move {
                    let path = orders("attacked");
                    let Ok(mut connection) = Client::connect(ATTACKER, port).await else { return };
                    for number in 0.. {
                        let name = format!("o{client}-{number}");
                        let _ = connection.request("POST", &path, &order(&name, "")).await;
                        let _ = connection.request("DELETE", &format!("{path}/{name}"), "").await;
                        let _ = connection.request("GET", &format!("{path}/none{name}"), "").await;
                        sleep(PAUSE).await;
                    }
                });
            }
            clients
        },
    );
}

#[test]
fn pings_and_settings_that_are_answered() {
    Process::withstands(
        plain,
        async |_| {},
        async |process| {
            let mut clients = JoinSet::new();
            for _ in 0..20 {
                let address = process.address;
                clients.spawn(async move {
                    let frames = [frame(PING, 0, 0, &[7; 8]), frame(SETTINGS, 0, 0, &[0, 1, 0, 0, 0, 0])].concat();
                    let frames = frames.repeat(50);
                    loop {
                        let Ok(stream) = TcpStream::connect(address).await else { continue };
                        let (mut reading, mut writing) = stream.into_split();
                        let drain =
                            tokio::spawn(async move { tokio::io::copy(&mut reading, &mut tokio::io::sink()).await });
                        let _ = writing.write_all(&[PREFACE, &frame(SETTINGS, 0, 0, &[])].concat()).await;
                        while writing.write_all(&frames).await.is_ok() {
                            sleep(Duration::from_millis(5)).await;
                        }
                        drain.abort();
                    }
                });
            }
            clients
        },
    );
}

#[test]
fn handshakes_again_and_again() {
    let servers = Authority::new("servers");
    let secured = || {
        let (folder, _) = files(&servers.server(), &Authority::new("clients"));
        Setup { folder, tls: Some(connector(&servers, None)) }
    };
    Process::withstands(
        secured,
        async |_| {},
        async |process| {
            let mut clients = JoinSet::new();
            for _ in 0..30 {
                let (port, tls) = (process.address.port(), connector(&servers, None));
                clients.spawn(async move {
                    loop {
                        let _ = Client::secure(ATTACKER, port, &tls).await;
                        sleep(PAUSE).await;
                    }
                });
            }
            clients
        },
    );
}
