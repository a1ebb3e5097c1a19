//! A server whose disk is full. Each test runs once more in a process that has a small disk of its own.

use std::{
    env, fs,
    io::Write,
    os::unix::fs::{MetadataExt, chown},
    path::{Path, PathBuf},
    process::Command,
};

use wheelwright_store::{ErrorKind, Postgres, PostgresOptions, Store, testing::PostgresServer};

use crate::support::{bare_of, key};

/// Where the small disk is, in a process that has one.
const DISK: &str = "WHEELWRIGHT_TEST_DISK";

/// The folder of the small disk; none after the test has run in a process that has one, or where none can be mounted.
fn small_disk(test: &str, size: &str) -> Option<PathBuf> {
    if let Some(folder) = env::var_os(DISK) {
        return Some(folder.into());
    }
    let folder = tempfile::tempdir().unwrap();
    let mount = format!("mount -t tmpfs -o size={size},mode=0777 none {}", folder.path().display());
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", script]).arg(env::current_exe().unwrap());
        command.args([test, "--exact", "--nocapture"]).env(DISK, folder.path());
        command.output()
    };
    if !unshare(&mount).is_ok_and(|output| output.status.success()) {
        let _ = writeln!(std::io::stderr(), "SKIPPED: {test}: no disk can be mounted here");
        return None;
    }
    let output = unshare(&format!(r#"{mount} && exec "$0" "$@""#)).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    None
}

/// Fills the disk.
fn fill(folder: &Path) -> PathBuf {
    let path = folder.join("ballast");
    let mut file = fs::File::create(&path).unwrap();
    for size in [1 << 20, 4096, 1] {
        while file.write_all(&vec![0; size]).is_ok() {}
    }
    path
}

/// A value that cannot be compressed.
fn value(seed: u64) -> Vec<u8> {
    let mut state = seed + 1;
    let next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..200_000).map(next).collect()
}

/// Writes until that fails. Returns how many writes were acknowledged, and the failure.
async fn write(store: &Postgres) -> (u64, ErrorKind) {
    for number in 0.. {
        if let Err(error) = store.create(&key(format!("k{number}")), value(number)).await {
            return (number, error.kind().clone());
        }
    }
    unreachable!("the disk is small")
}

async fn assert_written(store: &Postgres, count: u64) {
    for number in 0..count {
        let stored = store.get(&key(format!("k{number}"))).await.unwrap().unwrap();
        assert!(stored.value == value(number), "k{number}");
    }
}

#[tokio::test]
async fn a_full_disk_is_reported_until_there_is_room() {
    let Some(disk) = small_disk("full_disk::a_full_disk_is_reported_until_there_is_room", "24m") else { return };
    // Only the tables are on the full disk: PostgreSQL refuses statements, and goes on.
    let server = PostgresServer::start().unwrap();
    let (folder, owner) = (disk.join("tables"), fs::metadata(server.data()).unwrap());
    fs::create_dir(&folder).unwrap();
    chown(&folder, Some(owner.uid()), Some(owner.gid())).unwrap();
    let create = format!("CREATE TABLESPACE small LOCATION '{}'", folder.display());
    bare_of(&server).await.batch_execute(&create).await.unwrap();
    let address = format!("{}&options=-c%20default_tablespace%3Dsmall", server.address("full"));
    let store = Postgres::connect(&address, PostgresOptions::default()).await.unwrap();
    store.create(&key("before"), value(1)).await.unwrap();
    store.health().await.unwrap();
    let ballast = fill(&disk);
    let (count, failure) = write(&store).await;
    assert_eq!(failure, ErrorKind::Full);
    assert_eq!(store.health().await.unwrap_err().kind(), &ErrorKind::Full);
    assert_written(&store, count).await;
    assert_eq!(store.get(&key(format!("k{count}"))).await.unwrap(), None);
    fs::remove_file(ballast).unwrap();
    store.health().await.unwrap();
    store.create(&key("after"), value(2)).await.unwrap();
}

#[tokio::test]
async fn a_server_that_ended_without_room_is_used_again() {
    let Some(disk) = small_disk("full_disk::a_server_that_ended_without_room_is_used_again", "160m") else { return };
    // All of the server is on the full disk: it ends itself when it cannot write its log.
    let mut server = PostgresServer::start_in(&disk).unwrap();
    let store = Postgres::connect(&server.address("ended"), PostgresOptions::default()).await.unwrap();
    store.create(&key("before"), value(1)).await.unwrap();
    let ballast = fill(&disk);
    let (count, _) = write(&store).await;
    // Another file of the log is begun.
    let client = bare_of(&server).await;
    while client.batch_execute("SELECT pg_switch_wal(); CREATE TEMP TABLE t (); DROP TABLE t").await.is_ok() {}
    let failure = store.health().await.unwrap_err();
    assert!(matches!(failure.kind(), ErrorKind::Unavailable | ErrorKind::Unknown), "{failure}");
    fs::remove_file(ballast).unwrap();
    server.resume().unwrap();
    assert_written(&store, count).await;
    store.create(&key("after"), value(2)).await.unwrap();
    store.health().await.unwrap();
}
