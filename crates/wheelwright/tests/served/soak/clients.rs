//! The clients: they write, watch, list and read slowly, and go on when the server is back.

use std::{
    collections::BTreeMap,
    io, mem,
    sync::atomic::Ordering,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{Happened, Log, Soak, stream::Stream, stream::get};
use crate::server::{Client, apps, connect};

/// The object that is written when all else is.
pub(super) const LAST: &str = "last";
/// The objects of a writer.
const OBJECTS: usize = 25;
/// How long a client waits between two requests.
const PAUSE: Duration = Duration::from_millis(8);
/// How long a client waits for a server that is killed.
const ABSENCE: Duration = Duration::from_secs(60);

/// The number that an object was written with last.
pub(super) fn number_of(object: &Value) -> u64 {
    object["spec"]["image"].as_str().and_then(|image| image.split(' ').next()?.parse().ok()).unwrap()
}

fn image(number: u64) -> String {
    format!("{number} {}", "x".repeat(400))
}

fn object(name: &str, number: u64) -> Value {
    let metadata = json!({"name": name, "labels": {"soak": "yes"}});
    json!({"apiVersion": "apps.example.com/v1", "kind": "WebApp", "metadata": metadata, "spec": {"image": image(number)}})
}

/// A writer, and what it knows of its objects.
struct Writer<'s> {
    soak: &'s Soak,
    client: Option<Client>,
    /// The number of each object that is there.
    there: BTreeMap<String, u64>,
}

/// Creates, changes and deletes objects until it is told to end.
pub(super) fn write(soak: &Soak, writer: usize) {
    let mut own = Writer { soak, client: None, there: BTreeMap::new() };
    for number in 1.. {
        if soak.writers_end() {
            return;
        }
        let name = format!("w{writer}-{}", number as usize * 7 % OBJECTS);
        let is_deleted = number % 11 == 0 && own.there.contains_key(&name);
        own.write(&name, number, is_deleted);
        thread::sleep(PAUSE);
    }
}

/// Writes the object that tells watchers that there is nothing more.
pub(super) fn write_last(soak: &Soak) {
    Writer { soak, client: None, there: BTreeMap::new() }.write(LAST, 1, false);
}

impl Writer<'_> {
    fn write(&mut self, name: &str, number: u64, is_deleted: bool) {
        let path = format!("{}/{name}", apps());
        let (method, path, body) = match self.there.contains_key(name) {
            _ if is_deleted => ("DELETE", path, String::new()),
            true => ("PATCH", path, json!({"spec": {"image": image(number)}}).to_string()),
            false => ("POST", apps().to_owned(), object(name, number).to_string()),
        };
        let is_done = match self.request(method, &path, &body) {
            Ok((status, body)) => {
                assert!([200, 201].contains(&status), "{method} {path}: {status} {body}");
                true
            }
            // The server was killed: was it done?
            Err(_) => self.is_done(name, number, is_deleted),
        };
        if !is_done {
            return;
        }
        let happened = match is_deleted {
            true => {
                self.there.remove(name);
                Happened::Deleted
            }
            false => {
                self.there.insert(name.to_owned(), number);
                Happened::Written(number)
            }
        };
        self.soak.log.lock().unwrap().entry(name.to_owned()).or_default().push(happened);
    }

    fn request(&mut self, method: &str, path: &str, body: &str) -> io::Result<(u16, String)> {
        self.soak.requests.fetch_add(1, Ordering::Relaxed);
        let mut client = match self.client.take() {
            Some(client) => client,
            None => connect(self.soak.address())?,
        };
        let answered = client.request(method, path, body)?;
        self.client = Some(client);
        Ok(answered)
    }

    /// Whether a write was done whose answer was lost. What was acknowledged before must be there in any case.
    fn is_done(&mut self, name: &str, number: u64, is_deleted: bool) -> bool {
        let (status, body) = until_back(|| self.request("GET", &format!("{}/{name}", apps()), ""));
        let before = self.there.get(name).copied();
        let now = (status == 200).then(|| number_of(&serde_json::from_str(&body).unwrap()));
        let wanted = if is_deleted { None } else { Some(number) };
        assert!(now == wanted || now == before, "{name}: {now:?} is neither {before:?} nor {wanted:?}");
        now == wanted
    }
}

/// Tries until the server is back.
fn until_back<T>(mut attempt: impl FnMut() -> io::Result<T>) -> T {
    let began = Instant::now();
    loop {
        match attempt() {
            Ok(done) => return done,
            Err(error) => assert!(began.elapsed() < ABSENCE, "the server does not come back: {error}"),
        }
        thread::sleep(Duration::from_millis(100));
    }
}

/// Watches from a revision on until the last object is written, across all connections.
pub(super) fn watch(soak: &Soak, watcher: usize, from: String) -> Log {
    let (mut seen, mut revision) = (Log::default(), from);
    let mut heard = Instant::now();
    let query = match watcher % 2 {
        0 => "",
        _ => "&labelSelector=soak%3Dyes",
    };
    loop {
        // Some connections end by themselves.
        let seconds = 5 + 20 * watcher;
        let path = format!(
            "{}?watch=1&allowWatchBookmarks=true&timeoutSeconds={seconds}&resourceVersion={revision}{query}",
            apps()
        );
        let ended = Stream::open(soak.address(), &path, "application/json").and_then(|mut stream| {
            while let Some(line) = stream.line()? {
                heard = Instant::now();
                if take(&line, &mut revision, &mut seen) {
                    return Ok(true);
                }
            }
            Ok(false)
        });
        if let Ok(true) = ended {
            return seen;
        }
        assert!(heard.elapsed() < ABSENCE * 2, "watcher {watcher} hears nothing: {ended:?}");
        soak.reconnects.fetch_add(1, Ordering::Relaxed);
        thread::sleep(Duration::from_millis(50));
    }
}

/// Takes an event down; true for the last one.
fn take(line: &[u8], revision: &mut String, seen: &mut Log) -> bool {
    let event: Value = serde_json::from_slice(line).unwrap();
    let object = &event["object"];
    let happened = match event["type"].as_str().unwrap() {
        "ADDED" | "MODIFIED" => Happened::Written(number_of(object)),
        "DELETED" => Happened::Deleted,
        "BOOKMARK" => {
            *revision = object["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
            return false;
        }
        _ => panic!("{event}"),
    };
    let own = object["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
    let before = mem::replace(revision, own);
    let [before, own] = [&before, &*revision].map(|text| text.parse::<u64>().unwrap());
    assert!(own > before, "an event of {own} comes after one of {before}");
    let name = object["metadata"]["name"].as_str().unwrap();
    seen.entry(name.to_owned()).or_default().push(happened);
    name == LAST
}

/// Lists objects in several forms, whole and in pages.
pub(super) fn lists(soak: &Soak, lister: usize) {
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
    while !soak.all_end() {
        soak.requests.fetch_add(1, Ordering::Relaxed);
        let listed = match lister % 2 {
            0 => list_in_pages(soak),
            _ => {
                Stream::open(soak.address(), &format!("{}?labelSelector=soak", apps()), table).and_then(|mut stream| {
                    while stream.piece()?.is_some() {}
                    Ok(())
                })
            }
        };
        // The server may have been killed meanwhile.
        soak.lists.fetch_add(usize::from(listed.is_ok()), Ordering::Relaxed);
        thread::sleep(PAUSE * 5);
    }
}

fn list_in_pages(soak: &Soak) -> io::Result<()> {
    let mut next = String::new();
    loop {
        let page = get(soak.address(), &format!("{}?limit=20{next}", apps()))?;
        next = match page["metadata"]["continue"].as_str().unwrap_or_default() {
            "" => return Ok(()),
            token => format!("&continue={token}"),
        };
    }
}

/// Asks for lists and watches, and reads a few bytes of them a second, or nothing.
pub(super) fn read_slowly(soak: &Soak, reader: usize) {
    while !soak.all_end() {
        soak.requests.fetch_add(1, Ordering::Relaxed);
        let path = match reader % 3 {
            0 => apps().to_owned(),
            _ => format!("{}?watch=1&timeoutSeconds=20", apps()),
        };
        let Ok(mut stream) = Stream::open(soak.address(), &path, "application/json") else {
            thread::sleep(PAUSE * 10);
            continue;
        };
        for _ in 0..50 {
            if soak.all_end() || reader % 3 != 1 && stream.some().is_ok_and(|count| count == 0) {
                break;
            }
            thread::sleep(Duration::from_millis(200));
        }
    }
}
