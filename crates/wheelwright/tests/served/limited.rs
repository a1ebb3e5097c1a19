//! A server whose files may not grow: `ulimit -f`.

use std::process::Command;

use crate::server::{Server, app, apps};

#[test]
fn a_file_size_limit_is_an_error_of_writes_and_no_end_of_the_server() {
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
        match client.request("POST", apps(), &app(&name, &image)).unwrap() {
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
    assert!(!written.is_empty());
    set("--fsize=unlimited:unlimited");
    assert_eq!(client.request("POST", apps(), &app("later", &image)).unwrap().0, 201);
    server.kill();
    let server = Server::start(&store, &[]);
    let mut client = server.connect().unwrap();
    for name in written.iter().map(String::as_str).chain(["later"]) {
        assert_eq!(client.request("GET", &format!("{}/{name}", apps()), "").unwrap().0, 200, "{name}");
    }
}
