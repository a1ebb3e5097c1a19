//! Two programs on one store print the same values for every record, always.

#![expect(clippy::unwrap_used, reason = "a test that meets a surprise should stop right there")]

#[path = "shared/example.rs"]
mod example;

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

use example::example;
use wheelwright_store::{Key, testing::PostgresServer};

/// A program that ends with its value, and what it prints.
struct Program {
    child: Child,
    lines: Receiver<String>,
}

impl Program {
    fn start(name: &str, store: &str) -> Self {
        let mut child = Command::new(example(name)).args(["--store", store]).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { child, lines }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What each revision of each record was printed as, and by whom.
#[derive(Default)]
struct Seen(BTreeMap<String, (String, Vec<String>)>);

impl Seen {
    /// Takes a line, and holds it against what was printed for the same revision before.
    fn take(&mut self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        let [record, values @ .., program, version] = &words[..] else { panic!("{line}") };
        let (first, by) = self.0.entry((*record).to_owned()).or_insert_with(|| (values.join(" "), Vec::new()));
        assert_eq!(*first, values.join(" "), "{program} {version} prints {record} otherwise than {by:?}");
        by.push(format!("{program} {version}"));
    }

    fn is_by_all(&self, record: &str) -> bool {
        self.0.get(record).is_some_and(|(_, by)| {
            ["front v1", "front v2", "back v2"].iter().all(|wanted| by.iter().any(|by| by == wanted))
        })
    }
}

fn runs(store: &str) {
    let back = Program::start("back", store);
    let mut front = Program::start("front", store);
    let (mut seen, mut last) = (Seen::default(), BTreeMap::new());
    for line in &front.lines {
        seen.take(&line);
        let record = line.split(' ').next().unwrap().to_owned();
        last.insert(record.split('@').next().unwrap().to_owned(), record);
    }
    assert!(front.child.wait().unwrap().success());
    assert_eq!(last.len(), 22);
    // Every last revision was printed by everybody, as soon as the back end has seen it.
    let until = Instant::now() + Duration::from_secs(60);
    while !last.values().all(|record| seen.is_by_all(record)) {
        match back.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(line) => seen.take(&line),
            Err(RecvTimeoutError::Timeout) => panic!("the back end has not seen {last:?}"),
            Err(RecvTimeoutError::Disconnected) => panic!("the back end has ended"),
        }
    }
    let values = |record: &str| seen.0[&last[record]].0.as_str();
    // As they were planted, with what was patched since: v1 left out false, and nobody says it is true.
    assert_eq!(values("omitempty"), "1 5 false 1 \"Ready\"");
    assert_eq!(values("older-release"), "1 20 true 1 \"Ready\"");
    drop(back);
    starts_again_and_goes_on(store, last.into_values().collect());
}

/// A back end that starts when there is more than a page of databases, and one that cannot be opened, sees to all others;
/// and to the next one after one was removed before it could see to it.
fn starts_again_and_goes_on(address: &str, mut databases: BTreeSet<String>) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let store = runtime.block_on(wheelwright::store::open(address)).unwrap();
    let create = |name: &str, value: &str| {
        let key = Key::new(format!("data.example.com/Database/{name}")).unwrap();
        runtime.block_on(store.create(&key, value.as_bytes().to_vec())).unwrap();
        key
    };
    create("damaged", "{");
    let back = Program::start("back", address);
    let next = || back.lines.recv_timeout(Duration::from_secs(60)).expect("the back end goes on");
    while !databases.is_empty() {
        databases.remove(next().split(' ').next().unwrap());
    }
    let database = r#"{"apiVersion":"data.example.com/v2","kind":"Database","spec":{"replicas":2}}"#;
    let gone = create("gone", database);
    // The back end may be quicker.
    while let Some(stored) = runtime.block_on(store.get(&gone)).unwrap() {
        let _ = runtime.block_on(store.delete(&gone, &stored.revision));
    }
    create("late", database);
    let is_seen_to = |line: &str| line.starts_with("late@") && line.contains(" 2 \"Ready\" ");
    while !is_seen_to(&next()) {}
}

#[test]
fn a_front_end_and_a_back_end_agree_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    runs(&format!("sqlite:{}", folder.path().join("databases.db").display()));
}

#[test]
fn a_front_end_and_a_back_end_agree_on_postgresql() {
    runs(&PostgresServer::shared().address("front_and_back"));
}
