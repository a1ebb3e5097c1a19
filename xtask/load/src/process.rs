//! A server in a process of its own, so that its memory is its own.

use std::{
    error::Error,
    fs,
    io::{BufRead, BufReader},
    net::SocketAddr,
    process::{Child, Command, Stdio},
};

/// A server that is killed when it is dropped.
pub(crate) struct Process {
    child: Child,
    pub(crate) address: SocketAddr,
}

/// The memory that a process has in the machine, in KiB.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    pub(crate) now: u64,
    /// The most since it was last forgotten.
    pub(crate) peak: u64,
}

impl Process {
    /// Starts a server that tells its address in a line on its standard output.
    pub(crate) fn start(command: &mut Command) -> Result<Self, Box<dyn Error>> {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        let told = line.split("http://").nth(1).and_then(|rest| rest.split('"').next());
        match told.and_then(|address| address.parse().ok()) {
            Some(address) => Ok(Self { child, address }),
            None => {
                child.kill()?;
                Err(format!("{command:?} did not begin to serve").into())
            }
        }
    }

    pub(crate) fn memory(&self) -> Result<Memory, Box<dyn Error>> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let number = |key: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(key));
            line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).ok_or(format!("no {key} is told"))
        };
        Ok(Memory { now: number("VmRSS:")?, peak: number("VmHWM:")? })
    }

    /// Lets the peak begin anew.
    pub(crate) fn forget_peak(&self) -> Result<(), Box<dyn Error>> {
        Ok(fs::write(format!("/proc/{}/clear_refs", self.child.id()), "5")?)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
