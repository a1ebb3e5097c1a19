//! The store in a SQLite file: what it promises beyond what every store does.

mod basics;

use std::time::Duration;

use wheelwright_store::{Key, Sqlite, SqliteOptions};

/// How long a test waits for what must happen before it fails.
const PATIENCE: Duration = Duration::from_secs(30);

fn key(text: &str) -> Key {
    Key::new(text).expect("a key")
}

fn open(folder: &tempfile::TempDir) -> Sqlite {
    open_with(folder, SqliteOptions::default())
}

fn open_with(folder: &tempfile::TempDir, options: SqliteOptions) -> Sqlite {
    Sqlite::open(folder.path().join("store"), options).expect("a store")
}
