//! One instance of a sweep, as a process of its own.

use std::{
    env, fs,
    num::NonZeroU32,
    process::{Child, Command, Stdio},
};

use wheelwright_repository::{Collection, Repository, SweepOptions};

use crate::at_hub::example_at;

const STORE: &str = "WHEELWRIGHT_SWEEP_STORE";
const RATE: &str = "WHEELWRIGHT_SWEEP_RATE";

/// The orders of a store, with a version as the hub.
pub(crate) async fn orders_at(address: &str, hub: &str) -> Collection {
    let store = wheelwright_store::open(address).await.unwrap();
    Repository::new(store.into(), example_at("orders", hub)).kinds().next().unwrap()
}

/// What the process does that is started as an instance, and no other.
pub(crate) fn run_if_asked() {
    let Ok(address) = env::var(STORE) else { return };
    let rate = env::var(RATE).ok().map(|rate| rate.parse::<NonZeroU32>().unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let orders = orders_at(&address, "v3").await;
        let status = orders.sweep(&SweepOptions { rate, ..SweepOptions::default() }, |_| ()).await.unwrap();
        assert!(status.finished_at.is_some());
    });
}

/// A process that sweeps. It is killed with its value.
pub(crate) struct Instance(Child);

impl Instance {
    pub(crate) fn start(address: &str, rate: Option<usize>) -> Self {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "instance", "--nocapture"]).env(STORE, address).stdout(Stdio::null());
        if let Some(rate) = rate {
            command.env(RATE, rate.to_string());
        }
        Self(command.spawn().unwrap())
    }

    /// Ends it without giving it a chance (`kill -9`); says how much memory it had at the most.
    pub(crate) fn kill(mut self) -> usize {
        let peak = self.peak_kilobytes();
        self.0.kill().unwrap();
        self.0.wait().unwrap();
        peak
    }

    /// Waits until it is done, which it must be with success; says how much memory it had at the most.
    pub(crate) async fn done(mut self) -> usize {
        let mut peak = 0;
        loop {
            peak = peak.max(self.peak_kilobytes());
            if let Some(status) = self.0.try_wait().unwrap() {
                assert!(status.success(), "{status}");
                return peak;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }

    /// Nothing if it has ended, or where there is no /proc.
    fn peak_kilobytes(&self) -> usize {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok()).unwrap_or(0)
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
