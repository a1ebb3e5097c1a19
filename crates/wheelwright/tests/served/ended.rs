//! A server that is asked to end.

use std::{
    thread,
    time::{Duration, Instant},
};

use crate::server::{Server, app, apps};

#[test]
fn who_is_asked_to_end_says_so_and_serves_on_for_as_long_as_it_was_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start(&folder.path().join("ended.db"), &["--shutdown-delay", "4"]);
    let mut kept = server.connect().unwrap();
    assert_eq!(kept.request("GET", "/readyz", "").unwrap().0, 200);
    let asked = Instant::now();
    server.signal("TERM");
    while kept.request("GET", "/readyz", "").unwrap().0 != 503 {
        assert!(asked.elapsed() < Duration::from_secs(3), "it says that it is about to end");
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(kept.request("POST", apps(), &app("kept", "one")).unwrap().0, 201);
    let mut new = server.connect().unwrap();
    assert_eq!(new.request("POST", apps(), &app("new", "one")).unwrap().0, 201);
    assert_eq!(server.ended(), Some(0));
    assert!(asked.elapsed() >= Duration::from_secs(4), "not before it was to");
}

#[test]
fn who_is_asked_twice_ends_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start(&folder.path().join("twice.db"), &["--shutdown-delay", "600"]);
    let mut client = server.connect().unwrap();
    server.signal("INT");
    while client.request("GET", "/readyz", "").unwrap().0 != 503 {
        thread::sleep(Duration::from_millis(20));
    }
    server.signal("INT");
    assert_eq!(server.ended(), Some(130));
}
