//! A server on a disk that is hardly large enough for it.

use std::{
    fs::{self, File},
    process::Command,
};

use crate::{
    disk::{fill, on_a_disk_of_its_own},
    full_disk::{FULL, within},
    server::{Client, Server, app, apps, webapps},
};

#[test]
fn when_all_is_deleted_on_a_disk_that_was_full_it_holds_as_much_again() {
    let test = "small_disk::when_all_is_deleted_on_a_disk_that_was_full_it_holds_as_much_again";
    let Some(folder) = on_a_disk_of_its_own("24m", test) else { return };
    let log = tempfile::NamedTempFile::new().unwrap();
    let server = Server::logging_to(log.path(), &folder.join("small.db"), &["--log", "warn"]);
    let mut client = server.connect().unwrap();
    let mut counts = Vec::new();
    for round in 0..3 {
        let name = |number: usize| format!("app-{round}-{number}");
        let mut count = 0;
        let refused = loop {
            match client.request("POST", apps(), &app(&name(count), &"x".repeat(100_000))).unwrap() {
                (201, _) => count += 1,
                other => break other,
            }
        };
        assert_eq!(refused.0, 507, "{}", refused.1);
        for number in 0..count {
            let (status, body) = client.request("DELETE", &format!("{}/{}", apps(), name(number)), "").unwrap();
            assert_eq!(status, 200, "{body}");
        }
        counts.push(count);
        let is_ready = |client: &mut Client| client.request("GET", "/readyz", "").unwrap().0 == 200;
        assert!(within(FULL, || is_ready(&mut client)), "the server is not ready");
    }
    assert!(counts.iter().all(|count| *count > 60 && count * 10 >= counts[0] * 9), "{counts:?}");
    // Watches from before have to list again, and the log says why.
    let watch = format!("{}?watch=true&timeoutSeconds=1&resourceVersion=2", apps());
    assert!(client.request("GET", &watch, "").unwrap().1.contains("410"));
    assert!(within(FULL, || fs::read_to_string(log.path()).unwrap().contains("history was forgotten early")));
    let metrics = client.request("GET", "/metrics", "").unwrap().1;
    let forgotten = metrics.lines().find_map(|line| line.strip_prefix("wheelwright_store_forgotten_early_total "));
    assert!(forgotten.is_some_and(|count| count.parse::<usize>().unwrap() > 0), "{metrics}");
}

#[test]
fn a_collection_is_deleted_to_its_end_on_a_full_disk() {
    let test = "small_disk::a_collection_is_deleted_to_its_end_on_a_full_disk";
    let Some(folder) = on_a_disk_of_its_own("24m", test) else { return };
    let log = tempfile::NamedTempFile::new().unwrap();
    let server = Server::logging_to(log.path(), &folder.join("small.db"), &["--log", "warn"]);
    let mut client = server.connect().unwrap();
    let mut count = 0;
    let refused = loop {
        match client.request("POST", apps(), &app(&format!("app-{count}"), &"x".repeat(100_000))).unwrap() {
            (201, _) => count += 1,
            other => break other,
        }
    };
    assert_eq!(refused.0, 507, "{}", refused.1);
    let (status, body) = client.request("DELETE", apps(), "").unwrap();
    let end = body.chars().rev().take(300).collect::<Vec<_>>().into_iter().rev().collect::<String>();
    let deleted: serde_json::Value = serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error}: {end}"));
    assert_eq!((status, deleted["items"].as_array().map(Vec::len)), (200, Some(count)));
    // The deletion took the history that its own list stood on.
    assert!(within(FULL, || fs::read_to_string(log.path()).unwrap().contains("history was forgotten early")));
    let left = client.request("GET", apps(), "").unwrap().1;
    let left: serde_json::Value = serde_json::from_str(&left).unwrap();
    assert_eq!(left["items"].as_array().map(Vec::len), Some(0));
}

#[test]
fn a_server_that_does_not_start_on_a_full_disk_leaves_no_file() {
    let test = "small_disk::a_server_that_does_not_start_on_a_full_disk_leaves_no_file";
    let Some(folder) = on_a_disk_of_its_own("1m", test) else { return };
    let ballast = folder.join("ballast");
    fill(&ballast).unwrap();
    let full = fs::metadata(&ballast).unwrap().len();
    let mut failed = 0;
    for pages in 0..16 {
        File::options().write(true).open(&ballast).unwrap().set_len(full - pages * 4096).unwrap();
        let output = Command::new("timeout")
            .args(["--signal=TERM", "2", env!("CARGO_BIN_EXE_wheelwright"), "serve", "--listen", "127.0.0.1:0"])
            .args(["--store", "sqlite:new.db", "--audit-log", "audit.jsonl", "--catalog"])
            .arg(webapps().canonicalize().unwrap())
            .current_dir(&folder)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        if output.stdout.is_empty() {
            failed += 1;
            assert!(output.status.code() == Some(2) && said.contains("is full"), "{pages}: {said}");
            let files = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().file_name());
            assert_eq!(files.collect::<Vec<_>>(), ["ballast"], "{pages} pages are free: {said}");
            continue;
        }
        for file in fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).filter(|file| *file != ballast) {
            fs::remove_file(file).unwrap();
        }
    }
    assert!(failed > 0, "a full disk has room for a store");
}
