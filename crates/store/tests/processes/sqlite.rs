//! Processes on one SQLite file.

use tempfile::TempDir;

use crate::{kills, scenarios};

fn address(folder: &TempDir) -> String {
    format!("sqlite:{}", folder.path().join("store.sqlite").display())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_on_one_file_agree() {
    let folder = TempDir::new().unwrap();
    scenarios::agree(&address(&folder)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_survives_processes_that_are_killed() {
    let folder = TempDir::new().unwrap();
    scenarios::survive_kills(&address(&folder), kills()).await;
}
