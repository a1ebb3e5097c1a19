//! The store in a SQLite file: what it promises beyond what every store does.

mod backup;
mod basics;
mod damage;
mod durability;
mod full;
mod history;
mod processes;
mod trouble;
mod wal;

use std::{
    ffi::OsStr,
    path::Path,
    process::{Command, Output},
    time::Duration,
};

use tempfile::TempDir;
use wheelwright_store::{ErrorKind, Event, Key, Prefix, Sqlite, SqliteOptions, Store, StoreError, Watch};

/// How long a test waits for what must happen before it fails.
const PATIENCE: Duration = Duration::from_secs(30);

/// Says to a test that it runs in a process that another one started, and where.
const FOLDER: &str = "WHEELWRIGHT_TEST_FOLDER";

fn key(text: &str) -> Key {
    Key::new(text).expect("a key")
}

fn prefix(text: &str) -> Prefix {
    Prefix::new(text).expect("a prefix")
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn open(folder: &Path) -> Sqlite {
    open_with(folder, SqliteOptions::default())
}

fn open_with(folder: &Path, options: SqliteOptions) -> Sqlite {
    Sqlite::open(folder.join("store"), options).expect("a store")
}

fn kind<T>(result: Result<T, StoreError>) -> Result<T, ErrorKind> {
    result.map_err(|error| error.kind().clone())
}

async fn next(watch: &mut Box<dyn Watch>) -> Event {
    let event = tokio::time::timeout(PATIENCE, watch.next()).await;
    event.expect("something happens").expect("the watch goes on")
}

/// Adds one to the number that is under a key, as often as it must be tried.
async fn count_up(store: &dyn Store, key: &Key) {
    loop {
        let stored = store.get(key).await.expect("a get").expect("a number");
        let text = String::from_utf8(stored.value).expect("a text");
        let number: u64 = text.parse().expect("a number");
        match kind(store.replace(key, &stored.revision, (number + 1).to_string().into_bytes()).await) {
            Ok(_) => return,
            Err(ErrorKind::Conflict(_)) => {}
            Err(kind) => panic!("{kind:?}"),
        }
    }
}

/// This test program again, for one test in a process of its own.
fn process(test: &str, folder: &Path) -> Command {
    process_under::<&str>(&[], test, folder)
}

/// The same, started by another program.
fn process_under<S: AsRef<OsStr>>(starter: &[S], test: &str, folder: &Path) -> Command {
    let program = std::env::current_exe().expect("this program");
    let mut command = match starter {
        [] => Command::new(program),
        [starter, arguments @ ..] => {
            let mut command = Command::new(starter);
            command.args(arguments).arg(program);
            command
        }
    };
    command.args([test, "--exact", "--nocapture"]).env(FOLDER, folder);
    command
}

/// The folder that the process which started this one works in.
fn folder_of_parent() -> Option<std::path::PathBuf> {
    std::env::var_os(FOLDER).map(Into::into)
}

fn assert_passed(output: &Output) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
    assert!(text(&output.stdout).contains("1 passed"), "no such test: {}", text(&output.stdout));
}
