//! A reader that closes its end early, as `head -1` does, changes neither exit codes nor what a command does.

use std::{
    io::{self, Write},
    path::Path,
    process::{Command, Stdio},
};

/// Commands of every sort, with their exit codes; run at the root of the repository.
const COMMANDS: &[(&[&str], i32)] = &[
    (&["check", "examples/orders"], 0),
    (&["check", "examples/webapp/bad-crd.yaml"], 1),
    (&["check", "examples/webapp/bad-crd.yaml", "--format", "json"], 1),
    (&["check", "examples/webapp/bad-crd.yaml", "--format", "sarif"], 1),
    (&["check", "examples/webapp/bad-crd.yaml", "--format", "github"], 1),
    (&["check", "crates/wheelwright/tests/cli/files/missing.yaml"], 2),
    (&["laws", "--catalog", "examples/orders", "--cases", "5000"], 0),
    (&["diff", "v1", "v2", "--catalog", "examples/orders"], 0),
    (&["diff", "v1", "v9", "--catalog", "examples/orders"], 2),
    (&["test", "--catalog", "examples/orders"], 0),
    (&["lock", "--check", "--catalog", "examples/orders"], 0),
    (&["lock", "--check", "--catalog", "examples/webapp/crd.yaml"], 1),
    (&["init", "examples/webapp", "--dry-run"], 0),
    (&["convert", "examples/orders/order-v1.yaml", "--catalog", "examples/orders", "--to", "v2"], 0),
    (&["convert", "examples/orders/order-v1.yaml", "--catalog", "examples/orders", "--to", "v9"], 2),
    (&["explain"], 0),
    (&["explain", "WW999"], 2),
    (&["completions", "bash"], 0),
    (&["--help"], 0),
    (&["check", "--unknown"], 2),
];

#[test]
fn exit_codes_are_those_of_an_open_pipe() {
    for (arguments, code) in COMMANDS {
        let open = command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        assert_eq!(open.code(), Some(*code), "{arguments:?}");
        let closed = command(arguments).stdout(closed_pipe()).stderr(Stdio::null()).status().unwrap();
        assert_eq!(closed.code(), Some(*code), "{arguments:?}, without standard output");
        let closed = command(arguments).stdout(Stdio::null()).stderr(closed_pipe()).status().unwrap();
        assert_eq!(closed.code(), Some(*code), "{arguments:?}, without standard error");
        let closed = command(arguments).stdout(closed_pipe()).stderr(closed_pipe()).status().unwrap();
        assert_eq!(closed.code(), Some(*code), "{arguments:?}, without either");
    }
}

#[test]
fn findings_after_the_pipe_was_closed_count() {
    let good = r#"{"apiVersion":"shop.example.com/v1","kind":"Order","metadata":{"name":"a"},"spec":{}}"#;
    let input = format!("{}not json\n", format!("{good}\n").repeat(2000));
    let arguments = ["convert", "--lines", "--catalog", "examples/orders", "--to", "v2"];
    let status = |stdout: Stdio| {
        let mut child = command(&arguments).stdin(Stdio::piped()).stdout(stdout).stderr(Stdio::null()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait().unwrap().code()
    };
    assert_eq!(status(closed_pipe()), status(Stdio::null()));
}

#[test]
fn every_document_is_stored_although_nobody_reads_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", folder.path().join("orders.db").display());
    let documents = folder.path().join("orders.yaml");
    let order = std::fs::read_to_string(repository().join("examples/orders/order-v1.yaml")).unwrap();
    let name = order.lines().find_map(|line| line.trim().strip_prefix("name: ")).unwrap().to_owned();
    let renamed = |number| order.replacen(&format!("name: {name}"), &format!("name: order-{number}"), 1);
    std::fs::write(&documents, (0..5).map(renamed).collect::<Vec<_>>().join("\n---\n")).unwrap();
    let place = ["--catalog", "examples/orders", "--store", &store];
    let put =
        command(&["store", "put", documents.to_str().unwrap()]).args(place).stdout(closed_pipe()).output().unwrap();
    assert_eq!(put.status.code(), Some(0), "{}", String::from_utf8_lossy(&put.stderr));
    let list = command(&["store", "list"]).args(place).output().unwrap();
    assert_eq!(String::from_utf8(list.stdout).unwrap().lines().count(), 5);
}

#[test]
fn endless_lines_end_with_their_reader() {
    let mut child = command(&["schema", "eval"]).stdin(Stdio::piped()).stdout(closed_pipe()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    while stdin.write_all(b"{\"id\": 1, \"schema\": {\"type\": \"object\"}}\n").is_ok() {}
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wheelwright"));
    command.args(arguments).stdin(Stdio::null()).current_dir(repository());
    command
}

/// The writing end of a pipe whose reading end is closed.
fn closed_pipe() -> Stdio {
    let (reader, writer) = io::pipe().expect("the system has pipes");
    drop(reader);
    writer.into()
}

fn repository() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
