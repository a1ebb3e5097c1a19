//! A server whose files may not grow: `ulimit -f`.

use std::{process::Command, time::Duration};

use crate::{
    full_disk::within,
    server::{Client, Server, app, apps},
};

/// The longest wait for readiness to follow the store.
const READINESS: Duration = Duration::from_secs(20);

#[test]
fn below_a_file_size_limit_writes_fail_and_documents_can_be_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("limited.db");
    let mut server = Server::start(&store, &[]);
    let set = |limit: &str| {
        let prlimit = Command::new("prlimit").args(["--pid", &server.id().to_string(), limit]).status();
        assert!(prlimit.expect("prlimit, of util-linux").success());
    };
    // A soft limit, which can be raised again.
    set("--fsize=1048576:unlimited");
    let mut client = server.connect().unwrap();
    let image = "x".repeat(20_000);
    let (mut written, mut refused) = (Vec::new(), None);
    for number in 0..200 {
        let name = format!("app-{number}");
        let body = match number % 2 {
            0 => app(&name, &image),
            _ => app(&name, &image).replacen(
                "{\"name\"",
                "{\"finalizers\":[\"example.com/a\",\"example.com/b\"],\"name\"",
                1,
            ),
        };
        match client.request("POST", apps(), &body).unwrap() {
            (201, _) => written.push(name),
            other => {
                refused = Some(other);
                break;
            }
        }
    }
    let (status, body) = refused.expect("a megabyte does not hold them");
    assert_eq!(status, 507, "{body}");
    assert!(body.contains("the store is full"), "{body}");
    assert!(written.len() > 4, "{}", written.len());
    // Until there is room for less than a small document.
    let refused = loop {
        let name = format!("small-{}", written.len());
        match client.request("POST", apps(), &app(&name, "x")).unwrap() {
            (201, _) => written.push(name),
            other => break other,
        }
    };
    assert_eq!(refused.0, 507, "{}", refused.1);
    let becomes = |client: &mut Client, status| {
        assert!(within(READINESS, || client.request("GET", "/readyz", "").unwrap().0 == status), "not {status}");
    };
    becomes(&mut client, 503);
    let verbose = client.request("GET", "/readyz?verbose", "").unwrap();
    assert_eq!(verbose, (503, "[-]store failed: full\n".to_owned()));
    let metrics = client.request("GET", "/metrics", "").unwrap().1;
    assert!(metrics.contains("wheelwright_store_state{state=\"full\"} 1\n"), "{metrics}");
    assert!(metrics.contains("wheelwright_store_state{state=\"ok\"} 0\n"), "{metrics}");
    for name in written.drain(..written.len() - 3) {
        let path = format!("{}/{name}", apps());
        let (status, body) = client.request("DELETE", &path, "").unwrap();
        assert_eq!(status, 200, "{name}: {body}");
        if body.contains("deletionTimestamp") && body.contains("example.com/b") {
            for finalizers in [r#"["example.com/b"]"#, "null"] {
                let patch = format!(r#"{{"metadata":{{"finalizers":{finalizers}}}}}"#);
                let (status, body) = client.request("PATCH", &path, &patch).unwrap();
                assert_eq!(status, 200, "{name}: {body}");
            }
        }
        assert_eq!(client.request("GET", &path, "").unwrap().0, 404, "{name}");
    }
    assert_eq!(client.request("POST", apps(), &app("within", &image)).unwrap().0, 201);
    becomes(&mut client, 200);
    set("--fsize=unlimited:unlimited");
    assert_eq!(client.request("POST", apps(), &app("later", &image)).unwrap().0, 201);
    written.extend(["within".to_owned(), "later".to_owned()]);
    server.kill();
    let server = Server::start(&store, &[]);
    let mut client = server.connect().unwrap();
    for name in &written {
        assert_eq!(client.request("GET", &format!("{}/{name}", apps()), "").unwrap().0, 200, "{name}");
    }
}
