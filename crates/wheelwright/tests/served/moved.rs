//! A server whose file is taken away.

use std::fs;

use crate::server::{Server, app, apps};

#[test]
fn nothing_is_written_to_a_file_that_is_not_there_any_more() {
    let folder = tempfile::tempdir().unwrap();
    let [store, aside] = ["moved.db", "aside.db"].map(|name| folder.path().join(name));
    let server = Server::start(&store, &[]);
    let mut client = server.connect().unwrap();
    assert_eq!(client.request("POST", apps(), &app("before", "one")).unwrap().0, 201);
    fs::rename(&store, &aside).unwrap();
    let (status, told) = client.request("POST", apps(), &app("between", "one")).unwrap();
    assert_eq!(status, 503, "{told}");
    assert!(!told.contains("moved.db"), "where the store is, is nothing to clients: {told}");
    assert_eq!(client.request("GET", &format!("{}/before", apps()), "").unwrap().0, 200);
    fs::rename(&aside, &store).unwrap();
    assert_eq!(client.request("GET", &format!("{}/between", apps()), "").unwrap().0, 404);
    assert_eq!(client.request("POST", apps(), &app("after", "one")).unwrap().0, 201);
}
