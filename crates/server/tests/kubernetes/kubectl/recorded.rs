//! What kubectl printed against a real API server, printed against ours.

use std::{collections::BTreeMap, fs, path::Path, thread, time::Duration};

use regex::Regex;
use serde_json::Value;

use super::{Kubectl, Outcome};
use crate::support::{Running, recordings};

/// Files that commands name: their documents, each with kind, metadata and spec.
const FILES: [(&str, &[[&str; 4]]); 12] = [
    ("w.yaml", &[widget("{name: k1, labels: {app: demo}}", "{replicas: 2, size: small}")]),
    ("w2.yaml", &[widget("{name: k2, labels: {app: demo}}", "{replicas: 2, size: large}")]),
    ("bad.yaml", &[widget("{name: kbad, labels: {app: demo}}", "{replicas: 2, size: tiny}")]),
    ("unk.yaml", &[widget("{name: kunk, labels: {app: demo}}", "{bogus: 1, replicas: 2, size: small}")]),
    ("a.yaml", &[widget("{name: ka, labels: {app: demo}}", "{replicas: 2, size: small}")]),
    ("a2.yaml", &[widget("{name: ka, labels: {app: demo}}", "{replicas: 4, size: small}")]),
    ("a3.yaml", &[widget("{name: ka, labels: {app: demo}}", "{size: small}")]),
    ("s.yaml", &[widget("{name: ks, labels: {app: demo}}", "{replicas: 2, size: small}")]),
    ("k2.yaml", &[widget("{name: k2}", "{size: small}")]),
    ("kf.yaml", &[widget("{name: kf, finalizers: [example.com/f]}", "{size: small}")]),
    (
        "others.yaml",
        &[
            widget("{name: kg}", "{size: small}"),
            widget("{name: ko}", "{size: small}"),
            widget("{name: kn}", "{size: small}"),
            widget("{name: kx}", "{size: small}"),
            widget("{name: kl, labels: {z: '1'}}", "{size: small}"),
        ],
    ),
    (
        "multi.yaml",
        &[
            ["shop.example.com/v1", "Gadget", "{name: g1}", "{host: h}"],
            ["infra.example.com/v1alpha1", "ClusterThing", "{name: kc1}", "{ports: [{port: 80}]}"],
            ["shop.example.com/v1beta1", "Gadget", "{name: g2}", "{host: h}"],
        ],
    ),
];

const fn widget(metadata: &'static str, spec: &'static str) -> [&'static str; 4] {
    ["shop.example.com/v1", "Widget", metadata, spec]
}

/// What was done between commands, by the name of the command before which it was.
const BEFORE: [(&str, &str); 7] = [
    (
        "describe",
        r#"kubectl patch wg k1 --subresource=status --type=merge -p '{"status":{"ready":true,"replicas":2}}'"#,
    ),
    ("diff", "kubectl create -f s.yaml"),
    (
        "wait-condition",
        r#"kubectl patch wg k1 --subresource=status --type=merge -p '{"status":{"conditions":[{"type":"Ready","status":"True"}]}}'"#,
    ),
    ("wait-selector", "kubectl delete wg k2"),
    ("delete", "kubectl create -f k2.yaml"),
    ("delete-finalizer-waits", "kubectl create -f kf.yaml && kubectl create -f others.yaml"),
    (
        "delete-now",
        r#"kubectl patch wg kg --type=merge -p '{"metadata":{"finalizers":null}}' && kubectl patch wg ko --type=merge -p '{"metadata":{"finalizers":null}}'"#,
    ),
];

/// What was done during commands, by their names.
const DURING: [(&str, &str); 3] = [
    ("wait-delete", "kubectl delete wg k2"),
    ("wait-create", "kubectl create -f k2.yaml"),
    ("delete-finalizer-waits", r#"kubectl patch wg kf --type=merge -p '{"metadata":{"finalizers":null}}'"#),
];

/// Commands that are not tried, by what their names begin with, and why.
const NOT_TRIED: [(&str, &str); 12] = [
    ("api-resources-cold", "lists kinds that are built into the real server"),
    ("api-resources-again", "the same as before"),
    ("api-resources", "lists kinds that are built into the real server"),
    ("api-versions", "lists kinds that are built into the real server"),
    ("version", "tells which server it is"),
    ("get-json-managed", "managed fields are left for later"),
    ("get-raw", "managed fields are left for later"),
    ("get-all-namespaces", "shows what other recordings left behind"),
    ("get-watch", "ended by a signal; a day with kubectl has watches"),
    ("ssa-", "server-side apply is left for later"),
    ("diff-server-side", "server-side apply is left for later"),
    ("auth-can-i", "asks for a kind that is built into the real server"),
];

/// Commands that print something else, and why.
const DIFFERENT: [(&str, &str); 9] = [
    ("create-invalid", OWN_WORDS),
    ("apply-invalid", OWN_WORDS),
    ("patch-invalid", OWN_WORDS),
    ("patch-json-test-fails", "says which operation failed, and why"),
    ("scale-over-max", OWN_WORDS),
    ("diff", "shows what server-side apply did before, which is left for later"),
    ("patch-default-strategic", "names the sorts of patches that there are, and server-side apply is left for later"),
    ("explain-recursive", "managed fields are left for later"),
    ("explain-cluster", "managed fields are left for later"),
];
const OWN_WORDS: &str = "says in our own words what is wrong with a value";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kubectl_prints_what_it_prints_with_a_real_server() {
    let Some(recordings) = recordings() else {
        println!("recorded commands of kubectl: SKIPPED");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(recordings.join("crds")).unwrap().map(Result::unwrap) {
        fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    let running = Running::of(folder.path()).await;
    let kubectl = Kubectl::at(running.address, "t-kubectl");
    let file = recordings.join(format!("kubectl/kubectl-1.{}.json", kubectl.minor));
    let Ok(text) = fs::read_to_string(&file) else {
        println!("recorded commands of kubectl: SKIPPED, for there are none of version 1.{}", kubectl.minor);
        return;
    };
    for (name, documents) in FILES {
        let documents = documents.iter().map(|[api_version, kind, metadata, spec]| {
            format!("apiVersion: {api_version}\nkind: {kind}\nmetadata: {metadata}\nspec: {spec}\n")
        });
        kubectl.write(name, &documents.collect::<Vec<_>>().join("---\n"));
    }
    let recorded: Value = serde_json::from_str(&text).unwrap();
    let mut tally = Tally::default();
    for command in recorded["commands"].as_array().unwrap() {
        tally.command(command, &kubectl);
    }
    tally.report();
}

#[derive(Default)]
struct Tally {
    same: usize,
    not_tried: BTreeMap<&'static str, usize>,
    different: usize,
    problems: Vec<String>,
}

impl Tally {
    fn command(&mut self, recorded: &Value, kubectl: &Kubectl) {
        let name = recorded["name"].as_str().unwrap();
        for (_, line) in BEFORE.iter().filter(|(before, _)| *before == name) {
            let prepared = kubectl.shell(line);
            assert_eq!(prepared.code, 0, "{line}: {prepared:?}");
        }
        let is_named = |listed: &str| listed == name || listed.ends_with('-') && name.starts_with(listed);
        let is_left_out = |listed: &str| is_named(listed) || listed == "get-watch" && name.starts_with(listed);
        if let Some((_, reason)) = NOT_TRIED.iter().find(|(listed, _)| is_left_out(listed)) {
            *self.not_tried.entry(reason).or_default() += 1;
            return;
        }
        let line = recorded["command"].as_str().unwrap();
        let outcome = thread::scope(|scope| {
            for (_, meanwhile) in DURING.iter().filter(|(during, _)| *during == name) {
                scope.spawn(|| {
                    thread::sleep(Duration::from_secs(2));
                    kubectl.shell(meanwhile)
                });
            }
            match recorded["editor"].as_str() {
                Some(what) => {
                    let editor = if what.contains('7') { "sed -i 's/replicas: .*/replicas: 7/'" } else { "true" };
                    kubectl.edit(editor, &line.split(' ').skip(1).collect::<Vec<_>>())
                }
                None => kubectl.shell(line),
            }
        });
        let differences = differences(name, recorded, &outcome);
        let listed = DIFFERENT.iter().any(|(listed, _)| *listed == name);
        match (listed, differences.is_empty()) {
            (false, true) => self.same += 1,
            (true, false) => self.different += 1,
            (true, true) => self.problems.push(format!("{name} is listed, and prints the same")),
            (false, false) => self.problems.push(format!("{name}: {line}\n{differences}")),
        }
    }

    fn report(&self) {
        let Self { same, not_tried, different, problems } = self;
        let left_out: usize = not_tried.values().sum();
        println!(
            "recorded commands of kubectl: {same} the same, {different} different for a known reason, {left_out} not tried"
        );
        if let Some(path) = std::env::var_os("WHEELWRIGHT_REPLAY_REPORT") {
            fs::write(Path::new(&path), problems.join("\n\n")).unwrap();
        }
        assert!(problems.is_empty(), "{same} the same, {} not:\n{}", problems.len(), problems.join("\n\n"));
    }
}

fn differences(name: &str, recorded: &Value, outcome: &Outcome) -> String {
    let mut found = String::new();
    if recorded["exit"] != outcome.code {
        found += &format!("  exit {}, not {}\n", outcome.code, recorded["exit"]);
    }
    for (stream, ours) in [("stdout", &outcome.stdout), ("stderr", &outcome.stderr)] {
        let (theirs, ours) = (normal(name, recorded[stream].as_str().unwrap()), normal(name, ours));
        if theirs != ours {
            found += &format!("  {stream}:\n{ours}\n  instead of:\n{theirs}\n");
        }
    }
    found
}

/// A text without what is another one every time.
fn normal(name: &str, text: &str) -> String {
    let is_title = Regex::new(r"^[A-Z]+: \S").unwrap();
    let mut text = text.to_owned();
    for (pattern, instead) in [
        (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| \+0000)", "TIME"),
        (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UID"),
        (r"(resourceVersion: |Resource Version: +)\S+", "${1}REVISION"),
        (r"\b\d+[smhdy](\d+[smhdy])?\b", "AGE"),
        (r"\S*(LIVE|MERGED)-\d+\S*", "$$TMP"),
        (r"(?m) +$", ""),
        (r"(\S) {2,}", "$1 "),
    ] {
        text = Regex::new(pattern).unwrap().replace_all(&text, instead).into_owned();
    }
    let mut lines: Vec<&str> = text.lines().collect();
    match name {
        // What fields are for is told in other words.
        _ if name.starts_with("explain") => lines.retain(|line| line.contains("\t<") || is_title.is_match(line)),
        // kubectl shuffles them.
        "label-list" => lines.sort_unstable(),
        _ => {}
    }
    lines.join("\n")
}
