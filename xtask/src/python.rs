//! Programs in Python that tests use, in an environment of their own below `target`.

use std::{path::PathBuf, process::Command};

use crate::{install, root, run};

/// The client of Kubernetes that tests use.
pub(crate) const KUBERNETES: &str = "kubernetes==37.0.2";
/// What holds a server against the documents that it publishes.
pub(crate) const SCHEMATHESIS: &str = "schemathesis==4.32.5";

/// The programs of an environment that has some packages, which is made where it is not there.
pub(crate) fn ensure(packages: &[&str]) -> Result<PathBuf, String> {
    let folder = root().join("target/python");
    let programs = folder.join("bin");
    let make = || run(Command::new("python3").args(["-m", "venv"]).arg(&folder));
    if !programs.join("pip").is_file() {
        make().or_else(|_| install("python3-venv").and_then(|()| make()))?;
    }
    // Nothing is fetched for packages that are there.
    let mut pip = Command::new(programs.join("pip"));
    run(pip.args(["install", "--quiet", "--disable-pip-version-check"]).args(packages))?;
    Ok(programs)
}
