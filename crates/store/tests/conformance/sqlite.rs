//! SQLite does what every store does, also when watches only poll.

use std::{path::PathBuf, sync::Arc, time::Duration};

use tempfile::TempDir;
use wheelwright_store::{Answer, Sqlite, SqliteOptions, Store, conformance::Subject, conformance_tests};

struct File {
    folder: TempDir,
    options: SqliteOptions,
}

impl File {
    fn path(&self) -> PathBuf {
        self.folder.path().join("store.sqlite")
    }
}

impl Subject for File {
    fn open(&self) -> Answer<'_, Arc<dyn Store>> {
        Box::pin(async { Ok(Arc::new(Sqlite::open(self.path(), self.options.clone())?) as Arc<dyn Store>) })
    }

    fn compact(&self) -> Answer<'_, bool> {
        Box::pin(async {
            Sqlite::open(self.path(), self.options.clone())?.compact().await?;
            Ok(true)
        })
    }

    fn too_large(&self) -> Option<usize> {
        Some(self.options.max_value_bytes + 1)
    }
}

fn file(options: SqliteOptions) -> File {
    File { folder: TempDir::new().unwrap(), options }
}

conformance_tests!(async || file(SqliteOptions::default()));

mod without_hints {
    use super::*;

    conformance_tests!(async || {
        file(SqliteOptions { hints: false, poll_interval: Duration::from_millis(5), ..SqliteOptions::default() })
    });
}
