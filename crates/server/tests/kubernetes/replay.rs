//! What a real API server answered, asked of ours: the same status, and the same meaning of the body.

use std::{collections::BTreeMap, fs, io::Write as _, time::Duration};

use serde_json::{Value, json};
use wheelwright_document::{Arena, Decode, decode_yaml, encode};
use wheelwright_store::{Key, Store};

use crate::{
    client::{Answered, begin},
    compare::Names,
    differences::{DIFFERENT, NOT_SENT},
    exchange::Exchange,
    support::{Running, recordings},
};

/// In the order in which they were recorded.
const TOPICS: [&str; 8] = ["create", "get", "list", "watch", "update", "patch", "delete", "errors"];
/// Before these, the real server had forgotten what was before.
const COMPACTED: [&str; 1] = ["list 149"];
/// What becomes of server-side apply.
const APPLY: (&str, &str) = ("server-side apply is left for later", "415 UnsupportedMediaType");
/// For how long nothing comes from a watch that has told all.
const QUIET: Duration = Duration::from_millis(150);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_real_server_answered_the_same() {
    let Some(recordings) = recordings() else {
        tell("the recordings of a real API server are not there: nothing is compared");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(recordings.join("crds")).unwrap().map(Result::unwrap) {
        fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    let mut replay =
        Replay { running: Running::of(folder.path()).await, names: Names::default(), tally: Tally::default() };
    // Revision 1 is too old to be watched from, as it was on the real server.
    replay.forget().await;
    for topic in TOPICS {
        for exchange in Exchange::of_topic(&recordings, topic) {
            replay.exchange(&exchange).await;
        }
    }
    replay.tally.report();
}

struct Replay {
    running: Running,
    names: Names,
    tally: Tally,
}

#[derive(Default)]
struct Tally {
    equal: usize,
    setup: usize,
    /// By reason.
    listed: BTreeMap<&'static str, usize>,
    problems: Vec<String>,
}

impl Replay {
    /// Makes the store forget all that was.
    async fn forget(&self) {
        for _ in 0..20 {
            let key = Key::new("nobody/knows").unwrap();
            let revision = self.running.store.create(&key, Vec::new()).await.unwrap();
            self.running.store.delete(&key, &revision).await.unwrap();
        }
        self.running.store.compact();
    }

    async fn exchange(&mut self, exchange: &Exchange) {
        let id = exchange.id.as_str();
        if let Some((reason, _)) = NOT_SENT.iter().find(|(_, ids)| ids.contains(&id)) {
            *self.tally.listed.entry(reason).or_default() += 1;
            return;
        }
        if COMPACTED.contains(&id) {
            self.forget().await;
        }
        let (differences, outcome) = match exchange.is_watch() {
            true => self.watch(exchange).await,
            false => {
                let answered = self.send(exchange).await;
                let differences = self.compare(exchange, &answered);
                if !differences.is_empty() {
                    self.catch_up(exchange, &answered).await;
                }
                (differences, outcome(&answered))
            }
        };
        let in_list = |(reason, ids): &(&'static str, &[(&str, &'static str)])| {
            ids.iter().find(|(listed, _)| *listed == id).map(|(_, outcome)| (*reason, *outcome))
        };
        let listed = DIFFERENT.iter().find_map(in_list).or(exchange.is_apply().then_some(APPLY));
        if let Some((_, expected)) = listed.filter(|(_, expected)| !differences.is_empty() && *expected != outcome) {
            self.tally
                .problems
                .push(format!("{id}: is listed as answered with {expected:?}, and now with {outcome:?}"));
        }
        match (listed.map(|(reason, _)| reason), differences.is_empty()) {
            (None, true) if exchange.is_setup => self.tally.setup += 1,
            (None, true) => self.tally.equal += 1,
            (Some(reason), false) => *self.tally.listed.entry(reason).or_default() += 1,
            (Some(_), true) if exchange.is_apply() => self.tally.equal += 1,
            (Some(reason), true) => {
                self.tally.problems.push(format!("{id}: is listed ({reason}), and answered as by the real server"));
            }
            (None, false) => {
                let Exchange { cause, method, path, .. } = exchange;
                let path: String = path.chars().take(160).collect();
                self.tally
                    .problems
                    .push(format!("{id} ({cause}): {method} {path}\n    {}", differences.join("\n    ")));
            }
        }
    }

    async fn send(&self, exchange: &Exchange) -> Answered {
        let body = exchange.body().map(|body| match exchange.request.get("body") {
            Some(json @ (Value::Object(_) | Value::Array(_))) if exchange.request.get("bodyText").is_none() => {
                serde_json::to_vec(&self.names.request(json)).unwrap()
            }
            _ => body,
        });
        let path = self.names.path(&exchange.path);
        begin(self.running.address, &exchange.method, &path, &exchange.headers, body.as_deref()).await.whole().await
    }

    /// How an answer differs from the one that was recorded.
    fn compare(&mut self, exchange: &Exchange, answered: &Answered) -> Vec<String> {
        let mut found = Vec::new();
        let Answered { status, body, .. } = answered;
        if exchange.status() != Some(*status) {
            let text: String = String::from_utf8_lossy(body).chars().take(500).collect();
            found.push(format!("status {status}, not {:?}: {text}", exchange.status()));
            return found;
        }
        let recorded = &exchange.response;
        if exchange.is_setup {
            let body = json_of(answered).unwrap_or_default();
            self.names.learn(&recorded["body"], &body);
            return found;
        }
        let old: Vec<&str> =
            recorded["headers"]["Warning"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let new = answered.all("warning");
        if old != new {
            found.push(format!("warnings {new:?}, not {old:?}"));
        }
        for name in ["Content-Type", "Retry-After"] {
            let media = |text: &str| text.split(';').next().unwrap_or_default().to_owned();
            let old = recorded["headers"][name].as_str().map(media);
            let new = answered.header(name).map(media);
            if old != new && !recorded["bodyBytes"].is_number() {
                found.push(format!("{name} {new:?}, not {old:?}"));
            }
        }
        let body = match (&recorded["body"], recorded["bodyText"].as_str()) {
            (Value::Null, None) => return found,
            (Value::Null, Some(text)) if is_yaml(answered) => match (yaml(text.as_bytes()), json_of(answered)) {
                (Some(old), Some(new)) => self.names.compare(&old, &new),
                _ => vec!["one of the answers is no YAML".to_owned()],
            },
            (Value::Null, Some(text)) if text.as_bytes() == body.as_slice() => Vec::new(),
            (Value::Null, Some(text)) => vec![format!("{:?}, not {text:?}", String::from_utf8_lossy(body))],
            (old, _) => match json_of(answered) {
                Some(new) => self.names.compare(old, &new),
                None => vec![format!("no JSON: {:?}", String::from_utf8_lossy(body))],
            },
        };
        found.extend(body);
        found
    }

    /// Brings about by other means what the real server did, so that what comes later can be compared.
    async fn catch_up(&mut self, exchange: &Exchange, answered: &Answered) {
        let recorded = exchange.status().unwrap_or(0);
        let path = exchange.path.split('?').next().unwrap_or_default().trim_end_matches('/');
        let is_dry_run = exchange.path.contains("dryRun=All");
        if recorded >= 300 && answered.status == 201 && !is_dry_run {
            let name = json_of(answered).and_then(|body| Some(body["metadata"]["name"].as_str()?.to_owned()));
            let name = name.expect("the name of what was created, to remove it");
            self.ask("DELETE", &format!("{path}/{name}"), None).await;
        }
        let wanted = &exchange.response["body"];
        if recorded >= 300
            || answered.status < 300
            || is_dry_run
            || exchange.method != "PATCH"
            || !wanted["spec"].is_object()
        {
            return;
        }
        let (object_path, is_status) = match path.strip_suffix("/status") {
            Some(path) => (path, true),
            None => (path, false),
        };
        let there = self.ask("GET", object_path, None).await;
        let mut wanted_here = wanted.clone();
        let metadata = wanted_here["metadata"].as_object_mut().unwrap();
        for key in [
            "managedFields",
            "uid",
            "resourceVersion",
            "creationTimestamp",
            "generation",
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
        ] {
            metadata.remove(key);
        }
        let done = match there["metadata"]["resourceVersion"].clone() {
            Value::Null => {
                let collection = object_path.rsplit_once('/').map_or(object_path, |(collection, _)| collection);
                self.ask("POST", collection, Some(&wanted_here)).await
            }
            version => {
                wanted_here["metadata"]["resourceVersion"] = version;
                self.ask("PUT", if is_status { path } else { object_path }, Some(&wanted_here)).await
            }
        };
        self.names.learn(wanted, &done);
    }

    async fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        let headers = [("Content-Type".to_owned(), "application/json".to_owned())];
        let body = body.map(|body| serde_json::to_vec(body).unwrap());
        let asked = begin(self.running.address, method, path, &headers, body.as_deref()).await;
        json_of(&asked.whole().await).unwrap_or_default()
    }

    /// How a watch differs from the one that was recorded, and what it came to.
    async fn watch(&mut self, exchange: &Exchange) -> (Vec<String>, String) {
        let path = self.names.path(&exchange.path);
        let mut coming = begin(self.running.address, &exchange.method, &path, &exchange.headers, None).await;
        coming.read_for(QUIET).await;
        let mut found = Vec::new();
        for done in &exchange.during {
            let answered = self.send(done).await;
            found.extend(self.compare(done, &answered));
        }
        coming.read_for(QUIET).await;
        let answered = coming.so_far();
        if answered.status != 200 {
            found.push(format!("status {}: {}", answered.status, String::from_utf8_lossy(&answered.body)));
            return (found, outcome(&answered));
        }
        let text = String::from_utf8_lossy(&answered.body).into_owned();
        let told: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let (old, new) = (told_of(exchange.events()), told_of(told));
        let kinds = |events: &[Value]| -> Vec<String> {
            events.iter().map(|event| event["type"].as_str().unwrap_or_default().to_owned()).collect()
        };
        if kinds(&old) != kinds(&new) {
            found.push(format!("events {:?}, not {:?}", kinds(&new), kinds(&old)));
        }
        for (old, new) in old.iter().zip(&new) {
            let kind = old["type"].as_str().unwrap_or_default();
            found.extend(self.names.compare(&json!({ kind: old["object"] }), &json!({ kind: new["object"] })));
        }
        (found, format!("{} {}", answered.status, kinds(&new).join(" ")))
    }
}

/// What an answer came to: its status, and the reason if it is a failure.
fn outcome(answered: &Answered) -> String {
    let reason = json_of(answered).and_then(|body| Some(body["reason"].as_str()?.to_owned())).unwrap_or_default();
    format!("{} {reason}", answered.status).trim_end().to_owned()
}

/// Events without bookmarks that come now and then.
fn told_of(events: Vec<Value>) -> Vec<Value> {
    let is_bookmark = |event: &Value| event["type"] == "BOOKMARK";
    let is_initial = |event: &Value| {
        let object = &event["object"];
        let rows = object["rows"][0]["object"]["metadata"]["annotations"].is_object();
        object["metadata"]["annotations"].is_object() || rows
    };
    events.into_iter().filter(|event| !is_bookmark(event) || is_initial(event)).collect()
}

fn is_yaml(answered: &Answered) -> bool {
    answered.header("content-type").is_some_and(|sort| sort.starts_with("application/yaml"))
}

fn json_of(answered: &Answered) -> Option<Value> {
    match is_yaml(answered) {
        true => yaml(&answered.body),
        false => serde_json::from_slice(&answered.body).ok(),
    }
}

fn yaml(text: &[u8]) -> Option<Value> {
    let arena = Arena::new();
    let documents = decode_yaml(text, &arena, &Decode::default()).ok()?;
    serde_json::from_slice(&encode(documents.first()?.to_value(&arena))).ok()
}

/// Says something to whoever asked for what tests say.
fn tell(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

impl Tally {
    fn report(&self) {
        let Self { equal, setup, listed, problems } = self;
        let differing: usize = listed.values().sum();
        let reasons: Vec<String> = listed.iter().map(|(reason, count)| format!("{count:4} {reason}")).collect();
        let summary = format!(
            "{setup} prepared, {equal} answered the same, {differing} otherwise for a known reason:\n{}\n{} problems:\n{}",
            reasons.join("\n"),
            problems.len(),
            problems.join("\n"),
        );
        tell(&summary);
        assert!(problems.is_empty(), "{summary}");
    }
}
