//! Signals: how often the terminal or the system asks the program to end, and files that may not grow.

use std::io;

use tokio::sync::watch;
use wheelwright::server::AuditLog;

/// Opens the file of an audit log again whenever the program receives SIGHUP.
#[cfg(unix)]
pub(crate) fn reopen_on_hangup(log: AuditLog) -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut hangup = signal(SignalKind::hangup())?;
    tokio::spawn(async move {
        while hangup.recv().await.is_some() {
            log.reopen();
        }
    });
    Ok(())
}

/// There is no such signal here.
#[cfg(not(unix))]
pub(crate) fn reopen_on_hangup(_: AuditLog) -> io::Result<()> {
    Ok(())
}

/// Makes a write beyond the file size limit of the process (`ulimit -f`) an error, as one to a full disk is. Without this, the
/// system ends the process (SIGXFSZ).
#[cfg(unix)]
pub(crate) fn survive_file_size_limit() -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let _context = runtime.enter();
    // The handler stays for as long as the process lives.
    signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw())).map(drop)
}

/// Other systems have no such limit.
#[cfg(not(unix))]
pub(crate) fn survive_file_size_limit() -> io::Result<()> {
    Ok(())
}

/// How often the program was asked to end.
pub(crate) struct AskedToEnd(watch::Receiver<usize>);

impl AskedToEnd {
    /// Counts from now on: no signal ends the program by itself any more.
    #[cfg(unix)]
    pub(crate) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let (mut interrupted, mut terminated) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        let (times, counted) = watch::channel(0);
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    _ = interrupted.recv() => {}
                    _ = terminated.recv() => {}
                }
                times.send_modify(|times| *times += 1);
            }
        });
        Ok(Self(counted))
    }

    /// Counts from now on: Ctrl-C does not end the program by itself any more.
    #[cfg(not(unix))]
    pub(crate) fn listen() -> io::Result<Self> {
        let (times, counted) = watch::channel(0);
        tokio::spawn(async move {
            while tokio::signal::ctrl_c().await.is_ok() {
                times.send_modify(|times| *times += 1);
            }
        });
        Ok(Self(counted))
    }

    /// Once it was asked so often.
    pub(crate) async fn times(&self, wanted: usize) {
        let mut counted = self.0.clone();
        // Nobody counts any more if this fails: the program is ending.
        let _ = counted.wait_for(|times| *times >= wanted).await;
    }
}
