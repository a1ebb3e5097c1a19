//! A small disk for one test.

use std::{
    env, fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// Says to a test that it runs where a disk can be mounted, and where.
const DISK: &str = "WHEELWRIGHT_TEST_DISK";

/// Runs a test again in a process that has a small disk of its own, and gives it the folder of that. None for the process
/// that only waits, and where no such disk can be had.
#[expect(clippy::print_stdout, reason = "what the test prints")]
pub(crate) fn on_a_disk_of_its_own(size: &str, test: &str) -> Option<PathBuf> {
    if let Some(folder) = env::var_os(DISK) {
        return Some(folder.into());
    }
    let folder = tempfile::tempdir().unwrap();
    let starter = ["--user", "--map-root-user", "--mount", "sh", "-c"];
    let mount = format!("mount -t tmpfs -o size={size} none {}", folder.path().display());
    let can_mount = Command::new("unshare").args(starter).arg(&mount).output();
    if !can_mount.is_ok_and(|output| output.status.success()) {
        // Past what the test program captures.
        let _ = writeln!(io::stderr(), "SKIPPED: {test}: no disk can be mounted here");
        return None;
    }
    let script = format!(r#"{mount} && exec "$0" "$@""#);
    let output = Command::new("unshare")
        .args(starter)
        .arg(script)
        .arg(env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture"])
        .env(DISK, folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
    assert!(text(&output.stdout).contains("1 passed"), "{}", text(&output.stdout));
    println!("{}", text(&output.stdout));
    None
}

/// Writes to a file until the disk takes no more.
pub(crate) fn fill(file: &Path) -> io::Result<()> {
    let mut file = fs::File::create(file)?;
    for size in [64 << 10, 4096, 1] {
        let zeros = vec![0; size];
        while file.write_all(&zeros).is_ok() {}
    }
    Ok(())
}
