//! Crowds of clients that hold on to their connections and want nothing, or never read what they asked for.

use std::{
    fs,
    io::{Write, stderr},
    process::Command,
    thread,
    time::{Duration, Instant},
};

use crate::{
    full_disk::within,
    server::{Server, app, apps},
};

/// How many files this process may have open.
fn own_descriptors() -> usize {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    let _ = setrlimit(Resource::Nofile, limit);
    getrlimit(Resource::Nofile).current.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX)
}

#[test]
fn ten_thousand_idle_connections_keep_nobody_from_being_served() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&folder.path().join("idle.db"), &[]);
    let of_server = server.of_process("limits", "Max open files").unwrap_or(usize::MAX);
    let count = own_descriptors().min(of_server).saturating_sub(500).min(10_000);
    if count < 10_000 {
        writeln!(stderr(), "this machine allows {count} connections instead of 10,000").unwrap();
    }
    let before = server.of_process("status", "VmRSS:").unwrap();
    let mut idle = Vec::new();
    let mut served = 0;
    for number in 0..count {
        idle.push(server.connect().unwrap());
        if number % 500 == 0 {
            let began = Instant::now();
            let mut client = server.connect().unwrap();
            let (status, body) = client.request("POST", apps(), &app(&format!("a{number}"), "image")).unwrap();
            assert_eq!(status, 201, "{body}");
            let (status, _) = client.request("GET", &format!("{}/a{number}", apps()), "").unwrap();
            assert_eq!(status, 200);
            assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
            served += 1;
        }
    }
    assert!(served >= count / 500);
    let grown = server.of_process("status", "VmRSS:").unwrap().saturating_sub(before);
    assert!(grown / count.max(1) < 40, "{grown} KiB for {count} connections");
    // Whoever says nothing at all has to leave after some time.
    drop(idle);
    let mut client = server.connect().unwrap();
    assert_eq!(client.request("GET", "/livez", "").unwrap().0, 200);
}

#[test]
fn more_connections_than_may_be_open_cost_only_idle_ones() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&folder.path().join("crowd.db"), &["--max-connections", "100"]);
    let mut idle = Vec::new();
    for number in 0..1_000 {
        idle.push(server.connect().unwrap());
        if number % 100 == 99 {
            let (status, body) = server.connect().unwrap().request("GET", apps(), "").unwrap();
            assert_eq!(status, 200, "{body}");
        }
    }
}

#[test]
fn watches_that_nobody_reads_take_no_memory() {
    const BYTES: usize = 200_000;
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&folder.path().join("deaf.db"), &[]);
    let mut deaf = Vec::new();
    for _ in 0..20 {
        let mut client = server.connect().unwrap();
        client.send(&format!("GET {}?watch=true HTTP/1.1\r\nHost: localhost\r\n\r\n", apps())).unwrap();
        deaf.push(client);
    }
    thread::sleep(Duration::from_millis(300));
    let mut client = server.connect().unwrap();
    let image = "i".repeat(BYTES);
    let before = server.of_process("status", "VmHWM:").unwrap();
    for number in 0..100 {
        let (status, body) = client.request("POST", apps(), &app(&format!("a{number}"), &image)).unwrap();
        assert_eq!(status, 201, "{body}");
    }
    thread::sleep(Duration::from_millis(500));
    let grown = server.of_process("status", "VmHWM:").unwrap() - before;
    // All of it would be four hundred megabytes.
    assert!(grown < 200 << 10, "{grown} KiB more");
    let (status, _) = client.request("GET", &format!("{}/a7", apps()), "").unwrap();
    assert_eq!(status, 200);
}

#[test]
fn the_memory_of_a_server_can_be_set() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&folder.path().join("small.db"), &["--memory", "256MiB"]);
    let (status, metrics) = server.connect().unwrap().request("GET", "/metrics", "").unwrap();
    assert!(status == 200 && metrics.contains("wheelwright_memory_limit_bytes 268435456\n"), "{metrics}");
}

#[test]
fn a_server_without_free_descriptors_logs_that_once_and_serves_when_it_has_some() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let server = Server::logging_to(&log, &folder.path().join("few.db"), &["--log", "warn"]);
    // A read of the store has some open for itself.
    let most = server.descriptors().expect("proc") + 16;
    let limited =
        Command::new("prlimit").args(["--pid", &server.id().to_string(), &format!("--nofile={most}:{most}")]).status();
    assert!(limited.expect("prlimit, of util-linux").success());
    let idle: Vec<_> = (0..60).map(|_| server.connect().unwrap()).collect();
    let failures = || fs::read_to_string(&log).unwrap().matches("cannot accept a connection").count();
    assert!(within(Duration::from_secs(20), || failures() > 0), "no failure is logged");
    thread::sleep(Duration::from_secs(1));
    assert_eq!(failures(), 1);
    drop(idle);
    assert!(within(Duration::from_secs(20), || {
        server.connect().is_ok_and(|mut client| client.request("GET", apps(), "").is_ok_and(|answer| answer.0 == 200))
    }));
}
