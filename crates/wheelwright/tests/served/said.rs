//! What a server says when it starts.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
};

use serde_json::Value;

const BROKEN: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: tins.shop.example.com }
spec:
  group: shop.example.com
  names: { kind: Tin, plural: tins }
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                color: { type: string, default: 5 }
                size: { type: intger }
";

/// What a server says, on its way to standard error, before it tells where it is.
fn said(catalog: &str, options: &[&str]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("tins.yaml"), catalog).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_wheelwright"))
        .args(["serve", "--catalog", "tins.yaml", "--store", "sqlite:tins.db", "--listen", "127.0.0.1:0"])
        .args(options)
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("listening"), "{line}");
    // What it says of itself is said right after.
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let mut said = Vec::new();
    while said.last().is_none_or(|line: &String| !line.contains("serving")) {
        said.push(lines.next().unwrap());
    }
    child.kill().unwrap();
    child.wait().unwrap();
    said.extend(lines);
    said
}

#[test]
fn what_documents_will_be_refused_for_is_said_at_the_start() {
    let said = said(BROKEN, &[]);
    let has = |part: &str| said.iter().any(|line| line.contains(part));
    assert!(has("warning: tins.yaml:20:") && has("color"), "{said:?}");
    assert!(has("warning: tins.yaml:21:") && has("intger"), "{said:?}");
    assert!(has("wheelwright check tins.yaml says more"), "{said:?}");
    let mended = BROKEN.replace("default: 5", "default: red").replace("intger", "integer");
    let said = self::said(&mended, &[]);
    assert!(!said.iter().any(|line| line.contains("tins.yaml:")), "{said:?}");
}

#[test]
fn where_the_log_is_json_every_line_is() {
    let said = said(BROKEN, &["--log-format", "json"]);
    let lines: Vec<Value> = said.iter().map(|line| serde_json::from_str(line).expect(line)).collect();
    let warned = lines.iter().find(|line| line["level"] == "WARN").expect("a warning");
    assert!(warned["message"].as_str().is_some_and(|message| message.starts_with("tins.yaml:")), "{warned}");
    let helped =
        lines.iter().filter(|line| line["help"].as_str().is_some_and(|help| help.contains("wheelwright check")));
    assert_eq!(helped.count(), 1, "what to do is a field of what is wrong: {lines:?}");
    let served = lines.iter().find(|line| line["message"] == "serving").expect("what is served");
    assert!(served["kinds"] == 1 && served["url"].as_str().is_some_and(|url| url.starts_with("http://127.0.0.1:")));
    let is_flat =
        |line: &Value| line.as_object().unwrap().values().all(|value| !value.is_object() && !value.is_array());
    assert!(lines.iter().all(is_flat), "{lines:?}");
}

#[test]
fn the_examples_have_nothing_to_warn_of() {
    let catalog = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/webapp/crd.yaml");
    let said = said(&fs::read_to_string(catalog).unwrap(), &[]);
    assert!(!said.iter().any(|line| line.contains("tins.yaml:")), "{said:?}");
}

#[test]
fn hosts_that_have_no_effect_are_said_at_the_start() {
    let catalog = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/webapp/crd.yaml");
    let catalog = fs::read_to_string(catalog).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let access = folder.path().join("access.yaml").display().to_string();
    fs::write(&access, "users: []\n").unwrap();
    for (options, is_said) in [
        (&["--allow-host", "api.example.com", "--access", &access][..], true),
        (&["--allow-host", "api.example.com"], false),
        (&["--access", &access], false),
    ] {
        let said = said(&catalog, options);
        let is_there = said.iter().any(|line| line.contains("--allow-host has no effect with --access"));
        assert_eq!(is_there, is_said, "{options:?}: {said:?}");
    }
}
