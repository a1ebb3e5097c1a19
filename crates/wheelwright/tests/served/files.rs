//! Which files a server leaves, and who may read them.

use std::{
    fs,
    net::TcpListener,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    process::{Command, Output},
};

use crate::server::{Server, app, apps, webapps};

fn run(folder: &Path, arguments: &[&str]) -> Output {
    // A server that starts all the same would never end.
    let program = ["60", env!("CARGO_BIN_EXE_wheelwright")];
    Command::new("timeout").args(program).args(arguments).current_dir(folder).output().unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_command_that_is_refused_creates_no_store() {
    let folder = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    fs::write(folder.path().join("broken.yaml"), "kind: CustomResourceDefinition\n").unwrap();
    fs::write(folder.path().join("no-names.yaml"), "apiVersion: apps.example.com/v1\nkind: WebApp\nspec: {}\n")
        .unwrap();
    let refused =
        "apiVersion: apps.example.com/v1\nkind: WebApp\nmetadata: {name: a, namespace: b}\nspec: {image: 1}\n";
    fs::write(folder.path().join("refused.yaml"), refused).unwrap();
    symlink("new.db", folder.path().join("link")).unwrap();
    let before = names(folder.path());
    let (catalog, free) = (webapps().display().to_string(), "127.0.0.1:0");
    let serve: &[&[&str]] = &[
        &["--catalog", &catalog, "--listen", &taken],
        &["--catalog", &catalog, "--listen", &taken, "--audit-log", "audit.jsonl"],
        &["--catalog", &catalog, "--listen", free, "--audit-log", "audit.jsonl", "--access", "broken.yaml"],
        &["--catalog", &catalog, "--listen", free, "--audit-log", "nowhere/audit.jsonl"],
        &["--catalog", &catalog, "--listen", free, "--audit-log", "new.db"],
        &["--catalog", &catalog, "--listen", free, "--audit-log", "./new.db-wal"],
        &["--catalog", &catalog, "--listen", free, "--audit-log", "new.db-reserve"],
        &["--catalog", &catalog, "--listen", free, "--audit-log", "link"],
        &["--catalog", &catalog, "--listen", free, "--audit-log", "refused.yaml"],
        &["--catalog", &catalog, "--listen", "192.0.2.1:1"],
        &["--catalog", &catalog, "--listen", "0.0.0.0:0"],
        &["--catalog", "broken.yaml", "--listen", free],
        &["--catalog", "nowhere.yaml", "--listen", free],
        &["--catalog", &catalog, "--listen", free, "--tls-cert", "no.crt", "--tls-key", "no.key"],
        &["--catalog", &catalog, "--listen", free, "--access", "broken.yaml"],
        &["--catalog", &catalog, "--listen", free, "--source", "other=http://127.0.0.1:1/"],
        &["--catalog", &catalog, "--listen", free, "--public-url", "nowhere"],
    ];
    let store: &[&[&str]] = &[
        &["store", "get", "a/b", "--catalog", &catalog],
        &["store", "list", "--catalog", &catalog],
        &["store", "delete", "a/b", "--catalog", &catalog],
        &["store", "put", "no-names.yaml", "--catalog", &catalog],
        &["store", "put", "refused.yaml", "--catalog", &catalog],
        &["store", "backup", "backup.db"],
        &["store", "repair", "--catalog", &catalog],
        &["migrate", "plan", "--catalog", &catalog],
        &["migrate", "run", "--catalog", &catalog],
        &["migrate", "status", "--catalog", &catalog],
        &["migrate", "verify", "--catalog", &catalog],
        &["retire", "v1", "--catalog", &catalog],
    ];
    let serve = serve.iter().map(|arguments| [&["serve"], *arguments].concat());
    for arguments in serve.chain(store.iter().map(|arguments| arguments.to_vec())) {
        let output = run(folder.path(), &[&arguments[..], &["--store", "sqlite:new.db"]].concat());
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(1 | 2)), "{arguments:?}: {stderr}");
        assert_eq!(names(folder.path()), before, "{arguments:?}");
    }
}

#[test]
fn an_audit_log_is_no_file_that_has_another_use() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(webapps(), folder.path().join("crd.yaml")).unwrap();
    let mut server = Server::start(&folder.path().join("new.db"), &[]);
    assert_eq!(server.connect().unwrap().request("POST", apps(), &app("one", "a")).unwrap().0, 201);
    server.kill();
    fs::hard_link(folder.path().join("new.db"), folder.path().join("hard")).unwrap();
    // The server of a store that cannot be opened removes the audit log that it created, and no other.
    fs::write(folder.path().join("no-store.db"), "a text, and no database at all".repeat(9)).unwrap();
    fs::write(folder.path().join("kept.jsonl"), "").unwrap();
    let content = || -> Vec<_> {
        names(folder.path()).into_iter().map(|name| (fs::read(folder.path().join(&name)).unwrap(), name)).collect()
    };
    let before = content();
    for (store, audit, message) in [
        ("new.db", "new.db", "is a file of the store"),
        ("new.db", "new.db-wal", "is a file of the store"),
        ("new.db", "hard", "is a file of the store"),
        ("other.db", "new.db", "other content than audit lines"),
        ("new.db", "crd.yaml", "a file of the catalog"),
        ("no-store.db", "new.jsonl", "no SQLite database"),
        ("no-store.db", "kept.jsonl", "no SQLite database"),
    ] {
        let (store, free) = (format!("sqlite:{store}"), "127.0.0.1:0");
        let arguments = ["serve", "--catalog", "crd.yaml", "--listen", free, "--store", &store, "--audit-log", audit];
        let output = run(folder.path(), &arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && stderr.contains(message), "{arguments:?}: {stderr}");
        assert!(content() == before, "{arguments:?} changed a file: {:?}", names(folder.path()));
    }
}

#[test]
fn an_address_that_is_in_use_is_named_with_the_option_that_chooses_another() {
    let folder = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let catalog = webapps().display().to_string();
    let output = run(folder.path(), &["serve", "--catalog", &catalog, "--listen", &address]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    let begin = format!("error: cannot listen at {address}: Address already in use");
    assert!(stderr.contains(&begin) && stderr.contains("; choose another address with --listen; port 0"), "{stderr}");
    assert!(output.stdout.is_empty(), "a program that waits for the address is not misled");
}

#[test]
fn a_store_and_its_backup_are_for_their_owner_alone_whatever_the_umask() {
    let folder = tempfile::tempdir().unwrap();
    // Whoever may write here reads what others create.
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let store = folder.path().join("new.db");
    let server = Server::with_umask("000", &store);
    let mut client = server.connect().unwrap();
    assert_eq!(client.request("POST", apps(), &app("one", "first")).unwrap().0, 201);
    let backup =
        format!("umask 000; exec {} store backup copy.db --store sqlite:new.db", env!("CARGO_BIN_EXE_wheelwright"));
    let output = Command::new("sh").args(["-c", &backup]).current_dir(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(
        modes(folder.path()),
        ["copy.db 600", "new.db 600", "new.db-reserve 600", "new.db-shm 600", "new.db-wal 600"]
    );
    drop(server);
    // An operator who lets a group in is not overruled.
    fs::set_permissions(&store, fs::Permissions::from_mode(0o660)).unwrap();
    for name in ["new.db-shm", "new.db-wal"] {
        let _ = fs::remove_file(folder.path().join(name));
    }
    let server = Server::with_umask("077", &store);
    assert_eq!(
        modes(folder.path()),
        ["copy.db 600", "new.db 660", "new.db-reserve 600", "new.db-shm 660", "new.db-wal 660"]
    );
    drop(server);
}

/// Every file of a folder, with who may do what to it.
fn modes(folder: &Path) -> Vec<String> {
    let mode = |name: &String| fs::metadata(folder.join(name)).unwrap().permissions().mode() & 0o777;
    names(folder).iter().map(|name| format!("{name} {:o}", mode(name))).collect()
}

#[test]
fn memory_that_is_too_little_is_an_error_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let catalog = webapps().display().to_string();
    let refused = |options: &[&str]| {
        let output = run(folder.path(), &[&["serve", "--catalog", &catalog], options].concat());
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        stderr
    };
    let stderr = refused(&["--memory", "255MiB"]);
    assert!(stderr.contains("'255MiB' for '--memory <SIZE>': a server needs at least 256 MiB"), "{stderr}");
    let stderr = refused(&["--memory", "256MiB", "--max-body", "1572865"]);
    let message = "error: --max-body: the longest body that can be processed in 256 MiB of memory has 1.5 MiB";
    assert!(stderr.contains(message), "{stderr}");
    let stderr = refused(&["--max-body", "0"]);
    assert!(stderr.contains("expected a size of at least 1 byte"), "{stderr}");
    assert_eq!(names(folder.path()), [""; 0]);
}
