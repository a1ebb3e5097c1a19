//! The private server itself: it never outlives its test.

use std::{
    env, fs,
    net::{Ipv4Addr, TcpStream},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use wheelwright_store::testing::PostgresServer;

/// Where a process that has a server says which port it has.
const PORT_FILE: &str = "WHEELWRIGHT_TEST_PORT_FILE";

fn until(what: &str, mut is_done: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !is_done() {
        assert!(Instant::now() < end, "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

fn is_listening(port: u16) -> bool {
    TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok()
}

/// The process that the test below kills; it is no test of its own.
#[test]
fn has_a_server() {
    let Some(port_file) = env::var_os(PORT_FILE) else { return };
    let server = PostgresServer::start().unwrap();
    fs::write(port_file, server.port().to_string()).unwrap();
    thread::sleep(Duration::from_secs(600));
}

#[test]
fn a_server_ends_with_a_test_that_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("port");
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "server::has_a_server"]).env(PORT_FILE, &file);
    let mut holder = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut port = None;
    until("the server starts", || {
        port = fs::read_to_string(&file).ok().and_then(|text| text.parse().ok());
        port.is_some()
    });
    let port = port.unwrap();
    assert!(is_listening(port));
    holder.kill().unwrap();
    let left = env::temp_dir().join(format!("wheelwright-postgres-{}-0", holder.id()));
    holder.wait().unwrap();
    until("the server ends", || !is_listening(port));
    until("its folder is deleted", || !left.exists());
}

#[test]
fn a_killed_server_comes_back_and_a_dropped_one_does_not() {
    let mut server = PostgresServer::start().unwrap();
    assert!(is_listening(server.port()));
    server.kill();
    assert!(!is_listening(server.port()));
    server.resume().unwrap();
    assert!(is_listening(server.port()));
    let port = server.port();
    drop(server);
    assert!(!is_listening(port));
}
