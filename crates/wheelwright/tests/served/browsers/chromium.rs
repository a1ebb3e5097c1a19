//! Chromium without a window.

use std::{
    env,
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use tempfile::TempDir;

/// A browser that ends when this is dropped.
pub(crate) struct Chromium {
    child: Child,
    _profile: TempDir,
}

impl Chromium {
    /// Opens a page. The name `evil.example` leads to this machine.
    pub(crate) fn open(url: &str) -> Self {
        let profile = tempfile::tempdir().unwrap();
        let mut command = Command::new(program());
        command
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
            .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
            .args(["--disable-popup-blocking", "--disable-dev-shm-usage"])
            .arg("--host-resolver-rules=MAP evil.example 127.0.0.1")
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg(url)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Self { child: command.spawn().unwrap(), _profile: profile }
    }
}

impl Drop for Chromium {
    /// Lets it end its own processes.
    fn drop(&mut self) {
        let _ = Command::new("kill").arg(self.child.id().to_string()).status();
        for _ in 0..500 {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `WHEELWRIGHT_CHROMIUM`, or the one in the path.
fn program() -> PathBuf {
    let named = env::var_os("WHEELWRIGHT_CHROMIUM").map(PathBuf::from);
    let path = env::var_os("PATH").unwrap_or_default();
    let mut programs = named.into_iter().chain(env::split_paths(&path).map(|folder| folder.join("chromium")));
    programs
        .find(|program| program.is_file())
        .expect("Chromium is needed: install it (apt-get install chromium), or name it in WHEELWRIGHT_CHROMIUM")
}
