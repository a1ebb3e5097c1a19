//! What people and scripts see: every command, with its output and exit code, and every example in the documentation.
//!
//! `TRYCMD=overwrite cargo test --package wheelwright --test cli` writes down what the commands say now.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
};

#[test]
fn commands_say_what_they_should() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    // Examples are written for someone who stands at the root of the repository.
    std::env::set_current_dir(repository).unwrap();
    trycmd::TestCases::new()
        .env("NO_COLOR", "")
        .env("COLUMNS", "100")
        .case("crates/wheelwright/tests/cli/*.trycmd")
        .case("crates/wheelwright/tests/cli/*.toml")
        .case("docs/changes.md")
        .case("docs/check.md")
        .case("docs/cli.md")
        .case("docs/convert.md")
        .case("docs/hooks.md")
        .case("docs/testing.md")
        .case("README.md");
}

/// It writes files, so that it is run in a copy of the example.
#[test]
fn the_tour_of_migrations_works() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = tempfile::tempdir().unwrap();
    let (page, orders) = (folder.path().join("migrate.md"), folder.path().join("migrate.in"));
    std::fs::create_dir(&orders).unwrap();
    for file in ["changes.yaml", "crd.yaml", "order-v1.yaml", "wheelwright.lock", "wheelwright.yaml"] {
        std::fs::copy(repository.join("examples/orders").join(file), orders.join(file)).unwrap();
    }
    let original = repository.join("docs/migrate.md");
    std::fs::copy(&original, &page).unwrap();
    trycmd::TestCases::new().env("NO_COLOR", "").env("COLUMNS", "100").case(&page).run();
    if std::env::var_os("TRYCMD").is_some_and(|mode| mode == "overwrite") {
        std::fs::copy(&page, original).unwrap();
    }
}

#[test]
fn a_run_that_was_left_is_a_finding_until_it_is_done() {
    use wheelwright::store::{Key, Sqlite, SqliteOptions, Store};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("orders.db");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = Sqlite::open(&path, SqliteOptions::default()).unwrap();
        let left = r#"{"$sweep":1,"hub":"v3","fingerprint":"of another catalog","run":4,"startedAt":"2026-01-01T00:00:00Z",
            "updatedAt":"2026-01-01T00:00:00Z","total":7,"done":2,"converted":1,"unchanged":1,"gone":0,"problemCount":0,
            "problems":[],"isAtEnd":false,"claims":[]}"#;
        let key = Key::new("$wheelwright/sweeps/shop.example.com/Order").unwrap();
        store.create(&key, left.as_bytes().to_vec()).await.unwrap();
    });
    let run = |what: &str| {
        let store = format!("sqlite:{}", path.display());
        let mut command = wheelwright();
        let orders = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/orders");
        let output = command.current_dir(orders).args(["migrate", what, "--store", &store]).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let counts = "          1  converted\n          1  at v3 already\n";
    let status = format!("Order: run 4 to v3 is not done: 2 of 7 records\n{counts}");
    assert_eq!(run("status"), (Some(1), status));
    assert_eq!(run("run").0, Some(0));
    assert_eq!(run("status").0, Some(0));
}

#[test]
fn what_cannot_be_converted_is_listed_and_the_rest_is_converted() {
    use wheelwright::store::{Key, Sqlite, SqliteOptions, Store};
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("orders.db");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = Sqlite::open(&path, SqliteOptions::default()).unwrap();
        let plain =
            r#"{"apiVersion":"shop.example.com/v1","kind":"Order","metadata":{"name":"plain"},"spec":{"qty":3}}"#;
        for (name, value) in [("damaged", "{"), ("newer", r#"{"$wheelwright":9}"#), ("plain", plain)] {
            let key = Key::new(format!("shop.example.com/Order/{name}")).unwrap();
            store.create(&key, value.as_bytes().to_vec()).await.unwrap();
        }
    });
    let run = |what: &[&str]| {
        let store = format!("sqlite:{}", path.display());
        let mut command = wheelwright();
        command.current_dir(repository.join("examples/orders")).args(what).args(["--store", &store]);
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let damaged = "damaged: the record is no JSON: expected a key in quotes at line 1, column 2";
    let newer = "newer: a newer release wrote the record, in format 9; this one knows formats up to 1: update it";
    let listed = format!("          2  cannot be converted:\n             {damaged}\n             {newer}\n");
    let plan = "Order: 1 of 3 records to be brought to v3\n          1  documents of v1 without a record\n          0  at v3 already\n";
    assert_eq!(run(&["migrate", "plan"]), (Some(1), format!("{plan}{listed}")));
    let done = "Order: run 1 to v3 is done: 3 records\n          1  converted\n          0  at v3 already\n";
    assert_eq!(run(&["migrate", "run"]), (Some(1), format!("{done}{listed}")));
    assert_eq!(run(&["migrate", "status"]), (Some(1), format!("{done}{listed}")));
    assert_eq!(run(&["store", "list"]), (Some(1), "Order plain v1\n".to_owned()));
    assert_eq!(run(&["migrate", "verify"]).0, Some(1));
}

#[test]
fn what_is_damaged_can_be_looked_at_removed_and_replaced() {
    use wheelwright::store::{Key, Sqlite, SqliteOptions, Store};
    let orders = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/orders");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("orders.db");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = Sqlite::open(&path, SqliteOptions::default()).unwrap();
        let key = Key::new("shop.example.com/Order/default/books").unwrap();
        store.create(&key, b"{damaged\xff".to_vec()).await.unwrap();
    });
    let run = |what: &[&str]| {
        let store = format!("sqlite:{}", path.display());
        let output = wheelwright().current_dir(&orders).args(what).args(["--store", &store]).output().unwrap();
        (output.status.code(), output.stdout, String::from_utf8(output.stderr).unwrap())
    };
    for refused in [&["put", "order-v1.yaml"][..], &["get", "default/books"], &["delete", "default/books"]] {
        let (code, data, said) = run(&[&["store"], refused].concat());
        assert_eq!((code, data), (Some(1), Vec::new()), "{refused:?}");
        assert!(said.starts_with("error: default/books: the record is no JSON") && said.contains("--force"), "{said}");
    }
    assert_eq!(run(&["store", "get", "--raw", "default/books"]).1, b"{damaged\xff");
    assert_eq!(
        run(&["store", "delete", "--force", "default/books"]),
        (Some(0), b"default/books\n".to_vec(), String::new())
    );
    let said = "default/books names no namespace: it is stored in default\n".to_owned();
    assert_eq!(run(&["store", "put", "order-v1.yaml"]), (Some(0), b"default/books\n".to_vec(), said));
}

#[test]
fn damaged_records_are_listed_and_repaired_from_the_log_or_a_backup() {
    use wheelwright::store::{Key, Sqlite, SqliteOptions, Store};
    let orders = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/orders");
    let folder = tempfile::tempdir().unwrap();
    let [store, backup] =
        ["orders.db", "backup.db"].map(|name| format!("sqlite:{}", folder.path().join(name).display()));
    let run = |what: &[&str]| {
        let output =
            wheelwright().current_dir(&orders).arg("store").args(what).args(["--store", &store]).output().unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap().replace(&format!("{}/", folder.path().display()), "");
        (output.status.code(), stdout, String::from_utf8(output.stderr).unwrap())
    };
    let said = |text: &str| text.to_owned();
    for name in ["default/one", "default/two"] {
        assert_eq!(run(&["put", "order-v1.yaml", "--name", name]).0, Some(0));
    }
    assert_eq!(run(&["repair"]), (Some(0), said("2 records: none is damaged\n"), String::new()));
    assert_eq!(run(&["backup", &folder.path().join("backup.db").display().to_string()]).0, Some(0));
    assert_eq!(run(&["delete", "default/two"]).0, Some(0));

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = Sqlite::open(folder.path().join("orders.db"), SqliteOptions::default()).unwrap();
        let key = |name: &str| Key::new(format!("shop.example.com/Order/default/{name}")).unwrap();
        let one = store.get(&key("one")).await.unwrap().unwrap();
        store.replace(&key("one"), &one.revision, b"{one".to_vec()).await.unwrap();
        store.create(&key("two"), b"{two".to_vec()).await.unwrap();
        store.create(&key("three"), b"{three".to_vec()).await.unwrap();
    });
    let modified = |text: String| {
        let time = |line: &str| line.split_once(", modified at ").map_or(line, |(line, _)| line).to_owned();
        text.lines().map(time).collect::<Vec<_>>()
    };
    let (code, listed, _) = run(&["repair"]);
    assert_eq!(code, Some(1));
    let why = |name: &str| format!("the record is no JSON: {name}");
    let begins = |lines: &[String], expected: &[&str]| {
        assert_eq!(lines.len(), expected.len(), "{lines:#?}");
        for (line, begin) in lines.iter().zip(expected) {
            assert!(line.starts_with(begin), "{line:?} does not begin with {begin:?}");
        }
    };
    let none = "  no good copy; name a backup with --from";
    begins(
        &modified(listed),
        &[
            &format!("Order default/one is damaged at revision 5: {}", why("")),
            "  in the log: revision 2, an older one",
            "Order default/three is damaged at revision 7: ",
            none,
            "Order default/two is damaged at revision 6: ",
            none,
            "3 records: 3 damaged, 1 with a good copy, which --write puts in its place",
        ],
    );
    assert!(!folder.path().join("default_one.5.damaged").exists());

    // Nothing is replaced whose damaged bytes cannot be saved.
    std::fs::write(folder.path().join("default_one.5.damaged"), "other").unwrap();
    let (code, left, _) = run(&["repair", "--write"]);
    assert_eq!(code, Some(1));
    let refused =
        "  left unchanged: default_one.5.damaged: exists with other content; name another folder with --keep\n";
    assert!(left.contains(refused), "{left}");
    std::fs::remove_file(folder.path().join("default_one.5.damaged")).unwrap();

    let (code, repaired, _) = run(&["repair", "--write", "--from", &backup]);
    assert_eq!(code, Some(1));
    begins(
        &modified(repaired),
        &[
            "Order default/one is damaged at revision 5: ",
            "  in the log: revision 2, an older one",
            "  in the backup: revision 2, another one",
            "  repaired from revision 2 in the log, which is now revision 8; the damaged bytes are in default_one.5.damaged",
            "Order default/three is damaged at revision 7: ",
            "  no good copy",
            "Order default/two is damaged at revision 6: ",
            "  in the backup: revision 3, another one",
            "  repaired from revision 3 in the backup, which is now revision 9; the damaged bytes are in default_two.6.damaged",
            "3 records: 3 damaged, 2 repaired, 1 left",
        ],
    );
    assert_eq!(std::fs::read(folder.path().join("default_one.5.damaged")).unwrap(), b"{one");
    assert_eq!(std::fs::read(folder.path().join("default_two.6.damaged")).unwrap(), b"{two");
    assert_eq!(run(&["get", "default/two", "--as", "v1"]).0, Some(0));
    assert_eq!(run(&["delete", "--force", "default/three"]).0, Some(0));
    assert_eq!(run(&["repair"]), (Some(0), said("2 records: none is damaged\n"), String::new()));
    assert_eq!(run(&["repair", "--from", "sqlite:nowhere.db"]).0, Some(2));
}

#[cfg(unix)]
#[test]
fn a_run_that_is_interrupted_says_that_it_can_be_gone_on_with() {
    use wheelwright::store::{Key, Sqlite, SqliteOptions, Store};
    let orders = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/orders");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("orders.db");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = Sqlite::open(&path, SqliteOptions::default()).unwrap();
        for number in 0..100 {
            let key = Key::new(format!("shop.example.com/Order/{number}")).unwrap();
            store.create(&key, br#"{"apiVersion":"shop.example.com/v1","kind":"Order"}"#.to_vec()).await.unwrap();
        }
    });
    let command = |what: &[&str]| {
        let mut command = wheelwright();
        command.current_dir(&orders).arg("migrate").args(what).arg("--store");
        command.arg(format!("sqlite:{}", path.display()));
        command
    };
    let run = command(&["run", "--rate", "1"]).spawn().unwrap();
    let is_running = || {
        let status = command(&["status"]).output().unwrap().stdout;
        String::from_utf8(status).unwrap().contains("is not done")
    };
    while !is_running() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let interrupted = Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    let output = run.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert_eq!(said, "interrupted; the next wheelwright migrate run goes on where this one stopped\n");
    let finished = command(&["run"]).output().unwrap();
    assert_eq!(finished.status.code(), Some(0));
    assert!(String::from_utf8(finished.stdout).unwrap().starts_with("Order: run 1 to v3 is done: 100 records\n"));
}

/// The tour is run above; this is what a newcomer types before it, without the build.
#[test]
fn nobody_reading_on_is_no_error_and_hides_none() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/webapp/bad-crd.yaml");
    let mut child = wheelwright().arg("check").arg(path).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said.lines().next(), Some("checked 1 definition in 1 file: 4 errors, 1 warning, 2 notes"));
}

#[test]
fn a_script_can_wait_for_every_answer_of_schema_eval() {
    let mut child = wheelwright().args(["schema", "eval"]).spawn().unwrap();
    let mut questions = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for id in 0..3 {
        writeln!(questions, r#"{{"id": {id}, "schema": {{"type": "object"}}}}"#).unwrap();
        let answer = answers.next().unwrap().unwrap();
        assert_eq!(answer, format!(r#"{{"id":{id},"structural_errors":[],"default_errors":[]}}"#));
    }
    drop(questions);
    assert!(answers.next().is_none());
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_script_can_wait_for_every_document_of_convert() {
    let orders = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/orders");
    let mut child = wheelwright();
    child.args(["convert", "--lines", "--from", "v1", "--via", "v3", "--catalog"]).arg(orders);
    let mut child = child.spawn().unwrap();
    let mut documents = child.stdin.take().unwrap();
    let mut converted = BufReader::new(child.stdout.take().unwrap()).lines();
    for quantity in 0..3 {
        let document = format!(r#"{{"spec":{{"qty":{quantity}}}}}"#);
        writeln!(documents, "{document}").unwrap();
        assert_eq!(converted.next().unwrap().unwrap(), document);
    }
    drop(documents);
    assert!(converted.next().is_none());
    assert!(child.wait().unwrap().success());
}

#[test]
fn nobody_is_shown_a_hundred_thousand_findings() {
    let fields: Vec<String> = (0..100_000).map(|number| format!("\"u{number}\":1")).collect();
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut child = wheelwright();
    child.current_dir(repository).args([
        "validate",
        "--schema",
        "crates/wheelwright/tests/cli/files/empty-schema.yaml",
    ]);
    let mut child = child.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || write!(stdin, "{{{}}}", fields.join(",")).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said.matches("warning[WW101]").count(), 1000);
    assert!(said.contains("… and 99000 more; --format json writes them all\n"));
}

fn wheelwright() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wheelwright"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}
