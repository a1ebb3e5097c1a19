//! Web pages in a real browser: they can neither read from the server nor write to it.

mod attacker;
mod chromium;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use serde_json::Value;
use tempfile::TempDir;

use self::{
    attacker::{foreign_page, rebound_page, reports, unprotected},
    chromium::Chromium,
};
use crate::server::Server;

const OBJECTS: &str = "/apis/shop.example.com/v2/namespaces/west/orders";
const SECRET: &str = "a note that pages must not read";
/// How long a browser may take on a machine that has much else to do.
const LONG: Duration = Duration::from_secs(120);

/// A server with one object, which pages must neither read nor change.
struct Victim {
    server: Server,
    _folder: TempDir,
}

impl Victim {
    fn start(options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::serving(&catalog(), &folder.path().join("documents.db"), options);
        let body = format!(
            r#"{{"apiVersion":"shop.example.com/v2","kind":"Order","metadata":{{"name":"confidential"}},"spec":{{"note":"{SECRET}"}}}}"#
        );
        assert_eq!(server.connect().unwrap().request("POST", OBJECTS, &body).unwrap().0, 201);
        Self { server, _folder: folder }
    }

    /// All that is stored, with its revision.
    fn stored(&self) -> Value {
        serde_json::from_str(&self.get(OBJECTS)).unwrap()
    }

    fn names(&self) -> BTreeSet<String> {
        let items = self.stored()["items"].as_array().unwrap().clone();
        items.iter().map(|item| item["metadata"]["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Requests that were refused for a reason.
    fn refused(&self, reason: &str) -> usize {
        let line = format!("wheelwright_refused_total{{reason=\"{reason}\"}} ");
        let metrics = self.get("/metrics");
        metrics.lines().find_map(|text| text.strip_prefix(&line)).map_or(0, |count| count.parse().unwrap())
    }

    fn get(&self, path: &str) -> String {
        let (status, body) = self.server.connect().unwrap().request("GET", path, "").unwrap();
        assert_eq!(status, 200, "{body}");
        body
    }
}

fn catalog() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../server/tests/both/shop")
}

fn until(what: &str, holds: impl Fn() -> bool) {
    let attempts = LONG.as_millis() / 50;
    assert!(
        (0..attempts).any(|_| holds() || {
            thread::sleep(Duration::from_millis(50));
            false
        }),
        "{what}"
    );
}

/// Fails if a page could read anything.
fn assert_unread(attempts: &Value) {
    let attempts = attempts.as_object().unwrap();
    assert!(attempts.len() > 35, "{attempts:?}");
    for (name, outcome) in attempts {
        // An answer to a request without CORS is opaque, and empty to the page.
        let is_nothing = outcome.get("failed").is_some() || outcome["got"].is_null() || outcome["got"] == "";
        assert!(is_nothing, "{name}: {outcome}");
    }
}

/// Lets a page from a host attack a server and, in the same way, one without protection.
fn attack_from(host: &str, target_host: &str) {
    let (victim, open) = (Victim::start(&[]), Victim::start(&[]));
    let (door, seen) = unprotected(open.server.address);
    let before = victim.stored();
    let (report, reported) = reports();
    let targets = [victim.server.address.port(), door.port()].map(|port| format!("http://{target_host}:{port}"));
    let page = foreign_page(&targets, &format!("http://{host}:{}/", report.port()));
    let browser = Chromium::open(&format!("http://{host}:{}/", page.port()));
    let report = reported.recv_timeout(LONG).expect("the page reports");

    // The same page writes to a server without protection by every way that needs no permission: the attempts are real.
    let written = ["beacon-no-type", "beacon-text", "form-text", "post-json-no-cors", "post-keepalive", "post-no-type"];
    let written = written.iter().chain(&["post-text", "post-text-no-cors", "confidential"]);
    let written = written.chain(&["form-redirected", "post-redirected"]);
    let written: BTreeSet<String> = written.map(|name| (*name).to_owned()).collect();
    until("the page writes to the server without protection", || open.names() == written);
    // The same requests are refused by the victim. A browser may cancel one or the other of them when the page has finished.
    let arrived = seen.lock().unwrap().iter().filter(|seen| seen.path != "/favicon.ico").count();
    assert!(arrived > 35, "{:?}", seen.lock().unwrap());
    until("the victim refuses the same requests", || victim.refused("origin") > 35);
    drop(browser);

    assert_unread(&report[&targets[0]]);
    assert_eq!(victim.stored(), before, "nothing is written");
}

#[test]
fn a_page_of_another_site_neither_reads_nor_writes() {
    attack_from("evil.example", "127.0.0.1");
}

#[test]
fn a_page_of_the_same_site_on_another_port_neither_reads_nor_writes() {
    attack_from("localhost", "localhost");
}

/// Lets a page attack a server by the name of its own origin.
fn attack_rebound(victim: &Victim) -> Value {
    let (report, reported) = reports();
    let report = format!("http://evil.example:{}/", report.port());
    let page = rebound_page(&report, victim.server.address);
    let origin = format!("http://evil.example:{}", page.port());
    let browser = Chromium::open(&format!("{origin}/page"));
    let report = reported.recv_timeout(LONG).expect("the page reports");
    drop(browser);
    report[&origin].clone()
}

#[test]
fn a_page_whose_name_is_rebound_neither_reads_nor_writes() {
    let victim = Victim::start(&[]);
    let before = victim.stored();
    let attempts = attack_rebound(&victim);
    // The page can read the refusal: it is of its own origin.
    for (name, outcome) in attempts.as_object().unwrap() {
        let got = outcome["got"].as_str().unwrap_or_default();
        assert!(got.is_empty() || got.contains("--allow-host"), "{name}: {outcome}");
        assert!(!got.contains(SECRET), "{name}: {outcome}");
    }
    assert!(attempts["fetch"]["got"].as_str().unwrap().contains("evil.example"), "{attempts}");
    assert!(victim.refused("host") > 35);
    assert_eq!(victim.stored(), before, "nothing is written");

    // With the name allowed the same page reads and writes: the attempts are real.
    let victim = Victim::start(&["--allow-host", "evil.example"]);
    let attempts = attack_rebound(&victim);
    for name in ["fetch", "fetch-resource", "xhr", "iframe", "popup", "worker"] {
        assert!(attempts[name]["got"].as_str().is_some_and(|got| got.contains(SECRET)), "{name}: {attempts}");
    }
    for name in ["post-json", "put", "patch", "put-resource", "patch-resource", "delete", "delete-resource"] {
        let got = attempts[name]["got"].as_str();
        assert!(got.is_some_and(|got| !got.contains("--allow-host")), "{name}: {attempts}");
    }
    assert!(attempts["post-json"]["got"].as_str().unwrap().contains("written by a web page"), "{attempts}");
    assert!(!victim.names().contains("confidential"), "it was removed");
}
