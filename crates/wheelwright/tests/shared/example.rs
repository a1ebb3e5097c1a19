//! The programs of examples.

use std::{path::PathBuf, process::Command};

/// An example, built if nobody did: `cargo test` builds all, and with `--test` none.
pub(crate) fn example(name: &str) -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let path = own.parent().unwrap().parent().unwrap().join("examples").join(name);
    if !path.exists() {
        let built = Command::new(env!("CARGO"))
            .args(["build", "--locked", "--package", "wheelwright", "--example", name])
            .status();
        assert!(built.unwrap().success());
    }
    path
}
