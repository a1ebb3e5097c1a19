//! The audit log: what is recorded, and what happens when it cannot be.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{self, BufRead, BufReader},
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::{Duration, Instant},
};

use serde_json::Value as Json;
use tempfile::TempDir;

use crate::server::{Client, Server, app, apps, webapps};

const FLEET: &str = "/subscriptions/s1/resourceGroups/g1/providers/Example.Fleet/clusters";
const VERSION: &str = "?api-version=2024-06-10-preview";
/// The hash of "secret".
const ACCESS: &str = "
roles: {all: [{verbs: [\"*\"], kinds: [\"*\"]}]}
users:
- name: ann
  tokens: [\"sha256:2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b\"]
  grants: [{role: all, scopes: [namespaces/shop, subscriptions/s1]}]
";

/// A server with an audit log.
struct Audited {
    folder: TempDir,
    server: Server,
    file: PathBuf,
}

impl Audited {
    fn start(options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("audit.jsonl");
        Self::writing_to(folder, file, options)
    }

    fn writing_to(folder: TempDir, file: PathBuf, options: &[&str]) -> Self {
        let fleet = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/node-pools");
        let store = folder.path().join("audited.db");
        let mut all = vec!["--catalog", fleet.to_str().unwrap(), "--audit-log", file.to_str().unwrap()];
        all.extend(options);
        let server = Server::start(&store, &all);
        Self { folder, server, file }
    }

    fn client(&self) -> Client {
        self.server.connect().unwrap()
    }

    /// Waits until so many lines are written; gives them.
    fn lines(&self, count: usize) -> Vec<Json> {
        until(|| Some(lines(&self.file)).filter(|lines| lines.len() >= count))
    }

    fn metric(&self, name: &str) -> u64 {
        let text = self.client().request("GET", "/metrics", "").unwrap().1;
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("{name} is in {text}")).parse().unwrap()
    }
}

/// The lines of a file, each of which must be JSON.
fn lines(file: &Path) -> Vec<Json> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

fn until<T>(found: impl Fn() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(began.elapsed() < Duration::from_secs(30), "it does not happen");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Makes a request with a token.
fn ask(client: &mut Client, method: &str, path: &str, token: &str, body: &str) -> u16 {
    send(client, method, path, token, body);
    client.answer().unwrap().0
}

fn send(client: &mut Client, method: &str, path: &str, token: &str, body: &str) {
    let kind = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
    let head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n");
    let length = body.len();
    client.send(&format!("{head}Content-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{body}")).unwrap();
}

#[test]
fn every_write_and_every_refusal_has_one_line_and_reads_have_none() {
    let folder = tempfile::tempdir().unwrap();
    let access = folder.path().join("access.yaml");
    fs::write(&access, ACCESS).unwrap();
    let audited = Audited::start(&["--access", access.to_str().unwrap()]);
    let (cluster, apps) = (format!("{FLEET}/one{VERSION}"), apps());
    let pool = format!("{FLEET}/one/nodePools/np{VERSION}");
    let one = format!("{apps}/one");
    let cluster_json = r#"{"location":"westus3","properties":{"subnetId":"subnet-1"}}"#;
    let pool_json = r#"{"properties":{"platform":{"vmSize":"m4"},"replicas":1}}"#;
    let patch = r#"{"metadata":{"labels":{"a":"b"}}}"#;
    let elsewhere = apps.replace("shop", "bank");
    let dry = format!("{apps}?dryRun=All");
    let kinds = ["WebApp.apps.example.com", "Example.Fleet/clusters", "Example.Fleet/clusters/nodePools"];
    // (method, path, token, body), then (status, verb, kind, name, changed) of the line, if there is one.
    type Line<'l> = (u16, &'l str, &'l str, &'l str, Option<bool>);
    type Step<'s> = ((&'s str, &'s str, &'s str, &'s str), Option<Line<'s>>);
    let steps: &[Step<'_>] = &[
        (("POST", apps, "secret", &app("one", "a")), Some((201, "create", kinds[0], "one", Some(true)))),
        (("POST", apps, "secret", &app("one", "a")), Some((409, "create", kinds[0], "one", None))),
        (("POST", &dry, "secret", &app("two", "a")), Some((201, "create", kinds[0], "two", Some(true)))),
        (("GET", &one, "secret", ""), None),
        (("GET", apps, "secret", ""), None),
        (("PATCH", &one, "secret", patch), Some((200, "patch", kinds[0], "one", Some(true)))),
        (("PATCH", &one, "secret", patch), Some((200, "patch", kinds[0], "one", Some(false)))),
        (("PUT", &one, "secret", "{"), Some((400, "update", kinds[0], "one", None))),
        (("DELETE", &one, "secret", ""), Some((200, "delete", kinds[0], "one", Some(true)))),
        (("DELETE", &one, "secret", ""), Some((404, "delete", kinds[0], "one", None))),
        (("PUT", &cluster, "secret", cluster_json), Some((201, "update", kinds[1], "one", Some(true)))),
        (("PUT", &pool, "secret", pool_json), Some((201, "update", kinds[2], "one/np", Some(true)))),
        (("PATCH", &cluster, "secret", r#"{"tags":{"a":"b"}}"#), Some((200, "patch", kinds[1], "one", Some(true)))),
        (("GET", &cluster, "secret", ""), None),
        (("DELETE", &cluster, "secret", ""), Some((409, "delete", kinds[1], "one", None))),
        (("DELETE", &pool, "secret", ""), Some((202, "delete", kinds[2], "one/np", Some(true)))),
        (("GET", &one, "wrong", ""), Some((401, "", "", "", None))),
        (("GET", &elsewhere, "secret", ""), Some((403, "list", kinds[0], "", None))),
        (("POST", &elsewhere, "secret", &app("one", "a")), Some((403, "create", kinds[0], "", None))),
        (("GET", "/apis/../x", "secret", ""), Some((400, "", "", "", None))),
        (("GET", "/nothing", "secret", ""), None),
        (("POST", "/nothing", "secret", "{}"), Some((404, "", "", "", None))),
        (("GET", "/livez", "wrong", ""), None),
        (("GET", "/metrics", "secret", ""), Some((403, "", "", "", None))),
    ];
    let mut client = audited.client();
    let mut expected = Vec::new();
    for ((method, path, token, body), line) in steps {
        let status = ask(&mut client, method, path, token, body);
        if let Some(line) = line {
            assert_eq!(status, line.0, "{method} {path}");
            expected.push(line);
        }
    }
    let lines = audited.lines(expected.len());
    let text = |line: &Json, key: &str| line[key].as_str().unwrap_or_default().to_owned();
    for (line, (status, verb, kind, name, changed)) in lines.iter().zip(&expected) {
        let found = (line["status"].as_u64(), text(line, "verb"), text(line, "kind"), text(line, "name"));
        let wanted = (Some(u64::from(*status)), (*verb).to_owned(), (*kind).to_owned(), (*name).to_owned());
        assert_eq!((found, line["changed"].as_bool()), (wanted, *changed), "{line}");
        let caller = if *status == 401 { "unknown" } else { "ann" };
        assert_eq!((text(line, "caller"), text(line, "credential")), (caller.to_owned(), "token".to_owned()));
        assert!(text(line, "client").starts_with("127.0.0.1:") && !text(line, "request").is_empty(), "{line}");
        assert_eq!((text(line, "stage").as_str(), text(line, "time").len()), ("done", 27), "{line}");
        assert!(!line.to_string().contains("secret") && !line.to_string().contains("subnet-1"), "{line}");
    }
    assert_eq!(lines.len(), expected.len());
    assert_eq!(lines[0]["scope"], "namespaces/shop");
    assert_eq!(lines[10]["scope"], "subscriptions/s1/resourceGroups/g1");
    assert_eq!((&lines[2]["dryRun"], &lines[0]["dryRun"]), (&true.into(), &false.into()));
    assert!(!text(&lines[0], "revision").is_empty() && lines[1].get("revision").is_none());
    assert!(text(&lines[10], "correlation") == text(&lines[10], "request"));
    assert_eq!(fs::metadata(&audited.file).unwrap().permissions().mode() & 0o777, 0o600);
}

/// The keys of lines, sorted.
fn keys<'l>(lines: impl IntoIterator<Item = &'l Json>) -> BTreeSet<String> {
    lines.into_iter().flat_map(|line| line.as_object().unwrap().keys().cloned()).collect()
}

#[test]
fn the_documentation_names_every_field() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/serve.md");
    let page = fs::read_to_string(page).unwrap();
    let section = page.split("\n## Audit log\n").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split(" |").next());
    let documented = rows.flat_map(|row| row.split('`').step_by(2)).map(str::to_owned).collect::<BTreeSet<_>>();
    let example = section.split("```json\n").nth(1).and_then(|rest| rest.split("\n```").next()).unwrap();
    let audited = Audited::start(&["--audit-strict"]);
    let mut client = audited.client();
    assert_eq!(client.request("POST", apps(), &app("one", "a")).unwrap().0, 201);
    let written = lines(&audited.file);
    assert_eq!(keys([&serde_json::from_str(example).unwrap()]), keys([&written[1]]));
    client.request("PUT", &format!("{FLEET}/one{VERSION}"), "").unwrap();
    client.request("GET", "/apis/../x", "").unwrap();
    // A certificate needs TLS.
    let others = ["certificate".to_owned()].into();
    assert_eq!(documented, &keys(&audited.lines(5)) | &others);
}

#[test]
fn every_object_of_a_collection_that_is_deleted_has_a_line() {
    let audited = Audited::start(&[]);
    let mut client = audited.client();
    for number in 0..3 {
        client.request("POST", apps(), &app(&format!("app-{number}"), "a")).unwrap();
    }
    assert_eq!(client.request("DELETE", apps(), "").unwrap().0, 200);
    let lines = audited.lines(7).split_off(3);
    let told: Vec<_> =
        lines.iter().map(|line| (line["stage"].as_str().unwrap(), line["name"].as_str().unwrap_or_default())).collect();
    assert_eq!(told, [("object", "app-0"), ("object", "app-1"), ("object", "app-2"), ("done", "")]);
    assert!(lines.iter().all(|line| line["verb"] == "deletecollection" && line["request"] == lines[0]["request"]));
}

#[test]
fn text_that_clients_choose_is_escaped_and_cut() {
    let audited = Audited::start(&[]);
    let long = "x".repeat(20_000);
    let evil = "a\\\"},\\n{\\\"caller\\\":\\\"root\\\"}\\u0000";
    let paths = [
        format!("{}/%0a%22%7d", apps()),
        format!("{}/%ff%fe", apps()),
        format!("{}/{long}", apps()),
        format!("{}/a\"b", apps()),
    ];
    let mut client = audited.client();
    for path in &paths {
        let answered = client.request("DELETE", path, "").unwrap().0;
        assert!((400..500).contains(&answered), "{path}: {answered}");
    }
    for name in [evil, &long] {
        assert_eq!(client.request("POST", apps(), &app(name, "a")).unwrap().0, 422);
    }
    client.send("BREW\"{} / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    assert_eq!(client.answer().unwrap().0, 400, "the head cannot be read, so that it is no request");
    let mut client = audited.client();
    let ids = "Audit-ID: \"},{\"caller\":\"root\"\r\nx-ms-correlation-request-id: {\"\r\n";
    client.send(&format!("BREW /nothing HTTP/1.1\r\nHost: localhost\r\n{ids}\r\n")).unwrap();
    assert_eq!(client.answer().unwrap().0, 404);
    let lines = audited.lines(7);
    assert_eq!(lines.len(), 7);
    assert!(lines.iter().all(|line| line["caller"] == "anonymous"), "{lines:?}");
    assert_eq!(lines[4]["name"].as_str().unwrap(), "a\"},\n{\"caller\":\"root\"}\0");
    assert_eq!((&lines[6]["method"], &lines[6]["request"]), (&"BREW".into(), &"\"},{\"caller\":\"root\"".into()));
    let text = fs::read_to_string(&audited.file).unwrap();
    assert!(text.lines().all(|line| line.len() < 4_096) && text.matches('…').count() == 3, "{text}");
}

#[test]
fn no_line_is_lost_when_the_file_is_rotated_under_load() {
    const WRITERS: usize = 4;
    const WRITES: usize = 150;
    let audited = Audited::start(&[]);
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let mut client = audited.client();
            thread::spawn(move || {
                for number in 0..WRITES {
                    let app = app(&format!("app-{writer}-{number}"), "a");
                    assert_eq!(client.request("POST", apps(), &app).unwrap().0, 201);
                }
            })
        })
        .collect();
    let rotated = |number: usize| audited.folder.path().join(format!("audit.jsonl.{number}"));
    let mut rotations = 0;
    while writers.iter().any(|writer| !writer.is_finished()) {
        fs::rename(&audited.file, rotated(rotations)).unwrap();
        audited.server.signal("HUP");
        rotations += 1;
        until(|| audited.file.exists().then_some(()));
    }
    writers.into_iter().for_each(|writer| writer.join().unwrap());
    let names = || {
        let files = (0..rotations).map(rotated).chain([audited.file.clone()]);
        let lines: Vec<Json> = files.flat_map(|file| lines(&file)).collect();
        lines.iter().map(|line| line["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let mut names = until(|| Some(names()).filter(|names| names.len() >= WRITERS * WRITES));
    names.sort_unstable();
    names.dedup();
    assert!(names.len() == WRITERS * WRITES && rotations > 1, "{} lines, {rotations} rotations", names.len());
}

#[test]
fn requests_are_served_while_the_log_cannot_be_written_and_the_loss_is_counted() {
    let full = PathBuf::from("/dev/full");
    let audited = Audited::writing_to(tempfile::tempdir().unwrap(), full, &[]);
    let mut client = audited.client();
    for number in 0..3 {
        assert_eq!(client.request("POST", apps(), &app(&format!("app-{number}"), "a")).unwrap().0, 201);
    }
    until(|| (audited.metric("wheelwright_audit_lost_total") == 3).then_some(()));
    let ready = client.request("GET", "/readyz?verbose", "").unwrap();
    assert_eq!(ready, (200, "[+]store ok\n[-]audit-log failed\n".to_owned()));
    // Nobody reads standard output any more: the pipe is closed.
    let audited = Audited::writing_to(tempfile::tempdir().unwrap(), "-".into(), &[]);
    assert_eq!(audited.client().request("POST", apps(), &app("app", "a")).unwrap().0, 201);
    until(|| (audited.metric("wheelwright_audit_lost_total") == 1).then_some(()));
}

/// Creates a named pipe, and its reader.
fn read_pipe(pipe: &Path) -> File {
    assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
    // To open it for reading alone would wait for a writer.
    File::options().read(true).write(true).open(pipe).unwrap()
}

#[test]
fn a_reader_that_is_too_slow_keeps_nobody_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let _unread = read_pipe(&pipe);
    let audited = Audited::writing_to(folder, pipe, &[]);
    let mut client = audited.client();
    // More than the 64 KiB that a pipe holds.
    for number in 0..300 {
        assert_eq!(client.request("POST", apps(), &app(&format!("app-{number}"), "a")).unwrap().0, 201);
    }
    assert_eq!(audited.metric("wheelwright_audit_lost_total"), 0);
}

#[test]
fn lines_that_a_reader_does_not_take_before_the_end_are_reported_as_lost() {
    const WRITES: usize = 300;
    let folder = tempfile::tempdir().unwrap();
    let [pipe, log, store] = ["pipe", "log", "a.db"].map(|name| folder.path().join(name));
    let reader = read_pipe(&pipe);
    let mut server = Server::logging_to(&log, &store, &["--audit-log", pipe.to_str().unwrap()]);
    let mut client = server.connect().unwrap();
    for number in 0..WRITES {
        assert_eq!(client.request("POST", apps(), &app(&format!("app-{number}"), "a")).unwrap().0, 201);
    }
    server.signal("TERM");
    assert_eq!(server.ended(), Some(0));
    // What the pipe holds is not lost. Its reader is a writer, too, so it would wait for more than that.
    let reading = File::open(&pipe).unwrap();
    drop(reader);
    let held = io::read_to_string(reading).unwrap().lines().count();
    let said = fs::read_to_string(&log).unwrap();
    let lost = said.split("lost=").nth(1).and_then(|rest| rest.split_whitespace().next()?.parse::<usize>().ok());
    assert_eq!(lost.unwrap_or_else(|| panic!("{said}")) + held, WRITES, "{said}");
}

#[test]
fn strict_means_no_write_without_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let (link, file) = (folder.path().join("link"), folder.path().join("audit.jsonl"));
    symlink("/dev/full", &link).unwrap();
    let audited = Audited::writing_to(folder, link.clone(), &["--audit-strict"]);
    let mut client = audited.client();
    let refused = client.request("POST", apps(), &app("one", "a")).unwrap();
    assert!(refused.0 == 503 && refused.1.contains("nothing was done"), "{refused:?}");
    assert_eq!(client.request("DELETE", apps(), "").unwrap().0, 503);
    assert_eq!(client.request("GET", &format!("{}/one", apps()), "").unwrap().0, 404, "reads are served");
    // There is room again.
    fs::remove_file(&link).unwrap();
    symlink(&file, &link).unwrap();
    audited.server.signal("HUP");
    until(|| file.exists().then_some(()));
    assert_eq!(client.request("POST", apps(), &app("one", "a")).unwrap().0, 201);
    let lines = lines(&file);
    let stages: Vec<_> = lines.iter().map(|line| line["stage"].as_str().unwrap()).collect();
    assert_eq!(stages, ["intent", "done"], "before the answer");
    assert!(lines.iter().all(|line| line["name"] == "one"), "{lines:?}");
    assert_eq!((&lines[1]["status"], &lines[0]["request"]), (&201.into(), &lines[1]["request"]));
    assert_eq!(client.request("DELETE", apps(), "").unwrap().0, 200);
    let lines = self::lines(&file);
    let stages: Vec<_> = lines[2..].iter().map(|line| line["stage"].as_str().unwrap()).collect();
    assert_eq!(stages, ["intent", "object", "done"]);
    // A name that is generated is in both lines, too.
    let generated = app("", "a").replace(r#""name":""#, r#""generateName":"app-"#);
    assert_eq!(client.request("POST", apps(), &generated).unwrap().0, 201);
    let lines = &self::lines(&file)[5..];
    let names: Vec<_> = lines.iter().map(|line| line["name"].as_str().unwrap()).collect();
    assert!(names.len() == 2 && names[0] == names[1] && names[0].starts_with("app-"), "{names:?}");
}

#[test]
fn beyond_a_file_size_limit_lines_are_lost_or_writes_refused() {
    const LIMIT: u64 = 64 << 20;
    for (option, status) in [(None, 201), (Some("--audit-strict"), 503)] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("audit.jsonl");
        fs::write(&file, r#"{"time":""#).unwrap();
        // A file with holes: the disk needs no room for it.
        File::options().write(true).open(&file).unwrap().set_len(LIMIT - 50).unwrap();
        let audited = Audited::writing_to(folder, file, option.as_slice());
        let process = audited.server.id().to_string();
        let limited = Command::new("prlimit").args(["--pid", &process, &format!("--fsize={LIMIT}")]).status();
        assert!(limited.expect("prlimit, of util-linux").success());
        let mut client = audited.client();
        let answer = client.request("POST", apps(), &app("one", "a")).unwrap();
        assert_eq!(answer.0, status, "{}", answer.1);
        until(|| (audited.metric("wheelwright_audit_lost_total") > 0).then_some(()));
        let found = client.request("GET", &format!("{}/one", apps()), "").unwrap().0;
        assert_eq!(found, if status == 201 { 200 } else { 404 });
    }
}

#[test]
fn a_collection_is_not_deleted_further_once_lines_cannot_be_written() {
    const APPS: usize = 400;
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let reader = read_pipe(&pipe);
    let audited = Audited::writing_to(folder, pipe, &["--audit-strict"]);
    // The reader leaves when the deletion has begun. At most the 64 KiB that the pipe holds are recorded after that.
    let reading = thread::spawn(move || {
        let mut lines = BufReader::new(reader).lines().map(Result::unwrap);
        lines.find(|line| line.contains(r#""verb":"deletecollection""#)).unwrap();
    });
    let mut client = audited.client();
    let name = |number: usize| format!("app-{number:03}");
    for number in 0..APPS {
        assert_eq!(client.request("POST", apps(), &app(&name(number), "a")).unwrap().0, 201);
    }
    let answer = client.request("DELETE", apps(), "").unwrap();
    assert!(answer.0 == 504 && answer.1.contains("audit log"), "{answer:?}");
    reading.join().unwrap();
    let mut status = |number| client.request("GET", &format!("{}/{}", apps(), name(number)), "").unwrap().0;
    assert_eq!((status(0), status(APPS - 1)), (404, 200));
}

#[test]
fn a_watch_that_ends_because_its_caller_lost_access_has_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let access = folder.path().join("access.yaml");
    fs::write(&access, ACCESS).unwrap();
    let audited = Audited::start(&["--access", access.to_str().unwrap()]);
    let mut client = audited.client();
    send(&mut client, "GET", &format!("{}?watch=true", apps()), "secret", "");
    assert_eq!(client.head().unwrap().status, 200);
    fs::write(&access, ACCESS.replace("namespaces/shop", "namespaces/bank")).unwrap();
    let lines = audited.lines(1);
    let [line] = &lines[..] else { panic!("{lines:?}") };
    let found = ["stage", "caller", "verb", "kind", "scope"].map(|key| line[key].as_str().unwrap());
    assert_eq!(found, ["revoked", "ann", "watch", "WebApp.apps.example.com", "namespaces/shop"]);
    assert!(line["reason"].as_str().unwrap().contains("may not watch"), "{line}");
}

#[test]
fn a_pipe_without_a_reader_does_not_block_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    drop(read_pipe(&pipe));
    let said = not_started(folder.path(), "pipe");
    let expected = "error: --audit-log: cannot write the audit log to pipe: a named pipe needs a reader";
    assert!(said.contains(expected), "{said}");
}

#[test]
fn a_file_that_cannot_be_written_is_named_with_its_option() {
    let folder = tempfile::tempdir().unwrap();
    let said = not_started(folder.path(), "no/such/file");
    assert!(said.contains("error: --audit-log: cannot write the audit log to no/such/file: "), "{said}");
    assert!(!folder.path().join("a.db").exists(), "no store is created for a server that does not start");
}

#[test]
fn a_file_of_the_catalog_is_neither_an_audit_log_nor_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let crds = folder.path().join("crds");
    fs::create_dir(&crds).unwrap();
    fs::copy(webapps(), crds.join("crd.yaml")).unwrap();
    let files = || fs::read_dir(&crds).unwrap().map(|file| file.unwrap().file_name()).collect::<Vec<_>>();
    let cases = [
        ("crds/new.json", "sqlite:a.db", "--audit-log: crds/new.json"),
        ("crds/wheelwright.lock", "sqlite:a.db", "--audit-log: crds/wheelwright.lock"),
        ("a.jsonl", "sqlite:crds/store.yaml", "--store: crds/store.yaml"),
        ("a.jsonl", "sqlite:crds/crd.yaml", "--store: crds/crd.yaml"),
    ];
    for (log, store, expected) in cases {
        let said = not_started_with(folder.path(), &["--audit-log", log, "--store", store, "--catalog", "crds"]);
        assert!(said.contains(&format!("error: {expected} is read as a file of the catalog")), "{said}");
        assert_eq!(files(), ["crd.yaml"]);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no file is created");
    }
    // Other names in the folder are nothing to the catalog.
    let (store, log) = (crds.join("store.db"), crds.join("audit.jsonl"));
    drop(Server::serving(&crds, &store, &["--audit-log", log.to_str().unwrap()]));
    drop(Server::serving(&crds, &store, &["--audit-log", log.to_str().unwrap()]));
}

/// The errors of a server that must not start with an audit log.
fn not_started(folder: &Path, log: &str) -> String {
    let catalog = webapps().canonicalize().unwrap();
    not_started_with(folder, &["--audit-log", log, "--store", "sqlite:a.db", "--catalog", catalog.to_str().unwrap()])
}

/// The errors of a server that must not start with some options.
fn not_started_with(folder: &Path, options: &[&str]) -> String {
    // A server that does not end is killed, with another exit code.
    let output = Command::new("timeout")
        .args(["--signal=KILL", "30", env!("CARGO_BIN_EXE_wheelwright"), "serve", "--listen", "127.0.0.1:0"])
        .args(options)
        .current_dir(folder)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    said
}
