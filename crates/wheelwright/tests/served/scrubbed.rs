//! A record that is damaged while a server runs: `--scrub` finds it, or a request does.

use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use crate::server::{Client, Server, app, apps};

/// One who may read everything, and whose token is `ann-token`.
const ACCESS: &str = "
roles:
  reader:
    - { verbs: [get], kinds: ['*'] }
users:
  - name: ann
    tokens: ['sha256:HASH']
    grants:
      - { role: reader, scopes: ['*'] }
";

const VERBOSE: &str = "/readyz?verbose";

#[test]
fn a_damaged_record_is_logged_counted_and_shown_and_the_others_are_served() {
    let folder = tempfile::tempdir().unwrap();
    let (store, log) = (folder.path().join("apps.db"), folder.path().join("log"));
    let server = Server::logging_to(&log, &store, &["--scrub", "1s"]);
    let mut client = server.connect().unwrap();
    for name in ["one", "two", "three"] {
        assert_eq!(client.request("POST", apps(), &app(name, "image-1")).unwrap().0, 201);
    }
    until(&mut client, "/metrics", |text| metric(text, "scrub_finished_timestamp_seconds") > 0);
    assert_eq!(client.request("GET", VERBOSE, "").unwrap(), (200, "[+]store ok\n".to_owned()));

    change(&store, "%/two", ["image-1", "image-2"]);
    let text = until(&mut client, "/metrics", |text| metric(text, "damaged_records") == 1);
    assert!(metric(&text, "scrubbed_records_total") >= 3, "{text}");
    let shown = "[+]store ok\n[!]damaged records: 1 (WebApp shop/two)\n";
    assert_eq!(client.request("GET", VERBOSE, "").unwrap(), (200, shown.to_owned()));
    assert_eq!(client.request("GET", "/readyz", "").unwrap(), (200, "ok".to_owned()));
    for name in ["one", "three"] {
        assert_eq!(client.request("GET", &format!("{}/{name}", apps()), "").unwrap().0, 200, "{name}");
    }

    // Another scrub finds the same, and the next one finds nothing after the byte is changed back.
    let scrubbed = metric(&text, "scrubbed_records_total");
    until(&mut client, "/metrics", |text| metric(text, "scrubbed_records_total") > scrubbed + 3);
    change(&store, "%/two", ["image-2", "image-1"]);
    until(&mut client, "/metrics", |text| metric(text, "damaged_records") == 0);
    assert_eq!(client.request("GET", VERBOSE, "").unwrap(), (200, "[+]store ok\n".to_owned()));
    let logged = fs::read_to_string(&log).unwrap();
    let lines: Vec<&str> = logged.lines().filter(|line| line.contains("a record is damaged")).collect();
    assert!(lines.len() == 1 && lines[0].contains("WebApp shop/two"), "{logged}");
}

#[test]
fn a_damaged_record_that_a_request_meets_is_logged_counted_and_shown_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (store, log) = (folder.path().join("apps.db"), folder.path().join("log"));
    let server = Server::logging_to(&log, &store, &["--scrub", "off"]);
    let mut client = server.connect().unwrap();
    let names = ["read", "listed", "written"];
    for name in names {
        assert_eq!(client.request("POST", apps(), &app(name, "image-1")).unwrap().0, 201);
    }
    let damaged = |client: &mut Client| metric(&client.request("GET", "/metrics", "").unwrap().1, "damaged_records");
    assert_eq!(damaged(&mut client), 0);
    for (number, name) in names.into_iter().enumerate() {
        change(&store, &format!("%/{name}"), ["image-1", "image-2"]);
        let path = format!("{}/{name}", apps());
        for _ in 0..2 {
            let (status, body) = match name {
                "read" => client.request("GET", &path, ""),
                // The list ends at the first record that cannot be displayed.
                "listed" => client.request("GET", &format!("{}?limit=1", apps()), ""),
                _ => client.request("DELETE", &path, ""),
            }
            .unwrap();
            assert_eq!(status, 500, "{name}: {body}");
        }
        assert_eq!(damaged(&mut client), number as u64 + 1, "{name}");
    }
    let shown = "[+]store ok\n[!]damaged records: 3 (WebApp shop/listed, WebApp shop/read, WebApp shop/written)\n";
    assert_eq!(client.request("GET", VERBOSE, "").unwrap(), (200, shown.to_owned()));
    let logged = fs::read_to_string(&log).unwrap();
    assert_eq!(logged.lines().filter(|line| line.contains("a record is damaged")).count(), 3, "{logged}");
}

#[test]
fn damaged_records_are_named_only_to_those_who_may_read_everything() {
    let folder = tempfile::tempdir().unwrap();
    let (store, access) = (folder.path().join("apps.db"), folder.path().join("access.yaml"));
    let mut server = Server::start(&store, &["--scrub", "off"]);
    assert_eq!(server.connect().unwrap().request("POST", apps(), &app("one", "image-1")).unwrap().0, 201);
    server.kill();
    change(&store, "%/one", ["image-1", "image-2"]);
    fs::write(&access, ACCESS.replace("HASH", "dfa603dfa2ef13eb23a30434d7feef5de20829cb6c5181623c8028a74eaf4971"))
        .unwrap();
    let server = Server::start(&store, &["--scrub", "1s", "--access", &access.display().to_string()]);
    let mut client = server.connect().unwrap();
    let shown = until(&mut client, VERBOSE, |text| text.contains("damaged"));
    assert_eq!(shown, "[+]store ok\n[!]damaged records: 1\n");
    let ask =
        |token: &str| format!("GET {VERBOSE} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n");
    client.send(&ask("another-token")).unwrap();
    assert_eq!(client.answer().unwrap(), (200, shown));
    client.send(&ask("ann-token")).unwrap();
    assert_eq!(client.answer().unwrap(), (200, "[+]store ok\n[!]damaged records: 1 (WebApp shop/one)\n".to_owned()));
}

/// Changes a byte of a record.
fn change(store: &Path, key: &str, [from, to]: [&str; 2]) {
    let sql = "UPDATE log SET value = CAST(replace(CAST(value AS TEXT), ?2, ?3) AS BLOB) WHERE key LIKE ?1";
    let changed = rusqlite::Connection::open(store).unwrap().execute(sql, [key, from, to]).unwrap();
    assert_eq!(changed, 1);
}

/// Asks again until the answer fits.
fn until(client: &mut Client, path: &str, fits: impl Fn(&str) -> bool) -> String {
    let began = Instant::now();
    loop {
        let (status, body) = client.request("GET", path, "").unwrap();
        assert_eq!(status, 200, "{body}");
        if fits(&body) {
            return body;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{body}");
        thread::sleep(Duration::from_millis(50));
    }
}

/// A metric without labels.
fn metric(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("wheelwright_{name} ")));
    line.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("no {name} in {text}"))
}
